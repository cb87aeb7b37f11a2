"""A question in plain language to filters and the words that are left: a small grammar, no language model. Pure.

The question is read from left to right. At every place the longest phrase that the tables know is taken (a status, a
type, a priority, a span of time, a relation to another task, something that is missing); what no table knows, and is no
word of asking, is what the question is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from pastchats_memory.questions import marks, named, times
from pastchats_memory.questions.draft import Draft
from pastchats_memory.questions.phrases import ASKING_WORDS, LOOKED_AT, WE_COULD
from pastchats_memory.questions.reading import Reading

STEPS = (
    marks.count,
    named.relation,
    named.about,
    named.tags,
    named.project,
    marks.limit,
    marks.order,
    marks.missing,
    times.stale,
    times.time,
    times.overdue,
    marks.assigned,
    marks.statuses,
    marks.priorities,
    marks.types,
)
"""In this order, since each leaves to the next what it does not take."""
LONGEST = 1000
"""Characters that are read: patterns of a sentence take minutes for a megabyte of one word."""


def read_question(question: str, today: date, projects: Iterable[str] = ()) -> Reading:
    """The reading of a question asked on a day, where there are these projects."""
    question = question.strip()[:LONGEST]
    plain = " ".join(question.lower().replace("’", "'").rstrip("?!. ").split())
    draft = Draft(question, plain, today, {name.lower(): name for name in projects})
    for step in STEPS:
        step(draft)
    draft.note(concept=draft.reading.concept or _rest(draft.text) or None)
    return draft.reading


def _rest(text: str) -> str:
    asked = WE_COULD.sub(" ", LOOKED_AT.sub(" ", text))
    words = [word.strip("|,;:()\"'") for word in asked.split()]
    kept = [word for word in words if any(map(str.isalnum, word)) and word not in ASKING_WORDS]
    return " ".join(kept)
