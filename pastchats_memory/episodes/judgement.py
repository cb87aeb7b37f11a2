"""Apply a judgement: the outcome according to a reader of the episode.

A judgement replaces the rules while its basis is unchanged: the request, the last answer and everything after it, the
user's next message, and the quoted turn. If any of them changes, the rules decide again.
"""

from collections.abc import Sequence

from pastchats_memory.episodes import leading_user_turns
from pastchats_memory.model import Item
from pastchats_memory.store.outcomes import Ending, Judgement, Quotation, TurnRow

SIGNAL = "judged"
"""Stored in the place of a rule's name."""
CONFIDENCE = 1.0
"""A reader's judgement is always shown. `benchmarks/outcome/judging.py` counts how often readers are right."""
Turns = Sequence[TurnRow | Item]


def find_basis(episode: Turns, next_turns: Turns, shown_in: int | None) -> frozenset[int]:
    """Return the ids of the turns that a judgement rests on; one of them may be quoted (`shown_in`)."""
    last = max((place for place, turn in enumerate(episode) if turn.role == "assistant"), default=len(episode))
    shown = [turn for turn in (*episode, *next_turns) if turn.id == shown_in]
    return frozenset(turn.id for turn in (*leading_user_turns(episode), *episode[last:], *next_turns, *shown))


def is_valid(judgement: Judgement, episode: Turns, next_turns: Turns) -> bool:
    """Return whether the basis of the judgement is unchanged."""
    return find_basis(episode, next_turns, judgement.shown_in) == judgement.read


def apply_judgement(judgement: Judgement, episode: Turns, next_turns: Turns) -> Ending:
    """Return the ending with the quoted words; if it is unknown, with the user's next message."""
    # Imported here, since only a judged episode needs their patterns.
    from pastchats_memory.episodes.outcome.episode import shorten, strip_client_commands

    span = (episode[0].turn_index, episode[-1].turn_index)
    if judgement.shown_in is None:
        line = " ".join(strip_client_commands(next_turns[0].content).split()) if next_turns else ""
        quoted = (Quotation(shorten(line), next_turns[0].id, next_turns[0].turn_index),) if line else ()
        return Ending(*span, judgement.verdict, 0.0, SIGNAL, quoted)
    turn = next(turn for turn in (*episode, *next_turns) if turn.id == judgement.shown_in)
    words = turn.content[judgement.start : judgement.start + judgement.length]
    quotation = Quotation(shorten(" ".join(words.split())), turn.id, turn.turn_index)
    return Ending(*span, judgement.verdict, CONFIDENCE, SIGNAL, (quotation,))
