"""Titles, texts below headings, links and project folders, for all formats of task files."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, text_of
from pastchats_memory.model import TaskLink
from pastchats_memory.redact import redact_by_rules
from pastchats_memory.text.timestamps import iso_utc

TRACKER_FOLDERS = frozenset({".beads", ".taskmaster", "tasks", "backlog", ".backlog", "completed", "drafts", "archive", "issues", ".issues"})  # fmt: skip

_TEMPLATE = re.compile(r"(?:issue|pull_request)_template(?:\.|\Z)", re.IGNORECASE)


def one_line(text: str) -> str:
    """Return a title on one line. The store shortens it after redaction, since a cut could split a secret in two."""
    return " ".join(text.split())


def word_of(value: object) -> str:
    """Return a text, or a whole number as text; `""` for any other type."""
    number = number_of(value)
    return text_of(value).strip() if number is None else str(number)


def join_sections(fields: Json, sections: dict[str, str]) -> str:
    """Return the texts under some keys, each below its heading if that is not empty."""
    found = ((heading, text_of(fields.get(key)).strip()) for key, heading in sections.items())
    return "\n\n".join(f"{heading}:\n{text}" if heading else text for heading, text in found if text)


def names_of(value: object) -> tuple[str, ...]:
    """Return the names in a list of texts or objects, or in a text with commas."""
    values: Sequence[object] = value.split(",") if isinstance(value, str) else list_of(value)
    found = (word_of(item) or word_of(mapping_of(item).get("name")) for item in values)
    return tuple(dict.fromkeys(name for name in found if name))


def times_of(fields: Json, **keys: str) -> dict[str, Any]:
    """Return the times under some keys, by the names that they have in a task."""
    return {name: iso_utc(fields.get(key)) for name, key in keys.items()}


def links_to(kind: str, targets: tuple[str, ...]) -> tuple[TaskLink, ...]:
    """Return a link of one kind to each target."""
    return tuple(TaskLink(kind, target) for target in targets)


def folder_of_project(path: PurePath) -> str:
    """Return the folder of the project, above the folders of its tracker."""
    folder = path.parent
    while folder.name.lower() in TRACKER_FOLDERS:
        folder = folder.parent
    return str(folder)


def short_hash(text: str) -> str:
    """Return eight hexadecimal digits that stand for a text without its secrets."""
    return hashlib.sha256(" ".join(redact_by_rules(text).split()).lower().encode("utf-8", "replace")).hexdigest()[:8]


def is_template(path: PurePath) -> bool:
    """Return whether a file is a template of issues or pull requests, and so no task."""
    return any(_TEMPLATE.match(part) for part in path.parts)
