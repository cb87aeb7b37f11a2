"""Help whose examples work, a terminal that shows how far a run is, and pipes that only carry results."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from program import DEMO, Program, Run, write_messages
from terminal import on_a_terminal
from wcwidth import wcswidth

from pastchats_memory.cli import COMMANDS
from pastchats_memory.cli.asking import WAYS_BACK
from pastchats_memory.cli.output import folded, table

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What `--help` of every command says."""
    program = Program(tmp_path_factory.mktemp("help"))
    runs = {command: program(command, "--help") for command in COMMANDS}
    assert all((run.status, run.stderr) == (0, "") for run in runs.values())
    return {command: run.stdout for command, run in runs.items()}


def test_every_command_takes_a_database(helps: dict[str, str]) -> None:
    groups = {command for command, text in helps.items() if "\nCommands:" in text}
    assert [command for command, text in helps.items() if command not in groups and "--db" not in text] == []


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "serve"])
def test_every_example_in_the_help_of_a_command_runs(
    own_demo: Program, helps: dict[str, str], command: str, tmp_path: Path
) -> None:
    examples = re.findall(r"^ +(pastchats-memory .*)$", helps[command].partition("Examples:")[2], re.MULTILINE)
    assert len(examples) >= 2, helps[command]
    home = own_demo.home
    own_demo = own_demo.with_variables(
        EDITOR="nano",
        PASTCHATS_MEMORY_JUDGE_COMMAND="true",
        PASTCHATS_MEMORY_TEAM_ENDPOINT=str(home / "team.db"),
        **PASSPHRASE,
    )
    for folder in ("Sync/memory", "Sync/other", "usb/memory", ".config"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    (home / ".config" / "age.txt").write_text(AGE_KEY, encoding="utf-8")
    for folder in (".claude/projects", "notes", "Downloads", "exports"):
        write_messages(home / folder / "conversations.json", ("user", "Hello?"), ("assistant", "Hello."))
    (home / "exports" / "conversations.json").write_text(
        '[{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hello."}]', encoding="utf-8"
    )
    record = {"speaker": "user", "body": "Hello?", "at": "2026-01-31T09:00:00Z"}
    (home / "chats.json").write_text(json.dumps([record]), encoding="utf-8")
    shutil.copy(next(DEMO.rglob("*.jsonl")), home / "session.jsonl")
    if command == "team":
        write_messages(home / "acme.jsonl", ("user", "Hello?"), ("assistant", "Hello."), project="acme")
        assert own_demo("index", "acme.jsonl").status == 0
        assert own_demo("team", "share", "acme", "--yes").status == 0
    if command in ("similar", "task"):
        for key in ("T-1", "T-2", "TREK-45"):
            own_demo("task", "add", f"Paint the {key}", "--key", key)
        (home / "build.log").write_text("error", encoding="utf-8")
    (home / "src").mkdir()
    (home / "src" / "limiter.py").write_text("limit = 10\n" * 42, encoding="utf-8")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "jq").write_text("#!/bin/sh\ncat >/dev/null\n", encoding="utf-8")
    (tools / "jq").chmod(0o755)
    for example in examples:
        run = (
            own_demo.typed(example)
            if SHELL.isdisjoint(example) and "--watch" not in example
            else in_a_shell(own_demo, example, tools)
        )
        if "use the packaged one" in run.stderr or "The command is: " in run.stderr:  # no hub, and no agent, is here
            assert run.status == 2
            continue
        assert run.status in (0, 1), (example, run)
        assert "Error" not in run.stderr, (example, run)


AGE_KEY = "AGE-SECRET-" + "KEY-12A4DVPWULMZN86LC4ZQSLNRM5NM9X9L8ZGVFSX5A6KK5JJ3T26WS57FLAE"
PASSPHRASE = {"PASTCHATS_MEMORY_SYNC_PASSPHRASE": "correct horse"}
SHELL = frozenset("|<>&;*$`")
"""Characters that only a shell understands."""


