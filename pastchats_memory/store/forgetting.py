"""Rows out of every table for good, with tombstones in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from pastchats_memory.model import Filters
from pastchats_memory.store import erasing, going, outcomes, vectors
from pastchats_memory.store.buried import without_buried
from pastchats_memory.store.cited import BELOW
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import LISTED, TEXTS, conditions, task_conditions
from pastchats_memory.store.task_texts import task_text
from pastchats_memory.store.tombstones import Burial, Mark, marks_of_attachment, marks_of_comment, marks_of_task


@dataclass(frozen=True, slots=True)
class Choice:
    """By what rows are chosen; all that is given must hold, None and `()` leave a criterion out."""

    filters: Filters = field(default_factory=Filters)
    """Project, time and what may be seen from here."""
    ids: Mapping[str, Sequence[int]] | None = None
    """Rows that are named, by `turns`, `tasks`, `comments`, `attachments`."""
    conversation: str | None = None
    sources: tuple[str, ...] = ()
    """Paths of files and folders."""
    rows: Sequence[int] | None = None
    """Ids of `prompts` and of `task_texts` that a query led to."""
    before: str | None = None
    """Only turns that are older, as `prompts.timestamp` has it; tasks stay."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The rows that go, by their own numbers, ascending."""

    turns: list[int]
    tasks: list[int]
    comments: list[int]
    """Of tasks that stay."""
    attachments: list[int]
    """Of tasks that stay."""

    def __bool__(self) -> bool:
        return bool(self.turns or self.tasks or self.comments or self.attachments)

    def counts(self) -> dict[str, int]:
        """How many of each kind."""
        kinds = ("turns", "tasks", "comments", "attachments")
        return {kind: len(getattr(self, kind)) for kind in kinds}


@dataclass(frozen=True, slots=True)
class Shown:
    """A row that would go, as a person is shown it."""

    id: str
    type: str
    project: str
    timestamp: str | None
    content: str


def reach_of(database: Database, choice: Choice) -> Reach:
    """The rows that a choice comes to now. Raises StoreFault."""
    tasks, comments, attachments = _of_tasks(database, choice) if choice.before is None else (set(), set(), set())
    return Reach(_turns(database, choice), sorted(tasks), sorted(comments), sorted(attachments))


def _turns(database: Database, choice: Choice) -> list[int]:
    where, bound = conditions(without_buried(database, choice.filters))
    clauses, values = [where], list[Any](bound)
    if choice.ids is not None:
        clauses.append(f"p.id IN {LISTED}")
        values.append(_json(choice.ids["turns"]))
    if choice.rows is not None:
        clauses.append(f"p.id IN {LISTED}")
        values.append(_json(choice.rows))
    if choice.conversation is not None:
        clauses.append("p.conversation_id = ?")
        values.append(choice.conversation)
    if choice.before is not None:
        clauses.append("p.timestamp < ?")
        values.append(choice.before)
    if choice.sources:
        clauses.append(f"p.id IN {LISTED}")
        values.append(_json(_of_sources(database, choice.sources)))
    statement = f"SELECT p.id FROM prompts p WHERE {' AND '.join(clauses)} ORDER BY p.id"
    return [id_ for (id_,) in database.run(statement, values)]


def _of_sources(database: Database, paths: Sequence[str]) -> list[int]:
    """Turns that were seen in files, or below folders: where else they stand makes no difference."""
    return [
        id_
        for (id_,) in database.run(
            f"SELECT g.prompt_id FROM sources s JOIN sightings g ON g.source_id = s.id WHERE {BELOW} "
            f"UNION SELECT p.id FROM prompts p JOIN (SELECT DISTINCT source_path AS path FROM prompts) s "
            f"ON s.path = p.source_path WHERE {BELOW}",
            (_json(paths),),
        )
    ]


