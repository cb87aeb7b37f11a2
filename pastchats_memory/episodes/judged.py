"""How an episode ended by the judgement of somebody who read it: a person, or an agent that understands more than rules do.

It stands in the place of what the rules say while what was read is the same: what was asked, the last answer and what came
after it, what was said next, and the turn whose words show it. Where any of it changes or more is said, the rules say again how it ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from pastchats_memory.episodes import spoken_first
from pastchats_memory.model import Item
from pastchats_memory.store.outcomes import Ending, Judgement, Quotation, Said

SIGNAL = "judged"
"""Stands for the rule that decided."""
CONFIDENCE = 1.0
"""Somebody has read it, so it is told; how often readers are right is counted by `benchmarks/outcome/judging.py`."""
Turns = Sequence[Said | Item]


def read_of(episode: Turns, spoken: Turns, shown_in: int | None) -> frozenset[int]:
    """Ids of the turns that a judgement rests on, given what the person said next and the turn whose words show it."""
    last = max((place for place, turn in enumerate(episode) if turn.role == "assistant"), default=len(episode))
    shown = [turn for turn in (*episode, *spoken) if turn.id == shown_in]
    return frozenset(turn.id for turn in (*spoken_first(episode), *episode[last:], *spoken, *shown))


def holds(judgement: Judgement, episode: Turns, spoken: Turns) -> bool:
    """Whether what was read for it is still the same."""
    return read_of(episode, spoken, judgement.shown_in) == judgement.read


def ending_by(judgement: Judgement, episode: Turns, spoken: Turns) -> Ending:
    """The ending by a judgement that holds: with the words that show it, of unknown with what the person said next."""
    # Patterns that only a judged episode needs.
    from pastchats_memory.outcome.rows import shortened
    from pastchats_memory.outcome.said import words_of

    span = (episode[0].turn_index, episode[-1].turn_index)
    if judgement.shown_in is None:
        told = " ".join(words_of(spoken[0].content).split()) if spoken else ""
        said = (Quotation(shortened(told), spoken[0].id, spoken[0].turn_index),) if told else ()
        return Ending(*span, judgement.verdict, 0.0, SIGNAL, said)
    turn = next(turn for turn in (*episode, *spoken) if turn.id == judgement.shown_in)
    words = turn.content[judgement.start : judgement.start + judgement.length]
    shown = (Quotation(shortened(" ".join(words.split())), turn.id, turn.turn_index),)
    return Ending(*span, judgement.verdict, CONFIDENCE, SIGNAL, shown)
