"""`reindex`: derive embeddings or outcomes again from the stored texts."""

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import bar
from pastchats_memory.episodes.derive import Derived
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import Memory
from pastchats_memory.store.vectors.reindex import ReindexReport
from pastchats_memory.text.display import counted
from pastchats_memory.views.to_json import to_json


def _check(*, embeddings: bool, outcomes: bool, model: str | None) -> None:
    if embeddings == outcomes:
        hint = "Choose what to derive again: pastchats-memory reindex --embeddings, or --outcomes."
        raise UsageFault("one thing at a time" if embeddings else "there is nothing to do", hint)
    if outcomes and model is not None:
        raise UsageFault("outcomes need no model", "Leave --model out, or use --embeddings.")


@ask_memory("reindex", flags=("threads",), check=_check)
@click.option("--embeddings", is_flag=True, help="Embed every text again; the old vectors answer until all are done.")
@click.option("--outcomes", is_flag=True, help="Derive every outcome again by the rules of this release.")
@click.option(
    "--model",
    metavar="MODEL",
    callback=options.check_model_name,
    help="Model to change to: a name, a folder, or `packaged`.",
)
@options.threads
def command(memory: Memory, embeddings: bool, outcomes: bool, model: str | None) -> CommandResult:  # noqa: ARG001 - `_check` reads all
    """Derive embeddings or outcomes again from the stored texts.

    Embeddings are made with another model or with the newest version of the same. An interrupted run keeps what it has, and the
    old vectors keep answering; the same command continues it. Outcomes take a minute for a large memory.
    """
    from pastchats_memory.views.answers.database import ReindexBody  # brings what `task` has no use for

    options.be_nice()
    options.interrupt_in_order()
    report, text = _outcomes(memory) if outcomes else _embeddings(memory, model)
    return CommandResult(lambda: to_json(ReindexBody([report])), lambda: text, is_folded=True)


def _outcomes(memory: Memory) -> tuple[Derived, str]:
    left = "What is left is derived by the next index run, or when it is recalled."
    with bar("conversations", "Outcomes", lambda: left) as progress:
        done = memory.reindex_outcomes(progress)
    rate = f"{counted(done.episodes, 'episode')} of {counted(done.conversations, 'conversation')}"
    return done, f"{rate} read for their outcome; {done.duration_s:.1f} s"


def _embeddings(memory: Memory, model: str | None) -> tuple[ReindexReport, str]:
    def describe_rest() -> str:
        rows = counted(memory.status().pending, "row")
        return f"The old vectors answer; {rows} await new ones. Run the same command to go on."

    with bar("rows", "Embedding", describe_rest) as progress:
        report = memory.reindex_embeddings(model, progress)
    before = f", until now {report.previous_model}" if report.previous_model not in (None, report.model) else ""
    text = (
        f"{counted(report.rows, 'row')} have vectors of {report.model} ({report.dim} dimensions{before}): "
        f"{report.embedded:,} texts embedded, {report.cached:,} had a vector; {report.duration_s:.1f} s"
    )
    return report, text
