"""Find the earlier episode of which a later message says that it did not help.

"So the bigger pool from May did not cure the timeouts" refutes a fix that passed its tests and was thanked for. Messages are recognised when
the outcomes of their conversation are derived; what they refute is looked for at the end of that run.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from pastchats_memory.episodes.actions import changed_files
from pastchats_memory.episodes.next_message import names_topic
from pastchats_memory.model import Item
from pastchats_memory.store import outcomes, turns, word_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending, Quotation
from pastchats_memory.text.data_file import read_data
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.sentences import cut_at_word, split_sentences
from pastchats_memory.text.topics import topic_words
from pastchats_memory.text.words import stem, words

SIGNAL = "refuted"
"""Stored in the place of a rule's name."""
CONFIDENCE = 0.9
OPENING = 600
"""Characters of a message in which it says what did not help."""
MAX_WORDS = 16
"""Words of a message that are looked up."""
COMMON_ROWS = 2000
"""Rows of a word that names nothing."""
MAX_CANDIDATES = 32
"""Earlier turns that are compared."""
MIN_WORDS, MIN_WORTH, MIN_REMEDY = 2, 1.0, 0.75
"""Words that message and episode share, and their worth together; less is enough if the sentence names the remedy."""
QUOTATION = 160
"""Characters of the quoted sentence."""
REACH = 6
"""Turns at each end of an episode that are compared."""
COMPARED = 2000
"""Characters of a turn that are compared."""


def _load_pattern(name: str) -> LazyPattern:
    return LazyPattern(lambda: str(read_data(__file__, "refutation.toml")[name]), re.IGNORECASE | re.VERBOSE)


_REMEDY, _RECURRENCE = _load_pattern("remedy"), _load_pattern("recurrence")


class RefutingSentence(NamedTuple):
    """A sentence that says of something earlier that it did not help."""

    text: str
    is_about_remedy: bool
    """Whether it names the remedy, rather than the trouble that is there again."""


def find_refuting_sentence(message: str) -> RefutingSentence | None:
    """Return the first sentence of a message's opening that names a remedy, else a trouble; a question refutes nothing."""
    sentences = split_sentences(find_instruction(message)[:OPENING])
    stated = [sentence for sentence in sentences if not sentence.endswith(("?", "？"))]
    for pattern in (_REMEDY, _RECURRENCE):
        if found := next(filter(pattern.search, stated), None):
            return RefutingSentence(found, is_about_remedy=pattern is _REMEDY)
    return None


def is_refuting(message: str) -> bool:
    """Return whether a message refutes something and names it."""
    return find_refuting_sentence(message) is not None and names_topic(message)


def refute(ending: Ending, message: str, turn_id: int) -> Ending:
    """Return the ending of an episode that a later message refutes."""
    found = find_refuting_sentence(message)
    if found is None or ending.outcome == "failed":
        return ending
    quoted = Quotation(cut_at_word(found.text, QUOTATION), turn_id)
    return ending._replace(verdict="failed", confidence=CONFIDENCE, signal=SIGNAL, evidence=(quoted,))


def find_refuted(database: Database, message: Item) -> int | None:
    """Return the id of the turn that asks in the episode that a message refutes; None if there is none.

    It shares rare words with the message. What was done there, or what was asked there, shares one with the refuting sentence.
    """
    sentence = find_refuting_sentence(message.content)
    if sentence is None or message.timestamp is None:
        return None
    best: tuple[float, str, int] | None = None
    least = MIN_REMEDY if sentence.is_about_remedy else MIN_WORTH
    for question, episode in _list_candidates(database, message):
        worth = _measure(message, sentence, episode)
        if worth >= least and (best is None or (worth, question.timestamp or "") > best[:2]):
            best = (worth, question.timestamp or "", question.id)
    return best and best[2]


def _list_candidates(database: Database, message: Item) -> Iterator[tuple[Item, list[Item]]]:
    """Yield earlier episodes of the project that share words with a message, each once."""
    worths: defaultdict[int, float] = defaultdict(float)
    names = topic_words(find_instruction(message.content)[:OPENING])
    for word in sorted(names, key=lambda word: -names[word])[:MAX_WORDS]:
        rows = word_rows.find_first_rows(database, word, COMMON_ROWS)
        for id_ in rows if len(rows) < COMMON_ROWS else ():
            worths[id_] += names[word]
    earlier = word_rows.select_earlier(database, worths, message)
    seen: set[tuple[str | None, int]] = set()
    for item in turns.items(database, sorted(earlier, key=lambda id_: (-worths[id_], -id_))[:MAX_CANDIDATES]):
        ending = outcomes.of_turn(database, item)
        if ending is None or (item.conversation_id, ending.first_index) in seen:
            continue
        seen.add((item.conversation_id, ending.first_index))
        if item.conversation_id == message.conversation_id and ending.last_index + 1 >= message.turn_index:
            continue  # the rules of outcomes read the next message
        episode = turns.episode_turns(database, item, ending, REACH)
        question = next((turn for turn in episode if turn.role == "user"), None)
        if question is not None:
            yield question, episode


def _measure(message: Item, sentence: RefutingSentence, episode: list[Item]) -> float:
    """Return the worth of the words that message and episode share; 0 if they are about different things."""
    requested = _stems("\n".join(turn.content[:COMPARED] for turn in episode if turn.role == "user"))
    answers = [turn.content[:COMPARED] for turn in episode if turn.role == "assistant"]
    done = _stems("\n".join([*answers, *(name for turn in episode for name in changed_files(turn))]))
    names = {stem(word): worth for word, worth in topic_words(find_instruction(message.content)[:OPENING]).items()}
    about = done if sentence.is_about_remedy else requested
    shared = names.keys() & (requested | done)
    if len(shared) < MIN_WORDS or names.keys().isdisjoint(_stems(sentence.text) & about):
        return 0.0
    return sum(names[word] for word in shared)


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))
