"""Manage tasks: edit them by hand, find similar ones, check prior work, answer plain questions."""

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.model import OPEN, STATUSES, Attachment, Filters, Hits, StoredTask
from pastchats_memory.redact import redact_json
from pastchats_memory.search.pipeline import search
from pastchats_memory.search.request import Request
from pastchats_memory.store import interchange, task_rows, vectors
from pastchats_memory.store.atomic_file import write_lines
from pastchats_memory.store.pending_vectors import fill_few
from pastchats_memory.store.tasks import task_text, without_forgotten
from pastchats_memory.store.tombstones import Tombstones
from pastchats_memory.tasks import similarity
from pastchats_memory.tasks.ask import TaskAnswer, answer_question, find_named_tasks
from pastchats_memory.tasks.capture import CaptureDecision, CaptureResult, capture_task
from pastchats_memory.tasks.edit import EVERY_TASK, PART_TABLES, TaskEditor, without_known_secrets
from pastchats_memory.tasks.prior_work import PriorWork, ResolvedTask, check_prior_work, find_resolved_tasks
from pastchats_memory.text.display import escape_json
from pastchats_memory.text.wire import find_wrong_task_field

NEAREST = 5
"""Similar or resolved tasks that are returned by default."""


class BoardColumn(NamedTuple):
    """The tasks of one status."""

    status: str
    """One of `model.STATUSES`."""
    total: int
    """Number of tasks, also of those that are not loaded."""
    tasks: tuple[StoredTask, ...]
    """The first ones: open tasks by urgency, then the latest; resolved tasks, the latest first."""


