"""Chats of Cursor's editor, from the `state.vscdb` with its state: a row for each chat and each bubble.

Earlier versions keep the bubbles inside the chat; before that, all chats of a window are one value of `ItemTable`.
"""

from collections.abc import Iterator, Sequence

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base import values
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
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
    workspace = values.mapping_of(values.parse_json(read_sibling(source.path.with_name("workspace.json"))))
    folder = folder_of(workspace.get("folder"))
    yield from source.from_database(lambda database: _chats(database, str(source.path), folder))
    yield from source.from_database(lambda database: _window_turns(database, folder))


def _chats(database: ForeignDatabase, path: str, folder: str | None) -> Iterator[Row]:
    for key, value in database.rows(CHATS, KEYS, within=("key", CHAT, f"{CHAT[:-1]};"), order=("key",)):
        chat_id = values.text_of(key).removeprefix(CHAT)
        chat = values.parse_json(value) if isinstance(value, str | bytes) else {}
        if isinstance(chat, dict):
            yield from _turns(chat_id, chat, list(_bubbles(database, chat_id, chat)), folder)
        else:
            reason = f"not JSON: {chat.reason}" if isinstance(chat, values.BadJson) else "no object"
            yield Unreadable(path, 0, f"{CHAT}{chat_id}: {reason}")


def _bubbles(database: ForeignDatabase, chat_id: str, chat: values.Json) -> Iterator[tuple[values.Json, bool]]:
    """Yield the bubbles in order, and whether the chat still lists them."""
    prefix = f"{BUBBLE}{chat_id}:"
    rows = database.rows(CHATS, KEYS, within=("key", prefix, f"{prefix[:-1]};"), order=("key",))
    apart: dict[str, values.Json] = {}
    for key, value in rows:
        bubble = values.mapping_of(values.parse_json(value)) if isinstance(value, str | bytes) else {}
        apart[values.text_of(key).removeprefix(prefix)] = bubble
    inside = values.objects_of(chat.get("conversation"))
    heads = values.objects_of(chat.get("fullConversationHeadersOnly"))
    for bubble in inside:
        apart.pop(values.text_of(bubble.get("bubbleId")), None)
        yield bubble, True
    for head in heads:
        yield apart.pop(values.text_of(head.get("bubbleId")), {}), True
    for bubble in apart.values():
        yield bubble, not heads and not inside


def _turns(
    chat_id: str, chat: values.Json, bubbles: Sequence[tuple[values.Json, bool]], folder: str | None
) -> Iterator[Row]:
    places = (values.list_of(bubble.get("workspaceUris")) for bubble, _ in bubbles)
    cwd = folder or next((path for uris in places if uris and (path := folder_of(uris[0]))), None)
    about = SessionInfo(chat_id, cwd, None, chat.get("createdAt"), {"title": values.text_of(chat.get("name"))})
    builder = SessionBuilder(about)
    for bubble, is_named in bubbles:
        timing = values.mapping_of(bubble.get("timingInfo"))
        time = bubble.get("createdAt") or timing.get("clientRpcSendTime") or timing.get("clientStartTime")
        at = Position(1, time, values.text_of(bubble.get("bubbleId")), "main" if is_named else "abandoned")
        if bubble.get("type") == USER:
            builder.add_prompt(_words(bubble), at, len(values.list_of(bubble.get("images"))))
        elif bubble.get("type") == ASSISTANT:
            _tool(builder, values.mapping_of(bubble.get("toolFormerData")), at)
            model = values.text_of(values.mapping_of(bubble.get("modelInfo")).get("modelName"))
            builder.add_answer(values.text_of(bubble.get("text")), at, model)
    yield from builder.flush()


def _words(bubble: values.Json) -> str:
    """Return the prompt, from the editor's tree if the plain text is missing."""
    text = values.text_of(bubble.get("text")) or values.text_of(bubble.get("rawText"))
    rich = bubble.get("richText") or bubble.get("initText")
    tree = values.parse_json(rich) if isinstance(rich, str) else rich
    return text.strip() or "\n".join(_lines(values.mapping_of(tree).get("root"), DEEPEST))


def _lines(node: object, depth: int) -> list[str]:
    """Return the paragraphs of a Lexical document."""
    fields = values.mapping_of(node)
    children = values.list_of(fields.get("children"))
    if fields.get("type") == "paragraph" or depth <= 0:
        return ["".join(values.text_of(values.mapping_of(child).get("text")) for child in children)]
    return [line for child in children for line in _lines(child, depth - 1)]


def _tool(builder: SessionBuilder, call: values.Json, at: Position) -> None:
    name = values.text_of(call.get("name"))
    if not name:
        return
    call_id = values.text_of(call.get("toolCallId"))
    builder.add_call(call_id, name, call.get("rawArgs") or call.get("params"))
    fault = values.mapping_of(values.value_of(call.get("error")))
    result = values.value_of(call.get("result"))
    fields = values.mapping_of(result)
    code = values.number_of(fields.get("exitCode", fields.get("exitCodeV2")))
    text = values.text_of(fault.get("clientVisibleErrorMessage")) or text_of_result(result)
    builder.add_result(call_id, ToolResult(text, code, call.get("status") == "error" or bool(code)), at)


def _window_chats(database: ForeignDatabase) -> Iterator[values.Json]:
    for _, value in database.rows(WINDOW, KEYS, where={"key": WINDOW_CHATS}):
        document = values.parse_json(value) if isinstance(value, str | bytes) else {}
        yield from values.objects_of(values.mapping_of(document).get("tabs"))


def _window_turns(database: ForeignDatabase, folder: str | None) -> Iterator[Row]:
    for tab in _window_chats(database):
        own_id, title = values.text_of(tab.get("tabId")) or None, values.text_of(tab.get("chatTitle"))
        builder = SessionBuilder(SessionInfo(own_id, folder, None, tab.get("lastSendTime"), {"title": title}))
        for bubble in values.objects_of(tab.get("bubbles")):
            at = Position(1, bubble.get("createdAt"), values.text_of(bubble.get("id")))
            if bubble.get("type") == "user":
                builder.add_prompt(_words(bubble), at)
            elif bubble.get("type") == "ai":
                builder.add_answer(values.text_of(bubble.get("text")) or values.text_of(bubble.get("rawText")), at)
        yield from builder.flush()
