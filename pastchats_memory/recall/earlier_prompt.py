"""Find the newest turn in which a prompt was typed before in the same project. Imports neither NumPy nor the model."""

from typing import TYPE_CHECKING

from pastchats_memory.store.database import Database
from pastchats_memory.store.word_rows import find_phrase
from pastchats_memory.text.words import WORD

if TYPE_CHECKING:
    from collections.abc import Callable

    from pastchats_memory.model import Hit

PHRASE = 20
"""Words of a prompt that are looked for; the rest is compared with what is found."""
MOST_RUNS = 50
"""Equal prompts that are read, the newest first."""


def is_typed(database: Database, text: str, project: str) -> bool:
    """Check quickly whether the words of a prompt stand in one of the user's turns of a project."""
    return bool(find_phrase(database, _begin(text), project, 1))


def find_earlier_prompt(
    database: Database, text: str, project: str, conversation: str | None, find_own_words: "Callable[[str], str]"
) -> "list[Hit]":
    """Return the newest turn with the same words as a prompt, as the only hit; empty if there is none.

    Args:
        database: the memory.
        text: the user's own words.
        project: the project in which they were typed.
        conversation: the one under way, which does not count.
        find_own_words: returns the user's own words of a stored prompt.
    """
    from pastchats_memory.search.hits import turn_hit
    from pastchats_memory.store import turns

    wanted = _list_words(text)
    for id_ in find_phrase(database, _begin(text), project, MOST_RUNS):
        (item,) = turns.items(database, [id_])
        if item.conversation_id != conversation and _list_words(find_own_words(item.content)) == wanted:
            return [turn_hit(item)._replace(rank=1, score=1.0, lexical_rank=1, contributions={"words": 1.0})]
    return []


def _begin(text: str) -> str:
    return " ".join(text.split()[:PHRASE])


def _list_words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]
