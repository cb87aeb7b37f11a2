"""`open` and `resume`: from a hit to its source and its session."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from program import Program, write_messages
from terminal import on_a_terminal

from pastchats_memory.files.archives import ZSTD
from pastchats_memory.formats.base.format import StoredSession
from pastchats_memory.formats.registry import load_format

FIXTURES = Path(__file__).parents[2] / "fixtures"
SESSION = "5d0f6c1e-7a42-4c59-9b1e-0c4f2a9d7e31"


def write_claude(path: Path, folder: str, session: str = SESSION) -> Path:
    """Write a session of Claude Code with one question and its answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    messages = (
        ("user", "Why does the kiln trip the relay?"),
        ("assistant", "The relay is too small: use the 40 A one."),
    )
    lines = [
        {
            "type": role,
            "uuid": f"u{number}",
            "sessionId": session,
            "cwd": folder,
            "timestamp": f"2026-02-01T08:0{number}:00Z",
            "message": {"role": role, "content": [{"type": "text", "text": text}]},
        }
        for number, (role, text) in enumerate(messages)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def kiln(program: Program) -> Program:
    """A memory of one session, held in a folder that exists."""
    work = program.home / "kiln works"
    work.mkdir()
    write_claude(program.home / "claude" / f"{SESSION}.jsonl", str(work))
    assert program("index", "claude").status == 0
    return program


def script(program: Program, name: str) -> Path:
    """Write a program that notes its folder and arguments."""
    path = program.home / "bin" / name
    path.parent.mkdir(exist_ok=True)
    note = program.home / "called.json"
    path.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        f"open({str(note)!r}, 'w').write(json.dumps([os.getcwd(), *sys.argv[1:]]))\nsys.exit(3)\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return note


def test_resume_prints_the_agents_command_in_the_sessions_folder(kiln: Program) -> None:
    run = kiln("resume", "1")
    folder = kiln.home / "kiln works"
    assert (run.status, run.stdout) == (0, f"cd {shlex.quote(str(folder))} && claude --resume {SESSION}\n")
    [found] = kiln("resume", "2", "--json").results
    assert (found["command"], found["folder"]) == (["claude", "--resume", SESSION], str(folder))


def test_resume_starts_the_agent_in_the_sessions_folder(kiln: Program) -> None:
    note = script(kiln, "claude")
    there = kiln.with_variables(PATH=f"{note.parent / 'bin'}:{kiln.environment['PATH']}")
    assert there("resume", "1", "--run").status == 3
    assert json.loads(note.read_text(encoding="utf-8")) == [str(kiln.home / "kiln works"), "--resume", SESSION]


@pytest.mark.parametrize("command", ["search", "recall"])
def test_results_carry_the_command_that_resumes_their_session(kiln: Program, command: str) -> None:
    run = kiln(command, "why does the kiln trip the relay", "--json")
    line = f"cd {shlex.quote(str(kiln.home / 'kiln works'))} && claude --resume {SESSION}"
    assert [hit["resume"] for hit in run.results] == [line] * len(run.results)
    _, shown = on_a_terminal(kiln, command, "why does the kiln trip the relay")
    assert "`open ID`" in shown
    assert "`resume ID`" in shown


def test_a_result_without_a_session_to_resume_has_no_command(kiln: Program) -> None:
    write_messages(kiln.home / "chat.jsonl", ("user", "Is the kiln relay painted?"), ("assistant", "Yes, green."))
    assert kiln("index", "chat.jsonl").status == 0
    (kiln.home / "claude" / f"{SESSION}.jsonl").unlink()
    assert kiln("task", "add", "Paint the kiln relay").status == 0
    assert {hit["resume"] for hit in kiln("search", "kiln relay", "--json").results} == {None}


def test_a_session_that_changed_its_folder_is_resumed_where_it_began(kiln: Program) -> None:
    file = kiln.home / "claude" / f"{SESSION}.jsonl"
    later = json.loads(file.read_text(encoding="utf-8").splitlines()[-1])
    later["message"]["content"][0]["text"] = "I tested the relay in the subfolder."
    later |= {"uuid": "u9", "cwd": str(kiln.home / "kiln works" / "relay"), "timestamp": "2026-02-01T09:00:00Z"}
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"{json.dumps(later)}\n")
    assert kiln("index", "claude").status == 0
    assert kiln("resume", "3", "--json").results[0]["folder"] == str(kiln.home / "kiln works")


def test_resume_names_an_agent_that_is_not_installed(kiln: Program) -> None:
    run = kiln.with_variables(PATH=str(kiln.home / "nothing")).altered("")("resume", "1", "--run")
    assert run.status == 2
    assert "claude: No such file or directory" in run.stderr
    assert f"claude --resume {SESSION}" in run.stderr


