"""Define the answers of search, recall, lessons and shown items."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pastchats_memory.fields import IF_ANY, As, At, Count, Flat, Narrowed, Resume, View, Warnings, answer
from pastchats_memory.model import NO_CONTRIBUTIONS, TASK_FIELDS, TURN_TYPES, Hit, Hits, TimeRead, episodes
from pastchats_memory.text.display import one_line
from pastchats_memory.views.answers.listing import Listing
from pastchats_memory.views.text import format_citation
from pastchats_memory.views.to_json import to_json

Body = dict[str, Any]
"""The JSON object of an answer."""
ResumeLines = Mapping[str, str]
"""Command lines that resume sessions, by the id of a turn."""
NO_LINES: ResumeLines = MappingProxyType({})
Source = Annotated[
    str,
    {"minLength": 1},
    "path:line (turn N) of a turn or note; path:line of a task, or the remark that it was made by hand.",
]
CheckedSource = Annotated[Source, Narrowed("type", TURN_TYPES, {"pattern": r"^.+ \(turn [0-9]+(; .+)?\)$"})]
Budget = Annotated[int, {"minimum": 1}, "Most tokens of the text."]
Tokens = Annotated[Count, "Upper bound of the tokens of the text."]


@answer("search/1")
class SearchBody(NamedTuple):
    """Output of `search --json`."""

    time: Annotated[TimeRead | None, "With --explain: the time that the query names; absent if none.", IF_ANY]
    results: tuple[Hit, ...]
    warnings: Warnings


def build_search(hits: Hits, resume_lines: ResumeLines = NO_LINES, *, explain: bool = False) -> Body:
    """Build `search/1`; with `explain` it has contributions whose sum is the score, and the time that the query names."""
    time = hits.time_read if explain else None
    return to_json(SearchBody(time, complete_hits(hits, resume_lines, explain=explain), hits.warnings))


def complete_hits(hits: Iterable[Hit], resume_lines: ResumeLines, *, explain: bool = False) -> tuple[Hit, ...]:
    """Return hits with the lines that resume their sessions, and with their contributions only to explain them."""
    return tuple(
        hit._replace(resume=resume_lines.get(hit.id), contributions=hit.contributions if explain else NO_CONTRIBUTIONS)
        for hit in hits
    )


EXCERPT_FIELDS = (
    "rank", "similarity", "score", "id", "type", "role", "source_path", "source_line", "citation", "source_project", "conversation_id",
    "turn_index", "timestamp", "author", *TASK_FIELDS,
)  # fmt: skip


class ExcerptView(View):
    """A hit with an excerpt instead of its text."""

    hit: Annotated[Hit, Flat(EXCERPT_FIELDS)]
    excerpt: Annotated[
        str, "One line of the content around the match; `/items/ID` has all of it.", At("excerpt", one_line)
    ]
    source: Annotated[Source, At("hit", format_citation)]


SEMANTIC = Listing(
    "semantic/1",
    "Answer of `GET /api/v1/search/semantic`; the `sources` of a chat have the same results.",
    episodes.ContextItem,
    view=ExcerptView,
    warnings=Warnings,
)


def build_semantic(hits: Hits) -> Body:
    """Build `semantic/1`."""
    return SEMANTIC.build([episodes.ContextItem(hit, hit.snippet) for hit in hits], hits.warnings)


class RecallView(View):
    """An entry of a recall block: an episode with the hit that matched."""

    entry: Annotated[episodes.RecallEntry, At(""), Flat()]
    source: Annotated[CheckedSource, At("hit", format_citation)]
    resume: Annotated[Resume, At("hit.resume")]


@answer("recall/1")
class RecallBody(NamedTuple):
    """Output of `recall --json`."""

    budget: Budget
    tokens: Tokens
    text: Annotated[str, "The block as Markdown."]
    results: Annotated[tuple[episodes.RecallEntry, ...], As(tuple[RecallView, ...])]
    warnings: Warnings


def build_recall(block: episodes.RecallBlock, budget: int, resume_lines: ResumeLines) -> Body:
    """Build `recall/1`."""
    return to_json(complete_block(block, budget, resume_lines))


def complete_block(block: episodes.RecallBlock, budget: int, resume_lines: ResumeLines) -> RecallBody:
    """Return a block with its budget, and with the lines that resume its sessions."""
    entries = tuple(one._replace(hit=one.hit._replace(resume=resume_lines.get(one.hit.id))) for one in block.entries)
    return RecallBody(budget, block.tokens, block.text, entries, block.warnings)


class ContextView(View):
    """An item of a context."""

    item: Annotated[episodes.ContextItem, At(""), Flat()]
    source: Annotated[CheckedSource, At("hit", format_citation)]


@answer("context/1")
class ContextBody(NamedTuple):
    """Output of `context --json`."""

    budget: Budget
    tokens: Tokens
    text: Annotated[str, "The context as Markdown; empty if not even the message that nothing was found fits."]
    results: Annotated[tuple[episodes.ContextItem, ...], As(tuple[ContextView, ...])]
    warnings: Warnings


def build_context(context: episodes.Context, budget: int) -> Body:
    """Build `context/1`."""
    return to_json(ContextBody(budget, context.tokens, context.text, context.items, context.warnings))


LESSONS = Listing("lessons/1", "Output of `lessons --json`.", episodes.Lesson, warnings=Warnings)
HOW = Listing("how/1", "Output of `how --json`.", episodes.Command, warnings=Warnings)


@answer("judge/1")
class JudgeBody(NamedTuple):
    """Output of `judge --json`."""

    left: Annotated[
        int | None, {"minimum": 0}, "Number of further episodes, up to 1,000, if episodes are listed.", IF_ANY
    ]
    results: Sequence[episodes.Sheet]
    warnings: Warnings


SHOW = Listing("show/1", "Output of `show --json`: the item with its neighbours, in order.", episodes.ShownItem)
