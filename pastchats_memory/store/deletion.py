"""Choose rows, and delete them from every table for good, with tombstones in their place.

Many rows are deleted in steps, so that no other writer waits for long. The transaction that forgets lists them
(`visible`); each step deletes some and takes them off the list. Whoever opens the database next finishes the
work of a killed process.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import orjson

from pastchats_memory.arrays import np
from pastchats_memory.errors import StoreFault
from pastchats_memory.fields import ItemId, shown_as
from pastchats_memory.model import Filters, ItemType
from pastchats_memory.store import outcomes, recalled, scrub, tombstones, vectors
from pastchats_memory.store.atomic_file import is_alive
from pastchats_memory.store.citations import BELOW
from pastchats_memory.store.database import LISTED, PAUSE, Database, bind_list
from pastchats_memory.store.filters import TEXTS, conditions, task_conditions
from pastchats_memory.store.sources import meta, set_meta
from pastchats_memory.store.tasks import task_text
from pastchats_memory.store.visible import KINDS, PENDING_KEY
from pastchats_memory.text.timestamps import current_time

MIN_STEP = 64
"""Rows of the first step; so few are deleted without a list."""
MAX_STEP = 2048
STEP_SECONDS = 0.5
"""Time that a step may take; after a longer one the next is smaller."""
ABANDONED_AFTER_S = 60.0
"""Seconds without a step after which a deleting process counts as ended, since another one may have got its number."""
TABLES = ("prompts", "tasks", "task_comments", "task_attachments")
TABLE_TEXTS = ("content", "concat_ws(char(10), title, description)", "content", "content")
"""The table of each of the KINDS, and the text of its rows."""

Rows = dict[str, list[int]]
"""Ids by kind."""
Delete = Callable[[Rows], None]


@dataclass(frozen=True, slots=True)
class RowCriteria:
    """Criteria of rows; a row must meet all that are given. None and `()` leave a criterion out."""

    filters: Filters = field(default_factory=Filters)
    """Project and time."""
    ids: Mapping[str, Sequence[int]] | None = None
    """Ids of named rows, by `turns`, `tasks`, `comments`, `attachments`."""
    conversation: str | None = None
    sources: tuple[str, ...] = ()
    """Paths of files and folders."""
    matches: Mapping[str, Sequence[int]] | None = None
    """Ids of the rows that match a query, by the same kinds."""
    before: str | None = None
    """Only turns older than this time, as `prompts.timestamp` has it; tasks stay."""


@dataclass(frozen=True, slots=True)
class ChosenRows:
    """Ids of the rows to be deleted, ascending."""

    turns: list[int]
    tasks: list[int]
    comments: list[int]
    """Of tasks that stay."""
    attachments: list[int]
    """Of tasks that stay."""

    def __bool__(self) -> bool:
        """Return whether any row is chosen."""
        return bool(self.turns or self.tasks or self.comments or self.attachments)

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each kind."""
        return {kind: len(ids) for kind, ids in self.by_kind().items()}

    def by_kind(self) -> Rows:
        """Return the ids by kind."""
        return {kind: getattr(self, kind) for kind in KINDS}


