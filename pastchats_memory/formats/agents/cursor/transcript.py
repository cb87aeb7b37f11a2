"""Cursor's agent transcripts: JSONL, text with `user:` and `assistant:` on lines of their own, or `store.db`.

Messages have no ids. Newer versions write the minute before the prompt. Only text transcripts have tool results.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base import session
from pastchats_memory.formats.base.agent import AgentSession, Items
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.dialect import read_spellings
from pastchats_memory.formats.base.markdown_dialogue import MarkdownDialogue, Section
from pastchats_memory.formats.base.protobuf import text_at, values_of
from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.formats.base.sqlite_sessions import has_tables
from pastchats_memory.formats.base.tags import without_rim
from pastchats_memory.formats.base.tools import parse_result
from pastchats_memory.formats.base.values import BadJson, Json, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import iso_utc

_WORDS = read_spellings(__file__)
WRAPPERS = _WORDS["wrappers"]
"""Tags of context around a prompt."""
HIDDEN = "[REDACTED]"
FOLDER = "agent-transcripts"
ROLES = ("user", "assistant")
CLIENT_PROMPTS = _WORDS["client_prompts"]
"""Beginnings of prompts that Cursor sends when a subagent or a background task ends."""
PICTURE = "[Image]"
TABLES = {"blobs": frozenset({"id", "data"}), "meta": frozenset({"key", "value"})}
ABOUT, ROOT = "0", "latestRootBlobId"
MESSAGE, WORKSPACE = 1, 9
"""Fields of the root."""
HASH = 32
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>(?=[ \t]*(?:[<\n]|\Z))|<user_query>.*", re.DOTALL)
_TIME = re.compile(
    r"<timestamp>[^<\n]{0,20}?\b([A-Z][a-z]{2})[a-z]{0,6} (\d{1,2}),? (\d{4}),? (\d{1,2}):(\d\d)(?::\d\d)?(?:[ \u202f]([AP])M)?"
    r"(?: \(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\))?</timestamp>"
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S[^\n]{0,999})", re.MULTILINE)
_UNSPELLED = re.compile(r"[^A-Za-z0-9]+")
_MARKER = re.compile(r"\[(Thinking|Tool call|Tool result)\][ \t]*(.*)")


def matches(source: SourceFile) -> bool:
    """Return whether a file is JSONL with roles but no types, a text transcript, or a store."""
    if source.shape == "jsonl":
        messages = (record for record in source.sample if record.get("role") in ROLES and "type" not in record)
        return any(isinstance(mapping_of(each.get("message")).get("content"), list) for each in messages)
    if source.shape == "sqlite":
        return has_tables(source, TABLES) and any(
            isinstance(about, dict) for about in source.from_database(_find_roots)
        )
    return source.shape == "markdown" and _is_transcript(source)


def _is_transcript(source: SourceFile) -> bool:
    """Return whether a text begins with a role and has Cursor's marks or folder."""
    opening = source.head.lstrip().partition("\n")[0].strip()
    own = FOLDER in source.path.parts or "<user_query>" in source.head or "\n[Tool call] " in source.head
    return source.path.suffix == ".txt" and opening in ("user:", "assistant:") and own


def read(source: SourceFile) -> Iterator[session.Row]:
    """Yield the turns in file order, and unreadable lines. JSONL is read twice: a late call may show the folder."""
    if source.shape == "sqlite":
        return source.from_database(lambda database: _from_store(database, source.path))
    return (_Session if source.shape == "jsonl" else _TextTranscript).read(source)


class _Session(AgentSession):
    record_noun = "a message"

    def session_info(self) -> session.SessionInfo:
        return _about(self.source.path)

    def records(self) -> Items:
        """Return the lines, once a late call has shown the folder. Raises CannotResume if only an appended one does."""
        info = self.builder.info
        if info.cwd is None and (found := _folder(self.source)):
            if self.source.resumed is not None:
                raise CannotResume("where the session runs was not known before")
            info.cwd, info.project = found, None
        return super().records()

    def add_record(self, record: Json, line: int) -> None:
        at = session.Position(line, branch=_branch_of(self.source.path))
        if record.get("role") not in ROLES:
            return
        content = mapping_of(record.get("message")).get("content")
        if not isinstance(content, str | list):
            raise session.BadRecord(f"content of a message is a {type(content).__name__}")
        if record["role"] == "user":
            text = session.texts_of(content)
            pictures = session.count_images(content) + text.partition("<user_query>")[0].count(PICTURE)
            self.builder.add_prompt(strip_wrappers(text), replace(at, time=_time_of_prompt(text)), pictures)
            return
        self.builder.add_answer(session.texts_of(content).replace(HIDDEN, "").strip(), at)
        for block in objects_of(content):
            if block.get("type") == "tool_use":
                self.builder.add_call("", text_of(block.get("name")), block.get("input"))


