"""Describe in words what is forgotten, and what stays."""

from __future__ import annotations

from pastchats_memory.maintenance.forget import ForgetResult
from pastchats_memory.store.tombstones import Forgetting
from pastchats_memory.text.display import format_count, one_line

MAX_MISSING = 10
"""Ids without an item that are named."""


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
        more = f" and {len(found.missing) - MAX_MISSING:,} more" if len(found.missing) > MAX_MISSING else ""
        warnings.append(f"there is no {', '.join(found.missing[:MAX_MISSING])}{more}")
    if found.private:
        rows = format_count(found.private, "row")
        warnings.append(f"{rows} of private projects stay: forget from inside them, or name the project")
    return warnings
