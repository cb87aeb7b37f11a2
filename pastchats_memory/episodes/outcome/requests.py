"""Recognise requests by their first words, such as "can you" or "I want".

Other languages are recognised by their commonest words. `recall` uses this grammar too, so it is not in the phrase file.
"""

import re
from functools import cache, lru_cache

from pastchats_memory.episodes.outcome.episode import OPENING, Episode
from pastchats_memory.episodes.outcome.patterns import EXPRESSIONS
from pastchats_memory.text.data_file import read_data

_BEFORE = re.compile(
    r"[^\w@`#]*(?:(?:ok(?:ay)?|alright|all right|great|perfect|nice|good|cool|yes|yeah|yep|thanks|thank you|thx|please|pls"
    r"|now|next|then|also|and|so|but|just|first|finally|lastly|well|btw|by the way|further|always)\b[\s,.!:;-]*|[@`#]\S+\s+)*",
    re.IGNORECASE,
)
"""Words and file names before the request itself."""
_VERB = re.compile(
    r"([a-zA-Z]+)(?! (?:is|are|was|were|has|isn't|aren't|doesn't|don't|didn't|still|not|now|also|fail\w*|broke|breaks"
    r"|crash\w*|errors|shows|seems|looks|hangs|works|worked|passes|passed)\b)(?![\w])"
)
"""An imperative, unless it is the subject of a statement: "build fails", "search is slow"."""
_CONDITION = re.compile(r"(?:if|when|whenever|once|where|for|in|on|after|before)\b[^.?!\n]{0,100}?,\s+", re.IGNORECASE)


def is_inquiry(episode: Episode) -> bool:
    """Return whether the user wants information, so that the answer is the work."""
    return bool(EXPRESSIONS["requests.inquires"].search(episode.request[: 2 * OPENING]))


def is_greeting(episode: Episode) -> bool:
    """Return whether the user only greets or thanks."""
    return bool(EXPRESSIONS["requests.greeting"].match(episode.request[:OPENING]))


def is_question(episode: Episode) -> bool:
    """Return whether the user only asks a question. "Could you do it?" is a request."""
    request = episode.request.strip()
    is_one = EXPRESSIONS["requests.question"].match(request) or EXPRESSIONS["requests.final_question_mark"].search(
        request[-OPENING:]
    )
    return bool(is_one) and not EXPRESSIONS["requests.polite"].match(request)


def is_request(sentence: str) -> bool:
    """Return whether the sentence asks for something, or says what has to be."""
    return starts_with_request(sentence) or bool(EXPRESSIONS["requests.requires"].search(sentence))


@lru_cache(maxsize=64)
def starts_with_request(sentence: str) -> bool:
    """Return whether the first words ask for something, rather than state something."""
    start = _BEFORE.match(sentence)
    rest = sentence[start.end() if start else 0 :]
    if condition := _CONDITION.match(rest):
        rest = rest[condition.end() :]
    word = _VERB.match(rest)
    is_verb = word is not None and word[1].lower() in _load_verbs()
    return is_verb or bool(EXPRESSIONS["requests.asking"].match(rest) or EXPRESSIONS["requests.asking"].match(sentence))


@cache
def _load_verbs() -> frozenset[str]:
    return frozenset(read_data(__file__, "patterns.toml")["requests"]["verbs"])
