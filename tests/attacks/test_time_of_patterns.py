"""Texts made to hold a regular expression up: it takes as much longer as they are longer, not the square of it."""

from __future__ import annotations

import importlib
import re
import time
from collections import deque

import pytest

from pastchats_memory.formats.markdown.dialogue import _LEADING
from pastchats_memory.redact.heuristics import looks_random
from pastchats_memory.text.pasted import parted

LENGTH = 5_000
MOST_GROWTH = 9
"""Times as long for a text four times as long: 4 where time grows as the text does, 16 where it grows as its square."""
NOTHING = 0.02
"""Seconds of the longer text below which its growth is not asked; as a square it would take several times that."""

HELD_UP = {
    "config.toml:_HEADER": ("match", "[", " "),
    "text.recall_block:_QUOTES": ("match", "", "1"),
    "text.shell:_BETWEEN": ("finditer", "", " "),
    "hooks.jsonc:_TOKEN": ("finditer", "", "/*"),
    "tasks.similarity:_IDENTIFIER": ("finditer", "", "-"),
    "outcome.answers:_LEFT": ("search", "", "\n"),
    "outcome.checks:_GREEN": ("search", "", "\n"),
    "outcome.checks:_NOISE": ("search", "", "\n"),
    "text.identifiers:_COMPOUND": ("finditer", "", "x"),
    "formats.agents.amazon_q:_CALLED": ("search", "", "\n"),
    "formats.agents.aider:_THOUGHTS": ("finditer", "", "\n"),
    "formats.tasks.checklist:_MARKED": ("finditer", "", " "),
    "formats.base.sibling_files:_CWD": ("finditer", "cwd:a", " "),
    "formats.agents.cursor.reader:_QUERY": ("finditer", "", "<user_query>"),
    "formats.tasks.issue_files:_COMMENT": ("finditer", "", "<!--"),
    "formats.tasks.issue_files:_ID": ("match", "a", "0"),
    "formats.exports.llm:_SECTION": ("match", "## A", " "),
    "formats.exports.open_webui:_ATTRIBUTE": ("finditer", 'a="', "_"),
    "formats.generic.shapes.inference.pages:_TAGGED": ("finditer", "<|im_start|>", "a"),
    "formats.agents.copilot.vscode:_EMPTY_FENCE": ("finditer", "", "\n"),
    "redact.heuristics:_CODE": ("match", "a.", "a"),
    "redact.assignments:_SENTENCE": ("match", " is", " "),
    "redact.assignments:_SCHEME": ("match", "", " "),
}
"""By room and name: how the pattern is used, and the start and the repeated part of what held it up."""


def seconds(pattern: re.Pattern[str], use: str, text: str) -> float:
    taken = []
    for _ in range(3):
        start = time.process_time()
        found = getattr(pattern, use)(text)
        if use == "finditer":
            deque(found, maxlen=0)
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("name", HELD_UP)
def test_a_pattern_takes_no_longer_than_its_text_is_long(name: str) -> None:
    use, start, filler = HELD_UP[name]
    room, _, attribute = name.partition(":")
    value = getattr(importlib.import_module(f"pastchats_memory.{room}"), attribute)
    for pattern in value if isinstance(value, tuple) else (value,):
        if isinstance(pattern, str):
            pattern = re.compile(pattern, re.VERBOSE)  # noqa: PLW2901 - redact compiles its forms together
        short, long = (start + filler * (length // len(filler)) + "\x00" for length in (LENGTH, 4 * LENGTH))
        took = seconds(pattern, use, long)
        assert took < NOTHING or took < MOST_GROWTH * seconds(pattern, use, short)


def test_blanks_behind_a_time_that_nothing_follows_are_read_once() -> None:
    text = "[0000-00-00 00:00:00.0 Z]" + " " * 20_000
    assert seconds(_LEADING, "match", text) < NOTHING, "two runs of blanks beside each other shared them in every way"


@pytest.mark.parametrize("part", ["_", "a_", "a_b-"])
def test_whether_a_value_looks_random_takes_no_longer_for_many_parts(part: str) -> None:
    start = time.process_time()
    looks_random(part * (1_000 // len(part)) + "é!")
    assert time.process_time() - start < 1, "each part more doubled it: sixty took longer than anyone waits"


def test_a_run_of_ideographs_with_a_number_behind_it_is_no_longer_read_in_every_way() -> None:
    start = time.process_time()
    parted("设" * 24 + "1")
    assert time.process_time() - start < NOTHING, "each ideograph was a letter in two ways, so each more doubled it"
