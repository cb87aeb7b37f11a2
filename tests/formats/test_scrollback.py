"""Whose words stand on a screen, where its signs are like another client's."""

import pytest
from golden import turns

from pastchats_memory.formats.markdown.terminal import SCROLLBACK
from pastchats_memory.formats.markdown.terminal.boxes import has_boxes
from pastchats_memory.text.shell import is_editor

BARRED = """▌ hold() is to return kelvins.

• Edited kiln.py (+1 -1)

> It adds the offset.

▌ Now the relay.
{below}"""


def write_screen(folder, text):
    screen = folder / "screen.txt"
    screen.write_text(text, encoding="utf-8")
    return [(turn.role, turn.content) for turn in turns(SCROLLBACK, screen)]


@pytest.mark.parametrize(
    "below", ["", "Token usage: total=200,332", "\n  ⏎ send   ⌃J newline   ⌃C quit"], ids=["nothing", "text", "keys"]
)
def test_the_input_line_of_earlier_codex_was_not_sent(tmp_path, below):
    asked = [content for role, content in write_screen(tmp_path, BARRED.format(below=below)) if role == "user"]
    assert asked == ["hold() is to return kelvins."]


def test_an_input_with_output_below_it_was_sent(tmp_path):
    asked = [
        content for role, content in write_screen(tmp_path, BARRED.format(below="\n> It sticks.\n")) if role == "user"
    ]
    assert asked == ["hold() is to return kelvins.", "Now the relay."]


@pytest.mark.parametrize(
    ("spelled", "command"),
    [
        (r"dir \"C:\\kilns\"", r'dir "C:\kilns"'),
        (r"dir C:\Users\kilns", r"dir C:\Users\kilns"),
        (r"echo \ud83d", "echo \ufffd"),
    ],
    ids=["escaped", "bare", "half a character"],
)
def test_a_command_that_is_spelled_as_json_on_geminis_screen_is_read_as_far_as_it_is_json(tmp_path, spelled, command):
    screen = tmp_path / "screen.txt"
    edge = "─" * 60
    screen.write_text(
        f'> Where are the kilns?\n╭{edge}╮\n│ ✔ Shell {{"command":"{spelled}"}} │\n╰{edge}╯\n✦ There.\n',
        encoding="utf-8",
    )
    assert [turn.metadata.get("tools") for turn in turns(SCROLLBACK, screen)] == [None, [f"Shell {command}"]]


CODEX = """› Show subtasks below their task.

• I look at the list first.

• Ran git status --short
{output}

• Edited tasks.py (+26 -14)
    361
    362 -        orphans = []

• Subtasks stand below their task.
"""


@pytest.mark.parametrize("output", ["└ M notes.md\n?? a.txt", "    … +35 lines\n    ?? a.txt", "  └ M notes.md"])
def test_command_output_on_a_codex_screen_is_no_answer(tmp_path, output):
    assert write_screen(tmp_path, CODEX.format(output=output)) == [
        ("user", "Show subtasks below their task."),
        ("assistant", "I look at the list first."),
        ("assistant", "Subtasks stand below their task."),
    ]


def test_the_files_that_codex_changed_are_named_however_many_they_are(tmp_path):
    several = "• Edited 2 files (+3 -1)\n  └ src/till.py (+2 -1)\n    1 -a\n    1 +b\n  └ a b.md (+1 -0)\n    1 +c\n"
    screen = f"› Mend the till.\n\n• I look.\n\n{several}\n• Added one.py (+1 -0)\n    1 +d\n\n• Mended:\n\n  └ none.py (+9 -9)\n"
    write_screen(tmp_path, screen)
    tools = [tool for turn in turns(SCROLLBACK, tmp_path / "screen.txt") for tool in turn.metadata.get("tools", [])]
    assert tools == ["Edited src/till.py, a b.md", "Added one.py"]


def test_a_tree_in_an_answer_is_no_output(tmp_path):
    tree = "› What is in it?\n\n• Three files:\n\nsrc\n└ app\n  … +2 lines\n\nThat is all.\n\n› Thanks.\n\n• Welcome.\n"
    assert write_screen(tmp_path, tree)[1] == ("assistant", "Three files:\n\nsrc\n└ app\n… +2 lines\n\nThat is all.")


def test_a_prompt_that_was_copied_with_the_sign_before_each_of_its_lines_is_one(tmp_path):
    first = "> Some engineers think that the session might not be entirely necessary"
    screen = (
        f"{first}\n> given the plain requests. What do you think?\n\n⏺ It is not.\n\n> Then drop it.\n\n⏺ Dropped.\n"
    )
    asked = [content for role, content in write_screen(tmp_path, screen) if role == "user"]
    assert asked == [f"{first[2:]}\ngiven the plain requests. What do you think?", "Then drop it."]


