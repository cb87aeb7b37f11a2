"""What Gemini CLI and its forks save of a chat by `/chat save` and `/chat share`: what the model was sent, as JSON or as Markdown.

There are neither ids nor times; the calls of tools have the moment in theirs, and the first message tells of the day and the folder.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from pastchats_memory.formats.agents.gemini.content import (
    TAKEN_NOTES,
    add_prompt,
    join_responses,
    strip_context,
    visible_text,
)
from pastchats_memory.formats.agents.gemini.dialect import DIALECT
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import (
    SAMPLE_RECORDS,
    Element,
    Json,
    Places,
    SourceFile,
    list_of,
    mapping_of,
    parse_json,
    text_of,
)
from pastchats_memory.model import Unreadable
from pastchats_memory.text.hashes import conversation_hash
from pastchats_memory.text.timestamps import LOCAL, iso_utc

HISTORY = "history"
"""The key of the messages in a checkpoint; older ones and shared ones are nothing but their list."""
ROLES = {"user": "user", "model": "assistant", "function": "user"}
SETTING_UP = "etting up the context for our chat"
SAVED = "checkpoint-"
RULE = "---"

_MARK = re.compile(
    "(?:\\A\\s*|(?<=\\n---\\n\\n))## (?:(USER) \U0001f9d1\u200d?\U0001f4bb|MODEL ✨)[ \\t\\r]*$", re.MULTILINE
)
_PART = re.compile(r"\*\*Tool (?:(Command)|Response)\*\*:\n```json\n(\{\n(?:  .*\n)*\})\n```")
_CALLED = re.compile(r"[-_](1\d{12})(?:[-_]|\Z)")
"""The moment in the id of a call."""
_TODAY = re.compile(r"Today's date is ([^\n]{6,60}?)(?: \(formatted|\.\n)")
_FOLDER = re.compile(
    r"(?:working in the (?:following )?director(?:y|ies):|\*\*Workspace Directories:\*\*)\s{0,8}(?:- )?([^\n]{1,1000})"
)


@dataclass(frozen=True, slots=True)
class _Message:
    role: str
    parts: list[Json]
    line: int
    """1-based, of its first words."""


def is_history(source: SourceFile) -> bool:
    """Whether the file is messages of a person and a model in parts, and nothing else, or begins as one that was shared as Markdown."""
    if source.shape == "markdown":
        return _MARK.match(source.head) is not None
    if source.shape != "json":
        return False
    outline = source.outline
    listed = (list_of(mapping_of(outline).get(HISTORY)) or list_of(outline))[:SAMPLE_RECORDS]
    return all(map(_is_message, listed)) and {"user", "model"} <= {mapping_of(item).get("role") for item in listed}


def _is_message(value: object) -> bool:
    fields = mapping_of(value)
    return (
        fields.keys() == {"role", "parts"}
        and text_of(fields["role"]) in ROLES
        and isinstance(fields["parts"], list)
        and all(isinstance(part, dict) for part in fields["parts"])
    )


def history_of(source: SourceFile) -> Iterator[Row]:
    """The turns in the order of the file, and what the tools answered that is worth a row."""
    builder = SessionBuilder(_about(source), DIALECT)
    for message in _messages(source):
        if isinstance(message, Unreadable):
            yield message
        else:
            _tell(builder, message)
            yield from builder.queue.pop_complete(0)
    yield from builder.flush()


def _about(source: SourceFile) -> SessionInfo:
    """Which conversation it is, by what was said first, and what the client told the model before that."""
    opening = [item for item in islice(_messages(source), SAMPLE_RECORDS) if isinstance(item, _Message)]
    told = [(message.role, visible_text(message.parts)) for message in opening]
    setup = next((words for _, words in told if SETTING_UP in words), "")
    said = ((role, strip_context(words) if role == "user" else words) for role, words in told)
    said = ((role, words) for role, words in said if words and words not in TAKEN_NOTES)
    folder = _FOLDER.search(setup)
    title = unquote(source.path.stem.removeprefix(SAVED)) if source.path.stem.startswith(SAVED) else ""
    return SessionInfo(
        conversation_hash(said), folder[1].strip() if folder else None, started=_day(setup), metadata={"title": title}
    )


def _day(setup: str) -> str | None:
    """The day that English words name, in whichever order."""
    found = _TODAY.search(setup)
    words = re.findall(r"\w+", found[1]) if found else []
    months = [place for place, name in enumerate(month_name) if name and name in words]
    numbers = {len(word) > 2: int(word) for word in words if word.isascii() and word.isdigit()}  # noqa: PLR2004 - a day, or a year
    if len(months) != 1 or len(numbers) != 2:  # noqa: PLR2004 - the day and the year
        return None
    return iso_utc(f"{numbers[True]:04}-{months[0]:02}-{numbers[False]:02}", LOCAL)


def _tell(builder: SessionBuilder, message: _Message) -> None:
    at = Position(message.line)
    words = visible_text(message.parts)
    if message.role == "user":
        add_prompt(builder, words, at, sum("inlineData" in part for part in message.parts))
    elif words not in TAKEN_NOTES:
        builder.add_answer(words, at)
    for key, call in _numbered(message.parts, "functionCall"):
        builder.add_call(key, text_of(call.get("name")), call.get("args"))
    for key, answer in _numbered(message.parts, "functionResponse"):
        moment = _CALLED.search(text_of(answer.get("id")))
        own = Position(message.line, moment[1] if moment else None)
        builder.add_result(key, join_responses([mapping_of(answer.get("response"))]), own)


def _numbered(parts: list[Json], kind: str) -> Iterator[tuple[str, Json]]:
    """The calls or answers of a message, each with its name and its place among those of the name: ids stand with answers alone."""
    counted: Counter[str] = Counter()
    for told in (mapping_of(part[kind]) for part in parts if kind in part):
        name = text_of(told.get("name"))
        yield f"{name} {counted[name]}", told
        counted[name] += 1


def _messages(source: SourceFile) -> Iterator[_Message | Unreadable]:
    if source.shape == "markdown":
        yield from _written(source.text)
        return
    below = (HISTORY,) if isinstance(source.outline, dict) else ()
    for item in source.elements(*below):
        if isinstance(item, Element) and _is_message(item.value):
            fields = mapping_of(item.value)
            parts = list(map(mapping_of, list_of(fields["parts"])))
            first = next((text for part in parts if (text := text_of(part.get("text")))), "")
            yield _Message(ROLES[text_of(fields["role"])], parts, Places(item.text, item.line).line(first))
        else:
            yield item if isinstance(item, Unreadable) else Unreadable(str(source.path), item.line, "no message")


def _written(text: str) -> Iterator[_Message]:
    """The messages of Markdown, each below its mark, with a rule before the next one."""
    marks = list(_MARK.finditer(text))
    line, counted = 1, 0
    for number, mark in enumerate(marks, start=1):
        end = marks[number].start() if number < len(marks) else len(text)
        body = text[mark.end() : end].rstrip().removesuffix(RULE)
        begun = mark.end() + len(body) - len(body.lstrip())
        line, counted = line + text.count("\n", counted, begun), begun
        yield _Message("user" if mark[1] else "assistant", list(_parts(body.strip())), line)


def _parts(body: str) -> Iterator[Json]:
    """The parts of a message, of which calls and answers are written as JSON behind the words."""
    at = 0
    for found in _PART.finditer(body):
        yield {"text": body[at : found.start()]}
        yield {"functionCall" if found[1] else "functionResponse": mapping_of(parse_json(found[2]))}
        at = found.end()
    yield {"text": body[at:]}
