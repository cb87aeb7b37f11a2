"""`doctor`: is everything whole, and if not, what to do."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from pastchats_memory import cli
from pastchats_memory.cli import DONE, NOTHING, emit_json, hanging, is_terminal
from pastchats_memory.config import load
from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.health import MEND, Finding
from pastchats_memory.memory import Memory
from pastchats_memory.model import utf8


@click.command(
    "doctor",
    epilog="""\b
Examples:
  pastchats-memory doctor
  pastchats-memory doctor --yes
  pastchats-memory doctor --json | jq '.results[] | select(.is_well | not)'
""",
)
@cli.yes
@cli.no
@cli.database
@cli.as_json
def command(yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Check the database, the model, the engine and the sources; exit 1 where something is to be mended.

    Of a damaged database what can be saved is saved in a new one: you are asked first, without a terminal --yes says so.
    What is derived is made anew, and the damaged file is kept beside it. End other processes that use it before.
    """
    findings = _findings(db)
    if not as_json:
        _tell(findings)
    if any(not finding.is_well and finding.remedy == MEND for finding in findings):
        ask = not (yes or no or as_json) and is_terminal(sys.stdin)
        if yes or (
            ask and click.confirm("Save what can be saved in a new database, and keep this one beside it?", err=True)
        ):
            mended = Memory.mend(load(db).database)
            further = [
                Finding("salvage", is_well=True, detail=utf8(mended.detail), remedy=mended.remedy),
                *_findings(db),
            ]
            if not as_json:
                _tell(further)
            findings = further
    if as_json:
        emit_json({"schema": "doctor/1", "results": [asdict(finding) for finding in findings]})
    return DONE if all(finding.is_well for finding in findings) else NOTHING


def _findings(db: str | None) -> list[Finding]:
    try:
        with cli.open_memory(db) as memory:
            return memory.doctor()
    except DatabaseCorrupt as fault:
        if fault.__cause__ is None:  # another program's, or no file at all: nothing that could be mended
            raise
        return [Finding("database", is_well=False, detail=utf8(fault.message), remedy=MEND)]


def _tell(findings: list[Finding]) -> None:
    for finding in findings:
        mark = "ok  " if finding.is_well else "MEND"
        click.echo(hanging(f"{mark}  {finding.check:12} {finding.detail}", under=19))
        if finding.remedy and (not finding.is_well or finding.check == "salvage"):
            click.echo(hanging(f"{'':19}{finding.remedy}", under=19))
