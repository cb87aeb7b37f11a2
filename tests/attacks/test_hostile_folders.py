"""What lies in a folder beside transcripts: links that lead out or round, pipes, sockets, devices, documents made to explode."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import apsw
import pytest
from inprocess import Shell
from program import REPOSITORY, Program

from pastchats_memory.formats.base import source
from pastchats_memory.ingest.discover import discover_files
from pastchats_memory.ingest.options import FileFilter

CONVERSATION = "".join(
    json.dumps({"conversation_id": "c", "role": role, "content": text}) + "\n"
    for role, text in (("user", "Which port?"), ("assistant", "8080."))
)
HIDDEN = CONVERSATION.replace("8080", "hidden")
LARGEST = 1_000


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder with one good transcript, and another beside it that nobody named."""
    for folder, text in (("in", CONVERSATION), ("out", HIDDEN)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "chat.jsonl").write_text(text, encoding="utf-8")
    return Shell(tmp_path)


def links(folder: Path) -> None:
    (folder / "file.jsonl").symlink_to("../out/chat.jsonl")
    (folder / "folder").symlink_to("../out")
    (folder / "absolute.jsonl").symlink_to((folder.parent / "out" / "chat.jsonl").resolve())
    (folder / "twice.jsonl").symlink_to("file.jsonl")


def circles(folder: Path) -> None:
    (folder / "self.jsonl").symlink_to("self.jsonl")
    (folder / "round").symlink_to(".")
    (folder / "up").symlink_to("..")
    for one, other in (("a", "b"), ("b", "a")):
        (folder / one).symlink_to(other)


def pipes(folder: Path) -> None:
    for name in (
        "pipe.jsonl",
        "pipe.md",
        "pipe.zip",
        "pipe.json.gz",
        ".aider.chat.history.md",
        "pastchats-memory.toml",
    ):
        os.mkfifo(folder / name)


def sockets(folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)  # the name of a socket has a hundred characters at most
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("agent.jsonl")
    finally:
        os.chdir(here)


def devices(folder: Path) -> None:
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "random.md").symlink_to("/dev/urandom")
    (folder / "tty.jsonl").symlink_to("/dev/tty")
    (folder / "proc.json").symlink_to("/proc/self/environ")


def a_deep_tree(folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)
    try:
        for _ in range(450):  # longer together than any path may be
            os.mkdir("directory")  # noqa: PTH102 - pathlib would say the whole path
            os.chdir("directory")
        Path("chat.jsonl").write_text(HIDDEN, encoding="utf-8")
    finally:
        os.chdir(here)


def laughs(folder: Path) -> None:
    """YAML that says a billion times "ha" by nine names for ten of the one before."""
    names = [
        f"{chr(97 + number)}: &{chr(97 + number)} [{', '.join(['*' + chr(96 + number)] * 10)}]"
        for number in range(1, 10)
    ]
    matter = "\n".join(["a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]", *names])
    (folder / "note.md").write_text(f"---\ndate: 2026-05-04\n{matter}\n---\n# Port\n\nIt is 9090.\n", encoding="utf-8")
    (folder / "task.md").write_text(
        f"---\nid: task-1\ntitle: x\nstatus: To Do\n{matter}\nlabels: *j\n---\n", encoding="utf-8"
    )
    (folder / "config.yml").write_text(matter, encoding="utf-8")


def brackets(folder: Path) -> None:
    for name, opened, closed in (
        ("list", "[", "]"),
        ("object", '{"messages":', "}"),
        ("quoted", "> ", ""),
        ("listed", "- ", ""),
    ):
        many = 50_000
        (folder / f"{name}.json").write_text(opened * many + "1" + closed * many, encoding="utf-8")
        (folder / f"{name}.jsonl").write_text((opened * many + "1" + closed * many + "\n") * 2, encoding="utf-8")
        (folder / f"{name}.md").write_text(f"# Port\n\n{opened * many}\n", encoding="utf-8")


def one_long_line(folder: Path) -> None:
    for name in ("chat.md", "log.jsonl", "tasks.json"):
        (folder / name).with_stem(f"long-{name[0]}").write_text(
            '{"role": "user", "content": "' + "a" * 200_000, encoding="utf-8"
        )


def numbers(folder: Path) -> None:
    odd = ("1e999", "-1e999", "NaN", "Infinity", "9" * 5_000, "-0", "1e-999", '"\\ud800"', "\\u0000")
    lines = (
        f'{{"role": "user", "content": "Which port?", "timestamp": {one}, "turn_index": {one}, "conversation_id": {one}}}\n'
        for one in odd
    )
    (folder / "odd.jsonl").write_text("".join(lines), encoding="utf-8")


def names(folder: Path) -> None:
    """That are no text, turn what follows around, or are what a terminal obeys; of what names its tasks by its own."""
    for name in (b"TODO-\xff\xfe", "TODO-\u202egnp".encode(), b"TODO-\x1b[2J\x1b]8;;evil\x07"):
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name + b".md"))
        path.write_text("# Tasks\n\n- [ ] Paint the fence\n- [x] Oil the gate\n", encoding="utf-8")


def holes(folder: Path) -> None:
    """A terabyte that takes nothing on the disk, behind what looks like a transcript, or a file of git."""
    for name, start in (
        ("chat.md", "**User:** Which port?\n\n**Assistant:** hidden\n"),
        ("chat.txt", "User: Which port?\n\nAssistant: hidden\n"),
        ("chat.json", HIDDEN[:-2]),
        ("lines.jsonl", HIDDEN[:-2]),
        (".git", "gitdir: /"),
    ):
        with (folder / name).open("w", encoding="utf-8") as file:
            file.write(start)
            file.truncate(1 << 40)
    with apsw.Connection(str(folder / "logs.db")) as database:
        database.execute("CREATE TABLE responses(id, prompt, response)")
    with (folder / "logs.db-wal").open("w") as log:
        log.truncate(1 << 40)


