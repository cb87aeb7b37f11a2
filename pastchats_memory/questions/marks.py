"""What tasks are marked with: status, type, priority, what they lack; and how many, in which order."""

from __future__ import annotations

import re

from pastchats_memory.model import OPEN, RESOLVED
from pastchats_memory.questions.draft import Draft
from pastchats_memory.questions.phrases import (
    MISSING_PHRASES,
    PRIORITY_PHRASES,
    STATUS_PHRASES,
    TO_DO_NOW,
    TYPE_PHRASES,
    any_of,
    longest_first,
)
from pastchats_memory.text.time_spans import NUMBERS, parse_number

_BUT = r"\b(?:not|aren't|isn't|but|except(?: for)?|excluding|other than|apart from)(?: the)?"


def count(draft: Draft) -> None:
    """Whether only a number is asked for."""
    if draft.take(r"\b(?:how many|number of|count(?: of)?)\b"):
        draft.note(is_count=True)


def limit(draft: Draft) -> None:
    """At most how many, and of which end."""
    number = rf"(\d{{1,3}}|{'|'.join(NUMBERS)})"
    found = draft.take(rf"\b(?:top|first) {number}\b") or draft.take(
        rf"\b(?:latest|newest|oldest|last|most recent) {number} (?=(?:[\w-]+ ){{0,2}}(?:tasks?|issues?|tickets?|bugs?|epics?|things|items))"
    )
    before = re.search(rf"\b{number} (?=(?:latest|newest|oldest|most recent|most urgent)\b)", draft.text)
    if before and not found:
        draft.text = draft.text.replace(before[0], "", 1)
        draft.note(limit=parse_number(before[1]))
    if found:
        draft.note(limit=parse_number(found[1]))
        if found[0].startswith(("latest", "newest", "last", "most recent")):
            draft.note(order="newest")
        elif found[0].startswith("oldest"):
            draft.note(order="oldest")


def order(draft: Draft) -> None:
    """In which order."""
    for name, pattern in (
        ("newest", r"\b(?:latest|newest|most recent(?:ly)?|recent)\b"),
        ("oldest", r"\b(?:oldest|longest(?: running)?)\b"),
        (
            "most_urgent",
            rf"{TO_DO_NOW}|\b(?:by priority|work on next|do next|should i do|start with|most pressing|focus on|(?:top |main |biggest )?priorities(?! (?:are|is) missing)|needs? (?:my|our|your) attention)\b",
        ),
    ):
        if draft.take(pattern):
            draft.note(order=draft.reading.order or name)
            if name == "most_urgent":
                draft.note(statuses=draft.reading.statuses or OPEN)


def missing(draft: Draft) -> None:
    """What the tasks must not have."""
    found = []
    lacking = r"(?:without|with no|has no|have no|lack(?:s|ing)?|missing|don't have|doesn't have|do not have|does not have|that have no|no)"
    for name, phrases in MISSING_PHRASES.items():
        if draft.take(rf"\b{lacking} (?:any )?(?:{phrases})\b"):
            found.append(name)
    if draft.take(r"\b(?:orphan(?:ed|s)?|standalone)\b"):
        found.append("epic")
    if draft.take(r"\b(?:unassigned|not assigned|nobody is assigned)\b"):
        found.append("assignee")
    if draft.take(r"\b(?:unprioriti[sz]ed|not prioriti[sz]ed)\b"):
        found.append("priority")
    if draft.take(r"\b(?:untagged|unlabell?ed)\b"):
        found.append("tags")
    if draft.take(r"\b(?:undocumented)\b"):
        found.append("description")
    if found:
        draft.note(missing=tuple(dict.fromkeys(found)))


def assigned(draft: Draft) -> None:
    """Whose they are, which nothing tells of: a memory is one person's."""
    draft.take(r"\b(?:assigned to me|on my list|mine)\b")


def priorities(draft: Draft) -> None:
    """Priorities, all that are named."""
    for phrase, numbers in longest_first(PRIORITY_PHRASES):
        if draft.take(any_of(phrase)):
            draft.note(priorities=tuple(sorted({*numbers, *draft.reading.priorities})))


def statuses(draft: Draft) -> None:
    """Statuses that are named, without those that are excepted; tasks that were closed at some time are resolved."""
    found: list[str] = []
    excluded: list[str] = []
    draft.text = re.sub(r"\bneither (.{1,80}?) nor (?=\w)", r"not \1 not ", draft.text)
    for phrase, meant in longest_first(STATUS_PHRASES):
        taken = draft.take(rf"(?P<not>{_BUT} )?(?<![\w-]){re.escape(phrase)}(?![\w-])")
        if taken:
            (excluded if taken["not"] else found).extend(meant)
    if excluded:
        found = [status for status in found or OPEN if status not in excluded]
    if found:
        draft.note(statuses=tuple(dict.fromkeys(found)))
    elif draft.reading.span and draft.reading.span.field == "closed":
        draft.note(statuses=RESOLVED)


def types(draft: Draft) -> None:
    """Types, and other words for a task, which stand for none."""
    found: list[str] = []
    for phrases, meant in TYPE_PHRASES.items():
        if draft.take(any_of(phrases)):
            found += meant
    while any(draft.take(any_of(phrases)) for phrases in TYPE_PHRASES):
        continue
    if found:
        draft.note(types=tuple(dict.fromkeys(found)))
