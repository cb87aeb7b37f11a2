"""Define the views of `forget`, `prune` and `purge`."""

from typing import Annotated, Literal, NotRequired, TypedDict

from pastchats_memory.views.schema.fields import Count, ItemId, ItemType, Warned, one_of


class ForgettableView(TypedDict):
    """A row that would be forgotten."""

    id: ItemId
    type: ItemType
    project: str
    timestamp: str | None
    content: Annotated[str, "Empty for a row of a private project that may not be seen from here."]


class SelectorView(TypedDict):
    """The choice of what was forgotten."""

    ids: NotRequired[Annotated[list[str], {"maxItems": 50}]]
    conversation: NotRequired[str]
    source: NotRequired[str]
    project: NotRequired[str]
    since: NotRequired[str]
    until: NotRequired[str]
    before: NotRequired[str]
    query: NotRequired[Annotated[None, "Its words are not stored."]]


class ForgettingView(TypedDict):
    """One time that something was forgotten."""

    number: Annotated[int, {"minimum": 1}]
    at: Annotated[str, "ISO 8601 in UTC."]
    selector: Annotated[SelectorView, {"minProperties": 1}]
    turns: Count
    tasks: Count
    comments: Annotated[Count, "Comments of tasks that stay."]
    attachments: Annotated[Count, "Attachments of tasks that stay."]


class ForgetCounts(TypedDict):
    """Number of rows by kind."""

    turns: Count
    tasks: Count
    comments: Annotated[Count, "Comments of tasks that stay."]
    attachments: Annotated[Count, "Attachments of tasks that stay."]
    private: Annotated[Count, "Rows of private projects, which stay because they may not be seen from here."]


class FoundFields(ForgetCounts, Warned):
    """What would be forgotten; nothing is forgotten yet."""

    outcome: Literal["found"]
    results: Annotated[list[ForgettableView], {"maxItems": 1000}]


class ForgottenFields(ForgetCounts, Warned):
    """What was forgotten."""

    outcome: Literal["forgotten"]
    results: Annotated[list[ForgettingView], {"minItems": 1, "maxItems": 1}]


class ForgetFoundBody(FoundFields):
    """Output of `forget --json` before anything is forgotten."""

    schema: Literal["forget/1"]


class ForgetForgottenBody(ForgottenFields):
    """Output of `forget --json` after something was forgotten."""

    schema: Literal["forget/1"]


class ForgetListBody(TypedDict):
    """Output of `forget --list --json` and `forget --undo --json`."""

    schema: Literal["forget/1"]
    outcome: Annotated[str, one_of("listed", "undone")]
    results: list[ForgettingView]


class PruneFoundBody(FoundFields):
    """Output of `prune --json` before anything is forgotten."""

    schema: Literal["prune/1"]


class PruneForgottenBody(ForgottenFields):
    """Output of `prune --json` after something was forgotten."""

    schema: Literal["prune/1"]


class PurgedView(TypedDict):
    """Contents of a memory that is, or would be, deleted."""

    turns: Count
    tasks: Count


class PurgeBody(TypedDict):
    """Output of `purge --json`."""

    schema: Literal["purge/1"]
    outcome: Annotated[str, one_of("found", "purged"), "found: nothing was deleted."]
    results: Annotated[list[PurgedView], {"minItems": 1, "maxItems": 1}]
