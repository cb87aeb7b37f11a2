"""What the person said next: accepted, rejected, corrected, built on, asked again, undid it, or pasted the error that came of it.

Several languages, where a few words are enough; negation and sarcasm count against.
"""

from __future__ import annotations

import re

from pastchats_memory.episodes.outcome import assent, faults
from pastchats_memory.episodes.outcome.answers import ends_asking
from pastchats_memory.episodes.outcome.complaints import is_complaint
from pastchats_memory.episodes.outcome.episode import LONGEST, Episode, Evidence, Pattern, once
from pastchats_memory.episodes.outcome.requests import asks, is_inquiry, is_request
from pastchats_memory.episodes.outcome.said import (
    FEW_WORDS,
    TRIES,
    beginning,
    first_sentence,
    next_words,
    opening,
    words_of,
)
from pastchats_memory.episodes.outcome.sent_again import TELLING, asked_again, is_paste, pasted_error

MOST_WORDS = 20
"""Words up to which a yes is about what was answered, and not the beginning of something else."""
AT_LENGTH = 100
"""Characters from which on what was said is a matter of its own: who finds fault does so in fewer, or in words that are known for it."""
SHARED = 2
"""Words of what was asked in a sentence with "still", from which on it is about that."""
LONG_WORD = 4
"""Letters from which on a word is about something."""
PLAIN = 3
"""Of the commonest English words in what was said, from which on its complaints are in words that are known."""
LONGEST_STATEMENT = 16
"""Words of one that is about what was done."""

_FAULTS = (faults.NO, faults.BROKEN, faults.OTHERWISE)
_BARE = re.compile(r"[/!]|@\S+\s*\Z")
"""A command, or a file alone."""
_WORD = re.compile(r"[^\W_]+")
_NAMED_ERROR = re.compile(r"\b[A-Z][a-zA-Z]{0,60}(?:Error|Exception): ")
"""In a line that a program printed, which may be of the same error or of the next one."""
_ENGLISH = re.compile(r"\b(?:the|to|of|and|is|it|that|for|with|on|we|i|you|this)\b", re.IGNORECASE)


def _found(episode: Episode, pattern: Pattern, said: str | None = None) -> tuple[Evidence, ...]:
    found = pattern.search(opening(episode) if said is None else said)
    return next_words(episode, found.start()) if found else ()


@once
def _about_the_work(episode: Episode) -> str:
    """How what was said next begins, if it is about the work: whoever finds fault does so first, and then says what they want now."""
    said = opening(episode)
    first = first_sentence(said)
    is_new = asks(first) and not faults.AGAIN.search(first) and len(first.split()) > FEW_WORDS
    return "" if is_new else beginning(said)


def undone(episode: Episode) -> tuple[Evidence, ...]:
    """The person takes the work back, or asks for that, unless it was by mistake."""
    return () if faults.BY_MISTAKE.search(opening(episode)) else _found(episode, faults.UNDONE)


def still_so(episode: Episode) -> tuple[Evidence, ...]:
    """The person says that it is as it was, or does not work, or that what they asked about still is so; not in answer to a question."""
    if is_paste(episode) or ends_asking(episode) or faults.CONDITION.match(opening(episode)):
        return ()
    told = _found(episode, faults.STILL, _about_the_work(episode)) or _persists(episode)
    return told or (next_words(episode) if is_complaint(episode.asked) and is_complaint(opening(episode)) else ())


def _persists(episode: Episode) -> tuple[Evidence, ...]:
    """What was asked about is said again, with a "still" in it."""
    sentence = first_sentence(opening(episode))
    found = faults.YET.search(sentence)
    if not found:
        return ()
    shared = _long_words(sentence) & _long_words(episode.asked)
    return next_words(episode, found.start()) if len(shared) >= SHARED else ()


def _long_words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text[:LONGEST].lower()) if len(word) >= LONG_WORD}


@once
def tells_trouble(episode: Episode) -> tuple[Evidence, ...]:
    """The person begins by stating what is wrong, in a few words of their own."""
    first = first_sentence(opening(episode))
    asks = is_request(first) or is_request(first.rpartition(", ")[2]) or opening(episode)[len(first) :].startswith("?")
    printed = pasted_error(episode) or _NAMED_ERROR.search(opening(episode).partition("\n")[0])
    stated = len(first.split()) <= LONGEST_STATEMENT and not (asks or printed)
    eased = any(pattern.search(first) for pattern in (faults.NO_TROUBLE, assent.RELIEVED, faults.PARTLY))
    return () if not stated or eased else _found(episode, faults.TROUBLED, first)


def is_about_request(episode: Episode) -> bool:
    """Whether the person's first sentence names something that they asked for."""
    return names_request(episode, first_sentence(opening(episode)))


def names_request(episode: Episode, text: str) -> bool:
    """Whether the text has a word of what was asked for."""
    return bool(_long_words(text) & _long_words(episode.asked))


