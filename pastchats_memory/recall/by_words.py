"""Answer a prompt by words alone, if one conversation leads.

A third of the prompts that name something share rare names and most of their weight with one conversation, far ahead of every
other. For them neither NumPy nor the model is imported. The search decides the rest.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pastchats_memory.model import Hit
from pastchats_memory.model.episodes import RecallBlock
from pastchats_memory.recall.budget import fit_budget
from pastchats_memory.recall.entries import build_entries, resolve_citations
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.recall.selection import put_successors_first
from pastchats_memory.recall.word_evidence import WordEvidence
from pastchats_memory.search.hits import turn_hit
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import FIRST_TEXT
from pastchats_memory.store.turn_context import TurnContext, turn_contexts
from pastchats_memory.text.tokens import Counter

LEAD_NAMED, LEAD_NAMED_SHARE = 0.75, 0.45
"""Worth of the prompt's names that the leading row needs, and its share of the worth of all names."""
LEAD_SHARE = 0.5
"""Share of the weight of the prompt's words that it needs."""
LEAD = 1.4
"""Multiple of the best share in any other conversation that it needs. With these numbers, words chose the right conversation for
28 to 30 of 104 labelled prompts, a wrong one for none, and one for one of 265 others, in memories of 1,653, 14,903 and 20,000
turns (`benchmarks/hook.py`)."""
FIRST_ROWS = 50
"""Rows with the greatest shares, among which a rival is looked for."""
TEXT_ROLES = frozenset({"user", "assistant", "note"})
"""Roles of rows that can lead; the output of a tool has the words of many prompts."""


def recall_by_words(
    database: Database, evidence: WordEvidence, request: RecallRequest, count: Counter
) -> RecallBlock | None:
    """Return the block of the conversation that leads; None if none does."""
    candidates = _list_candidates(database, evidence, request)
    lead = _find_lead(candidates, evidence)
    if not lead:
        return None
    hits = _make_hits(database, lead[: request.search.limit], evidence)
    messages = [one for one in candidates if one.context and one.context.role in ("user", "assistant")]
    return build_block(database, hits, evidence.weights, request, count, _make_hits(database, messages, evidence))


def build_block(
    database: Database, hits: Sequence[Hit], weights: Mapping[str, float], request: RecallRequest, count: Counter,
    others: Sequence[Hit] = (),
) -> RecallBlock | None:  # fmt: skip
    """Return the block of some hits; None if they make none. Other ones may follow on theirs or supersede it."""
    built = build_entries(database, hits, others or hits, weights, request)
    entries = put_successors_first(built)[: request.search.limit]
    if not entries:
        return None
    cited = resolve_citations(database, entries)
    block = fit_budget(request.search.text, cited, weights, request.budget, count)
    return block if block.entries else None


class _Candidate(NamedTuple):
    """A row with its share and its context; a text of a task has none."""

    id: int
    share: float
    context: TurnContext | None

    @property
    def conversation(self) -> str | int:
        """The key of the conversation; a row without one stands for itself."""
        return (self.context and self.context.conversation) or self.id


def _list_candidates(database: Database, evidence: WordEvidence, request: RecallRequest) -> list[_Candidate]:
    """Return the rows with the greatest shares, best first."""
    first = sorted(evidence.shares, key=lambda id_: (-evidence.shares[id_], id_))[:FIRST_ROWS]
    contexts = turn_contexts(database, first, request.search.filters)
    candidates = [
        _Candidate(id_, evidence.shares[id_], contexts.get(id_)) for id_ in first if id_ in contexts or id_ > FIRST_TEXT
    ]
    if request.exclude_conversation is not None:
        current = f"\n{request.exclude_conversation}"
        candidates = [one for one in candidates if not str(one.conversation).endswith(current)]
    return candidates


def _find_lead(candidates: Sequence[_Candidate], evidence: WordEvidence) -> list[_Candidate]:
    """Return the best rows of the conversation that leads clearly, best first; empty if none does."""
    needed = max(LEAD_NAMED, LEAD_NAMED_SHARE * evidence.topic)
    best = candidates[0] if candidates else None
    if best is None or best.context is None or best.context.role not in TEXT_ROLES:
        return []
    if best.share < LEAD_SHARE or evidence.named[best.id] < needed:
        return []
    near = [one for one in candidates if one.share * LEAD > best.share]
    return near if all(one.conversation == best.conversation for one in near) else []


def _make_hits(database: Database, ranked: Sequence[_Candidate], evidence: WordEvidence) -> list[Hit]:
    items = {item.id: item for item in turns.items(database, [one.id for one in ranked])}
    return [
        turn_hit(items[one.id])._replace(
            rank=rank,
            score=one.share,
            lexical_rank=rank,
            named=evidence.named[one.id],
            contributions={"words": one.share},
        )
        for rank, one in enumerate(ranked, start=1)
    ]
