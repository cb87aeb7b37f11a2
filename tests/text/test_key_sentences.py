"""The lines of an answer that a block keeps."""

import pytest

from pastchats_memory.text.key_sentences import key_sentences, list_lines

CODE = "```yaml\nkeepalive: 20\ntimeout: 30\nretries: 4\n```"


@pytest.mark.parametrize(
    "solution",
    [
        "Change `keepAlive` to `keepalive` (all in small letters):",
        "Set `keepalive` to 20 in the broker's section:",
        "1. Replace `keepAlive: 20` with this line:",
        "The fix is a setting in the section of the broker:",
    ],
)
def test_a_line_that_says_what_to_change_stays_although_it_opens_code(solution: str) -> None:
    described = "You have a wrong word in the section of the broker. It sits near the top of the file, under the names."
    answer = f"{described}\n{solution}\n{CODE}\nThe names are compared letter by letter, so they have to match."
    assert solution in key_sentences(answer, {"disconnect": 1.0}, 140)


def test_a_line_that_only_opens_what_follows_is_left_out() -> None:
    answer = f"Below is the section:\n{CODE}\nThe broker drops a silent client after its timeout, and then it has to log in again."
    assert "Below is" not in key_sentences(answer, {"broker": 1.0}, 120)


def test_a_line_of_code_that_only_opens_what_follows_is_left_out() -> None:
    code = "```\nconst kiln = openKiln({\n  glaze: 1060,\n});\nif kilnIsCold; then\n  lightKiln --glaze\nfi\n```"
    shown = key_sentences(f"{code}\n{'The shelf is long. ' * 30}", {"kiln": 1.0, "glaze": 1.0}, 60).split("\n")
    assert "const kiln = openKiln({" not in shown
    assert "if kilnIsCold; then" not in shown
    assert "  lightKiln --glaze" in shown


def test_the_columns_of_a_terminal_take_no_room() -> None:
    line = "The kiln is hot          no sandbox          97% left"
    assert [one.text for one in list_lines(line, {"kiln": 1.0})] == ["The kiln is hot  no sandbox  97% left"]


@pytest.mark.parametrize(
    "following",
    [
        "But the hall is colder now.", "Worse: the clay cracked twice.", "No change in the log of the kiln.",
        "That made it worse.", "It didn't help.", "Das half nicht.", "Pior: a argila rachou.",
    ],
)  # fmt: skip
def test_a_line_comes_with_the_next_one_that_contradicts_it(following: str) -> None:
    first, second = list_lines(f"I would try a thicker door for the kiln.\n{following}", {"door": 1.0})
    assert first.needs == (second.place,)


def test_a_line_that_the_next_one_does_not_contradict_stands_alone() -> None:
    assert list_lines("I built a thicker door.\nThat did it: the kiln holds its heat.", {"door": 1.0})[0].needs == ()
