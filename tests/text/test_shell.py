"""What a command is for, and how its output says that it ended."""

from __future__ import annotations

import pytest

from pastchats_memory.text.shell import classify_check, hides_failure, is_editor, is_read_only, is_shell


@pytest.mark.parametrize(
    "output",
    [
        "row 12\nIndexError: list index out of range",
        "npm error code ERESOLVE\nnpm error While resolving: shop@1.0.0",
        "HTTP/1.1 500 Internal Server Error\ncontent-type: text/html",
        '{"detail":"no such table"}\nHTTP 500',
        "built\nrc=2",
        "web1 : ok=3 changed=0 unreachable=0    failed=1",
        "╷\n│ Error: creating S3 Bucket\n│   with aws_s3_bucket.logs,\n╵",
        "Error: UPGRADE FAILED: another operation is in progress",
        "zsh: command not found: pyhton",
        "/bin/sh: line 3: pyhton: command not found",
        "pyhton : The term 'pyhton' is not recognized as the name of a cmdlet, function, script file\nAt line:1 char:1",
    ],
)
def test_an_output_that_ends_in_a_failure_is_known_though_a_pipe_hides_the_code(output: str) -> None:
    assert hides_failure("./run.sh | tail -3", output)
    assert not hides_failure("./run.sh", output), "its own exit code tells"


@pytest.mark.parametrize(
    "output",
    ["", "412", "404 rows copied", "status: 200", "HTTP/1.1 200 OK", "rc=0", "[main 1f0a2bc] Catch the TypeError", "failed=0", "0 errors"],
)  # fmt: skip
def test_numbers_and_words_of_failure_are_no_failure(output: str) -> None:
    assert not hides_failure("./run.sh | tail -3", output)


def test_a_command_that_describes_itself_or_sets_work_aside_is_no_check() -> None:
    for command in (
        "pytest --version",
        "mvn -version",
        "java -version; javac -version",
        "pytest --collect-only -q",
        "git stash && pytest -q; git stash pop",
    ):
        assert classify_check(command, "1 failed, 4 passed in 0.1s") is None, command
    for command in (
        "pytest --cov=shop --config-file a.ini",
        "node --version && npm test",
        "git stash pop && pytest -q",
    ):
        assert classify_check(command) == "test", command


def test_a_command_that_only_asks_for_a_state_is_read_only() -> None:
    for command in (
        "kubectl get pods | head",
        "gh run view 12",
        "docker logs web",
        "npm ls && cat package.json",
        "rg -o 'a|b' notes.md | grep -E 'bean|thyme|sag…",
    ):
        assert is_read_only(command), command
    for command in (
        "kubectl apply -f web.yaml",
        "gh pr merge 12",
        "npm install",
        "npm audit fix",
        "cd app\nmake deploy",
        "rg 'a|b' notes.md | xargs rm 'bean|thy…",
    ):
        assert not is_read_only(command), command


@pytest.mark.parametrize(
    "tool", ["Bash", "shell", "run_terminal_cmd", "run_terminal_command", "run_in_terminal", "runInTerminal", "run_terminal_command_v2", "developer__shell", "Execute",
             "exec_command", "execute_bash", "container.exec", "launch-process", "RunCommand", "PowerShell", "mcp__local__bash", "unified_exec", "run_commands"],
)  # fmt: skip
def test_a_tool_that_runs_a_command_is_known_by_the_words_of_its_name(tool: str) -> None:
    assert is_shell(tool)


@pytest.mark.parametrize(
    "tool", ["BashOutput", "kill_shell", "process", "read_terminal", "get_terminal_output", "write_stdin", "execute_code", "run", "Task", ""],
)  # fmt: skip
def test_a_tool_that_only_minds_commands_runs_none(tool: str) -> None:
    assert not is_shell(tool)


@pytest.mark.parametrize(
    "tool", ["Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", "str_replace_editor", "str_replace_based_edit_tool", "copilot_replaceString",
             "copilot_insertEditIntoFile", "mcp__fs__write_file", "replace_in_file", "write_to_file", "apply_diff", "edit_block", "create_file", "search_and_replace", "edit_file_v2", "fs_write", "delete_file", "move_file",
             "edit_existing_file", "single_find_and_replace", "save-file", "vscode_editFile_internal", "replace_symbol_body", "remove-files", "editor",
             "Edited", "Added", "Deleted"],
)  # fmt: skip
def test_a_tool_that_changes_files_is_known_by_the_words_of_its_name(tool: str) -> None:
    assert is_editor(tool)


@pytest.mark.parametrize(
    "tool", ["Read", "Bash", "Grep", "TodoWrite", "read_file", "search_files", "create_issue", "mcp__github__update_pull_request", "mcp__edit__read",
             "apply", "diff", "file_search", "semantic_search", "WebSearch", "write_memory", "",
             "view", "undo_edit", "write_stdin", "save_memory", "remove_label", "find_file", "Updated", "Called"],
)  # fmt: skip
def test_a_tool_that_changes_something_else_or_nothing_is_no_editor(tool: str) -> None:
    assert not is_editor(tool)


@pytest.mark.parametrize(
    "command", ["ls -la", "env", "env | grep PATH", "git branch -a", "git branch --show-current", "git remote -v", "find . -exec grep -l x {} +",
                "cd src && grep -rn x . | head", "git status; git diff", "cat a.py", "git log 2>&1 | grep 'fix|make' > /dev/null",
                "Get-ChildItem src -Recurse | Select-String todo", "Get-Content a.py | Select-Object -Last 3",
                r"""grep -E '"(lint|test)"' package.json | head; echo "== a && \"b\" || c" d"""],
)  # fmt: skip
def test_read_only_commands_are_recognised(command: str) -> None:
    assert is_read_only(command)


@pytest.mark.parametrize(
    "command", ["make test", "cd src && npm run build", "git commit -m x", "ls && pytest", "echo done > notes.txt", "cat a.py >> b.py",
                "env STAGE=live make deploy", "env make deploy", "env -u STAGE make deploy", "env -i STAGE=live make deploy", "find . -name '*.pyc' -delete", "find . -type d -exec rm -r {} +",
                "git branch -D old", "git branch new", "git remote add origin /srv/shop.git", "sort -u a -o a", "Get-Item a | Remove-Item", "sed -n -i 1,9p a.py"],
)  # fmt: skip
def test_changing_commands_are_recognised(command: str) -> None:
    assert not is_read_only(command)
