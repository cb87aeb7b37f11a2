"""Read sessions of Mistral's Vibe.

Since version 3 a folder holds immutable chunks, and a journal of later changes. `CURRENT` names a generation, and its
manifest names the chunks with the entries of the history. The records of `journal` add entries or replace them. `meta.json` names
the working directory and stands for the folder. Version 2 kept messages of OpenAI's API beside it, and version 1 one document.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.chat_messages import add_message
from pastchats_memory.formats.base.format import CERTAIN, Companions, Format, resume_with
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, texts_of
from pastchats_memory.formats.base.sibling_files import is_sibling, read_sibling, read_sibling_json
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult, parse_printed
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc

META, CURRENT, MESSAGES = "meta.json", "CURRENT", "messages.jsonl"
CHUNKS, GENERATIONS, JOURNAL = "chunks", "generations", "journal"
SUBAGENTS = "agents"
"""The folder of subagents in that of a session before version 3."""
DELTAS = ("append_entry", "replace_entry")
_NAME = re.compile(r"[0-9a-f]{8,64}")
"""Name of a generation or a chunk; it cannot lead out of the folder."""


def is_session(path: Path) -> bool:
    """Return whether a file stands for a session's folder. Raises OSError."""
    return path.name == META and is_sibling(path.with_name(CURRENT))


def read_with(path: Path) -> Iterator[Path]:
    """Yield the other files of a session that change with it. Raises OSError."""
    if is_session(path):
        yield path.with_name(CURRENT)
        yield from _journal(path.parent)
    elif path.name == MESSAGES:
        yield path.with_name(META)


def hidden_in(folder: str, names: Collection[str]) -> Collection[str]:
    """Return the names in a folder that belong to a session. Raises OSError."""
    place = Path(folder)
    if CURRENT in names and META in names:
        return [name for name in names if name != META]
    if MESSAGES in names and META in names:
        return [META]
    session = place.parent if place.name in (CHUNKS, JOURNAL) else place.parent.parent
    is_part = place.name in (CHUNKS, JOURNAL) or place.parent.name == GENERATIONS
    return names if is_part and is_session(session / META) else ()


def detect(source: SourceFile) -> int:
    """Return 90 for the file that stands for a session, else 0."""
    is_meta = source.shape == "json" and is_session(source.path) and "session_id" in mapping_of(source.outline)
    return CERTAIN if is_meta or (not is_session(source.path) and "session_id" in _facts_of(source)) else 0


def _facts_of(source: SourceFile) -> Json:
    """Return what a session before version 3 says of itself: in the file beside its messages, or above them."""
    if source.path.name == MESSAGES:
        return mapping_of(read_sibling_json(source.path.with_name(META)))
    document = mapping_of(source.outline) if source.shape == "json" else {}
    facts = mapping_of(document.get("metadata"))
    return facts if "messages" in document and "environment" in facts else {}


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in the order in which their entries began."""
    if not is_session(source.path):
        yield from _Messages.read(source)
        return
    meta = mapping_of(source.document)
    builder = SessionBuilder(_info_of(meta))
    builder.model = text_of(mapping_of(meta.get("config")).get("model_name"))
    entries, faults = _entries_of(source.path.parent)
    yield from faults
    for entry in entries.values():
        _add_entry(builder, entry)
        yield from builder.queue.pop_complete(0)
    yield from builder.flush()


def _info_of(meta: Json) -> SessionInfo:
    """Return the session's facts; times of versions before the third have no zone."""
    folder = mapping_of(meta.get("environment")).get("working_directory") or meta.get("working_dir")
    own_id, started = text_of(meta.get("session_id")), iso_utc(meta.get("start_time"), LOCAL)
    parent = text_of(meta.get("parent_session_id"))
    metadata: Json = {"title": text_of(meta.get("title")), "parent_conversation_id": parent}
    return SessionInfo(own_id or None, folder_of(folder), None, started, metadata)


class _Messages(AgentSession):
    """A session before version 3: messages of OpenAI's API."""

    record_noun = "a message"
    list_keys = ("messages",)

    def session_info(self) -> SessionInfo:
        return _info_of(_facts_of(self.source))

    def add_record(self, record: Json, line: int) -> None:
        self.builder.model = text_of(record.get("model")) or self.builder.model
        branch = "sidechain" if self.source.path.parent.parent.name == SUBAGENTS else "main"
        if record.get("injected") is not True:
            at = Position(line, record.get("timestamp"), text_of(record.get("message_id")), branch)
            add_message(self.builder, record, at)


def _entries_of(session: Path) -> tuple[dict[str, Json], list[Unreadable]]:
    """Return the latest state of each entry by id, and the journal's unreadable lines."""
    generation = text_of(mapping_of(parse_json(read_sibling(session / CURRENT))).get("generation"))
    manifest = mapping_of(_document(session / GENERATIONS, generation, "/manifest.json"))
    entries: dict[str, Json] = {}
    faults: list[Unreadable] = []
    for chunk in map(text_of, list_of(mapping_of(manifest.get("projection_state")).get("chunks"))):
        for entry in objects_of(_document(session / CHUNKS, chunk, ".json")):
            entries[text_of(entry.get("id"))] = entry
    for segment in _journal(session):
        for item in SourceFile(segment).records():
            if isinstance(item, Unreadable):
                faults.append(item)
                continue
            for delta in objects_of(mapping_of(mapping_of(item.value).get("payload")).get("delta")):
                if delta.get("op") in DELTAS:
                    entry = mapping_of(delta.get("entry"))
                    entries[text_of(entry.get("id"))] = entry
    return entries, faults


def _document(folder: Path, name: str, ending: str) -> object:
    return read_sibling_json(Path(f"{folder}/{name}{ending}")) if _NAME.fullmatch(name) else None


def _journal(session: Path) -> list[Path]:
    folder = session / JOURNAL
    return [path for path in sorted(folder.glob("*.jsonl")) if is_sibling(path)]


def _add_entry(builder: SessionBuilder, entry: Json) -> None:
    at = Position(1, entry.get("createdAt"), text_of(entry.get("id")))
    content = entry.get("content")
    match entry.get("type"), entry.get("role"):
        case "message", "user":
            builder.add_content(content, at)
        case "message", "assistant":
            builder.add_answer(texts_of(content), at)
        case "effect", _:
            detail, state = mapping_of(entry.get("detail")), mapping_of(entry.get("state"))
            builder.add_call(at.native_id, text_of(detail.get("toolName")).rpartition(".")[2], detail.get("input"))
            builder.add_result(at.native_id, _parse_result(state), Position(1, entry.get("updatedAt"), at.native_id))


def _parse_result(state: Json) -> ToolResult:
    """Return a tool result: the output of a command with its exit code, else text."""
    output = mapping_of(state.get("output"))
    failed = output.get("type") == "error" or state.get("status") == "failed"
    printed = parse_printed(mapping_of(output.get("structured_content")), failed=failed)
    fault = text_of(mapping_of(output.get("error")).get("message"))
    text = printed.text or texts_of(output.get("content")) or text_of(state.get("outputText")) or fault
    return replace(printed, text=text)


VIBE = Format(
    name="vibe",
    version=3,
    detect=detect,
    read=read,
    program="Mistral Vibe",
    companions=Companions((META, MESSAGES), read_with, hidden_in),
    resume=resume_with("vibe", "--resume"),  # deepwiki.com/mistralai/mistral-vibe/3.1-cli-interface-(vibe)
)