def paths(folder: Path) -> None:
    """Longer than any can be, of so many folders that to list those above each takes gigabytes."""
    long = "a/" * 30_000
    conversation = CONVERSATION.replace('"c"', f'"long", "cwd": "/{long}"')
    (folder / "long.jsonl").write_text(conversation, encoding="utf-8")
    with zipfile.ZipFile(folder / "long.zip", "w") as archive:
        archive.writestr(f"{long}chat.jsonl", HIDDEN)
        archive.writestr(f"{long}note.md", "# Port\n\nIt is hidden.\n")


@pytest.mark.promise(
    "files", "Links, pipes, devices, sparse files, deep nesting and endless lines in a folder neither harm nor block."
)
@pytest.mark.parametrize(
    "make",
    [
        links,
        circles,
        pipes,
        sockets,
        devices,
        a_deep_tree,
        laughs,
        brackets,
        one_long_line,
        numbers,
        names,
        holes,
        paths,
    ],
    ids=lambda make: make.__name__,
)
def test_the_good_transcript_is_read_and_nothing_else_harms_or_holds_up(shell: Shell, make) -> None:
    make(shell.home / "in")
    run = shell("index", "in", "--notes", "--json")
    assert (run.status, "Traceback" in run.stderr) == (0, False), run.stderr
    assert shell("search", "8080", "--mode", "keyword").status == 0
    assert shell("search", "hidden", "--mode", "keyword").status == 1


FIXTURES = REPOSITORY / "fixtures"
TREE = json.loads((FIXTURES / "opencode" / "opencode-without-session.tree").read_text(encoding="utf-8"))
OPENCODE = {path: json.dumps(record) for path, record in TREE.items()}
PROGRAMS: dict[str, dict[str, str]] = {
    "tmp/garden/.project_root": {"tmp/garden/chats/session-1.json": "gemini-cli/gemini-cli-q2-no-cwd.json"},
    "projects.json": {"tmp/garden/chats/session-1.json": "gemini-cli/gemini-cli-q2-no-cwd.json"},
    "one/workspace.yaml": {"one/events.jsonl": "copilot-cli/copilot-cli-q4-no-cwd.jsonl"},
    f"{next(path for path in TREE if '/part/' in path)[:-5]}z.json": OPENCODE,
    f"{next(path for path in TREE if '/message/' in path)[:-5]}z.json": OPENCODE,
}
"""What a program keeps beside its sessions, and a session of its."""


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_link_to_a_pipe(place: Path) -> None:
    os.mkfifo(place.with_name("pipe"))
    place.symlink_to("pipe")


@pytest.mark.promise("files", "A pipe or link in place of a companion file does not block.")
@pytest.mark.parametrize("make", [a_pipe, a_link_to_a_pipe], ids=["pipe", "link"])
@pytest.mark.parametrize("beside", PROGRAMS)
def test_no_object_in_the_place_of_a_side_file_delays_a_session(tmp_path: Path, beside: str, make) -> None:
    for path, run in PROGRAMS[beside].items():
        session = tmp_path / "in" / path
        session.parent.mkdir(parents=True, exist_ok=True)
        session.write_text(
            run if run.startswith("{") else (FIXTURES / run).read_text(encoding="utf-8"), encoding="utf-8"
        )
    place = tmp_path / "in" / beside
    place.parent.mkdir(parents=True, exist_ok=True)
    make(place)
    run = Program(tmp_path)("index", "in", "--json")
    assert run.status == 0, run.stderr
    assert Program(tmp_path)("export").stdout.count("\n") > 0


def test_a_link_in_the_place_of_a_file_beside_a_session_is_not_read(tmp_path: Path) -> None:
    session = tmp_path / "in" / "one" / "events.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text(
        (FIXTURES / "copilot-cli" / "copilot-cli-q4-no-cwd.jsonl").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / "out.yaml").write_text("cwd: /home/hidden/elsewhere\n", encoding="utf-8")
    (session.parent / "workspace.yaml").symlink_to(tmp_path / "out.yaml")
    shell = Shell(tmp_path)
    assert shell("index", "in").status == 0
    assert "elsewhere" not in shell("export").stdout


@pytest.mark.promise("files", "A document too large for memory is reported and not read.")
@pytest.mark.parametrize("name", ["large.md", "large.txt", "large.json"])
def test_a_document_beyond_the_memory_limit_is_reported_and_not_read(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(source, "LARGEST_TEXT", LARGEST)
    body = "## User\n\nWhat is hidden here?\n\n## Assistant\n\nA port.\n\n" * LARGEST
    (shell.home / "in" / name).write_text(
        json.dumps({"text": body}) if name.endswith("json") else body, encoding="utf-8"
    )
    run = shell("index", "in", "--notes", "--json")
    assert run.status == 0
    assert "a document of more than" in run.stdout
    assert shell("search", "hidden", "--mode", "keyword").status == 1


@pytest.mark.skipif(not Path("/proc/self/exe").is_symlink(), reason="no links of processes on this system")
def test_an_unreadable_link_is_reported(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        (tmp_path / "process").symlink_to(f"/proc/{ended.pid}/task/{ended.pid}")
        _, unreadable = discover_files([tmp_path], FileFilter(follow=True))
    assert any(fault.path.endswith("process/exe") for fault in unreadable)
