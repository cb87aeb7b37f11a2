"""Choose what to recall before work starts, or nothing.

The way of a question: search widely, drop hits without enough evidence, let project and date settle near ties, turn hits into
entries (one for each thread, which shows its end), and fit the block into the budget.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.load import load_episode
from pastchats_memory.episodes.session_folder import find_obstacle
from pastchats_memory.episodes.threads import NO_WEIGHTS, describe_attempt
from pastchats_memory.episodes.titles import name_hits
from pastchats_memory.model import Hit, Hits
from pastchats_memory.model.episodes import PossibleEpisode, RecallBlock, RecallEntry
from pastchats_memory.recall import selection
from pastchats_memory.recall.budget import fit_budget
from pastchats_memory.recall.commits import add_commits
from pastchats_memory.recall.entries import build_entries, drop_alike, resolve_citations
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.recall.unasked import select_unasked
from pastchats_memory.search.pipeline import search_with_terms
from pastchats_memory.search.request import MOST_HITS
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.text.tokens import Counter
from pastchats_memory.text.topics import is_small_talk, topic_words
from pastchats_memory.views.text import render_perhaps

CANDIDATES = 40
"""Hits that are looked at for a block; several of them may belong to one episode."""


class Found(NamedTuple):
    """The entries that one memory has for a request, best first."""

    entries: Sequence[RecallEntry] = ()
    weights: Mapping[str, float] = NO_WEIGHTS
    """Weight of each word of the question there, for excerpts."""
    warnings: tuple[str, ...] = ()
    perhaps: tuple[PossibleEpisode, ...] = ()
    """The best episodes, if none is good enough."""


def recall(
    database: Database,
    embedder: Embedder,
    request: RecallRequest,
    count: Counter,
    of_team: Callable[[RecallRequest], Found] | None = None,
) -> RecallBlock:
    """Return the recall block of a request, empty if nothing is relevant; `of_team` finds what a team has for it."""
    if is_small_talk(request.search.text):
        return fit_budget(request.search.text, [], {}, request.budget, count)
    own = find_entries(database, embedder, request)
    found = own if of_team is None else _join(own, of_team(request), request.search.limit)
    fit = partial(fit_budget, request.search.text, found.entries, found.weights, request.budget, count)
    block = fit(render_perhaps(own.perhaps)) if own.perhaps and not found.entries else fit()
    return (block if block.text else fit())._replace(warnings=found.warnings)


def find_entries(database: Database, embedder: Embedder, request: RecallRequest) -> Found:
    """Return the entries of one memory for a request, best first."""
    excluded = request.exclude_conversation
    excluded_turns = 0 if excluded is None else turns.count_turns(database, excluded)
    names = topic_words(request.search.text) if request.is_unasked else {}
    wide = replace(request.search, limit=min(MOST_HITS, CANDIDATES + excluded_turns), page=1, names=names)
    found, terms = search_with_terms(database, embedder, wide)
    if excluded_turns:
        found = Hits((hit for hit in found if hit.conversation_id != excluded), found.warnings)
    relevant = (
        select_unasked(found, sum(names.values()), request.current_project)
        if request.is_unasked
        else selection.above_threshold(found, terms.coverage)
    )
    hits = selection.settle_near_ties(selection.drop_weak_outputs(relevant), request.current_project)
    related: Sequence[Hit] = found
    if hits and wide.filters.outcomes:  # failed attempts and superseded decisions do not pass a filter for what worked
        unfiltered = replace(wide, filters=wide.filters._replace(outcomes=()))
        any_outcome, _ = search_with_terms(database, embedder, unfiltered)
        related = [hit for hit in any_outcome if excluded is None or hit.conversation_id != excluded]
    threads = build_entries(database, hits, related, terms.weights, request)
    entries = selection.put_successors_first(threads)[: request.search.limit]
    cited = resolve_citations(database, entries)
    if request.folder is not None:
        cited = add_commits(cited, request.folder)
    cited = [_note_obstacle(database, entry) for entry in cited]
    is_silent = not hits and not request.is_unasked
    perhaps = selection.find_perhaps(found, request.current_project) if is_silent else ()
    return Found(cited, terms.weights, found.warnings, tuple(_describe_hits(database, perhaps, terms.weights)))


def _describe_hits(database: Database, hits: Sequence[Hit], weights: Mapping[str, float]) -> Iterator[PossibleEpisode]:
    """Yield each hit with its title and what its episode concluded."""
    titles = name_hits(database, hits)
    items = {str(item.id): item for item in turns.items(database, [int(hit.id) for hit in hits if hit.task is None])}
    for hit in hits:
        concluded = ""
        if hit.id in items:
            episode, ending = load_episode(database, items[hit.id])
            concluded = describe_attempt(items[hit.id], ending, episode, weights=weights).answered
        yield PossibleEpisode(titles[hit.id], hit, concluded)


def _note_obstacle(database: Database, entry: RecallEntry) -> RecallEntry:
    """Return the entry with the reason why its session cannot be resumed, if there is one."""
    first = entry.first
    if first.task is not None or first.conversation_id is None:
        return entry
    if first.citation is not None and first.citation.state == "gone":
        return entry._replace(no_resume="its file is gone")
    return entry._replace(no_resume=find_obstacle(database, first.source_project, first.conversation_id))


def _join(own: Found, of_team: Found, limit: int) -> Found:
    """Return the entries of both memories, best first, without what both have."""
    entries = selection.merge_entries(own.entries, drop_alike(of_team.entries, own.entries))[:limit]
    weights = {**of_team.weights, **own.weights}
    # That nothing is found here is no news beside what the team has.
    warnings = of_team.warnings if of_team.entries and not own.entries else (*own.warnings, *of_team.warnings)
    return Found(entries, weights, tuple(dict.fromkeys(warnings)))
