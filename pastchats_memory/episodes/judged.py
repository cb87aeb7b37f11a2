"""How an episode ended by the judgement of somebody who read it: a person, or an agent that understands more than rules do.

It stands in the place of what the rules say while what was read is the same: what was asked, the last answer, what was said next, and
the turn whose words show it. Whatever of it changes, the rules say again how it ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import orjson

from pastchats_memory.episodes import spoken_first
from pastchats_memory.model import Item
from pastchats_memory.store.judgements import Judgement
from pastchats_memory.store.outcomes import Ending, Quotation, Said

SIGNAL = "judged"
"""Stands for the rule that decided."""
CONFIDENCE = 0.94
"""How often such a verdict is right (`benchmarks/outcome/judging.py`)."""
DIGEST_BYTES = 16
Turns = Sequence[Said | Item]


def digest_of(episode: Turns, spoken: Turns, shown_in: int | None) -> bytes:
    """Of all that a judgement rests on, given what the person said next and the turn whose words show it."""
    answers = [turn for turn in episode if turn.role == "assistant"]
    shown = [turn for turn in (*episode, *spoken) if turn.id == shown_in]
    read = [[turn.content for turn in turns] for turns in (spoken_first(episode), answers[-1:], spoken, shown)]
    return hashlib.blake2b(orjson.dumps(read), digest_size=DIGEST_BYTES).digest()


def holds(judgement: Judgement, episode: Turns, spoken: Turns) -> bool:
    """Whether what was read for it is still the same."""
    return digest_of(episode, spoken, judgement.shown_in) == judgement.digest


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