def still_goes_on(episode: Episode) -> tuple[Evidence, ...]:
    """What the person says first has a "still" in it."""
    return _found(episode, faults.YET, first_sentence(opening(episode)))


def refuses(episode: Episode) -> tuple[Evidence, ...]:
    """The person says that nothing of it is right or that it did not hold when they tried it, or praises what they are angry about."""
    said = opening(episode)
    sarcastic = () if assent.RELIEVED.search(said) else (faults.SARCASM,)
    flat = () if assent.NOW_GOOD.search(said) else (faults.FLAT_NO,)
    found = (pattern.search(said) for pattern in (*flat, faults.TRIED_IN_VAIN, *sarcastic))
    return next((next_words(episode, one.start()) for one in found if one), ())


@once
def finds_fault(episode: Episode) -> tuple[Evidence, ...]:
    """The person says no, that something broke, or that it is otherwise than asked for."""
    found = (_found(episode, pattern, _about_the_work(episode)) for pattern in _FAULTS)
    return next(filter(None, found), ()) or refuses(episode)


def half_works(episode: Episode) -> tuple[Evidence, ...]:
    """The person says what works and what does not, or that it is there, but not as it should be."""
    if is_paste(episode):
        return ()
    half = _found(episode, faults.HALF) if faults.BUT.search(opening(episode)) or doubted(episode) else ()
    return half or _found(episode, faults.PARTLY)


def thanked(episode: Episode) -> tuple[Evidence, ...]:
    """The person says that it is good, without a but and without meaning the contrary, or commits it."""
    said = opening(episode)
    if doubted(episode) or faults.HOWEVER.search(said) or _echoes(episode):
        return ()
    praised = assent.THANKED.search(said) or assent.RELIEVED.search(said) or assent.COMMITS.search(said)
    return next_words(episode) if praised else ()


def _echoes(episode: Episode) -> bool:
    """Whether the person sends back what was answered."""
    line = opening(episode).partition("\n")[0].strip()
    return len(line) >= TELLING and any(line in answer for _, answer in episode.answers())


def did_as_asked(episode: Episode) -> bool:
    """Whether the person reports on what they themselves did."""
    return bool(assent.DID.search(opening(episode)))


def agreed(episode: Episode) -> bool:
    """Whether the person says yes, and little else."""
    said = opening(episode)
    go = assent.GO.search(said) and "?" not in episode.asked
    return bool(assent.AGREED.search(said)) and not go and len(said.split()) <= MOST_WORDS and not doubted(episode)


def picked(episode: Episode) -> bool:
    """Whether the person says which one it shall be of what was offered."""
    return bool(assent.PICKED.search(opening(episode))) and not doubted(episode)


def is_at_length(episode: Episode) -> bool:
    """Whether the person goes into something at length, in plain English and without a word against the work or of trouble."""
    said = opening(episode)
    if len(words_of(episode.following[:LONGEST])) < AT_LENGTH or doubted(episode) or faults.UNEASY.search(said):
        return False
    return len(_ENGLISH.findall(said)) >= PLAIN


def goes_on(episode: Episode) -> bool:
    """Whether the person goes on from what was answered; a mere go counts where a question was asked."""
    said = opening(episode)
    taken_up = assent.DO_THAT.search(said) and not faults.AGAIN.search(first_sentence(said))
    going = assent.BUILT_ON.search(said) or taken_up or (assent.GO.search(said) and is_inquiry(episode))
    return bool(going) and not doubted(episode)


@once
def doubted(episode: Episode) -> bool:
    """Whether anything in the person's next words speaks against the work."""
    said = opening(episode)
    first = first_sentence(said)
    return bool(
        _speaks_against(episode)
        or tells_trouble(episode)
        or (faults.DOUBTS.search(first) and not assent.RELIEVED.search(said))
        or faults.BUT.search(first)
    ) or bool(faults.TROUBLE.search(said.partition("\n")[0]) and not assent.RELIEVED.search(said))


@once
def _speaks_against(episode: Episode) -> bool:
    """Whether anything in the person's next words finds fault, or takes the work back."""
    said = opening(episode)
    return bool(
        any(pattern.search(said) for pattern in (*_FAULTS, faults.STILL, faults.PARTLY))
        or refuses(episode)
        or pasted_error(episode)
        or undone(episode)
    )


@once
def went_on(episode: Episode) -> bool:
    """Whether the person's next words ask for something else, without a word against what was done.

    A new request is the commonest sign that the work before it was good: whoever states something mostly has a complaint.
    """
    said = opening(episode)
    if not said:
        return bool(episode.following)
    first = first_sentence(said)
    against = _speaks_against(episode) or tells_trouble(episode) or faults.DOUBTS.search(first) or asked_again(episode)
    if against or TRIES.match(said):
        return False
    if is_request(first):
        return not faults.AGAIN.search(first)
    return bool(_BARE.match(said))
