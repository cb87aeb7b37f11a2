"""Select the hits that are worth recalling, and settle near ties."""

import re
from collections.abc import Mapping, Sequence

from pastchats_memory.model import Hit, Hits
from pastchats_memory.model.episodes import RecallEntry
from pastchats_memory.text.topics import topic_words

LEAST_RELEVANCE = 0.5
"""Best relevance below which recall returns nothing. Of questions about things that the memory lacks, 5 % reach it; of the
others, 96 % do (`benchmarks/recall.py`)."""
LEAST_OF_TASKS = 0.75
"""The same if only texts of tasks reach it: they are long and say what is planned, so many questions are near one by chance."""
AGREED_RELEVANCE, AGREED_RANK, AGREED_COVERAGE = 0.3, 5, 0.95
"""The same if the first two hits are of one conversation and among the first by meaning, and the memory knows all words that
weigh anything: words that it lacks name something else."""
ALONE_RELEVANCE, ALONE_HITS = 0.1, 7
"""The same if so many hits lead that are all of one conversation, and others follow: chance spreads hits over conversations."""
PERHAPS, OWN_PERHAPS, MOST_PERHAPS = 0.05, 0.003, 2
"""Relevance of a hit whose title is named if nothing is recalled, that of one of the current project, and the most of such titles."""
FAR_BELOW = 0.25
"""Share of the best relevance that a further hit needs; weaker ones only fill the block."""
OUTPUT_FAR_BELOW = 0.5
"""The same share for a hit that is only the output of a tool."""
LEAST_COVERAGE = 0.5
"""Share of the question's weight that the corpus must know for recall without a model."""
DECISIVE = 0.6
"""Share of the most telling word's worth that a further word needs to say what a question is about."""
RIVAL = 0.5
"""Share of the first entry's relevance that one needs to lead in its place."""
EQUAL_RELEVANCE = 0.1
"""Difference of relevance up to which entries of two memories are equals."""
NEAR_TIE = 0.1
"""Relative difference of scores within which project and date may decide. Adjacent rows differ by up to a twelfth, however
alike they are."""
NEAR_SIMILARITY = 0.03
"""Difference of cosines that such hits may have, because ranks do not say how much better the better hit is."""


def above_threshold(found: Hits, coverage: float) -> list[Hit]:
    """Return the hits that are relevant enough; none if even the best hit is not."""
    best = max((hit.relevance for hit in found if hit.relevance is not None), default=None)
    if best is None:
        return [] if coverage < LEAST_COVERAGE else list(found)
    of_turns = max((hit.relevance or 0 for hit in found if hit.task is None), default=0)
    # Words and meaning may point to one conversation, while no word of the question points elsewhere.
    first = found[:2]
    is_near = all(hit.semantic_rank is not None and hit.semantic_rank <= AGREED_RANK for hit in first)
    is_agreed = is_near and coverage >= AGREED_COVERAGE and len(set(map(_conversation, first))) < len(first)
    if best < LEAST_OF_TASKS and of_turns < (AGREED_RELEVANCE if is_agreed else LEAST_RELEVANCE):
        # All hits of one conversation are no lead: the memory has nothing else.
        leads = next((place for place, hit in enumerate(found) if _conversation(hit) != _conversation(found[0])), 0)
        return list(found[:leads]) if leads >= ALONE_HITS and of_turns >= ALONE_RELEVANCE else []
    return [hit for hit in found if hit.relevance is not None and hit.relevance >= FAR_BELOW * best]


def find_perhaps(found: Sequence[Hit], current_project: str | None) -> list[Hit]:
    """Return the best hits of a search that recalls nothing, one of each conversation."""
    first: dict[str, Hit] = {}
    for hit in found:
        if (hit.relevance or 0) >= (OWN_PERHAPS if hit.source_project == current_project else PERHAPS):
            first.setdefault(_conversation(hit), hit)
    return list(first.values())[:MOST_PERHAPS]