class TaskMemory(TaskEditor):
    """All operations on the tasks of one memory; searches run on one snapshot of the database."""

    def list_tasks(
        self,
        filters: Filters,
        limit: int = 50,
        *,
        epic: str | None = None,
        has_epic: bool = True,
        depends_on: str | None = None,
        blocked: bool = False,
    ) -> list[StoredTask]:
        """Return tasks that pass the filters, the most urgent first, then the latest.

        Args:
            epic: key or title of the epic, or of another task, that they are part of.
            has_epic: False for tasks without a parent.
            depends_on: key or title of a task that they wait for.
            blocked: only tasks that are blocked by their status or by an unfinished task.

        Raises:
            InputMissing: there is no such epic or task.
        """
        conditions = [task_rows.IS_BLOCKED] if blocked else []
        if not has_epic:
            conditions.append(task_rows.CONDITIONS["epic"])
        for relation, name in (("part_of", epic), ("depends_on", depends_on)):
            if name is not None:
                others = find_named_tasks(self._database, self._embedder, name)
                if not others:
                    raise InputMissing(f"there is no task {name}", "See `pastchats-memory task list --all`.")
                conditions.append(task_rows.related_condition(self._database, relation, others))
        return task_rows.tasks(self._database, task_rows.listed(self._database, filters, conditions, limit=limit))

    def load_board(self, filters: Filters, limit: int = 50) -> list[BoardColumn]:
        """Return a column of at most `limit` tasks for each status that has tasks, in the order of work."""
        latest = f"{task_rows.CLOSED} DESC"
        with self._database.snapshot():
            counts = task_rows.count_listed(self._database, filters)
            columns = []
            for status in (one for one in STATUSES if one in counts):
                order = None if status in OPEN else latest
                own = filters._replace(statuses=(status,))
                ids = task_rows.listed(self._database, own, limit=limit, order=order)
                columns.append(BoardColumn(status, counts[status], tuple(task_rows.tasks(self._database, ids))))
        return columns

    def list_of_conversation(self, conversation_id: str) -> list[StoredTask]:
        """Return the tasks that a conversation worked on."""
        return task_rows.of_conversation(self._database, conversation_id)

    def list_projects(self) -> list[str]:
        """Return the projects that have visible tasks, sorted."""
        return task_rows.projects(self._database)

    def find_item(self, id_: str) -> tuple[StoredTask, Attachment | None] | None:
        """Return the task of `t:KEY`, `c:5` or `a:7`, and the attachment itself; None if there is no such item.

        Raises UsageFault if the key names several tasks.
        """
        if id_[:2] in PART_TABLES:
            part = self.find_part(id_)
            task_id = part and part.task
        else:
            task_id = self.find_id(id_) if task_rows.find(self._database, id_) else None
        if task_id is None:
            return None
        task = task_rows.with_parts(self._database, self._read(task_id))
        return task, next((one for one in task.attachments if f"a:{one.id}" == id_), None)

    @without_known_secrets
    def capture(
        self, text: str, project: str, decide: Callable[[similarity.SimilarTask], CaptureDecision]
    ) -> CaptureResult:
        """Store a text as a task or as a comment on a similar one; see `tasks.capture.capture_task`."""
        self._fill_pending()
        return capture_task(self._database, self._embedder, text, project, decide, self._viewpoint)

    def find_similar(self, name: str, limit: int = NEAREST) -> list[similarity.SimilarTask]:
        """Return the tasks most similar to a task. Raises UsageFault."""
        task = self.get_task(name)
        return self._find_near(task_text(task.title, task.description), limit, exclude=task.id)

    def find_duplicates(self, text: str, limit: int = NEAREST) -> list[similarity.SimilarTask]:
        """Return the tasks most similar to a text. Raises UsageFault."""
        if not text.strip():
            raise UsageFault("there is nothing to look for", "Say what the task is about.")
        return self._find_near(text.strip(), limit)

    def _find_near(self, text: str, limit: int, exclude: int | None = None) -> list[similarity.SimilarTask]:
        self._fill_pending()
        with self._database.snapshot():
            query = similarity.TaskQuery.embed(self._embedder, text)
            return similarity.find_similar_tasks(self._database, self._embedder, query, EVERY_TASK, exclude)[:limit]

    def _fill_pending(self) -> None:
        """Embed tasks that were stored without a model, so that they are compared too."""
        if vectors.count_pending(self._database):
            similarity.TaskQuery.embed(self._embedder, "Is the model back?")
            fill_few(self._database, self._embedder)

    def scan_duplicates(
        self, min_score: float = similarity.MIN_PAIR_SCORE, project: str | None = None
    ) -> list[similarity.DuplicateCluster]:
        """Compare all tasks and return clusters of similar ones."""
        with self._database.snapshot():
            return similarity.find_duplicate_clusters(self._database, EVERY_TASK._replace(project=project), min_score)

    def check_prior_work(self, query: str) -> PriorWork:
        """Return the verdict and the three best matches. Raises UsageFault."""
        self._fill_pending()
        with self._database.snapshot():
            return check_prior_work(self._database, self._embedder, query, EVERY_TASK, self._viewpoint.project)

    def consult_episodic_memory(self, problem: str, limit: int = NEAREST) -> tuple[list[ResolvedTask], tuple[str, ...]]:
        """Return resolved tasks about a problem, and warnings. Raises UsageFault."""
        with self._database.snapshot():
            return find_resolved_tasks(self._database, self._embedder, problem, limit)

    def ask(self, question: str, today: date | None = None) -> TaskAnswer:
        """Answer a question in plain language; see `tasks.ask.answer_question`."""
        with self._database.snapshot():
            return answer_question(self._database, self._embedder, question, today, self._viewpoint)

    def recall(self, query: str, filters: Filters, limit: int = 10) -> Hits:
        """Return tasks that match a query by themselves, a comment or an attachment, each once. Raises UsageFault."""
        with self._database.snapshot():
            request = Request(query, limit=max(40, limit * 4), filters=filters)
            hits = search(self._database, self._embedder, request)
        best_hit_of_task = {hit.task.id: hit for hit in reversed(hits) if hit.task is not None}
        best = sorted(best_hit_of_task.values(), key=lambda hit: hit.rank)[:limit]
        return Hits((hit._replace(rank=rank) for rank, hit in enumerate(best, start=1)), hits.warnings)

    def export(self) -> Generator[str]:
        """Yield every visible task with its parts as a line of JSON."""
        with self._database.snapshot():
            for body in interchange.export_tasks(self._database):
                yield orjson.dumps(body).decode()

    def export_to(self, file: Path, *, force: bool = False) -> int:
        """Export to a file that only its owner can read, and return the number of lines.

        The file gets its name when it is complete. Raises UsageFault if it exists and `force` is not set.
        """
        with closing(self.export()) as lines:  # the generator holds a snapshot, even if writing fails
            return write_lines(file, self._database.path, map(escape_json, lines), force=force)

    def count(self) -> int:
        """Return the number of tasks, including hidden ones."""
        return task_rows.count(self._database.hide(()))

    def import_lines(self, lines: Iterable[str]) -> dict[str, int]:
        """Store exported tasks, all or none.

        Returns:
            The number of tasks that were `added`, `updated`, `unchanged`, or left out as `forgotten`, and the number of
            links left out since they would make `circles`.

        Raises:
            UsageFault: a line is no exported task; nothing is stored.
        """
        bodies = [_parse_line(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
        counts = {"added": 0, "updated": 0, "unchanged": 0, "forgotten": 0}
        tombstones = Tombstones(self._database)
        known = (without_forgotten(self._database, tombstones, interchange.parse_task(body)) for body in bodies)
        embedded = self.embed_tasks(filed.task for filed in known if filed is not None)
        with self._database.transaction():
            writer = self.open_writer(embedded)
            for body in bodies:
                counts[interchange.store_exported(self._database, writer, body)[1]] += 1
            vectors.catch_up(self._database)
        return {**counts, "circles": writer.circles}


def _parse_line(line: str, number: int) -> dict[str, Any]:
    """Parse a line of an export and redact its values. Raises UsageFault that names the line."""
    hint = "Import what `task export` wrote."
    try:
        body = orjson.loads(line)
    except orjson.JSONDecodeError as fault:
        raise UsageFault(f"line {number} of the import is not JSON: {fault.msg}", hint) from fault
    if not isinstance(body, dict):
        raise UsageFault(f"line {number} of the import is no task", hint)
    if (wrong := find_wrong_task_field(body)) is not None:
        raise UsageFault(f"line {number} of the import has no proper {wrong!r}", hint)
    return dict(redact_json(body))
