"""Whose words stand on a screen, where its signs are like another client's."""

import pytest
from golden import turns

from pastchats_memory.readers import scrollback

BARRED = """▌ hold() is to return kelvins.

• Edited kiln.py (+1 -1)

> It adds the offset.

▌ Now the relay.
{below}"""


def said(folder, text):
    screen = folder / "screen.txt"
    screen.write_text(text, encoding="utf-8")
    return [(turn.role, turn.content) for turn in turns(scrollback, screen)]


@pytest.mark.parametrize(
    "below", ["", "Token usage: total=200,332", "\n  ⏎ send   ⌃J newline   ⌃C quit"], ids=["nothing", "text", "keys"]
)
def test_what_stands_in_the_input_line_of_earlier_codex_was_not_sent(tmp_path, below):
    asked = [content for role, content in said(tmp_path, BARRED.format(below=below)) if role == "user"]
    assert asked == ["hold() is to return kelvins."]


def test_what_something_stands_below_was_sent(tmp_path):
    asked = [content for role, content in said(tmp_path, BARRED.format(below="\n> It sticks.\n")) if role == "user"]
    assert asked == ["hold() is to return kelvins.", "Now the relay."]


def test_a_bar_on_another_screen_is_a_quotations_and_its_prompts_stay_the_persons(tmp_path):
    told = said(tmp_path, "> What does the manual say?\n\n⏺ It says:\n\n▌ Degrees.\n\n> Thanks.\n\n⏺ Welcome.\n")
    assert [content for role, content in told if role == "user"] == ["What does the manual say?", "Thanks."]


def test_what_stands_far_below_a_prompt_is_no_paragraph_of_it(tmp_path):
    told = said(tmp_path, "❯ Now the relay.\n\n\n\n\n  12:30  kiln\n\n⏺ It sticks.\n\n❯ Thanks.\n\n⏺ Welcome.\n")
    assert told[0] == ("user", "Now the relay.")
