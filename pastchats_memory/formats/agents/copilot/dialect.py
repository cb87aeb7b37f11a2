"""GitHub Copilot's own spellings, in VS Code and on the command line."""

import re

from pastchats_memory.formats.base.dialect import COMMON, Dialect, UserText
from pastchats_memory.formats.base.questions import Answers, Questions

_BY_CLIENT = re.compile(
    r'@agent (?:Try Again|(?:Continue|Enable|Pause|Try Again): "[^"\n]{0,300}")\Z'
    r'|<skill-context name="[^"\n]{1,200}">.*</skill-context>\Z'
    r"|You have not yet marked the task as complete using the task_complete tool\.\s+(?:If you were planning|You must call)",
    re.DOTALL | re.IGNORECASE,
)
"""A prompt that the client wrote: for a pressed button, a loaded skill, or a task that the autopilot has not ended."""
_CHOICES = ("User selected:", "User responded:", "The user responded:")


def parse_prompt(text: str) -> UserText:
    """Return nothing of a text that the client wrote, and all of any other."""
    return UserText() if _BY_CLIENT.match(text.strip()) else UserText(text)


def parse_choice(questions: Questions, text: str) -> Answers | None:
    """Parse `User selected: answer`, the answer to the first question."""
    choice = next((text.removeprefix(opening) for opening in _CHOICES if text.startswith(opening)), None)
    return [(questions[0][1], choice)] if questions and choice is not None else None


DIALECT = COMMON | Dialect(prompts=(parse_prompt,), answers=(parse_choice,))
