"""`lessons`: list what failed repeatedly in a project, and what ended it."""

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.memory import Memory, questions
from pastchats_memory.views.answers.search import LESSONS
from pastchats_memory.views.text import render_lessons


@ask_memory("lessons")
@ask_for(questions.LESSONS)
def command(memory: Memory, project: str | None, limit: int) -> CommandResult:
    """List what failed more than once in your current project, and what ended it, each with its source."""
    found, warnings = memory.lessons(project, limit)
    return CommandResult(
        lambda: LESSONS.build(found, warnings),
        lambda: render_lessons(found),
        is_found=bool(found),
        nothing=f"Nothing failed more than once and then worked{options.hint_at_all(project)}",
        warnings=warnings,
    )
