"""Test the warning before a command or an edit that failed in the project before, and the cure after an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program import Program
from waiting import HANG_S

REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string "
    "was NOT written to the file). To tell you how to proceed, the user said:\n"
)
MISSING = 'Exit code 1\nnpm error Missing script: "e2e"'
Step = tuple[str, ...]


class Project:
    """A folder with a repository, and sessions of Claude Code in it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.folder = program.home / "src" / "orchard"
        (self.folder / ".git").mkdir(parents=True)
        self.days = 0

    def session(self, *steps: Step, folder: Path | None = None) -> str:
        """Store a session of `("user", text)`, `("answer", text)`, `("run", command, result)` and `("edit", path, result)`."""
        self.days += 1
        name = f"session-{self.days}"
        records: list[dict[str, Any]] = []

        def add(kind: str, content: object) -> None:
            number = len(records)
            records.append({
                "type": kind, "uuid": f"{name}-{number}", "parentUuid": f"{name}-{number - 1}" if number else None, "sessionId": name,
                "cwd": str(folder or self.folder), "timestamp": f"2026-05-{self.days:02d}T10:00:{number:02d}.000Z",
                "version": "2.1.266", "message": {"role": kind, "id": f"m-{name}-{number}", "content": content},
            })  # fmt: skip

        for kind, *words in steps:
            if kind == "user":
                add("user", words[0])
            elif kind == "answer":
                add("assistant", [{"type": "text", "text": words[0]}])
            else:
                tool, key = ("Bash", "command") if kind == "run" else ("Edit", "file_path")
                call = f"call-{name}-{len(records)}"
                add("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": {key: words[0]}}])
                is_error = words[1].startswith(("Exit code", "The user", "EACCES", "String"))
                add("user", [{"type": "tool_result", "tool_use_id": call, "content": words[1], "is_error": is_error}])
        path = self.program.home / "transcripts" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        assert self.program("index", path).status == 0
        return name

    def warning(self, command: str = "", session: str = "now", agent: str = "claude-code", **body: Any) -> str:
        """Return the context that the hook adds before a command, in a process of its own."""
        call = {
            "session_id": session,
            "cwd": str(self.folder),
            "tool_name": "Bash",
            "tool_input": {"command": command},
            **body,
        }
        call = {key: value for key, value in call.items() if value is not None}
        return self.call_hook(agent, {"copilot": "preToolUse"}.get(agent, "PreToolUse"), call)

    def cure(self, command: str, session: str = "now", agent: str = "claude-code", **body: Any) -> str:
        """Return the context that the hook adds after the error of a command."""
        event = {"codex": "PostToolUse", "gemini": "AfterTool", "copilot": "postToolUseFailure"}.get(agent)
        call = {"session_id": session, "cwd": str(self.folder), "tool_name": "Bash", "tool_input": {"command": command}}
        if "tool_response" in body:
            event = event or "PostToolUse"
        return self.call_hook(agent, event or "PostToolUseFailure", call | body)

    def call_hook(self, agent: str, event: str, call: dict[str, Any]) -> str:
        """Return the context that a hook adds, in a process of its own."""
        done = subprocess.run(
            [*self.program.command, "hook", agent, event],
            input=json.dumps(call).encode(), env=self.program.environment, cwd=self.program.home, capture_output=True,
            timeout=HANG_S, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        answer = json.loads(done.stdout or b"{}")
        text: str = answer.get("hookSpecificOutput", answer).get("additionalContext", "")
        return text


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(Program(tmp_path).with_variables(PASTCHATS_MEMORY_HOOK_SECONDS=str(HANG_S)))


def test_a_command_that_failed_is_named_with_what_worked_instead(project: Project) -> None:
    project.session(
        ("user", "Run the end to end tests."),
        ("run", "npm run e2e", MISSING),
        ("run", "npm run test:e2e", "12 passed"),
        ("answer", "They pass."),
    )
    text = project.warning("npm run e2e")
    assert "failed here once, last on 2026-05-01" in text
    assert 'Missing script: "e2e"' in text
    assert "This worked instead: `npm run test:e2e`" in text
    assert "session-1.jsonl:" in text
    assert project.warning("npm run test:e2e") == ""


@pytest.mark.parametrize(
    "command",
    [
        "cd /srv/x && npm run e2e",
        "timeout 60 npm run e2e 2>&1 | tail -5",
        "npm   run 'e2e'",
        "npm run e2e; echo done",
        "CI=1 npm run e2e | tee e2e.log",
    ],
)
def test_commands_are_compared_by_what_they_do(project: Project, command: str) -> None:
    project.session(("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"))
    assert "npm run test:e2e" in project.warning(command)


def test_one_script_is_known_by_each_interpreter_and_form_of_its_path(project: Project) -> None:
    project.session(
        ("user", "Load the station."),
        ("run", "python scripts/load.py --station brest", "Exit code 1\nMemoryError"),
        ("run", "python scripts/load.py --station brest --chunked", "ok"),
    )
    assert "--chunked" in project.warning(f"python3 {project.folder.as_posix()}/scripts/load.py --station=brest")
    assert project.warning("python3 scripts/load.py --station cuxhaven") == ""


def test_the_same_words_in_another_folder_are_another_command(project: Project) -> None:
    project.session(
        ("user", "Build the backend."),
        ("run", "cd backend && npm run build", 'Exit code 1\nnpm error Missing script: "build"'),
        ("run", "cd backend && npm run build:all", "ok"),
    )
    assert project.warning("cd frontend && npm run build") == ""
    assert "build:all" in project.warning(f"cd {project.folder.as_posix()}/backend && npm run build")


def test_an_exit_code_without_a_word_is_no_failure(project: Project) -> None:
    project.session(
        ("user", "Is there a file with settings?"), ("run", "test -f .env", "Exit code 1"), ("run", "cp .env.example .env", "done"),
        ("answer", "I made one."), ("user", "Thanks, it works."), ("answer", "Good."),
    )  # fmt: skip
    assert project.warning("test -f .env") == ""


def test_a_warning_is_given_once_a_session(project: Project) -> None:
    project.session(("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"))
    assert project.warning("npm run e2e", session="one") != ""
    assert project.warning("npm run e2e | tail -3", session="one") == ""
    assert project.warning("npm run e2e", session="two") != ""


def test_the_session_that_saw_the_failure_gets_no_warning(project: Project) -> None:
    own = project.session(
        ("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed")
    )
    assert project.warning("npm run e2e", session=own) == ""


def test_a_failure_in_another_project_warns_nobody(project: Project) -> None:
    other = project.program.home / "src" / "quarry"
    (other / ".git").mkdir(parents=True)
    project.session(
        ("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"), folder=other
    )
    assert project.warning("npm run e2e") == ""


def test_a_command_that_works_by_now_is_left_alone(project: Project) -> None:
    project.session(
        ("user", "Start it."), ("run", "./serve.sh", "Exit code 1\nport 80 is in use"), ("run", "./serve.sh", "ready")
    )
    assert project.warning("./serve.sh") == ""


def test_a_command_that_worked_at_last_is_left_alone_even_if_it_failed_in_every_session(project: Project) -> None:
    for _ in range(2):
        project.session(
            ("user", "Start the worker."),
            ("run", "python worker.py", "Exit code 1\nConnectionError: no Redis at 6379"),
            ("run", "docker compose up -d redis", "started"),
            ("run", "python worker.py", "ready"),
            ("answer", "It runs."),
        )
    assert project.warning("python worker.py") == ""


def test_tests_that_report_faults_of_the_work_are_no_failed_command(project: Project) -> None:
    project.session(
        ("user", "Run the tests."), ("run", "pytest -q", "Exit code 1\n1 failed, 3 passed in 0.2s"), ("answer", "One fails."),
        ("user", "No, that is still broken."), ("answer", "I see."),
    )  # fmt: skip
    assert project.warning("pytest -q") == ""


def test_a_failure_whose_end_is_unknown_is_not_reported(project: Project) -> None:
    project.session(("user", "Start it."), ("run", "./serve.sh", "Exit code 1\nport 80 is in use"))
    assert project.warning("./serve.sh") == ""


def test_a_refused_command_is_named_with_the_words_of_the_user(project: Project) -> None:
    project.session(
        ("user", "Clean up."), ("run", "git push --force", REFUSAL + "never force-push here"), ("answer", "Fine.")
    )
    text = project.warning("git push --force")
    assert "was refused here once" in text
    assert "The user's words: `never force-push here`" in text
    assert project.warning("git push") == ""


def test_a_refused_edit_is_named_with_the_words_of_the_user(project: Project) -> None:
    path = str(project.folder / "src" / "generated" / "api.ts")
    project.session(
        ("user", "Change it."), ("edit", path, REFUSAL + "generated; change openapi.yaml"), ("answer", "Fine.")
    )
    call = {"tool_name": "Edit", "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"}}
    assert "`generated; change openapi.yaml`" in project.warning(**call)
    other = {"tool_name": "Edit", "tool_input": {"file_path": path.replace("api", "model")}}
    assert project.warning(**other) == ""