def in_a_shell(program: Program, line: str, tools: Path) -> Run:
    """Run a line as a person would, who has these tools too and ends by Ctrl-C what goes on."""
    path = f"{tools}:{Path(program.command[0]).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"timeout -s INT 8 {line} || test $? = 124" if "--watch" in line else line],
        cwd=program.home,
        env={**program.environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def test_help_of_the_program_names_every_command_and_shows_the_first_three(program: Program) -> None:
    run = program("--help")
    assert (run.status, run.stderr) == (0, "")
    assert all(re.search(rf"^  {command} ", run.stdout, re.MULTILINE) for command in COMMANDS)
    assert all(f"pastchats-memory {command} " in run.stdout for command in ("index", "search", "recall"))
    assert program("-h").stdout == run.stdout


def test_the_help_groups_the_commands_by_what_people_want_to_do(program: Program) -> None:
    _, *sections = re.split(r"\n\n(?=\w[\w ,]*:\n)", program("--help").stdout.partition("Options:")[2])
    named = [re.findall(r"^  ([a-z-]+) ", section, re.MULTILINE) for section in sections]
    assert sorted(command for group in named for command in group) == sorted(COMMANDS)
    assert max(map(len, named)) <= 7
    assert {"recall", "check-prior-work"} <= {*next(group for group in named if "recall" in group)}


@pytest.mark.parametrize("arguments", [["--help"], ["task", "--help"]])
def test_no_line_of_a_list_of_commands_is_cut_at_80_columns(program: Program, arguments: list[str]) -> None:
    shown = program.with_variables(COLUMNS="80")(*arguments).stdout
    assert "..." not in shown.partition("Begin:" if len(arguments) == 1 else "Commands:")[2]
    assert max(map(len, shown.splitlines())) <= 80


def test_every_option_has_a_description_in_the_help(helps: dict[str, str]) -> None:
    sections = [text.partition("Options:")[2].partition("Examples:")[0] for text in helps.values()]
    options = [
        option.strip() for section in sections for option in re.split(r"^  (?=-)", section, flags=re.MULTILINE)[1:]
    ]
    assert len(options) > len(helps)
    assert [option for option in options if not re.search(r"\S(?:  +|\n +)\S", option)] == []


@pytest.mark.parametrize(("typed", "meant"), [("serch", "search"), ("re-index", "reindex"), ("xyzzy", None)])
def test_a_mistyped_command_is_answered_with_the_one_that_is_nearly_it(
    program: Program, typed: str, meant: str | None
) -> None:
    run = program(typed, "x")
    assert (run.status, run.stdout) == (2, "")
    assert f"No such command '{typed}'." in run.stderr
    assert ("Did you mean" in run.stderr) == (meant is not None)
    assert meant is None or f"'{meant}'?" in run.stderr


def test_the_version_is_the_packages(program: Program) -> None:
    run = program("--version")
    assert (run.status, run.stderr) == (0, "")
    assert run.stdout.split()[-1] == version("pastchats-memory")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["search", "登录"], "Warning: "),
        (["index", "x" * 150], "Error: "),
        (["search", "kiln", "--type", "promt"], "Error: "),
    ],
)
def test_on_a_terminal_a_long_warning_or_error_is_broken_between_words(
    own_demo: Program, arguments: list[str], text: str
) -> None:
    write_messages(own_demo.home / "chat.jsonl", ("user", "登录页面出错"), ("assistant", "好了"))
    assert own_demo("index", "chat.jsonl").status == 0
    _, shown = on_a_terminal(own_demo, *arguments)
    lines = shown.replace("\r", "").partition(text)[2].split("\n")
    assert len(lines) > 1
    assert max(map(wcswidth, lines)) <= 100


@pytest.mark.parametrize("command", ["how 'run the tests' --all", "lessons"])
def test_lessons_are_wrapped_on_a_terminal_and_whole_in_a_pipe(own_demo: Program, command: str) -> None:
    run, (_, shown) = own_demo(*shlex.split(command)), on_a_terminal(own_demo, *shlex.split(command))
    lines = shown.replace("\r", "").removesuffix("\n").split("\n")
    sources = [line for line in lines if line.startswith("Source: ")]
    assert sources == [line for line in run.stdout.split("\n") if line.startswith("Source: ")]
    folded = [line for line in lines if line not in sources]
    assert max(map(wcswidth, folded)) <= 100
    assert "\n".join(lines).replace(">", "").split() == (run.stdout + run.stderr).replace(">", "").split()
    assert (len(lines) > len((run.stdout + run.stderr).splitlines())) == (command != "lessons")


