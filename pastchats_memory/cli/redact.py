"""`redact`: search stored text again for secrets, and remove them."""

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import bar
from pastchats_memory.errors import UsageFault
from pastchats_memory.maintenance.redact_stored import RedactReport, build_report
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import counted
from pastchats_memory.views.answers.database import RedactBody
from pastchats_memory.views.to_json import to_json


def _check(*, rescan: bool, **_: object) -> None:
    if not rescan:
        hint = (
            "New text is redacted when it is stored. For text that is stored already: pastchats-memory redact --rescan."
        )
        raise UsageFault("there is nothing to do", hint)


@ask_memory("redact", flags=("threads",), check=_check)
@click.option("--rescan", is_flag=True, help="Search all stored text by the rules of this release.")
@options.yes_or_no
@options.threads
def command(memory: Memory, rescan: bool) -> CommandResult:  # noqa: ARG001 - `_check` reads it
    """Remove secrets from stored text by the rules of this release.

    Shows first how many there are, never their text, and asks. Turns and tasks keep their ids; source files are not changed.
    Without a terminal and without --yes nothing is changed, exit code 1. After an interruption, the same command continues.
    """
    options.be_nice()
    options.interrupt_in_order()
    with bar("rows", "Searching") as progress:
        found = memory.find_secrets(progress)
    shown = build_report(found, None)
    plan = f"Stored secrets: {_kinds(shown)}.\nThey are in {_rows(shown)}."
    agreed = not found or options.agree("Remove them for good?", lambda: plan)
    done = shown
    if agreed:
        with bar("rows", "Removing", lambda: "Run the same command again: it removes the rest.") as progress:
            done = memory.redact_stored(found, progress)
    return CommandResult(
        lambda: to_json(RedactBody("redacted" if agreed else "found", [done])),
        lambda: _describe(done),
        is_found=agreed,
        nothing="Nothing was changed; --yes removes them.",
        is_folded=True,
    )


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
