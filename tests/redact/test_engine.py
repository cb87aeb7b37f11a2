"""One pass for all keywords finds the same places as one search for each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.redact import redact
from pastchats_memory.redact.commands import GRAMMARS
from pastchats_memory.redact.engine import KeywordIndex
from pastchats_memory.redact.marks import MOST_ROUNDS
from pastchats_memory.redact.rules import load_rules
from pastchats_memory.redact.secret_names import NAMES

KEYWORDS = sorted(
    {keyword.lower() for rule in load_rules() for keyword in rule.keywords}
    | {name.part for name in NAMES}
    | {grammar.keyword for grammar in GRAMMARS}
)
INDEX = KeywordIndex([(keyword, keyword) for keyword in KEYWORDS])
PIECES = st.one_of(
    st.sampled_from(KEYWORDS), st.text(max_size=4), st.sampled_from(["a", " ", "\n", "é", "密", "\ud800"])
)


def search_each(text: str) -> list[tuple[int, str, list[int]]]:
    found = ((keyword, [at for at in range(len(text)) if text.startswith(keyword, at)]) for keyword in KEYWORDS)
    return [(number, keyword, places) for number, (keyword, places) in enumerate(found) if places]


@given(st.lists(PIECES, max_size=12).map("".join))
def test_every_keyword_is_found_at_all_its_places_and_nowhere_else(text: str) -> None:
    lowered = text.lower()
    assert INDEX.find_places(lowered.encode("latin-1", "replace")) == search_each(lowered)


@pytest.mark.parametrize("mark", ["[redacted:password]", "[redacted:api-key]", "[redacted:token]"])
def test_the_kind_in_a_mark_names_nothing_that_follows_it(mark: str) -> None:
    text = f"names = ['{mark}', 'PLAC3MENT-X9', 'PATHN4ME-Q7']"
    assert redact(text).text == text


@pytest.mark.parametrize("name", ["key=a_", "key=ctr_", "admin:@api-key-", "pwd\n"])
def test_a_name_that_is_repeated_without_a_value_stays_as_it_is(name: str) -> None:
    text = name * 60_000  # each name judged the whole rest of the run
    assert redact(text).text == text


@pytest.mark.parametrize("keyword", ["AZDO", "snyk_", "-----END ", "-----END %61/"])
def test_a_keyword_that_is_repeated_without_a_secret_hides_no_secret_behind_it(keyword: str) -> None:
    token = "glpat-" + "k7Tz4Vb8Nc1Rw6Ly3Hd5"
    assert redact(f"{keyword * 40_000} {token}").text.endswith(" [redacted:gitlab-token]")


def test_a_secret_behind_a_long_run_is_found_all_the_same() -> None:
    run = "key=" + "a_" * 200
    assert "Tr0ub4dor" not in redact(f"{run} password=Tr0ub4dor-3").text


def test_each_secret_that_hides_the_next_one_costs_no_search_of_the_whole_text() -> None:
    hidden = "x7curl -u a:"
    found = redact(hidden * 30_000)
    assert 0 < found.kinds["password"] < MOST_ROUNDS
    assert found.text.endswith(hidden)