def test_the_text_of_a_turn_is_broken_between_words_on_a_terminal(own_demo: Program) -> None:
    run, (_, shown) = own_demo("show", "10"), on_a_terminal(own_demo, "show", "10")
    lines = shown.replace("\r", "").split("\n")
    assert max(wcswidth(line) for line in lines if not line.startswith("  Source: ")) <= 100
    assert shown.split() == run.stdout.split()
    assert [line for line in lines if line and not line.startswith(("  ", "▶"))] == []


def test_in_a_quotation_that_is_broken_on_a_terminal_every_line_is_quoted(own_demo: Program) -> None:
    _, shown = on_a_terminal(own_demo, "how", "run the tests", "--all")
    assert not re.search("^    ", shown, re.MULTILINE)


def test_a_question_that_is_left_without_an_answer_ends_its_line(own_demo: Program) -> None:
    end_of_input = b"\x04"
    status, shown = on_a_terminal(own_demo, "purge", typed=end_of_input)
    assert status == 130
    assert shown.partition("[y/N]: ")[2].replace("\b", "").strip("^D ") == "\r\n"
    assert own_demo("status", "--json").results[0]["turns"] > 0


@pytest.mark.parametrize("command", [["lessons"], ["how", "run the tests"]])
def test_a_search_of_all_projects_gets_no_hint_to_search_all(program: Program, command: list[str]) -> None:
    assert program("task", "add", "Run the tests").status == 0
    assert "--all looks in every project" in program(*command).stderr
    assert "--all" not in program(*command, "--all").stderr


def test_a_recall_that_finds_nothing_tells_a_person_and_no_pipe_what_to_type_instead(own_demo: Program) -> None:
    status, shown = on_a_terminal(own_demo, "recall", "xyzzy plugh qwertz")
    assert (status, "pastchats-memory search" in shown) == (1, True)
    assert own_demo("recall", "xyzzy plugh qwertz").stderr == ""


@pytest.fixture
def long_history(program: Program) -> Program:
    messages = ((("user", "assistant")[place % 2], f"Sentence {place} " + "and more " * 9) for place in range(40))
    write_messages(program.home / "history" / "long.jsonl", *messages)
    write_messages(
        program.home / "history" / "short.jsonl", ("user", "Hello?"), ("assistant", "Hello."), conversation="d"
    )
    return program


def test_on_a_terminal_a_bar_with_time_left_is_shown_and_taken_away_again(long_history: Program) -> None:
    status, shown = on_a_terminal(long_history, "index", "history")
    assert status == 0
    notice, _, rest = shown.partition("unless an endpoint is configured.")
    assert "never changes" in notice
    assert "%" not in notice
    bars = re.findall(r"\r *\d+% .*?left, \d+ turns?", rest)
    assert bars, repr(shown)
    assert "/?" not in rest, "a bar without an end"
    taken_away, _, result = rest.rpartition(bars[-1])[2].partition("Looked at 2 files")
    assert result
    assert re.search(r"\r +\r$", taken_away), repr(shown)


def test_in_a_pipe_nothing_but_the_result_is_written(long_history: Program) -> None:
    run = long_history("index", "history")
    assert (run.status, run.stderr) == (0, "")
    assert run.stdout.startswith("Looked at 2 files")
    assert "\r" not in run.stdout


def test_without_colour_nothing_is_coloured(own_demo: Program) -> None:
    plain = own_demo.with_variables(NO_COLOR="1")
    for command in (["search", "retry"], ["doctor"], ["--help"]):
        status, shown = on_a_terminal(plain, *command)
        assert status in (0, 1)
        assert ESCAPE.search(shown) is None, shown
    status, shown = on_a_terminal(plain, "search", "retry", "--mode", "fuzzy")
    assert status == 2
    assert ESCAPE.search(shown) is None


