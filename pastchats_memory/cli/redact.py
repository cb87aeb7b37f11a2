"""`redact`: what is stored already, looked through again for secrets."""

from __future__ import annotations

import sys

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.forget import STILL_READ
from pastchats_memory.cli.output import bar, counted, emit_json, is_terminal, warn
from pastchats_memory.errors import UsageFault
from pastchats_memory.maintenance.redact_stored import RedactReport, StoredSecrets, build_report
from pastchats_memory.memory import Memory
from pastchats_memory.views.build_upkeep import build_redact


@click.command(
    "redact",
    epilog="""\b
Examples:
  pastchats-memory redact --rescan
  pastchats-memory redact --rescan --yes --json
""",
)
@click.option("--rescan", is_flag=True, help="Look through all that is stored by the rules of this release.")
@options.yes
@options.no
@options.threads
@options.database
@options.as_json
def command(rescan: bool, yes: bool, no: bool, threads: int | None, db: str | None, as_json: bool) -> int:
    """Take secrets out of what is stored already, by rules that are newer than it.

    How many there are is said first and asked for; their text is never shown. Turns and tasks keep their ids, and the files that
    they came from stay as they are. Without a terminal and without --yes nothing is changed then, exit code 1. Stopped
    half-way, the same command does the rest.
    """
    if not rescan:
        hint = "Secrets are taken out whenever something is stored; for what is stored already: pastchats-memory redact --rescan."
        raise UsageFault("there is nothing to do", hint)
    options.be_nice()
    with options.open_memory(db, threads=threads) as memory:
        options.interrupt_in_order()
        with bar("rows", "Looking") as progress:
            found = memory.find_secrets(progress)
        agreed = not found or yes or _agreed(found, no=no, as_json=as_json)
        done = _take_out(memory, found) if agreed else build_report(found, None)
    if agreed and not done.erased:
        warn([STILL_READ])
    if as_json:
        emit_json(build_redact("redacted" if agreed else "found", done))
    else:
        click.echo(_told(done) if agreed else "Nothing was changed; --yes takes them out.", err=not agreed)
    return DONE if agreed else NOTHING


def _agreed(found: StoredSecrets, *, no: bool, as_json: bool) -> bool:
    """Say what there is, and ask where somebody can answer."""
    if as_json:
        return False
    said = build_report(found, None)
    click.echo(f"Secrets that are stored: {_kinds(said)}.")
    click.echo(f"They stand in {_rows(said)}.")
    return not no and is_terminal(sys.stdin) and click.confirm("Take them out for good?", default=False)


def _take_out(memory: Memory, found: StoredSecrets) -> RedactReport:
    with bar("rows", "Taking out") as progress:
        try:
            return memory.redact_stored(found, progress, lambda said: warn({said}.difference(memory.notices)))
        except KeyboardInterrupt:
            click.echo("\nStopped. Run the same command again: it takes out what is left.", err=True)
            raise


def _told(done: RedactReport) -> str:
    looked = f"{counted(done.looked_at, 'row')} looked through"
    if not done.secrets and not done.turns + done.tasks + done.others:
        return f"{looked}: no secret is stored that the rules of this release know."
    return f"Taken out of {_rows(done)}: {_kinds(done)}; {looked}, {done.duration_s:.1f} s."


def _kinds(done: RedactReport) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in done.secrets.items()) or "parts of some"


def _rows(done: RedactReport) -> str:
    parts = ((done.turns, "turn"), (done.tasks, "task"), (done.others, "record"))
    shown = " and ".join(counted(number, noun) for number, noun in parts if number)
    return shown + (" of files, folders and runs" if done.others else "")
