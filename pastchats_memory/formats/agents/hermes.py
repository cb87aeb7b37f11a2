"""Read the database of Nous Research's Hermes Agent, and the sessions that it exports: one a line.

Messages have the form of OpenAI's API.

Source: `hermes_state.py` of github.com/NousResearch/hermes-agent. A compaction continues a long session in a new one, which
names the first as its parent, or in the same one. There the compacted messages stay, and the retained ones are repeated below.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from pastchats_memory.formats.base.chat_messages import add_message
from pastchats_memory.formats.base.dialect import COMMON, UserText
from pastchats_memory.formats.base.format import CERTAIN, Format, resume_with
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, texts_of
from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.formats.base.sqlite_sessions import SqliteSessions, Tables
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of, value_of
from pastchats_memory.model import Unreadable

DELEGATED = "subagent"
"""The source of a session that an agent started."""
ENCODED = "\0json:"
"""Mark before content that is JSON instead of plain text."""
COLUMNS = ("id", "timestamp", "active", "compacted", "role", "content", "tool_calls", "tool_call_id")
"""What is known of a message, in the database and in an export."""
EXPORTED = frozenset({"id", "source", "started_at", "parent_session_id", "messages"})
"""Keys of an exported session."""
LOGGED = frozenset({"session_id", "platform", "session_start", "messages"})
"""Keys of the log of one session, `session_<id>.json`."""

_SUMMARY = re.compile(r"\[CONTEXT COMPACTION(?: — REFERENCE ONLY)?\] Earlier turns |\[CONTEXT SUMMARY\]:")
"""The beginning of a summary, in any role."""
_SKILL = re.compile(r'\[(?:SYSTEM|IMPORTANT): The user has invoked the "([^"\n]{1,80})" skill(?: bundle)?,')
_AUTO_LOADED = re.compile(r'\[IMPORTANT: The "[^"\n]{1,80}" skill is auto-loaded\.')
INSTRUCTION = "The user has provided the following instruction alongside the skill invocation: "
NOTE = "\n\n[Runtime note:"
"""What stands before the person's words behind a skill, the last of its kind, and what may follow them."""
BUNDLED, LOADED = "\nUser instruction: ", "\n\n[Loaded as part of the "
"""The same before the skills of a bundle, the first of its kind."""
FOOTER = "then run them with the terminal tool using the absolute path."
"""The end of a skill that was loaded by itself; the person's words follow the last."""


class _Sessions(SqliteSessions):
    """The sessions in the database of Hermes."""

    tables: ClassVar[Tables] = {
        "sessions": frozenset({"id", "source", "parent_session_id"}),
        "messages": frozenset({"session_id", "role", "tool_calls"}),
    }

    def sessions(self) -> Iterator[SessionBuilder]:
        columns = ("id", "source", "parent_session_id", "title", "model", "cwd")
        for row in self.database.rows("sessions", columns, order=("started_at", "id")):
            session = dict(zip(columns, row, strict=True))
            where = {"session_id": text_of(session["id"])}
            yield _build_session(session, self.database.rows("messages", COLUMNS, where=where, order=("id",)))


def _build_session(
    session: Mapping[str, object], messages: Iterable[Sequence[object]], line: int = 1
) -> SessionBuilder:
    """Return the session with its messages, each once: a retained message is repeated after a compaction."""
    title, parent = text_of(session.get("title")), text_of(session.get("parent_session_id"))
    metadata: Json = {"title": title, "parent_conversation_id": parent}
    cwd = folder_of(session.get("cwd") or mapping_of(session.get("model_config")).get("cwd"))
    info = SessionInfo(text_of(session.get("id")), cwd, None, session.get("session_start"), metadata)
    builder = SessionBuilder(info)
    builder.model = text_of(session.get("model"))
    branch = "sidechain" if session.get("source") == DELEGATED else "main"
    compacted_messages: set[str] = set()
    for own_id, time, active, compacted, *message in messages:
        if compacted:
            compacted_messages.add(repr(message))
        elif active != 0 and repr(message) in compacted_messages:
            continue
        is_rewound = active == 0 and not compacted
        at = Position(line, time, "" if own_id is None else str(own_id), "abandoned" if is_rewound else branch)
        _add_message(builder, at, *message)
    return builder


def detect(source: SourceFile) -> int:
    """Return the confidence of a table layout or of exported sessions, or 0. Raises OSError."""
    is_log = source.shape == "json" and mapping_of(source.outline).keys() >= LOGGED
    return CERTAIN if is_log or any(map(_is_exported, source.sample)) else _Sessions.detect(source)


def _is_exported(record: Json) -> bool:
    messages = list_of(record.get("messages"))
    return record.keys() >= EXPORTED and all("tool_call_id" in mapping_of(message) for message in messages)


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns and tasks of one session after the other. Raises OSError."""
    if source.shape == "sqlite":
        yield from _Sessions.read(source)
        return
    log = mapping_of(source.document) if source.shape == "json" else {}
    for item in [Record(1, log | {"id": log.get("session_id")})] if log else source.records():
        if isinstance(item, Unreadable):
            yield item
        elif not isinstance(session := item.value, dict):
            yield Unreadable(str(source.path), item.line, f"a {type(session).__name__} instead of a session")
        else:
            rows = ([each.get(column) for column in COLUMNS] for each in objects_of(session.get("messages")))
            yield from _build_session(session, rows, item.line).flush()


def _add_message(
    builder: SessionBuilder, at: Position, role: object, encoded: object, calls: object, call_id: object
) -> None:
    text = text_of(encoded)
    content = value_of(text.removeprefix(ENCODED)) if text.startswith(ENCODED) else encoded
    if _SUMMARY.match(text):
        builder.add_turn("system", "summary", text, at)
    elif role == "user" and (typed := _parse_skill(text)) is not None:
        builder.add_prompt(typed.text, at, kind="command" if typed.is_command else "prompt")
    else:
        has_failed = bool(mapping_of(value_of(texts_of(content))).get("error"))
        message: Json = {"role": role, "content": content, "tool_call_id": call_id, "is_error": has_failed}
        add_message(builder, message, at)
    for call in objects_of(value_of(calls)):
        arguments = mapping_of(value_of((mapping_of(call.get("function")) or call).get("arguments")))
        builder.info.cwd = builder.info.cwd or folder_of(arguments.get("workdir"))
        builder.add_openai_call(call)


def _parse_skill(text: str) -> UserText | None:
    """Return what the person typed, `/skill words` or words, of a text with the skill; None for a text without."""
    if _AUTO_LOADED.match(text):
        return UserText(text.rpartition(FOOTER)[2].strip() if FOOTER in text else "")
    found = _SKILL.match(text)
    if found is None:
        return None
    prompt = text.partition(BUNDLED)[2].partition(LOADED)[0] if " skill bundle," in text else ""
    if not prompt and INSTRUCTION in text:
        prompt = text.rpartition(INSTRUCTION)[2].partition(NOTE)[0]
    return COMMON.parse_command(found[1], prompt)


# https://hermes-agent.nousresearch.com/docs/user-guide/cli
HERMES = Format("hermes", 8, detect, read, program="Hermes", resume=resume_with("hermes", "--resume"))
