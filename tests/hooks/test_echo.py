"""Our own blocks are known again in every form in which a transcript brings them back."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest
from program import Program, write_messages

from pastchats_memory.model import Hit, StoredTask
from pastchats_memory.model.episodes import Attempt, Evidence, Outcome, RecallEntry
from pastchats_memory.text.recall_block import RECALL_PREAMBLE, strip_recall_blocks
from pastchats_memory.views.text import render_block

BLOCK = """# Memory Recall

Query: webhook retries

## 1. Build the retries. · courier · 2026-02-03 13:21 · worked
Ended:
> Done: full jitter.
>   with a cap
Shown by: > It holds.
Before it: > A fixed delay. — failed, the user: "It fell over." · id 12
Asked: > Build the retries.
Source: ~/x.jsonl:2 (turn 0) · id 85 · resume 85

## 2. courier · 2026-02-05
Changed: pump.py · Ran: make test
Note:
> A fixed delay failed.
Source: notes.md:21 (turn 2) · id 7

## 3. Which queue? · courier · 2026-02-06
Unanswered
Said next: > Hello?
Asked: > Which queue?
Source: /home/mira/x.jsonl:9 · id 92
"""


def listed(text: str) -> str:
    return "\n".join(f"{number:6d}→{line}" for number, line in enumerate(text.split("\n"), start=1))


FORMS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "after the hook's line": lambda text: f"{RECALL_PREAMBLE}\n{text}",
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "quoted twice": lambda text: "\n".join(f"> > {line}" for line in text.split("\n")),
    "indented": lambda text: "\n".join(f"    {line}" for line in text.split("\n")),
    "HTML-escaped": html.escape,
    "HTML-escaped twice": lambda text: html.escape(html.escape(text)),
    "with line numbers": listed,
    "as JSON": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "as JSON in JSON": lambda text: json.dumps(json.dumps(text, ensure_ascii=False), ensure_ascii=False)[3:-3],
    "with Windows' line ends": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_text_that_is_all_echo_leaves_nothing(form: str) -> None:
    assert strip_recall_blocks(FORMS[form](BLOCK)) == ""


@pytest.mark.parametrize("form", FORMS)
def test_text_around_a_recall_block_stays(form: str) -> None:
    break_ = "\\n" if form.startswith("as JSON") and "in" not in form else "\n"
    text = f"Please mend the retries.{break_}{FORMS[form](BLOCK)}{break_}Then run the tests."
    left = strip_recall_blocks(text)
    assert left.startswith("Please mend the retries.")
    assert left.endswith("Then run the tests.")
    assert "jitter" not in left
    assert "notes.md" not in left


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_recall_block_is_removed_without_a_trace(form: str) -> None:
    hit = Hit(1, 1.0, 1.0, 1, 1, 1.0, "85", "prompt", "", "", "user", "x.jsonl", 3, "courier", "c", 0, None, {})
    stored = StoredTask(1, "T-1", "Build the retries", "", "task", "pending", "todo", None, (), "courier", None, (), "x.jsonl", 3,
                        None, None, None, None, (), (), (), (), {})  # fmt: skip
    other = Attempt(
        "3", "Build the retries", "A fixed delay.", "failed", "no", None, "x.jsonl", 1, reply="no, the same"
    )
    memory = RecallEntry(
        hit=hit, asked="Build the retries.\n  with jitter", answered="Full jitter.", is_current=True,
        outcome=Outcome("failed", (Evidence("still down", "x.jsonl", 3),)), done=("$ make test",), before=(other,), after=other, superseded_by=other,
    )  # fmt: skip
    task = memory._replace(hit=hit._replace(task=stored))
    assert strip_recall_blocks(FORMS[form](render_block("webhook retries", [memory, task, memory]))) == ""
    assert strip_recall_blocks(FORMS[form](render_block("webhook retries", []))) == ""


def test_a_block_that_was_cut_short_leaves_nothing_and_a_quotation_below_a_whole_one_stays() -> None:
    assert strip_recall_blocks(BLOCK[: BLOCK.index("Source: ~")]) == ""
    assert strip_recall_blocks(f"{BLOCK}> And this?") == "> And this?"


def test_two_echoes_go_both() -> None:
    assert strip_recall_blocks(f"{BLOCK}\nand again\n\n{BLOCK}") == "and again"


@pytest.mark.parametrize(
    "text",
    [
        "The heading is called # Memory Recall in the docs.",
        "# Memory Recall\n\nHow do I switch it off?",
        "# Memory Recall",
    ],
)
def test_a_mention_of_the_heading_is_no_echo(text: str) -> None:
    assert strip_recall_blocks(text) == text


def test_a_recalled_block_is_never_indexed(program: Program) -> None:
    write_messages(
        program.home / "history" / "one.jsonl",
        ("user", f"{RECALL_PREAMBLE}\n{BLOCK}\nWhy does the build fail?"),
        ("tool", BLOCK),
        ("assistant", "A missing import."),
    )
    program("index", "history")
    found = program("search", "build jitter webhook retries", "--json").results
    assert sorted(hit["content"] for hit in found) == ["A missing import.", "Why does the build fail?"]
