"""`Memory`, the public face: open a database, index, search, recall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pastchats_memory.arguments import filters_of
from pastchats_memory.config import Config, load
from pastchats_memory.configured import about_leaving, about_the_model, index_options, model_settings, next_model
from pastchats_memory.embed import Embedder
from pastchats_memory.embed.models import embedder_of
from pastchats_memory.embed.wordpiece import wordpieces
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Block, Context, Hits, Item, utf8
from pastchats_memory.privacy import hidden_projects, look_for_private_projects, standing_here
from pastchats_memory.search import Request, cited, search, search_terms, with_snippet
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.sources import meta
from pastchats_memory.store.vectors import catch_up_at_opening

if TYPE_CHECKING:
    from datetime import date

    from pastchats_memory.health import Finding, Status
    from pastchats_memory.ingest import Forecast, IndexReport, Progress
    from pastchats_memory.ingest.live import Stored
    from pastchats_memory.reindex import ReindexProgress, ReindexReport
    from pastchats_memory.tasks.ask import Answer
    from pastchats_memory.tasks.board import TaskBoard
    from pastchats_memory.tasks.prior_work import PriorWork, Resolved

DEFAULTS = Config(Path())
LONGEST_ID = 18
"""Digits; every number that long fits into SQLite's 64 bits."""


