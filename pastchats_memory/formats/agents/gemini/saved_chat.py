"""Chats that Gemini CLI saves by `/chat save` and `/chat share`: the messages for the model, as JSON or Markdown.

Messages have neither ids nor times; ids of calls contain the time, and the first message has the day and the folder.
"""

import re
from calendar import month_name
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import unquote

from pastchats_memory.formats.agents.gemini import content
from pastchats_memory.formats.agents.gemini.dialect import DIALECT
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.markdown_dialogue import MarkdownDialogue, Section
from pastchats_memory.formats.base.session import Position, SessionInfo
from pastchats_memory.formats.base.source import SAMPLE_RECORDS, Element, Places, SourceFile
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc

HISTORY = "history"
"""The key of the messages in a checkpoint; older and shared ones are a list of messages."""
ROLES = {"user": "user", "model": "assistant", "function": "user"}
SAVED = "checkpoint-"
RULE = "---"

_MARK = re.compile(
    "(?:\\A\\s*|(?<=\\n---\\n\\n))## (?:(USER) \U0001f9d1\u200d?\U0001f4bb|MODEL ✨)[ \\t\\r]*$", re.MULTILINE
)
_PART = re.compile(r"\*\*Tool (?:(Command)|Response)\*\*:\n```json\n(\{\n(?:  .*\n)*\})\n```")
_CALLED = re.compile(r"[-_](1\d{12})(?:[-_]|\Z)")
"""The time in the id of a call."""
_TODAY = re.compile(r"Today's date is ([^\n]{6,60}?)(?: \(formatted|\.\n)")


@dataclass(frozen=True, slots=True)
class _Message(Section):
    parts: list[Json] = field(default_factory=list)


def is_saved_chat(source: SourceFile) -> bool:
    """Return whether a file has messages in parts only, or begins like a chat shared as Markdown."""
    if source.shape == "markdown":
        return _MARK.match(source.head) is not None
    if source.shape != "json":
        return False
    outline = source.outline
    listed = (list_of(mapping_of(outline).get(HISTORY)) or list_of(outline))[:SAMPLE_RECORDS]
    return all(map(_is_message, listed)) and {"user", "model"} <= {mapping_of(item).get("role") for item in listed}


def _is_message(value: object) -> bool:
    fields = mapping_of(value)
    has_keys = fields.keys() == {"role", "parts"} and text_of(fields["role"]) in ROLES
    return has_keys and isinstance(parts := fields["parts"], list) and all(isinstance(part, dict) for part in parts)


class SavedChat(MarkdownDialogue[_Message]):
    """The messages of a saved chat, from Markdown or from JSON."""

    dialect = staticmethod(lambda: DIALECT)

    def session_info(self) -> SessionInfo:
        """Return the conversation by its first messages, with the facts in the context before them."""
        messages = [item for item in islice(self.sections(), SAMPLE_RECORDS) if isinstance(item, _Message)]
        setup = next((message.text for message in messages if content.SETTING_UP in message.text), "")
        typed = ((one.name, content.strip_context(one.text) if one.name == "user" else one.text) for one in messages)
        opening = ((role, words) for role, words in typed if words and words not in content.ACKNOWLEDGEMENTS)
        stem = self.source.path.stem
        title = unquote(stem.removeprefix(SAVED)) if stem.startswith(SAVED) else ""
        folder = content.find_workspace(setup)
        return SessionInfo(conversation_hash(opening), folder, started=_day(setup), metadata={"title": title})

    def sections(self) -> Iterator[_Message | Unreadable]:
        """Yield the messages."""
        source = self.source
        if source.shape == "markdown":
            yield from _parse_markdown(source.text)
            return
        below = (HISTORY,) if isinstance(source.outline, dict) else ()
        for item in source.elements(*below):
            if isinstance(item, Element) and _is_message(item.value):
                fields = mapping_of(item.value)
                parts = objects_of(fields["parts"])
                first = next((text for part in parts if (text := text_of(part.get("text")))), "")
                yield _make_message(ROLES[text_of(fields["role"])], parts, Places(item.text, item.line).line(first))
            else:
                yield item if isinstance(item, Unreadable) else Unreadable(str(source.path), item.line, "no message")

    def add_section(self, section: _Message) -> None:
        """Add a message with its calls and results."""
        builder, at = self.builder, Position(section.line)
        if section.name == "user":
            content.add_prompt(builder, section.text, at, sum("inlineData" in part for part in section.parts))
        elif section.text not in content.ACKNOWLEDGEMENTS:
            builder.add_answer(section.text, at)
        for key, call in _number_calls(section.parts, "functionCall"):
            builder.add_call(key, text_of(call.get("name")), call.get("args"))
        for key, answer in _number_calls(section.parts, "functionResponse"):
            moment = _CALLED.search(text_of(answer.get("id")))
            own = Position(section.line, moment[1] if moment else None)
            builder.add_result(key, content.join_responses([mapping_of(answer.get("response"))]), own)


def _make_message(role: str, parts: list[Json], line: int) -> _Message:
    return _Message(role, line, content.visible_text(parts), parts=parts)


def _day(setup: str) -> str | None:
    """Return the day in English words of any order."""
    found = _TODAY.search(setup)
    words = re.findall(r"\w+", found[1]) if found else []
    months = [place for place, name in enumerate(month_name) if name and name in words]
    numbers = {len(word) > 2: int(word) for word in words if word.isascii() and word.isdigit()}  # noqa: PLR2004 - a day, or a year
    if len(months) != 1 or len(numbers) != 2:  # noqa: PLR2004 - the day and the year
        return None
    return iso_utc(f"{numbers[True]:04}-{months[0]:02}-{numbers[False]:02}", LOCAL)


def _number_calls(parts: list[Json], kind: str) -> Iterator[tuple[str, Json]]:
    """Return calls or results with their name and number among equal names: only results have ids."""
    counted: Counter[str] = Counter()
    for responses in (mapping_of(part[kind]) for part in parts if kind in part):
        name = text_of(responses.get("name"))
        yield f"{name} {counted[name]}", responses
        counted[name] += 1


def _parse_markdown(text: str) -> Iterator[_Message]:
    """Yield the messages of a Markdown file, each below its mark and before a rule."""
    marks = list(_MARK.finditer(text))
    line, counted = 1, 0
    for number, mark in enumerate(marks, start=1):
        end = marks[number].start() if number < len(marks) else len(text)
        body = text[mark.end() : end].rstrip().removesuffix(RULE)
        begun = mark.end() + len(body) - len(body.lstrip())
        line, counted = line + text.count("\n", counted, begun), begun
        yield _make_message("user" if mark[1] else "assistant", list(_parts(body.strip())), line)


def _parts(body: str) -> Iterator[Json]:
    """Return the parts of a message; calls and results are JSON after the text."""
    at = 0
    for found in _PART.finditer(body):
        yield {"text": body[at : found.start()]}
        yield {"functionCall" if found[1] else "functionResponse": mapping_of(parse_json(found[2]))}
        at = found.end()
    yield {"text": body[at:]}
