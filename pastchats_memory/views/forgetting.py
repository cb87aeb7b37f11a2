"""Describe what is forgotten and what stays, in words and as JSON views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from pastchats_memory.text.display import format_count, one_line
from pastchats_memory.views.build import add_warnings

if TYPE_CHECKING:
    from pastchats_memory.maintenance.forget import ForgetResult
    from pastchats_memory.store.mentions import Mention
    from pastchats_memory.store.tombstones import Forgetting
    from pastchats_memory.views.schema import forgetting as views

MAX_NAMED = 10
"""Most rows or ids that a warning names."""


def describe_rows(of: ForgetResult | Forgetting) -> str:
    """Say how many rows of each kind there are: `3 turns, 1 task`."""
    kinds = ((of.turns, "turn"), (of.tasks, "task"), (of.comments, "comment"), (of.attachments, "attachment"))
    return ", ".join(format_count(number, kind) for number, kind in kinds if number) or "nothing"


def describe_criteria(one: Forgetting) -> str:
    """Say how the rows of a deletion were chosen: `project acme; until 2025-12-31`."""
    values = {name: ", ".join(value) if isinstance(value, list) else value for name, value in one.selector.items()}
    return one_line("; ".join(name if value is None else f"{name} {value}" for name, value in values.items()))


def describe_other_rows(found: ForgetResult) -> list[str]:
    """Say which ids have no item, and how many rows stay as they are private."""
    warnings = []
    if found.missing and found:
        more = f" and {len(found.missing) - MAX_NAMED:,} more" if len(found.missing) > MAX_NAMED else ""
        warnings.append(f"there is no {', '.join(found.missing[:MAX_NAMED])}{more}")
    if found.private:
        rows = format_count(found.private, "row")
        warnings.append(f"{rows} of private projects stay: forget from inside them, or name the project")
    return warnings


def build_forget_found(found: ForgetResult) -> views.ForgetFoundBody:
    """Build `forget/1` of what would be forgotten."""
    return {"schema": "forget/1", **_build_found(found)}


def build_prune_found(found: ForgetResult) -> views.PruneFoundBody:
    """Build `prune/1` of what would be forgotten."""
    return {"schema": "prune/1", **_build_found(found)}


def build_forget_forgotten(forgotten: ForgetResult) -> views.ForgetForgottenBody:
    """Build `forget/1` of what was forgotten."""
    return {"schema": "forget/1", **_build_forgotten(forgotten)}


def build_prune_forgotten(forgotten: ForgetResult) -> views.PruneForgottenBody:
    """Build `prune/1` of what was forgotten."""
    return {"schema": "prune/1", **_build_forgotten(forgotten)}


def build_forget_list(outcome: str, forgettings: Sequence[Forgetting]) -> views.ForgetListBody:
    """Build `forget/1` of a list; the outcome is `listed` or `undone`."""
    return {"schema": "forget/1", "outcome": outcome, "results": [_build_forgetting(one) for one in forgettings]}


def _build_found(found: ForgetResult) -> views.FoundFields:
    rows = [cast("views.ForgettableView", asdict(row)) for row in found.rows]
    body: views.FoundFields = {
        "outcome": "found",
        "turns": found.turns,
        "tasks": found.tasks,
        "comments": found.comments,
        "attachments": found.attachments,
        "private": found.private,
        "results": rows,
    }
    return add_warnings(body, describe_mentions(found.mentions))


def _build_forgotten(forgotten: ForgetResult) -> views.ForgottenFields:
    results = [] if forgotten.forgetting is None else [_build_forgetting(forgotten.forgetting)]
    body: views.ForgottenFields = {
        "outcome": "forgotten",
        "turns": forgotten.turns,
        "tasks": forgotten.tasks,
        "comments": forgotten.comments,
        "attachments": forgotten.attachments,
        "private": forgotten.private,
        "results": results,
    }
    return add_warnings(body, describe_mentions(forgotten.mentions))


def describe_mentions(mentions: Sequence[Mention]) -> list[str]:
    """Say which rows and names stay although they contain words of a forgotten text, and why."""
    rows = [one for one in mentions if not one.names]
    names = [one for one in mentions if one.names]
    warnings = []
    if rows:
        listed = ", ".join(f"{one.place} ({', '.join(one.words)})" for one in rows[:MAX_NAMED])
        more = f" and {len(rows) - MAX_NAMED:,} more" if len(rows) > MAX_NAMED else ""
        warnings.append(f"rows that stay, since they have only some of its words: {listed}{more}; --id forgets them")
    if names:
        listed = ", ".join(f"{one.place}: {', '.join(one.words)} ({one.names})" for one in names)
        warnings.append(f"names that stay, since files, projects and runs are not texts: {listed}")
    return warnings


def _build_forgetting(one: Forgetting) -> views.ForgettingView:
    return {
        "number": one.number,
        "at": one.at,
        "selector": cast("views.SelectorView", dict(one.selector)),
        "turns": one.turns,
        "tasks": one.tasks,
        "comments": one.comments,
        "attachments": one.attachments,
    }


def build_purge(outcome: str, turns: int, tasks: int) -> views.PurgeBody:
    """Build `purge/1`; the outcome is `purged` or `found`."""
    return {
        "schema": "purge/1",
        "outcome": outcome,
        "results": [{"turns": turns, "tasks": tasks}],
    }
