"""`forget`, `prune` and `purge`: delete for good, after showing what."""

from __future__ import annotations

from typing import Any

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import counted, emit_json, hanging, table, warn
from pastchats_memory.errors import UsageFault
from pastchats_memory.maintenance.forget import ForgetResult
from pastchats_memory.memory import Memory
from pastchats_memory.model import number_of
from pastchats_memory.store.tombstones import Forgetting
from pastchats_memory.text.display import escape_name, format_time, one_line
from pastchats_memory.views.answers.forgetting import (
    ForgetForgottenBody,
    ForgetFoundBody,
    ForgetListBody,
    PruneForgottenBody,
    PruneFoundBody,
    PurgeBody,
    Purged,
)
from pastchats_memory.views.forgetting import (
    describe_criteria,
    describe_mentions,
    describe_other_rows,
    describe_rows,
)
from pastchats_memory.views.to_json import to_json

SHOWN = 10
WIDTH = 100
"""Characters of a row that are shown."""
LAST = "last"


@make_command(
    "forget",
    "pastchats-memory forget --id 12 --id t:PUMP-1",
    "pastchats-memory forget --query 'launch code'",
    "pastchats-memory forget --project acme --until 2025-12-31 --yes",
    "pastchats-memory forget --source ~/.claude/projects/-home-me-acme",
    "pastchats-memory forget --list",
    "pastchats-memory forget --undo 3",
)
@click.option("--id", "ids", metavar="ID", multiple=True, help="12, t:KEY, c:5 or a:7; repeatable.")
@click.option("--conversation", metavar="ID", help="A conversation, by its own id.")
@click.option("--source", metavar="PATH", help="A file or folder, whether it is still there or not.")
@options.project
@options.since
@options.until
@click.option(
    "--query", metavar="TEXT", help="Rows with all of these words, or exactly this text, in their text or metadata."
)
@click.option("--list", "listed", is_flag=True, help="List what was deleted and when, never the text.")
@click.option(
    "--undo",
    metavar="NUMBER",
    is_flag=False,
    flag_value=LAST,
    help="Allow it to be indexed again: a number of --list, or the last.",
)
@options.yes
@options.no
@options.database
@options.as_json
def command(
    listed: bool,
    undo: str | None,
    yes: bool,
    no: bool,
    db: str | None,
    as_json: bool,
    **by: Any,
) -> int:
    """Delete what matches all the options, and keep it from coming back by another index run, import or copy.

    The matches are shown first, and you are asked. Without a terminal and without --yes nothing is deleted, exit code 1. Later
    text in the same conversation is indexed; `exclude` keeps a source or project out from the start.
    """
    if (listed or undo is not None) and any(by.values()):
        raise UsageFault("--list and --undo go alone", "Leave the other options out.")
    with options.open_memory(db) as memory:
        if listed:
            return _list(memory.list_forgettings(), as_json=as_json)
        if undo is not None:
            return _undo(memory, undo, as_json=as_json)
        ids = by.pop("ids")
        found = memory.forget(*ids, **by, dry_run=True)
        warn([*([] if as_json else describe_mentions(found.mentions)), *describe_other_rows(found)])
        if not (found and (yes or _agreed(found, no=no, as_json=as_json))):
            return _left(found, "forget", as_json=as_json)
        return _gone(memory.forget(*ids, **by), "forget", as_json=as_json)