def test_a_session_that_cannot_be_resumed_has_a_reason(program: Program) -> None:
    write_messages(program.home / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Yes, green."))
    gone = write_claude(program.home / "claude" / f"{SESSION}.jsonl", str(program.home))
    assert program("index", "chat.jsonl", "claude").status == 0
    gone.unlink()
    runs = [program("resume", "--json", id_) for id_ in ("1", "2", "3", "4")]
    assert {run.status for run in runs} == {1}
    assert {run.results[0]["reason"] for run in runs} == {
        "the format messages has no command that resumes a session",
        "the session's own file is gone",
    }
    assert "cannot be resumed" in program("resume", "1").stderr


@pytest.mark.parametrize("session", ["--dangerously-skip-permissions", "a; rm -rf ~", "x\ny", "$(id)", "a\u202eb"])
def test_a_hostile_session_id_reaches_no_command(program: Program, session: str) -> None:
    write_claude(program.home / "a.jsonl", str(program.home), session)
    assert program("index", "a.jsonl").status == 0
    [found] = program("resume", "1", "--json").results
    assert (found["command"], found["line"]) == ([], None)
    assert "no id that a command line can name safely" in found["reason"]


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vim", ["+2", "{file}"]), ("/usr/bin/nvim -u NONE", ["-u", "NONE", "+2", "{file}"]), ("emacsclient -t", ["-t", "+2", "{file}"]),
        ("code --wait", ["--wait", "--goto", "{file}:2"]), ("hx", ["{file}:2"]), ("idea", ["--line", "2", "{file}"]),
        ("notepad++.exe", ["-n2", "{file}"]), ("myeditor", ["{file}"]),
    ],
)  # fmt: skip
def test_each_editor_gets_the_line_in_its_own_way(kiln: Program, editor: str, arguments: list[str]) -> None:
    file = str(kiln.home / "claude" / f"{SESSION}.jsonl")
    [found] = kiln.with_variables(EDITOR=editor)("open", "2", "--json").results
    assert found["command"] == [editor.split(maxsplit=1)[0], *(argument.format(file=file) for argument in arguments)]
    assert (found["path"], found["line"]) == (file, 2)


