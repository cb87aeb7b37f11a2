"""ChatGPT data exports and single conversations: a tree of messages each.

The main path is the chain of parents of `current_node`. Edited prompts and regenerated answers are `abandoned`; they come
before the branch that replaced them, in the order in which they were written.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.jsonl_agent import conversations
from pastchats_memory.formats.base.session import Row
from pastchats_memory.formats.base.source import (
    SAMPLE_RECORDS,
    BadJson,
    Element,
    Json,
    Places,
    SourceFile,
    list_of,
    mapping_of,
    parse_json,
    text_of,
)
from pastchats_memory.formats.exports.chatgpt.message import parse_message
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import conversation_hash
from pastchats_memory.text.dates import iso_utc, to_the_minute

FORMAT = "chatgpt"
VERSION = 4

UNIQUE_LENGTH = 16
FENCED_SHARE = 0.5
"""Of a Markdown file, the JSON in it must be so much: else it is a text about exports."""
PROJECT_PREFIX = "g-p-"

_FENCE = re.compile(r"^```json[ \t]*\n(?=\s*[{\[])", re.MULTILINE)
_NODE_KEY = re.compile(r'"([\w-]{1,64})"\s{0,8}:\s{0,8}\{')


def recognise(source: SourceFile) -> bool:
    """Whether a conversation with a `mapping` of nodes is in it; the sidecars of an export have none."""
    if source.shape == "jsonl":
        return any(is_conversation(record) for record in source.sample)
    if source.shape == "json":
        return any(is_conversation(item) for item in _list_conversations(source.outline)[:SAMPLE_RECORDS])
    return any(is_conversation(item) for part in _parse_fences(source) for item in part.conversations[:SAMPLE_RECORDS])


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of every conversation, abandoned ones among them, with the line on which the text of each begins."""
    if source.shape == "jsonl":
        yield from conversations(
            source, is_conversation, lambda found, places: _read_turns(found, _Lines("", places.line("")))
        )
    elif source.shape == "json":
        yield from _read_export(source)
    else:
        yield from _read_markdown(source)


def _read_export(source: SourceFile) -> Iterator[Turn | Unreadable]:
    for place, element in enumerate(_list_elements(source)):
        if isinstance(element, Unreadable):
            yield element
        elif is_conversation(element.value):
            yield from _read_turns(mapping_of(element.value), _Lines(element.text, element.line))
        else:
            yield Unreadable(str(source.path), element.line, f"item {place} of the export is no conversation")


def _read_markdown(source: SourceFile) -> Iterator[Turn]:
    for part in _parse_fences(source):
        lines = _Lines(part.text, part.first_line)
        for value in filter(is_conversation, part.conversations):
            yield from _read_turns(mapping_of(value), lines)


NO_MESSAGE = object()


def is_conversation(value: object) -> bool:
    """Whether the value has a mapping of nodes that hold messages, or an empty one that names the current node."""
    fields = mapping_of(value)
    nodes = fields.get("mapping")
    if not isinstance(nodes, dict):
        return False
    messages = [mapping_of(node).get("message", NO_MESSAGE) for node in nodes.values()]
    messages_with_fields = [mapping_of(message) for message in messages if isinstance(message, dict)]
    if messages_with_fields and not any(
        "author" in message or "content" in message for message in messages_with_fields
    ):
        return False  # another program's tree, as DeepSeek's
    return any(message is not NO_MESSAGE for message in messages) or "current_node" in fields


def _list_elements(source: SourceFile) -> Iterator[Element | Unreadable]:
    """The items of the export one by one, whatever its size; a single conversation is one of its own."""
    if is_conversation(source.outline):
        yield Element(1, source.document, None, source.text.encode("utf-8", errors="replace"))
    else:
        yield from source.elements(*(() if isinstance(source.outline, list) else ("conversations",)))


@dataclass(frozen=True, slots=True)
class _Fence:
    """A JSON text within Markdown, the line of the file at which it starts, and the items of its list of conversations."""

    text: str
    first_line: int
    conversations: list[object]


def _parse_fences(source: SourceFile) -> Iterator[_Fence]:
    if source.shape == "markdown" and '"mapping"' in source.text:
        for opening in _FENCE.finditer(source.text):
            text = source.text[opening.end() :].partition("\n```")[0]
            if len(text) < len(source.text) * FENCED_SHARE:
                continue
            value = parse_json(text)
            if not isinstance(value, BadJson) and any(is_conversation(item) for item in _list_conversations(value)):
                yield _Fence(text, source.text.count("\n", 0, opening.end()) + 1, _list_conversations(value))


