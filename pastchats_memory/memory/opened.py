"""An open database with the embedder of its model, as the configuration has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pastchats_memory.config import Config, load
from pastchats_memory.configured import about_the_model, model_settings
from pastchats_memory.embed import Embedder
from pastchats_memory.embed.models import embedder_of
from pastchats_memory.errors import DatabaseCorrupt, MemoryFault, UsageFault
from pastchats_memory.model import Item
from pastchats_memory.privacy import hidden_projects
from pastchats_memory.search import Request
from pastchats_memory.spelled_ids import number_of
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.erasing import finish_at_opening
from pastchats_memory.store.faults import DAMAGED
from pastchats_memory.store.sources import meta
from pastchats_memory.store.vectors import catch_up_at_opening

if TYPE_CHECKING:
    from types import TracebackType

    from pastchats_memory.embed.cross import CrossEncoder
    from pastchats_memory.health import Finding, Status

DEFAULTS = Config(Path())


class Opened:
    """What asking and keeping share: the database, its model, the configuration, and what may be seen from here."""

    def __init__(self, database: Database, embedder: Embedder, config: Config | None = None) -> None:
        """Over an open database. Without a configuration the embedder is the one for good, else the database's model is."""
        self._database = database
        self._embedder = embedder
        self._config = config
        self._model_of: tuple[str | None, str] | None = None
        self._cross: CrossEncoder | None = None
        self.notices: tuple[str, ...] = ()
        """What the person should know about how this memory was opened: what of the configuration does not count."""

    @classmethod
    def open(
        cls,
        path: str | PathLike[str] | None = None,
        *,
        create: bool = True,
        vec0: bool = True,
        config: Config | None = None,
    ) -> Self:
        """Open the database at a path, or the person's own.

        Args:
            path: the file; None for the one that the configuration names.
            create: make it where there is none.
            vec0: False answers without the sqlite-vec extension, as on a machine that lacks it.
            config: how; None for what the environment and the configuration files say.

        Raises:
            DatabaseMissing: there is none and `create` is False.
            ModelUnavailable: there is none, and the model that is configured for it cannot be had.
            StoreFault: it cannot be opened.
            UsageFault: the configuration is wrong.
        """
        config = config or load()
        file = config.database if path is None else Path(path)
        if create and config.model is not None and not file.exists():
            embedder_of(config.model, model_settings(config), may_fetch=True).load()  # or nothing is made
        database = open_database(file, create=create, vec0=vec0)
        memory = cls(database, embedder_of(None, model_settings(config)), config)
        with memory.explaining_damage():
            catch_up_at_opening(database)
            finish_at_opening(database)
            if config.model is not None or config.endpoint is not None:
                memory.notices = tuple(about_the_model(config, file, meta(database), memory._model()))
        memory.notices = (*config.warnings, *memory.notices)
        return memory

    def _model(self, *, may_fetch: bool = False) -> Embedder:
        """The embedder of the database's model, else of the configured one: another process may have changed it by now."""
        if self._config is not None:
            known = meta(self._database)
            name, version = known.get("model_name", self._config.model), known.get("model_version", "")
            if (name, version) != self._model_of or may_fetch:
                self._embedder = embedder_of(name, model_settings(self._config), version, may_fetch=may_fetch)
                self._model_of = (name, version)
        return self._embedder

    def _cross_encoder(self, *, may_fetch: bool = False) -> CrossEncoder:
        """The one of the configured cache, loaded once; what is missing is said each time it is needed."""
        from pastchats_memory.embed.cross import cross_encoder

        if self._cross is None or may_fetch:
            self._cross = cross_encoder(model_settings(self._config or DEFAULTS), may_fetch=may_fetch)
        return self._cross

    @property
    def budget(self) -> int:
        """Tokens of a recall block for which none are asked."""
        return (self._config or DEFAULTS).budget

    def _configured(self, key: str) -> float | None:
        least: float | None = getattr(self._config or DEFAULTS, key)
        return least

    def _without_private(self, request: Request, current_project: str | None = None) -> Request:
        """The request for what may be seen from the current project: private ones are recalled only inside them."""
        hidden = hidden_projects(self._database, current_project)
        return replace(request, filters=request.filters._replace(hidden=hidden)) if hidden else request

    def _item(self, id_: str) -> Item | None:
        """The turn or note that may be seen from here; None for no such. Raises UsageFault, StoreFault."""
        from pastchats_memory.store import prompts

        if (number := number_of(id_)) is None:
            raise UsageFault(f"{id_!r} is no id", "Ids stand in the output of search and recall, such as 12.")
        hidden = hidden_projects(self._database, None)
        return next((item for item in prompts.items(self._database, [number]) if item.project not in hidden), None)

    def status(self) -> Status:
        """What the memory holds and how it answers. Raises StoreFault."""
        from pastchats_memory.health import status

        return status(self._database)

    def doctor(self) -> list[Finding]:
        """Every check with its result; what is to be mended says how. Raises StoreFault."""
        from pastchats_memory.health import examine

        return examine(self._database, self._model())

    @contextmanager
    def explaining_damage(self) -> Iterator[None]:
        """For who keeps it open over many questions: what goes wrong since its rows are damaged is explained. Raises DatabaseCorrupt."""
        try:
            yield
        except Exception as fault:
            _explain_damage(self._database, fault)
            raise

    def close(self) -> None:
        """Give the file back."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the file back; what went wrong since its rows are damaged is explained. Raises DatabaseCorrupt."""
        try:
            if fault is not None:
                _explain_damage(self._database, fault)
        finally:
            self.close()


def _explain_damage(database: Database, fault: BaseException) -> None:
    """Where a fault that nobody foresaw comes of a damaged database, say so; a fault of a sound one stays what it is.

    What a person or the surroundings do is foreseen: our own faults, the system's, and what ends a command. Raises DatabaseCorrupt.
    """
    if not isinstance(fault, Exception) or isinstance(fault, MemoryFault | OSError | RuntimeError):
        return
    from pastchats_memory.store.checks import damage, faulty

    if found := damage(database) or faulty(database):
        raise DatabaseCorrupt(f"{database.path}: the database is damaged ({found[0]})", DAMAGED) from fault
