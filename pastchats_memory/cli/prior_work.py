"""`check-prior-work` and `consult-episodic-memory`: look before a task is created or a hard problem is tackled."""

from pastchats_memory.cli.asking import CommandResult, ask_memory, list_found
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.memory import Memory, questions
from pastchats_memory.views.answers.tasks import CONSULT, build_prior_work
from pastchats_memory.views.task_text import render_prior_work, render_resolved


@ask_memory("check-prior-work")
@ask_for(questions.PRIOR_WORK)
def check_prior_work(memory: Memory, query: str) -> CommandResult:
    """Check whether a task was done, is in progress, failed before, was superseded, or is new; show the best matches.

    Exit code 1 means new, even if similar tasks are listed.
    """
    work = memory.check_prior_work(query)
    return CommandResult(
        lambda: build_prior_work(work), lambda: render_prior_work(work), is_found=work.verdict != "new"
    )


@ask_memory("consult-episodic-memory")
@ask_for(questions.CONSULTATION)
def consult_episodic_memory(memory: Memory, query: str, limit: int) -> CommandResult:
    """Show how similar problems were solved: completed and archived tasks, with comments and resolution."""
    found, warnings = memory.consult_episodic_memory(query, limit)
    nothing = "No solved task has to do with it; `pastchats-memory recall` looks in conversations, too."
    return list_found(CONSULT, found, lambda: "\n\n".join(map(render_resolved, found)), nothing, warnings)
