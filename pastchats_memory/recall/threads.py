"""Order the entries of a block: one entry for each thread, led by the attempt that worked. Pure.

Episodes that follow each other and match the same question are attempts at one problem, if one of them failed. So are a failure
and a later success of one project that share a command or a file. The earlier attempts become lines of the entry that leads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pastchats_memory.episodes.actions import FAILED
from pastchats_memory.model import FAILURES, Attempt, RecallEntry
from pastchats_memory.recall.entries import EpisodeEntry
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.key_sentences import key_sentences

SIMILAR_RELEVANCE = 0.9
"""Share of an earlier attempt's relevance that a later one needs to count as an attempt at the same problem."""
CHAINED_RELEVANCE = 0.5
"""The same share for attempts that follow each other."""
MOST_EARLIER = 3
"""Earlier failures of a thread that are shown, and open points."""
LINE_WIDTH = 120
"""Characters of an earlier attempt's question, and of its answer."""


def join_threads(entries: Sequence[EpisodeEntry], weights: Mapping[str, float]) -> list[RecallEntry]:
    """Return one entry for each thread, the best first; a later decision precedes what it replaced."""
    left = list(entries)
    joined: list[RecallEntry] = []
    while left:
        lead, earlier = _find_lead(left)
        left = [one for one in left if one is not lead and one not in earlier]
        attempts = [_describe(one.entry, weights) for one in earlier]
        joined.append(lead.entry._replace(before=_limit([*lead.entry.before, *attempts])))
    own = {entry.first.id for entry in joined}
    joined = [entry._replace(before=tuple(one for one in entry.before if one.id not in own)) for entry in joined]
    return _put_successors_first(joined)


def _find_lead(entries: Sequence[EpisodeEntry]) -> tuple[EpisodeEntry, list[EpisodeEntry]]:
    """Return the entry that leads the thread of the first one, and the earlier attempts of that thread.

    The first success leads it. Without one the entry stays alone.
    """
    threads = ((one, _find_earlier(one, entries)) for one in entries)
    return next(
        ((one, earlier) for one, earlier in threads if entries[0] in earlier),
        (entries[0], _find_earlier(entries[0], entries)),
    )


def _find_earlier(lead: EpisodeEntry, entries: Sequence[EpisodeEntry]) -> list[EpisodeEntry]:
    """Return the earlier attempts at the problem of an attempt that worked, in order; none if none failed."""
    if lead.span is None or lead.entry.outcome.verdict != "worked":
        return []
    others = [one for one in entries if one is not lead and _precedes(one, lead)]
    chain = _follow_back(lead, [one for one in others if _is_near(one, lead, CHAINED_RELEVANCE)])
    known = {attempt.id for attempt in lead.entry.before}
    found = [
        one for one in others
        if one in chain
        or one.entry.first.id in known
        or (_shares_action(one.entry, lead.entry) and _is_near(one, lead, SIMILAR_RELEVANCE))
    ]  # fmt: skip
    return sorted(found, key=_place) if any(_has_failed(one.entry) for one in found) else []


def _precedes(one: EpisodeEntry, lead: EpisodeEntry) -> bool:
    """Check whether an episode of the same project came earlier, and did not work."""
    if one.span is None or one.entry.outcome.verdict == "worked":
        return False
    if one.entry.hit.source_project != lead.entry.hit.source_project:
        return False
    return _place(one) < _place(lead) and (_conversation(one) == _conversation(lead) or bool(_place(one)[0]))


def _is_near(one: EpisodeEntry, lead: EpisodeEntry, share: float) -> bool:
    """Check whether the later attempt has this share of the earlier one's relevance."""
    return (lead.entry.hit.relevance or 0) >= share * (one.entry.hit.relevance or 1)


def _place(one: EpisodeEntry) -> tuple[str, int]:
    """Return when an episode took place: the time of its request, and its place in the conversation.

    Clients may give every answer the time of the copy.
    """
    first = one.entry.first
    return first.timestamp or "", one.span[0] if one.span else first.turn_index


def _follow_back(lead: EpisodeEntry, entries: Sequence[EpisodeEntry]) -> list[EpisodeEntry]:
    """Return the episodes before an episode, as long as each ends where the next one begins."""
    by_last = {
        one.span[1]: one for one in entries if one.span is not None and _conversation(one) == _conversation(lead)
    }
    found: list[EpisodeEntry] = []
    at: EpisodeEntry | None = lead
    while at is not None and at.span is not None and (at := by_last.pop(at.span[0] - 1, None)):
        found.append(at)
    return found


def _conversation(one: EpisodeEntry) -> str | None:
    return one.entry.hit.conversation_id


def _has_failed(entry: RecallEntry) -> bool:
    return entry.outcome.verdict in FAILURES


def _shares_action(entry: RecallEntry, lead: RecallEntry) -> bool:
    """Check whether a failed attempt and a later success share a command or a file."""
    return _has_failed(entry) and not _actions(entry).isdisjoint(_actions(lead))


def _actions(entry: RecallEntry) -> set[str]:
    lines = (line.removesuffix(FAILED) for line in entry.done)
    return {action for line in lines for action in ([line] if line.startswith("$ ") else line.split(", "))}


def _describe(entry: RecallEntry, weights: Mapping[str, float]) -> Attempt:
    first = entry.first
    return Attempt(
        first.id,
        " ".join(excerpt(entry.asked or "", weights, LINE_WIDTH).split()),
        " ".join(key_sentences(entry.answered or "", weights, LINE_WIDTH).split()),
        entry.outcome.verdict,
        entry.outcome.shown_by if _has_failed(entry) else "",
        first.timestamp,
        first.source_path,
        first.source_line,
        signal=entry.outcome.signal,
    )


def _limit(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return the last failures and the last open points, in order, each episode once."""
    distinct = list({one.id: one for one in attempts}.values())
    failed = [one for one in distinct if one.outcome in FAILURES][-MOST_EARLIER:]
    still_open = [one for one in distinct if one.outcome not in FAILURES][-MOST_EARLIER:]
    return (*failed, *still_open)


def _put_successors_first(entries: Sequence[RecallEntry]) -> list[RecallEntry]:
    """Move each later decision before the entry that it replaced, and name that entry in it."""
    ordered: list[RecallEntry] = []
    for entry in entries:
        id_ = entry.first.id
        replaced = [one for one in ordered if one.superseded_by is not None and one.superseded_by.id == id_]
        place = ordered.index(replaced[0]) if replaced else len(ordered)
        ordered.insert(place, entry._replace(supersedes=replaced[0].first.id if replaced else ""))
    return ordered
