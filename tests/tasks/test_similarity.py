"""Scores of similar tasks, by labelled pairs and by properties."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory import Memory
from pastchats_memory.tasks.edit import Change
from pastchats_memory.tasks.similarity import (
    SCORE_LABELS,
    find_identifiers,
    has_other_identifiers,
    label_score,
    load_words,
    score_similarity,
)

with (Path(__file__).parent / "pairs.tsv").open(encoding="utf-8") as file:
    PAIRS = [(row["first"], row["second"], row["label"]) for row in csv.DictReader(file, delimiter="\t")]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("similarity") / "m.db") as opened:
        yield opened


def test_there_are_labelled_pairs() -> None:
    assert len(PAIRS) >= 40
    assert {label for _, _, label in PAIRS} == {"duplicate", "related"}


@pytest.mark.parametrize(("first", "second", "label"), PAIRS)
def test_a_pair_is_duplicate_or_related_as_labelled(memory: Memory, first: str, second: str, label: str) -> None:
    key = memory.tasks.add(Change(title=first)).key
    (found,) = memory.tasks.find_duplicates(second)
    (same,) = memory.tasks.find_duplicates(first)
    memory.tasks.delete(key)
    assert found.match.is_related
    assert found.match.is_duplicate is (label == "duplicate")
    assert same.match.score == 1.0


@pytest.mark.parametrize(
    ("first", "second", "is_opposite"),
    [
        ("Zoom in fails", "Zoom out fails", True),
        ("Add and remove tags", "Remove tags", False),
        ("Cannot sign in", "Login broken", False),
    ],
)
def test_opposites_are_found_and_synonyms_are_not_opposites(first: str, second: str, is_opposite: bool) -> None:
    words = load_words()
    assert words.has_opposite(words.find_words(first), words.find_words(second)) is is_opposite


def test_identifiers_of_two_titles_are_compared() -> None:
    assert has_other_identifiers(find_identifiers("Upgrade to v1.2"), find_identifiers("Upgrade to v1.3"))
    assert not has_other_identifiers(find_identifiers("Fix parse_date()"), find_identifiers("parse_date() is wrong"))


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("Upgrade to v1.2.3", "v1.2.3"),
        ("Close issue #42", "42"),
        ("Finish TREK-45 first", "trek-45"),
        ("Rename userName", "username"),
        ("Rename UserName", "username"),
        ("Rename user_name", "user_name"),
        ("Call parse() twice", "parse"),
        ("Move src/app/main to lib", "src/app/main"),
        ("Delete setup.py", "setup.py"),
    ],
)
def test_every_kind_of_identifier_is_found(text: str, identifier: str) -> None:
    assert find_identifiers(text) == {identifier}


@given(st.text(max_size=40), st.text(max_size=40), st.floats(-1, 1), st.floats(-1, 1))
def test_similarity_is_symmetric_and_between_0_and_1(first: str, second: str, cosine: float, titles: float) -> None:
    match = score_similarity(cosine, titles, first, second)
    assert 0 <= match.score <= 1
    assert match.label in {label for _, label in SCORE_LABELS}
    reverse = score_similarity(cosine, titles, second, first)
    assert reverse.score == pytest.approx(match.score, abs=0.06)  # the share of words in order depends on direction


@given(st.text(max_size=30), st.text(max_size=30), st.floats(-1, 0.99), st.floats(0, 0.01))
def test_nearer_titles_never_score_lower(first: str, second: str, cosine: float, more: float) -> None:
    near, nearer = (score_similarity(value, value, first, second).score for value in (cosine, cosine + more))
    assert nearer >= near


def test_every_score_has_a_label() -> None:
    assert [label_score(score) for score in (1, 0.9, 0.6, 0.3, 0)] == [label for _, label in SCORE_LABELS]


# --- scripts that the model never learnt ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "variant", "other"),
    [
        ("修复登录错误", "修复登录的错误", "更新依赖"),
        ("Исправить вход в систему", "Исправить вход в систему после обновления", "Обновить зависимости"),
        ("로그인 오류 수정", "로그인 오류를 수정", "의존성 갱신"),
        ("ログインエラーを修正", "ログインエラーを修正する", "依存関係の更新"),
    ],
)
def test_tasks_in_a_script_unknown_to_the_model_are_compared_by_their_words(
    tmp_path, title: str, variant: str, other: str
) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.tasks.add(Change(title=title), key="A-1")
        assert memory.tasks.check_prior_work(variant).verdict == "in_progress"
        assert memory.tasks.check_prior_work(other).verdict == "new"
        memory.tasks.add(Change(title=other), key="A-2")
        assert memory.tasks.scan_duplicates() == []
        memory.tasks.update("A-1", Change(status="done"))
        assert [found.task.key for found in memory.tasks.consult_episodic_memory(variant)[0]] == ["A-1"]
        assert memory.tasks.consult_episodic_memory(other)[0] == []