def drop_weak_outputs(hits: Sequence[Hit]) -> list[Hit]:
    """Drop outputs of tools far below the best hit; they share the words of every run of a command."""
    best = max((hit.relevance or 0 for hit in hits), default=0)
    return [hit for hit in hits if hit.role != "tool" or (hit.relevance or 0) >= OUTPUT_FAR_BELOW * best]


def settle_near_ties(hits: Sequence[Hit], current_project: str | None) -> list[Hit]:
    """Return hits best first; within near ties the current project comes first, then the newer turn."""
    ordered: list[Hit] = []
    tied: list[Hit] = []
    for hit in hits:
        if tied and not _is_near_tie(tied[0], hit):
            ordered += _by_project_and_date(tied, current_project)
            tied = []
        tied.append(hit)
    return ordered + _by_project_and_date(tied, current_project)


def _is_near_tie(first: Hit, second: Hit) -> bool:
    """Check whether a hit is nearly as good as a better one; without a model none is."""
    if first.similarity is None or second.similarity is None:
        return False
    is_near = abs(first.similarity - second.similarity) <= NEAR_SIMILARITY
    return is_near and second.score >= first.score * (1 - NEAR_TIE)


def _by_project_and_date(tied: Sequence[Hit], current_project: str | None) -> list[Hit]:
    """Order hits by current project, then by newer conversation; within one the better hit stays first."""
    newest: dict[str, str] = {}
    for hit in tied:
        newest[_conversation(hit)] = max(newest.get(_conversation(hit), ""), hit.timestamp or "")
    newest_first = sorted(tied, key=lambda hit: newest[_conversation(hit)], reverse=True)
    return sorted(newest_first, key=lambda hit: hit.source_project != current_project)


def _conversation(hit: Hit) -> str:
    return hit.id if hit.conversation_id is None else f"{hit.source_project}\n{hit.conversation_id}"


def choose_first(
    entries: Sequence[RecallEntry], texts: Sequence[str], question: str, weights: Mapping[str, float]
) -> list[RecallEntry]:
    """Return the entries, led by one whose text names what the question is about."""
    if len(entries) < 2:  # noqa: PLR2004 - one leads anyway
        return list(entries)
    # Names say what a question is about, else its rarest words.
    worths = {word: worth * weights[word] for word, worth in topic_words(question).items() if word in weights}
    decisive = [word.removesuffix("s") for word, worth in worths.items() if worth >= DECISIVE * max(worths.values())]
    begins = rf"(?<![^\W_])(?:{'|'.join(map(re.escape, decisive))})"
    named = (place for place, text in enumerate(texts) if decisive and re.search(begins, text, re.IGNORECASE))
    least = RIVAL * _relevance(entries[0])
    place = next((one for one in named if _relevance(entries[one]) >= least), 0)
    return [entries[place], *entries[:place], *entries[place + 1 :]]


def put_successors_first(entries: Sequence[RecallEntry]) -> list[RecallEntry]:
    """Move each later decision before the entry that it replaced, and name that entry in it."""
    ordered: list[RecallEntry] = []
    for entry in entries:
        ids = {entry.first.id, *(one.id for one in entry.before)}
        old = (one.first.id for one in entries if one.superseded_by and one.superseded_by.id in ids)
        replaced = next(old, "")
        place = next((place for place, one in enumerate(ordered) if one.first.id == replaced), len(ordered))
        ordered.insert(place, entry._replace(supersedes=replaced))
    return ordered


def merge_entries(own: Sequence[RecallEntry], others: Sequence[RecallEntry]) -> list[RecallEntry]:
    """Merge the entries of two memories by relevance, of equals the own one first, without those far below the best."""
    waiting, merged = list(others), []
    for entry in own:
        while waiting and _relevance(waiting[0]) > _relevance(entry) + EQUAL_RELEVANCE:
            merged.append(waiting.pop(0))
        merged.append(entry)
    merged += waiting
    least = FAR_BELOW * max(map(_relevance, merged), default=0.0)
    return [entry for entry in merged if _relevance(entry) >= least]


def _relevance(entry: RecallEntry) -> float:
    """Return the relevance of an entry; all are equal without a model."""
    return entry.hit.relevance or 0.0