@shown_as("ForgettableView")
@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A row that would be forgotten."""

    id: ItemId
    type: ItemType
    project: str
    timestamp: str | None
    content: Annotated[str, "Empty for a row of a private project that may not be seen from here."]


def choose_rows(database: Database, choice: RowCriteria) -> ChosenRows:
    """Return the rows that meet the criteria now."""
    tasks, comments, attachments = _choose_tasks(database, choice) if choice.before is None else (set(), set(), set())
    return ChosenRows(_choose_turns(database, choice), sorted(tasks), sorted(comments), sorted(attachments))


def _choose_turns(database: Database, choice: RowCriteria) -> list[int]:
    where, bound = conditions(choice.filters)
    clauses, values = [where], list[Any](bound)
    for named in (choice.ids, choice.matches):
        if named is not None:
            clauses.append(f"p.id IN {LISTED}")
            values.append(bind_list(named["turns"]))
    if choice.conversation is not None:
        clauses.append("p.conversation_id = ?")
        values.append(choice.conversation)
    if choice.before is not None:
        clauses.append("p.timestamp < ?")
        values.append(choice.before)
    if choice.sources:
        clauses.append(f"p.id IN {LISTED}")
        values.append(bind_list(_turns_of_sources(database, choice.sources)))
    statement = f"SELECT p.id FROM visible_prompts p WHERE {' AND '.join(clauses)} ORDER BY p.id"
    return database.column(statement, values)


def _turns_of_sources(database: Database, paths: Sequence[str]) -> list[int]:
    """Return the turns that occur in files or below folders, wherever else they occur."""
    return database.column(
        f"SELECT g.prompt_id FROM sources s JOIN sightings g ON g.source_id = s.id WHERE {BELOW} "
        f"UNION SELECT p.id FROM prompts p JOIN (SELECT DISTINCT source_path AS path FROM prompts) s "
        f"ON s.path = p.source_path WHERE {BELOW}",
        (bind_list(paths),),
    )


def _choose_tasks(database: Database, choice: RowCriteria) -> tuple[set[int], set[int], set[int]]:
    """Return ids of tasks, and of comments and attachments of other tasks."""
    where, bound = task_conditions(choice.filters)
    clauses, values = [where], list[Any](bound)
    for named in (choice.ids, choice.matches):
        if named is not None:
            clauses.append(
                f"((t.comment_id IS NULL AND t.attachment_id IS NULL AND k.id IN {LISTED}) "
                f"OR t.comment_id IN {LISTED} OR t.attachment_id IN {LISTED})"
            )
            values += [bind_list(named[kind]) for kind in ("tasks", "comments", "attachments")]
    if choice.conversation is not None:
        clauses.append(
            "EXISTS (SELECT 1 FROM task_conversations c WHERE c.task_id = k.id AND c.conversation_id = ?) "
            "AND NOT EXISTS (SELECT 1 FROM task_conversations c WHERE c.task_id = k.id AND c.conversation_id != ?)"
        )
        values += [choice.conversation, choice.conversation]
    if choice.sources:
        clauses.append(
            f"EXISTS (SELECT 1 FROM json_each(?) WHERE k.source_path = value OR instr(k.source_path, value || '{os.sep}') = 1)"
        )
        values.append(bind_list(choice.sources))
    statement = f"SELECT k.id, t.comment_id, t.attachment_id FROM {TEXTS} WHERE {' AND '.join(clauses)}"
    found = database.run(statement, values)
    tasks = {task for task, comment, attachment in found if comment is None and attachment is None}
    parts = [row for row in found if row[0] not in tasks]
    return tasks, {row[1] for row in parts} - {None}, {row[2] for row in parts} - {None}


def forget(database: Database, choice: RowCriteria, chosen: ChosenRows, selector: Mapping[str, Any]) -> int:
    """Delete or list the chosen rows, and write tombstones; return the id of the forgetting, 0 for no rows.

    Call it inside the caller's transaction. A few rows are deleted at once, with all that is derived from them. Many are
    listed. Call `finish` after the commit: it deletes these, and overwrites what is left of all in the file.

    Args:
        database: open for writing.
        choice: criteria of the rows.
        chosen: the rows that meet them in this transaction.
        selector: the criteria that are stored with the tombstones: no words of a text.
    """
    if not chosen and choice.before is None:
        return 0
    writer = tombstones.TombstoneWriter(database, current_time(), selector, choice.before)
    if choice.before is None:  # else their age is enough
        writer.add_turns(bind_list(chosen.turns))
    writer.add_marks(_marks_of_tasks(database, chosen))
    outcomes.mark_of_tasks(database, chosen.tasks)
    writer.set_counts(chosen.counts())
    if choice.conversation is not None:
        database.run("DELETE FROM task_conversations WHERE conversation_id = ?", (choice.conversation,))
    if sum(chosen.counts().values()) <= MIN_STEP:
        delete_rows(database, chosen)
    else:
        add_pending(database, chosen.by_kind())
        scrub.begin_scrub(database)
    return writer.id


def finish_at_opening(database: Database) -> str | None:
    """Finish the deletions of a process that has ended.

    Return a sentence if deleted text is still in the file. Leave a deletion to its process while that is at work.
    """
    if not database.writable:
        return f"{scrub.UNFINISHED}, and the file cannot be written"
    try:
        if not is_abandoned(database):
            return None
        finish_pending(database)
        return None if scrub.finish_scrub(database, wait_ms=0) else f"{scrub.UNFINISHED}: {scrub.READ_ELSEWHERE}"
    except StoreFault as fault:
        return f"{scrub.UNFINISHED}: {fault.message}"


def add_pending(database: Database, rows: Rows) -> None:
    """List rows to be deleted, inside the caller's transaction."""
    before = _listed_rows(database)
    listed = {kind: sorted({*before[kind], *rows[kind]}) for kind in KINDS}
    set_meta(database, {PENDING_KEY: orjson.dumps(_this_process() | listed).decode()})


