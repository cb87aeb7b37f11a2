"""A hook asks a server of its memory over a private socket, and answers by itself without one. All are real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from program import Program
from test_hook_process import PROMPT, context, run_hook
from waiting import HANG_S, wait_until

from pastchats_memory.hooks.listening import FIELDS
from pastchats_memory.hooks.server_socket import END, FOLDER, GREETING, find_address, name_machine, sign_environment

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no Unix sockets")
CHILDLESS = "import pastchats_memory.hooks as h; h._run_in_child = lambda *_: None; h.CAN_FORK = True\n"
"""A hook that cannot answer by itself."""
PATIENT = "import pastchats_memory.hooks.server_socket as s; s.GREETING_S = s.ANSWER_S = 600\n"
IMPATIENT = "import pastchats_memory.hooks.server_socket as s; s.GREETING_S = s.ANSWER_S = 0.05\n"


@pytest.fixture
def hooked(own_demo: Program) -> Program:
    return own_demo.with_variables(
        HOME=str(own_demo.home), XDG_STATE_HOME=str(own_demo.home / "state"), PASTCHATS_MEMORY_HOOK_SECONDS=str(HANG_S)
    )


def asking_only(program: Program) -> Program:
    """Return the program whose hooks only have the answers of servers."""
    return program.altered(CHILDLESS + PATIENT)


def folder_of(program: Program) -> Path:
    return Path(program.environment["XDG_STATE_HOME"]) / "pastchats-memory" / FOLDER


def list_sockets(program: Program) -> list[Path]:
    return sorted(folder_of(program).glob(f"{name_machine()}*"))


@contextmanager
def serving(program: Program, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run an MCP server, from when it listens to its end."""
    before = len(list_sockets(program))
    process = subprocess.Popen(
        [*program.command, *(arguments or ("mcp",))], env=program.environment, cwd=program.home,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_until(lambda: len(list_sockets(program)) > before or process.poll() is not None)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def addressed(path: Path) -> Iterator[str]:
    """Give the short address of a socket: folders of tests have long names."""
    opened = os.open(path.parent, os.O_RDONLY)
    yield find_address(opened, str(path))
    os.close(opened)


@contextmanager
def listening(path: Path, answer: bytes) -> Iterator[None]:
    """Listen as something that says always the same, and closes the connection."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, addressed(path) as address:
        listener.bind(address)
        listener.listen()

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, suppress(OSError):  # the hook has heard enough
                    connection.sendall(answer)
                    while connection.recv(1 << 16):
                        pass

        thread = Thread(target=accept, daemon=True)
        thread.start()
        yield
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def ask(program: Program, session: str = "s1", prompt: str = PROMPT) -> str:
    return context(program, {"session_id": session, "prompt": prompt, "cwd": str(program.home)})


def test_a_server_answers_as_the_hook_itself_would(hooked: Program) -> None:
    alone = ask(hooked)
    assert ask(asking_only(hooked), "s2") == ""
    with serving(hooked):
        assert ask(asking_only(hooked), "s3") == alone != ""


@pytest.mark.parametrize("arguments", [("mcp", "--http", "8391"), ("serve", "--port", "0")], ids=" ".join)
def test_every_server_listens(hooked: Program, arguments: tuple[str, ...]) -> None:
    with serving(hooked, *arguments):
        assert "full jitter" in ask(asking_only(hooked))


def test_the_socket_is_private_and_goes_with_its_server(hooked: Program) -> None:
    with serving(hooked) as server:
        (path,) = list_sockets(hooked)
        assert stat.S_ISSOCK(path.stat().st_mode)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        server.communicate()
    assert list_sockets(hooked) == []


def test_the_work_of_a_server_is_recorded_as_the_hook_s(hooked: Program) -> None:
    with serving(hooked):
        assert ask(asking_only(hooked))
        assert run_hook(asking_only(hooked), "PreCompact", {"session_id": "s1"})[0] == 0
    state = hooked.home / "state" / "pastchats-memory"
    assert (state / "calls" / "claude-code").read_text(encoding="utf-8") == "PreCompact\tasked for an index run\n"
    wait_until(lambda: not list((state / "waiting").glob("*.json")))
    assert len(hooked("log", "--json").results) == 1


def test_a_killed_server_leaves_the_hook_to_itself_and_no_socket(hooked: Program) -> None:
    with serving(hooked) as server:
        server.kill()
        server.wait()
        assert len(list_sockets(hooked)) == 1
        assert "full jitter" in ask(hooked)
    assert list_sockets(hooked) == []


def test_a_server_that_is_killed_in_the_middle_costs_no_answer(hooked: Program) -> None:
    dying = hooked.altered(
        "import os, pastchats_memory.hooks.listening as l; l.respond = lambda *a, **k: os.kill(os.getpid(), 9)\n"
    )
    with serving(dying) as server:
        assert "full jitter" in ask(hooked)
        assert server.wait(HANG_S) == -signal.SIGKILL


def test_half_an_answer_is_no_answer(hooked: Program) -> None:
    breaking = hooked.altered(
        "import pastchats_memory.hooks.listening as l\n"
        "def half(self, request, connection):\n"
        '    connection.sendall(b\'{"hookSpecificOutput": {"additionalContext": "half\')\n'
        "l._Answerer.answer = half\n"
    )
    with serving(breaking):
        text = ask(hooked)
    assert "full jitter" in text
    assert "half" not in text


def test_a_server_that_is_stopped_delays_a_hook_only_a_little(hooked: Program) -> None:
    with serving(hooked) as server:
        server.send_signal(signal.SIGSTOP)
        assert "full jitter" in ask(hooked.altered(IMPATIENT))


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\0" * 100_000,
        b"pastchats-memory 999.0\n" + b'{"a": 1}\n' + END,
        GREETING + b"anything" + END,
        GREETING + b"[1]" + END,
        GREETING + b"[" * 100_000 + END,
        GREETING + b'{"a": 1}',
        GREETING + b"\xff\xfe" + END,
        GREETING + b"x" * 2_000_000,
    ],
)
def test_a_hook_answers_by_itself_whatever_a_stranger_says(hooked: Program, reply: bytes) -> None:
    with listening(folder_of(hooked) / f"{name_machine()}aa", reply):
        assert "full jitter" in ask(hooked)


def test_a_file_that_is_no_socket_is_passed_over(hooked: Program) -> None:
    folder_of(hooked).mkdir(parents=True)
    (folder_of(hooked) / f"{name_machine()}file").write_bytes(GREETING)
    (folder_of(hooked) / f"{name_machine()}folder").mkdir()
    (folder_of(hooked) / f"{name_machine()}link").symlink_to("nowhere")
    assert "full jitter" in ask(hooked)


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root may give files away")
def test_a_socket_of_another_user_is_not_asked(hooked: Program) -> None:
    path = folder_of(hooked) / f"{name_machine()}aa"
    with listening(path, GREETING + b'{"hookSpecificOutput": {"additionalContext": "forged"}}' + END):
        assert ask(hooked) == "forged"
        os.chown(path, 65534, -1)
        assert "full jitter" in ask(hooked, "s2")


@pytest.mark.parametrize(
    "sent", [b"", b"\xff" * 10, END * FIELDS, END * 50, b"a" + END * FIELDS + b"{", b"x" * 3_000_000]
)
def test_a_server_bears_any_bytes(hooked: Program, sent: bytes) -> None:
    with serving(hooked):
        send(hooked, sent)
        send(hooked, END.join([sign_as(hooked), b"/", b"", b"claude-code", b"UserPromptSubmit", sent]))
        assert "full jitter" in ask(asking_only(hooked))


def send(program: Program, sent: bytes) -> bytes:
    """Send bytes to the server of a program, and return what it says after its greeting."""
    (path,) = list_sockets(program)
    read = b""
    with socket.socket(socket.AF_UNIX) as asking, addressed(path) as address:
        asking.connect(address)
        try:
            asking.sendall(sent)
            asking.shutdown(socket.SHUT_WR)
            while piece := asking.recv(1 << 16):
                read += piece
        except OSError:  # it reads no more
            return b""
    return read.removeprefix(GREETING)


def sign_as(program: Program) -> bytes:
    """Return the digest of a program's environment."""
    return sign_environment(program.environment).encode()


def test_a_server_answers_nobody_with_another_environment(hooked: Program) -> None:
    with serving(hooked):
        assert send(hooked, END.join([sign_as(hooked), b"/", b"", b"claude-code", b"SessionEnd", b"{}"])) == END
        other = hooked.with_variables(PASTCHATS_MEMORY_BUDGET="700")
        assert send(hooked, END.join([sign_as(other), b"/", b"", b"claude-code", b"SessionEnd", b"{}"])) == b""
        assert ask(asking_only(other)) == ""


def test_a_server_of_another_database_is_not_asked(hooked: Program) -> None:
    other = hooked.with_variables(PASTCHATS_MEMORY_DB=str(hooked.home / "other.db"))
    with serving(other):
        assert ask(asking_only(hooked)) == ""
        assert "full jitter" in ask(hooked)


def test_two_servers_of_one_database_answer_until_the_last_has_ended(hooked: Program) -> None:
    with serving(hooked) as first, serving(hooked) as second:
        assert len(list_sockets(hooked)) == 2
        assert "full jitter" in ask(asking_only(hooked), "s1")
        first.communicate()
        assert "full jitter" in ask(asking_only(hooked), "s2")
        second.kill()
        second.wait()
        assert ask(asking_only(hooked), "s3") == ""
        assert "full jitter" in ask(hooked, "s3")


def test_the_configuration_is_that_of_the_hook_s_folder(hooked: Program) -> None:
    inside = hooked.home / "inside"
    inside.mkdir()
    file = inside / "session.jsonl"
    lines = [
        {"conversation_id": "c", "project": "inside", "role": "user", "content": "Why does the kestrel nest box leak?"},
        {
            "conversation_id": "c",
            "project": "inside",
            "role": "assistant",
            "content": "The kestrel nest box leaks at its lid.",
        },
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    (inside / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    assert hooked.within(inside)("index", file).status == 0
    question = "Why does the kestrel nest box leak again?"
    with serving(hooked.within(inside)):
        text = context(asking_only(hooked), {"session_id": "a", "prompt": question, "cwd": str(inside)})
        assert "kestrel nest box leaks at its lid" in text
        assert context(asking_only(hooked), {"session_id": "b", "prompt": question, "cwd": str(hooked.home)}) == ""


def test_a_new_database_in_the_place_of_the_old_one_is_read(hooked: Program) -> None:
    with serving(hooked):
        assert "full jitter" in ask(asking_only(hooked), "s1")
        other = hooked.with_variables(PASTCHATS_MEMORY_DB=str(hooked.home / "new.db"))
        note = hooked.home / "note.jsonl"
        note.write_text(
            json.dumps(
                {"conversation_id": "n", "project": "p", "role": "user", "content": "the kestrel nest box leaks"}
            )
        )
        assert other("index", note).status == 0
        for suffix in ("-wal", "-shm"):
            hooked.database.with_name(f"memory.db{suffix}").unlink(missing_ok=True)
        shutil.move(hooked.home / "new.db", hooked.database)
        assert ask(asking_only(hooked), "s2") == ""


def test_a_long_path_of_the_state_folder_is_no_obstacle(hooked: Program) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system has no short names for open folders")
    far = hooked.with_variables(XDG_STATE_HOME=str(hooked.home / "state" / "far" / ("away" * 30)))
    with serving(far):
        assert "full jitter" in ask(asking_only(far))
