"""What a plain question can be taken for: values, and the line that tells of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from pastchats_memory.model import PRIORITIES


@dataclass(frozen=True, slots=True)
class Span:
    """Days, both inclusive; None for no bound."""

    field: str
    """`closed`, `created`, `updated` or `due`."""
    since: date | None
    until: date | None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question was taken for."""

    statuses: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    priorities: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    project: str | None = None
    span: Span | None = None
    missing: tuple[str, ...] = ()
    """What a task must not have, as `store.task_conditions` names it."""
    relation: str | None = None
    """To `of`, as `store.task_conditions` names it."""
    of: str | None = None
    """A task, by its key or in words."""
    order: str | None = None
    """`newest`, `oldest` or `most_urgent`."""
    limit: int | None = None
    is_count: bool = False
    concept: str | None = None
    """What it is about, for the search."""

    def described(self) -> str:
        """The reading in one line, for whoever asked."""
        parts = [" or ".join(self.types) if self.types else "tasks"]
        if self.statuses:
            parts.append("status " + " or ".join(self.statuses))
        if self.priorities:
            parts.append("priority " + " or ".join(PRIORITIES[number] for number in self.priorities))
        if self.tags:
            parts.append("tagged " + " and ".join(self.tags))
        if self.project:
            parts.append(f"project {self.project}")
        if self.span:
            parts.append(f"{self.span.field} {self.span.since or '…'} to {self.span.until or '…'}")
        parts += [f"without {name}" for name in self.missing]
        if self.relation:
            parts.append(f"{self.relation.replace('_', ' ')} {self.of!r}")
        if self.concept:
            parts.append(f"about {self.concept!r}")
        if self.order:
            parts.append(f"{self.order.replace('_', ' ')} first")
        if self.limit:
            parts.append(f"at most {self.limit}")
        return ("count of " if self.is_count else "") + " · ".join(parts)