class _TextTranscript(MarkdownDialogue[Section]):
    def session_info(self) -> session.SessionInfo:
        return _about(self.source.path)

    def sections(self) -> Iterator[Section]:
        """Yield every message. Within a prompt, a line `user:` is text."""
        role, first, lines, inside = "", 1, list[str](), False
        for number, line in enumerate(self.lines, start=1):
            marker = line.strip().removesuffix(":")
            if line.strip().endswith(":") and marker in ROLES and not inside:
                yield Section(role, first, "\n".join(lines))
                role, first, lines = marker, number, []
                continue
            inside = (inside or "<user_query>" in line) and "</user_query>" not in line
            lines.append(line)
        yield Section(role, first, "\n".join(lines))

    def add_section(self, section: Section) -> None:
        at = session.Position(section.line, branch=_branch_of(self.source.path))
        if section.name == "user":
            self.builder.add_prompt(strip_wrappers(section.text), at)
        elif section.name:
            _add_answer(self.builder, section.text.split("\n"), at)


def _branch_of(path: Path) -> str:
    return "sidechain" if "subagents" in path.parts[:-1] else "main"


@dataclass(frozen=True, slots=True)
class _Stored:
    """The conversation in a store."""

    about: Json
    """`agentId`, `name`, `createdAt`, `lastUsedModel`."""
    workspace: str = ""
    """The address of the working directory."""
    messages: list[Json | BadJson] = field(default_factory=list)


def _find_roots(database: ForeignDatabase) -> Iterator[Json]:
    """Yield the objects that name a root, hexadecimal JSON; none in another's file."""
    for _, value in database.rows("meta", ("key", "value"), where={"key": ABOUT}):
        try:
            about = mapping_of(parse_json(bytes.fromhex(text_of(value))))
        except ValueError:
            continue
        if ROOT in about:
            yield about


def _read_conversations(database: ForeignDatabase) -> Iterator[_Stored]:
    """Yield the conversation with each message once, in the root's order, without missing messages."""
    for about in _find_roots(database):
        root = _blob(database, text_of(about[ROOT]))
        hashes = (value for value in values_of(root, MESSAGE) if isinstance(value, bytes) and len(value) == HASH)
        ids = dict.fromkeys(value.hex() for value in hashes)
        values = map(parse_json, filter(None, (_blob(database, name) for name in ids)))
        messages = [value if isinstance(value, BadJson) else mapping_of(value) for value in values]
        yield _Stored(about, text_at(root, (WORKSPACE,)), messages)


def _blob(database: ForeignDatabase, name: str) -> bytes:
    for (data,) in database.rows("blobs", ("data",), where={"id": name}):
        return data if isinstance(data, bytes) else text_of(data).encode("utf-8", errors="replace")
    return b""


def _from_store(database: ForeignDatabase, path: Path) -> Iterator[session.Row]:
    for stored in _read_conversations(database):
        own_id, folder = text_of(stored.about.get("agentId")) or path.parent.name, session.folder_of(stored.workspace)
        started, title = stored.about.get("createdAt"), text_of(stored.about.get("name"))
        builder = session.SessionBuilder(session.SessionInfo(own_id, folder, None, started, {"title": title}))
        builder.model = text_of(stored.about.get("lastUsedModel"))
        for message in stored.messages:
            if isinstance(message, BadJson):
                yield Unreadable(str(path), 0, f"a message is not JSON: {message.reason}")
            else:
                _add_stored_message(builder, message)
        yield from builder.flush()


