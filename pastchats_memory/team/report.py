"""Describe how a team's memory is used, and what was done there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from pastchats_memory.fields import As, At, Count, Shown, Time, answer, shown_as
from pastchats_memory.text.encoding import utf8


class TeamAccess(NamedTuple):
    """How this memory uses a team's server."""

    endpoint: str
    token: str | None
    author: str
    """Name under which turns are shared; PostgreSQL takes the role that is logged in."""
    host: str = ""
    """Name of this computer for the others; empty for the system's."""


class SharePreview(NamedTuple):
    """What sharing a project would show to the team."""

    project: str
    endpoint: str
    author: str
    turns: Count
    conversations: Count
    first: Time
    last: Time
    redactions: Annotated[Count, "Secrets that would be replaced once more."]
    prompts: Annotated[tuple[str, ...], "The newest prompts, redacted.", Shown("results")]


@shown_as("TeamAuthorView")
class AuthorCount(NamedTuple):
    """An author, with the number of turns."""

    author: str
    turns: Count
    """At the team, or in the local copy."""
    is_self: bool = False


@answer("team/1", name="TeamPushBody", title="Output of `team push --json`; the results are the shared projects.")
@dataclass(slots=True)
class PushReport:
    """What was written to the team."""

    projects: Annotated[list[str], Shown("results", after="held_back")] = field(default_factory=list)
    sent: Annotated[Count, "Turns and episodes that were new or changed."] = 0
    deleted: Count = 0
    waiting: Annotated[Count, "Turns that stay until they have a vector."] = 0
    held_back: Annotated[
        list[str], "Shared projects that are private or excluded now.", As(Count), At("held_back", len)
    ] = field(default_factory=list)
    """Nothing of them is left there."""


@answer("team/1", name="TeamPushPreviewBody", title="Output of `team push --dry-run --json`.")
class PushPreview(NamedTuple):
    """What a push would write to the team, and delete there."""

    rows: Count
    bytes: Annotated[Count, "Of the rows' texts, vectors and other fields."]
    deleted: Count
    waiting: Annotated[Count, "Turns that stay until they have a vector."]
    author: str
    sample: Annotated[Mapping[str, object], As(dict[str, object]), "The first row, whole."]
    longest: Annotated[tuple[str, ...], Shown("results"), "The ten longest texts, redacted."]


class TrialPerson(NamedTuple):
    """A person of a team that only tries it."""

    name: str
    endpoint: str


@answer("team/1", name="TeamTryBody", title="Output of `team try --json`; the results are the people.")
class Trial(NamedTuple):
    """A server that was started or stopped, to try a team's memory."""

    folder: str
    is_running: bool
    people: Annotated[tuple[TrialPerson, ...], Shown("results")] = ()


@answer("team/1", name="TeamPullBody", title="Output of `team pull --json`; the results are the authors in the copy.")
@dataclass(slots=True)
class PullReport:
    """What the local copy received."""

    received: Count = 0
    deleted: Count = 0
    refused: Annotated[Count, "Rows that are malformed, or forgotten or excluded here."] = 0
    embedded: Annotated[Count, "Texts that came without a vector of the model in use here."] = 0
    authors: Annotated[list[AuthorCount], Shown("results")] = field(default_factory=list)


@shown_as("TeamProjectView")
class SharedProject(NamedTuple):
    """A project that is shared."""

    project: str
    turns: Annotated[Count, "Turns here."]
    shared: Annotated[Count, "Turns there."]


@answer(
    "team/1", name="TeamStatusBody", title="Output of `team status --json`; the results are the authors at the team."
)
class TeamStatus(NamedTuple):
    """What is shared, and by whom."""

    endpoint: Annotated[str, At("endpoint", utf8)]
    author: str
    member: Annotated[str, "Name of this memory's rows; empty before the first share."]
    projects: Annotated[
        tuple[SharedProject, ...],
        As(dict[str, SharedProject]),
        At("projects", lambda shared: {one.project: one._asdict() for one in shared}),
        "By name.",
    ]
    authors: Annotated[tuple[AuthorCount, ...], Shown("results", after="is_merged")]
    copied: Annotated[
        tuple[AuthorCount, ...],
        As(dict[str, Count]),
        At("copied", lambda authors: {one.author: one.turns for one in authors}),
        "Turns in the local copy, by author.",
    ]
    is_merged: Annotated[bool, "Whether every recall answers from the copy as well."]
