"""How close the hits of a search are, in words."""

from __future__ import annotations

import pytest
from program import Reader

CLOSE = "Nothing closely related"


@pytest.mark.parametrize("query", ["write a poem", "kubernetes ingress"])
def test_a_search_without_a_close_hit_says_so_first_and_lists_the_nearest(demo: Reader, query: str) -> None:
    done = demo("search", query, "--limit", "3")
    assert done.status == 0
    assert done.stdout.startswith(CLOSE)
    assert "hardly related" in done.stdout or "loosely related" in done.stdout


def test_a_close_hit_is_called_close(demo: Reader) -> None:
    done = demo("search", "flaky login test", "--limit", "3")
    assert CLOSE not in done.stdout
    assert "very close" in done.stdout


def test_a_search_by_words_alone_judges_no_relevance(demo: Reader) -> None:
    done = demo("search", "ingress webhook", "--mode", "keyword", "--limit", "1")
    assert CLOSE not in done.stdout
    assert "related" not in done.stdout.splitlines()[2]
