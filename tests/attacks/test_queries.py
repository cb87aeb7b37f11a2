"""Syntax of SQL and of FTS5 in whatever takes a question: it is text, and nothing else; the same memory answers afterwards."""

from __future__ import annotations

import pytest
from program import Reader

HOSTILE = (
    "'; DROP TABLE prompts; --",
    '" OR 1=1 --',
    'NEAR(a b, 3) AND "x" NOT y*',
    "content: foo ^bar {source_project} : baz",
    "((((((((",
    '"',
    "%_\\",
    "a\x1b]0;title\x07b",
)
COMMANDS = (
    ("search",),
    ("recall",),
    ("ask",),
    ("context",),
    ("how",),
    ("check-prior-work",),
    ("consult-episodic-memory",),
    ("find-duplicates",),
)


@pytest.mark.promise("text", "SQL and FTS5 syntax in a question is plain text.")
@pytest.mark.parametrize("command", COMMANDS, ids="".join)
def test_a_question_is_text_whatever_it_looks_like(demo: Reader, command: tuple[str, ...]) -> None:
    for question in HOSTILE:
        run = demo(*command, question)
        assert run.status in (0, 1), (question, run.stderr)
        assert "Traceback" not in run.stderr
        assert "\x1b" not in run.stdout
    assert demo("search", "webhook").status == 0
