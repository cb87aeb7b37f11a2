"""List phrases of `episodes/outcome/phrases.toml` that no labelled episode needs.

    python scripts/word_lists/outcome_phrases.py FOLDER... [--guards]

A phrase is needed if some labelled episode has another outcome without it: verdict, rule or quotation. The folders hold
the transcripts that `benchmarks/outcome/episodes.tsv` names. Guards stay without a need, unless `--guards` asks for them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "benchmarks" / "outcome")]

from pastchats_memory.episodes.outcome import EpisodeTurn, RuleOutcome, derive_outcome  # noqa: E402 - the path comes first
from pastchats_memory.episodes.outcome.patterns import Group, Kind, Phrases, join_groups, list_phrases, read_phrases  # noqa: E402 - the path comes first

Span = tuple[int, int]


class Labelled(Protocol):
    """An episode as `benchmarks/outcome/labelled.py` reads it."""

    turns: Sequence[EpisodeTurn]
    next_message: str
    tasks: Sequence[str]


class Unneeded(NamedTuple):
    """A phrase without which every labelled episode has the same outcome."""

    kind: Kind
    meaning: str
    language: str
    phrase: str


class _Call(NamedTuple):
    """A search that found something."""

    method: str
    text: str
    spans: tuple[Span, ...]


class _Recorder:
    """A compiled expression that notes which calls of which episode find something."""

    def __init__(self, pattern: re.Pattern[str], current: Callable[[], int]) -> None:
        self.pattern = pattern
        self.episodes: dict[_Call, set[int]] = {}
        self._current = current

    def search(self, text: str) -> re.Match[str] | None:
        return next(self._record("search", text), None)

    def match(self, text: str) -> re.Match[str] | None:
        return next(self._record("match", text), None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._record("finditer", text)

    def _record(self, method: str, text: str) -> Iterator[re.Match[str]]:
        found = _find(self.pattern, method, text)
        if found:
            call = _Call(method, text, tuple(one.span() for one in found))
            self.episodes.setdefault(call, set()).add(self._current())
        return iter(found)


def _find(pattern: re.Pattern[str], method: str, text: str) -> list[re.Match[str]]:
    if method == "finditer":
        return list(pattern.finditer(text))
    found = pattern.search(text) if method == "search" else pattern.match(text)
    return [found] if found else []


def check_outcome_phrases(folders: Sequence[Path], kinds: Sequence[Kind] = ("evidence",)) -> list[Unneeded]:
    """Return the phrases of the kinds that no labelled episode needs."""
    episodes: list[Labelled] = list(import_module("labelled").read_labelled(folders))
    place = 0
    patterns = list_phrases()
    recorders = {pattern: _Recorder(pattern.compiled, lambda: place) for pattern in patterns}
    for pattern, recorder in recorders.items():
        pattern.__dict__["compiled"] = recorder
    expected = []
    for place, episode in enumerate(episodes):  # noqa: B007 - recorders read the place
        expected.append(_derive(episode))
    for pattern, recorder in recorders.items():
        pattern.__dict__["compiled"] = recorder.pattern
    return [
        one
        for pattern in patterns
        if pattern.kind in kinds
        for one in _find_unneeded(pattern, recorders[pattern], episodes, expected)
    ]


def _derive(episode: Labelled) -> RuleOutcome:
    return derive_outcome(episode.turns, episode.next_message, episode.tasks)


def _find_unneeded(
    pattern: Phrases, recorder: _Recorder, episodes: Sequence[Labelled], expected: Sequence[RuleOutcome]
) -> Iterator[Unneeded]:
    groups = read_phrases()[pattern.kind][pattern.meaning]
    for language, phrase, rest in _leave_one_out(groups):
        without = re.compile(join_groups(rest) if rest else r"(?!)", pattern.flags)
        changed = {
            place
            for call, places in recorder.episodes.items()
            if tuple(one.span() for one in _find(without, call.method, call.text)) != call.spans
            for place in places
        }
        pattern.__dict__["compiled"] = without
        is_needed = any(_derive(episodes[place]) != expected[place] for place in sorted(changed))
        pattern.__dict__["compiled"] = recorder.pattern
        if not is_needed:
            yield Unneeded(pattern.kind, pattern.meaning, language, phrase)


def _leave_one_out(groups: list[Group]) -> Iterator[tuple[str, str, list[Group]]]:
    """Yield each phrase with its language, and the groups without it."""
    for number, group in enumerate(groups):
        for language, phrases in group.items():
            if isinstance(phrases, str):
                continue
            for phrase in phrases:
                smaller = {**group, language: [one for one in phrases if one != phrase]}
                is_empty = not any(isinstance(values, list) and values for values in smaller.values())
                yield language, phrase, [*groups[:number], *([] if is_empty else [smaller]), *groups[number + 1 :]]


def main() -> int:
    """Print the unneeded phrases. Return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--guards", action="store_true", help="check guards, too")
    arguments = parser.parse_args()
    unneeded = check_outcome_phrases(arguments.folders, ("evidence", "guards") if arguments.guards else ("evidence",))
    for one in unneeded:
        print(f"{one.kind}.{one.meaning} {one.language}: {one.phrase}")
    return bool(unneeded)


if __name__ == "__main__":
    sys.exit(main())
