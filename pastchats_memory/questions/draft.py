"""A question while it is read: what is left of it, and what the rest was taken for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from pastchats_memory.questions.reading import Reading


@dataclass(slots=True)
class Draft:
    """Each step takes what it knows out of the text and notes what that stands for."""

    question: str
    """As it was typed."""
    text: str
    """What is left of it, in small letters; a bar stands where something was taken."""
    today: date
    projects: Mapping[str, str] = field(default_factory=dict)
    """Names of those that there are, by their small letters."""
    reading: Reading = field(default_factory=Reading)

    def take(self, pattern: str) -> re.Match[str] | None:
        """Cut the first place where the pattern stands out of the text."""
        found = re.search(pattern, self.text)
        if found is not None:
            self.text = f"{self.text[: found.start()]} | {self.text[found.end() :]}"
        return found

    def note(self, **said: Any) -> None:
        """Fields of the reading."""
        self.reading = replace(self.reading, **said)

    def as_written(self, text: str) -> str:
        """Words of the text as they were typed, without quotation marks and an article."""
        at = self.question.lower().find(text)
        written = self.question[at : at + len(text)] if at >= 0 else text
        return re.sub(r"\A(?:the|a|an) ", "", written.strip(" \"'"), flags=re.IGNORECASE)
