"""Search at `/`: ranked hits, filters as chips, and why each hit was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from pastchats_memory.http.answers import RequestError
from pastchats_memory.http.page.answers import PageRequest, WebPage, make_url
from pastchats_memory.http.page.highlight import mark_words
from pastchats_memory.http.page.words import SPEAKERS
from pastchats_memory.http.routes import LONGEST_QUERY
from pastchats_memory.memory import Memory
from pastchats_memory.model import TASK, Hit
from pastchats_memory.search.request import MOST_HITS
from pastchats_memory.store.turns import NewPrompt
from pastchats_memory.views.answers.search import complete_hits
from pastchats_memory.views.text import NOTHING_CLOSE, describe_relevance, has_close_hit

HITS = 20
"""Hits on a page."""
RECENT = 60
"""Last prompts that are read; each conversation among them is shown once."""
CHOICES: Mapping[str, tuple[str, Sequence[tuple[str, str]]]] = {
    "outcome": (
        "Outcome",
        (
            ("worked", "worked"),
            ("failed", "failed"),
            ("mixed", "mixed"),
            ("stopped", "stopped"),
            ("unknown", "unknown"),
        ),
    ),
    "since": ("Time", (("today", "today"), ("7d", "7 days"), ("30d", "30 days"), ("365d", "a year"))),
    "type": ("Kind", (("prompt", "conversations"), ("note", "notes"), ("task", "tasks"), ("comment", "comments"))),
    "role": ("Said by", (("user", "you"), ("assistant", "the agent"), ("tool", "tools"))),
    "mode": ("Search by", (("keyword", "words"), ("semantic", "meaning"))),
}
"""Chips of each filter: its name on the page, and its values with their labels."""
FORMATS = 8
"""Formats with a chip, the most frequent ones."""
FILTER_NAMES = (*CHOICES, "format", "project")


class Chip(NamedTuple):
    """A value of a filter; its link switches the value on or off."""

    label: str
    url: str
    is_chosen: bool


class FilterRow(NamedTuple):
    """A filter with its chips."""

    name: str
    chips: Sequence[Chip]


class ShownHit(NamedTuple):
    """A hit as the page shows it."""

    hit: Hit
    url: str
    text: Markup
    """The part of the text about the query, or the title of a task."""
    outcome: str
    fit: str
    found_by: Sequence[str]
    """What each kind of search says about it."""
    kind: str


def show(memory: Memory, request: PageRequest) -> WebPage:
    """Answer a search; without a query, show the last prompts. Raises RequestError, MemoryFault."""
    query = request.query.get("query", "")
    chosen = {name: request.query[name] for name in FILTER_NAMES if name in request.query}
    if not query:
        newest: dict[str, NewPrompt] = {}
        for one in memory.list_newest_prompts(RECENT):
            if one.conversation_id is not None:
                newest.setdefault(one.conversation_id, one)
        named = [(one, memory.name_conversation(one.project, id_)) for id_, one in newest.items()]
        return WebPage("search", {"query": "", "chosen": chosen, "newest": named})
    if len(query) > LONGEST_QUERY:
        raise RequestError(
            400, "usage", f"the query is longer than {LONGEST_QUERY:,} characters", "Name its main words."
        )
    number = int(request.query["page"]) if request.query.get("page", "").isdecimal() else 1
    number = min(max(number, 1), MOST_HITS // HITS)
    hits = memory.search(query, limit=HITS, page=number, **chosen)  # type: ignore[arg-type] # filters are texts
    outcomes = memory.outcomes_of(hits)
    is_close = number > 1 or has_close_hit(hits)
    pages = {step: make_url("/", query=query, **chosen, page=number + step) for step in (-1, 1)}
    return WebPage(
        "search",
        {
            "query": query,
            "chosen": chosen,
            "filters": _list_filters(query, chosen, memory.list_formats()[:FORMATS]),
            "hits": [
                _describe_hit(hit, query, outcomes.get(hit.id, ""))
                for hit in complete_hits(hits, memory.resume_lines(hits))
            ],
            "heading": "" if is_close else NOTHING_CLOSE,
            "warnings": hits.warnings,
            "previous": pages[-1] if number > 1 else None,
            "next": pages[1] if len(hits) == HITS and number < MOST_HITS // HITS else None,
        },
    )


def _list_filters(query: str, chosen: Mapping[str, str], formats: Sequence[str]) -> list[FilterRow]:
    """Return every filter with its chips; a chosen value of no chip gets one of its own."""
    choices = {
        **CHOICES,
        "format": ("Agent", [(name, name) for name in formats]),
        "project": ("Project", ()),
    }
    rows = []
    for name, (title, values) in choices.items():
        own = chosen.get(name)
        shown = [*values, *([(own, own)] if own is not None and own not in dict(values) else [])]
        chips = [
            Chip(label, make_url("/", query=query, **{**chosen, name: None if own == value else value}), own == value)
            for value, label in shown
        ]
        rows += [FilterRow(title, chips)] if chips else []
    return rows


def _describe_hit(hit: Hit, query: str, outcome: str) -> ShownHit:
    return ShownHit(
        hit,
        make_url("/page/turn", id=hit.id, query=query)
        if hit.task is None
        else make_url("/page/task", key=hit.task.key),
        mark_words(hit.task.title if hit.task and hit.id.startswith(TASK) else hit.snippet, query),
        "" if outcome == "unknown" else outcome,
        describe_relevance(hit.relevance),
        _describe_ranks(hit),
        SPEAKERS.get(hit.role, hit.role) if hit.task is None else f"{hit.type} · {hit.task.status}",
    )


def _describe_ranks(hit: Hit) -> list[str]:
    words = f"words: {_ordinal(hit.lexical_rank)}"
    meaning = f"meaning: {_ordinal(hit.semantic_rank)}"
    similarity = "" if hit.similarity is None else f" ({hit.similarity:.2f})"
    return [words, f"{meaning}{similarity}"]


def _ordinal(rank: int | None) -> str:
    return "not found" if rank is None else f"number {rank}"
