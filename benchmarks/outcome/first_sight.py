"""Score outcomes at first sight: on episodes of repositories that nobody here had opened, labelled before the program ran.

    python benchmarks/outcome/first_sight.py FOLDER round1 round2          one table over both rounds
    python benchmarks/outcome/first_sight.py FOLDER round1 --episodes      each episode, with its labels, outcome and signal

`rounds/NAME.tsv` has repository, commit, file, line of the request, its digest, and one or two labels. FOLDER has the files, each at
OWNER+NAME/file of its commit. No text of them is stored here. GUIDE.md says what the labels mean. An episode whose request is read
differently by now counts as missing.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args

from episodes import HERE, Episode, episodes_in
from score import wilson

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.episodes.outcome import EpisodeTurn, RuleOutcome, Verdict, derive_outcome
from pastchats_memory.episodes.outcome.episode import find_opening
from pastchats_memory.episodes.outcome.reply import Reply, classify
from pastchats_memory.store import vectors

VERDICTS = get_args(Verdict)
MODEL = PackagedEmbedder()


class Scored(NamedTuple):
    """A labelled episode with its derived outcome."""

    repository: str
    place: str
    labels: tuple[str, ...]
    outcome: RuleOutcome

    @property
    def is_right(self) -> bool:
        """Return whether the outcome is one of the defensible labels."""
        return self.outcome.verdict in self.labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rounds", nargs="+")
    parser.add_argument("--episodes", action="store_true")
    arguments = parser.parse_args()
    scored = [one for name in arguments.rounds for one, _ in score_episodes(arguments.folder, name)]
    if arguments.episodes:
        for one in scored:
            print(f"{'/'.join(one.labels):<16}{one.outcome.verdict:<9}{one.outcome.signal:<20}{one.place}")
    print_table(scored)


def score_episodes(folder: Path, name: str) -> Iterator[tuple[Scored, Episode]]:
    """Yield the labelled episodes of a round with their outcomes."""
    with (HERE / "rounds" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found: dict[tuple[str, int, str], Episode] = {}
    for repository, file_name in dict.fromkeys((row["repository"], row["file"]) for row in rows):
        path = folder / repository.replace("/", "+") / file_name
        found.update({(str(path), one.line, one.digest): one for one in episodes_in(path, str(path))})
    for row in rows:
        path = folder / row["repository"].replace("/", "+") / row["file"]
        episode = found.get((str(path), int(row["line"]), row["digest"]))
        if episode is None:
            print(f"missing: {row['repository']}/{row['file']}:{row['line']}")
            continue
        place = f"{row['repository']}/{row['file']}:{row['line']}"
        yield Scored(row["repository"], place, tuple(row["labels"].split("/")), derive(episode)), episode


def derive(episode: Episode) -> RuleOutcome:
    """Return the outcome that an index run derives from the rows of an episode."""
    rows = [EpisodeTurn(turn.role, turn.kind, turn.content, turn.metadata) for turn in episode.turns]
    return derive_outcome(
        rows,
        episode.next_words,
        [one.status for one in episode.tasks],
        classify_words(episode.next_words),
    )


@cache
def classify_words(words: str) -> Reply | None:
    """Return the class of a reply, as an index run stores it; None without words."""
    opening = find_opening(words)
    if not opening:
        return None
    (codes,) = vectors.decode([vectors.encode(vector) for vector in MODEL.embed([opening])])
    return classify(opening, codes)


def print_table(scored: list[Scored]) -> None:
    """Print how often each outcome is right, and how much of what can be known it covers."""
    print(
        f"{len(scored)} episodes of {len({one.repository for one in scored})} repositories; labels: {Counter(one.labels[0] for one in scored)}"
    )
    for verdict in VERDICTS:
        given = [one for one in scored if one.outcome.verdict == verdict]
        print(f"{verdict:<9} right {wilson(sum(one.is_right for one in given), len(given))}")
    knowable = [one for one in scored if one.labels[0] != "unknown"]
    print(
        f"coverage  {wilson(sum(one.outcome.verdict != 'unknown' for one in knowable), len(knowable))} of what can be known"
    )
    for label in ("worked", "failed", "mixed", "stopped"):
        real = [one for one in scored if one.labels[0] == label]
        print(
            f"found     {wilson(sum(one.is_right and one.outcome.verdict != 'unknown' for one in real), len(real))} of {label}"
        )


if __name__ == "__main__":
    main()
