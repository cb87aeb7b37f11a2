"""ChatGPT data exports and single conversations: a tree of messages each.

The main path is the chain of parents of `current_node`. Edited prompts and regenerated answers are `abandoned`; they come
before the branch that replaced them, in the order in which they were written.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from pastchats_memory.formats.base.conversation_export import ConversationFile
from pastchats_memory.formats.base.format import CERTAIN
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.locations import in_downloads
from pastchats_memory.formats.base.session import Row
from pastchats_memory.formats.base.source import SAMPLE_RECORDS, Places, SourceFile
from pastchats_memory.formats.base.values import BadJson, Json, list_of, mapping_of, parse_json, text_of
from pastchats_memory.formats.exports.chatgpt.message import parse_message
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

UNIQUE_LENGTH = 16
"""Characters of an id from which on it is unique in every export."""
FENCED_SHARE = 0.5
"""The least share of JSON in a Markdown file: with less it is a text about exports."""
PROJECT_PREFIX = "g-p-"

_FENCE = re.compile(r"^```json[ \t]*\n(?=\s*[{\[])", re.MULTILINE)
_NODE_KEY = re.compile(r'"([\w-]{1,64})"\s{0,8}:\s{0,8}\{')


class _ChatGpt(ConversationFile):
    """Conversations with a `mapping` of nodes; the other files of an export have none."""

    list_keys = ("conversations",)

    def is_conversation(self, value: object) -> bool:
        """Return whether a value has nodes that hold messages, or an empty mapping and a current node."""
        fields = mapping_of(value)
        nodes = fields.get("mapping")
        if not isinstance(nodes, dict):
            return False
        found = list(map(mapping_of, nodes.values()))
        filled = [mapping_of(node["message"]) for node in found if isinstance(node.get("message"), dict)]
        if filled and not any("author" in message or "content" in message for message in filled):
            return False  # a tree of another program, such as DeepSeek
        return any("message" in node for node in found) or "current_node" in fields

    def detect(self, source: SourceFile) -> int:
        """Return 90 for a file with a conversation, also for Markdown that consists of one as JSON; else 0."""
        if source.shape != "markdown":
            return super().detect(source)
        found = (item for _, _, conversations in self._fences(source) for item in conversations[:SAMPLE_RECORDS])
        return CERTAIN if any(map(self.is_conversation, found)) else 0

    def read(self, source: SourceFile) -> Iterator[Row]:
        if source.shape == "json":
            yield from self._read_export(source)
        elif source.shape == "jsonl":
            yield from super().read(source)
        else:
            for text, first_line, conversations in self._fences(source):
                lines = _NodeLines(text, first_line)
                for value in filter(self.is_conversation, conversations):
                    yield from _read_turns(mapping_of(value), lines)

    def _read_export(self, source: SourceFile) -> Iterator[Turn | Unreadable]:
        for place, element in enumerate(self.elements(source)):
            if isinstance(element, Unreadable):
                yield element
            elif self.is_conversation(element.value):
                yield from self.read_conversation(mapping_of(element.value), element.text, element.line, source)
            else:
                yield Unreadable(str(source.path), element.line, f"item {place} of the export is no conversation")

    def read_conversation(self, conversation: Json, text: str, line: int, _source: SourceFile) -> Iterator[Turn]:
        """Yield the turns of one conversation, each with the line at which its text begins."""
        yield from _read_turns(conversation, _NodeLines(text, line))

    def _fences(self, source: SourceFile) -> Iterator[tuple[str, int, list[object]]]:
        """Yield text, first line and conversations of the JSON blocks that make up most of a Markdown file."""
        if source.shape == "markdown" and '"mapping"' in source.text:
            for opening in _FENCE.finditer(source.text):
                text = source.text[opening.end() :].partition("\n```")[0]
                if len(text) < len(source.text) * FENCED_SHARE:
                    continue
                value = parse_json(text)
                listed = [] if isinstance(value, BadJson) else self._listed(value)
                if any(map(self.is_conversation, listed)):
                    yield text, source.text.count("\n", 0, opening.end()) + 1, listed

    def _listed(self, document: object) -> list[object]:
        if isinstance(document, list):
            return document
        return [document] if self.is_conversation(document) else list_of(mapping_of(document).get("conversations"))


class _NodeLines:
    """Finds the line of a node's text: searched from the node's key on, since equal words occur in many nodes."""

    def __init__(self, text: str, first_line: int) -> None:
        self._places = Places(text, first_line)
        self._keys: defaultdict[str, list[int]] = defaultdict(list)
        if "\n" in text:
            for found in _NODE_KEY.finditer(text):
                self._keys[found[1]].append(found.start())
        for positions in self._keys.values():
            positions.reverse()

    def line_of(self, node_id: str, words: str) -> int:
        positions = self._keys.get(node_id)
        return self._places.line(words, positions.pop() if positions else None)


@dataclass(frozen=True)
class _Tree:
    """The nodes of one conversation. Links come from parents and from children; cycles are cut."""

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
        return group_by_key((self.parents.get(node_id, ""), node_id) for node_id in self.nodes)

    @cached_property
    def path(self) -> list[str]:
        """The nodes from the root to the current one; without a current node to the newest leaf."""
        leaves = [node_id for node_id in self.nodes if node_id not in self.children] or list(self.nodes)
        newest = {node_id: (_time_of(self.nodes[node_id]), place) for place, node_id in enumerate(leaves)}
        at = self.current if self.current in self.nodes else max(leaves, key=newest.__getitem__, default="")
        path: dict[str, None] = {}
        while at and at not in path:
            path[at] = None
            at = self.parents.get(at, "")
        return list(path)[::-1]

    def walk(self) -> Iterator[tuple[str, bool]]:
        """Yield each node once with whether it is on the main path: parents first, the main child last."""
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


def _time_of(node: Json) -> str:
    return iso_utc(mapping_of(node.get("message")).get("create_time")) or ""


def _read_turns(conversation: Json, lines: _NodeLines) -> Iterator[Turn]:
    nodes = {node_id: mapping_of(node) for node_id, node in mapping_of(conversation.get("mapping")).items()}
    tree = _Tree(nodes, text_of(conversation.get("current_node")))
    parsed = ((own, is_main, parse_message(mapping_of(nodes[own].get("message")))) for own, is_main in tree.walk())
    shown = [(node_id, is_main, message) for node_id, is_main, message in parsed if message]
    conversation_id = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    conversation_id = conversation_id or conversation_hash((message.role, message.text) for _, _, message in shown)
    started = to_the_minute(iso_utc(conversation.get("create_time")))
    metadata = _metadata(conversation)
    for node_id, is_main, message in shown:
        own_id = message.message_id or node_id
        native_id = own_id if len(own_id) >= UNIQUE_LENGTH else None
        time, branch = message.timestamp or started, "main" if is_main else "abandoned"
        line, facts = lines.line_of(node_id, message.first_text), metadata | dict(message.metadata)
        words = (message.role, message.text, line, None, conversation_id, time)
        yield Turn(*words, native_id=native_id, branch=branch, kind=message.kind, metadata=facts)


def _metadata(conversation: Json) -> dict[str, object]:
    """Return the title, and the id of the custom GPT or project, whose name the export lacks."""
    gizmo = text_of(conversation.get("gizmo_id"))
    key = "project_id" if gizmo.startswith(PROJECT_PREFIX) else "gizmo_id"
    metadata = {"title": text_of(conversation.get("title")), key: gizmo}
    return {key: value for key, value in metadata.items() if value}


CHATGPT = _ChatGpt().as_format(
    "chatgpt",
    4,
    service="chatgpt",
    locations=in_downloads("conversations.json", "*[Cc]hat[Gg][Pp][Tt]*.zip", "[0-9a-f]*-20??-??-??-??-??-??-*.zip"),
)
