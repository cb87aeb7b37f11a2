"""What is asked of the memory for a prompt, and for which prompts nothing is."""

from __future__ import annotations

import pytest

from pastchats_memory.cli.install import TARGETS
from pastchats_memory.formats.registry import load_format
from pastchats_memory.hooks.prompt import LONGEST_QUERY, query_for, strip_wrappers


@pytest.mark.parametrize(
    "prompt",
    ["", "  \n", "yes", "ok, go on please", "continue", "/compact", "!ls -la", "# remember this", "thanks, looks good!", "do it",
     "```\nx = 1\ny = 2\n```", "<system-reminder>\nUse the retry helper for webhooks.\n</system-reminder>", "1", "👍", "/clear", "!npm test", "update the README", "now write unit tests for it", "Fix the failing test, please.",
     "请添加单元测试", "继续"],
)  # fmt: skip
def test_a_trivial_prompt_asks_for_nothing(prompt: str) -> None:
    assert query_for(prompt) is None


def test_only_the_words_in_a_template_are_asked_for() -> None:
    template = (
        "## User Input\n\n```text\n{}\n```\n\nYou are updating the constitution at `.specify/memory/constitution.md`."
    )
    assert query_for(template.format("The login page answers 429.")) == "The login page answers 429."
    assert query_for(template.format("")) is None


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


@pytest.mark.parametrize("agent", TARGETS)
@pytest.mark.parametrize(
    ("prompt", "query"),
    [
        ("# Bug\nThe login page answers 429.", "# Bug The login page answers 429."),
        ("#412: the login page answers 429", "#412: the login page answers 429"),
        ("/srv/x/login.spec.ts fails, why does the fixture time out?",) * 2,
        ("/etc/fstab mounts the backup volume twice",) * 2,
        ("!important rules override the theme\nWhich selector wins?", "!important rules override the theme Which selector wins?"),
        ("![shot](a.png) the login page answers 429",) * 2,
        ("/fix-issue the login page answers 429", "fix-issue the login page answers 429"),
        ("## Steps\n- open the login page\n- it answers 429", "## Steps - open the login page - it answers 429"),
        ("<user_query>\nThe login page answers 429.\n</user_query>", "The login page answers 429."),
        ("<system-reminder>Be brief.</system-reminder>\n\nThe login page answers 429.", "The login page answers 429."),
        ("  \n\t# Bug\nThe login page answers 429.", "# Bug The login page answers 429."),
    ],
)  # fmt: skip
def test_no_opening_of_a_prompt_silences_the_hook(agent: str, prompt: str, query: str) -> None:
    assert query_for(strip_wrappers(prompt, load_format(agent))) == query


@pytest.mark.parametrize("agent", TARGETS)
@pytest.mark.parametrize(
    "prompt",
    ["/compact", "/review-pr", "/plugin:deploy", "!git log --oneline", "! npm test --workspace login", "  /clear \n"],
)
def test_a_bare_command_of_the_client_or_the_shell_asks_for_nothing(agent: str, prompt: str) -> None:
    assert query_for(strip_wrappers(prompt, load_format(agent))) is None


def test_a_command_that_steers_the_client_asks_for_nothing_whatever_its_arguments_are() -> None:
    assert (
        query_for(strip_wrappers("/compact keep the login page and its fixtures", load_format("claude-code"))) is None
    )


def test_the_wrappers_of_the_agent_are_taken_off_first() -> None:
    prompt = (
        "<ide_opened_file>The user opened login.ts in the IDE.</ide_opened_file>\n# Bug\nThe login page answers 429."
    )
    assert query_for(strip_wrappers(prompt, load_format("claude-code"))) == "# Bug The login page answers 429."
