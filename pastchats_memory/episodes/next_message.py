"""Read a user's message as a reply to what was done before it. Pure, and cheap enough for a hook."""

from __future__ import annotations

from functools import cache

from pastchats_memory.store.outcomes import Ending
from pastchats_memory.text.data_file import read_words
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.sentences import first_sentences
from pastchats_memory.text.topics import measure_topic
from pastchats_memory.text.words import WORD

OPENING = 400
"""Characters of a message in which it says what it is about."""
LEAST_TOPIC = 0.5
"""Topic that a message of its own names."""
REPLY_WIDTH = 160
"""Characters of the user's words about an attempt."""
_REFUSAL = LazyPattern(r"\W*(?:no|nope|nein|non|nee|нет|不|いいえ)\s*(?:[,.!:;–—，。-]|\Z)")


def reports_trouble(message: str) -> bool:
    """Return whether a message says that something does not hold, or is to be done in another way."""
    text = find_instruction(message)[:OPENING].lower()
    return bool(_REFUSAL.match(text)) or _has_trouble(text)


def _has_trouble(text: str) -> bool:
    single, parts = _read_trouble()
    return not single.isdisjoint(WORD.findall(text.replace("’", "'"))) or any(part in text for part in parts)


@cache
def _read_trouble() -> tuple[frozenset[str], tuple[str, ...]]:
    lists = read_words(__file__, "trouble_words.txt")
    return frozenset(lists["words"].split()), tuple(
        part.strip() for part in lists["parts"].replace("\n", "|").split("|") if part.strip()
    )


def names_topic(message: str) -> bool:
    """Return whether a message names what it is about; "try again" and "do it" go on with what was said before."""
    return measure_topic(find_instruction(message)[:OPENING]) >= LEAST_TOPIC


def quote_reply(message: str, ending: Ending) -> str:
    """Return the user's words about an attempt: the first sentences, with the one that decided on its outcome."""
    shown = next((one.text.rstrip("…") for one in ending.evidence if one.turn_index > ending.last_index), "")
    decisive = " ".join(shown.split())[: REPLY_WIDTH // 4]
    text = find_instruction(message)

    def decides(sentence: str) -> bool:
        return bool(decisive) and decisive in sentence

    def rejects(sentence: str) -> bool:
        return _has_trouble(sentence.lower())

    return first_sentences(text, REPLY_WIDTH, decides if decisive and ending.outcome != "unknown" else rejects)
