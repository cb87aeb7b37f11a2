"""Define the answer of `digest`."""

from typing import Annotated

from pastchats_memory.episodes.history import SECTIONS, OutcomeCounts
from pastchats_memory.fields import (
    NULL_IF_EMPTY,
    At,
    Count,
    Flat,
    ItemId,
    Shown,
    SourcePath,
    Time,
    View,
    Warnings,
    answer,
    one_of,
)
from pastchats_memory.model import STATUSES
from pastchats_memory.model.episodes import Attempt
from pastchats_memory.store.token_use import TokenUse
from pastchats_memory.views.history import render_digest


class DigestLineView(View):
    """An episode, or an open task, of a digest."""

    section: Annotated[str, one_of(*SECTIONS)]
    project: str
    status: Annotated[str, one_of(*STATUSES), "Status of a task; null for an episode.", NULL_IF_EMPTY]
    replaced_by: Annotated[
        str, "Id of a later request that replaced what was decided; null without one.", NULL_IF_EMPTY
    ]
    id: Annotated[ItemId, At("attempt.id")]
    title: Annotated[str, "Title of the conversation that was worked on, of the episode, or of the task."]
    asked: Annotated[str, "The prompt, or the title of the task.", At("attempt.asked")]
    attempt: Annotated[Attempt, Flat(but=("id", "asked", "source_path"))]
    source_path: Annotated[SourcePath, At("attempt.source_path"), Shown(after="timestamp")]


class SectionCounts(View):
    """Number of further lines by section of a digest."""

    worked_on: Count
    worked: Count
    open: Count
    decided: Count


class TokenRows(View):
    """Tokens that agents reported."""

    by_day: Annotated[tuple[TokenUse, ...], "By day, project, agent and model.", At("")]


@answer("digest/1")
class DigestBody(View):
    """Output of `digest --json`."""

    since: Time
    until: Time
    outcomes: OutcomeCounts
    more: Annotated[SectionCounts, "Further lines, which are older."]
    text: Annotated[str, "The digest as Markdown.", At("", render_digest)]
    tokens: TokenRows
    results: Annotated[tuple[DigestLineView, ...], "By section, project and time.", At("lines")]
    warnings: Warnings
