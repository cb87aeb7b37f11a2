"""`blame`: which episodes changed a file, and which wrote one of its lines."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from program import Program

from pastchats_memory.episodes.recorded_edits import written_lines
from pastchats_memory.ingest.blame import FileNames
from pastchats_memory.text.shell import written_files

OLD, NEW = "def heat(kiln):\n    kiln.on()\n", "def heat(kiln):\n    kiln.on(limit=1040)\n"


def git(folder: Path, *arguments: str) -> None:
    names = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", folder, *names, *arguments], check=True, capture_output=True)


def write_claude(path: Path, folder: Path, session: str, *asked: tuple[str, str, object], day: int = 1) -> None:
    """Write a session of Claude Code with one prompt, one tool call and one answer for each (prompt, tool, input)."""
    lines: list[dict[str, object]] = []

    def add(role: str, content: list[dict[str, object]]) -> None:
        number = len(lines)
        lines.append({
            "type": role, "uuid": f"{session}-{number}", "sessionId": session, "cwd": str(folder),
            "timestamp": f"2026-02-{day:02}T08:{number:02}:00Z", "message": {"role": role, "content": content},
        })  # fmt: skip

    for place, (prompt, tool, given) in enumerate(asked):
        add("user", [{"type": "text", "text": prompt}])
        add("assistant", [{"type": "tool_use", "id": f"t{place}", "name": tool, "input": given}])
        add("user", [{"type": "tool_result", "tool_use_id": f"t{place}", "content": "ok"}])
        add("assistant", [{"type": "text", "text": f"Done, step {place}."}])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def kiln(program: Program) -> Program:
    """A repository with one file, which two sessions wrote and one only read."""
    work = program.home / "kiln"
    work.mkdir()
    git(work, "init")
    (work / "heat.py").write_text(NEW, encoding="utf-8")
    git(work, "add", ".")
    git(work, "commit", "-m", "Heat")
    file = str(work / "heat.py")
    write_claude(
        program.home / "claude" / "a.jsonl",
        work,
        "s-a",
        ("Write the heater.", "Write", {"file_path": file, "content": OLD}),
    )
    write_claude(
        program.home / "claude" / "b.jsonl", work, "s-b",
        ("Limit the heat to 1040 degrees.", "Edit", {"file_path": file, "old_string": "kiln.on()", "new_string": "    kiln.on(limit=1040)"}),
        ("Show me the file.", "Read", {"file_path": file}),
        ("Write the readme.", "Write", {"file_path": str(work / "README.md"), "content": "kiln.on(limit=1040)"}),
        day=2,
    )  # fmt: skip
    assert program("index", "claude").status == 0
    return program


def prompts(program: Program, *arguments: object) -> list[str]:
    return [one["episode"]["asked"] for one in program("blame", *arguments, "--json").results]


def test_blame_lists_the_episodes_that_changed_a_file_newest_first(kiln: Program) -> None:
    assert prompts(kiln, "kiln/heat.py") == ["Limit the heat to 1040 degrees.", "Write the heater."]
    [newest, _] = kiln("blame", "kiln/heat.py", "--json").results
    assert newest["resume"].endswith("claude --resume s-b")
    assert newest["edit"]["source_path"].endswith("b.jsonl")
    shown = kiln("blame", "kiln/heat.py").stdout
    assert "## 1. kiln\n> 2026-02-02 08:00: Limit the heat to 1040 degrees." in shown
    assert "b.jsonl:1 · id " in shown


def test_blame_of_a_line_lists_the_episodes_that_wrote_it(kiln: Program) -> None:
    assert prompts(kiln, "kiln/heat.py:2") == ["Limit the heat to 1040 degrees."]
    assert prompts(kiln, "kiln/heat.py:1") == ["Write the heater."]


def test_blame_follows_the_renames_that_git_knows(kiln: Program) -> None:
    work = kiln.home / "kiln"
    (work / "lib").mkdir()
    git(work, "mv", "heat.py", "lib/heating.py")
    git(work, "commit", "-m", "Move")
    assert prompts(kiln, "kiln/lib/heating.py") == ["Limit the heat to 1040 degrees.", "Write the heater."]
    assert prompts(kiln, "kiln/lib/heating.py:2") == ["Limit the heat to 1040 degrees."]


def test_blame_finds_edits_made_in_another_clone_of_the_project(kiln: Program) -> None:
    other = kiln.home / "elsewhere" / "kiln"
    other.mkdir(parents=True)
    git(other, "init")
    (other / "heat.py").write_text(NEW, encoding="utf-8")
    assert prompts(kiln, "elsewhere/kiln/heat.py") == ["Limit the heat to 1040 degrees.", "Write the heater."]


def test_blame_finds_edits_made_in_a_clone_with_another_name(kiln: Program) -> None:
    git(kiln.home, "clone", "kiln", "copy")
    git(kiln.home, "clone", "copy", "copy of the copy")
    both = ["Limit the heat to 1040 degrees.", "Write the heater."]
    assert prompts(kiln, "copy/heat.py") == both
    assert prompts(kiln, "copy of the copy/heat.py") == both
    assert prompts(kiln, "copy/heat.py:2") == both[:1]


def test_blame_finds_edits_made_in_a_worktree_and_below_the_folder_of_an_agent(program: Program) -> None:
    for session, work in enumerate(
        (program.home / "heat-branch", program.home / "kiln" / ".claude" / "worktrees" / "frosty")
    ):
        call = (f"Write it, {session}.", "Write", {"file_path": str(work / "src" / "heat.py"), "content": NEW})
        write_claude(program.home / "claude" / f"{session}.jsonl", work / "src", f"s-{session}", call, day=session + 1)
    source = program.home / "kiln" / "src"
    source.mkdir(parents=True)
    (source / "heat.py").write_text(NEW, encoding="utf-8")
    git(program.home / "kiln", "init")
    git(program.home / "kiln", "add", ".")
    git(program.home / "kiln", "commit", "-m", "Heat")
    git(program.home / "kiln", "worktree", "add", str(program.home / "heat-branch"))
    assert program("index", "claude").status == 0
    assert prompts(program, "kiln/src/heat.py") == ["Write it, 1.", "Write it, 0."]
    assert prompts(program, "heat-branch/src/heat.py") == ["Write it, 1.", "Write it, 0."]


@pytest.fixture
def windows(program: Program) -> Program:
    """A memory that has a session of a machine with Windows."""
    folder = "C:\\Users\\ada\\code\\kiln"
    call = (
        "Line the flue.",
        "Edit",
        {"file_path": f"{folder}\\src\\flue.go", "old_string": "a", "new_string": "lined := true"},
    )
    write_claude(program.home / "claude" / "a.jsonl", Path(folder), "s-a", call)
    assert program("index", "claude").status == 0
    return program


@pytest.mark.parametrize(
    "named",
    [
        "C:\\Users\\ada\\code\\kiln\\src\\flue.go", "c:\\users\\ada\\code\\kiln\\src\\flue.go", "C:/Users/ada/code/kiln/src/flue.go",
        "/Users/ada/kiln/src/flue.go",
    ],
)  # fmt: skip
def test_a_file_is_found_by_its_path_on_another_machine(windows: Program, named: str) -> None:
    assert prompts(windows, named) == ["Line the flue."]
    assert prompts(windows, named.replace("flue.go", "door.go")) == []


@pytest.mark.parametrize("clone", ["kiln", "kiln-2"])
def test_a_session_of_another_machine_is_found_from_a_clone_here(windows: Program, clone: str) -> None:
    (windows.home / clone / "src").mkdir(parents=True)
    git(windows.home / clone, "init")
    (windows.home / clone / "src" / "flue.go").write_text("lined := true\n", encoding="utf-8")
    assert prompts(windows, f"{clone}/src/flue.go") == ["Line the flue."]
    assert prompts(windows, f"{clone}/src/flue.go:1") == ["Line the flue."]


@pytest.mark.parametrize(
    ("cwd", "named", "is_match"),
    [
        ("/home/ada/kiln", "/home/ada/kiln/src/kiln/heat.py", True), ("/home/kiln/kiln", "/home/kiln/kiln/src/kiln/heat.py", True),
        ("/home/ada/kiln/src", "kiln/heat.py", True), ("/home/ada/kiln", "./src/kiln/heat.py", True),
        ("C:/work/kiln", "C:\\work\\kiln\\src\\kiln\\heat.py", True), (None, "src/kiln/heat.py", True),
        ("/home/ada/kiln", "/home/ada/kiln/kiln/heat.py", False), ("/home/ada/kiln/docs", "src/kiln/heat.py", False),
        ("/home/ada/kiln", "/home/ada/kiln/src/kiln/heat.py.bak", False), ("/home/ada/kiln", "", False),
    ],
)  # fmt: skip
def test_a_path_of_a_session_names_the_file_below_the_project(cwd: str | None, named: str, is_match: bool) -> None:
    names = FileNames("/elsewhere/kiln", "kiln", ("src/kiln/heat.py",))
    assert names.match(named, "kiln", cwd) == is_match
    assert not names.match(named, "another", cwd)


def test_a_file_of_the_same_name_elsewhere_has_other_episodes(kiln: Program) -> None:
    work = kiln.home / "kiln" / "tests"
    work.mkdir()
    (work / "heat.py").write_text(NEW, encoding="utf-8")
    (kiln.home / "oven").mkdir()
    (kiln.home / "oven" / "heat.py").write_text(NEW, encoding="utf-8")
    assert prompts(kiln, "kiln/tests/heat.py") == []
    assert prompts(kiln, "oven/heat.py") == []


def test_a_file_that_is_gone_is_still_found(kiln: Program) -> None:
    (kiln.home / "kiln" / "heat.py").unlink()
    assert len(prompts(kiln, "kiln/heat.py")) == 2
    run = kiln("blame", "kiln/heat.py:2")
    assert (run.status, run.stdout) == (2, "")


@pytest.mark.parametrize("line", ["3", "99"])
def test_a_line_that_says_nothing_is_refused(kiln: Program, line: str) -> None:
    (kiln.home / "kiln" / "heat.py").write_text(f"{NEW}}}\n", encoding="utf-8")
    assert kiln("blame", f"kiln/heat.py:{line}").status == 2


def test_a_missing_file_has_no_lines(kiln: Program) -> None:
    os.mkfifo(kiln.home / "pipe")
    for name in ("kiln:1", "pipe:1", "/dev/zero:1"):
        assert kiln("blame", name).status == 2


@pytest.mark.parametrize("name", ["/", ".", "...", '"', 'a"b*.py', "日本語.py", "-x.py", "a\x1b[31m.py", "*"])
def test_any_name_of_a_file_can_be_asked_for(kiln: Program, name: str) -> None:
    run = kiln("blame", "--", name)
    assert (run.status, run.stdout) == (1, "")


def test_an_edit_that_was_refused_changed_nothing(program: Program) -> None:
    work = program.home / "kiln"
    work.mkdir()
    (work / "heat.py").write_text(NEW, encoding="utf-8")
    file = program.home / "claude" / "a.jsonl"
    given = {"file_path": str(work / "heat.py"), "old_string": "kiln.on()", "new_string": "kiln.on(limit=1040)"}
    write_claude(file, work, "s-a", ("Limit the heat.", "Edit", given))
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    lines[2]["message"]["content"][0] |= {"is_error": True, "content": "String to replace not found in file."}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert program("index", "claude").status == 0
    assert prompts(program, "kiln/heat.py") == []
    assert prompts(program, "kiln/heat.py:2") == []


def test_a_private_project_is_not_blamed_from_outside(kiln: Program) -> None:
    (kiln.home / "kiln" / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    assert kiln("index", "claude", "--force").status == 0
    assert prompts(kiln, "kiln/heat.py") == []
    assert len(prompts(kiln.within(kiln.home / "kiln"), "heat.py")) == 2


def test_the_configuration_of_a_hostile_repository_starts_no_program(kiln: Program) -> None:
    work, marker = kiln.home / "kiln", kiln.home / "started"
    script = kiln.home / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n", encoding="utf-8")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "gpg.program", "core.sshCommand"):
        git(work, "config", key, str(script))
    git(work, "config", "log.showSignature", "true")
    (work / ".gitattributes").write_text("*.py diff=x\n", encoding="utf-8")
    assert len(prompts(kiln, "kiln/heat.py")) == 2
    assert not marker.exists()


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-old = 1\n+new = 2\n context = 3\n*** Add File: b.py\n+other = 4\n*** End Patch"
BLOCK = "a.py\n```python\n<<<<<<< SEARCH\nold = 1\n=======\nnew = 2\n>>>>>>> REPLACE\n```"


@pytest.mark.parametrize(
    ("arguments", "wanted", "unwanted"),
    [
        ({"file_path": "a.py", "content": "new = 2\n"}, ["new = 2"], ["old = 1"]),
        ({"path": "a.py", "old_str": "old = 1", "new_str": "  new = 2"}, ["new = 2"], ["old = 1"]),
        ({"filePath": "a.py", "oldString": "old = 1", "newString": "new = 2"}, ["new = 2"], ["old = 1"]),
        ({"edits": [{"oldText": "old = 1", "newText": "new = 2"}]}, ["new = 2"], ["old = 1"]),
        ({"input": PATCH}, ["new = 2"], ["old = 1", "context = 3", "other = 4"]),
        (PATCH, ["new = 2"], ["old = 1", "context = 3", "other = 4"]),
        ({"path": "a.py", "diff": BLOCK}, ["new = 2"], ["old = 1"]),
        ({"path": "a.py", "diff": BLOCK.replace("<" * 7, "-" * 7).replace(">" * 7, "+" * 7)}, ["new = 2"], ["old = 1"]),
        ({"change": {"update": {"unified_diff": "@@ -1 +1 @@\n-old = 1\n+new = 2\n"}}}, ["new = 2"], ["old = 1"]),
        (BLOCK, ["new = 2"], ["old = 1"]),
    ],
)  # fmt: skip
def test_every_spelling_of_an_edit_has_its_new_lines(
    arguments: object, wanted: Sequence[str], unwanted: Sequence[str]
) -> None:
    found = written_lines(arguments, lambda path: path == "a.py")
    assert found.issuperset(wanted)
    assert found.isdisjoint(unwanted)


def test_a_patch_that_a_shell_command_applies_is_an_edit(program: Program) -> None:
    work = program.home / "kiln"
    work.mkdir()
    (work / "a.py").write_text("new = 2\n", encoding="utf-8")
    command = f"apply_patch <<'EOF'\n{PATCH}\nEOF"
    write_claude(
        program.home / "claude" / "a.jsonl", work, "s-a",
        ("Raise the number.", "Bash", {"command": command}), ("Run it.", "Bash", {"command": "python a.py"}),
    )  # fmt: skip
    assert program("index", "claude").status == 0
    assert prompts(program, "kiln/a.py") == ["Raise the number."]
    assert prompts(program, "kiln/a.py:1") == ["Raise the number."]


@pytest.mark.parametrize(
    "command",
    [
        "cat > a.py <<'EOF'\nnew = 2\nEOF", "cat <<EOF > a.py\nnew = 2\nEOF", "mkdir -p x && cat >> ./a.py << 'EOF'\nnew = 2\nEOF\npython a.py",
        "tee a.py <<'END'\nnew = 2\nEND",
    ],
)  # fmt: skip
def test_a_file_that_a_shell_command_writes_is_changed(program: Program, command: str) -> None:
    work = program.home / "kiln"
    work.mkdir()
    (work / "a.py").write_text("new = 2\nold = 1\n", encoding="utf-8")
    write_claude(
        program.home / "claude" / "a.jsonl", work, "s-a",
        ("Write it.", "Bash", {"command": command}), ("Read it.", "Bash", {"command": "cat a.py << /dev/null"}),
    )  # fmt: skip
    assert program("index", "claude").status == 0
    assert prompts(program, "kiln/a.py") == ["Write it."]
    assert prompts(program, "kiln/a.py:1") == ["Write it."]
    assert prompts(program, "kiln/a.py:2") == []


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("sed -i 's/a/b/' src/a.py", ["src/a.py"]), ("sed -i.bak -e 's/a/b/' a.py && make", ["a.py"]), ("perl -pi -e 's/a/b/' a.py", ["a.py"]),
        ("sed -n 1,5p a.py", []), ("make > build.log", []), ("python - <<'EOF' 2>/dev/null\nprint(1)\nEOF", []), ("git commit -m 'a > b'", []),
        ("cat <<'EOF' | tee a.py b.py\nx\nEOF", ["a.py"]),
    ],
)  # fmt: skip
def test_only_commands_that_write_text_are_edits(command: str, files: list[str]) -> None:
    assert written_files(command) == files


def test_a_change_in_a_list_that_is_too_long_to_be_stored_is_found(program: Program) -> None:
    work = program.home / "kiln"
    work.mkdir()
    (work / "last.py").write_text("number = 2\n", encoding="utf-8")
    names = [*(f"a_rather_long_name_of_a_file_{number}.py" for number in range(9)), "last.py"]
    patch = "".join(f"*** Update File: {name}\n@@\n+number = 2\n" for name in names)
    call = ("Raise all numbers.", "apply_patch", f"*** Begin Patch\n{patch}*** End Patch")
    write_claude(program.home / "claude" / "a.jsonl", work, "s-a", call)
    assert program("index", "claude").status == 0
    assert prompts(program, "kiln/last.py") == ["Raise all numbers."]
    assert prompts(program, "kiln/last.py:1") == ["Raise all numbers."]
    assert prompts(program, "kiln/other.py") == []


def test_an_edit_in_the_text_of_an_answer_counts(program: Program) -> None:
    work = program.home / "kiln"
    work.mkdir()
    (work / "a.py").write_text("old = 1\nnew = 2\n", encoding="utf-8")
    chat = (
        "# aider chat started at 2026-02-01 08:00:00\n\n#### Raise the number.  \n\n"
        f"{BLOCK}\n\n> Tokens: 1k sent, 1k received.  \n> Applied edit to a.py  \n"
    )
    (work / ".aider.chat.history.md").write_text(chat, encoding="utf-8")
    assert program("index", "kiln/.aider.chat.history.md").status == 0
    assert prompts(program, "kiln/a.py") == ["Raise the number."]
    assert prompts(program, "kiln/a.py:2") == ["Raise the number."]
    assert prompts(program, "kiln/a.py:1") == []
