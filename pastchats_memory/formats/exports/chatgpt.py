"""ChatGPT data exports and single conversations: a tree of messages each, walked from the current one to the root.

The main path is the chain of parents of `current_node`; edited prompts and regenerated answers are `abandoned` and come
before the branch that replaced them, as they were said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
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
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import IMAGE, clean, conversation_hash, shortened
from pastchats_memory.text.dates import iso_utc, to_the_minute

# One message of a ChatGPT conversation: what a person saw of it, if anything.

NEVER_SHOWN = frozenset(
    {
        "user_editable_context",
        "model_editable_context",
        "thoughts",
        "reasoning_recap",
        "tether_quote",
        "tether_browsing_display",
    }
)
"""Custom instructions, memory, hidden reasoning, pages that were read."""
MEMORY = "bio"
CANVAS = "canmore.create_textdoc"
EVERYONE = ("all", "")

_CITATION = re.compile(r"\ue200([^\ue200\ue201]*)\ue201")
_PRIVATE = re.compile(r"[\ue200-\ue206]")
_SOURCE = re.compile(r"【[^【】\n]{1,200}†[^【】\n]{0,200}】")
_FAULT = re.compile(r"^Traceback |^\w*(Error|Exception)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Said:
    """A message that is worth a turn."""

    role: str
    kind: str
    text: str
    first_piece: str
    """The beginning of the text as it stands in the file, for finding its line."""
    message_id: str
    timestamp: str | None
    metadata: Mapping[str, object]


def said_in(message: Json) -> Said | None:
    """What the message says to a person; None for hidden ones, instructions, memory, calls and results without an error."""
    content, metadata = mapping_of(message.get("content")), mapping_of(message.get("metadata"))
    author = mapping_of(message.get("author"))
    content_type = text_of(content.get("content_type"))
    recipient = text_of(message.get("recipient")) or "all"
    hidden = metadata.get("is_visually_hidden_from_conversation") is True or content_type in NEVER_SHOWN
    if hidden or MEMORY in (recipient, author.get("name")):
        return None
    pieces = _pieces(content)
    text = without_citations(clean("\n".join(pieces))).strip()
    role, kind, text = _classified(text_of(author.get("role")), content_type, recipient, text, message)
    if not text:
        return None
    return Said(
        role=role,
        kind=kind,
        text=text,
        first_piece=next((piece for piece in pieces if piece.strip() and piece != IMAGE), ""),
        message_id=text_of(message.get("id")),
        timestamp=iso_utc(message.get("create_time")),
        metadata=_noted(message, metadata),
    )


def without_citations(text: str) -> str:
    """The text without source markers; of a marker that carries visible words (an entity, a link) the words stay."""
    return _SOURCE.sub("", _PRIVATE.sub("", _CITATION.sub(_visible, text)))


def _visible(marker: re.Match[str]) -> str:
    kind, _, rest = marker[1].partition("\ue202")
    if kind == "entity":
        named = list_of(parse_json(rest))
        return text_of(named[1]) if len(named) > 1 else ""
    return rest.partition("\ue202")[0] if kind == "url" else ""


def _classified(author: str, content_type: str, recipient: str, text: str, message: Json) -> tuple[str, str, str]:
    """Role, kind and text; no text for what is not worth a turn."""
    if author == "user":
        return "user", "prompt", text
    if content_type == "system_error":
        return "tool", "error", shortened(text)
    if author == "tool":
        failed = content_type == "execution_output" and _FAULT.search(text)
        return "tool", "error", shortened(text) if failed else ""
    if author == "system":
        return "system", "prompt", "" if message.get("weight") == 0 else text
    if recipient in EVERYONE:
        return "assistant", "answer", text
    return "tool", "result", _document(text) if recipient == CANVAS else ""


def _document(call: str) -> str:
    """The document that was written to a canvas: it is the answer, and stands nowhere else."""
    fields = mapping_of(parse_json(call))
    text = text_of(fields.get("content"))
    return shortened(f"{text_of(fields.get('name'))}\n\n{text}".strip()) if text else ""


def _pieces(content: Json) -> list[str]:
    parts = content.get("parts")
    if isinstance(parts, list):
        return [piece for part in parts if (piece := _part(part))]
    named = [text_of(content.get(key)) for key in ("name", "text", "result", "content")]
    return [piece for piece in named if piece]


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    fields = mapping_of(part)
    if "image" in text_of(fields.get("content_type")):
        return IMAGE
    return text_of(fields.get("text"))


def _noted(message: Json, metadata: Json) -> dict[str, object]:
    """The model, the names of attached files, and whether the answer was cut off."""
    files = [name for item in list_of(metadata.get("attachments")) if (name := text_of(mapping_of(item).get("name")))]
    status = text_of(message.get("status"))
    noted = {
        "model": text_of(metadata.get("model_slug")),
        "attachments": files,
        "status": status if status == "in_progress" else "",
    }
    return {key: value for key, value in noted.items() if value}


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
        return any(is_conversation(item) for item in _listed(source.outline)[:SAMPLE_RECORDS])
    return any(is_conversation(item) for part in _fenced(source) for item in part.conversations[:SAMPLE_RECORDS])


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of every conversation, abandoned ones among them, with the line on which the text of each begins."""
    if source.shape == "jsonl":
        yield from conversations(
            source, is_conversation, lambda found, places: _turns(found, _Lines("", places.line("")))
        )
    elif source.shape == "json":
        yield from _from_export(source)
    else:
        yield from _from_markdown(source)


