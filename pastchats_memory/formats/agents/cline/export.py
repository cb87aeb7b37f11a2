"""Markdown that Cline and its forks export: the messages for the model, each below the name of its role."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from pastchats_memory.formats.agents.cline.model_messages import CWD, DIALECT, PLUMBING, ModelMessages, is_tagged
from pastchats_memory.formats.base.dialect import Dialect
from pastchats_memory.formats.base.markdown_dialogue import MarkdownDialogue, Section
from pastchats_memory.formats.base.session import SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import Json

_SPEAKER = re.compile(r"\*\*(User|Assistant):\*\*\s*\Z")
_RULE = "---"
_CALL = re.compile(r"^\[Tool Use: ([\w.:/-]{1,80})\]$", re.MULTILINE)
_KEY = re.compile(r"^([A-Z]\w{0,40}): ?", re.MULTILINE)
_NAMED = r"\[\w{1,40}(?: for '[^\n]{0,400}')?\] Result:"
_RESULT = re.compile(rf"^\[(?:Tool|[a-z_]{{1,40}})( \(Error\))?\]$\n?(?:{_NAMED}\n?)?", re.MULTILINE)
_BLOCK = re.compile(rf"^(?={PLUMBING.pattern}|{_NAMED})", re.MULTILINE)
"""The beginning of a block, whose end the export does not mark."""


def is_export(source: SourceFile) -> bool:
    """Return whether a Markdown file begins with a role's name, and a message has Cline's tags."""
    messages = source.head.lstrip().split("**User:**") if source.shape == "markdown" else []
    is_named = bool(messages) and (not messages[0] or messages[0].startswith("**Assistant:**"))
    return is_named and any(is_tagged({"role": "user", "content": text}) for text in messages[1:])


class Export(MarkdownDialogue[Section]):
    """The messages of an export."""

    def start(self) -> None:
        """Begin to read, without a call."""
        super().start()
        self._messages = ModelMessages(self.builder)
        self._waiting: list[str] = []
        """The ids of the calls of the last answer, whose results follow in their order."""

    def session_info(self) -> SessionInfo:
        """Return the hash of the first words as the id, and the working directory from the first context."""
        found = CWD.search(self.source.head)
        return replace(super().session_info(), cwd=found[1] if found else None)

    @staticmethod
    def dialect() -> Dialect:
        """Return Cline's spellings."""
        return DIALECT

    def sections(self) -> Iterator[Section]:
        """Yield the messages. A fence that an answer leaves open ends with it."""
        found = ((place, _SPEAKER.match(line)) for place, line in enumerate(self.lines))
        speakers = [(place, speaker[1]) for place, speaker in found if speaker and self._is_below_rule(place)]
        for (place, name), (end, _) in pairwise([*speakers, (len(self.lines), "")]):
            text = "\n".join(self.lines[place + 1 : end]).strip()
            yield Section(name.lower(), place + 1, text.removesuffix(_RULE).rstrip())

    def _is_below_rule(self, place: int) -> bool:
        above = [line for line in self.lines[max(0, place - 2) : place] if line.strip()]
        return not above or above[-1] == _RULE

    def add_section(self, section: Section) -> None:
        """Add a message with its blocks."""
        add = self._call_blocks if section.name == "assistant" else self._result_blocks
        message = {"role": section.name, "content": [*add(section)]}
        self._messages.add_message(message, section.line)

    def _call_blocks(self, section: Section) -> Iterator[Json]:
        """Yield the words, and each call with one key a line, up to the next call."""
        words, *calls = _CALL.split(section.text)
        yield {"type": "text", "text": words}
        self._waiting = [f"{section.line}.{number}" for number in range(len(calls) // 2)]
        for call_id, name, listed in zip(self._waiting, calls[::2], calls[1::2], strict=True):
            keys = _KEY.split(listed)[1:]
            given = {key.lower(): value.strip() for key, value in zip(keys[::2], keys[1::2], strict=True)}
            yield {"type": "tool_use", "id": call_id, "name": name, "input": given}

    def _result_blocks(self, section: Section) -> Iterator[Json]:
        """Yield the text, and each result of the calls before."""
        words, *results = _RESULT.split(section.text) if self._waiting else [section.text]
        yield from _text_blocks(words)
        for failed, text in zip(results[::2], results[1::2], strict=True):
            result, *behind = _BLOCK.split(text)
            call_id = self._waiting.pop(0) if self._waiting else ""
            yield {"type": "tool_result", "tool_use_id": call_id, "content": result.strip(), "is_error": bool(failed)}
            yield from _text_blocks("".join(behind))


def _text_blocks(text: str) -> Iterator[Json]:
    return ({"type": "text", "text": block.strip()} for block in _BLOCK.split(text))
