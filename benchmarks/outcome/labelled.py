"""Read every labelled episode: real, written, everyday, and the demo.

The demo has no labels. Its outcomes are documented, so they count as labels.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from episodes import HERE, Episode, all_episodes, episodes_in
from written import SETS, episode_of, written

from pastchats_memory.episodes.outcome import EpisodeTurn

DEMO = HERE.parents[1] / "fixtures" / "demo"
REQUEST = EpisodeTurn("user", "prompt", "Make the login test pass, it is flaky since Monday.")
ANSWERS = {
    "advice": EpisodeTurn(
        "assistant", "answer", "The clock was read twice in that test, which is why it failed at midnight."
    ),
    "edit": EpisodeTurn(
        "assistant", "answer", "The button has an icon now.", {"files": ["button.tsx"], "commits": ["0487f16"]}
    ),
}
"""The answer before an everyday message: with and without visible work."""


class Labelled(NamedTuple):
    """The arguments of `derive_outcome`, with the label."""

    name: str
    label: str
    """A verdict; empty for the demo."""
    turns: Sequence[EpisodeTurn]
    next_message: str
    tasks: Sequence[str] = ()


def read_labelled(folders: Sequence[Path]) -> Iterator[Labelled]:
    """Yield the labelled episodes.

    The folders hold the transcripts that `episodes.tsv` names.
    """
    yield from _read_real(folders)
    yield from _read_written()
    yield from read_everyday()
    for path in sorted(DEMO.rglob("*")):
        if path.is_file():
            yield from (_convert(one, "") for one in episodes_in(path, path.name))


def read_everyday() -> Iterator[Labelled]:
    """Yield the everyday messages, each after a request and one of two answers."""
    for row in _read_table("everyday.tsv"):
        yield Labelled(row["message"], row["label"], (REQUEST, ANSWERS[row["answer"]]), row["message"])


def _read_real(folders: Sequence[Path]) -> Iterator[Labelled]:
    by_place = {(one.file, one.line, one.digest): one for one in all_episodes(folders)}
    labels = {row["number"]: row["label"] for row in _read_table("labels.tsv")}
    for row in _read_table("episodes.tsv"):
        if episode := by_place.get((row["file"], int(row["line"]), row["digest"])):
            yield _convert(episode, labels[row["number"]])


def _read_written() -> Iterator[Labelled]:
    with tempfile.TemporaryDirectory() as folder:
        for name in SETS:
            for one in written(name):
                yield _convert(episode_of(one, Path(folder)), one.label)


def _convert(episode: Episode, label: str) -> Labelled:
    turns = [EpisodeTurn(turn.role, turn.kind, turn.content, turn.metadata) for turn in episode.turns]
    name = f"{episode.file}:{episode.line}"
    return Labelled(name, label, turns, episode.next_words, [one.status for one in episode.tasks])


def _read_table(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
