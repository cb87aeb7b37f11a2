"""`redact`: search stored text again for secrets, and remove them."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import bar, counted, emit_json
from pastchats_memory.errors import UsageFault
from pastchats_memory.maintenance.redact_stored import RedactReport, StoredSecrets, build_report
from pastchats_memory.memory import Memory
from pastchats_memory.views.answers.database import RedactBody
from pastchats_memory.views.to_json import to_json


@make_command(
    "redact",
    "pastchats-memory redact --rescan",
    "pastchats-memory redact --rescan --yes --json",
)
@click.option("--rescan", is_flag=True, help="Search all stored text by the rules of this release.")
@options.yes
@options.no
@options.threads
@options.database
@options.as_json
def command(rescan: bool, yes: bool, no: bool, threads: int | None, db: str | None, as_json: bool) -> int:
    """Remove secrets from stored text by the rules of this release.

    Shows first how many there are, never their text, and asks. Turns and tasks keep their ids; source files are not changed.
    Without a terminal and without --yes nothing is changed, exit code 1. After an interruption, the same command continues.
    """
    if not rescan:
        hint = (
            "New text is redacted when it is stored. For text that is stored already: pastchats-memory redact --rescan."
        )
        raise UsageFault("there is nothing to do", hint)
    options.be_nice()
    with options.open_memory(db, threads=threads) as memory:
        options.interrupt_in_order()
        with bar("rows", "Searching") as progress:
            found = memory.find_secrets(progress)
        agreed = not found or yes or _agreed(found, no=no, as_json=as_json)
        done = _remove(memory, found) if agreed else build_report(found, None)
    if as_json:
        emit_json(to_json(RedactBody("redacted" if agreed else "found", [done])))
    else:
        click.echo(_describe(done) if agreed else "Nothing was changed; --yes removes them.", err=not agreed)
    return DONE if agreed else NOTHING


def _agreed(found: StoredSecrets, *, no: bool, as_json: bool) -> bool:
    """Show how many secrets there are, and ask if there is a terminal."""
    if as_json:
        return False
    report = build_report(found, None)
    click.echo(f"Stored secrets: {_kinds(report)}.")
    click.echo(f"They are in {_rows(report)}.")
    return options.agree("Remove them for good?", yes=False, no=no)


def _remove(memory: Memory, found: StoredSecrets) -> RedactReport:
    with bar("rows", "Removing") as progress:
        try:
            return memory.redact_stored(found, progress)
        except KeyboardInterrupt:
            click.echo("\nStopped. Run the same command again: it removes the rest.", err=True)
            raise


def _describe(done: RedactReport) -> str:
    looked = f"{counted(done.looked_at, 'row')} searched"
    if not done.secrets and not done.turns + done.tasks + done.others:
        return f"{looked}: no stored secret is known to the rules of this release."
    return f"Removed from {_rows(done)}: {_kinds(done)}; {looked}, {done.duration_s:.1f} s."


def _kinds(done: RedactReport) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in done.secrets.items()) or "parts of some"


def _rows(done: RedactReport) -> str:
    parts = ((done.turns, "turn"), (done.tasks, "task"), (done.others, "record"))
    shown = " and ".join(counted(number, noun) for number, noun in parts if number)
    return shown + (" of files, folders and runs" if done.others else "")
