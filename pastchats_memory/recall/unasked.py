"""Decide which memories to give to somebody who did not ask for any. Pure.

The prompt has to name something, since "add tests for this" fits a row of every project. Then a row needs two of these signals:
it is near in meaning, it shares rare names with the prompt, and both lists rank it first. `benchmarks/hook.py`
measures how often that is right.
"""

from collections.abc import Sequence

from pastchats_memory.model import Hit
from pastchats_memory.text.topics import ANY_PROJECT_TOPIC

CLEAR_TOPIC = 1.5
"""Topic of a prompt for which nearness is enough in its own project; a vaguer one is near to many rows by chance."""
CLOSE, NEAR, POSSIBLE, REMOTE = 0.9, 0.65, 0.4, 0.15
"""Relevance that suffices for a clear topic, and with more and more names in the row."""
NEARLY_AS_NEAR = 0.85
"""Share of the best relevance with which a further hit of the prompt's project comes along: it may tell how that went on."""
VAGUE_TOPIC, NEAR_OWN = 0.5, 0.75
"""Topic and relevance that suffice in the prompt's own project, if both lists rank the hit first."""
NEAREST_OWN, PLAIN_TOPIC = 0.65, 0.75
"""The same for the row that is nearest in meaning, which may say the same in other words."""
WEAK_NAME, NAME, NAMES, MANY_NAMES = 0.15, 0.25, 0.35, 1.0
"""Worth of the prompt's names in the row, by their rarity."""
ELSEWHERE_SHARE, ELSEWHERE_NAMES = 0.15, 2.0
"""Share of what the prompt names that a row of another project needs, and the worth of its names if its nearness is unknown."""
FIRST_RANKS = 3
"""Ranks that count as the first."""


def select_unasked(hits: Sequence[Hit], topic: float, current_project: str | None) -> list[Hit]:
    """Return the hits that are worth showing unasked, in their order; `topic` is how much of one the prompt names."""
    supported = [hit for hit in hits if _is_supported(hit, topic, is_own=hit.source_project == current_project)]
    least = NEARLY_AS_NEAR * max((hit.relevance or 1.0 for hit in supported), default=1.0)
    ids = {hit.id for hit in supported}

    def is_nearly_as_near(hit: Hit) -> bool:
        return bool(supported) and hit.source_project == current_project and (hit.relevance or 0.0) >= least

    return [hit for hit in hits if hit.id in ids or is_nearly_as_near(hit)]


def _is_supported(hit: Hit, topic: float, *, is_own: bool) -> bool:
    """Check whether enough signals agree.

    Without a model only the names and their list can. They also have to for a task of another project: somebody planned
    it there, which says little about the present problem.
    """
    if not is_own and (topic < ANY_PROJECT_TOPIC or hit.named < ELSEWHERE_SHARE * topic):
        return False
    ranks = [rank for rank in (hit.lexical_rank, hit.semantic_rank) if rank is not None and rank <= FIRST_RANKS]
    is_far = not is_own and hit.relevance is None
    by_names = hit.named >= (ELSEWHERE_NAMES if is_far else MANY_NAMES) and bool(ranks)
    if hit.relevance is None or (hit.task is not None and not is_own):
        return by_names and (hit.relevance is None or hit.relevance >= REMOTE)
    is_first = len(ranks) > 1
    return (
        (hit.relevance >= NEAR_OWN and topic >= VAGUE_TOPIC and is_own and is_first)
        or (hit.relevance >= NEAREST_OWN and topic >= PLAIN_TOPIC and is_own and hit.semantic_rank == 1)
        or (hit.relevance >= CLOSE and topic >= CLEAR_TOPIC and (is_own or hit.named >= WEAK_NAME))
        or (hit.relevance >= NEAR and hit.named >= (WEAK_NAME if is_first else NAME))
        or (hit.relevance >= POSSIBLE and hit.named >= NAMES and is_first)
        or (hit.relevance >= REMOTE and by_names)
    )
