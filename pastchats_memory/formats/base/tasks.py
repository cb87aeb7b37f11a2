"""What readers of task files share: titles, texts with their headings, the project's folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import PurePath

from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of
from pastchats_memory.model import TaskLink

TRACKER_FOLDERS = frozenset({".beads", ".taskmaster", "tasks", "backlog", ".backlog", "completed", "drafts", "archive", "issues", ".issues"})  # fmt: skip

_TEMPLATE = re.compile(r"(?:issue|pull_request)_template(?:\.|\Z)", re.IGNORECASE)


def titled(text: str) -> str:
    """A title on one line; it is cut where it is stored, once there is no secret in it to be cut in two."""
    return " ".join(text.split())


def word_of(value: object) -> str:
    """A text, or a number as one; nothing for any other type."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_of(value).strip()


def joined(fields: Json, parts: dict[str, str]) -> str:
    """The texts under some keys, each under its heading where it has one, with an empty line between them."""
    found = ((heading, text_of(fields.get(key)).strip()) for key, heading in parts.items())
    return "\n\n".join(f"{heading}:\n{text}" if heading else text for heading, text in found if text)


def names_of(value: object) -> tuple[str, ...]:
    """Texts of a list, or of a text with commas between them; of objects their name."""
    values: Sequence[object] = value.split(",") if isinstance(value, str) else list_of(value)
    found = (word_of(item) or word_of(mapping_of(item).get("name")) for item in values)
    return tuple(dict.fromkeys(name for name in found if name))


def links_to(kind: str, targets: tuple[str, ...]) -> tuple[TaskLink, ...]:
    """A link of the kind to each."""
    return tuple(TaskLink(kind, target) for target in targets)


def folder_of_project(path: PurePath) -> str:
    """The folder above those that trackers keep their files in."""
    folder = path.parent
    while folder.name.lower() in TRACKER_FOLDERS:
        folder = folder.parent
    return str(folder)


def short_hash(text: str) -> str:
    """Eight hexadecimal digits that stand for a text."""
    return hashlib.sha256(" ".join(text.split()).lower().encode("utf-8", "replace")).hexdigest()[:8]


def is_template(path: PurePath) -> bool:
    """Whether the file is what issues or pull requests begin as, and so no task."""
    return any(_TEMPLATE.match(part) for part in path.parts)
