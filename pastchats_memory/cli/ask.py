"""`ask`: answer a plain question."""

import click

from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import table
from pastchats_memory.memory import Memory
from pastchats_memory.tasks.ask import TaskAnswer
from pastchats_memory.text.display import counted, escape_name, one_line, quote
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.views.answers.tasks import build_answer
from pastchats_memory.views.task_text import make_task_rows
from pastchats_memory.views.text import render_hits

REASON_WIDTH = 120
"""Characters of a reason in the table."""
REMARK_WIDTH = 600
"""Characters of what a task says about why or how."""


@ask_memory("ask")
@click.argument("question", nargs=-1, required=True)
def command(memory: Memory, question: tuple[str, ...]) -> CommandResult:
    """Answer a question from tasks, or from conversations if it is not about tasks.

    Shows first how the question was read; no language model is used.
    """
    answer = memory.ask(" ".join(question))
    return CommandResult(
        lambda: build_answer(answer, memory.resume_lines(answer.hits)),
        lambda: _render(answer),
        is_found=bool(answer.tasks or answer.hits),
        notes=_list_notes(answer),
        warnings=answer.warnings,
    )


def _list_notes(answer: TaskAnswer) -> list[str]:
    """Return what the text leaves out: further tasks, or where else to look."""
    if not answer.tasks and not answer.hits and not answer.question.is_count:
        return ["Nothing fits; `pastchats-memory task list --all` shows all tasks, `search` looks in conversations."]
    left = answer.total - len(answer.tasks)
    is_listed = answer.tasks and (answer.hits or not answer.question.is_count)
    return [f"… and {counted(left, 'more task')}"] if is_listed and left > 0 else []


def _render(answer: TaskAnswer) -> str:
    """Return how the question was read, then the tasks or their number, then what conversations say."""
    is_count = answer.question.is_count and not answer.hits
    reading = answer.question.described if answer.tasks or not answer.hits else "what conversations say"
    lines = [f"Reading: {reading}"]
    if is_count:
        lines.append(counted(answer.total, "task"))
    elif answer.tasks:
        lines.append(_make_table(answer))
    for task, remark in answer.remarks:
        lines += ["", f"{escape_name(task.key)} says:", quote(excerpt(remark, {}, REMARK_WIDTH))]
    if answer.hits:
        lines += [*(["", "Conversations:"] if answer.tasks else []), render_hits(answer.hits)]
    return "\n".join(lines)


def _make_table(answer: TaskAnswer) -> str:
    headers = ["id", "status", "prio", "project", "title"]
    rows = make_task_rows(answer.tasks)
    if not answer.reasons:
        return table(rows, headers, stretch=4)
    reasons = [excerpt(one_line(answer.reasons.get(task.shown_id, "")), {}, REASON_WIDTH) for task in answer.tasks]
    return table([[*row, reason] for row, reason in zip(rows, reasons, strict=True)], [*headers, "why"], stretch=(4, 5))
