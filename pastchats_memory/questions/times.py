"""When: closed, created, changed or due, and what nobody changed since."""

from __future__ import annotations

import re
from datetime import timedelta

from pastchats_memory.model import OPEN
from pastchats_memory.questions.draft import Draft
from pastchats_memory.questions.phrases import DUE_BY, UNTOUCHED
from pastchats_memory.questions.reading import Span
from pastchats_memory.text.time_spans import NUMBERS, TIME_PATTERNS, next_occurrence

_DUE = re.compile(r"(?:due|deadlines?)\b")
_CREATED = re.compile(
    r"(?:created|added|opened|filed|reported|new|captured|raised|came in|logged|requested|submitted|proposed|suggested)\b"
)
STALE_DAYS = 30
"""Without a change after which a task is stale where the question says no time."""
_UPDATED = re.compile(r"(?:updated|changed|touched|modified|moved)\b")
_SAID_BY = {"due": (_DUE, _CREATED), "created": (_CREATED,), "updated": (_UPDATED,), "closed": ()}
"""Words that are used up once a span is one of a field; those of `closed` say a status, too."""


def stale(draft: Draft) -> None:
    """What nobody changed since some time, which is up to the day before it."""
    if not draft.take(UNTOUCHED):
        return
    draft.text = re.sub(rf"\bin (?:the (?:last|past) )?(?=(?:\d{{1,4}}|{'|'.join(NUMBERS)}) )", "for ", draft.text)
    time(draft)
    said = draft.reading.span
    until = draft.today - timedelta(days=STALE_DAYS)
    if said is not None:
        until = said.until or until if said.since is None else said.since - timedelta(days=1)
    draft.note(span=Span("updated", None, until), statuses=draft.reading.statuses or OPEN)


def time(draft: Draft) -> None:
    """The first span of time, and what is said to have happened in it."""
    if draft.reading.span:
        return
    draft.text, is_promised = DUE_BY.subn("due", draft.text)
    if is_promised:
        draft.note(statuses=draft.reading.statuses or OPEN)
    for pattern, span in TIME_PATTERNS:
        found = re.search(pattern, draft.text)
        if found is None:
            continue
        since, until = span(found, draft.today)
        field = _field(draft.text)
        if field == "due":
            since, until = next_occurrence((since, until), found[0], draft.today)
        draft.note(span=Span(field, since, until))
        draft.take(rf"{pattern}(?:'s)?")
        for said in _SAID_BY[field]:
            draft.text = said.sub("|", draft.text)
        return


def _field(text: str) -> str:
    if _DUE.search(text):
        return "due"
    if re.search(
        r"\b(?:done|finish|finished|completed?|closed?|resolved?|ship(?:ped)?|fix(?:ed)?|accomplish(?:ed)?|deliver(?:ed)?|solved|achieved?|get done|got done|wrap(?:ped)?|ticked|crossed off|got through)\b",
        text,
    ):
        return "closed"
    return "created" if _CREATED.search(text) else "updated"


def overdue(draft: Draft) -> None:
    """What should have been done by yesterday and is not."""
    if draft.take(r"\b(?:overdue|past due|past (?:its|their|the) (?:deadline|due date)|late)\b"):
        until = draft.today - timedelta(days=1)
        draft.note(span=Span("due", None, until), statuses=draft.reading.statuses or OPEN)
