"""`how` and `lessons`: list what worked in a project before, and what ended repeated failures."""

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory, list_found
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.memory import Memory, questions
from pastchats_memory.views.answers.search import HOW, LESSONS
from pastchats_memory.views.text import render_commands, render_lessons


@ask_memory("how")
@ask_for(questions.HOW)
def command(memory: Memory, query: str, project: str | None, limit: int) -> CommandResult:
    """List the commands that worked before for the task QUERY in your current project, each with its source.

    They are quoted from transcripts: read them before you run them.
    """
    found, warnings = memory.how(query, project, limit)
    nothing = f"No known command worked for it{options.hint_at_all(project)}"
    return list_found(HOW, found, lambda: render_commands(found), nothing, warnings)


@ask_memory("lessons")
@ask_for(questions.LESSONS)
def lessons(memory: Memory, project: str | None, limit: int) -> CommandResult:
    """List what failed more than once in your current project, and what ended it, each with its source."""
    found, warnings = memory.lessons(project, limit)
    nothing = f"Nothing failed more than once and then worked{options.hint_at_all(project)}"
    return list_found(LESSONS, found, lambda: render_lessons(found), nothing, warnings)
