"""A Gemini CLI session as a list of changes, from one document or a log, and the messages that remain."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pastchats_memory.formats.agents.gemini.content import (
    is_compression,
    visible_text,
)
from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume
from pastchats_memory.formats.base.session import find_folder, folder_of
from pastchats_memory.formats.base.sibling_files import is_sibling, read_sibling
from pastchats_memory.formats.base.source import (
    Element,
    Json,
    Record,
    Records,
    SourceFile,
    list_of,
    mapping_of,
    text_of,
)
from pastchats_memory.model import Unreadable

HEADER = ("sessionId", "projectHash", "startTime", "summary", "directories", "kind")
"""What a header says of its messages."""
SPEAKERS = ("user", "gemini", "qwen", "info", "error", "warning")


def is_header(record: Json) -> bool:
    """Whether the object tells of a session."""
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def is_change(record: Json) -> bool:
    """Whether the line changes what stands above it."""
    return "$set" in record or "$rewindTo" in record


def is_message(record: Json) -> bool:
    """Whether the object is a message of a session."""
    return record.get("type") in SPEAKERS and "content" in record and isinstance(record.get("id"), str)


def records_of(source: SourceFile, records: Records) -> Iterator[Record | Unreadable]:
    """Header, messages and changes in file order; a checkpoint's new messages come one by one before the checkpoint itself.

    What it repeats is left: it may be cut there to what the model still gets.
    """
    if source.shape == "json":
        yield Record(1, {key: value for key, value in mapping_of(source.outline).items() if key != "messages"})
        for element in source.elements("messages"):
            yield Record(element.line, element.value) if isinstance(element, Element) else element
        return
    told = set[str]()
    for item in records:
        replaced = mapping_of(mapping_of(item.value).get("$set")).get("messages") if isinstance(item, Record) else None
        for message in list_of(replaced):
            if text_of(mapping_of(message).get("id")) not in told:
                yield Record(item.line, message)
        told.add(text_of(mapping_of(item.value).get("id")) if isinstance(item, Record) else "")
        yield item


@dataclass(slots=True)
class Overview:
    """The first pass: where each message is said last, and whether a rewinding or a checkpoint took it away."""

    header: Json = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    """By message id, the position of the record that has its final words."""
    living: dict[str, None] = field(default_factory=dict)
    """Ids of the messages on the current branch, in order."""
    cwd: str | None = None
    before: dict[str, None] = field(default_factory=dict)
    """Ids of the messages that were told when the file was shorter."""
    growing: frozenset[str] = frozenset()
    """Those of them that may have more to say."""

    def snapshot(self) -> Json:
        """What must be known to go on when the file has grown, as JSON."""
        known = list(deque((*self.before, *self.last), RECENT))
        header = {key: value for key, value in self.header.items() if key in HEADER}
        return {"header": header, "cwd": self.cwd, "known": known}

    def restore(self, state: Json, growing: frozenset[str]) -> None:
        """Take up what `state` gave when the file was shorter."""
        self.header = mapping_of(state.get("header"))
        self.cwd = text_of(state.get("cwd")) or None
        self.before, self.growing = dict.fromkeys(map(text_of, list_of(state.get("known")))), growing

    def add(self, record: Json, position: int) -> None:
        """One record more, in file order.

        Raises:
            CannotResume: what was added to the file changes messages that were told before.
        """
        if is_header(record):
            self.header = record | self.header
        elif is_message(record):
            own_id = text_of(record["id"])
            if own_id in self.before and own_id not in self.growing:
                raise CannotResume(f"{own_id} was told before")
            self.last[own_id] = position
            self.living[own_id] = None
            self.cwd = self.cwd or self._told_by_tools(record)
        else:
            self._change(record)

    def _change(self, record: Json) -> None:
        changes = mapping_of(record.get("$set"))
        if isinstance(changes.get("messages"), list):
            self._refuse_what_reaches_back("the messages begin anew")
            kept = [mapping_of(message) for message in list_of(changes["messages"])]
            compressed = any(is_compression(visible_text(message.get("content"))) for message in kept)
            living = self.living if compressed else {}
            self.living = living | dict.fromkeys(text_of(message.get("id")) for message in kept)
        self.header |= {key: value for key, value in changes.items() if key != "messages"}
        if "$rewindTo" in record:
            ids = list(self.living)
            target = text_of(record["$rewindTo"])
            if target not in self.living or target in self.growing:
                self._refuse_what_reaches_back(f"rewound to {target}")
            self.living = dict.fromkeys(ids[: ids.index(target)] if target in self.living else [])

    def _refuse_what_reaches_back(self, reason: str) -> None:
        if self.before:
            raise CannotResume(reason)

    def _told_by_tools(self, record: Json) -> str | None:
        """The project's folder, if a path that a tool was given lies in it: its hash is that of the session."""
        wanted = text_of(self.header.get("projectHash"))
        for call in map(mapping_of, list_of(record.get("toolCalls"))):
            for value in mapping_of(call.get("args")).values():
                if found := find_folder(text_of(value), lambda folder: _hash(folder) == wanted):
                    return found
        return None


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()


def project_folder(path: Path, header: Json) -> str | None:
    """The working directory as Gemini CLI keeps it beside its sessions, else one of the session's folders with its hash.

    `tmp/<project>/.project_root` has the path; `projects.json` maps paths to the names of the folders in `tmp`.
    """
    chats = next((folder for folder in path.parents if folder.name == "chats"), None)
    if chats is not None:
        home = chats.parent
        if root := read_sibling(home / ".project_root").strip():
            return root
        listed = mapping_of(mapping_of(_json_in(home.parent.parent / "projects.json")).get("projects"))
        for folder, name in listed.items():
            if name == home.name or _hash(folder) == header.get("projectHash"):
                return folder
    folders = (folder_of(folder) for folder in list_of(header.get("directories")))
    return next((folder for folder in folders if folder and _hash(folder) == header.get("projectHash")), None)


def _json_in(path: Path) -> object:
    return SourceFile(path).document if is_sibling(path) else None
