"""`forget`, `prune` and `purge`: delete for good, after showing what."""

import sys
from collections.abc import Callable
from typing import Any

import click

from pastchats_memory.cli import options, questions
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import is_terminal, table, warn
from pastchats_memory.errors import UsageFault
from pastchats_memory.maintenance.forget import ForgetResult
from pastchats_memory.memory import Memory
from pastchats_memory.model.ids import number_of
from pastchats_memory.store.tombstones import Forgetting
from pastchats_memory.text.display import counted, escape_name, escape_path, format_time, one_line
from pastchats_memory.views.answers import forgetting as answers
from pastchats_memory.views.forgetting import (
    describe_criteria,
    describe_mentions,
    describe_other_rows,
    describe_rewrite,
    describe_rows,
)
from pastchats_memory.views.to_json import to_json

SHOWN = 10
WIDTH = 100
"""Characters of a row that are shown."""
LAST = "last"


def _check(*, listed: bool, undo: str | None, **by: Any) -> None:
    if (listed or undo is not None) and any(by.values()):
        raise UsageFault("--list and --undo go alone", "Leave the other options out.")
    if undo not in (None, LAST) and number_of(undo) is None:
        raise UsageFault(f"{undo!r} is no number of a forgetting", "See `pastchats-memory forget --list`.")


@ask_memory("forget", check=_check)
@click.option("--id", "ids", metavar="ID", multiple=True, help="12, t:KEY, c:5 or a:7; repeatable.")
@click.option("--conversation", metavar="ID", help="A conversation, by its own id, as `show --conversation` prints it.")
@click.option("--source", metavar="PATH", help="A file or folder, whether it is still there or not.")
@questions.project
@questions.since
@questions.until
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
@options.yes_or_no
def command(memory: Memory, listed: bool, undo: str | None, ids: tuple[str, ...], **by: Any) -> CommandResult:
    """Delete what matches all the options, and keep it from coming back by another index run, import or copy.

    The matches are shown first, and you are asked. Without a terminal and without --yes nothing is deleted, exit code 1. Later
    text in the same conversation is indexed; `exclude` keeps a source or project out from the start.
    """
    if listed:
        return _list(memory.list_forgettings())
    if undo is not None:
        return _undo(memory, undo)
    found = memory.forget(*ids, **by, dry_run=True)
    mentions = [] if options.is_json_wanted() else describe_mentions(found.mentions)
    warn([*mentions, *describe_other_rows(found)])
    return _forget(found, lambda: memory.forget(*ids, **by), answers.ForgetFoundBody, answers.ForgetForgottenBody)


@ask_memory("prune", check=lambda before: Memory.check_filters(since=before))
@click.option(
    "--before",
    metavar="WHEN",
    required=True,
    help="A time such as 2026-01-31, 90d or 'last year'; turns of that time stay.",
)
@options.yes_or_no
def prune(memory: Memory, before: str) -> CommandResult:
    """Delete all turns before a date, and keep older ones out from now on, wherever they come from.

    Turns and notes without a time stay, and so do tasks. `forget --list` shows it and `forget --undo` undoes it.
    """
    return _forget(
        memory.prune(before, dry_run=True),
        lambda: memory.prune(before),
        answers.PruneFoundBody,
        answers.PruneForgottenBody,
    )


@ask_memory("purge")
@click.option(
    "--everywhere", is_flag=True, help="Let the next `sync` forget it in its folder and on your machines, too."
)
@options.yes_or_no
def purge(memory: Memory, everywhere: bool) -> CommandResult:
    """Delete the whole memory: turns, tasks, vectors and the state of files. Transcripts stay as they are.

    Only hashes of forgotten text remain, so it stays forgotten; all else can be indexed again. Without a terminal and
    without --yes nothing is deleted, exit code 1.
    """
    state = memory.status()
    tasks = memory.tasks.count()
    about = f"{counted(state.turns, 'turn')} and {counted(tasks, 'task')}"
    plan = f"This would delete {about}: all of {state.database}."
    folders = memory.sync_folders()
    back = f"The next `sync` with {escape_path(', '.join(folders))} brings it back."
    agreed = options.agree(
        "Delete all of it for good?", lambda: f"{plan} {back}" if folders and not everywhere else plan
    )
    if agreed:
        if folders and not everywhere and is_terminal(sys.stdin) and not options.is_json_wanted():
            everywhere = click.confirm("Forget it in the folder and on your other machines, too?", err=True)
        memory.purge(everywhere=everywhere)
    carried = (
        "Run `sync`: it lets your other machines forget it."
        if everywhere
        else f"{back} --everywhere would forget it there."
    )
    return CommandResult(
        lambda: to_json(answers.PurgeBody("purged" if agreed else "found", [answers.Purged(state.turns, tasks)])),
        lambda: "The memory is empty.",
        is_found=agreed,
        nothing="Nothing was deleted; --yes deletes it.",
        notes=[carried] if agreed and folders else [],
    )


def _forget(
    found: ForgetResult, forget: Callable[[], ForgetResult], found_body: type, forgotten_body: type
) -> CommandResult:
    gone = forget() if found and options.agree("Forget it for good?", lambda: _describe(found)) else None
    if gone is not None and gone.forgetting is not None:
        warn(describe_rewrite(gone))
        undo = f"`pastchats-memory forget --undo {gone.forgetting.number}` would let it be indexed again."
        return CommandResult(lambda: to_json(gone, forgotten_body), lambda: f"Forgotten: {describe_rows(gone)}. {undo}")
    left = found if gone is None else gone  # another process may have been quicker
    return CommandResult(
        lambda: to_json(left, found_body),
        lambda: "",
        is_found=False,
        nothing="Nothing was forgotten; --yes forgets it." if left else "There is nothing of that in the memory.",
    )


def _describe(found: ForgetResult) -> str:
    """Return what would be deleted, a line for each of the first rows."""
    lines = [f"This would be forgotten: {describe_rows(found)}."]
    for row in found.rows[:SHOWN]:
        words = one_line(row.content[:WIDTH]) if row.content else "(of a private project)"
        about = (escape_name(row.id), format_time(row.timestamp), escape_name(row.project), words)
        lines.append("  " + " · ".join(filter(None, about)))
    more = found.total - min(SHOWN, len(found.rows))
    return "\n".join([*lines, *([f"  … and {more:,} more"] if more else [])])


def _list(known: list[Forgetting]) -> CommandResult:
    rows = [[one.number, format_time(one.at), describe_rows(one), describe_criteria(one)] for one in known]
    return CommandResult(
        lambda: to_json(answers.ForgetListBody("listed", known)),
        lambda: table(rows, ["number", "when", "what", "chosen by"], stretch=3),
        is_found=bool(known),
        nothing="Nothing is forgotten.",
        is_folded=True,
    )


def _undo(memory: Memory, number: str) -> CommandResult:
    lifted = memory.undo_forget(None if number == LAST else int(number))
    return CommandResult(
        lambda: to_json(answers.ForgetListBody("undone", [lifted] if lifted else [])),
        lambda: _describe_undone(lifted) if lifted else "",
        is_found=lifted is not None,
        nothing="There is no such; see `pastchats-memory forget --list`.",
    )


def _describe_undone(lifted: Forgetting) -> str:
    return (
        f"Lifted {lifted.number}: {describe_rows(lifted)}, chosen by {describe_criteria(lifted)}. The text itself is gone; it comes back "
        "only where its files are indexed again: pastchats-memory index --force PATH"
    )
