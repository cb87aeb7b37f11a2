"""Define the answers of `forget`, `prune` and `purge`."""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pastchats_memory.fields import At, Count, Flat, View, Warnings, answer, one_of
from pastchats_memory.maintenance.forget import ForgetResult
from pastchats_memory.store.deletion import PreviewRow
from pastchats_memory.store.tombstones import Forgetting
from pastchats_memory.views.answers.listing import ONE
from pastchats_memory.views.forgetting import describe_mentions
from pastchats_memory.views.to_json import to_json

COUNTS = ("turns", "tasks", "comments", "attachments", "private")


class FoundFields(View):
    """What would be forgotten; nothing is forgotten yet."""

    outcome: Annotated[Literal["found"], At("", lambda _: "found")]
    counts: Annotated[ForgetResult, At(""), Flat(COUNTS)]
    results: Annotated[Sequence[PreviewRow], At("rows"), {"maxItems": 1000}]
    warnings: Annotated[Warnings, At("mentions", describe_mentions)]


class ForgottenFields(View):
    """What was forgotten."""

    outcome: Annotated[Literal["forgotten"], At("", lambda _: "forgotten")]
    counts: Annotated[ForgetResult, At(""), Flat(COUNTS)]
    results: Annotated[
        Sequence[Forgetting], At("", lambda gone: [] if gone.forgetting is None else [to_json(gone.forgetting)]), ONE
    ]
    warnings: Annotated[Warnings, At("mentions", describe_mentions)]


@answer("forget/1")
class ForgetFoundBody(FoundFields):
    """Output of `forget --json` before anything is forgotten."""


@answer("forget/1")
class ForgetForgottenBody(ForgottenFields):
    """Output of `forget --json` after something was forgotten."""


@answer("prune/1")
class PruneFoundBody(FoundFields):
    """Output of `prune --json` before anything is forgotten."""


@answer("prune/1")
class PruneForgottenBody(ForgottenFields):
    """Output of `prune --json` after something was forgotten."""


@answer("forget/1")
class ForgetListBody(NamedTuple):
    """Output of `forget --list --json` and `forget --undo --json`."""

    outcome: Annotated[str, one_of("listed", "undone")]
    results: Sequence[Forgetting]


class Purged(NamedTuple):
    """Contents of a memory that is, or would be, deleted."""

    turns: Count
    tasks: Count


@answer("purge/1")
class PurgeBody(NamedTuple):
    """Output of `purge --json`."""

    outcome: Annotated[str, one_of("found", "purged"), "found: nothing was deleted."]
    results: Annotated[Sequence[Purged], ONE]
