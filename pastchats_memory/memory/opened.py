"""Open a memory and close it, and take the steps that questions and changes share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pastchats_memory.config import Config, load
from pastchats_memory.embed import Embedder
from pastchats_memory.embed.registry import embedder_of, require_model_name
from pastchats_memory.embed.session import ModelSession, Say
from pastchats_memory.errors import DatabaseCorrupt, MemoryFault, UsageFault
from pastchats_memory.memory import requests
from pastchats_memory.memory.indexing import build_file_filter
from pastchats_memory.model import Filters, Item
from pastchats_memory.model.ids import number_of
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.errors import HINT_DAMAGED
from pastchats_memory.store.inserted import adopt_inserted
from pastchats_memory.store.scrub import is_unfinished
from pastchats_memory.store.sources import meta, open_session
from pastchats_memory.store.vectors import catch_up_at_opening, count_pending

if TYPE_CHECKING:
    from types import TracebackType

    from pastchats_memory.embed.reranker import CrossEncoder
    from pastchats_memory.files.exclusion import SharingLimits

DEFAULTS = Config(Path())
"""Configuration of a memory that was opened without one."""


class OpenedMemory:
    """An open memory: its database, its model and its configuration."""

    def __init__(self, database: Database, embedder: Embedder, config: Config | None = None) -> None:
        """Wrap an open database.

        Args:
            database: open; `close` closes it.
            embedder: embeds queries and texts; with a configuration, the model of the database replaces it.
            config: None keeps the embedder for good.
        """
        self._database = database
        self._embedder = embedder
        self._config = config
        self._model_of: tuple[str | None, str] | None = None
        self._session: ModelSession | None = None
        self._cross: CrossEncoder | None = None
        self.notices: tuple[str, ...] = ()
        """Remarks on how this memory was opened and is used, such as ignored settings."""
        self._say: Say = self._add_notice

    @classmethod
    def open(
        cls,
        path: str | PathLike[str] | None = None,
        *,
        create: bool = True,
        vec0: bool = True,
        config: Config | None = None,
        say: Say | None = None,
        is_urgent: bool = False,
    ) -> Self:
        """Open the database at a path, or the user's own.

        Args:
            path: the file; None for the configured one.
            create: create a missing database.
            vec0: False answers without the sqlite-vec extension, as on a machine that lacks it.
            config: None for the environment and the configuration files.
            say: called with a warning when text is about to leave this machine, or is stored without a vector; None adds
                it to `notices`.
            is_urgent: leave what a killed process had to delete to the next command; no search finds it meanwhile.

        Raises:
            DatabaseMissing: there is no database and `create` is False.
            ModelUnavailable: the database is new, and the configured model is none that this machine can load.
            StoreFault: the database cannot be opened.
            UsageFault: the configuration is wrong.
        """
        config = config or load()
        file = config.database if path is None else Path(path)
        if create and config.model is not None and not file.exists():
            require_model_name(config.model, requests.model_settings(config))  # raises before the file is created
        database = open_database(file, create=create, vec0=vec0)
        memory = cls(database, embedder_of(None, requests.model_settings(config)), config)
        with memory.explain_damage():
            adopt_inserted(database)
            catch_up_at_opening(database)
            unfinished = None
            if not is_urgent and is_unfinished(database):
                from pastchats_memory.store.deletion import finish_at_opening

                unfinished = finish_at_opening(database)
            memory.notices = (*config.warnings, *requests.describe_model_use(config, file, meta(database)))
        if unfinished is not None:
            memory._add_notice(unfinished)
        memory._say = say or memory._add_notice
        return memory

    def _add_notice(self, sentence: str) -> None:
        self.notices = (*self.notices, sentence)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the database, and explain an error that damaged rows caused. Raises DatabaseCorrupt."""
        try:
            if fault is not None:
                _explain_damage(self._database, fault)
            else:
                self.fill_pending()
        finally:
            self.close()

    @contextmanager
    def explain_damage(self) -> Iterator[None]:
        """Explain errors that damaged rows cause, for servers that keep a memory open.

        Raises DatabaseCorrupt if an unexpected error occurred, and the database is damaged.
        """
        try:
            yield
        except Exception as fault:  # any error may come from damage; others are raised again
            _explain_damage(self._database, fault)
            raise

    @property
    def path(self) -> Path:
        """The file of the database."""
        return self._database.path

    @property
    def config(self) -> Config:
        """Return the effective configuration; the defaults if this memory was opened without one."""
        return self._config or DEFAULTS

    def store_notes(self) -> None:
        """Store what hooks gave to agents and still lies in their notes."""
        from pastchats_memory.memory.given_notes import store_notes
        from pastchats_memory.store.known_secrets import known_secrets_of

        with known_secrets_of(self._database):
            store_notes(self._database)

    def fill_pending(self) -> None:
        """Embed a few texts that were stored without a model, if the model has answered in the last operation."""
        if self._session is not None and self._session.has_answered and count_pending(self._database):
            from pastchats_memory.store.pending_vectors import fill_few

            fill_few(self._database, self._session)

    def _open_session(self, *, may_fetch: bool = False) -> ModelSession:
        """Return a use of the model that writes or compares vectors, and warns once if it cannot."""
        self._session = open_session(self._database, self._model(may_fetch=may_fetch).embedder, self._say)
        return self._session

    def _model(self, *, may_fetch: bool = False) -> ModelSession:
        """Return a use of the database's model, else of the configured one, for one question.

        Another process may have changed the database's model since the last call.
        """
        if self._config is not None:
            known = meta(self._database)
            name, version = known.get("model_name", self._config.model), known.get("model_version", "")
            if (name, version) != self._model_of or may_fetch:
                settings = requests.model_settings(self._config, self._say)
                self._embedder = embedder_of(name, settings, version, may_fetch=may_fetch)
                self._model_of = (name, version)
        self._session = ModelSession(self._embedder)
        return self._session

    def _find_limits(self) -> SharingLimits:
        """Return what may never leave this machine: private and excluded projects, and excluded files."""
        from pastchats_memory.files.exclusion import SharingLimits

        requests.update_private_projects(self._database)
        wanted = build_file_filter(self.config)
        stay = requests.private_projects(self._database) | requests.excluded_projects(self._database, wanted)
        return SharingLimits(stay, wanted.excludes)

    def _require_endpoint(self) -> str:
        from pastchats_memory.team.push import require_endpoint

        return require_endpoint(self.config.team_endpoint)

    def _hide_private(self, current_project: str | None = None) -> Database:
        """Return the database without private projects other than the current one."""
        return self._database.hide(requests.hidden_projects(self._database, current_project))

    @contextmanager
    def _open_snapshot(self, current_project: str | None = None) -> Iterator[Database]:
        """Give the database as `_hide_private` returns it, of one moment."""
        database = self._hide_private(current_project)
        with database.snapshot():
            yield database

    def _find_item(self, id_: str) -> Item | None:
        """Return the turn or note if it is visible here, else None."""
        if (number := number_of(id_)) is None:
            raise UsageFault(f"{id_!r} is not an id", "Use an id from the output of search or recall, such as 12.")
        return next(iter(turns.items(self._hide_private(), [number])), None)

    def _catch_up_outcomes(self, filters: Filters) -> tuple[str, ...]:
        """Derive missing outcomes if a filter needs them, and return warnings if time runs out."""
        if not filters.outcomes:
            return ()
        from pastchats_memory.episodes.derive import catch_up

        return catch_up(self._database)


def _explain_damage(database: Database, fault: BaseException) -> None:
    """Raise DatabaseCorrupt if an unexpected error comes from a damaged database.

    Expected errors are our own, the system's, and those that end a command.
    """
    if not isinstance(fault, Exception) or isinstance(fault, MemoryFault | OSError | RuntimeError):
        return
    from pastchats_memory.store.checks import damage, find_faults

    if found := damage(database) or find_faults(database):
        raise DatabaseCorrupt(f"{database.path}: the database is damaged ({found[0]})", HINT_DAMAGED) from fault