def test_hits_fit_the_terminal_and_their_sources_are_whole(own_demo: Program) -> None:
    status, shown = on_a_terminal(own_demo, "search", "retry strategy")
    assert status == 0
    lines = shown.replace("\r", "").splitlines()
    sources = [line.strip() for line in lines if line.startswith("   /")]
    found = own_demo("search", "retry strategy", "--json").results
    assert sources == [f"{hit['source_path']}:{hit['source_line']}" for hit in found]
    assert max(wcswidth(line) for line in lines if line.strip() not in sources) <= 100


@pytest.mark.parametrize(
    ("query", "fit"), [("webhook retries", "1. very close ("), ("kubernetes ingress", "1. hardly related (")]
)
def test_a_hit_says_in_words_how_well_it_fits(own_demo: Program, query: str, fit: str) -> None:
    run = own_demo("search", query)
    assert fit in run.stdout
    assert (run.stdout.startswith("Nothing closely related.")) == (fit == "1. hardly related (")


def test_hits_by_words_alone_have_no_fit(own_demo: Program) -> None:
    run = own_demo("search", "login", "--mode", "keyword")
    assert run.stdout.startswith("1. score ")
    assert "closely" not in run.stdout


def test_hits_of_a_project_with_a_long_name_leave_room_for_the_text(program: Program) -> None:
    project = "a-service-with-quite-a-long-name"
    described = "Writers that wait too long for the lock of the database give up without a word to anybody."
    made = program(
        "task", "add", "Retry when it is locked", "--project", project, "--key", "OPS-12345", "--description", described
    )
    assert made.status == 0
    run = program("search", "writers give up on the lock")
    lines = run.stdout.splitlines()
    assert lines[1].startswith(f"   task (pending) · {project} · ")
    assert lines[2].startswith("   Retry when it is locked Writers that wait too long")
    assert len(lines) < 10, run.stdout


@pytest.mark.parametrize(
    "command",
    [
        "task list",
        "task recall login",
        "task show T-1",
        "similar T-1",
        "duplicates --scan --threshold 0",
        "check-prior-work login",
    ],
)
def test_long_titles_of_any_script_stay_within_the_terminal(two_long_tasks: Program, command: str) -> None:
    status, shown = on_a_terminal(two_long_tasks, *command.split())
    assert status in (0, 1)
    assert "払い" in shown.replace("\r\n", "").replace(" ", "")
    for line in shown.replace("\r", "").split("\n"):
        assert wcswidth(line) <= 100, line


@pytest.mark.parametrize("command", ["status", "doctor", "recall flaky login test", "context flaky login test"])
def test_fifty_columns_are_enough_but_for_sources_and_commands_which_can_be_copied(demo: Program, command: str) -> None:
    _, shown = on_a_terminal(demo.with_variables(COLUMNS="50"), *command.split())
    lines = [line for line in shown.splitlines() if not line.startswith(("Source: ", "- [", "> $ "))]
    assert len(lines) > 5
    assert max(map(wcswidth, lines)) <= 50, shown


@pytest.mark.parametrize("arguments", [["install", "claude-code"], ["install", "codex"]])
def test_questions_and_what_they_are_about_stay_within_the_terminal(own_demo: Program, arguments: list[str]) -> None:
    _, shown = on_a_terminal(own_demo, *arguments, typed=b"n\n")
    assert max(wcswidth(line) for line in shown.replace("\r", "").split("\n")) <= 100, shown


@pytest.mark.parametrize(
    "command",
    [
        "index empty.json",
        "show 99999",
        "show --conversation nobody",
        "judge 99999",
        "open 99999",
        "search --mode keyword zz",
    ],
)
def test_a_notice_stays_within_fifty_columns(own_demo: Program, command: str) -> None:
    (own_demo.home / "empty.json").write_text("[]", encoding="utf-8")
    _, shown = on_a_terminal(own_demo.with_variables(COLUMNS="50"), *command.split())
    lines = [line.rstrip() for line in re.split("[\r\n]", shown) if "%" not in line]  # without the progress
    assert any(lines)
    assert max(map(wcswidth, lines)) <= 50, shown


