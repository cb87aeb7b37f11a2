"""`team`: share projects with other people by Milvus, and read what they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import bar, counted, table
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import escape_name, escape_path, format_time, one_line
from pastchats_memory.views.answers.team import TeamShareBody, TeamWithdrawBody
from pastchats_memory.views.to_json import to_json

if TYPE_CHECKING:
    from pastchats_memory.team import SharePreview, TeamStatus

WIDTH = 100
"""Characters of a prompt that are shown."""


@click.group(
    "team",
    epilog="""\b
Examples:
  pastchats-memory team share acme
  pastchats-memory team push
  pastchats-memory team pull
  pastchats-memory team status
  pastchats-memory team withdraw acme
  pastchats-memory search --team 'webhook retries'
  pastchats-memory recall --team 'webhook retries'
""",
)
def command() -> None:
    """Share named projects with your team by Milvus, and read what the others share.

    `team_endpoint` in your own pastchats-memory.toml, or $PASTCHATS_MEMORY_TEAM_ENDPOINT, names a file that ends with .db
    (Milvus Lite, one command at a time) or the address of a Milvus server. Nothing leaves before `team share` and `team push`.
    With `team = true` recall and hooks also answer from what `team pull` has copied.
    """


@ask_memory(
    "share",
    "pastchats-memory team share acme",
    "pastchats-memory team share acme --yes",
    group=command,
)
@click.argument("project")
@options.yes
@options.no
def share(memory: Memory, project: str) -> CommandResult:
    """Share PROJECT with the team: show what of it the team would see, ask, and let the next `team push` write it.

    Private and excluded projects are refused. Without a terminal and without --yes nothing is shared, exit code 1.
    """
    team = memory.team
    found = team.preview(project)
    agreed = options.agree("Share it?", lambda: _describe_preview(found), is_always_shown=True)
    if agreed:
        team.share(project)
    return CommandResult(
        lambda: to_json(TeamShareBody(found, agreed)),
        lambda: "Shared. `pastchats-memory team push` writes it.",
        is_found=agreed,
        nothing="Nothing is shared. Use --yes to share it.",
    )


def _describe_preview(found: SharePreview) -> str:
    span = " to ".join(format_time(time)[:10] for time in (found.first, found.last) if time)
    about = f"{counted(found.turns, 'turn')} of {counted(found.conversations, 'conversation')}"
    return "\n".join(
        [
            f"{escape_name(found.project)}: {about}",
            f"From: {span or 'no time'}. As: {escape_name(found.author)}. To: {escape_path(found.endpoint)}",
            f"Secrets that would be replaced once more: {found.redactions}",
            *(f"  > {one_line(prompt)[:WIDTH]}" for prompt in found.prompts),
        ]
    )


@ask_memory("push", "pastchats-memory team push", "pastchats-memory team push --json", group=command)
def push(memory: Memory) -> CommandResult:
    """Write what is new or changed in the shared projects to the team, and delete there what was withdrawn or forgotten.

    Run it as often as you like. A run that was interrupted is completed by the next one.
    """
    options.interrupt_in_order()
    with bar("row", "writing") as step:
        report = memory.team.push(step)
    waiting = f"Warning: {counted(report.waiting, 'turn')} wait for a vector; `pastchats-memory status` says why"
    return CommandResult(
        lambda: to_json(report),
        lambda: f"Wrote {counted(report.sent, 'row')}, deleted {report.deleted}.",
        notes=[
            *([waiting] if report.waiting else []),
            *(
                f"Warning: {escape_name(project)} is private or excluded now, so nothing of it is there"
                for project in report.held_back
            ),
        ],
    )


@ask_memory("pull", "pastchats-memory team pull", "pastchats-memory team pull --json", group=command, create=True)
def pull(memory: Memory) -> CommandResult:
    """Copy what the others share into a file beside the memory, from which recall and hooks answer.

    What you have forgotten or excluded is left out. What the others have withdrawn or forgotten is deleted.
    """
    options.interrupt_in_order()
    report = memory.team.pull()
    lines = [f"Received {counted(report.received, 'turn')}, deleted {report.deleted}."]
    if report.refused:
        lines.append(f"{counted(report.refused, 'row')} left out: forgotten or excluded here, or malformed.")
    lines.append(_list_authors("Turns here by author:", [(one.author, one.turns) for one in report.authors]))
    is_hint_wanted = report.authors and not memory.uses_team
    return CommandResult(
        lambda: to_json(report),
        lambda: "\n".join(lines),
        notes=["`recall --team` answers from them; with `team = true` every recall does."] if is_hint_wanted else [],
    )


def _check_withdrawn(*, projects: tuple[str, ...], every: bool) -> None:
    if bool(projects) == every:
        raise UsageFault("name projects, or --all", "`pastchats-memory team status` lists what is shared.")


@ask_memory(
    "withdraw",
    "pastchats-memory team withdraw acme",
    "pastchats-memory team withdraw --all --yes",
    group=command,
    check=_check_withdrawn,
)
@click.argument("projects", metavar="[PROJECT]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Everything that you share there.")
@options.yes
@options.no
def withdraw(memory: Memory, projects: tuple[str, ...], every: bool) -> CommandResult:
    """Delete your turns of PROJECT at the team, and share it no more.

    The others' copies lose them at their next `team pull`.
    """
    named = "everything" if every else ", ".join(map(escape_name, projects))
    agreed = options.agree(f"Withdraw {named}?")
    deleted = memory.team.withdraw(projects) if agreed else 0
    return CommandResult(
        lambda: to_json(TeamWithdrawBody(deleted, projects if agreed else ())),
        lambda: f"Withdrew {named}: {counted(deleted, 'row')} deleted there.",
        is_found=agreed,
        nothing="Nothing is withdrawn. Use --yes to withdraw it.",
    )


@ask_memory("status", "pastchats-memory team status", "pastchats-memory team status --json", group=command)
def status(memory: Memory) -> CommandResult:
    """Show the team's endpoint, what you share, and who shares how much."""
    found = memory.team.status()
    return CommandResult(lambda: to_json(found), lambda: _describe_status(found))


def _describe_status(found: TeamStatus) -> str:
    shared = "You share nothing."
    if found.projects:
        rows = [(escape_name(one.project), one.turns, one.shared) for one in found.projects]
        shared = table(rows, headers=("your project", "turns here", "turns there"), stretch=0)
    there = [(one.author + (" (you)" if one.is_self else ""), one.turns) for one in found.authors]
    return "\n".join(
        [
            f"Endpoint: {escape_path(found.endpoint)}",
            f"You share as: {escape_name(found.author)}",
            shared,
            _list_authors("At the team:", there),
            _list_authors("Copied here:", [(one.author, one.turns) for one in found.copied]),
            f"Recall answers from the copy: {'yes' if found.is_merged else 'only with --team'}",
        ]
    )


def _list_authors(heading: str, authors: Sequence[tuple[str, int]]) -> str:
    listed = ", ".join(f"{escape_name(author)} {turns:,}" for author, turns in authors)
    return f"{heading} {listed or 'nothing'}"
