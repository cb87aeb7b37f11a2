"""Read a user's message as a reply to what was done before it. Pure, and cheap enough for a hook."""

from functools import cache

from pastchats_memory.store.outcomes import Ending
from pastchats_memory.text.data_file import read_parts, read_words
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern
from pastchats_memory.text.sentences import first_sentences, split_sentences
from pastchats_memory.text.topics import measure_topic
from pastchats_memory.text.words import WORD

OPENING = 400
"""Characters of a message in which it says what it is about."""
LEAST_TOPIC = 0.5
"""Topic that a message of its own names."""
REPLY_WIDTH, MOST_OF_REPLY = 160, 240
"""Characters of the user's words about an attempt, and of those with the sentence that decides."""
LONGEST_TURN = 40
"""Characters at the start of a sentence in which it turns to another thing."""
_TURN = read_pattern(__file__, "turns-to-another")
_ASIDE = LazyPattern(r"(?<=\w)\W+(?:btw|by the way|übrigens|nebenbei|au fait|por cierto|кстати)\W*\Z")
"""What closes a sentence about the same thing; at its start it turns to another one."""
_REFUSAL = LazyPattern(r"\W*(?:no|nope|nein|non|nee|нет|不|いいえ)\s*(?:[,.!:;–—，。-]|\Z)")


def reports_trouble(message: str) -> bool:
    """Return whether a message says that something does not hold, or is to be done in another way."""
    text = find_instruction(message)[:OPENING].lower()
    return bool(_REFUSAL.match(text)) or _has_trouble(text)


def _has_trouble(text: str) -> bool:
    return not _read_words().isdisjoint(WORD.findall(text.replace("’", "'"))) or any(
        part in text for part in read_parts(__file__, "reply_words.txt", "parts")
    )


@cache
def _read_words() -> frozenset[str]:
    return frozenset(read_words(__file__, "reply_words.txt")["words"].split())


def turns_to_another_thing(message: str) -> bool:
    """Return whether a sentence of a message says that it turns to another thing."""
    text = find_instruction(message)[:OPENING]
    sentences = [f"{_ASIDE.sub('', sentence.lower())} " for sentence in split_sentences(text)]
    return any(
        any(part in sentence[:LONGEST_TURN] for part in read_parts(__file__, "reply_words.txt", "turns"))
        or (_TURN.match(sentence) and not _has_trouble(sentence))
        for sentence in sentences
    )


def tries_again(message: str) -> bool:
    """Return whether a message names an earlier attempt or a further one."""
    text = find_instruction(message)[:OPENING].lower()
    return any(part in text for part in read_parts(__file__, "reply_words.txt", "attempts"))


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

    must = decides if decisive and ending.outcome != "unknown" else rejects
    return first_sentences(text, REPLY_WIDTH, must, MOST_OF_REPLY)