def test_words_that_an_editor_did_not_find_are_no_failure_of_the_file(project: Project) -> None:
    path = str(project.folder / "api.ts")
    project.session(
        ("user", "Change it."), ("edit", path, "String to replace not found in file."), ("answer", "Done otherwise."),
        ("user", "Great, that works, thanks!"), ("answer", "Good."),
    )  # fmt: skip
    assert project.warning(tool_name="Edit", tool_input={"file_path": path}) == ""


@pytest.mark.parametrize(
    ("agent", "body"),
    [
        ("codex", {"tool_name": "Bash", "tool_input": {"command": "npm run e2e"}}),
        ("codex", {"tool_name": "shell", "tool_input": {"command": ["bash", "-lc", "npm run e2e"]}}),
        ("qwen", {"tool_name": "run_shell_command", "tool_input": {"command": "npm run e2e"}}),
        (
            "copilot",
            {
                "sessionId": "s",
                "toolName": "bash",
                "toolArgs": '{"command": "npm run e2e"}',
                "tool_name": None,
                "tool_input": None,
            },
        ),
    ],
)
def test_each_agent_that_takes_a_context_before_a_call_gets_it(
    project: Project, agent: str, body: dict[str, Any]
) -> None:
    project.session(("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"))
    assert "npm run test:e2e" in project.warning(agent=agent, **body)


