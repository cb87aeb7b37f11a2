"""Readers never cut a secret in two when they shorten a text: the rules do not recognise half of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pastchats_memory.formats.base.tools import (
    COMMAND_LENGTH,
    HEAD_LENGTH,
    LABEL_LENGTH,
    TAIL_LENGTH,
    ToolResult,
    cut_middle,
    list_rows,
    parse_call,
)
from pastchats_memory.redact import redact
from pastchats_memory.text.truncate import OUTPUT_HEAD, OUTPUT_TAIL, truncate_middle

TOKEN = "glpat-q7Rw2Xc9Lm4Tz8Vb1NfK"  # noqa: S105 - nobody's
LINE = "a line of what was put out\n"
FILLED = LINE * 200
WRITTEN = (
    f"export TOKEN={TOKEN} ",
    'curl -H "Authorization: Bearer k7Tz4Vb8Nc1Rw6Ly3Hd5Js0P" ',
    "the password is k7Tz4Vb8Nc1Rw6Ly3Hd5Js0P now ",
    '{"password":"k7Tz4Vb8Nc1Rw6Ly3Hd5Js0P","b":2} ',
)


def pieces(written: str) -> Iterator[str]:
    secret = TOKEN if TOKEN in written else "k7Tz4Vb8Nc1Rw6Ly3Hd5Js0P"
    yield from (secret[at : at + 8] for at in range(len(secret) - 7))


def heading(text: str) -> str:
    [(_, _, row)] = list_rows(parse_call("Bash", {"command": text}), ToolResult("boom", 1, failed=True))
    return row


def label(text: str) -> str:
    return parse_call("Task", {"description": text}).label


@pytest.mark.promise("secrets", "Secrets are removed from tool output whose middle is cut.")
@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(
    ("cut", "length"),
    [(truncate_middle, OUTPUT_HEAD), (cut_middle, HEAD_LENGTH), (heading, COMMAND_LENGTH), (label, LABEL_LENGTH)],
)
def test_no_piece_of_a_secret_stands_before_what_is_left_out(
    cut: Callable[[str], str], length: int, written: str
) -> None:
    for before in range(length - len(written) - 8, length + 2, 3):
        left = redact(cut(FILLED[:before] + written + FILLED)).text
        assert not [piece for piece in pieces(written) if piece in left], left


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(("cut", "length"), [(truncate_middle, OUTPUT_TAIL), (cut_middle, TAIL_LENGTH)])
def test_no_piece_of_a_secret_stands_behind_what_is_left_out(
    cut: Callable[[str], str], length: int, written: str
) -> None:
    for behind in range(length - len(written) - 8, length + 2, 3):
        left = redact(cut(FILLED + written + FILLED[:behind])).text
        assert not [piece for piece in pieces(written) if piece in left], left


def test_a_long_path_keeps_its_whole_folders() -> None:
    path = "/home/ada/" + "/".join(f"folder{number}" for number in range(20))
    shown = label(path)
    assert shown.startswith("Task /home/ada/folder0/")
    assert shown.endswith("/…")
