"""A Gemini CLI session as a list of changes, from one document or a log, and the messages that remain."""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pastchats_memory.formats.agents.gemini.content import find_workspace, is_compression, visible_text
from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume
from pastchats_memory.formats.base.session import find_folder, folder_of
from pastchats_memory.formats.base.sibling_files import read_sibling, read_sibling_json
from pastchats_memory.formats.base.source import Element, Record, SourceFile
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.model import Unreadable

HEADER = ("sessionId", "projectHash", "startTime", "summary", "directories", "kind")
"""Keys of a header that hold for its messages."""
SPEAKERS = ("user", "gemini", "qwen", "info", "error", "warning")


def is_header(record: Json) -> bool:
    """Return whether an object is the header of a session."""
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def is_change(record: Json) -> bool:
    """Return whether a record changes earlier ones."""
    return "$set" in record or "$rewindTo" in record


def is_message(record: Json) -> bool:
    """Return whether an object is a message of a session."""
    return record.get("type") in SPEAKERS and "content" in record and isinstance(record.get("id"), str)


def is_answer(record: Json) -> bool:
    """Return whether an object is an answer, which no other program names like this."""
    return record.get("type") == "gemini" and is_message(record)


def records_of(source: SourceFile, records: Iterable[Record | Unreadable]) -> Iterator[Record | Unreadable]:
    """Yield header, messages and changes in file order, and a checkpoint's new messages before the checkpoint.

    Messages that a checkpoint repeats are skipped: it may shorten them to what the model still gets.
    """
    if source.shape == "json":
        yield Record(1, {key: value for key, value in mapping_of(source.outline).items() if key != "messages"})
        for place, element in enumerate(source.elements("messages")):
            yield _with_id(Record(element.line, element.value), place) if isinstance(element, Element) else element
        return
    responses = set[str]()
    for item in records:
        replaced = mapping_of(mapping_of(item.value).get("$set")).get("messages") if isinstance(item, Record) else None
        for message in list_of(replaced):
            if text_of(mapping_of(message).get("id")) not in responses:
                yield Record(item.line, message)
        responses.add(text_of(mapping_of(item.value).get("id")) if isinstance(item, Record) else "")
        yield _with_id(item, item.line) if isinstance(item, Record) else item


def _with_id(record: Record, place: int) -> Record:
    """Give a message without an id its place in the file as its id."""
    value = record.value
    if not isinstance(value, dict) or "id" in value or not is_message(named := value | {"id": f"message-{place}"}):
        return record
    return Record(record.line, named)


@dataclass(slots=True)
class FirstPass:
    """First pass: the last record of each message, and whether a rewind or a checkpoint removed it."""

    header: Json = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    """The position of the final record of each message id."""
    living: dict[str, None] = field(default_factory=dict)
    """The ids of the messages on the current branch, in order."""
    cwd: str | None = None
    before: dict[str, None] = field(default_factory=dict)
    """The ids of the messages of the shorter file."""
    growing: frozenset[str] = frozenset()
    """Those of them that may still grow."""

    def snapshot(self) -> Json:
        """Return what a longer file needs, as JSON."""
        known = list(deque((*self.before, *self.last), RECENT))
        header = {key: value for key, value in self.header.items() if key in HEADER}
        return {"header": header, "cwd": self.cwd, "known": known}

    def restore(self, state: Json, growing: frozenset[str]) -> None:
        """Restore the snapshot of the shorter file."""
        self.header = mapping_of(state.get("header"))
        self.cwd = text_of(state.get("cwd")) or None
        self.before, self.growing = dict.fromkeys(map(text_of, list_of(state.get("known")))), growing

    def add(self, record: Json, position: int) -> None:
        """Add the next record. Raises CannotResume if it changes messages of the shorter file."""
        if is_header(record):
            self.header = record | self.header
        elif is_message(record):
            own_id = text_of(record["id"])
            if own_id in self.before and own_id not in self.growing:
                raise CannotResume(f"{own_id} was told before")
            self.last[own_id] = position
            self.living[own_id] = None
            context = visible_text(record["content"]) if record["type"] == "user" and not self.cwd else ""
            self.cwd = self.cwd or find_workspace(context) or self._folder_from_calls(record)
        else:
            self._change(record)

    def _change(self, record: Json) -> None:
        changes = mapping_of(record.get("$set"))
        if isinstance(changes.get("messages"), list):
            self._check_appended_record("the messages begin anew")
            snapshot = objects_of(changes["messages"])
            compressed = any(is_compression(visible_text(message.get("content"))) for message in snapshot)
            living = self.living if compressed else {}
            self.living = living | dict.fromkeys(text_of(message.get("id")) for message in snapshot)
        self.header |= {key: value for key, value in changes.items() if key != "messages"}
        if "$rewindTo" in record:
            ids = list(self.living)
            target = text_of(record["$rewindTo"])
            if target not in self.living or target in self.growing:
                self._check_appended_record(f"rewound to {target}")
            self.living = dict.fromkeys(ids[: ids.index(target)] if target in self.living else [])

    def _check_appended_record(self, reason: str) -> None:
        if self.before:
            raise CannotResume(reason)

    def _folder_from_calls(self, record: Json) -> str | None:
        """Return the folder along a path in a tool call that has the session's hash, or None."""
        wanted = text_of(self.header.get("projectHash"))
        for call in objects_of(record.get("toolCalls")):
            for value in mapping_of(call.get("args")).values():
                if found := find_folder(text_of(value), lambda folder: _hash(folder) == wanted):
                    return found
        return None


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()


def project_folder(path: Path, header: Json) -> str | None:
    """Return the working directory from the files next to the sessions, or the session's folder with its hash.

    `tmp/<project>/.project_root` has the path; `projects.json` maps paths to the names of the folders in `tmp`.
    """
    chats = next((folder for folder in path.parents if folder.name == "chats"), None)
    if chats is not None:
        home = chats.parent
        if root := read_sibling(home / ".project_root").strip():
            return root
        listed = mapping_of(mapping_of(read_sibling_json(home.parent.parent / "projects.json")).get("projects"))
        for folder, name in listed.items():
            if name == home.name or _hash(folder) == header.get("projectHash"):
                return folder
    folders = (folder_of(folder) for folder in list_of(header.get("directories")))
    return next((folder for folder in folders if folder and _hash(folder) == header.get("projectHash")), None)
