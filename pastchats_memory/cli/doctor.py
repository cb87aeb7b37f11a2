"""`doctor`: check the database, and repair a damaged one."""

from __future__ import annotations

import sys

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, is_terminal
from pastchats_memory.config import load
from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.maintenance.health import REPAIR, HealthCheck
from pastchats_memory.memory import Memory
from pastchats_memory.model import utf8
from pastchats_memory.views.build_upkeep import build_doctor


@click.command(
    "doctor",
    epilog="""\b
Examples:
  pastchats-memory doctor
  pastchats-memory doctor --yes
  pastchats-memory doctor --json | jq '.results[] | select(.is_well | not)'
""",
)
@options.yes
@options.no
@options.database
@options.as_json
def command(yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Check the database, the model, the engine and the sources; exit 1 if something needs repair.

    A damaged database is recovered into a new one. You are asked first; without a terminal, --yes agrees. The damaged file
    stays beside the new one. End other processes that use the database before.
    """
    findings = _findings(db)
    if not as_json:
        _tell(findings)
    if any(not finding.is_well and finding.remedy == REPAIR for finding in findings):
        ask = not (yes or no or as_json) and is_terminal(sys.stdin)
        if yes or (
            ask
            and click.confirm("Recover what is readable into a new database, and keep this one beside it?", err=True)
        ):
            mended = Memory.mend(load(db).database)
            further = [
                HealthCheck("salvage", is_well=True, detail=utf8(mended.detail), remedy=mended.remedy),
                *_findings(db),
            ]
            if not as_json:
                _tell(further)
            findings = further
    if as_json:
        emit_json(build_doctor(findings))
    return DONE if all(finding.is_well for finding in findings) else NOTHING


def _findings(db: str | None) -> list[HealthCheck]:
    try:
        with options.open_memory(db) as memory:
            return memory.doctor()
    except DatabaseCorrupt as fault:
        if fault.__cause__ is None:  # another program's, or no file at all: nothing that could be mended
            raise
        return [HealthCheck("database", is_well=False, detail=utf8(fault.message), remedy=REPAIR)]


def _tell(findings: list[HealthCheck]) -> None:
    for finding in findings:
        mark = "ok  " if finding.is_well else "MEND"
        click.echo(hanging(f"{mark}  {finding.check:12} {finding.detail}", under=19))
        if finding.remedy and (not finding.is_well or finding.check == "salvage"):
            click.echo(hanging(f"{'':19}{finding.remedy}", under=19))
