"""`capture`: turn a thought into a task, or into a comment on a similar one."""

import sys

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import hanging, is_terminal
from pastchats_memory.memory import Memory
from pastchats_memory.memory.projects import find_current_project, resolve_project
from pastchats_memory.tasks.capture import CaptureDecision
from pastchats_memory.tasks.edit import Change
from pastchats_memory.tasks.similarity import SimilarTask
from pastchats_memory.text.display import escape_name
from pastchats_memory.views.answers.tasks import build_capture


def _check(*, text: tuple[str, ...], project: str | None, **_: object) -> None:
    Change(title=" ".join(text), project=resolve_project(project))


@ask_memory("capture", create=True, check=_check)
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--yes/--no",
    "is_comment",
    default=None,
    help="Add it as a comment to a similar task, or create the task all the same.",
)
@click.option("--project", metavar="NAME", help="Of a new task [default: the one you are in].")
def command(memory: Memory, text: tuple[str, ...], is_comment: bool | None, project: str | None) -> CommandResult:
    """Write down a task. If a similar one exists, you are asked whether to add a comment there instead.

    Without a terminal and without --yes or --no nothing is written then: the similar task is printed, exit code 1.
    """

    def decide(similar: SimilarTask) -> CaptureDecision:
        is_quiet = options.is_json_wanted()
        if not is_quiet:
            about = f"[{escape_name(similar.task.key)}] {escape_name(similar.task.title)} (Score: {similar.match.score:.2f})"
            click.echo(hanging(f"⚠️ Similar task found: {about}"))
        if is_comment is not None:
            return "comment" if is_comment else "create"
        if is_quiet or not is_terminal(sys.stdin):
            return "nothing"
        return "comment" if click.confirm("Add as comment to existing task?", default=False) else "create"

    where = find_current_project() if project is None else resolve_project(project)
    captured = memory.tasks.capture(" ".join(text), where or "", decide)
    done = "Comment added to" if captured.outcome == "commented" else "Task created:"
    return CommandResult(
        lambda: build_capture(captured),
        lambda: f"✅ {done} {escape_name(captured.task.key)}",
        is_found=captured.outcome != "found",
        nothing="Nothing was written; --yes adds it as a comment, --no creates a task all the same.",
    )