def test_at_fifty_columns_what_is_shown_is_what_a_pipe_gets(demo: Program) -> None:
    arguments = ("recall", "flaky login test")
    _, shown = on_a_terminal(demo.with_variables(COLUMNS="50"), *arguments)
    piped = demo(*arguments).stdout + WAYS_BACK
    assert shown.replace(">", "").split() == piped.replace(">", "").split()


def test_at_fifty_columns_keys_are_folded_before_a_table_is_broken(program: Program) -> None:
    assert (
        program(
            "task", "add", "Fix the login bug of the old shop", "--key", "1b9d6bcd-0475ed19-77", "--priority", "1"
        ).status
        == 0
    )
    shown = program.with_variables(COLUMNS="50")("task", "list").stdout
    assert max(map(len, shown.splitlines())) <= 50, shown


@pytest.mark.parametrize("command", ["task recall retry", "config"])
def test_at_forty_columns_a_row_takes_lines_of_its_own_and_its_text_all_of_their_width(
    own_demo: Program, command: str
) -> None:
    assert own_demo("task", "add", "Retry the webhooks of the shop when they time out").status == 0
    lines = own_demo.with_variables(COLUMNS="40")(*command.split()).stdout.splitlines()
    assert max(map(wcswidth, lines)) <= 40, lines
    assert max(map(wcswidth, (line for line in lines if line.startswith("  ")))) > 30, lines


def test_a_terminal_of_one_column_gets_a_table_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1")
    assert table([["7", "", "two words"]], ["id", "tags", "what"], stretch=2).splitlines() == ["id 7", "  two words"]


@pytest.fixture
def two_long_tasks(program: Program) -> Program:
    for number in (1, 2):
        title = f"Login {number}: 支払いのリトライが二重に請求される問題を修正する " * 3
        assert program("task", "add", title, *(["--parent", "T-1"] if number > 1 else [])).status == 0
    return program


def test_in_a_pipe_a_task_takes_one_line_however_long_its_title_is(two_long_tasks: Program) -> None:
    assert len(two_long_tasks("similar", "T-1").stdout.splitlines()) == 2


def test_a_list_that_was_cut_says_so(two_long_tasks: Program) -> None:
    assert "and more" in two_long_tasks("task", "list", "--limit", "1").stderr
    assert two_long_tasks("task", "list", "--limit", "2").stderr == ""


def test_transcript_text_cannot_control_the_terminal(program: Program) -> None:
    write_messages(
        program.home / "hostile.jsonl",
        ("user", "Retry\x1b[2J\x1b]0;owned\x07 \u202egnp.exe\u202c now\r\x08\x9b31m"),
        ("assistant", "No."),
        project="\x1b[31mgarden\u2066",
    )
    assert program("index", "hostile.jsonl").status == 0
    for command in (["search", "Retry"], ["show", "1"]):
        shown = program(*command).stdout
        assert "Retry" in shown
        assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown) is None, repr(shown)


@pytest.mark.parametrize(
    "text", ["False", "True", "007", "1e5", "nan", "None", "a", "", " ", "one\n two", "word " * 12]
)
def test_a_table_says_what_its_cells_say(text: str) -> None:
    shown = table([["k", text], ["l", "x"]], ["key", "value"], stretch=1).splitlines()[2:-1]
    assert " ".join(shown).split() == ["k", *text.split()]


def test_a_cell_that_just_fits_takes_one_line() -> None:
    assert len(table([["k", "x" * 95]], ["key", "value"], stretch=1).splitlines()) == 3


def test_columns_that_are_folded_share_the_terminal_and_break_between_words(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = "history/sessions/2026/rollout-0199f0aa-1111-7222-8333.jsonl"
    reason = "Markdown that is no dialogue; name the file itself or use --notes to take it"
    lines = table([["codex", path, reason], ["–", "a.md", "it"]], ["taken for", "file", "why not"], (1, 2)).splitlines()
    assert max(map(len, lines)) <= 80
    words = {word for line in lines for word in line.split()}
    assert words.issuperset(reason.split())
    assert "history/sessions/2026/rollout-" in words


@pytest.mark.parametrize("text", ["", "a b", "x" * 95, "one/two/three/four five", " /a//b ", "word " * 30])
def test_folded_text_loses_only_blanks(text):
    lines = folded(text, 12)
    assert all(len(line) <= 12 for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