class Memory:
    """An open memory. Use it as a context manager, or close it."""

    def __init__(self, database: Database, embedder: Embedder, config: Config | None = None) -> None:
        """Over an open database. Without a configuration the embedder is the one for good, else the database's model is."""
        self._database = database
        self._embedder = embedder
        self._config = config
        self._model_of: tuple[str | None, str] | None = None
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
        catch_up_at_opening(database)
        memory = cls(database, embedder_of(None, model_settings(config)), config)
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

    def index(
        self,
        paths: Sequence[str | PathLike[str]],
        project: str | None = None,
        *,
        force: bool = False,
        notes: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        follow_links: bool = False,
        progress: Callable[[Progress], None] = lambda _: None,
        forecast: Callable[[Forecast], None] = lambda _: None,
    ) -> IndexReport:
        """Bring the conversations below the paths into the memory.

        Args:
            paths: files and folders.
            project: for every turn, instead of what the files say.
            force: read unchanged files too.
            notes: take Markdown that is no dialogue wherever it lies.
            include: globs beside the configured ones; where there are any, a file must fit one.
            exclude: globs beside the configured ones, of files, folders and projects that are left.
            follow_links: follow symbolic links out of a folder.
            progress: called as the run goes on.
            forecast: called before it begins.

        Raises:
            InputMissing: one of the paths does not exist; nothing was indexed.
            ModelUnavailable: the model cannot be loaded; nothing was indexed.
            ModelChanged: the database has vectors of another model or version; nothing was indexed.
            StoreFault: the database cannot be written; what was stored before stands.
        """
        from pastchats_memory.ingest import index

        options = index_options(
            self._config or DEFAULTS, project, include, exclude, force=force, notes=notes, follow=follow_links
        )
        embedder = self._model(may_fetch=True)
        embedder.load()  # before anything is written: what cannot be had leaves no half-made index
        try:
            return index(self._database, embedder, [Path(path) for path in paths], options, progress, forecast)
        finally:
            look_for_private_projects(self._database)

    def store_turn(
        self, role: str, content: str, conversation_id: str | None = None, event_id: str | None = None,
        project: str | None = None, timestamp: str | None = None, client: str = "python",
    ) -> Stored:  # fmt: skip
        """One turn while it is said, as `ingest.live.store_turn`: of the project of the working directory and now by default."""
        from pastchats_memory.ingest.live import live_turn, store_turn

        turn = live_turn(role, content, conversation_id, event_id, None if project else str(Path.cwd()), timestamp)
        return store_turn(self._database, self._model(), turn, project, client)

    def reindex_embeddings(
        self, model: str | None = None, progress: Callable[[ReindexProgress], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
    ) -> ReindexReport:  # fmt: skip
        """Embed every text anew and change to these vectors when the last is there; until then the old ones answer.

        Args:
            model: the one to change to; None for the configured one, else for the newest version of the database's own.
            progress: called as the run goes on.
            say: called before any text leaves this machine, with a sentence that says so and to whom.

        Raises:
            ModelUnavailable: the model cannot be had; the old vectors answer on.
            ModelChanged: another process is changing the model, too.
            StoreFault: the database cannot be written; the old vectors answer on.
        """
        from pastchats_memory.reindex import reindex_embeddings

        config = self._config or load()
        wanted = next_model(model, config, meta(self._database))
        embedder = embedder_of(wanted, model_settings(config), may_fetch=True)
        for sentence in about_leaving(embedder):
            say(sentence)
        return reindex_embeddings(self._database, embedder, progress)

    def search(
        self,
        query: str,
        *,
        mode: str = "hybrid",
        limit: int = 10,
        page: int = 1,
        project: str | None = None,
        role: str | None = None,
        since: str | None = None,
        until: str | None = None,
        type: str | None = None,  # noqa: A002 - the field's name in every output
        status: str | None = None,
        priority: str | None = None,
        threshold: float | None = None,
        min_similarity: float | None = None,
        meaning: float = 0.5,
    ) -> Hits:
        """Rows that answer a query, best first, and what the person should know about the answer.

        Args:
            query: any text; nothing in it is syntax.
            mode: `hybrid`, `keyword` or `semantic`.
            limit: hits a page.
            page: counted from 1; `limit` × `page` is at most 1,000.
            project: only of this project; `.` is the one of the working directory.
            role: only of this role.
            since: only from this ISO date or time on; a time without a zone is local.
            until: only up to and with this date or time; a day means all of it.
            type: `prompt`, `note`, `task` (epics and subtasks too), `epic`, `subtask`, `comment` or `attachment`.
            status: only tasks of one of these, with commas: a status, a synonym or a tracker's own word.
            priority: only tasks of one of these, with commas: 0 (critical) to 4 (lowest), or their names.
            threshold: least relevance, 0 to 1.
            min_similarity: least cosine.
            meaning: the balance in `hybrid`, 0 words to 1 meaning.

        Raises:
            UsageFault: this cannot be asked.
            StoreFault: the database cannot be read.
        """
        filters = filters_of(
            project=project, role=role, since=since, until=until, type_=type, status=status, priority=priority
        )
        request = Request(
            utf8(query),
            mode=mode,
            limit=limit,
            page=page,
            filters=filters,
            threshold=self._configured("threshold") if threshold is None else threshold,
            min_similarity=self._configured("min_similarity") if min_similarity is None else min_similarity,
            meaning=meaning,
        )
        with self._database.snapshot():
            return search(self._database, self._model(), self._without_private(request))

    def recall(
        self,
        query: str,
        budget: int | None = None,
        *,
        limit: int = 5,
        project: str | None = None,
        since: str | None = None,
        current_project: str | None = None,
        not_conversation: str | None = None,
        given: frozenset[str] = frozenset(),
        count_tokens: Callable[[str], int] | None = None,
    ) -> Block:
        """What is worth remembering before work on `query` starts; empty of memories where nothing fits.

        Args:
            query: the task in a few words.
            budget: tokens of the block's text, never exceeded; None for the configured ones, 1500 by default.
            limit: entries at most.
            project: only of this project; `.` is the one of the working directory.
            since: only from this ISO date or time on.
            current_project: wins near ties and is marked.
            not_conversation: the id of the conversation that is going on, which is left out.
            given: ids of items whose episodes are left out, because the caller has them already.
            count_tokens: what `budget` counts, instead of tokens.

        Raises:
            UsageFault: this cannot be asked.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.recall import RecallRequest, recall

        filters = filters_of(project=project, since=since)
        request = RecallRequest(
            self._without_private(Request(utf8(query), limit=limit, filters=filters), current_project),
            self.budget if budget is None else budget,
            current_project,
            not_conversation=not_conversation,
            given=given,
        )
        with self._database.snapshot():
            return recall(self._database, self._model(), request, count_tokens or _count_tokens)

    def context(
        self,
        question: str,
        budget: int = 1500,
        *,
        limit: int = 5,
        width: int = 200,
        type: str | None = None,  # noqa: A002 - the field's name in every output
        status: str | None = None,
        project: str | None = None,
        since: str | None = None,
        until: str | None = None,
        min_similarity: float | None = None,
    ) -> Context:
        """The best few items for a question, each an excerpt with its id and source, never over the budget.

        Args:
            question: any text.
            budget: tokens of the text.
            limit: items at most.
            width: characters of an excerpt.
            type: of the items, as for `search`.
            status: only tasks of these.
            project: only of this project; `.` is the one of the working directory.
            since: only from this ISO date or time on.
            until: only up to and with this one.
            min_similarity: least cosine.

        Raises:
            UsageFault: this cannot be asked.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.context import ContextRequest, assemble
        from pastchats_memory.recall import worth_saying

        request = ContextRequest(budget, limit, width)
        filters = filters_of(project=project, since=since, until=until, type_=type, status=status)
        wanted = Request(utf8(question), limit=limit, filters=filters, min_similarity=min_similarity)
        with self._database.snapshot():
            hits, terms = search_terms(self._database, self._model(), self._without_private(wanted))
        worth = [with_snippet(hit, terms) for hit in worth_saying(hits, terms)]
        assembled = assemble(worth, terms.weights, request, _count_tokens)
        return replace(assembled, warnings=hits.warnings)

    def show(self, id_: str, neighbours: int = 2) -> list[Item]:
        """The item with so many turns on each side of its conversation, in order; empty where there is no such item.

        Raises:
            UsageFault: it is no id.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.store import prompts

        if not (id_.isascii() and id_.isdecimal() and len(id_) <= LONGEST_ID):
            raise UsageFault(f"{id_!r} is no id", "Ids stand in the output of search and recall, such as 12.")
        hidden = hidden_projects(self._database, None)
        found = [item for item in prompts.items(self._database, [int(id_)]) if item.project not in hidden]
        around = prompts.conversation_around(self._database, found[0], neighbours) if found else []
        return [cited(item) for item in around if item.project not in hidden]

    @property
    def tasks(self) -> TaskBoard:
        """Task memory: add, update, comment, capture, find, export."""
        from pastchats_memory.tasks.board import TaskBoard

        return TaskBoard(self._database, self._model(), standing_here(self._database))

    def check_prior_work(self, query: str) -> PriorWork:
        """Whether something was done, is under way, failed, was superseded or is new, with the three best matches.

        Raises:
            UsageFault: the query is empty.
            ModelUnavailable, ModelChanged: without vectors there is no verdict.
        """
        return self.tasks.check_prior_work(utf8(query))

    def consult_episodic_memory(self, problem_context: str, limit: int = 5) -> tuple[list[Resolved], tuple[str, ...]]:
        """Completed and archived tasks that have to do with a problem, each with its resolution; and warnings."""
        return self.tasks.consult_episodic_memory(utf8(problem_context), limit)

    def ask(self, question: str, today: date | None = None) -> Answer:
        """The tasks that a question in plain language asks for, with how it was read. Raises UsageFault, StoreFault."""
        return self.tasks.ask(utf8(question), today)

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
        return replace(request, filters=replace(request.filters, hidden=hidden)) if hidden else request

    def status(self) -> Status:
        """What the memory holds and how it answers. Raises StoreFault."""
        from pastchats_memory.health import status

        return status(self._database)

    def doctor(self) -> list[Finding]:
        """Every check with its result; what is to be mended says how. Raises StoreFault."""
        from pastchats_memory.health import examine

        return examine(self._database, self._model())

    def close(self) -> None:
        """Give the file back."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _count_tokens(text: str) -> int:
    from pastchats_memory.budget import count_tokens

    return count_tokens(text, wordpieces)