@make_command(
    "prune",
    "pastchats-memory prune --before 2025-01-01",
    "pastchats-memory prune --before 2025-01-01 --yes --json",
)
@click.option(
    "--before",
    metavar="WHEN",
    required=True,
    help="A time such as 2026-01-31, 90d or 'last year'; turns of that time stay.",
)
@options.yes
@options.no
@options.database
@options.as_json
def prune(before: str, yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Delete all turns before a date, and keep older ones out from now on, wherever they come from.

    Turns and notes without a time stay, and so do tasks. `forget --list` shows it and `forget --undo` undoes it.
    """
    with options.open_memory(db) as memory:
        found = memory.prune(before, dry_run=True)
        if not (found and (yes or _agreed(found, no=no, as_json=as_json))):
            return _left(found, "prune", as_json=as_json)
        return _gone(memory.prune(before), "prune", as_json=as_json)


@make_command(
    "purge",
    "pastchats-memory purge",
    "pastchats-memory purge --yes --json",
)
@options.yes
@options.no
@options.database
@options.as_json
def purge(yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Delete the whole memory: turns, tasks, vectors and the state of files. Transcripts stay as they are.

    Only hashes of forgotten text remain, so it stays forgotten; all else can be indexed again. Without a terminal and
    without --yes nothing is deleted, exit code 1.
    """
    with options.open_memory(db) as memory:
        state = memory.status()
        tasks = memory.tasks.count()
        agreed = yes
        if not yes and not as_json:
            about = f"{counted(state.turns, 'turn')} and {counted(tasks, 'task')}"
            click.echo(hanging(f"This would delete {about}: all of {state.database}."))
            agreed = options.agree("Delete all of it for good?", yes=False, no=no)
        if agreed:
            memory.purge()
    if as_json:
        emit_json(to_json(PurgeBody("purged" if agreed else "found", [Purged(state.turns, tasks)])))
    else:
        click.echo("The memory is empty." if agreed else "Nothing was deleted; --yes deletes it.", err=not agreed)
    return DONE if agreed else NOTHING


def _agreed(found: ForgetResult, *, no: bool, as_json: bool) -> bool:
    """Show what would be deleted, and ask if there is a terminal."""
    if as_json:
        return False
    click.echo(f"This would be forgotten: {describe_rows(found)}.")
    for row in found.rows[:SHOWN]:
        words = one_line(row.content[:WIDTH]) if row.content else "(of a private project)"
        about = (escape_name(row.id), format_time(row.timestamp), escape_name(row.project), words)
        click.echo(hanging("  " + " · ".join(filter(None, about))))
    more = found.total - min(SHOWN, len(found.rows))
    if more:
        click.echo(f"  … and {more:,} more")
    return options.agree("Forget it for good?", yes=False, no=no)


def _left(found: ForgetResult, command: str, *, as_json: bool) -> int:
    if as_json:
        emit_json(to_json(found, PruneFoundBody if command == "prune" else ForgetFoundBody))
    elif not found:
        click.echo("There is nothing of that in the memory.", err=True)
    else:
        click.echo("Nothing was forgotten; --yes forgets it.", err=True)
    return NOTHING


def _gone(gone: ForgetResult, command: str, *, as_json: bool) -> int:
    if gone.forgetting is None:  # another process was quicker
        return _left(gone, command, as_json=as_json)
    if as_json:
        emit_json(to_json(gone, PruneForgottenBody if command == "prune" else ForgetForgottenBody))
    else:
        number = gone.forgetting.number
        text = f"Forgotten: {describe_rows(gone)}. `pastchats-memory forget --undo {number}` would let it be indexed again."
        click.echo(hanging(text))
    return DONE


def _list(known: list[Forgetting], *, as_json: bool) -> int:
    if as_json:
        emit_json(to_json(ForgetListBody("listed", known)))
    elif known:
        rows = [[one.number, format_time(one.at), describe_rows(one), describe_criteria(one)] for one in known]
        click.echo(table(rows, ["number", "when", "what", "chosen by"], stretch=3))
    else:
        click.echo("Nothing is forgotten.", err=True)
    return DONE if known else NOTHING


def _undo(memory: Memory, number: str, *, as_json: bool) -> int:
    if number != LAST and number_of(number) is None:
        raise UsageFault(f"{number!r} is no number of a forgetting", "See `pastchats-memory forget --list`.")
    lifted = memory.undo_forget(None if number == LAST else int(number))
    if as_json:
        emit_json(to_json(ForgetListBody("undone", [lifted] if lifted else [])))
    elif lifted is None:
        click.echo("There is no such; see `pastchats-memory forget --list`.", err=True)
    else:
        text = (
            f"Lifted {lifted.number}: {describe_rows(lifted)}, chosen by {describe_criteria(lifted)}. The text itself is gone; it comes back "
            "only where its files are indexed again: pastchats-memory index --force PATH"
        )
        click.echo(hanging(text))
    return DONE if lifted else NOTHING