def reader(program: Program, name: str) -> Path:
    """Write a program that notes its arguments and the text of the file that it is given."""
    path = program.home / "bin" / name
    path.parent.mkdir(exist_ok=True)
    note = program.home / "read.json"
    path.write_text(
        f"#!{sys.executable}\nimport json, re, sys\n"
        f"text = open(re.sub(r':[0-9]+$', '', sys.argv[-1])).read()\n"
        f"open({str(note)!r}, 'w').write(json.dumps([text, *sys.argv[1:]]))\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return note


@pytest.mark.parametrize(("variable", "name"), [("VISUAL", "nano"), ("EDITOR", "code"), ("PAGER", "less")])
def test_open_shows_the_conversation_at_the_turn(kiln: Program, variable: str, name: str) -> None:
    note = reader(kiln, name)
    code, _ = on_a_terminal(kiln.with_variables(**{variable: str(note.parent / "bin" / name)}), "open", "2")
    text, *arguments = json.loads(note.read_text(encoding="utf-8"))
    assert code == 0
    assert "The relay is too small: use the 40 A one." in text
    assert '{"type"' not in text
    number = int(re.search(r"(?:\+|:)(\d+)", " ".join(arguments))[1])
    assert text.splitlines()[number - 1].startswith("**assistant** · 2026-02-01 ")
    assert not Path(arguments[-1].removesuffix(f":{number}")).exists()


def test_show_calls_an_unknown_outcome_with_an_answer_answered(kiln: Program) -> None:
    assert "\n  Answered\n" in kiln("show", "1").stdout


def test_open_shows_a_conversation_whose_file_is_gone_or_packed(kiln: Program) -> None:
    (kiln.home / "claude" / f"{SESSION}.jsonl").unlink()
    code, shown = on_a_terminal(kiln.with_variables(PAGER="cat"), "open", "1")
    assert code == 0
    assert "Why does the kiln trip the relay?" in shown


@pytest.mark.parametrize(("variable", "name"), [("EDITOR", "nano"), ("PAGER", "less")])
def test_open_shows_a_source_that_is_a_text_itself(program: Program, variable: str, name: str) -> None:
    (program.home / "todo.md").write_text("# Todo\n\n- [ ] Order a 40 A relay\n", encoding="utf-8")
    assert program("index", "todo.md").status == 0
    [task] = program("search", "relay", "--type", "task", "--json").results
    note = reader(program, name)
    on_a_terminal(program.with_variables(**{variable: str(note.parent / "bin" / name)}), "open", task["id"])
    text, *arguments = json.loads(note.read_text(encoding="utf-8"))
    assert text.startswith("# Todo\n")
    assert arguments[0] == "+3"


def test_open_prints_the_command_for_the_source_without_a_terminal(kiln: Program) -> None:
    file = kiln.home / "claude" / f"{SESSION}.jsonl"
    assert kiln.with_variables(EDITOR="vim")("open", "1").stdout == shlex.join(["vim", "+1", str(file)]) + "\n"


def test_open_follows_a_line_that_moved(kiln: Program) -> None:
    file = kiln.home / "claude" / f"{SESSION}.jsonl"
    file.write_text("{}\n{}\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert kiln.with_variables(EDITOR="vim")("open", "1", "--json").results[0]["line"] == 3


def test_open_says_what_is_missing(kiln: Program) -> None:
    run = kiln("open", "1")
    assert run.status == 2
    assert f"{SESSION}.jsonl:1" in run.stderr
    assert "export EDITOR=nano" in run.stderr
    (kiln.home / "claude" / f"{SESSION}.jsonl").unlink()
    gone = kiln.with_variables(EDITOR="vim")("open", "1")
    assert gone.status == 1
    assert "`pastchats-memory show 1` has the text" in gone.stderr
    assert kiln.with_variables(EDITOR="vim")("open", "1", "--json").results == []
    assert kiln("open", "99").status == 1
    assert kiln("open", "t:NONE").status == 1
    kiln("task", "add", "Order a relay", "--key", "K-1")
    assert kiln("open", "t:K-1").status == 1


def test_open_names_an_archive_instead_of_calling_it_gone(program: Program) -> None:
    chat = '{"role": "user", "content": "Is the fence painted?"}\n{"role": "assistant", "content": "Green."}\n'
    (program.home / "chat.jsonl.gz").write_bytes(gzip.compress(chat.encode()))
    assert program("index", "chat.jsonl.gz").status == 0
    run = program.with_variables(EDITOR="vim")("open", "1", "--json")
    assert (run.status, run.results) == (1, [])
    assert "is in an archive" in run.stderr


def test_open_does_not_hand_a_database_to_an_editor(program: Program) -> None:
    write_claude(program.home / "a.jsonl", str(program.home))
    assert program("index", "a.jsonl").status == 0
    (program.home / "a.jsonl").write_bytes(b"SQLite format 3\0")
    run = program.with_variables(EDITOR="vim")("open", "1")
    assert (run.status, run.stdout) == (1, "")
    assert "is a database" in run.stderr


def test_open_finds_the_file_of_a_task(program: Program) -> None:
    (program.home / "todo.md").write_text("# Todo\n\n- [ ] Order a 40 A relay\n", encoding="utf-8")
    assert program("index", "todo.md").status == 0
    [task] = program("search", "relay", "--type", "task", "--json").results
    [found] = program.with_variables(EDITOR="vim")("open", task["id"], "--json").results
    assert found["path"] == str(program.home / "todo.md")


def test_finding_the_command_imports_no_pipeline_of_indexing() -> None:
    code = "import sys, pastchats_memory.episodes.resumption; print('pastchats_memory.ingest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("crush", ["crush", "--session", "s-1"]),
        ("vibe", ["vibe", "--resume", "s-1"]),
        ("codex", ["codex", "resume", "s-1"]),
    ],
)
def test_each_agent_resumes_by_its_own_command(name: str, command: list[str]) -> None:
    resume = load_format(name).resume
    assert resume is not None
    assert resume(StoredSession("s-1/subagent", Path("session.jsonl"), None)) == command


def test_codex_resumes_a_session_whose_file_it_packed_itself(program: Program) -> None:
    rollout = "rollout-2026-11-09T10-00-00-0199c0de-0000-7000-8000-000000000013.jsonl"
    records = (FIXTURES / "codex" / "codex-q13-asked-asynchronously.jsonl").read_text(encoding="utf-8")
    path = program.home / rollout
    path.write_text(records.replace("/srv/kiln", str(program.home)), encoding="utf-8")
    assert program("index", rollout).status == 0
    packed = path.with_name(f"{rollout}.zst")
    packed.write_bytes(import_module(ZSTD).compress(path.read_bytes()))
    path.unlink()
    assert "codex resume 0199c0de-0000-7000-8000-000000000013" in program("resume", "1").stdout
    assert program("index", packed.name).status == 0
    assert "codex resume 0199c0de-0000-7000-8000-000000000013" in program("resume", "1").stdout


def test_a_session_whose_folder_is_gone_is_not_resumed_there(kiln: Program) -> None:
    (kiln.home / "kiln works").rmdir()
    run = kiln("resume", "1")
    assert (run.status, run.stdout) == (1, "")
    assert f"its folder is gone: {kiln.home / 'kiln works'}" in run.stderr
    shown = kiln("recall", "kiln relay").stdout
    assert "no resume: its folder is gone" in shown
    assert "· resume 1" not in shown


def test_a_session_of_another_system_is_not_resumed_here(program: Program) -> None:
    write_claude(program.home / "claude" / "a.jsonl", r"C:\Users\ada\kiln")
    assert program("index", "claude").status == 0
    assert r"its folder is one of another system: C:\Users\ada\kiln" in program("resume", "1").stderr
