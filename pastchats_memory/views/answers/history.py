"""Define the answer of `digest`."""

from typing import Annotated

from pastchats_memory import fields
from pastchats_memory.episodes.history import SECTIONS, OutcomeCounts
from pastchats_memory.model import STATUSES
from pastchats_memory.model.episodes import Attempt
from pastchats_memory.store.token_use import TokenUse
from pastchats_memory.views.history import render_digest


class DigestLineView(fields.View):
    """An episode, or an open task, of a digest."""

    section: Annotated[str, fields.one_of(*SECTIONS)]
    project: str
    status: Annotated[str, fields.one_of(*STATUSES), "Status of a task; null for an episode.", fields.NULL_IF_EMPTY]
    replaced_by: Annotated[
        str, "Id of a later request that replaced what was decided; null without one.", fields.NULL_IF_EMPTY
    ]
    id: Annotated[fields.ItemId, fields.At("attempt.id")]
    title: Annotated[str, "Title of the conversation that was worked on, of the episode, or of the task."]
    asked: Annotated[str, "The prompt, or the title of the task.", fields.At("attempt.asked")]
    attempt: Annotated[Attempt, fields.Flat(but=("id", "asked", "source_path"))]
    source_path: Annotated[fields.SourcePath, fields.At("attempt.source_path"), fields.Shown(after="timestamp")]


class SectionCounts(fields.View):
    """Number of further lines by section of a digest."""

    worked_on: fields.Count
    worked: fields.Count
    open: fields.Count
    decided: fields.Count


class TokenRows(fields.View):
    """Tokens that agents reported."""

    by_day: Annotated[tuple[TokenUse, ...], "By day, project, agent and model.", fields.At("")]


@fields.answer("digest/1")
class DigestBody(fields.View):
    """Output of `digest --json`."""

    since: fields.Time
    until: fields.Time
    outcomes: OutcomeCounts
    more: Annotated[SectionCounts, "Further lines, which are older."]
    text: Annotated[str, "The digest as Markdown.", fields.At("", render_digest)]
    tokens: TokenRows
    results: Annotated[tuple[DigestLineView, ...], "By section, project and time.", fields.At("lines")]
    warnings: fields.Warnings