def _of_tasks(database: Database, choice: Choice) -> tuple[set[int], set[int], set[int]]:
    """Tasks, and comments and attachments of further ones."""
    where, bound = task_conditions(without_buried(database, choice.filters))
    clauses, values = [where], list[Any](bound)
    if choice.ids is not None:
        clauses.append(
            f"((t.comment_id IS NULL AND t.attachment_id IS NULL AND k.id IN {LISTED}) "
            f"OR t.comment_id IN {LISTED} OR t.attachment_id IN {LISTED})"
        )
        values += [_json(choice.ids[kind]) for kind in ("tasks", "comments", "attachments")]
    if choice.rows is not None:
        clauses.append(f"t.id IN {LISTED}")
        values.append(_json(choice.rows))
    if choice.conversation is not None:
        clauses.append(
            "EXISTS (SELECT 1 FROM task_conversations c WHERE c.task_id = k.id AND c.conversation_id = ?) "
            "AND NOT EXISTS (SELECT 1 FROM task_conversations c WHERE c.task_id = k.id AND c.conversation_id != ?)"
        )
        values += [choice.conversation, choice.conversation]
    if choice.sources:
        clauses.append(
            "EXISTS (SELECT 1 FROM json_each(?) WHERE k.source_path = value OR instr(k.source_path, value || '/') = 1)"
        )
        values.append(_json(choice.sources))
    statement = f"SELECT k.id, t.comment_id, t.attachment_id FROM {TEXTS} WHERE {' AND '.join(clauses)}"
    found = database.run(statement, values)
    tasks = {task for task, comment, attachment in found if comment is None and attachment is None}
    parts = [row for row in found if row[0] not in tasks]
    return tasks, {row[1] for row in parts} - {None}, {row[2] for row in parts} - {None}


def forget(database: Database, choice: Choice, selector: Mapping[str, Any]) -> tuple[int, Reach]:
    """Bury what a choice comes to and write down that it goes; inside the caller's transaction.

    Few rows are deleted at once with all that was made of them, many by `finish` after the commit; what stood in words and
    vectors is overwritten by `erasing.finish` after that.

    Args:
        database: open for writing.
        choice: of what is to go.
        selector: what is remembered of the choice: no words of a text.

    Returns:
        The number of the forgetting, 0 where there was nothing to forget, and what went.
    """
    reach = reach_of(database, choice)
    if not reach and choice.before is None:
        return 0, reach
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    burial = Burial(database, now, selector, choice.before)
    if choice.before is None:  # else their age is enough
        burial.turns(_json(reach.turns))
    burial.marks(_marks_of_tasks(database, reach))
    outcomes.mark_of_tasks(database, reach.tasks)
    burial.count(reach.counts())
    if choice.conversation is not None:
        database.run("DELETE FROM task_conversations WHERE conversation_id = ?", (choice.conversation,))
    if sum(reach.counts().values()) <= going.FEW:
        delete(database, reach)
    else:
        going.begin(database, {kind: getattr(reach, kind) for kind in going.KINDS})
        erasing.begin(database)
    return burial.id, reach


def finish(database: Database) -> None:
    """Delete all that was buried and is still there. Raises StoreFault; the next call goes on."""
    going.carry_out(database, lambda rows: delete(database, Reach(**rows)))


def go_on(database: Database) -> None:
    """The same where the process that did so has ended. Raises StoreFault."""
    if going.is_left(database):
        finish(database)


def _marks_of_tasks(database: Database, reach: Reach) -> Iterator[Mark]:
    going = _json(reach.tasks)
    for identity, title, description in database.run(
        f"SELECT identity, title, description FROM tasks WHERE id IN {LISTED}", (going,)
    ):
        yield from marks_of_task(identity, task_text(title, description))
    for identity, comment, content in database.run(
        f"SELECT k.identity, c.identity, c.content FROM task_comments c JOIN tasks k ON k.id = c.task_id "
        f"WHERE c.id IN {LISTED} OR c.task_id IN {LISTED}",
        (_json(reach.comments), going),
    ):
        yield from marks_of_comment(identity, comment, content)
    for identity, sha256 in database.run(
        f"SELECT k.identity, a.sha256 FROM task_attachments a JOIN tasks k ON k.id = a.task_id "
        f"WHERE a.id IN {LISTED} OR a.task_id IN {LISTED}",
        (_json(reach.attachments), going),
    ):
        yield from marks_of_attachment(identity, sha256)