def is_abandoned(database: Database) -> bool:
    """Return whether a deletion is unfinished and its process has ended."""
    known = meta(database)
    if PENDING_KEY in known:
        listed = orjson.loads(known[PENDING_KEY])
        process, at = listed["pid"], listed["at"]
    else:
        process, at = map(int, known.get(scrub.PROCESS_KEY, "0 0").split())
    is_recent = abs(time.time() - at) < ABANDONED_AFTER_S
    return process == os.getpid() or not is_alive(process) or not is_recent


def finish(database: Database) -> None:
    """Delete all listed rows, and remove what is left of deleted text from the file.

    Raises DeletionUnfinished; the next command goes on.
    """
    with scrub.explain_unfinished():
        finish_pending(database)
    scrub.erase(database)


def delete_in_steps(database: Database, delete: Delete) -> None:
    """Delete all listed rows, in steps of about half a second.

    `delete` deletes rows inside the transaction of a step. Raises StoreFault; the next call goes on.
    """
    most = MIN_STEP
    while True:
        start = time.monotonic()
        with database.transaction():
            if not delete_some(database, delete, most):
                return
        most = min(MAX_STEP, most * 2) if time.monotonic() - start < STEP_SECONDS else max(MIN_STEP, most // 2)
        time.sleep(PAUSE)


def delete_some(database: Database, delete: Delete, most: int) -> bool:
    """Delete up to `most` listed rows of each kind; return whether there were any."""
    listed = _listed_rows(database)
    if not any(listed.values()):
        database.run("DELETE FROM embedding_meta WHERE key = ?", (PENDING_KEY,))
        return False
    delete({kind: listed[kind][:most] for kind in KINDS})
    rest = {kind: listed[kind][most:] for kind in KINDS}
    set_meta(database, {PENDING_KEY: orjson.dumps(_this_process() | rest).decode()})
    return True


def _this_process() -> dict[str, Any]:
    return {"pid": os.getpid(), "at": time.time()}


def _listed_rows(database: Database) -> Rows:
    written = orjson.loads(meta(database).get(PENDING_KEY, "{}"))
    return {kind: list(written.get(kind, ())) for kind in KINDS}


def finish_pending(database: Database) -> None:
    """Delete all listed rows. Raises StoreFault; the next call goes on."""
    delete_in_steps(database, lambda rows: delete_rows(database, ChosenRows(**rows)))


def _marks_of_tasks(database: Database, chosen: ChosenRows) -> Iterator[tombstones.Mark]:
    tasks = bind_list(chosen.tasks)
    for identity, title, description in database.run(
        f"SELECT identity, title, description FROM tasks WHERE id IN {LISTED}", (tasks,)
    ):
        yield from tombstones.marks_of_task("task", (identity,), task_text(title, description))
    for identity, comment, content in database.run(
        f"SELECT k.identity, c.identity, c.content FROM task_comments c JOIN tasks k ON k.id = c.task_id "
        f"WHERE c.id IN {LISTED} OR c.task_id IN {LISTED}",
        (bind_list(chosen.comments), tasks),
    ):
        yield from tombstones.marks_of_task("comment", (identity, comment), content)
    for identity, sha256, content in database.run(
        f"SELECT k.identity, a.sha256, a.content FROM task_attachments a JOIN tasks k ON k.id = a.task_id "
        f"WHERE a.id IN {LISTED} OR a.task_id IN {LISTED}",
        (bind_list(chosen.attachments), tasks),
    ):
        yield from tombstones.marks_of_task("attachment", (identity, sha256), content)


def delete_rows(database: Database, chosen: ChosenRows) -> None:
    """Delete rows with all that refers to them, inside the caller's transaction.

    Write no tombstones.

    Reading states of the files that the rows occur in are dropped too, since they may contain text.
    """
    turns = bind_list(chosen.turns)
    removed = list(_list_values(database, chosen))
    states = (
        f"sources WHERE resume IS NOT NULL AND (id IN (SELECT source_id FROM sightings WHERE prompt_id IN {LISTED}) "
        f"OR path IN (SELECT source_path FROM tasks WHERE id IN {LISTED}))"
    )
    removed += database.run(f"SELECT resume FROM {states}", (turns, bind_list(chosen.tasks)))
    database.run(f"UPDATE {states.replace(' ', ' SET resume = NULL ', 1)}", (turns, bind_list(chosen.tasks)))
    database.run(
        f"DELETE FROM task_links WHERE target IN (SELECT identity FROM tasks WHERE id IN {LISTED})",
        (bind_list(chosen.tasks),),
    )
    _delete_traces_of_sync(database, turns, bind_list(chosen.tasks))
    scrub.begin_scrub(database, removed)
    scrub.overwrite_vectors(database, f"SELECT id FROM prompts WHERE id IN {LISTED}", (turns,))
    scrub.overwrite_vectors(
        database,
        f"SELECT id FROM task_texts WHERE task_id IN {LISTED} OR comment_id IN {LISTED} OR attachment_id IN {LISTED}",
        (bind_list(chosen.tasks), bind_list(chosen.comments), bind_list(chosen.attachments)),
    )
    texts = [
        text
        for table, content, ids in zip(TABLES, TABLE_TEXTS, chosen.by_kind().values(), strict=True)
        for text in database.column(f"DELETE FROM {table} WHERE id IN {LISTED} RETURNING {content}", (bind_list(ids),))
    ]
    recalled.delete_quoting(database, texts)
    database.run(
        "DELETE FROM project_folders WHERE NOT is_private AND project NOT IN (SELECT source_project FROM prompts "
        "UNION SELECT project FROM tasks)"
    )
    vectors.catch_up(database)


def _list_values(database: Database, chosen: ChosenRows) -> Iterator[Sequence[object]]:
    for table, ids in zip(TABLES, chosen.by_kind().values(), strict=True):
        yield from database.rows(f"SELECT * FROM {table} WHERE id IN {LISTED}", (bind_list(ids),))
    yield from database.rows(f"SELECT codes FROM middles WHERE prompt_id IN {LISTED}", (bind_list(chosen.turns),))
    texts = database.run(
        f"SELECT id FROM task_texts WHERE task_id IN {LISTED} OR comment_id IN {LISTED} OR attachment_id IN {LISTED}",
        (bind_list(chosen.tasks), bind_list(chosen.comments), bind_list(chosen.attachments)),
    )
    _, codes = vectors.read_codes(database, [*chosen.turns, *(id_ for (id_,) in texts)])
    for row in codes:
        yield vectors.encode(row), row.tobytes(), row.astype(np.float32).tobytes()


def _delete_traces_of_sync(database: Database, turns: str, tasks: str) -> None:
    """Delete judgements that name the rows, and hashes of them that other machines sent.

    Hashes of what this machine sent stay until `sync` has replaced its files by them.
    """
    named = f"SELECT content_hash FROM prompts WHERE id IN {LISTED}"
    database.run(f"DELETE FROM sync_judgements WHERE identity IN ({named})", (turns,))
    database.run(f"DELETE FROM sync_growths WHERE new IN ({named})", (turns,))
    database.run(
        "DELETE FROM sync_records WHERE folder IN (SELECT id FROM sync_folders) AND kind IN ('turn', 'judgement', 'task') "
        f"AND identity IN ({named} UNION ALL SELECT identity FROM tasks WHERE id IN {LISTED}) "
        "AND machine != (SELECT machine FROM sync_folders WHERE id = folder)",
        (turns, tasks),
    )


def preview_rows(database: Database, chosen: ChosenRows, most: int) -> list[PreviewRow]:
    """Return up to `most` of the chosen rows, the latest first."""
    rows = database.run(
        "SELECT CAST(p.id AS TEXT), iif(p.role = 'note', 'note', 'prompt'), p.source_project, p.timestamp, p.content "
        f"FROM visible_prompts p WHERE p.id IN {LISTED} "
        "UNION ALL SELECT 't:' || k.key, k.type, k.project, coalesce(k.updated_at, k.closed_at, k.created_at), k.title "
        f"FROM visible_tasks k WHERE k.id IN {LISTED} "
        "UNION ALL SELECT 'c:' || c.id, 'comment', k.project, c.created_at, c.content FROM visible_task_comments c "
        f"JOIN visible_tasks k ON k.id = c.task_id WHERE c.id IN {LISTED} "
        "UNION ALL SELECT 'a:' || a.id, 'attachment', k.project, a.created_at, a.name FROM visible_task_attachments a "
        f"JOIN visible_tasks k ON k.id = a.task_id WHERE a.id IN {LISTED} ORDER BY 4 DESC LIMIT ?",
        (*(bind_list(ids) for ids in (chosen.turns, chosen.tasks, chosen.comments, chosen.attachments)), most),
    )
    return [PreviewRow(*row) for row in rows]
