"""`team`: share projects with other people by a server, and read what they share."""

from collections.abc import Sequence
from pathlib import Path

import click
import orjson

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory, give_result, list_examples
from pastchats_memory.cli.output import bar, table
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import Memory
from pastchats_memory.team.report import PushPreview, SharePreview, TeamStatus
from pastchats_memory.text.display import counted, escape_name, escape_path, format_time, one_line
from pastchats_memory.views.answers.team import TeamInitBody, TeamShareBody, TeamWithdrawBody
from pastchats_memory.views.to_json import to_json

WIDTH = 100
"""Characters of a prompt that are shown."""


@click.group("team", epilog=list_examples("team"))
def command() -> None:
    """Share named projects with your team by PostgreSQL or Milvus, and read what the others share.

    `team_endpoint` in your own pastchats-memory.toml, or $PASTCHATS_MEMORY_TEAM_ENDPOINT, is an address such as
    postgresql://db.example.com/team or https://milvus.example.com:19530, or a file that ends with .db (Milvus Lite, one
    command at a time). Nothing leaves before `team share` and `team push`. With `team = true` recall and hooks also answer
    from what `team pull` has copied.
    """


@give_result("try", group=command)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--stop", "is_stopped", is_flag=True, help="Stop the server; its rows stay in FOLDER.")
def try_(_db: str | None, folder: Path, *, is_stopped: bool) -> CommandResult:
    """Start a PostgreSQL in FOLDER with two people, ada and bob, and print their addresses.

    It is for a try: it listens on a socket of this computer, without passwords. It runs until --stop.
    """
    from pastchats_memory.team.trial import start_trial, stop_trial

    place = folder.expanduser().absolute()
    found = stop_trial(place) if is_stopped else start_trial(place, PackagedEmbedder.dim)
    lines = [f"{one.name}: export PASTCHATS_MEMORY_TEAM_ENDPOINT='{one.endpoint}'" for one in found.people]
    return CommandResult(lambda: to_json(found), lambda: "\n".join(lines) or "The server is stopped; its rows stay.")


@ask_memory("init", group=command, create=True)
@click.option("--apply", "is_applied", is_flag=True, help="Run it, as the role in `team_endpoint`.")
def init(memory: Memory, *, is_applied: bool) -> CommandResult:
    """Print the SQL that prepares a PostgreSQL database for a team: tables, roles, policies and rights.

    An administrator can read it and run it, or --apply does. Only `CREATE EXTENSION vector` may need a superuser.
    """
    sql = memory.team.initialise(is_applied=is_applied)
    return CommandResult(
        lambda: to_json(TeamInitBody(sql, is_applied)),
        lambda: (
            "The database is ready. Grant each person the role: GRANT pastchats_team TO ada;" if is_applied else sql
        ),
        is_folded=True,
    )


@ask_memory("share", group=command)
@click.argument("project")
@options.yes_or_no
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


@ask_memory("push", group=command)
@click.option("--dry-run", "is_previewed", is_flag=True, help="Show what would be written, and write nothing.")
def push(memory: Memory, *, is_previewed: bool) -> CommandResult:
    """Write what is new or changed in the shared projects to the team, and delete there what was withdrawn or forgotten.

    Run it as often as you like. A run that was interrupted is completed by the next one.
    """
    if is_previewed:
        found = memory.team.preview_push()
        return CommandResult(lambda: to_json(found), lambda: _describe_push(found))
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


def _describe_push(found: PushPreview) -> str:
    size = f"{counted(found.rows, 'row')} ({found.bytes:,} bytes) as {escape_name(found.author)}"
    sample = orjson.dumps(found.sample).decode()
    return "\n".join(
        [
            f"Would write {size}, and delete {found.deleted}.",
            *([f"A whole row: {one_line(sample)}", "The longest texts:"] if found.rows else []),
            *(f"  {len(text):,} characters > {one_line(text)[:WIDTH]}" for text in found.longest),
        ]
    )


@ask_memory("pull", group=command, create=True)
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


@ask_memory("withdraw", group=command, check=_check_withdrawn)
@click.argument("projects", metavar="[PROJECT]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Everything that you share there.")
@options.yes_or_no
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


@ask_memory("status", group=command)
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