def _from_export(source: SourceFile) -> Iterator[Turn | Unreadable]:
    for place, element in enumerate(_elements(source)):
        if isinstance(element, Unreadable):
            yield element
        elif is_conversation(element.value):
            yield from _turns(mapping_of(element.value), _Lines(element.text, element.line))
        else:
            yield Unreadable(str(source.path), element.line, f"item {place} of the export is no conversation")


def _from_markdown(source: SourceFile) -> Iterator[Turn]:
    for part in _fenced(source):
        lines = _Lines(part.text, part.first_line)
        for value in filter(is_conversation, part.conversations):
            yield from _turns(mapping_of(value), lines)


NO_MESSAGE = object()


def is_conversation(value: object) -> bool:
    """Whether the value has a mapping of nodes that hold messages, or an empty one that names the current node."""
    fields = mapping_of(value)
    nodes = fields.get("mapping")
    if not isinstance(nodes, dict):
        return False
    messages = [mapping_of(node).get("message", NO_MESSAGE) for node in nodes.values()]
    told = [mapping_of(message) for message in messages if isinstance(message, dict)]
    if told and not any("author" in message or "content" in message for message in told):
        return False  # another program's tree, as DeepSeek's
    return any(message is not NO_MESSAGE for message in messages) or "current_node" in fields


def _elements(source: SourceFile) -> Iterator[Element | Unreadable]:
    """The items of the export one by one, whatever its size; a single conversation is one of its own."""
    if is_conversation(source.outline):
        yield Element(1, source.document, None, source.text.encode("utf-8", errors="replace"))
    else:
        yield from source.elements(*(() if isinstance(source.outline, list) else ("conversations",)))


@dataclass(frozen=True, slots=True)
class _Part:
    """A JSON text within Markdown, the line of the file at which it starts, and the items of its list of conversations."""

    text: str
    first_line: int
    conversations: list[object]


def _fenced(source: SourceFile) -> Iterator[_Part]:
    if source.shape == "markdown" and '"mapping"' in source.text:
        for opening in _FENCE.finditer(source.text):
            text = source.text[opening.end() :].partition("\n```")[0]
            if len(text) < len(source.text) * FENCED_SHARE:
                continue
            value = parse_json(text)
            if not isinstance(value, BadJson) and any(is_conversation(item) for item in _listed(value)):
                yield _Part(text, source.text.count("\n", 0, opening.end()) + 1, _listed(value))


def _listed(document: object) -> list[object]:
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


def _turns(conversation: Json, lines: _Lines) -> Iterator[Turn]:
    nodes = {node_id: mapping_of(node) for node_id, node in mapping_of(conversation.get("mapping")).items()}
    tree = _Tree(nodes, text_of(conversation.get("current_node")))
    said = [
        (node_id, main, words)
        for node_id, main in tree.walk()
        if (words := said_in(mapping_of(nodes[node_id].get("message"))))
    ]
    conversation_id = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    conversation_id = conversation_id or conversation_hash((words.role, words.text) for _, _, words in said)
    started = to_the_minute(iso_utc(conversation.get("create_time")))
    about = _about(conversation)
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


def _about(conversation: Json) -> dict[str, object]:
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
