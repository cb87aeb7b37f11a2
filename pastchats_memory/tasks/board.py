"""Everything that can be asked of task memory, in one object."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Attachment, Filters, Hits, StoredTask
from pastchats_memory.redact import redact_json
from pastchats_memory.search import search
from pastchats_memory.search.request import Request
from pastchats_memory.store import interchange, tasks, vectors
from pastchats_memory.store.atomic_file import write_lines
from pastchats_memory.store.tasks import task_text, without_forgotten
from pastchats_memory.store.tombstones import Tombstones
from pastchats_memory.tasks import capture as capturing
from pastchats_memory.tasks.ask import Answer, ask
from pastchats_memory.tasks.desk import BELONGINGS, Desk
from pastchats_memory.tasks.near import Near, asked, near
from pastchats_memory.tasks.prior_work import PriorWork, Resolved, check_prior_work, consult
from pastchats_memory.tasks.scan import LEAST_SCORE, Cluster, duplicates

NEAREST = 5


class TaskBoard(Desk):
    """Task memory: what a person does with tasks, and what can be found out about them."""

    def listed(self, filters: Filters, limit: int = 50) -> list[StoredTask]:
        """Tasks that pass, the most urgent first, then the latest. Raises StoreFault."""
        seen = self._seen(filters)
        ids = tasks.listed(self._database, seen, limit=limit)
        return tasks.tasks(self._database, ids, self._standing.hidden)

    def _seen(self, filters: Filters) -> Filters:
        return filters._replace(hidden=self._standing.hidden)

    def shown(self, id_: str) -> tuple[StoredTask, Attachment | None] | None:
        """The task that `t:KEY`, `c:5` or `a:7` leads to, and the attachment itself; None for none. Raises UsageFault, StoreFault."""
        if id_[:2] in BELONGINGS:
            belonging = self.belonging(id_)
            owner = belonging and belonging.owner
        else:
            owner = self.id_of(id_) if tasks.find(self._database, id_, self._standing.hidden) else None
        if owner is None:
            return None
        task = self._with_parts(owner)
        return task, next((one for one in task.attachments if f"a:{one.id}" == id_), None)

    def capture(self, text: str, project: str, decide: Callable[[Near], capturing.Answer]) -> capturing.Captured:
        """As `tasks.capture.capture`."""
        return capturing.capture(self._database, self._embedder, text, project, decide, self._standing)

    def similar(self, name: str, limit: int = NEAREST) -> list[Near]:
        """The tasks most like a task. Raises UsageFault, ModelUnavailable, StoreFault."""
        task = self.task(name)
        one = asked(self._embedder, task_text(task.title, task.description))
        with self._database.snapshot():
            return near(self._database, self._embedder, one, self._standing.tasks, but=task.id)[:limit]

    def find_duplicates(self, text: str, limit: int = NEAREST) -> list[Near]:
        """The tasks most like a text. Raises UsageFault, ModelUnavailable, StoreFault."""
        if not text.strip():
            raise UsageFault("there is nothing to look for", "Say what the task is about.")
        with self._database.snapshot():
            one = asked(self._embedder, text.strip())
            return near(self._database, self._embedder, one, self._standing.tasks)[:limit]

    def duplicates(self, least: float = LEAST_SCORE, project: str | None = None) -> list[Cluster]:
        """Clusters of tasks that are alike. Raises StoreFault."""
        with self._database.snapshot():
            return duplicates(self._database, self._standing.tasks._replace(project=project), least)

    def check_prior_work(self, query: str) -> PriorWork:
        """The verdict and the three best matches. Raises UsageFault, ModelUnavailable, StoreFault."""
        with self._database.snapshot():
            return check_prior_work(self._database, self._embedder, query, self._standing.tasks, self._standing.project)

    def consult_episodic_memory(self, problem: str, limit: int = NEAREST) -> tuple[list[Resolved], tuple[str, ...]]:
        """Solved tasks that have to do with a problem, and warnings. Raises UsageFault, StoreFault."""
        with self._database.snapshot():
            return consult(self._database, self._embedder, problem, limit, self._standing.hidden)

    def ask(self, question: str, today: date | None = None) -> Answer:
        """As `tasks.ask.ask`."""
        with self._database.snapshot():
            return ask(self._database, self._embedder, question, today, self._standing)

    def recall(self, query: str, filters: Filters, limit: int = 10) -> Hits:
        """Tasks that answer a query, each once, found by itself or by a comment or attachment. Raises UsageFault, StoreFault."""
        with self._database.snapshot():
            request = Request(query, limit=max(40, limit * 4), filters=self._seen(filters))
            hits = search(self._database, self._embedder, request)
        once = {hit.task.id: hit for hit in reversed(hits) if hit.task is not None}
        best = sorted(once.values(), key=lambda hit: hit.rank)[:limit]
        return Hits(best, hits.warnings)

    def export(self) -> Generator[str]:
        """Every task that may be seen from here, with all that belongs to it, a line of JSON each. Raises StoreFault."""
        with self._database.snapshot():
            for body in interchange.export_tasks(self._database, self._standing.hidden):
                yield orjson.dumps(body).decode()

    def export_to(self, file: Path, *, force: bool = False) -> int:
        """The same into a file for its owner alone, which has its name once it is whole; how many lines. Raises UsageFault, StoreFault."""
        with closing(self.export()) as lines:  # also where they cannot be written: it holds a snapshot
            return write_lines(file, self._database.path, lines, force=force)

    def count(self) -> int:
        """How many tasks there are, hidden ones too. Raises StoreFault."""
        return tasks.count(self._database)

    def unseen(self) -> int:
        """How many tasks are hidden from here, since they are of private projects. Raises StoreFault."""
        return tasks.unseen(self._database, self._standing.hidden)

    def import_(self, lines: Iterable[str]) -> dict[str, int]:
        """Store exported tasks, all of them or none; how many were added, updated, unchanged, or left out as forgotten, and how many links, as `circles`. Raises UsageFault, StoreFault."""
        bodies = [_body(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
        done = {"added": 0, "updated": 0, "unchanged": 0, "forgotten": 0}
        tombstones = Tombstones(self._database)
        kept = (without_forgotten(self._database, tombstones, interchange.task_of(body)) for body in bodies)
        ready = self.ready(filed.task for filed in kept if filed is not None)
        with self._database.transaction():
            writer = self.writer(ready)
            for body in bodies:
                done[interchange.put_exported(self._database, writer, body)[1]] += 1
            vectors.catch_up(self._database)
        return {**done, "circles": writer.circles}


def _body(line: str, number: int) -> dict[str, Any]:
    try:
        body = orjson.loads(line)
    except orjson.JSONDecodeError as fault:
        raise UsageFault(
            f"line {number} of the import is not JSON: {fault.msg}", "Import what `task export` wrote."
        ) from fault
    if not isinstance(body, dict):
        raise UsageFault(f"line {number} of the import is no task", "Import what `task export` wrote.")
    if (wrong := interchange.fault_of(body)) is not None:
        raise UsageFault(f"line {number} of the import has no proper {wrong!r}", "Import what `task export` wrote.")
    return dict(redact_json(body))