def _list_conversations(document: object) -> list[object]:
    if isinstance(document, list):
        return document
    return [document] if is_conversation(document) else list_of(mapping_of(document).get("conversations"))


class _Lines:
    """The line of a node's text: from the node's key on, since equal words occur in many nodes."""

    def __init__(self, text: str, first_line: int) -> None:
        self._places = Places(text, first_line)
        self._keys: defaultdict[str, list[int]] = defaultdict(list)
        if "\n" in text:
            for found in _NODE_KEY.finditer(text):
                self._keys[found[1]].append(found.start())
        for positions in self._keys.values():
            positions.reverse()

    def of(self, node_id: str, words: str) -> int:
        positions = self._keys.get(node_id)
        return self._places.line(words, positions.pop() if positions else None)


@dataclass(frozen=True)
class _Tree:
    """The nodes of one conversation. Parents and children are taken from both ends of a link, and cycles are cut."""

    nodes: dict[str, Json]
    current: str
    parents: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for node_id, node in self.nodes.items():
            for child in list_of(node.get("children")):
                if isinstance(child, str) and child in self.nodes:
                    self.parents[child] = node_id
        for node_id, node in self.nodes.items():
            if (parent := text_of(node.get("parent"))) in self.nodes:
                self.parents[node_id] = parent

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """By parent, in the order of the file."""
        children: dict[str, list[str]] = {}
        for node_id in self.nodes:
            children.setdefault(self.parents.get(node_id, ""), []).append(node_id)
        return children

    @cached_property
    def path(self) -> list[str]:
        """From the root to the current node, or where that is missing to the newest leaf."""
        leaves = [node_id for node_id in self.nodes if node_id not in self.children] or list(self.nodes)
        newest = {node_id: (_created(self.nodes[node_id]), place) for place, node_id in enumerate(leaves)}
        at = self.current if self.current in self.nodes else max(leaves, key=newest.__getitem__, default="")
        path: dict[str, None] = {}
        while at and at not in path:
            path[at] = None
            at = self.parents.get(at, "")
        return list(path)[::-1]

    def walk(self) -> Iterator[tuple[str, bool]]:
        """Every node once, a parent before its children and the main child last, and whether it is on the main path."""
        main = set(self.path)
        roots = [node_id for node_id in self.nodes if node_id not in self.parents and node_id not in main]
        stack = [*reversed(list(self.nodes)), *self.path[:1], *reversed(roots)]
        seen: set[str] = set()
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            yield at, at in main
            children = self.children.get(at, [])
            stack.extend(child for child in children if child in main)
            stack.extend(child for child in reversed(children) if child not in main)


def _created(node: Json) -> str:
    return iso_utc(mapping_of(node.get("message")).get("create_time")) or ""


def _read_turns(conversation: Json, lines: _Lines) -> Iterator[Turn]:
    nodes = {node_id: mapping_of(node) for node_id, node in mapping_of(conversation.get("mapping")).items()}
    tree = _Tree(nodes, text_of(conversation.get("current_node")))
    said = [
        (node_id, main, words)
        for node_id, main in tree.walk()
        if (words := parse_message(mapping_of(nodes[node_id].get("message"))))
    ]
    conversation_id = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    conversation_id = conversation_id or conversation_hash((words.role, words.text) for _, _, words in said)
    started = to_the_minute(iso_utc(conversation.get("create_time")))
    about = _metadata(conversation)
    for node_id, main, words in said:
        own_id = words.message_id or node_id
        yield Turn(
            role=words.role,
            content=words.text,
            line=lines.of(node_id, words.first_piece),
            conversation_id=conversation_id,
            timestamp=words.timestamp or started,
            native_id=own_id if len(own_id) >= UNIQUE_LENGTH else None,
            branch="main" if main else "abandoned",
            kind=words.kind,
            metadata=about | dict(words.metadata),
        )


def _metadata(conversation: Json) -> dict[str, object]:
    """What holds for every turn: the title, and the custom GPT or project, of which the export tells only the id."""
    gizmo = text_of(conversation.get("gizmo_id"))
    about = {
        "title": text_of(conversation.get("title")),
        "project_id" if gizmo.startswith(PROJECT_PREFIX) else "gizmo_id": gizmo,
    }
    return {key: value for key, value in about.items() if value}


CHATGPT = Format(
    name="chatgpt",
    version=4,
    detect=confident(recognise, 90),
    read=read,
)
