"""Draws episodes from real transcripts for labelling, and shows one for a labeller to read.

    python benchmarks/outcome/draw.py FOLDER                 draw anew: writes episodes.tsv
    python benchmarks/outcome/draw.py FOLDER --show 12 20    print the episodes 12 to 20

All episodes of the six formats are taken, since there are hardly more than are to be labelled; what is drawn is their
order, and with it the half to which each belongs.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import itertools
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.model import Turn
from pastchats_memory.readers import reader_for
from pastchats_memory.readers.source import Source

HERE = Path(__file__).parent
FORMATS = ("claude-code", "codex", "aider", "specstory", "opencode", "continue")


@dataclass(frozen=True)
class Episode:
    """What was asked and what answered it, with what the person said next."""

    file: str
    turns: tuple[Turn, ...]
    next_words: str

    @property
    def line(self) -> int:
        """Of the person's first words."""
        return self.turns[0].line

    @property
    def digest(self) -> str:
        """Of the person's first words."""
        return hashlib.sha256(self.turns[0].content.encode()).hexdigest()[:16]


def episodes_of(file: str, turns: list[Turn]) -> Iterator[Episode]:
    """The episodes of one conversation that begin with a person's words."""
    starts = [
        place
        for place, turn in enumerate(turns)
        if turn.role == "user" and (place == 0 or turns[place - 1].role != "user")
    ]
    for start, end in itertools.pairwise([*starts, len(turns)]):
        following = turns[end].content if end < len(turns) else ""
        if any(turn.role == "assistant" for turn in turns[start:end]):
            yield Episode(file, tuple(turns[start:end]), following)


def all_episodes(folder: Path) -> list[Episode]:
    """Of every transcript of the folder, in the order of their names."""
    found: list[Episode] = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.relative_to(folder).parts[0] not in FORMATS:
            continue
        source = Source(path)
        try:
            reader = reader_for(source)
        except ValueError:
            continue
        if reader is None:
            continue
        conversations: dict[str | None, list[Turn]] = {}
        for turn in reader.read(source):
            if isinstance(turn, Turn) and turn.branch == "main":
                conversations.setdefault(turn.conversation_id, []).append(turn)
        for turns in conversations.values():
            found += episodes_of(str(path.relative_to(folder)), turns)
    return found


def drawn(episodes: list[Episode]) -> list[Episode]:
    """The episodes in an order that is random and the same in every run."""
    chance = random.Random(20261122)  # noqa: S311 - a draw that can be repeated
    return chance.sample(episodes, len(episodes))


def shown(number: int, episode: Episode) -> str:
    """An episode as a labeller reads it: long turns by their beginning and their end."""
    turns = (f"--- line {turn.line} {turn.role} {turn.kind}\n{_short(turn.content, 1500)}" for turn in episode.turns)
    following = _short(episode.next_words, 700) or "(none: the transcript ends)"
    return "\n".join((f"===== {number}  {episode.file}", *turns, f"--- the person's next words\n{following}"))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}\n[…]\n{text[-most // 2 :]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", type=int, nargs=2, metavar=("FIRST", "LAST"))
    arguments = parser.parse_args()
    episodes = all_episodes(arguments.folder)
    if arguments.show is None:
        rows = drawn(episodes)
        with (HERE / "episodes.tsv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t", lineterminator="\n")
            writer.writerow(["number", "file", "line", "digest", "half"])
            for number, episode in enumerate(rows, start=1):
                writer.writerow([number, episode.file, episode.line, episode.digest, "build" if number % 2 else "test"])
        print(f"{len(rows)} of {len(episodes)} episodes drawn from {len({one.file for one in rows})} files")
        return
    by_place = {(one.file, one.line, one.digest): one for one in episodes}
    with (HERE / "episodes.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if arguments.show[0] <= int(row["number"]) <= arguments.show[1]:
                print(shown(int(row["number"]), by_place[row["file"], int(row["line"]), row["digest"]]))


if __name__ == "__main__":
    sys.exit(main())
