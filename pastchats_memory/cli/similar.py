"""`similar`, `find-duplicates` and `duplicates`: find tasks that are alike."""

from collections.abc import Callable, Mapping, Sequence

import click

from pastchats_memory.cli import questions
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import Memory
from pastchats_memory.tasks.similarity import MIN_PAIR_SCORE, DuplicateCluster, SimilarTask
from pastchats_memory.text.display import counted, escape_name
from pastchats_memory.views.answers.tasks import DUPLICATES, FIND_DUPLICATES, SIMILAR
from pastchats_memory.views.task_text import render_guide, render_near

_threshold = click.option("--threshold", type=click.FloatRange(0, 1), metavar="X", help="Only scores of at least X.")
_limit = click.option("--limit", type=click.IntRange(1, 40), default=5, show_default=True, help="Tasks at most.")


def _list_similar(
    found: Sequence[SimilarTask],
    threshold: float | None,
    build: Callable[[Sequence[SimilarTask]], Mapping[str, object]],
) -> CommandResult:
    """Return the nearest tasks with score and label; nothing is found if none is related or better."""
    matching = [one for one in found if threshold is None or one.match.score >= threshold]
    return CommandResult(
        lambda: build(matching),
        lambda: "\n".join([*map(render_near, matching), render_guide()]),
        is_found=any(one.match.is_related for one in matching),
        nothing="" if matching else "No task is like it.",
    )


@ask_memory("similar")
@click.argument("key")
@_threshold
@_limit
def command(memory: Memory, key: str, threshold: float | None, limit: int) -> CommandResult:
    """List the tasks most similar to the task KEY, with score and label, and a guide to the scores."""
    return _list_similar(memory.tasks.find_similar(key, limit), threshold, SIMILAR.build)


# `find-duplicates`: the tasks most like a text.


@ask_memory("find-duplicates")
@click.argument("text", nargs=-1, required=True)
@_threshold
@_limit
def find_duplicates(memory: Memory, text: tuple[str, ...], threshold: float | None, limit: int) -> CommandResult:
    """List the tasks most similar to TEXT, with score and label, and a guide to the scores."""
    return _list_similar(memory.tasks.find_duplicates(" ".join(text), limit), threshold, FIND_DUPLICATES.build)


# `duplicates`: clusters among all tasks.


def _check(*, scan: bool, **_: object) -> None:
    if not scan:
        raise UsageFault(
            "say what to compare", "`duplicates --scan` compares all tasks; `find-duplicates TEXT` one text."
        )


@ask_memory("duplicates", check=_check)
@click.option("--scan", is_flag=True, help="Compare all tasks with each other.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=MIN_PAIR_SCORE,
    show_default=True,
    metavar="X",
    help="Least score of a pair.",
)
@questions.project
def duplicates(memory: Memory, scan: bool, threshold: float, project: str | None) -> CommandResult:  # noqa: ARG001 - `_check` reads it
    """List clusters of similar tasks, each pair with its score. Tasks that programs wrote for each other are left out."""
    clusters = memory.find_task_clusters(threshold, project)
    return CommandResult(
        lambda: DUPLICATES.build(clusters),
        lambda: "\n".join([*map(_render_cluster, range(1, len(clusters) + 1), clusters), render_guide()]),
        is_found=bool(clusters),
        nothing="No two tasks are that much alike.",
    )


def _render_cluster(number: int, cluster: DuplicateCluster) -> str:
    tasks = [f"   {escape_name(task.key)}  {escape_name(task.title)} ({task.status})" for task in cluster.tasks]
    pairs = [
        f"     [{pair.score:.2f}] {escape_name(pair.first)} = {escape_name(pair.second)} ({pair.label})"
        for pair in cluster.pairs
    ]
    return "\n".join([f"{number}. {counted(len(cluster.tasks), 'task')}", *tasks, *pairs])
