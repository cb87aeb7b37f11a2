"""The picker on a real terminal: tmux types the keys and reads the screen."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from program import Program, write_messages
from terminal import on_a_terminal
from test_open import script, write_claude
from waiting import HANG_S, wait_until

from pastchats_memory.cli.picker import describe_age

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@dataclass(frozen=True)
class Screen:
    """A terminal of tmux in which the program runs."""

    socket: Path

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *arguments]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout

    def type(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    @property
    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def wait_for(self, *words: str) -> str:
        """Return the screen once it has all the words."""
        end = time.monotonic() + HANG_S
        while not all(word in self.text for word in words):
            assert time.monotonic() < end, f"{words} did not appear:\n{self.text}"
            time.sleep(0.05)
        return self.text


@pytest.fixture
def kiln(program: Program) -> Program:
    """A memory of a session that can be resumed, and of a chat with hostile text."""
    work = program.home / "kiln works"
    work.mkdir()
    write_claude(program.home / "claude" / "a.jsonl", str(work))
    write_messages(
        program.home / "chat.jsonl",
        ("user", "Is the relay \x1b[31m painted\x1b]0;owned\x07?"),
        ("assistant", "Yes, green."),
    )
    assert program("index", "claude", "chat.jsonl").status == 0
    return program


@pytest.fixture
def screen(kiln: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    with open_picker(kiln, tmp_path_factory.mktemp("tmux")) as screen:
        yield screen


@contextmanager
def open_picker(program: Program, folder: Path) -> Iterator[Screen]:
    """Yield the picker on a screen of 120 columns, in a shell that reports how it ended."""
    screen = Screen(folder / "socket")
    note = script(program, "nano")
    script(program, "claude")
    variables = {
        **program.environment,
        "PATH": f"{note.parent / 'bin'}:{program.environment['PATH']}",
        "EDITOR": "nano",
    }
    given = [f"{name}={value}" for name, value in variables.items()]
    shell = 'cd "$HOME" && "$0"; echo "ended with $?"; exec sleep 1000'
    line = ["env", "-i", "TERM=screen-256color", *given, "sh", "-c", shell, *program.command]
    screen.tmux("new-session", "-d", "-x", "120", "-y", "30", *line)
    screen.tmux("set-option", "-s", "set-clipboard", "on")
    try:
        yield screen
    finally:
        screen.tmux("kill-server")


def test_typing_searches_and_shows_the_conversation_beside_the_results(screen: Screen) -> None:
    screen.wait_for("search:", "Enter open")
    screen.type("kiln relay")
    shown = screen.wait_for("▶", "The relay is too small")
    assert re.search(r"\w+ +claude-code Why does the kiln trip the relay\? · kiln wor", shown)
    screen.type("Escape")
    screen.wait_for("ended with 0")


def test_the_picker_opens_with_the_newest_sessions(screen: Screen) -> None:
    shown = screen.wait_for("Why does the kiln trip the relay?", "▶ user · 2026-05-04", "Yes, green.")
    assert re.search(r"messages +Is the relay .*\n.*claude-code Why does the kiln trip", shown)
    screen.type("Down")
    assert '"type"' not in screen.wait_for("▶ user · 2026-02-01")


def test_function_keys_filter_by_project_agent_and_outcome(screen: Screen) -> None:
    screen.wait_for("▶ user")
    screen.type("F2")
    screen.wait_for("search: project:garden", "Yes, green.")
    screen.type("F2")
    screen.wait_for('search: project:"kiln works"', "40 A one")
    screen.type("F3")
    screen.wait_for('search: project:"kiln works" agent:')
    screen.type("F4")
    screen.wait_for("outcome:worked", "Nothing found.")


def test_sessions_that_end_in_thanks_show_their_outcome(
    own_demo: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with open_picker(own_demo, tmp_path_factory.mktemp("tmux")) as screen:
        assert re.search(r"worked +(?:claude-code|codex) ", screen.wait_for("▶ user"))


def test_a_filter_can_be_typed(screen: Screen) -> None:
    screen.wait_for("search:")
    screen.type("agent:claude-code relay")
    screen.wait_for("kiln trip the relay?")
    wait_until(lambda: "painted" not in screen.text)


@pytest.mark.parametrize(
    ("hours", "age"), [(0, "now"), (0.1, "6m"), (5, "5h"), (24 * 3, "3d"), (24 * 20, "2w"), (24 * 800, "2y")]
)
def test_an_age_is_in_its_greatest_unit(hours: float, age: str) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    assert describe_age((now - timedelta(hours=hours)).isoformat(), now) == age


def test_enter_opens_the_conversation_in_the_editor(screen: Screen, kiln: Program) -> None:
    screen.wait_for("search:")
    screen.type("why does the kiln trip")
    screen.wait_for("▶")
    screen.type("Enter")
    screen.wait_for("ended with 3")  # as the editor of the test does
    assert "a.jsonl" in (kiln.home / "called.json").read_text(encoding="utf-8")


def test_r_resumes_the_session_in_its_folder(screen: Screen, kiln: Program) -> None:
    screen.wait_for("search:")
    screen.type("why does the kiln trip")
    screen.wait_for("▶")
    screen.type("Tab", "r")
    screen.wait_for("ended with 3")
    called = (kiln.home / "called.json").read_text(encoding="utf-8")
    assert "--resume" in called
    assert "kiln works" in called


def test_c_copies_the_text(screen: Screen) -> None:
    screen.wait_for("search:", "▶")
    screen.type("why does the kiln trip", "Tab", "c")  # before the search that follows the typing
    screen.wait_for("Copied")
    assert "Why does the kiln trip the relay?" in screen.tmux("show-buffer")


def test_letters_of_commands_are_text_while_the_query_is_typed(screen: Screen) -> None:
    screen.wait_for("search:")
    screen.type("rc")
    screen.wait_for("search: rc")


def test_a_narrow_terminal_has_the_conversation_under_the_results(screen: Screen) -> None:
    screen.tmux("resize-window", "-x", "60", "-y", "24")
    screen.wait_for("search:")
    screen.type("kiln relay")
    shown = screen.wait_for("▶")
    assert "│" not in shown


def test_a_narrow_terminal_says_how_to_leave(screen: Screen) -> None:
    screen.tmux("resize-window", "-x", "60", "-y", "30")
    screen.wait_for("Esc leave", "Enter open")


def test_no_text_of_a_transcript_moves_the_cursor(screen: Screen) -> None:
    screen.wait_for("search:")
    screen.type("painted")
    screen.wait_for("painted", "▶")
    assert "owned" not in screen.tmux("display-message", "-p", "#{pane_title}")


def test_without_the_extra_the_help_says_how_to_get_it(kiln: Program) -> None:
    bare = kiln.altered("import sys; sys.modules['prompt_toolkit'] = None; sys.argv = ['pastchats-memory']")
    _, shown = on_a_terminal(bare)
    assert "pip install '.[picker]'" in shown
    assert "Usage: pastchats-memory" in shown


def test_without_a_memory_a_newcomer_gets_the_help(program: Program) -> None:
    _, shown = on_a_terminal(program)
    assert "Start with:" in shown
    assert not program.database.exists()


def test_without_a_terminal_the_help_is_printed(kiln: Program) -> None:
    assert "Start with:" in (run := kiln()).stdout + run.stderr


def test_a_recall_imports_no_picker() -> None:
    code = "import sys, pastchats_memory.cli.recall; print('prompt_toolkit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "False"
