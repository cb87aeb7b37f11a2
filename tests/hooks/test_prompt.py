"""What is asked of the memory for a prompt, and for which prompts nothing is."""

from __future__ import annotations

import pytest

from pastchats_memory.hooks.prompt import LONGEST_QUERY, query_for


@pytest.mark.parametrize(
    "prompt",
    ["", "  \n", "yes", "ok, go on please", "continue", "/compact", "!ls -la", "# remember this", "thanks, looks good!", "do it",
     "```\nx = 1\ny = 2\n```", "<system-reminder>\nUse the retry helper for webhooks.\n</system-reminder>", "1", "👍", "/clear", "!npm test", "update the README", "now write unit tests for it", "Fix the failing test, please.",
     "请添加单元测试", "继续", "# Context\n## My request for the agent:\nadd tests for this"],
)  # fmt: skip
def test_a_trivial_prompt_asks_for_nothing(prompt: str) -> None:
    assert query_for(prompt) is None


def test_a_task_is_asked_for_in_its_own_words() -> None:
    assert (
        query_for("Add exponential backoff to the webhook retries.")
        == "Add exponential backoff to the webhook retries."
    )


def test_code_is_left_out_and_its_error_kept() -> None:
    prompt = "The migration breaks:\n```\nTraceback\n  File x\nOperationalError: database is locked\n```\nWhy?"
    assert query_for(prompt) == "The migration breaks: Why? OperationalError: database is locked"


def test_a_pasted_log_is_left_out_and_its_last_error_kept() -> None:
    log = "\n".join(f"2026-01-02 10:00:0{second} INFO tick" for second in range(6))
    prompt = f"The worker dies on start\n{log}\n2026-01-02 10:01:00 fatal: no such table: jobs"
    assert query_for(prompt) == "The worker dies on start 2026-01-02 10:01:00 fatal: no such table: jobs"


def test_a_long_prompt_is_known_by_its_start_and_its_end() -> None:
    query = query_for("Rename the parser. " + "filler words here " * 500 + "Keep the lexer.")
    assert query is not None
    assert query.startswith("Rename the parser.")
    assert query.endswith("Keep the lexer.")
    assert len(query) <= LONGEST_QUERY + 1


@pytest.mark.parametrize(
    ("prompt", "query"),
    [
        ("# Bug\nThe tulip gallery refuses uploads.", "# Bug The tulip gallery refuses uploads."),
        ("/srv/garden/tulip.spec.ts fails, why?", "/srv/garden/tulip.spec.ts fails, why?"),
        ("#412: the tulip gallery refuses uploads", "#412: the tulip gallery refuses uploads"),
        ("/review the tulip gallery", "the tulip gallery"),
        ("# Files\n## a.log: /tmp/a.log\n\n## My request:\nWhy does the tulip wilt?", "Why does the tulip wilt?"),
        ("<opened_file>/srv/a.ts</opened_file>\nWhy does the tulip wilt?", "Why does the tulip wilt?"),
    ],
)
def test_only_wrappers_and_commands_of_the_client_are_left_out(prompt: str, query: str) -> None:
    assert query_for(prompt) == query