def test_a_list_that_claude_code_writes_is_no_words_and_no_edit_wherever_it_stands(tmp_path):
    listed = "  ⎿  ☐ Move the invitation\n"
    screen = f"> I need no invitation.\n\n  Update Todos\n{listed}\n⏺ You are right.\n\n  Update Todos\n{listed}\n⏺ (no content)\n  It is gone.\n"
    assert write_screen(tmp_path, screen) == [
        ("user", "I need no invitation."),
        ("assistant", "You are right."),
        ("assistant", "It is gone."),
    ]
    tools = [tool for turn in turns(SCROLLBACK, tmp_path / "screen.txt") for tool in turn.metadata.get("tools", [])]
    assert not any(is_editor(tool.partition(" ")[0]) for tool in tools)


def test_quotation_bars_of_another_screen_leave_prompts_alone(tmp_path):
    messages = write_screen(
        tmp_path, "> What does the manual say?\n\n⏺ It says:\n\n▌ Degrees.\n\n> Thanks.\n\n⏺ Welcome.\n"
    )
    assert [content for role, content in messages if role == "user"] == ["What does the manual say?", "Thanks."]


def test_text_far_below_a_prompt_is_not_part_of_it(tmp_path):
    shown = write_screen(
        tmp_path, "❯ Now the relay.\n\n\n\n\n  12:30  kiln\n\n⏺ It sticks.\n\n❯ Thanks.\n\n⏺ Welcome.\n"
    )
    assert shown[0] == ("user", "Now the relay.")


def test_a_prompt_has_paragraphs_of_its_own_and_none_of_the_clients(tmp_path):
    below = "⏺ It does.\n\n❯ Thanks.\n\n⏺ Welcome.\n"
    shown = write_screen(
        tmp_path, f"❯ Now the relay.\n\n\n  It sticks.\n\n✻ Thinking… (12s · esc to interrupt)\n\n{below}"
    )
    assert shown[0] == ("user", "Now the relay.\n\n\nIt sticks.")
    shown = write_screen(tmp_path, f"❯ Now the relay.\n\n  Bash(make relay)\n  ⎿  built\n\n{below}")
    assert shown[0] == ("user", "Now the relay.")


def test_a_call_below_what_another_one_answered_may_have_lost_its_sign(tmp_path):
    shown = write_screen(
        tmp_path,
        "❯ Test it.\n\n⏺ Bash(make test)\n  ⎿  2 passed in 0.1s\n\n  Bash(make relay)\n  ⎿  Error: Exit code 2\n     boom\n\n⏺ No.\n",
    )
    assert shown[1:3] == [("tool", "$ make test\n2 passed in 0.1s"), ("tool", "$ make relay\nExit code 2\nboom")]


def test_an_answer_above_the_rule_of_the_input_line_is_one(tmp_path):
    shown = write_screen(
        tmp_path, "❯ Test it.\n\n⏺ Now?\n\n❯ Now.\n\n⏺ It holds.\n\n────────────\n❯ Thanks.\n────────────\n"
    )
    assert shown[2:] == [("user", "Now."), ("assistant", "It holds.")]


def test_folds_below_a_result_are_no_message(tmp_path):
    messages = write_screen(
        tmp_path,
        "❯ Test it.\n\n⏺ Bash(make test)\n  ⎿  … +9 lines (ctrl+o to expand)\n     1 failed in 0.1s\n  Read 3 files (ctrl+o to expand)\n\n⏺ No.\n",
    )
    assert [content for _, content in messages if "Read 3" in content] == []
    assert ("assistant", "No.") in messages


def test_a_command_that_the_person_ran_is_theirs_and_what_came_of_it_is_known(tmp_path):
    shown = write_screen(
        tmp_path,
        "❯ Hi.\n\n⏺ Hi!\n\n! make test    \n  ⎿  1 failed in 0.1s\n\n⏺ One fails.\n\n! A mark\n\n❯ Thanks.\n\n⏺ Welcome.\n",
    )
    assert shown[2:5] == [
        ("user", "! make test"),
        ("tool", "$ make test\n1 failed in 0.1s"),
        ("assistant", "One fails.\n\n! A mark"),
    ]


def test_notices_of_the_client_are_no_answer(tmp_path):
    messages = write_screen(
        tmp_path,
        "❯ Hi.\n\n⏺ Hi!\n\n※ recap: You said hi;\n  next is work.\n\n❯ Go.\n\n⏺ Gone.\n\n✻ Conversation compacted (ctrl+o for history)\n\n❯ Thanks.\n\n⏺ Welcome.\n",
    )
    assert [content for role, content in messages if role == "assistant"] == ["Hi!", "Gone.", "Welcome."]


def test_only_a_screen_of_gemini_clis_has_calls_in_boxes():
    box = [" ╭──────────────────╮", " │ ✔  Shell make   │", " ╰──────────────────╯"]
    assert has_boxes(["✦ I build it.", *box])
    assert not has_boxes(["● I build it.", *box])
    assert not has_boxes(["● I build it.", "✦ a star", *box])


def test_text_below_a_first_input_line_keeps_its_place(tmp_path):
    write_screen(tmp_path, "  95% left · ~/kiln\n› light it\n\n• It is lit.\n\n› and now\n\n• It burns.\n\n› typed\n")
    assert [(turn.role, turn.line) for turn in turns(SCROLLBACK, tmp_path / "screen.txt")] == [
        ("user", 2), ("assistant", 4), ("user", 6), ("assistant", 8), ("user", 10),
    ]  # fmt: skip
