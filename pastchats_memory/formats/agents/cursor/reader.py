"""Cursor's agent transcripts to turns: a message a line, text with `user:` and `assistant:` on lines of their own, or `store.db`.

Neither has ids; newer versions write the minute before what was typed; results of tools are only in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pastchats_memory.files.foreign_sqlite import Database
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    find_folder,
    folder_of,
    read_session,
    texts_of,
)
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.source import (
    BadJson,
    Json,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    number_of,
    parse_json,
    text_of,
    value_of,
)
from pastchats_memory.formats.base.tags import without_rim
from pastchats_memory.formats.base.tools import ToolResult, parse_result, text_of_result
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

# `store.db`, in which Cursor's command line keeps a conversation: messages by their hash, and a root that lists them.

TABLES = {"blobs": frozenset({"id", "data"}), "meta": frozenset({"key", "value"})}
ABOUT, ROOT = "0", "latestRootBlobId"
MESSAGE, WORKSPACE = 1, 9
"""Fields of the root."""
HASH = 32
VARINT, BYTES, FIXED = 0, 2, {1: 8, 5: 4}
"""Wire types of protocol buffers (https://protobuf.dev/programming-guides/encoding/), of a fixed size with their bytes."""
LONGEST_VARINT = 10


@dataclass(frozen=True, slots=True)
class Stored:
    """What the file says of the conversation."""

    about: Json
    """`agentId`, `name`, `createdAt`, `lastUsedModel`."""
    workspace: str = ""
    """The folder's address."""
    messages: list[Json | BadJson] = field(default_factory=list)


def about_in(database: Database) -> Iterator[Json]:
    """The object that names the root, which is kept as the hexadecimal digits of its JSON; nothing in another's file."""
    for _, value in database.rows("meta", ("key", "value"), where={"key": ABOUT}):
        try:
            about = mapping_of(parse_json(bytes.fromhex(text_of(value))))
        except ValueError:
            continue
        if ROOT in about:
            yield about


def stored_in(database: Database) -> Iterator[Stored]:
    """The conversation with each message once, in the root's order; messages that are gone are left out."""
    for about in about_in(database):
        fields = list(_fields(_blob(database, text_of(about[ROOT]))))
        ids = dict.fromkeys(value.hex() for number, value in fields if number == MESSAGE and len(value) == HASH)
        blobs = (_blob(database, name) for name in ids)
        messages = [
            value if isinstance(value, BadJson) else mapping_of(value) for value in map(parse_json, filter(None, blobs))
        ]
        folder = next((value for number, value in fields if number == WORKSPACE), b"")
        yield Stored(about, folder.decode("utf-8", errors="replace"), messages)


def _blob(database: Database, name: str) -> bytes:
    for (data,) in database.rows("blobs", ("data",), where={"id": name}):
        return data if isinstance(data, bytes) else text_of(data).encode("utf-8", errors="replace")
    return b""


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The numbers and bytes of a protocol buffer's fields of bytes, as far as it is one."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == BYTES:
            length, at = _varint(message, at)
            if at + length > len(message):
                return
            yield key >> 3, message[at : at + length]
            at += length
        elif kind == VARINT:
            _, at = _varint(message, at)
        elif kind in FIXED:
            at += FIXED[kind]
        else:
            return


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The number that begins there, and the place behind it."""
    number = 0
    for shift, byte in enumerate(message[at : at + LONGEST_VARINT]):
        number |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that another byte follows
            return number, at + shift + 1
    return number, len(message)


WRAPPERS = (
    "attached_files", "additional_data", "system_reminder", "system-reminder", "user_info", "rules", "timestamp",
    "open_and_recently_viewed_files", "manually_attached_skills", "agent_skills", "agent_transcripts", "git_status",
    "project_layout", "current_file", "cursor_commands", "always_applied_workspace_rules", "mcp_instructions",
)  # fmt: skip
"""Context that Cursor puts around what a person typed."""
HIDDEN = "[REDACTED]"
FOLDER = "agent-transcripts"
ROLES = ("user", "assistant")
BY_ITSELF = (
    "The above subagent result is already visible to the user.",
    "Briefly inform the user about the task result",
)
"""How queries begin that Cursor sends when a subagent or a task in the background is done."""
PICTURE = "[Image]"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>|<user_query>.*", re.DOTALL)
_TIME = re.compile(
    r"<timestamp>[^<\n]{0,20}?\b([A-Z][a-z]{2})[a-z]{0,6} (\d{1,2}),? (\d{4}),? (\d{1,2}):(\d\d)(?::\d\d)?(?:[ \u202f]([AP])M)?"
    r"(?: \(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\))?</timestamp>"
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S[^\n]{0,999})", re.MULTILINE)
_UNSPELLED = re.compile(r"[^A-Za-z0-9]+")
_MARKER = re.compile(r"\[(Thinking|Tool call|Tool result)\][ \t]*(.*)")


def recognise(source: SourceFile) -> bool:
    """Whether the lines are messages of a role without a type, the text opens with a role of Cursor's, or it is a store."""
    if source.shape == "jsonl":
        return any(_is_message(record) for record in source.sample)
    if source.shape == "sqlite":
        known = all(source.tables.get(name, frozenset()) >= columns for name, columns in TABLES.items())
        return known and any(isinstance(about, dict) for about in source.from_database(about_in))
    return source.shape == "markdown" and _is_transcript(source)


def _is_message(record: Json) -> bool:
    content = mapping_of(record.get("message")).get("content")
    return record.get("role") in ROLES and "type" not in record and isinstance(content, list)


def _is_transcript(source: SourceFile) -> bool:
    """Whether a text opens with a role, and Cursor's own marks or its folder tell it from any other such text."""
    opening = source.head.lstrip().partition("\n")[0].strip()
    own = FOLDER in source.path.parts or "<user_query>" in source.head or "\n[Tool call] " in source.head
    return source.path.suffix == ".txt" and opening in ("user:", "assistant:") and own


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no messages. A log is read twice: where the session runs, a call may tell late."""
    if source.shape == "sqlite":
        yield from source.from_database(lambda database: _from_store(database, source.path))
        return
    before = source.resumed.state if source.resumed else {}
    about = SessionInfo(**mapping_of(before["about"])) if before else _about(source.path)  # type: ignore[arg-type] # what this reader itself has stored
    builder = SessionBuilder(about)
    branch = "sidechain" if "subagents" in source.path.parts[:-1] else "main"
    if source.shape == "jsonl":
        if about.cwd is None and (found := _folder(source)):
            if before:
                raise CannotResume("where the session runs was not known before")
            about.cwd, about.project = found, None
        yield from read_session(source, builder, lambda item: _take(builder, item, branch))
        return
    for role, line, lines in _blocks(source.text):
        if role == "user":
            builder.add_prompt(typed("\n".join(lines)), Position(line, branch=branch))
        else:
            _spoken(builder, lines, Position(line, branch=branch))
    yield from builder.flush()


def _from_store(database: Database, path: Path) -> Iterator[Row]:
    for stored in stored_in(database):
        about = SessionInfo(
            text_of(stored.about.get("agentId")) or path.parent.name,
            folder_of(stored.workspace),
            started=to_the_minute(iso_utc(stored.about.get("createdAt"))),
            metadata={"title": text_of(stored.about.get("name"))},
        )
        builder = SessionBuilder(about)
        builder.model = text_of(stored.about.get("lastUsedModel"))
        for message in stored.messages:
            if isinstance(message, BadJson):
                yield Unreadable(str(path), 0, f"a message is not JSON: {message.reason}")
            else:
                _take_stored(builder, message)
        yield from builder.flush()


def _take_stored(builder: SessionBuilder, message: Json) -> None:
    content, blocks = message.get("content"), [mapping_of(block) for block in list_of(message.get("content"))]
    text = texts_of(content)
    at = Position(1, _moment(text) if message.get("role") == "user" else None)
    if message.get("role") == "user":
        builder.add_prompt(typed(text), at, count_images(content))
    elif message.get("role") == "assistant":
        builder.add_answer(text.replace(HIDDEN, "").strip(), at, builder.model)
        for block in blocks:
            if block.get("type") == "tool-call":
                builder.add_call(text_of(block.get("toolCallId")), text_of(block.get("toolName")), block.get("args"))
    elif message.get("role") == "tool":
        for block in blocks:
            builder.add_result(text_of(block.get("toolCallId")), parse_result(block.get("result")), at)


def _about(path: Path) -> SessionInfo:
    """The conversation, which is named by its file alone; a subagent's belongs to the one whose folder it is in.

    Of where it ran there may be no more than the folder of the project's sessions, named after a path that it does not spell.
    """
    parent = path.parent.parent.name if path.parent.name == "subagents" else ""
    own = f"{parent}/{path.stem}" if parent else path.stem
    return SessionInfo(own, project=_named_after(path), metadata={"parent_conversation_id": parent})


def _named_after(path: Path) -> str | None:
    parts = path.parts
    return parts[parts.index(FOLDER) - 1] if FOLDER in parts[1:] else None


def _folder(source: SourceFile) -> str | None:
    """The folder of which Cursor names the session's own, if a path that a tool was given lies in it."""
    if (name := _named_after(source.path)) is None:
        return None
    wanted = _spelled(name)
    for item in source.records():
        message = mapping_of(mapping_of(item.value).get("message")) if isinstance(item, Record) else {}
        for block in map(mapping_of, list_of(message.get("content"))):
            given = block.get("input") if block.get("type") == "tool_use" else None
            values = mapping_of(given).values() if isinstance(given, dict) else _PATCHED.findall(text_of(given))
            folders = (find_folder(text_of(value), lambda folder: _spelled(folder) == wanted) for value in values)
            if found := next(filter(None, folders), None):
                return found
    return None


def _spelled(path: str) -> str:
    """A path as Cursor names the folder of its sessions after it."""
    return _UNSPELLED.sub("-", path).strip("-").lower()


def _moment(text: str) -> str | None:
    """When a prompt was sent, to the minute, as Cursor writes it before what was typed; a time without a zone is in UTC."""
    found = _TIME.search(text)
    if found is None or found[1].lower() not in MONTHS:
        return None
    hour = int(found[4]) % 12 + 12 * (found[6] == "P") if found[6] else int(found[4])
    zone = f"{found[7]}{int(found[8]):02}:{found[9] or '00'}" if found[7] else "Z"
    return iso_utc(
        f"{found[3]}-{MONTHS.index(found[1].lower()) + 1:02}-{int(found[2]):02}T{hour:02}:{found[5]}:00{zone}"
    )


def _take(builder: SessionBuilder, item: Record, branch: str) -> str | None:
    """Add what the line says; the reason why it says nothing that can be read, else None."""
    record, at = mapping_of(item.value), Position(item.line, branch=branch)
    if record.get("role") not in ROLES:
        return None if isinstance(item.value, dict) else f"a {type(item.value).__name__} instead of a message"
    content = mapping_of(record.get("message")).get("content")
    if not isinstance(content, str | list):
        return f"content of a message is a {type(content).__name__}"
    if record["role"] == "user":
        text = texts_of(content)
        pictures = count_images(content) + text.partition("<user_query>")[0].count(PICTURE)
        builder.add_prompt(typed(text), replace(at, time=_moment(text)), pictures)
        return None
    builder.add_answer(texts_of(content).replace(HIDDEN, "").strip(), at)
    for block in map(mapping_of, list_of(content)):
        if block.get("type") == "tool_use":
            builder.add_call("", text_of(block.get("name")), block.get("input"))
    return None


def typed(text: str) -> str:
    """What the person typed of a text in the user's role."""
    queries = [found[1] for found in _QUERY.finditer(text) if found[1] is not None]
    words = "\n\n".join(query.strip() for query in queries) if queries else without_rim(text, WRAPPERS)
    return "" if words.startswith(BY_ITSELF) else words


def _blocks(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Role, line of its marker and lines of every message. Inside what a person typed, a line `user:` is theirs."""
    role, first, lines, inside = "", 1, list[str](), False
    for number, line in enumerate(text.split("\n"), start=1):
        marker = line.strip().removesuffix(":")
        if line.strip().endswith(":") and marker in ROLES and not inside:
            if role:
                yield role, first, lines
            role, first, lines = marker, number, []
            continue
        inside = (inside or "<user_query>" in line) and "</user_query>" not in line
        lines.append(line)
    if role:
        yield role, first, lines


def _spoken(builder: SessionBuilder, lines: list[str], at: Position) -> None:
    """The visible words of an answer, then its tools. What a marker hides ends at a blank line or, where a tool's is indented, with that."""
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
    """A tool's input as the text has it, `key: value` on a line."""
    key, colon, value = line.partition(":")
    return (key.strip(), value.strip()) if colon and key.strip().isidentifier() else None


# Cursor's own chats, from the `state.vscdb` in which the editor keeps its state: a row a chat and a row a bubble.
#
# Earlier versions had the bubbles inside the chat, and before that all chats of a window in one value of `ItemTable`.


KEYS = ("key", "value")
CHATS, CHAT, BUBBLE = "cursordiskkv", "composerData:", "bubbleId:"
WINDOW, WINDOW_CHATS = "itemtable", "workbench.panel.aichat.view.aichat.chatdata"
USER, ASSISTANT = 1, 2
DEEPEST = 20


def recognise_ide(source: SourceFile) -> bool:
    """Whether it is the editor's state: VS Code's has the same file, but no table of Cursor's and no chat of it."""
    if source.shape != "sqlite" or not set(KEYS) <= source.tables.get(WINDOW, source.tables.get(CHATS, frozenset())):
        return False
    return CHATS in source.tables or any(isinstance(tab, dict) for tab in source.from_database(_window_chats))


def read_ide(source: SourceFile) -> Iterator[Row]:
    """The turns of every chat, oldest first; bubbles that the chat no longer names are abandoned."""
    folder = _ide_folder(source.path)
    yield from source.from_database(lambda database: _chats(database, str(source.path), folder))
    yield from source.from_database(lambda database: _of_window(database, folder))


def _ide_folder(path: Path) -> str | None:
    """The folder that a window's state belongs to, which stands in the file beside it."""
    return folder_of(mapping_of(parse_json(read_sibling(path.with_name("workspace.json")))).get("folder"))


def _chats(database: Database, path: str, folder: str | None) -> Iterator[Row]:
    for key, value in database.rows(CHATS, KEYS, within=("key", CHAT, f"{CHAT[:-1]};"), order=("key",)):
        chat_id = text_of(key).removeprefix(CHAT)
        chat = parse_json(value) if isinstance(value, str | bytes) else {}
        if isinstance(chat, dict):
            yield from _turns(chat_id, chat, list(_bubbles(database, chat_id, chat)), folder)
        else:
            reason = f"not JSON: {chat.reason}" if isinstance(chat, BadJson) else "no object"
            yield Unreadable(path, 0, f"{CHAT}{chat_id}: {reason}")


def _bubbles(database: Database, chat_id: str, chat: Json) -> Iterator[tuple[Json, bool]]:
    """The bubbles in their order, and whether the chat still names them."""
    prefix = f"{BUBBLE}{chat_id}:"
    rows = database.rows(CHATS, KEYS, within=("key", prefix, f"{prefix[:-1]};"), order=("key",))
    apart: dict[str, Json] = {}
    for key, value in rows:
        bubble = mapping_of(parse_json(value)) if isinstance(value, str | bytes) else {}
        apart[text_of(key).removeprefix(prefix)] = bubble
    inside = [mapping_of(bubble) for bubble in list_of(chat.get("conversation"))]
    heads = [mapping_of(head) for head in list_of(chat.get("fullConversationHeadersOnly"))]
    for bubble in inside:
        apart.pop(text_of(bubble.get("bubbleId")), None)
        yield bubble, True
    for head in heads:
        yield apart.pop(text_of(head.get("bubbleId")), {}), True
    for bubble in apart.values():
        yield bubble, not heads and not inside


def _turns(chat_id: str, chat: Json, bubbles: Sequence[tuple[Json, bool]], folder: str | None) -> Iterator[Row]:
    places = (list_of(bubble.get("workspaceUris")) for bubble, _ in bubbles)
    cwd = folder or next((path for uris in places if uris and (path := folder_of(uris[0]))), None)
    began = to_the_minute(iso_utc(chat.get("createdAt")))
    builder = SessionBuilder(SessionInfo(chat_id, cwd, None, began, {"title": text_of(chat.get("name"))}))
    for bubble, is_named in bubbles:
        at = Position(1, _time(bubble), text_of(bubble.get("bubbleId")), "main" if is_named else "abandoned")
        if bubble.get("type") == USER:
            builder.add_prompt(_words(bubble), at, len(list_of(bubble.get("images"))))
        elif bubble.get("type") == ASSISTANT:
            _tool(builder, mapping_of(bubble.get("toolFormerData")), at)
            model = text_of(mapping_of(bubble.get("modelInfo")).get("modelName"))
            builder.add_answer(text_of(bubble.get("text")), at, model)
    yield from builder.flush()


def _time(bubble: Json) -> object:
    timing = mapping_of(bubble.get("timingInfo"))
    return bubble.get("createdAt") or timing.get("clientRpcSendTime") or timing.get("clientStartTime")


def _words(bubble: Json) -> str:
    """What was typed; where the plain text is missing, the words of the editor's own tree of it."""
    text = text_of(bubble.get("text")) or text_of(bubble.get("rawText"))
    rich = bubble.get("richText") or bubble.get("initText")
    tree = parse_json(rich) if isinstance(rich, str) else rich
    return text.strip() or "\n".join(_lines(mapping_of(tree).get("root"), DEEPEST))


def _lines(node: object, depth: int) -> list[str]:
    """The paragraphs of a Lexical document."""
    fields = mapping_of(node)
    children = list_of(fields.get("children"))
    if fields.get("type") == "paragraph" or depth <= 0:
        return ["".join(text_of(mapping_of(child).get("text")) for child in children)]
    return [line for child in children for line in _lines(child, depth - 1)]


def _tool(builder: SessionBuilder, told: Json, at: Position) -> None:
    name = text_of(told.get("name"))
    if not name:
        return
    call_id = text_of(told.get("toolCallId"))
    builder.add_call(call_id, name, told.get("rawArgs") or told.get("params"))
    fault = mapping_of(value_of(told.get("error")))
    result = value_of(told.get("result"))
    fields = mapping_of(result)
    code = number_of(fields.get("exitCode", fields.get("exitCodeV2")))
    text = text_of(fault.get("clientVisibleErrorMessage")) or text_of_result(result)
    builder.add_result(call_id, ToolResult(text, code, told.get("status") == "error" or bool(code)), at)


def _window_chats(database: Database) -> Iterator[Json]:
    for _, value in database.rows(WINDOW, KEYS, where={"key": WINDOW_CHATS}):
        document = parse_json(value) if isinstance(value, str | bytes) else {}
        yield from (mapping_of(tab) for tab in list_of(mapping_of(document).get("tabs")))


def _of_window(database: Database, folder: str | None) -> Iterator[Row]:
    for tab in _window_chats(database):
        began = to_the_minute(iso_utc(tab.get("lastSendTime")))
        about: Json = {"title": text_of(tab.get("chatTitle"))}
        builder = SessionBuilder(SessionInfo(text_of(tab.get("tabId")) or None, folder, None, began, about))
        for bubble in map(mapping_of, list_of(tab.get("bubbles"))):
            at = Position(1, bubble.get("createdAt"), text_of(bubble.get("id")))
            if bubble.get("type") == "user":
                builder.add_prompt(_words(bubble), at)
            elif bubble.get("type") == "ai":
                builder.add_answer(text_of(bubble.get("text")) or text_of(bubble.get("rawText")), at)
        yield from builder.flush()
