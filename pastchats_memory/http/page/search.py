"""Show `/`: without a query where the person was last, with one its hits, grouped by conversation."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from pastchats_memory.fields import OUTCOMES
from pastchats_memory.http.answers import RequestError
from pastchats_memory.http.page.answers import PageRequest, WebPage, make_url
from pastchats_memory.http.page.highlight import mark_html
from pastchats_memory.http.page.words import SPEAKERS, escape_text, name_agent, name_outcome
from pastchats_memory.http.routes import LONGEST_QUERY
from pastchats_memory.memory import Memory
from pastchats_memory.model import Hit
from pastchats_memory.model.ids import TASK, number_of
from pastchats_memory.search.request import MOST_HITS
from pastchats_memory.views.page_markdown import render_line
from pastchats_memory.views.text import NOTHING_CLOSE, describe_relevance, has_close_hit

HITS = 50
"""Hits on a page."""
LINES, MORE_LINES = 3, 9
"""Lines of a conversation that are shown at first, and those that unfold."""
PROJECTS = 200
"""Projects in the menu."""
TIMES = (("today", "today"), ("7d", "the last 7 days"), ("30d", "the last 30 days"), ("365d", "the last year"))
KINDS = (("prompt", "conversations"), ("note", "notes"), ("task", "tasks"), ("comment", "comments"))
ROLES = (("user", "said by you"), ("assistant", "said by the agent"), ("tool", "printed by tools"))
_FILE = re.compile(r"(?<![\w./\\-])[\w./\\-]*\.[A-Za-z]\w{0,9}\b")
"""Matches what may be the name of a file."""
Choices = Sequence[tuple[str, str]]
"""Values with their labels."""
FILTER_NAMES = ("project", "format", "outcome", "since", "role", "type", "mode")


class HitLine(NamedTuple):
    """A hit within its group."""

    url: str
    text: Markup
    speaker: str
    why: Sequence[str]
    """What each kind of search says about it."""
    hit: Hit


class HitGroup(NamedTuple):
    """The hits of a conversation, or a task or a note."""

    title: Markup
    url: str
    hit: Hit
    """The best one."""
    outcome: str
    lines: Sequence[HitLine]
    resume: str | None


def show(memory: Memory, request: PageRequest) -> WebPage:
    """Answer a search; without a query, show the last sessions. Raises RequestError, MemoryFault."""
    query = request.query.get("query", "")
    chosen = {name: request.query[name] for name in FILTER_NAMES if name in request.query}
    sort = request.query.get("sort", "")
    values: dict[str, object] = {"query": query, "menus": _list_menus(memory, chosen, sort), "chosen": chosen}
    if not query:
        recent = memory.load_recent()
        days = [(day, list(group)) for day, group in groupby(recent.sessions, key=lambda one: one.day)]
        return WebPage("home", {**values, "days": days, "recent": recent})
    if len(query) > LONGEST_QUERY:
        raise RequestError(400, "usage", f"the query is longer than {LONGEST_QUERY:,} characters", "Use fewer words.")
    number = min(max(number_of(request.query.get("page", "")) or 1, 1), MOST_HITS // HITS)
    hits = memory.search(query, limit=HITS, page=number, **chosen)  # type: ignore[arg-type] # filters are texts
    pages = {step: make_url("/", query=query, **chosen, sort=sort, page=number + step) for step in (-1, 1)}
    groups = _group_hits(memory, hits, query)
    if sort == "time":
        groups.sort(key=lambda group: group.hit.timestamp or "", reverse=True)
    found = {
        "groups": groups,
        "time_read": hits.time_read,
        "file": next((name for name in _FILE.findall(query)[:3] if memory.list_changes(name, 1)), ""),
        "shown": LINES,
        "heading": "" if number > 1 or has_close_hit(hits) else NOTHING_CLOSE,
        "warnings": hits.warnings,
        "previous": pages[-1] if number > 1 else None,
        "next": pages[1] if len(hits) == HITS and number < MOST_HITS // HITS else None,
    }
    return WebPage("search", values | found)


def show_file(memory: Memory, request: PageRequest) -> WebPage:
    """Show which sessions changed a file of this name, in any project."""
    name = request.query.get("name", "")
    found = memory.list_changes(name) if name else []
    titles = memory.name_conversations((item.project, item.conversation_id or "") for item in found)
    return WebPage("file", {"name": name, "changes": found, "titles": titles})


def _list_menus(memory: Memory, chosen: Mapping[str, str], sort: str) -> list[tuple[str, str, Choices, str]]:
    """Return each menu: its name, its words without a choice, its choices, and the chosen one, which may be added."""
    projects = [(one.project, one.project) for one in memory.list_projects()[:PROJECTS] if one.project]
    menus = (
        ("project", "All projects", projects),
        ("format", "All agents", [(name, name_agent(name)) for name in memory.list_formats()]),
        ("outcome", "Any outcome", [(verdict, name_outcome(verdict)) for verdict in OUTCOMES]),
        ("since", "Any time", TIMES),
        ("role", "Said by anyone", ROLES),
        ("type", "Everything", KINDS),
    )
    shown: list[tuple[str, str, Choices, str]] = []
    for name, unset, choices in menus:
        own = chosen.get(name, "")
        added = [(own, own)] if own and own not in dict(choices) else []
        shown.append((name, unset, [*choices, *added], own))
    return [*shown, ("sort", "Best first", [("time", "Newest first")], sort if sort == "time" else "")]


def _group_hits(memory: Memory, hits: Sequence[Hit], query: str) -> list[HitGroup]:
    """Return the hits by conversation, in the order of the best hit of each."""
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        parent = str(hit.metadata.get("parent_conversation_id") or "") if _is_subagents(hit) else ""
        key = hit.task.key if hit.task else parent or hit.conversation_id or hit.id
        groups.setdefault((hit.source_project, key), []).append(hit)
    outcomes, resumes = memory.outcomes_of(hits), memory.resume_lines(group[0] for group in groups.values())
    titles = memory.name_conversations(key for key, (hit, *_) in groups.items() if hit.conversation_id and not hit.task)
    return [
        HitGroup(
            _mark(titles.get((project, key)) or _name_item(group[0]), query),
            make_url("/page/task", key=key) if group[0].task else make_url("/page/turn", id=group[0].id, query=query),
            group[0],
            outcomes.get(group[0].id, ""),
            [_describe_hit(hit, query) for hit in group[: LINES + MORE_LINES] if not hit.id.startswith(TASK)],
            resumes.get(group[0].id),
        )
        for (project, key), group in groups.items()
    ]


def _is_subagents(hit: Hit) -> bool:
    return hit.metadata.get("branch") == "sidechain"


def _name_item(hit: Hit) -> str:
    return hit.heading or "A note" if hit.task is None else hit.task.title or hit.task.key


def _describe_hit(hit: Hit, query: str) -> HitLine:
    similarity = "" if hit.similarity is None else f" ({hit.similarity:.2f})"
    why = [
        describe_relevance(hit.relevance),
        f"by words: {_ordinal(hit.lexical_rank)}",
        f"by meaning: {_ordinal(hit.semantic_rank)}{similarity}",
    ]
    speaker = "Subagent" if _is_subagents(hit) else SPEAKERS.get(hit.role, hit.role)
    if hit.task is not None:
        return HitLine(make_url("/page/task", key=hit.id), _mark(hit.snippet, query), hit.type, why, hit)
    text = mark_html(escape_text(hit.snippet), query, ()) if hit.role == "tool" else _mark(hit.snippet, query)
    return HitLine(make_url("/page/turn", id=hit.id, query=query), text, speaker, why, hit)


def _mark(text: str, query: str) -> Markup:
    return mark_html(render_line(text), query, ())


def _ordinal(rank: int | None) -> str:
    return "not found" if rank is None else f"number {rank}"
