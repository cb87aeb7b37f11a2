"""Share turns with a team by PostgreSQL or Milvus.

`push` writes the projects that the user named, redacted once more. `pull` keeps a local copy of what the others share.
Search asks the server; recall and hooks read the copy, and need no library of a server.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.model import Hits, Progress
from pastchats_memory.search.request import Request
from pastchats_memory.store import team
from pastchats_memory.store.database import Database
from pastchats_memory.store.known_secrets import known_secrets_of
from pastchats_memory.team import ask, copy, push, report
from pastchats_memory.team.connect import is_postgres, open_server
from pastchats_memory.team.copy import CopyLimits
from pastchats_memory.team.rows import TURN
from pastchats_memory.team.server import Condition, TeamServer


@dataclass(frozen=True, slots=True)
class TeamMemory:
    """A team's memory as this one uses it; nothing is connected between two uses."""

    database: Database
    """The own memory, open."""
    session: ModelSession
    access: report.TeamAccess
    limits: SharingLimits
    copy_limits: CopyLimits
    is_merged: bool = False
    """Whether recall answers from the copy as well."""

    @property
    def has_copy(self) -> bool:
        """Return whether there is a copy of what this team shares."""
        with copy.open_copy(self.database, self.access.endpoint) as copied:
            return copied is not None

    def preview(self, project: str) -> report.SharePreview:
        """Return what the team would see of a project. Raises InputMissing, UsageFault, StoreFault."""
        return push.preview_share(self.database, self.access, self.limits, project)

    def share(self, project: str) -> None:
        """Share a project from the next `push` on. Raises InputMissing, UsageFault, StoreFault."""
        push.share(self.database, self.access, self.limits, project)

    def push(self, progress: Callable[[Progress], None] = lambda _: None) -> report.PushReport:
        """Write what is shared to the team, and delete what is not. Raises MemoryFault."""
        push.require_projects(self.database, self.access)
        with self._open() as server:
            return push.push(self.database, self.session, server, self.access, self.limits, progress)

    def preview_push(self) -> report.PushPreview:
        """Return what `push` would write and delete. Raises MemoryFault."""
        push.require_projects(self.database, self.access)
        with self._open() as server:
            return push.preview_push(self.database, self.session, server, self.access, self.limits)

    def initialise(self, *, is_applied: bool) -> str:
        """Return the SQL that prepares a PostgreSQL database for this memory's model, and run it if asked. Raises MemoryFault."""
        from pastchats_memory.team import postgres

        if is_applied:
            if not is_postgres(self.access.endpoint):
                raise UsageFault(f"{self.access.endpoint} is no address of PostgreSQL", "Milvus needs no preparation.")
            with postgres.open_postgres(self.access.endpoint, self.access.token) as server:
                server.initialise(self.session.dim)
        return postgres.read_schema(self.session.dim)

    def pull(self) -> report.PullReport:
        """Make the local copy equal to what others share. Raises MemoryFault."""
        with self._open() as server, known_secrets_of(self.database) as known:
            member = push.find_own_member(self.database, self.access)
            return copy.pull(self.database, self.session, server, member, self.limits, self.copy_limits, known)

    def withdraw(self, projects: Sequence[str] = ()) -> int:
        """Share some projects, or all, no more; return the number of rows that were deleted there. Raises MemoryFault."""
        chosen = projects or team.shared_projects(self.database, self.access.endpoint)
        push.withdraw(self.database, self.access, chosen)
        with self._open() as server:
            return self._delete(server, projects) if server.exists else 0

    def _delete(self, server: TeamServer, projects: Sequence[str]) -> int:
        server.load()
        own = push.find_own_member(self.database, self.access)
        ids = [row["id"] for row in server.select(Condition(owner=own.id, projects=tuple(projects)), ["id"])]
        if ids:
            server.delete(ids)
            server.erase()
        return len(ids)

    def status(self) -> report.TeamStatus:
        """Return what is shared, and by whom. Raises MemoryFault."""
        known = team.load_member(self.database, self.access.endpoint)
        own, authors = Counter[str](), Counter[tuple[str, bool]]()
        with self._open() as server:
            if server.exists:
                server.load()
                author = server.author
                for row in server.select(Condition(kind=TURN), ["member", "author", "project"]):
                    is_self = known is not None and row["member"] == known.id and author in (None, row["author"])
                    authors[row["author"], is_self] += 1
                    own[row["project"]] += is_self
        shared = team.shared_projects(self.database, self.access.endpoint)
        projects = [
            report.SharedProject(project, team.describe_project(self.database, project)[0], own[project])
            for project in sorted({*shared, *(project for project, turns in own.items() if turns)})
        ]
        with copy.open_copy(self.database, self.access.endpoint) as copied:
            pulled = [] if copied is None else team.count_pulled(copied)
        return report.TeamStatus(
            self.access.endpoint,
            self.access.author,
            known.id if known else "",
            tuple(projects),
            tuple(report.AuthorCount(author, turns, is_self) for (author, is_self), turns in sorted(authors.items())),
            tuple(report.AuthorCount(author, turns) for author, turns in pulled),
            self.is_merged,
        )

    def search(self, request: Request) -> Hits:
        """Return the team's turns that answer a request. Raises MemoryFault."""
        with self._open() as server:
            return ask.search(self.database, self.session, server, request, self.limits)

    def _open(self) -> AbstractContextManager[TeamServer]:
        return open_server(self.access.endpoint, self.access.token)
