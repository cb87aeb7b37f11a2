import pytest

from pastchats_memory.formats.agents.claude_code.dialect import parse_prompt
from pastchats_memory.formats.agents.codex.dialect import strip_context
from pastchats_memory.formats.base.tools import ToolCall, ToolResult, list_rows, parse_call, parse_result
from pastchats_memory.formats.base.turns import MOST_TOOLS, PendingTurn, TurnQueue
from pastchats_memory.formats.registry import any_dialect
from pastchats_memory.text.shell import is_editor


@pytest.mark.parametrize(
    "arguments", [None, 7, [], {"command": 7}, {"command": [[]]}, "{broken", '["x"]', '{"command":{}}']
)
def test_a_call_with_strange_arguments_still_has_its_name(arguments):
    assert parse_call("shell", arguments).label.startswith("shell")


@pytest.mark.parametrize(
    "value", [None, 7, [], [7], {}, {"content": 7}, "", '{"output":7}', '{"metadata":{"exit_code":true}}']
)
def test_a_strange_answer_is_no_finding(value):
    assert list_rows(ToolCall("shell"), parse_result(value)) == []


@pytest.mark.parametrize("command", [["apply_patch", "{}"], ["bash", "-lc", "apply_patch <<'EOF'\n{}\nEOF"]])
def test_a_patch_that_a_shell_applies_is_a_change_of_its_files(command):
    patch = "*** Begin Patch\n*** Update File: src/cart.ts\n@@\n-a\n+b\n*** End Patch"
    call = parse_call("shell", {"command": [word.format(patch) for word in command]})
    assert is_editor(call.name)
    assert call.label.endswith(" src/cart.ts")
    assert call.command == ""


@pytest.mark.parametrize(
    "command", [["bash", "-lc", "ls src"], ["powershell.exe", "-NoLogo", "-NoProfile", "-Command", "ls src"]]
)
def test_the_shell_around_a_command_is_left_out(command):
    assert parse_call("shell", {"command": command}).command == "ls src"


def test_an_answer_that_only_begins_as_json_is_kept_as_it_is():
    assert parse_result('{"output": torn').text == '{"output": torn'


def test_a_stored_result_is_short_and_has_beginning_and_end():
    kept = list_rows(
        ToolCall("Bash", "pytest " + "-k x" * 500),
        ToolResult("first line\n" + "x" * 100_000 + "\nlast line", 1, failed=True),
    )
    [(_, kind, text)] = kept
    assert kind == "error"
    assert len(text) <= 1000
    assert "first line" in text
    assert text.endswith("last line")


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>" * 100_000, "<system-reminder></system-reminder>" * 50_000, "</ide_selection>" * 100_000,
        "<ide_selection></ide_selection>" * 50_000, "<ide_selection>" * 100_000, "<command-name>" * 100_000, "<" * 1_000_000,
        " " * 1_000_000 + ">", "</" * 500_000 + ">", "# x\n" * 250_000,
    ],
    ids=range(10),
)  # fmt: skip
def test_a_hostile_megabyte_is_unwrapped(text):
    parse_prompt(text)
    strip_context(text)


def test_the_files_of_a_patch_are_what_the_call_is_about():
    patch = "*** Begin Patch\n*** Update File: glaze.py\n@@\n-cold\n+warm\n*** Add File: rim.py\n+1\n*** End Patch"
    labels = [parse_call("apply_patch", given).label for given in ({"patchText": patch}, {"input": patch}, patch)]
    assert labels == ["apply_patch glaze.py, rim.py"] * 3


def test_the_reason_of_a_refusal_is_the_words_of_the_person():
    push = ToolCall("bash git push", "git push")
    refused = "The user rejected permission to use this specific tool call"
    kept = list_rows(
        push, ToolResult(f"{refused} with the following feedback: not on a Friday", failed=True), any_dialect()
    )
    refusal = ("tool", "result", "$ git push\nRefused by the user.")
    assert kept == [refusal, ("user", "answer", "not on a Friday")]
    assert list_rows(push, ToolResult(f"{refused}.", failed=True), any_dialect()) == [refusal]


@pytest.mark.parametrize(
    "answer",
    [
        "No changes to apply: oldString and newString are identical.", "Could not find oldString in glaze.py.",
        "The user has specified a rule which prevents you from using this specific tool call.", "Tool execution interrupted",
        "The user dismissed this question",
    ],
)  # fmt: skip
def test_internal_client_messages_are_no_results(answer):
    assert list_rows(ToolCall("edit glaze.py"), ToolResult(answer, failed=True), any_dialect()) == []


