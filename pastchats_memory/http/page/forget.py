"""Forget from the page: what would go is shown first, and a second click deletes it."""

from collections.abc import Mapping
from typing import Any

from pastchats_memory.errors import UsageFault
from pastchats_memory.http.page.answers import PageRequest, Redirect, Reply, WebPage
from pastchats_memory.maintenance.forget import ForgetResult
from pastchats_memory.memory import Memory
from pastchats_memory.model.ids import number_of
from pastchats_memory.views.forgetting import (
    describe_criteria,
    describe_mentions,
    describe_other_rows,
    describe_rewrite,
    describe_rows,
)

CRITERIA = ("id", "conversation", "source", "project", "since", "until", "query")
SHOWN = 10
"""Rows of a preview that are shown."""


def show(memory: Memory, request: PageRequest) -> WebPage:
    """Show what the criteria of the query choose; without any, the form and earlier deletions.

    Raises UsageFault.
    """
    criteria = _read_criteria(request.query)
    if criteria:
        return _confirm(_forget(memory, criteria, dry_run=True), criteria)
    deletions = [
        {"number": one.number, "at": one.at, "rows": describe_rows(one), "criteria": describe_criteria(one)}
        for one in reversed(memory.list_forgettings())
    ]
    return WebPage("forget", {"deletions": deletions, "undone": request.query.get("undone")})


def forget(memory: Memory, request: PageRequest) -> WebPage:
    """Delete what the confirmed form chooses; ask again if that is no longer what was shown.

    Raises UsageFault.
    """
    criteria = _read_criteria(request.form)
    found = _forget(memory, criteria, dry_run=True)
    if str(found.total) != request.form.get("total"):
        return _confirm(found, criteria, has_changed=True)
    gone = _forget(memory, criteria, dry_run=False)
    if gone.forgetting is None:
        return _confirm(gone, criteria, has_changed=True)
    values = {
        "rows": describe_rows(gone),
        "number": gone.forgetting.number,
        "warnings": [*describe_mentions(gone.mentions), *describe_rewrite(gone)],
    }
    return WebPage("forgotten", values)


def undo(memory: Memory, request: PageRequest) -> Reply:
    """Let the text of one deletion be indexed again. Raises UsageFault."""
    number = number_of(request.form.get("number", ""))
    if number is None or memory.undo_forget(number) is None:
        raise UsageFault("there is no such deletion", "It may have been undone already.")
    return Redirect(f"/page/forget?undone={number}")


def _confirm(found: ForgetResult, criteria: Mapping[str, str], *, has_changed: bool = False) -> WebPage:
    return WebPage(
        "forget_confirm",
        {
            "criteria": criteria,
            "total": found.total,
            "rows": describe_rows(found),
            "shown": found.rows[:SHOWN],
            "more": found.total - min(SHOWN, len(found.rows)),
            "warnings": [*describe_mentions(found.mentions), *describe_other_rows(found)],
            "has_changed": has_changed,
        },
    )


def _forget(memory: Memory, criteria: Mapping[str, str], *, dry_run: bool) -> ForgetResult:
    by: dict[str, Any] = {**criteria}
    ids = [by.pop("id")] if "id" in by else []
    return memory.forget(*ids, **by, dry_run=dry_run)


def _read_criteria(given: Mapping[str, str]) -> dict[str, str]:
    return {name: given[name] for name in CRITERIA if name in given}
