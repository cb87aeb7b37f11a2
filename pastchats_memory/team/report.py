"""Describe how a team's memory is used, and what was done there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class TeamAccess(NamedTuple):
    """How this memory uses a team's Milvus."""

    endpoint: str
    token: str | None
    author: str
    """Name under which turns are shared."""
    host: str = ""
    """Name of this computer for the others; empty for the system's."""


class SharePreview(NamedTuple):
    """What sharing a project would show to the team."""

    project: str
    endpoint: str
    author: str
    turns: int
    conversations: int
    first: str | None
    last: str | None
    redactions: int
    """Secrets that the present rules would replace once more."""
    prompts: tuple[str, ...]
    """The newest ones, redacted."""


class AuthorCount(NamedTuple):
    """Turns of one author at the team, or in the local copy."""

    author: str
    turns: int
    is_self: bool = False


@dataclass(slots=True)
class PushReport:
    """What was written to the team."""

    projects: list[str] = field(default_factory=list)
    sent: int = 0
    """Turns and episodes that were new or changed."""
    deleted: int = 0
    waiting: int = 0
    """Turns that stay until they have a vector."""
    held_back: list[str] = field(default_factory=list)
    """Shared projects that are private or excluded now; nothing of them is left there."""


@dataclass(slots=True)
class PullReport:
    """What the local copy received."""

    received: int = 0
    deleted: int = 0
    refused: int = 0
    """Rows that are malformed, forgotten here, or of a project that is excluded here."""
    embedded: int = 0
    """Texts that came without a vector of the model in use here."""
    authors: list[AuthorCount] = field(default_factory=list)


class SharedProject(NamedTuple):
    """A project that is shared."""

    project: str
    turns: int
    """Turns here."""
    shared: int
    """Turns there."""


class TeamStatus(NamedTuple):
    """What is shared, and by whom."""

    endpoint: str
    author: str
    member: str
    """Name of this memory's rows; empty before the first `share`."""
    projects: tuple[SharedProject, ...]
    authors: tuple[AuthorCount, ...]
    copied: tuple[AuthorCount, ...]
    """Turns in the local copy."""
    is_merged: bool
    """Whether recall answers from the copy as well."""
