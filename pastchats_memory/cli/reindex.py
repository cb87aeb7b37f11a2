"""`reindex`: what was derived from the texts, derived anew."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.output import counted, emit_json, warn
from pastchats_memory.errors import UsageFault

if TYPE_CHECKING:
    from pastchats_memory.reindex import ReindexProgress


@click.command(
    "reindex",
    epilog="""\b
Examples:
  pastchats-memory reindex --embeddings
  pastchats-memory reindex --embeddings --model BAAI/bge-small-en-v1.5
  pastchats-memory reindex --embeddings --model packaged --json
""",
)
@click.option(
    "--embeddings", is_flag=True, help="Embed every text anew; until the last is done the old vectors answer."
)
@click.option(
    "--model",
    metavar="MODEL",
    callback=options.named,
    help="Model to change to: a name, a folder, or `packaged`.",
)
@options.threads
@options.database
@options.as_json
def command(embeddings: bool, model: str | None, threads: int | None, db: str | None, as_json: bool) -> int:
    """Embed every text anew, with another model or with the newest version of the same.

    Stopped half-way, it keeps what it has and the old vectors go on answering; the same command goes on from there.
    """
    if not embeddings:
        raise UsageFault("there is nothing to do", "Say what to derive anew: pastchats-memory reindex --embeddings")
    options.be_nice()
    with options.open_memory(db, threads=threads) as memory, _progress() as progress:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            report = memory.reindex_embeddings(model, progress, lambda said: warn({said}.difference(memory.notices)))
        except KeyboardInterrupt:
            left = memory.status().pending
            rows = counted(left, "row")
            click.echo(
                f"\nStopped. The old vectors answer; {rows} await new ones. Run the same command to go on.", err=True
            )
            raise
    if as_json:
        emit_json({"schema": "reindex/1", "results": [asdict(report)]})
    else:
        before = f", until now {report.previous_model}" if report.previous_model not in (None, report.model) else ""
        click.echo(
            f"{counted(report.rows, 'row')} have vectors of {report.model} ({report.dim} dimensions{before}): "
            f"{report.embedded:,} texts embedded, {report.cached:,} had a vector; {report.duration_s:.1f} s"
        )
    return DONE


@contextmanager
def _progress() -> Iterator[Callable[[ReindexProgress], None]]:
    """A bar with rate and time left on a terminal, silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(unit=" rows", leave=False, desc="Embedding", file=sys.stderr) as bar:

        def step(progress: ReindexProgress) -> None:
            bar.total = progress.total
            bar.update(progress.done - bar.n)

        yield step
