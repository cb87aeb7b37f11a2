"""Define the views of `sync` and `team`."""

from typing import Annotated, Literal, NotRequired, TypedDict

from pastchats_memory.views.schema.fields import Count, Time, Warnings


class SyncCountsView(TypedDict):
    """Numbers of records by kind."""

    turns: Count
    tasks: Count
    judgements: Count
    forgettings: Annotated[Count, "Runs of `forget`, and of `forget --undo`."]


class MachineView(TypedDict):
    """A machine that uses the folder."""

    id: str
    host: Annotated[str, "Name of the computer; empty if none of its files could be read."]
    is_this: bool
    files: Count
    unread: Annotated[Count, "Files that were not read here yet."]
    missing: Annotated[list[int], "Numbers of files that have not arrived."]
    last_at: Annotated[str | None, "When it wrote its newest file, ISO 8601 in UTC."]
    behind: Annotated[Count, "Runs of `forget` here that it has not applied yet."]


class SyncBody(TypedDict):
    """Output of `sync --json`; the results are the machines."""

    schema: Literal["sync/1"]
    folder: str
    sent: SyncCountsView
    received: SyncCountsView
    embedded: Annotated[Count, "Texts that came without a vector of the model in use here."]
    deleted: Annotated[Count, "Rows that were forgotten here, since another machine had forgotten them."]
    rewritten: Annotated[
        Count, "Own files that were replaced, since something in them was forgotten or became private."
    ]
    held_back: Annotated[Count, "Turns and tasks that did not leave, since their project is private or excluded."]
    left_out: Annotated[Count, "Turns and tasks of other machines that were not stored, since they are excluded here."]
    results: list[MachineView]
    warnings: NotRequired[Warnings]


class TeamShareBody(TypedDict):
    """Output of `team share --json`."""

    schema: Literal["team/1"]
    project: str
    endpoint: str
    author: str
    turns: Count
    conversations: Count
    first: Time
    last: Time
    redactions: Annotated[Count, "Secrets that would be replaced once more."]
    is_shared: bool
    results: Annotated[list[str], "The newest prompts, redacted."]


class TeamPushBody(TypedDict):
    """Output of `team push --json`; the results are the shared projects."""

    schema: Literal["team/1"]
    sent: Annotated[Count, "Turns and episodes that were new or changed."]
    deleted: Count
    waiting: Annotated[Count, "Turns that stay until they have a vector."]
    held_back: Annotated[Count, "Shared projects that are private or excluded now."]
    results: list[str]


class TeamAuthorView(TypedDict):
    """An author, with the number of turns."""

    author: str
    turns: Count
    is_self: bool


class TeamPullBody(TypedDict):
    """Output of `team pull --json`; the results are the authors in the copy."""

    schema: Literal["team/1"]
    received: Count
    deleted: Count
    refused: Annotated[Count, "Rows that are malformed, or forgotten or excluded here."]
    embedded: Annotated[Count, "Texts that came without a vector of the model in use here."]
    results: list[TeamAuthorView]


class TeamWithdrawBody(TypedDict):
    """Output of `team withdraw --json`; the results are the withdrawn projects, none for all."""

    schema: Literal["team/1"]
    withdrawn: Annotated[Count, "Rows that were deleted there."]
    results: list[str]


class TeamProjectView(TypedDict):
    """A project that is shared."""

    project: str
    turns: Annotated[Count, "Turns here."]
    shared: Annotated[Count, "Turns there."]


class TeamStatusBody(TypedDict):
    """Output of `team status --json`; the results are the authors at the team."""

    schema: Literal["team/1"]
    endpoint: str
    author: str
    member: Annotated[str, "Name of this memory's rows; empty before the first share."]
    projects: Annotated[dict[str, TeamProjectView], "By name."]
    copied: Annotated[dict[str, Count], "Turns in the local copy, by author."]
    is_merged: Annotated[bool, "Whether every recall answers from the copy as well."]
    results: list[TeamAuthorView]
