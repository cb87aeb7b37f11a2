"""Check that a labelled result needs each phrase of the task modules.

The phrases are in `pastchats_memory/tasks/*.toml`.

    PASTCHATS_SHARED=../shared python scripts/word_lists/task_phrases.py

A phrase is needed if a labelled result changes without it. Questions are those of tests/tasks/questions.tsv. Pairs of
tasks are those of tests/tasks/pairs.tsv and of benchmarks/tasks; the texts of benchmarks/tasks/pairs.tsv are in the
folder that PASTCHATS_SHARED names.
"""

from __future__ import annotations

import csv
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.tasks import ask, similarity
from pastchats_memory.tasks.ask import ParsedQuestion, QuestionParser, Vocabulary
from pastchats_memory.tasks.similarity import TaskWords

REPOSITORY = Path(__file__).parents[2]
TODAY = date(2026, 11, 22)
"""The day on which the labelled questions are asked."""
PREFIX_LENGTH = 3
"""Letters at the start of a word that its inflected forms share."""

Tables = dict[str, Any]


class TaskPair(NamedTuple):
    """Two texts of tasks and the cosines of their vectors."""

    first: str
    second: str
    cosine: float
    title_cosine: float


def check_task_phrases() -> list[str]:
    """Return entries that no labelled result needs, as `file: list: entry`."""
    return [
        *(f"{ask.PHRASES_FILE.name}: {entry}" for entry in find_unneeded_phrases(read_tables(ask.PHRASES_FILE))),
        *(
            f"{similarity.WORDS_FILE.name}: {entry}"
            for entry in find_unneeded_words(read_tables(similarity.WORDS_FILE))
        ),
    ]


def read_tables(path: Path) -> Tables:
    """Return the tables of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def iterate_without_each(tables: Tables, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Remove each entry in turn, and yield the name of its list and the entry.

    The entry is back in the tables when the next one is removed.
    """
    for name, value in tables.items():
        if isinstance(value, list):
            for place in range(len(value)):
                entry = value.pop(place)
                yield prefix + name, entry["pattern"] if isinstance(entry, dict) else entry
                value.insert(place, entry)
        elif all(isinstance(entry, str) for entry in value.values()):
            for key in list(value):
                entry = value.pop(key)
                yield prefix + name, key
                value[key] = entry
        else:
            yield from iterate_without_each(value, f"{prefix}{name}.")


def find_unneeded_phrases(tables: Tables) -> Iterator[str]:
    """Yield phrases of plain questions that no labelled question needs."""
    with (REPOSITORY / "tests" / "tasks" / "questions.tsv").open(encoding="utf-8") as file:
        questions = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    expected = {question: _parse(question, Vocabulary(tables)) for question in questions}
    for name, phrase in iterate_without_each(tables):
        vocabulary = Vocabulary(tables)
        concerned = questions if name in ("relations", "next") else [one for one in questions if phrase in one.lower()]
        if all(_parse(question, vocabulary) == expected[question] for question in concerned):
            yield f"{name}: {phrase}"


def _parse(question: str, vocabulary: Vocabulary) -> ParsedQuestion:
    parser = QuestionParser(question, TODAY, {})
    parser.vocabulary, parser.words = vocabulary, vocabulary.words
    return parser.parse()


def find_unneeded_words(tables: Tables) -> Iterator[str]:
    """Yield words for comparing tasks that no labelled pair needs."""
    pairs = read_pairs()
    words = TaskWords(tables)
    expected = {pair: _label(pair, words) for pair in pairs}
    for name, entry in iterate_without_each(tables):
        prefixes = [part[:PREFIX_LENGTH] for word in entry.split("/") for part in word.split()]
        words = TaskWords(tables)
        concerned = (pair for pair in pairs if any(prefix in _join_texts(pair) for prefix in prefixes))
        if all(_label(pair, words) == expected[pair] for pair in concerned):
            yield f"{name}: {entry}"


def _join_texts(pair: TaskPair) -> str:
    return f"{pair.first}\n{pair.second}".lower()


def _label(pair: TaskPair, words: TaskWords) -> str:
    """Return whether the pair counts as new, related or duplicate."""
    match = similarity.score_similarity(pair.cosine, pair.title_cosine, pair.first, pair.second, words=words)
    return "duplicate" if match.is_duplicate else "related" if match.is_related else "new"


def read_pairs() -> list[TaskPair]:
    """Return all labelled pairs with the cosines of the packaged model."""
    sys.path.insert(0, str(REPOSITORY / "benchmarks"))
    import tasks

    texts = [(pair.first, pair.second) for pair in (*tasks.real_pairs(), *tasks.written_pairs())]
    with (REPOSITORY / "tests" / "tasks" / "pairs.tsv").open(encoding="utf-8") as file:
        texts += [(row["first"], row["second"]) for row in csv.DictReader(file, delimiter="\t")]
    titles = {text: text.partition("\n")[0] for pair in texts for text in pair}
    embedded = sorted({*titles, *titles.values()})
    vectors = dict(zip(embedded, PackagedEmbedder().embed(embedded), strict=True))
    return [
        TaskPair(
            first,
            second,
            float(vectors[first] @ vectors[second]),
            float(vectors[titles[first]] @ vectors[titles[second]]),
        )
        for first, second in texts
    ]


def main() -> int:
    """Print the unneeded entries; return 1 if there are any."""
    unneeded = check_task_phrases()
    print("\n".join(unneeded) if unneeded else "A labelled result needs every phrase.")
    return 1 if unneeded else 0


if __name__ == "__main__":
    sys.exit(main())