def delete(database: Database, reach: Reach) -> None:
    """The rows with all that hangs on them, and what was kept so as to go on reading the files that they stood in.

    Inside the caller's transaction, without tombstones. Raises StoreFault.
    """
    turns = _json(reach.turns)
    database.run(
        "UPDATE sources SET resume = NULL WHERE resume IS NOT NULL "
        f"AND id IN (SELECT source_id FROM sightings WHERE prompt_id IN {LISTED})",
        (turns,),
    )
    database.run(
        f"DELETE FROM task_links WHERE target IN (SELECT identity FROM tasks WHERE id IN {LISTED})",
        (_json(reach.tasks),),
    )
    erasing.begin(database)
    erasing.blank(database, f"SELECT id FROM prompts WHERE id IN {LISTED}", (turns,))
    erasing.blank(
        database,
        f"SELECT id FROM task_texts WHERE task_id IN {LISTED} OR comment_id IN {LISTED} OR attachment_id IN {LISTED}",
        (_json(reach.tasks), _json(reach.comments), _json(reach.attachments)),
    )
    for table, ids in (
        ("prompts", reach.turns),
        ("tasks", reach.tasks),
        ("task_comments", reach.comments),
        ("task_attachments", reach.attachments),
    ):
        database.run(f"DELETE FROM {table} WHERE id IN {LISTED}", (_json(ids),))
    database.run(
        "DELETE FROM project_folders WHERE NOT is_private AND project NOT IN (SELECT source_project FROM prompts "
        "UNION SELECT project FROM tasks)"
    )
    vectors.catch_up(database)


def shown(database: Database, reach: Reach, most: int) -> list[Shown]:
    """The first rows of each kind that would go, `most` in all, the latest first. Raises StoreFault."""
    rows = database.run(
        "SELECT CAST(p.id AS TEXT), iif(p.role = 'note', 'note', 'prompt'), p.source_project, p.timestamp, p.content "
        f"FROM prompts p WHERE p.id IN {LISTED} "
        "UNION ALL SELECT 't:' || k.key, k.type, k.project, coalesce(k.updated_at, k.closed_at, k.created_at), k.title "
        f"FROM tasks k WHERE k.id IN {LISTED} "
        "UNION ALL SELECT 'c:' || c.id, 'comment', k.project, c.created_at, c.content FROM task_comments c "
        f"JOIN tasks k ON k.id = c.task_id WHERE c.id IN {LISTED} "
        "UNION ALL SELECT 'a:' || a.id, 'attachment', k.project, a.created_at, a.name FROM task_attachments a "
        f"JOIN tasks k ON k.id = a.task_id WHERE a.id IN {LISTED} ORDER BY 4 DESC LIMIT ?",
        (*(_json(ids) for ids in (reach.turns, reach.tasks, reach.comments, reach.attachments)), most),
    )
    return [Shown(*row) for row in rows]


def having(database: Database, text: str) -> list[int]:
    """Rows of `prompts` and `task_texts` that have just this text in them, in whatever case. Raises StoreFault."""
    return [
        id_
        for (id_,) in database.run(
            "SELECT id FROM prompts WHERE instr(lower(content), lower(?1)) "
            "UNION ALL SELECT id FROM task_texts WHERE instr(lower(content), lower(?1))",
            (text,),
        )
    ]


def _json(values: Sequence[object]) -> str:
    return orjson.dumps(list(values)).decode()
