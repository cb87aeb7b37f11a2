"""Test that marks change nothing else of what is shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.http.page.highlight import mark_html
from pastchats_memory.http.page.words import escape_text
from pastchats_memory.views.page_markdown import render_html


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Retries, retried, and a retry", "retrying", ["Retries", "retried", "retry"]),
        ("We are testing the tests", "test", ["testing", "tests"]),
        ("AT&T and amp", "amp", ["amp"]),
        ("nothing of it", "retry", []),
        ("The build of the day", "how did we fix the build", ["build"]),
        ("To be or not", "to be", ["To", "be"]),
    ],
)
def test_forms_of_a_word_of_the_query_are_marked(text: str, query: str, marked: list[str]) -> None:
    assert re.findall(r"<mark>(.*?)</mark>", mark_html(escape_text(text), query, ())) == marked


@given(st.text(), st.text(), st.text(min_size=1))
def test_text_without_its_marks_is_the_original(text: str, query: str, quotation: str) -> None:
    for shown in (escape_text(text), render_html(text)):
        assert re.sub(r'</?mark(?: class="shown")?>', "", mark_html(shown, query, [quotation])) == shown


def test_a_quotation_is_marked_in_markdown() -> None:
    assert '<mark class="shown">12 passed</mark>' in mark_html(
        render_html("All **good**: 12 passed"), "", ["12 passed"]
    )


def test_a_word_of_a_tag_or_an_address_is_not_marked() -> None:
    shown = mark_html(render_html("[link](http://strong.example) **strong** `code`"), "strong code link href", [])
    assert 'href="http://strong.example"' in shown
    assert "<strong><mark>strong</mark></strong>" in shown
