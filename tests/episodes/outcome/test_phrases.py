"""The phrase file is well formed, is used entirely, and gives everyday messages their label."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from program import REPOSITORY

from pastchats_memory.episodes import outcome
from pastchats_memory.episodes.outcome import derive_outcome, patterns
from pastchats_memory.episodes.outcome.patterns import Group, join_groups, read_phrases
from pastchats_memory.text.data_file import read_data

sys.path.insert(0, str(REPOSITORY / "benchmarks" / "outcome"))

from labelled import Labelled, read_everyday

MEANINGS = [(kind, meaning) for kind, meanings in read_phrases().items() for meaning in meanings]
SOURCES = "".join(path.read_text("utf-8") for path in Path(str(outcome.__file__)).parent.glob("*.py"))
USE = re.compile(r'\b(EVIDENCE|GUARDS)\["(\w+)"\]')
EVERYDAY = list(read_everyday())


def phrases_of(groups: list[Group]) -> list[str]:
    return [phrase for group in groups for values in group.values() if isinstance(values, list) for phrase in values]


def test_every_meaning_is_used_and_every_used_meaning_exists() -> None:
    assert {(kind.lower(), meaning) for kind, meaning in USE.findall(SOURCES)} <= set(MEANINGS)
    assert [meaning for _, meaning in MEANINGS if f'"{meaning}"' not in SOURCES] == []


def test_every_expression_of_the_pattern_file_is_used() -> None:
    tables = read_data(str(patterns.__file__), "patterns.toml").items()
    expressions = {f"{name}.{key}" for name, table in tables for key, value in table.items() if isinstance(value, str)}
    assert {*re.findall(r'EXPRESSIONS\["([\w.]+)"\]', SOURCES)} <= expressions
    loaded = {f"{table}.{key}" for table, key in re.findall(r'load_pattern\("(\w+)", "(\w+)"', SOURCES)}
    assert [name for name in expressions - loaded if f'"{name}"' not in SOURCES] == []


@pytest.mark.parametrize(("kind", "meaning"), MEANINGS)
def test_every_group_has_phrases_by_language_and_at_most_two_edges(kind: str, meaning: str) -> None:
    for group in read_phrases()[kind][meaning]:
        languages = {key for key, value in group.items() if isinstance(value, list)}
        assert languages
        assert all(re.fullmatch("[a-z]{2}", language) for language in languages)
        assert group.keys() - languages <= {"before", "after"}


@pytest.mark.parametrize(("kind", "meaning"), MEANINGS)
def test_every_phrase_is_an_expression_of_its_own(kind: str, meaning: str) -> None:
    groups = read_phrases()[kind][meaning]
    for phrase in phrases_of(groups):
        re.compile(phrase)
    assert re.compile(join_groups(groups)).search("") is None


def test_a_group_joins_its_phrases_between_its_edges() -> None:
    assert join_groups([{"en": ["still", "again"]}, {"before": "^", "after": "", "de": ["nicht"]}]) == (
        r"\b(?:still|again)\b|^(?:nicht)"
    )


@pytest.mark.parametrize("episode", EVERYDAY, ids=[f"{one.label} {one.name}" for one in EVERYDAY])
def test_an_everyday_message_has_its_labelled_outcome(episode: Labelled) -> None:
    assert derive_outcome(episode.turns, episode.next_message).verdict == episode.label
