"""`capture`: turn a thought into a task, or into a comment on a similar one."""

from __future__ import annotations

import sys

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import emit_json, hanging, is_terminal, notify
from pastchats_memory.memory.projects import find_current_project, resolve_project
from pastchats_memory.tasks.capture import CaptureDecision
from pastchats_memory.tasks.similarity import SimilarTask
from pastchats_memory.text.display import escape_name
from pastchats_memory.views.answers.tasks import build_capture


@make_command(
    "capture",
    "pastchats-memory capture 'Fix the login bug'",
    "pastchats-memory capture 'Users cannot sign in' --yes",
    "pastchats-memory capture 'Users cannot sign in' --no --json",
)
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--yes/--no", default=None, help="Add it as a comment to a similar task, or create the task all the same."
)
@click.option("--project", metavar="NAME", help="Of a new task [default: the one you are in].")
@options.database
@options.as_json
def command(text: tuple[str, ...], yes: bool | None, project: str | None, db: str | None, as_json: bool) -> int:
    """Write down a task. If a similar one exists, you are asked whether to add a comment there instead.

    Without a terminal and without --yes or --no nothing is written then: the similar task is printed, exit code 1.
    """

    def decide(similar: SimilarTask) -> CaptureDecision:
        if not as_json:
            _print_similar(similar)
        if yes is not None:
            return "comment" if yes else "create"
        if not is_terminal(sys.stdin) or as_json:
            return "nothing"
        return "comment" if click.confirm("Add as comment to existing task?", default=False) else "create"

    where = find_current_project() if project is None else resolve_project(project)
    with options.open_memory(db, create=True) as memory:
        captured = memory.tasks.capture(" ".join(text), where or "", decide)
    if as_json:
        emit_json(build_capture(captured))
    elif captured.outcome == "commented":
        click.echo(f"✅ Comment added to {escape_name(captured.task.key)}")
    elif captured.outcome == "created":
        click.echo(f"✅ Task created: {escape_name(captured.task.key)}")
    else:
        refused = "Nothing was written; --yes adds it as a comment, --no creates a task all the same."
        notify(refused)
    return NOTHING if captured.outcome == "found" else DONE


def _print_similar(similar: SimilarTask) -> None:
    task = similar.task
    about = f"[{escape_name(task.key)}] {escape_name(task.title)} (Score: {similar.match.score:.2f})"
    click.echo(hanging(f"⚠️ Similar task found: {about}"))
