"""`doctor`: is everything whole, and if not, what to do."""

from __future__ import annotations

from dataclasses import asdict

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json


@click.command(
    "doctor",
    epilog="""\b
Examples:
  pastchats-memory doctor
  pastchats-memory doctor --json | jq '.results[] | select(.is_well | not)'
""",
)
@options.database
@options.as_json
def command(db: str | None, as_json: bool) -> int:
    """Check the database, the model, the engine and the sources; exit 1 where something is to be mended."""
    with options.open_memory(db) as memory:
        findings = memory.doctor()
    if as_json:
        emit_json({"schema": "doctor/1", "results": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            click.echo(f"{'ok  ' if finding.is_well else 'MEND'}  {finding.check:12} {finding.detail}")
            if not finding.is_well and finding.remedy:
                click.echo(f"{'':19}{finding.remedy}")
    return DONE if all(finding.is_well for finding in findings) else NOTHING