def _add_stored_message(builder: session.SessionBuilder, message: Json) -> None:
    content, blocks = message.get("content"), objects_of(message.get("content"))
    text = session.texts_of(content)
    at = session.Position(1, _time_of_prompt(text) if message.get("role") == "user" else None)
    if message.get("role") == "user":
        builder.add_prompt(strip_wrappers(text), at, session.count_images(content))
    elif message.get("role") == "assistant":
        builder.add_answer(text.replace(HIDDEN, "").strip(), at, builder.model)
        for block in blocks:
            if block.get("type") == "tool-call":
                builder.add_call(text_of(block.get("toolCallId")), text_of(block.get("toolName")), block.get("args"))
    elif message.get("role") == "tool":
        for block in blocks:
            builder.add_result(text_of(block.get("toolCallId")), parse_result(block.get("result")), at)


def _about(path: Path) -> session.SessionInfo:
    """Return the conversation by the file's name; the folder of a subagent's file names its parent.

    The folder of the project's sessions only hints at the working directory: its name is an encoded path.
    """
    parent = path.parent.parent.name if path.parent.name == "subagents" else ""
    own = f"{parent}/{path.stem}" if parent else path.stem
    return session.SessionInfo(own, project=_project_folder_name(path), metadata={"parent_conversation_id": parent})


def _project_folder_name(path: Path) -> str | None:
    parts = path.parts
    return parts[parts.index(FOLDER) - 1] if FOLDER in parts[1:] else None


def _folder(source: SourceFile) -> str | None:
    """Return the folder along a path in a tool call that encodes to the session's folder."""
    if (name := _project_folder_name(source.path)) is None:
        return None
    wanted = _encode_path(name)
    for item in source.records():
        message = mapping_of(mapping_of(item.value).get("message")) if isinstance(item, Record) else {}
        for block in objects_of(message.get("content")):
            given = block.get("input") if block.get("type") == "tool_use" else None
            values = mapping_of(given).values() if isinstance(given, dict) else _PATCHED.findall(text_of(given))
            folders = (
                session.find_folder(text_of(value), lambda folder: _encode_path(folder) == wanted) for value in values
            )
            if found := next(filter(None, folders), None):
                return found
    return None


def _encode_path(path: str) -> str:
    """Return a path as Cursor encodes it in the name of a folder."""
    return _UNSPELLED.sub("-", path).strip("-").lower()


def _time_of_prompt(text: str) -> str | None:
    """Return the time of a prompt, to the minute, from the tag before it; without a zone it is UTC."""
    found = _TIME.search(text)
    if found is None or found[1].lower() not in MONTHS:
        return None
    hour = int(found[4]) % 12 + 12 * (found[6] == "P") if found[6] else int(found[4])
    zone = f"{found[7]}{int(found[8]):02}:{found[9] or '00'}" if found[7] else "Z"
    month = MONTHS.index(found[1].lower()) + 1
    return iso_utc(f"{found[3]}-{month:02}-{int(found[2]):02}T{hour:02}:{found[5]}:00{zone}")


def strip_wrappers(text: str) -> str:
    """Return what the person typed of a text in the user's role."""
    queries = [found[1] for found in _QUERY.finditer(text) if found[1] is not None]
    words = "\n\n".join(query.strip() for query in queries) if queries else without_rim(text, WRAPPERS)
    return "" if words.startswith(CLIENT_PROMPTS) else words


def _add_answer(builder: session.SessionBuilder, lines: list[str], at: session.Position) -> None:
    """Add an answer, then its tools. A marker hides text to a blank or unindented line."""
    shown, marked, hidden, indented = list[str](), list[tuple[str, str, list[str]]](), False, False
    for line in lines:
        is_indented = not line.strip() or line[:1] in (" ", "\t")
        if found := _MARKER.match(line.strip()):
            hidden, indented = True, False
            marked.append((found[1], found[2], []))
        elif hidden and (is_indented or not (indented or marked[-1][2][-1:] == [""])):
            indented = indented or (is_indented and bool(line.strip()) and marked[-1][0] != "Thinking")
            marked[-1][2].append(line.strip())
        else:
            hidden = False
            shown.append(line)
    builder.add_answer("\n".join(shown).replace(HIDDEN, "").strip(), at)
    for marker, name, body in marked:
        if marker == "Tool call":
            builder.add_call("", name, dict(pair for line in body if (pair := _pair(line))))
        elif marker == "Tool result":
            builder.add_result("", parse_result("\n".join(body)), at)


def _pair(line: str) -> tuple[str, str] | None:
    """Return a pair of a tool's input from a line `key: value`."""
    key, colon, value = line.partition(":")
    return (key.strip(), value.strip()) if colon and key.strip().isidentifier() else None
