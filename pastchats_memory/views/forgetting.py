"""Describe what is forgotten and what stays, in words."""

from collections.abc import Sequence

from pastchats_memory.maintenance.forget import ForgetResult
from pastchats_memory.store.mentions import Mention
from pastchats_memory.store.tombstones import Forgetting
from pastchats_memory.text.display import counted, one_line

MAX_NAMED = 10
"""Most rows or ids that a warning names."""


def describe_rows(of: ForgetResult | Forgetting) -> str:
    """Say how many rows of each kind there are: `3 turns, 1 task`."""
    kinds = ((of.turns, "turn"), (of.tasks, "task"), (of.comments, "comment"), (of.attachments, "attachment"))
    return ", ".join(counted(number, kind) for number, kind in kinds if number) or "nothing"


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
        rows = counted(found.private, "row")
        warnings.append(f"{rows} of private projects stay: forget from inside them, or name the project")
    return warnings


def describe_rewrite(gone: ForgetResult) -> list[str]:
    """Say how long it took to write the file anew, if that was done."""
    return (
        [f"copies of it were left in the file, so SQLite wrote it anew in {gone.rewrite_s:.1f} s"]
        if gone.rewrite_s
        else []
    )


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
