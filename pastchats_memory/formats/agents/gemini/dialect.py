"""Gemini CLI's own spellings, and those of Qwen Code, which derives from it."""

import re

from pastchats_memory.formats.base.dialect import COMMON, Dialect, read_spellings
from pastchats_memory.formats.base.questions import Answers, Questions

_LINES = "User has provided the following answers:"
_LINE = re.compile(r"^\*\*([^*\n]{1,200})\*\*: ", re.MULTILINE)
_REJECTED, _STORED = "Plan rejected. User feedback:", "\n\nThe plan is stored at:"


def parse_lines(questions: Questions, text: str) -> Answers | None:
    """Parse a line `**heading**: answer` for each question, whose key is the heading."""
    if not questions or not text.startswith(_LINES):
        return None
    _, *parts = _LINE.split(text)
    words = dict(questions)
    return [(words.get(heading, heading), answer) for heading, answer in zip(parts[::2], parts[1::2], strict=True)]


def parse_feedback(_: Questions, text: str) -> Answers | None:
    """Parse what the person answered to a plan that they rejected; it has no question."""
    return [("", text.removeprefix(_REJECTED).partition(_STORED)[0])] if text.startswith(_REJECTED) else None


COMMANDS = frozenset(read_spellings(__file__)["commands"])
"""Commands that steer the client, besides those of other agents."""

DIALECT = COMMON | Dialect(commands=COMMANDS, answers=(parse_feedback, parse_lines))
