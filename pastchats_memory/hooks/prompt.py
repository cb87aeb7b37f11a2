"""Choose the query for a prompt: the user's own words, without pastes and without text of programs."""

from __future__ import annotations

import re

from pastchats_memory.text.pasted import split_paste
from pastchats_memory.text.recall_block import strip_recall_blocks
from pastchats_memory.text.words import FUNCTION_WORDS, words

LONGEST_QUERY = 1200
"""Characters; the model reads some 250 tokens, and a task is named at the start or at the end of a prompt."""
LEAST_WORDS = 2
"""Least topic words: a prompt with fewer needs no recall."""

CHATTER = FUNCTION_WORDS | frozenset(
    """yes yeah yep ok okay sure thanks thank please go ahead continue proceed next again good great nice perfect cool right
    correct exactly sounds looks lgtm do it now try run fix this that more carry keep going stop wait hi hello hey done fine
    make let lets us let's want need use using like also still one two way thing things something here there see show tell
    explain help think maybe actually really well commit push it's don't can't first then same instead alright""".split()  # noqa: SIM905 - a list of 90 strings would fill a page
)
"""Words that steer a conversation and are about nothing."""

_TAGGED = re.compile(r"<(?P<tag>[a-z][a-z_-]{2,40})(?: [^<>]{0,200})?>.*?(?:</(?P=tag)>|\Z)", re.DOTALL)


def query_for(prompt: str) -> str | None:
    """Return what to recall for a prompt.

    None for a trivial one, a command of the client, or only a paste.
    """
    text = strip_recall_blocks(prompt)
    if text.lstrip()[:1] in ("/", "!", "#"):
        return None
    text = " ".join(" ".join(split_paste(_TAGGED.sub(" ", text))).split())
    if len(text) > LONGEST_QUERY:
        text = f"{text[: LONGEST_QUERY * 2 // 3]} {text[-LONGEST_QUERY // 3 :]}"
    topic_words = [word for word in words(text) if word not in CHATTER and not word.isdigit()]
    return text if len(topic_words) >= LEAST_WORDS else None
