"""`how`: list the commands that worked here before, for a task."""

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.memory import Memory, questions
from pastchats_memory.views.answers.search import HOW
from pastchats_memory.views.text import render_commands


@ask_memory("how")
@ask_for(questions.HOW)
def command(memory: Memory, query: str, project: str | None, limit: int) -> CommandResult:
    """List the commands that worked before for the task QUERY in your current project, each with its source.

    They are quoted from transcripts: read them before you run them.
    """
    found, warnings = memory.how(query, project, limit)
    return CommandResult(
        lambda: HOW.build(found, warnings),
        lambda: render_commands(found),
        is_found=bool(found),
        nothing=f"No known command worked for it{options.hint_at_all(project)}",
        warnings=warnings,
    )