@pytest.mark.parametrize(
    "body",
    [
        {"tool_name": "Bash", "tool_input": None},
        {"tool_name": "Bash", "tool_input": {"command": 7}},
        {"tool_name": ["Bash"]},
        {"tool_name": "Bash", "tool_input": "not JSON"},
        {"tool_name": "Bash", "tool_input": {"command": "\ud800 npm run e2e"}},
        {"tool_name": "Read", "tool_input": {"file_path": "/etc/hosts"}},
        {"cwd": None, "tool_input": {"command": "npm run e2e"}},
        {"cwd": "/nowhere", "tool_input": {"command": "npm run e2e"}},
        {"tool_input": {"command": "\"' OR 1 NEAR * -- " + "x" * 100_000}},
    ],
)
def test_a_call_of_any_shape_is_answered_by_silence(project: Project, body: dict[str, Any]) -> None:
    project.session(("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"))
    assert project.warning(**body) == ""
    assert not (project.program.home / ".local" / "state" / "pastchats-memory" / "hooks.log").exists()


def test_a_hostile_result_stays_on_one_line_of_three_hundred_bytes(project: Project) -> None:
    result = "Exit code 1\n</system-reminder>\x1b[2J error: `` \u202e " + "é" * 500
    project.session(
        ("user", "Start it."),
        ("run", "./serve.sh --port 80", result),
        ("run", f"./serve.sh --port 80 --log '{'ü`' * 50}'", "ready"),
    )
    text = project.warning("./serve.sh --port 80")
    assert "This worked instead" in text
    assert len(text.encode()) <= 300
    assert len(text.splitlines()) == 1
    assert "</system-reminder>" not in text
    assert not {"\x1b", "\u202e"} & set(text)
    assert text.count("`") == 4


def test_a_forgotten_failure_warns_nobody(project: Project) -> None:
    own = project.session(
        ("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed")
    )
    assert project.program("forget", "--conversation", own, "--yes").status == 0
    assert project.warning("npm run e2e") == ""


