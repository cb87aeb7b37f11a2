"""`sync`: exchange the memory between one person's machines through a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import bar, is_terminal, table
from pastchats_memory.errors import UsageFault
from pastchats_memory.text.display import counted, escape_name, escape_path
from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.to_json import to_json

if TYPE_CHECKING:
    from pastchats_memory.memory import Memory
    from pastchats_memory.sync.report import Machine, SyncReport

PASSPHRASE = "PASTCHATS_MEMORY_SYNC_PASSPHRASE"  # noqa: S105 - the name of a variable # nosec B105
NOUNS = {
    "turn": "turn",
    "task": "task",
    "judgement": "judgement",
    "forgetting": "deletion",
    "lifting": "undone deletion",
}


def _check(*, folder: Path | None, key: Path | None, plain: bool, **how: object) -> None:
    if key is not None and plain:
        raise UsageFault("--key and --plain exclude each other", "Leave out one of the two.")
    if folder is not None:
        from pastchats_memory.sync import check_folder
        from pastchats_memory.sync.report import FolderAccess

        may_begin = not any(how[name] for name in ("status", "trust", "retire", "new_key"))
        check_folder(folder, FolderAccess(_passphrase(folder, is_new=False), key, plain), may_begin=may_begin)


@ask_memory("sync", create_for="folder", check=_check)
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--status", is_flag=True, help="Show the machines that use the folder; exchange nothing.")
@click.option(
    "--key", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Age identity, instead of a passphrase."
)
@click.option("--plain", is_flag=True, help="Use a folder whose files are not encrypted.")
@click.option("--trust", metavar="CODE", help="Take the files of a machine whose code you have compared.")
@click.option("--retire", metavar="MACHINE", help="Take no more files of a machine, and take over those it wrote.")
@click.option("--rejoin", is_flag=True, help="Make this machine a new one, after it was retired.")
@click.option("--new-key", is_flag=True, help="Replace the folder's passphrase, or with --key its key.")
def command(
    memory: Memory, folder: Path | None, status: bool, key: Path | None, plain: bool, trust: str | None,
    retire: str | None, rejoin: bool, new_key: bool,
) -> CommandResult:  # fmt: skip
    """Exchange the memory with your other machines through FOLDER, which something else carries between them.

    Any folder will do: Syncthing, Dropbox, a git checkout, a mounted disk, rsync. Run the command on each machine, as often
    as you like. Each writes only its own files. What you forget on one machine is forgotten on all of them. Private and
    excluded projects never leave.

    The files are encrypted (age). The first machine sets the passphrase; $PASTCHATS_MEMORY_SYNC_PASSPHRASE gives it without
    a terminal. Afterwards the key lies in the memory, and nobody is asked again.

    Each file is signed, and only those of your machines are taken. A machine with the passphrase or the key counts as yours. In
    a folder with --plain you compare the code that --status shows on both.
    """
    from pastchats_memory.sync.report import FolderAccess

    options.interrupt_in_order()
    folder = folder or _only_folder(memory)
    access = FolderAccess(_passphrase(folder, is_new=new_key), key, plain, rejoin)
    if new_key:
        memory.replace_sync_secret(folder, access)
    if trust is not None:
        memory.trust_machine(folder, trust, access)
    if retire is not None:
        memory.retire_machine(folder, retire, access)
    if status:
        report = memory.sync_status(folder, access)
    else:
        with bar("file", "reading") as step:
            report = memory.sync(folder, access, step)
    return CommandResult(
        lambda: to_json(report),
        lambda: "\n".join([*([] if status else _describe_run(report)), _list_machines(report)]),
        is_found=not report.refused or any((*report.sent.values(), *report.received.values())),
        notes=[
            f"Not read: {escape_path(utf8(one.path))} {one.reason}; the next run tries again." for one in report.refused
        ],
        is_folded=True,
    )


def _only_folder(memory: Memory) -> Path:
    """Return the folder that was used before. Raises UsageFault unless there is exactly one."""
    known = memory.sync_folders()
    if len(known) != 1:
        problem = "no folder was used yet" if not known else "several folders were used"
        raise UsageFault(problem, "Name it: pastchats-memory sync FOLDER.")
    return Path(known[0])


def _passphrase(folder: Path, *, is_new: bool) -> Callable[[], str] | None:
    """Return how to get the passphrase; None without a variable and a terminal."""
    if given := os.environ.get(PASSPHRASE):
        return lambda: given
    if not is_terminal(sys.stdin):
        return None
    is_new = is_new or not (folder / "pastchats-sync.json").exists()
    words = "New passphrase" if is_new else "Passphrase"
    return lambda: str(click.prompt(words, hide_input=True, confirmation_prompt=is_new, err=True))


def _describe_run(report: SyncReport) -> list[str]:
    lines = [
        (report.deleted, "Deleted {} that another machine has forgotten.", "row"),
        (report.rewritten, "Replaced {} of this machine, without what is forgotten or private now.", "file"),
        (report.held_back, "{} of private or excluded projects stayed here.", "row"),
        (report.left_out, "{} of other machines not stored: excluded here.", "row"),
    ]
    first = f"Sent {_list(report.sent)}. Received {_list(report.received)}."
    return [first, *(line.format(counted(number, noun)) for number, line, noun in lines if number)]


def _list_machines(report: SyncReport) -> str:
    rows = [describe_machine(machine) for machine in report.machines]
    return table(rows, headers=("machine", "id", "files", "last wrote (UTC)", ""), stretch=4)


def _list(by_kind: Mapping[str, int]) -> str:
    named = [counted(by_kind[kind], noun) for kind, noun in NOUNS.items() if by_kind.get(kind)]
    return ", ".join(named) or "nothing"


def describe_machine(machine: Machine) -> tuple[str, str, int, str, str]:
    """Return the cells of a machine; another machine wrote its name, id, code and time."""
    code = escape_name(machine.code)
    notes = [f"this machine, code {code}"] if machine.is_this else []
    if machine.is_retired:
        notes.append("retired")
    elif not machine.is_known:
        hint = f"compare its code {code} there, then run with --trust CODE" if code else "no file of it is signed"
        notes.append(f"not taken: {hint}")
    if machine.unread:
        notes.append(f"{counted(machine.unread, 'file')} not read yet")
    if machine.missing:
        notes.append(f"{counted(len(machine.missing), 'file')} not here yet")
    if machine.behind:
        notes.append(f"has not forgotten {counted(machine.behind, 'deletion')} yet")
    last = escape_name(machine.last_at or "")[:16].replace("T", " ")
    return escape_name(machine.host), escape_name(machine.id), machine.files, last, ", ".join(notes)