def test_a_check_without_output_passed_and_is_stored():
    assert list_rows(ToolCall("Bash", "npx tsc --noEmit"), ToolResult("", 0)) == [
        (
            "tool",
            "result",
            "$ npx tsc --noEmit",
        )
    ]
    assert list_rows(ToolCall("Bash", "npm install"), ToolResult("", 0)) == []


def test_a_command_that_fails_without_a_word_is_kept_unless_it_only_looks():
    assert list_rows(ToolCall("Bash", "curl -s localhost"), ToolResult("", 7, failed=True)) == [
        (
            "tool",
            "error",
            "$ curl -s localhost\nExit code 7",
        )
    ]
    assert list_rows(ToolCall("Bash", "grep -rn x src"), ToolResult("", 1, failed=True)) == []


def test_a_command_that_works_after_it_failed_is_kept_once():
    drafts, call = TurnQueue(), ToolCall("Bash pip install -e .", "pip install -e .")
    assert drafts.list_rows(call, ToolResult("Successfully installed", 0)) == []
    assert drafts.list_rows(call, ToolResult("no backend", 1, failed=True)) == [
        (
            "tool",
            "error",
            "$ pip install -e .\nExit code 1\nno backend",
        )
    ]
    assert drafts.list_rows(call, ToolResult("Successfully installed", 0)) == [
        (
            "tool",
            "result",
            "$ pip install -e .\nSuccessfully installed",
        )
    ]
    assert drafts.list_rows(call, ToolResult("Successfully installed", 0)) == []


def test_the_last_calls_are_noted_in_the_order_in_which_they_were_made_last():
    drafts = TurnQueue()
    drafts.add(PendingTurn("assistant", "answer", 1, ["On with it."]))
    others = [f"Read {number}.py" for number in range(MOST_TOOLS - 2)]
    for label in ("pytest", "Edit a.py", "pytest", *others, "git commit"):
        drafts.add_tool(ToolCall(label))
    (turn,) = drafts.flush()
    assert turn.metadata["tools"] == ["pytest", *others, "git commit"]


def test_a_made_edit_stays_noted_after_a_refusal_in_the_same_words():
    drafts, edit = TurnQueue(), ToolCall("Edit a.py")
    drafts.add(PendingTurn("assistant", "answer", 1, ["I edit it."]))
    drafts.add_tool(edit)
    drafts.add(PendingTurn("assistant", "answer", 2, ["And once more."]))
    drafts.list_rows(edit, ToolResult("not found", failed=True))
    for output in (ToolResult("edited"), ToolResult("not found", failed=True)):
        drafts.add_tool(edit)
        drafts.list_rows(edit, output)
    assert [turn.metadata["tools"] for turn in drafts.flush()] == [["Edit a.py"], ["Edit a.py"]]


@pytest.mark.parametrize("tool", ["str_replace_editor", "developer__text_editor", "file_editor", "fs_write", "editor"])
def test_commands_of_an_edit_tool_are_named_and_are_no_shell_commands(tool: str) -> None:
    view = parse_call(tool, {"command": "view", "path": "/home/ada/door.py"}, any_dialect())
    assert (view.label, view.command) == ("view /home/ada/door.py", "")
    edit = parse_call(tool, {"command": "str_replace", "path": "door.py", "old_str": "x"}, any_dialect())
    assert edit.label == "str_replace door.py"
    assert is_editor("str_replace")
    assert not is_editor("view")


def test_a_file_is_what_a_call_is_about_however_its_key_is_spelled() -> None:
    for key in ("file_path", "filePath", "filepath", "filename", "target_file", "file"):
        assert parse_call("edit_file", {"content": "x", key: "door.py"}).label == "edit_file door.py"


def test_the_end_of_a_background_command_is_kept_where_its_client_asks_for_it():
    ended = ToolResult("57 passed in 4.10s")
    for label in ("BashOutput b1f2c3", "TaskOutput 7", "write_stdin"):
        assert list_rows(ToolCall(label), ended, any_dialect()) == [
            (
                "tool",
                "result",
                f"{label}\n57 passed in 4.10s",
            )
        ]
    assert list_rows(ToolCall("Read pytest.log"), ended) == []


def test_a_failure_that_a_pipe_hides_is_an_error_until_the_command_works():
    drafts = TurnQueue()
    call = ToolCall("Bash", "./load.sh | tail -3")
    assert drafts.list_rows(call, ToolResult("IndexError: list index out of range"))[0][1] == "error"
    assert drafts.list_rows(call, ToolResult("loaded 12 rows"))[0][1] == "result"
    assert drafts.list_rows(call, ToolResult("loaded 12 rows")) == []
