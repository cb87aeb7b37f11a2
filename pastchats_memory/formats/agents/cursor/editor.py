"""Chats of Cursor's editor, from the `state.vscdb` with its state: a row for each chat and each bubble.

Earlier versions keep the bubbles inside the chat; before that, all chats of a window are one value of `ItemTable`.
"""

from collections.abc import Iterator, Sequence

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.formats.base.values import (
    BadJson,
    Json,
    list_of,
    mapping_of,
    number_of,
    objects_of,
    parse_json,
    text_of,
    value_of,
)
from pastchats_memory.model import Unreadable

KEYS = ("key", "value")
CHATS, CHAT, BUBBLE = "cursordiskkv", "composerData:", "bubbleId:"
WINDOW, WINDOW_CHATS = "itemtable", "workbench.panel.aichat.view.aichat.chatdata"
USER, ASSISTANT = 1, 2
DEEPEST = 20


def matches_editor(source: SourceFile) -> bool:
    """Return whether a database is the editor's state with Cursor's table or chats."""
    if source.shape != "sqlite" or not set(KEYS) <= source.tables.get(WINDOW, source.tables.get(CHATS, frozenset())):
        return False
    return CHATS in source.tables or any(isinstance(tab, dict) for tab in source.from_database(_window_chats))


def read_editor(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of every chat, oldest first; bubbles that the chat no longer lists are abandoned."""
    workspace = mapping_of(parse_json(read_sibling(source.path.with_name("workspace.json"))))
    folder = folder_of(workspace.get("folder"))
    yield from source.from_database(lambda database: _chats(database, str(source.path), folder))
    yield from source.from_database(lambda database: _window_turns(database, folder))


def _chats(database: ForeignDatabase, path: str, folder: str | None) -> Iterator[Row]:
    for key, value in database.rows(CHATS, KEYS, within=("key", CHAT, f"{CHAT[:-1]};"), order=("key",)):
        chat_id = text_of(key).removeprefix(CHAT)
        chat = parse_json(value) if isinstance(value, str | bytes) else {}
        if isinstance(chat, dict):
            yield from _turns(chat_id, chat, list(_bubbles(database, chat_id, chat)), folder)
        else:
            reason = f"not JSON: {chat.reason}" if isinstance(chat, BadJson) else "no object"
            yield Unreadable(path, 0, f"{CHAT}{chat_id}: {reason}")


def _bubbles(database: ForeignDatabase, chat_id: str, chat: Json) -> Iterator[tuple[Json, bool]]:
    """Yield the bubbles in order, and whether the chat still lists them."""
    prefix = f"{BUBBLE}{chat_id}:"
    rows = database.rows(CHATS, KEYS, within=("key", prefix, f"{prefix[:-1]};"), order=("key",))
    apart: dict[str, Json] = {}
    for key, value in rows:
        bubble = mapping_of(parse_json(value)) if isinstance(value, str | bytes) else {}
        apart[text_of(key).removeprefix(prefix)] = bubble
    inside = objects_of(chat.get("conversation"))
    heads = objects_of(chat.get("fullConversationHeadersOnly"))
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
    about = SessionInfo(chat_id, cwd, None, chat.get("createdAt"), {"title": text_of(chat.get("name"))})
    builder = SessionBuilder(about)
    for bubble, is_named in bubbles:
        timing = mapping_of(bubble.get("timingInfo"))
        time = bubble.get("createdAt") or timing.get("clientRpcSendTime") or timing.get("clientStartTime")
        at = Position(1, time, text_of(bubble.get("bubbleId")), "main" if is_named else "abandoned")
        if bubble.get("type") == USER:
            builder.add_prompt(_words(bubble), at, len(list_of(bubble.get("images"))))
        elif bubble.get("type") == ASSISTANT:
            _tool(builder, mapping_of(bubble.get("toolFormerData")), at)
            model = text_of(mapping_of(bubble.get("modelInfo")).get("modelName"))
            builder.add_answer(text_of(bubble.get("text")), at, model)
    yield from builder.flush()


def _words(bubble: Json) -> str:
    """Return the prompt, from the editor's tree if the plain text is missing."""
    text = text_of(bubble.get("text")) or text_of(bubble.get("rawText"))
    rich = bubble.get("richText") or bubble.get("initText")
    tree = parse_json(rich) if isinstance(rich, str) else rich
    return text.strip() or "\n".join(_lines(mapping_of(tree).get("root"), DEEPEST))


def _lines(node: object, depth: int) -> list[str]:
    """Return the paragraphs of a Lexical document."""
    fields = mapping_of(node)
    children = list_of(fields.get("children"))
    if fields.get("type") == "paragraph" or depth <= 0:
        return ["".join(text_of(mapping_of(child).get("text")) for child in children)]
    return [line for child in children for line in _lines(child, depth - 1)]


def _tool(builder: SessionBuilder, call: Json, at: Position) -> None:
    name = text_of(call.get("name"))
    if not name:
        return
    call_id = text_of(call.get("toolCallId"))
    builder.add_call(call_id, name, call.get("rawArgs") or call.get("params"))
    fault = mapping_of(value_of(call.get("error")))
    result = value_of(call.get("result"))
    fields = mapping_of(result)
    code = number_of(fields.get("exitCode", fields.get("exitCodeV2")))
    text = text_of(fault.get("clientVisibleErrorMessage")) or text_of_result(result)
    builder.add_result(call_id, ToolResult(text, code, call.get("status") == "error" or bool(code)), at)


def _window_chats(database: ForeignDatabase) -> Iterator[Json]:
    for _, value in database.rows(WINDOW, KEYS, where={"key": WINDOW_CHATS}):
        document = parse_json(value) if isinstance(value, str | bytes) else {}
        yield from objects_of(mapping_of(document).get("tabs"))


def _window_turns(database: ForeignDatabase, folder: str | None) -> Iterator[Row]:
    for tab in _window_chats(database):
        own_id, title = text_of(tab.get("tabId")) or None, text_of(tab.get("chatTitle"))
        builder = SessionBuilder(SessionInfo(own_id, folder, None, tab.get("lastSendTime"), {"title": title}))
        for bubble in objects_of(tab.get("bubbles")):
            at = Position(1, bubble.get("createdAt"), text_of(bubble.get("id")))
            if bubble.get("type") == "user":
                builder.add_prompt(_words(bubble), at)
            elif bubble.get("type") == "ai":
                builder.add_answer(text_of(bubble.get("text")) or text_of(bubble.get("rawText")), at)
        yield from builder.flush()
