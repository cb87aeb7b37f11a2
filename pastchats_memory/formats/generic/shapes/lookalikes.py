"""What has the words of a conversation and is none: lists of log lines, commits, issues, people, prompts, questions of a form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from pastchats_memory.formats.generic.shapes.message import Message
from pastchats_memory.formats.generic.shapes.naming import LOGGED, RECORDED, SIDES, words_of
from pastchats_memory.formats.generic.shapes.values import asks
from pastchats_memory.formats.generic.speakers import roles_of_names

ISSUE = frozenset({"title", "number"})
LABELS = frozenset({"name", "title", "slug", "email", "subject", "headline"})
"""What names a thing or a person; each turn of a talk is named by nothing."""
FEWEST_LABELLED = 3
"""Of two messages each may well have a name of its own: that of who says it."""
INTERFACE = frozenset({
    "alert", "alertdialog", "banner", "button", "cell", "checkbox", "combobox", "dialog", "figure", "form", "grid", "heading", "img", "label",
    "link", "list", "listbox", "listitem", "menu", "menubar", "menuitem", "navigation", "option", "progressbar", "radio", "row", "searchbox",
    "slider", "status", "switch", "tab", "table", "textbox", "toolbar", "tooltip", "tree",
})  # fmt: skip
"""What has a role in WAI-ARIA."""
MANY = 20
TAKEN_IN_TURN = 0.8
"""Of the messages of a talk at least so many come from another side than the one before; of three that are drawn by chance, two thirds do."""
SELDOM_REPEATED = 0.6
"""Of what is said at least so much differs."""

_PLACEHOLDER = re.compile(r"\{\{\s?\w{1,40}\s?\}\}")


def is_recorded(names: Iterable[str]) -> bool:
    """Whether there are columns of commits, issues, reviews and exams among these."""
    told = {word for name in names for word in words_of(name)}
    return bool(told & RECORDED) or told >= ISSUE


def is_logged(names: Iterable[str]) -> bool:
    """Whether there are columns of a program's log among these."""
    return any(word in LOGGED for name in names for word in words_of(name))


def is_labelled(columns: Mapping[str, Sequence[object]]) -> bool:
    """Whether each row has a name or a title that no other has, as things and people in a list do."""
    for path, values in columns.items():
        words = words_of(path.rpartition(".")[2])
        labels = {value for value in values if isinstance(value, str)}
        if words and words[-1] in LABELS and len(labels) == len(values) >= FEWEST_LABELLED:
            return True
    return False


def are_entries(keys: Iterable[object]) -> bool:
    """Whether the keys of a map of questions and answers are words, as those of an interface's texts are, and no numbers, times or ids."""
    return all(isinstance(key, str) and key and not any(map(str.isdigit, key)) for key in keys)


def is_of_others(messages: Sequence[Message]) -> bool:
    """Whether messages are a list of something else, by what stands beside each or by how little speaks for a talk."""
    facts = [message.metadata or {} for message in messages]
    common = set(facts[0]).intersection(*facts) - {messages[0].speaker.key}
    each = facts[::2] if are_pairs(messages) else facts
    labels = {key: [fact[key] for fact in each] for key in common}
    if is_labelled(labels) or any(is_none(messages) for is_none in (_is_supposed, _are_parts, _are_roles, is_template)):
        return True
    by_role = {message.speaker.role: message.speaker.certainty for message in messages if message.speaker.key == "role"}
    is_outright = by_role.keys() >= SIDES or (bool(by_role) and all(by_role.values()))
    return not is_outright and (is_recorded(common) or is_logged(common) or _is_said_again(messages))


def _is_said_again(messages: Sequence[Message]) -> bool:
    """Whether half of many texts stand there before, and nobody takes turns: what a program says of what was done."""
    texts = {message.text for message in messages}
    changes = sum(before.speaker.role != after.speaker.role for before, after in pairwise(messages))
    return len(messages) >= MANY and len(texts) * 2 <= len(messages) and changes < len(messages) * TAKEN_IN_TURN


def _is_supposed(messages: Sequence[Message]) -> bool:
    """Whether who speaks is half a guess, since one of two has but a name, and nobody asks or answers anybody."""
    guessed = roles_of_names(message.speaker for message in messages)
    takes_turns = all(before.speaker.role != after.speaker.role for before, after in pairwise(messages))
    return bool(guessed) and not takes_turns and not any(asks(message.text) for message in messages)


def is_template(messages: Sequence[Message]) -> bool:
    """Whether in all that a person says a place is left for something else: a prompt that is yet to be filled in."""
    asked = [message.text for message in messages if message.speaker.role == "user"]
    return bool(asked) and all(map(_PLACEHOLDER.search, asked))


def _are_parts(messages: Sequence[Message]) -> bool:
    """Whether what stands under `role` are parts of an interface, or words of which none is known, and nobody asks or the same is said again and again."""
    if any(message.speaker.certainty or message.speaker.key != "role" for message in messages):
        return False
    if any(message.speaker.role in INTERFACE for message in messages):
        return True
    answered = any(
        asks(before.text) and before.speaker.role != after.speaker.role for before, after in pairwise(messages)
    )
    return not answered or len({message.text for message in messages}) < SELDOM_REPEATED * len(messages)


def _are_roles(messages: Sequence[Message]) -> bool:
    """Whether each of several has a role that no other has, half of which are none of a talk, and nobody asks: what roles there are."""
    words = {message.speaker.word for message in messages}
    unknown = sum(not message.speaker.certainty for message in messages)
    is_list = FEWEST_LABELLED <= len(messages) == len(words) <= 2 * unknown
    return is_list and not any(message.speaker.key != "role" or asks(message.text) for message in messages)


def are_asked_again(conversations: Sequence[Sequence[Message]]) -> bool:
    """Whether in several lists of questions and answers the same is asked again and again: a form that many filled in."""
    asked = [message.text for messages in conversations for message in messages if message.speaker.role == "user"]
    return len(conversations) > 1 and len(asked) >= 2 * len(conversations) and len(set(asked)) * 2 <= len(asked)


def are_pairs(messages: Sequence[Message]) -> bool:
    """Whether the names of the texts say who speaks: both sides stand in one object."""
    return all(message.speaker.key and message.speaker.key == message.text_key for message in messages)