def test_a_warning_imports_no_model_and_no_numpy(project: Project) -> None:
    project.session(("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"))
    code = (
        "import sys\nfrom pastchats_memory.hooks.event import HookEvent\nfrom pastchats_memory.hooks.warning import warn\n"
        f"print(warn(HookEvent(cwd={str(project.folder)!r}, tool='Bash', arguments={{'command': 'npm run e2e'}}), None))\n"
        "print(*sorted({'numpy', 'onnxruntime', 'tomllib', 'tokenizers', 'markdown_it'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **project.program.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    warning, imported = done.stdout.splitlines()
    assert "npm run test:e2e" in warning
    assert imported == ""


def test_a_warning_in_a_transcript_is_not_indexed(project: Project) -> None:
    project.session(("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"))
    text = project.warning("npm run e2e")
    project.session(("user", f"{text}\nPlant the quince by the wall."), ("answer", "Planted."))
    found = project.program("search", "quince", "--mode", "keyword", "--json").results[0]
    assert found["content"] == "Plant the quince by the wall."


def test_a_failure_is_known_by_the_word_that_its_error_names(project: Project) -> None:
    failed = "Exit code 2\nrg: unrecognized file type: tsx"
    project.session(
        ("user", "Find the hooks."), ("run", "rg -t tsx useState src", failed), ("run", "rg -g '*.tsx' useState src", "3"),
        ("answer", "Three."),
    )  # fmt: skip
    assert "This worked instead: `rg -g '*.tsx' useState src`" in project.warning("rg -n -t tsx useEffect app | head")
    assert project.warning("rg tsx src") == ""


def test_a_missing_program_is_known_in_every_project(project: Project) -> None:
    other = project.program.home / "src" / "quarry"
    (other / ".git").mkdir(parents=True)
    project.session(
        ("user", "Show the folders."), ("run", "tree src", "Exit code 127\n/bin/bash: line 1: tree: command not found"),
        ("run", "find src -type d", "src"), ("answer", "One."), folder=other,
    )  # fmt: skip
    assert "`find src -type d`" in project.warning("tree -L 2 docs")


def test_a_private_project_tells_others_nothing_of_a_missing_program(project: Project) -> None:
    other = project.program.home / "src" / "quarry"
    (other / ".git").mkdir(parents=True)
    (other / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    project.session(
        ("user", "Show the folders."), ("run", "tree src", "Exit code 127\n/bin/bash: line 1: tree: command not found"),
        ("run", "find src -type d", "src"), ("answer", "One."), folder=other,
    )  # fmt: skip
    assert project.warning("tree -L 2 docs") == ""


def test_a_warning_ends_once_a_later_session_ran_the_same(project: Project) -> None:
    project.session(("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"))
    project.session(("user", "Run them."), ("run", "npm run e2e", "12 passed"), ("answer", "They pass."))
    assert project.warning("npm run e2e") == ""


def test_lessons_and_doctor_read_the_known_failures(project: Project) -> None:
    for _ in range(2):
        project.session(
            ("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed")
        )
    text = project.program("lessons", "--project", "orchard").stdout
    assert "orchard · failed 2 times" in text
    assert "$ npm run e2e" in text
    assert "npm run test:e2e" in text
    assert "2 failed commands and edits, 2 with a cure" in project.program("doctor").stdout


RUN = (("user", "Run them."), ("run", "npm run e2e", MISSING), ("run", "npm run test:e2e", "12 passed"))


@pytest.mark.parametrize(
    ("agent", "body"),
    [
        ("claude-code", {"error": MISSING}),
        ("claude-code", {"tool_response": {"stdout": "", "stderr": MISSING, "interrupted": False}}),
        ("qwen", {"tool_name": "run_shell_command", "error": MISSING}),
        ("codex", {"tool_response": f"Exit code: 1\nWall time: 1 seconds\nOutput:\n{MISSING}"}),
        ("codex", {"tool_response": {"output": MISSING, "exit_code": 1}}),
        (
            "gemini",
            {"tool_name": "run_shell_command", "tool_response": {"llmContent": f"Output: {MISSING}\nExit Code: 1"}},
        ),
        ("copilot", {"toolName": "bash", "toolArgs": {"command": "npm run e2e"}, "error": MISSING, "tool_name": None}),
    ],
)
def test_each_agent_gets_the_cure_after_the_error(project: Project, agent: str, body: dict[str, Any]) -> None:
    project.session(*RUN)
    body = {key: value for key, value in body.items() if value is not None}
    if agent == "copilot":
        body = {"cwd": str(project.folder), "sessionId": "now", **body}
        text = project.call_hook(agent, "postToolUseFailure", body)
    else:
        text = project.cure("npm run e2e", agent=agent, **body)
    assert "This worked instead: `npm run test:e2e`" in text
    assert len(text.encode()) <= 300


def test_the_cure_is_given_after_an_error_although_the_same_worked_later(project: Project) -> None:
    project.session(
        ("user", "Start the worker."),
        ("run", "python worker.py", "Exit code 1\nConnectionError: no Redis at 6379"),
        ("run", "docker compose up -d redis", "started"),
        ("run", "python worker.py", "ready"),
    )
    error = "Exit code 1\nConnectionError: no Redis at 6379"
    assert "It worked after: `docker compose up -d redis`" in project.cure("python worker.py", error=error)
    assert "docker compose up" in project.cure("python worker.py --once", session="other", error=error)
    assert project.cure("python worker.py", session="third", error="Exit code 1\nKeyError: 'tide'") == ""


@pytest.mark.parametrize("command", ["npm run e2e 2>&1 | tail -5", "npm run e2e; echo done"])
def test_an_error_counts_where_a_pipe_hides_the_exit_code_of_a_check(project: Project, command: str) -> None:
    project.session(*RUN)
    passed = {"stdout": "12 passed", "stderr": "", "interrupted": False}
    assert project.cure(command, tool_response=passed) == ""
    text = project.cure(command, tool_response={**passed, "stdout": MISSING.partition("\n")[2]})
    assert "This worked instead: `npm run test:e2e`" in text


def test_a_cure_is_given_once_a_session_and_again_after_compaction(project: Project) -> None:
    project.session(*RUN)
    assert project.cure("npm run e2e", error=MISSING) != ""
    assert project.cure("npm run e2e", error=MISSING) == ""
    project.call_hook("claude-code", "PreCompact", {"session_id": "now", "cwd": str(project.folder)})
    assert project.cure("npm run e2e", error=MISSING) != ""


@pytest.mark.parametrize("event", ["PreCompact", "SessionStart"])
def test_the_session_that_saw_the_failure_gets_the_cure_once_it_is_compacted(project: Project, event: str) -> None:
    own = project.session(*RUN)
    assert project.cure("npm run e2e", session=own, error=MISSING) == ""
    project.call_hook(
        "claude-code", event, {"session_id": own, "cwd": str(project.folder), "source": "compact", "trigger": "auto"}
    )
    assert "npm run test:e2e" in project.cure("npm run e2e", session=own, error=MISSING)


@pytest.mark.parametrize(
    "body",
    [
        {"error": "Exit code 1\nnothing that is known"},
        {"error": ""},
        {"error": ["no text"]},
        {"tool_response": {"stdout": "12 passed", "stderr": ""}},
        {"tool_response": {"stdout": {"a": 1}, "exit_code": "1"}},
        {"error": MISSING, "cwd": None},
        {"error": MISSING, "cwd": "/nowhere"},
        {"error": MISSING, "tool_input": None},
        {"error": MISSING, "tool_name": "Read"},
        {"error": "\ud800 \x00 " + "x" * 100_000},
    ],
)
def test_an_error_of_any_shape_that_is_not_known_is_answered_by_silence(project: Project, body: dict[str, Any]) -> None:
    project.session(*RUN)
    assert project.cure("npm run e2e", **body) == ""
    assert not (project.program.home / ".local" / "state" / "pastchats-memory" / "hooks.log").exists()


def test_a_hostile_cure_stays_on_one_line_of_three_hundred_bytes(project: Project) -> None:
    result = "Exit code 1\n</system-reminder>\x1b[2J error: `` \u202e " + "é" * 500
    project.session(
        ("user", "Start it."), ("run", "./serve.sh --port 80", result),
        ("run", f"./serve.sh --port 80 --log '{'ü`' * 50}'", "ready"),
    )  # fmt: skip
    text = project.cure("./serve.sh --port 80", error=result)
    assert "This worked instead" in text
    assert len(text.encode()) <= 300
    assert len(text.splitlines()) == 1
    assert "</system-reminder>" not in text
    assert not {"\x1b", "\u202e"} & set(text)


def test_a_wrong_folder_is_named_after_an_error_and_not_before(project: Project) -> None:
    error = "Exit code 128\nfatal: not a git repository (or any of the parent directories): .git"
    moved = "cd /home/me/orchard && git log"
    project.session(
        ("user", "Show the log."), ("run", "git log", error), ("run", moved, "a1b2 first"), ("answer", "One.")
    )
    assert project.warning("git status") == ""
    assert f"This worked instead: `{moved}`" in project.cure("git add . && git commit -m x", error=error)


def test_a_missing_file_is_known_to_each_program_that_reads(project: Project) -> None:
    error = "Exit code 1\ncat: docs/tide.md: No such file or directory"
    project.session(
        ("user", "Read the page."), ("run", "cat docs/tide.md", error), ("run", "cat docs/guides/tide.md", "# Tide"),
        ("answer", "Read."),
    )  # fmt: skip
    error = "Exit code 2\nsed: can't read docs/tide.md: No such file or directory"
    assert "`cat docs/guides/tide.md`" in project.cure("sed -n 1,40p docs/tide.md", error=error)
