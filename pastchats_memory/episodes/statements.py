"""Recognise what a text states for later: a decision, or work that is left open. Pure."""

import re

from pastchats_memory.episodes.supersession import has_change
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern
from pastchats_memory.text.pasted import split_paste
from pastchats_memory.text.sentences import split_sentences
from pastchats_memory.text.topics import measure_topic, topic_words
from pastchats_memory.text.words import stem, words

LONGEST_DECISION = 400
"""Characters of a request that decides something; longer ones describe, quote or paste."""
LEAST_TOPIC = 0.5
"""Topic that the sentence of a decision names; "let's go with that" decides nothing that one can look up."""
MIN_REPLACED = 1.0
"""Worth of the names that a clause and an earlier answer share, if the clause says that they are gone."""
LAST_CHARACTERS = 3000
"""Characters at the end of an answer that say what is left."""

_SENTENCE = LazyPattern(r"(?<=[.!?;。！？])\s+|\n+")
_DECIDES = read_pattern(__file__, "decides", re.IGNORECASE)
_RULES = read_pattern(__file__, "rules", re.IGNORECASE)
_UNDECIDED = read_pattern(__file__, "undecided", re.IGNORECASE)
_REPLACED = read_pattern(__file__, "replaced", re.IGNORECASE)
_CLAUSE_END = LazyPattern(r"(?<=[,;:])\s+|\n+")
_LEFT_OPEN = read_pattern(__file__, "left-open", re.IGNORECASE)


def is_decision(request: str) -> bool:
    """Return whether a short request settles something that it names, or puts one thing in the place of another."""
    if len(split_paste(find_instruction(request)).typed) > LONGEST_DECISION:
        return False
    return has_change(request) or bool(find_decisions(request))


def find_decisions(request: str) -> list[str]:
    """Return the sentences of a request, without its pastes, that settle something they name."""
    return _list_statements(request, _DECIDES)


def find_rules(request: str) -> list[str]:
    """Return the sentences of a request, without its pastes, that say how work has to be done."""
    return _list_statements(request, _RULES)


def _list_statements(request: str, cue: LazyPattern) -> list[str]:
    if not cue.search(request):
        return []
    sentences = filter(cue.search, _SENTENCE.split(split_paste(find_instruction(request)).typed))
    return [one for one in sentences if not _UNDECIDED.search(one) and measure_topic(one) >= LEAST_TOPIC]


def find_replacing_sentence(answer: str, earlier: str) -> str:
    """Return the sentence of an answer by which a thing that an earlier answer names is gone or replaced; empty for none."""
    if not _REPLACED.search(answer):
        return ""
    known = {stem(word) for word in words(earlier)}

    def names_earlier(clause: str) -> bool:
        shared = sum(worth for word, worth in topic_words(clause).items() if stem(word) in known)
        return shared >= MIN_REPLACED and _REPLACED.search(clause) is not None

    stated = (one for one in split_sentences(answer) if not one.endswith(("?", "？")))
    return next((one for one in stated if any(map(names_earlier, _CLAUSE_END.split(one)))), "")


def leaves_work_open(answer: str) -> bool:
    """Return whether the end of an answer says that something is left to do."""
    return _LEFT_OPEN.search(answer[-LAST_CHARACTERS:]) is not None
