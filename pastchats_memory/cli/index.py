"""`index`: conversations on disk into the memory."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, emit_json, table
from pastchats_memory.errors import UsageFault
from pastchats_memory.ingest import FileReport, IndexReport, Progress
from pastchats_memory.memory import Memory
from pastchats_memory.render import one_line

SHOWN = 10
"""Files of a kind that are named on a terminal; `--json` has them all."""


@click.command(
    "index",
    epilog="""\b
Examples:
  pastchats-memory index ~/.claude/projects
  pastchats-memory index exports/conversations.json --project chatgpt
  pastchats-memory index ~/notes --notes
  pastchats-memory index --dry-run ~/Downloads
""",
)
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--input", "inputs", metavar="PATH", multiple=True, help="A path, same as the argument; repeatable.")
@click.option("--project", metavar="NAME", help="File every turn under this project, whatever the files say.")
@click.option("--force", is_flag=True, help="Read unchanged files again; unchanged text is not embedded again.")
@click.option("--notes", is_flag=True, help="Take Markdown that is no dialogue, split at its headings.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken for what.")
@options.model
@options.threads
@options.database
@options.as_json
def command(
    paths: tuple[str, ...],
    inputs: tuple[str, ...],
    project: str | None,
    force: bool,
    notes: bool,
    dry_run: bool,
    model: str | None,
    threads: int | None,
    db: str | None,
    as_json: bool,
) -> int:
    """Read conversations and notes below PATH and make them searchable. Only what is new costs time.

    Files are read, never changed. Stopped half-way, it keeps what it has; the same command goes on from there.
    """
    named = [*paths, *inputs]
    if not named:
        raise UsageFault("no path was given", "Name a file or folder: pastchats-memory index ~/.claude/projects")
    if dry_run:
        return _dry_run(named, notes=notes, as_json=as_json)
    options.be_nice()
    with options.open_memory(db, create=True, model=model, threads=threads) as memory, _progress() as progress:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            report = memory.index(named, project, force=force, notes=notes, progress=progress)
        except KeyboardInterrupt:
            turns = memory.status().turns
            click.echo(
                f"\nStopped. {counted(turns, 'turn')} are stored and searchable; run the same command to go on.",
                err=True,
            )
            raise
    if as_json:
        emit_json(_json(report))
    else:
        click.echo(_text(report))
    return DONE if report.taken or report.known else NOTHING


def _dry_run(paths: list[str], *, notes: bool, as_json: bool) -> int:
    found = list(Memory.dry_run(paths, notes=notes, config=options.configuration()))
    taken = any(report.format for report, _ in found)
    if as_json:
        results = [{**_file(report), "turns": turns, "keys": dict(report.keys)} for report, turns in found]
        emit_json({"schema": "index/1", "results": results})
    elif found:
        rows = [
            [report.format or "–", turns or "", one_line(report.path), report.reason or _taken(report)]
            for report, turns in found
        ]
        click.echo(table(rows, ["taken for", "turns", "file", "why not, or which keys"], stretch=2))
    if not found:
        click.echo("There is no file in it that could be a conversation.", err=True)
    return DONE if taken else NOTHING


def _taken(report: FileReport) -> str:
    return one_line(", ".join(f"{what}={keys.replace(', ', '|')}" for what, keys in report.keys.items()))


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """A bar with rate and time left on a terminal, silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    form = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed} so far, about {remaining} left, {rate_fmt}{postfix}]"
    with tqdm(unit="B", unit_scale=True, leave=False, bar_format=form, desc="Indexing", file=sys.stderr) as bar:

        def step(progress: Progress) -> None:
            bar.total = progress.bytes_total
            bar.set_postfix_str(f"{progress.turns:,} turns", refresh=False)
            bar.update(progress.bytes_done - bar.n)

        yield step


def _text(report: IndexReport) -> str:
    counts = report.counts()
    formats = Counter(state.format for state in report.taken)
    kinds = ", ".join(f"{count} {name}" for name, count in formats.most_common())
    passed_over = [state for state in report.files if state.format is None]
    files = f"{len(report.taken)} read{f' ({kinds})' if kinds else ''}, {report.files_unchanged} unchanged"
    work = f"{report.embedded:,} texts embedded, {report.cached:,} had a vector; {report.duration_s:.1f} s"
    lines = [
        f"Looked at {counted(report.files_scanned, 'file')}: {files}, {len(passed_over)} not taken.",
        f"Added {counted(counts['turns_added'], 'turn')}; {counts['turns_skipped']:,} were known already; {work}.",
    ]
    lines += _listed("Not taken", [f"{one_line(state.path)}: {state.reason}" for state in passed_over])
    lines += _listed(
        "Not understood", [f"{one_line(line.path)}:{line.line}: {one_line(line.reason)}" for line in report.unreadable]
    )
    return "\n".join(lines)


def _listed(title: str, entries: list[str]) -> list[str]:
    if not entries:
        return []
    more = [f"  … and {len(entries) - SHOWN:,} more (all of them with --json)"] if len(entries) > SHOWN else []
    return [f"{title}:", *(f"  {entry}" for entry in entries[:SHOWN]), *more]


def _json(report: IndexReport) -> dict[str, Any]:
    return {
        "schema": "index/1",
        "outcome": report.outcome,
        "model": report.model,
        "duration_s": report.duration_s,
        "files_unchanged": report.files_unchanged,
        "embedded": report.embedded,
        "cached": report.cached,
        "superseded": report.superseded,
        **report.counts(),
        "results": [_file(state) for state in report.files],
    }


def _file(state: FileReport) -> dict[str, Any]:
    return {
        "source_path": state.path,
        "format": state.format,
        "added": state.added,
        "updated": state.updated,
        "skipped": state.skipped,
        "reason": state.reason,
        "unreadable": [{"line": line.line, "reason": line.reason} for line in state.unreadable],
    }
