"""Whatever is asked: an answer, or a sentence and exit 2; never a traceback."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from outcomes import error_of, explained
from program import Program
from waiting import HANG_S

from pastchats_memory import cli
from pastchats_memory.cli import COMMANDS
from pastchats_memory.cli.output import is_terminal

NO_WORDS = ("🎉", "日本語で再試行", "…?!\u202e")
SYNTAX = (
    '"a" OR NEAR(',
    "content: webhooks",
    "web* OR (",
    "-x",
    "^webhooks + retry",
    "a NEAR/3 b",
    "'; DROP TABLE prompts; --",
)


@pytest.fixture(scope="module")
def asked(_webhooks: Path) -> Program:
    """A memory of two turns that is only read from."""
    return Program(_webhooks)


@pytest.mark.parametrize("query", SYNTAX)
def test_search_syntax_of_other_tools_is_searched_as_words(asked: Program, query: str) -> None:
    found = asked("search", "--json", "--mode", "keyword", f"--query={query}")
    assert found.stderr == "" or found.stderr.startswith("Nothing found")
    assert [row["id"] for row in found.results] == (["1"] if "web" in query else [])


@pytest.mark.parametrize("query", NO_WORDS)
def test_a_query_without_a_single_word_is_answered_by_meaning_and_has_no_match_by_words(
    asked: Program, query: str
) -> None:
    assert len(asked("search", "--json", query).results) == 2
    words = asked("search", "--json", "--mode", "keyword", query)
    assert (words.status, words.results) == (1, [])


def test_a_query_of_stop_words_is_answered(asked: Program) -> None:
    assert len(asked("search", "--json", "how do we the of and").results) == 2


def test_a_query_of_a_hundred_thousand_letters_is_answered(asked: Program) -> None:
    query = " ".join(map(str, range(20_000)))[:100_000] + " webhooks"
    found = asked("search", "--json", query)
    assert found.results[0]["id"] == "1"
    assert asked("recall", query, "--budget", "200").status in (0, 1)


def test_bytes_that_are_no_text_are_answered_and_shown_as_what_they_are(asked: Program) -> None:
    broken = "webhooks \udcff"
    assert asked("search", "--json", broken).results[0]["id"] == "1"
    assert "udcff" in asked("recall", "--json", broken).json["text"]
    assert asked("search", "--json", "webhooks", "--project", "\udcff").status == 1
    assert asked("search", "--json", "webhooks", "--role", "\udcff").status == 1
    assert "udcff" in error_of(asked("search", "--json", "x", "--db", "\udcff.db"))["message"]


@pytest.mark.parametrize(("command", "query"), [("search", ""), ("recall", "\n\t")])
def test_an_empty_query_is_refused_with_an_example(asked: Program, command: str, query: str) -> None:
    explained(asked(command, query), "the query is empty", "retry strategy")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search"], ["there is no query", "pastchats-memory search '"]),
        (["how"], ["there is no query", "pastchats-memory how '"]),
        (["task", "recall"], ["there is no query", "pastchats-memory task recall '"]),
        (["search", "a", "--query", "b"], ["given twice"]),
        (["search", "a", "--limit", "0"], ["--limit", "not a number from 1 to 1000"]),
        (["search", "a", "--limit", "few"], ["'few' is not a whole number"]),
        (["search", "a", "--threshold", "7"], ["not a number from 0 to 1"]),
        (["search", "a", "--meaning", "much"], ["'much' is not a number"]),
        (["search", "a", "--limit", "-1"], ["--limit"]),
        (["search", "a", "--limit", "2000"], ["--limit", "1000"]),
        (["search", "a", "--limit", "600", "--page", "2"], ["at most 1000"]),
        (["search", "a", "--mode", "fuzzy"], ["fuzzy", "hybrid"]),
        (["search", "a", "--since", "yesterdayish"], ["yesterdayish", "2026-01-31"]),
        (["search", "a", "--since", "2026-02-30"], ["2026-02-30"]),
        (["search", "a", "--threshold", "nan"], ["threshold"]),
        (["search", "a", "--meaning", "nan"], ["meaning"]),
        (["recall", "a", "--budget", "0"], ["--budget"]),
        (["show", "twelve"], ["twelve", "is not an id"]),
        (["show", "9" * 5000], ["is not an id"]),
        (["index"], ["no path"]),
        (["search", "a", "--mode", "hybird"], ["hybird", "Did you mean 'hybrid'?"]),
        (["search", "a", "--type", "promt"], ["Did you mean 'prompt'?"]),
        (["install", "claud"], ["'TARGET'", "claude-code", "Did you mean 'claude-code'?"]),
        (["judge", "1", "workd", "--because", "fine"], ["Did you mean 'worked'?"]),
        (["help", "search"], ["pastchats-memory --help"]),
        (["--db", "F"], ["pastchats-memory COMMAND --db"]),
        (["--verison"], ["Did you mean '--version'?"]),
        (["serch", "a"], ["serch"]),
        (["search", "a", "--colour"], ["--colour"]),
    ],
    ids=lambda value: "-".join(value)[:40],
)
def test_an_unsupported_argument_is_refused_by_name(asked: Program, arguments: list[str], words: list[str]) -> None:
    explained(asked(*arguments), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search", "a", "--since", "yesterdayish"], "yesterdayish"),
        (["search", "a", "--team", "--explain"], "--team has no parts of a score"),
        (["search", "a", "--team", "--outcome", "fine"], "'fine' is not an outcome"),
        (["recall", "a", "--outcome", "fine"], "'fine' is not an outcome"),
        (["reindex"], "there is nothing to do"),
        (["redact"], "there is nothing to do"),
        (["judge", "--undo"], "no episode is named"),
        (["show"], "name one item or one conversation"),
        (["duplicates"], "say what to compare"),
        (["forget", "--list", "--id", "1"], "--list and --undo go alone"),
        (["forget", "--undo", "first"], "'first' is no number of a forgetting"),
        (["prune", "--before", "yesterdayish"], "yesterdayish"),
        (["team", "withdraw"], "name projects, or --all"),
        (["task", "list", "--status", ","], "no status is named"),
        (["task", "add", "Fix the login", "--due", "nonsense"], "nonsense"),
        (["task", "add", " "], "a task needs a title"),
        (["task", "update", "T-1", "--priority", "soon"], "unknown priority 'soon'"),
        (["capture", " "], "a task needs a title"),
        (["sync", "folder", "--plain", "--key", "key.txt"], "--key and --plain exclude each other"),
        (["sync", "history", "--key", "key.txt"], "there is no age key in the file"),
        (["sync", "history"], "the folder needs a passphrase"),
        (["sync", "history", "--status"], "was not used by `sync` yet"),
        (["sync", "nowhere", "--plain"], "is no folder"),
        (["sync", "--plain"], "there is no database yet"),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, list) else "",
)
def test_a_wrong_argument_is_explained_before_a_database_is_opened_or_made(
    program: Program, arguments: list[str], words: str
) -> None:
    (program.home / "history").mkdir()
    (program.home / "key.txt").touch()
    explained(program(*arguments), words)
    assert not program.database.exists()


def test_with_json_a_refusal_is_an_error_object(asked: Program) -> None:
    for arguments in (["search", "a", "--mode", "fuzzy"], ["search", "a", "--since", "x"]):
        assert error_of(asked(*arguments, "--json"))["kind"] == "usage"


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_the_first_and_the_last_day_of_the_calendar_are_answered_or_refused(asked: Program, zone: str) -> None:
    there = asked.with_variables(TZ=zone)
    for bound in (["--since", "0001-01-01"], ["--until", "9999-12-31"]):
        run = there("search", "webhooks", *bound)
        assert run.status in (0, 2)
        assert "Traceback" not in run.stderr


def test_an_item_that_is_not_there_is_nothing_found(asked: Program) -> None:
    run = asked("show", "999")
    assert (run.status, run.stdout) == (1, "")
    assert "no item 999" in run.stderr


def test_a_padded_id_is_the_item_that_was_asked_for(asked: Program) -> None:
    shown = asked("show", "001", "--json").results
    assert [item["id"] for item in shown if item["is_asked"]] == ["1"]


def test_an_explained_error_leaves_no_traceback_and_a_bug_leaves_one_with_exit_70(asked: Program) -> None:
    broken = asked.altered(
        "import pastchats_memory.memory.reader as reader\ndef search(*_): return 1 / 0\nreader.search = search"
    )
    run = broken("search", "webhooks")
    assert (run.status, run.stdout) == (70, "")
    assert "Traceback" in run.stderr
    assert run.stderr.endswith("ZeroDivisionError: division by zero\n")


def _shell(program: Program, line: str) -> subprocess.CompletedProcess[str]:
    variables = {**program.environment, "P": program.command[0]}
    return subprocess.run(
        ["bash", "-c", line],
        cwd=program.home,
        env=variables,
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )


def test_a_closed_pipe_ends_quietly_with_0(asked: Program) -> None:
    for command in ("search webhooks --json", "--help"):
        run = _shell(asked, f'"$P" {command} | true; echo "${{PIPESTATUS[0]}}"')
        assert (run.stdout, run.stderr) == ("0\n", "")


def test_closed_standard_streams_are_no_bug(asked: Program) -> None:
    for closed in ("<&-", ">&- 2>&-"):
        run = _shell(asked, f'"$P" search webhooks {closed}')
        assert run.returncode == 0, run
        assert run.stderr == ""


def test_closed_streams_cause_no_bug(asked: Program) -> None:
    assert asked("backup", "copy.db").status == 0
    for line in ("restore copy.db <&-", "recall xyzzy 2>&-"):
        assert _shell(asked, f'"$P" {line}').returncode == 1, line


@pytest.mark.parametrize(
    "arguments", [["--db", "F", "index"], ["--json", "search", "kiln"], ["--limit=3", "recall", "kiln"]]
)
def test_an_option_before_the_command_is_explained(program: Program, arguments: list[str]) -> None:
    run = program(*arguments)
    command = next(argument for argument in arguments if argument in COMMANDS)
    option = arguments[0].partition("=")[0]
    assert run.status == 2
    assert f"Options follow the command: pastchats-memory {command} {option} ..." in run.stderr


def test_streams_are_asked_for_a_terminal_in_one_place_which_knows_closed_ones() -> None:
    asking = [path.name for path in Path(cli.__file__).parent.glob("*.py") if ".isatty()" in path.read_text("utf-8")]
    assert asking == ["output.py"]
    assert not is_terminal(None)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")  # noqa: PTH110 - a name of the system, asked while tests are collected
def test_a_result_that_cannot_be_written_is_explained(asked: Program) -> None:
    for form in ("", "--json"):
        run = _shell(asked, f'"$P" search webhooks {form} >/dev/full')
        assert run.returncode == 2, run
        assert "the result: the disk is full (No space left on device)" in run.stderr
        assert "Free some space" in run.stderr


def test_a_deleted_working_directory_stops_only_what_needs_it(asked: Program) -> None:
    gone = 'mkdir gone && cd gone && rmdir "$PWD" && '
    for command, status in (
        ("search webhooks", 0),
        ("recall webhooks", 0),
        ("search webhooks --project .", 2),
        (f"index '{asked.home}/history'", 0),
        ("index history", 2),
    ):
        run = _shell(asked, f'{gone}"$P" {command}')
        assert run.returncode == status, run
        assert "Traceback" not in run.stderr
        assert bool(run.stdout) == (status == 0)


def test_a_working_directory_that_may_not_be_looked_into_stops_nothing(asked: Program, ordinary: Program) -> None:
    inside = ordinary.home / "locked" / "inside"
    inside.mkdir(parents=True)
    there = replace(ordinary, variables={"PASTCHATS_MEMORY_DB": str(asked.database)})
    script = 'cd locked/inside && chmod 000 .. && "$@"; s=$?; chmod 700 "$0"/locked; exit $s'
    run = subprocess.run(
        ["bash", "-c", script, ordinary.home, *there.command, "recall", "webhooks"],
        cwd=ordinary.home,
        env=there.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run
