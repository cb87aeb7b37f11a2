"""GitHub Copilot's own spellings, in VS Code and on the command line."""

import re

from pastchats_memory.formats.base.dialect import COMMON, Dialect, UserText
from pastchats_memory.formats.base.questions import Answers, Questions

_BUTTON = re.compile(r'@agent (?:Try Again|(?:Continue|Enable|Try Again): "[^"\n]{0,300}")\Z')
"""A prompt that VS Code wrote when the person pressed a button at one of its own questions."""
_CHOICES = ("User selected:", "User responded:", "The user responded:")


def parse_prompt(text: str) -> UserText:
    """Return nothing of a text that VS Code wrote for a pressed button, and all of any other."""
    return UserText() if _BUTTON.match(text.strip()) else UserText(text)


def parse_choice(questions: Questions, text: str) -> Answers | None:
    """Parse `User selected: answer`, the answer to the first question."""
    choice = next((text.removeprefix(opening) for opening in _CHOICES if text.startswith(opening)), None)
    return [(questions[0][1], choice)] if questions and choice is not None else None


DIALECT = COMMON | Dialect(prompts=(parse_prompt,), answers=(parse_choice,))
