"""`Memory`, the public face: open a database, index, search, recall."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pastchats_memory.config import Config, load
from pastchats_memory.embed import Embedder
from pastchats_memory.embed.registry import embedder_of
from pastchats_memory.errors import DatabaseCorrupt, MemoryFault, UsageFault
from pastchats_memory.memory.requests import about_the_model, hidden_projects, model_settings
from pastchats_memory.model import Item, number_of
from pastchats_memory.search.request import Request
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.deletion import finish_at_opening
from pastchats_memory.store.errors import HINT_DAMAGED
from pastchats_memory.store.sources import meta
from pastchats_memory.store.vectors import catch_up_at_opening

if TYPE_CHECKING:
    from types import TracebackType

    from pastchats_memory.embed.reranker import CrossEncoder
    from pastchats_memory.maintenance.health import HealthCheck, Status
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pastchats_memory.embed.tokenizer import wordpieces
from pastchats_memory.episodes.cite import cite_hits, cite_items
from pastchats_memory.memory.requests import OUTCOMES, filters_of, source_named, standing_here
from pastchats_memory.model import (
    Command,
    Context,
    Filters,
    Hit,
    Hits,
    Lesson,
    Outcome,
    RecallBlock,
    Sheet,
    Unjudged,
    utf8,
)
from pastchats_memory.search import Rerank, search, search_with_terms
from pastchats_memory.search.hits import add_snippet

if TYPE_CHECKING:
    from datetime import date

    from pastchats_memory.episodes.cite import Progress as VerifyProgress
    from pastchats_memory.episodes.cite import Verified
    from pastchats_memory.tasks import TaskMemory
    from pastchats_memory.tasks.ask import TaskAnswer
    from pastchats_memory.tasks.prior_work import PriorWork, ResolvedTask
import json
from collections.abc import Generator, Sequence
from contextlib import closing
from os import fspath

from pastchats_memory.memory.requests import (
    about_leaving,
    index_options,
    look_for_private_projects,
    next_model,
    outcome_named,
    wanted_files,
)
from pastchats_memory.store.tombstones import forgettings

if TYPE_CHECKING:
    from pastchats_memory.episodes.derive import Derived
    from pastchats_memory.episodes.derive import Progress as DeriveProgress
    from pastchats_memory.ingest import Forecast, IndexReport, Progress
    from pastchats_memory.ingest.live import StoredTurn
    from pastchats_memory.maintenance.forget import ForgetResult
    from pastchats_memory.maintenance.health import RepairReport
    from pastchats_memory.maintenance.redact_stored import RedactProgress, RedactReport, StoredSecrets
    from pastchats_memory.model import Sheet
    from pastchats_memory.store.backup import Counts
    from pastchats_memory.store.tombstones import Forgetting
    from pastchats_memory.store.vectors.reindex import ReindexProgress, ReindexReport
from pastchats_memory.store.database import file_identity

# An open database with the embedder of its model, as the configuration has it.

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
        from pastchats_memory.embed.reranker import cross_encoder

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
        from pastchats_memory.store import turns

        if (number := number_of(id_)) is None:
            raise UsageFault(f"{id_!r} is no id", "Ids stand in the output of search and recall, such as 12.")
        hidden = hidden_projects(self._database, None)
        return next((item for item in turns.items(self._database, [number]) if item.project not in hidden), None)

    def status(self) -> Status:
        """What the memory holds and how it answers. Raises StoreFault."""
        from pastchats_memory.maintenance.health import read_status

        return read_status(self._database)

    def doctor(self) -> list[HealthCheck]:
        """Every check with its result; what is to be mended says how. Raises StoreFault."""
        from pastchats_memory.maintenance.health import check_health

        return check_health(self._database, self._model())

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
    from pastchats_memory.store.checks import damage, find_faults

    if found := damage(database) or find_faults(database):
        raise DatabaseCorrupt(f"{database.path}: the database is damaged ({found[0]})", HINT_DAMAGED) from fault


# What is asked of a memory: search, recall, context, items, tasks and verdicts on them.

EPISODES_ASKED = 40
"""Hits whose episodes are looked through for commands."""


class Asking(Opened):
    """The methods that only read, and the board of tasks."""

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
        outcome: str | None = None,
        threshold: float | None = None,
        min_similarity: float | None = None,
        meaning: float = 0.5,
        rerank: bool = False,
    ) -> Hits:
        """Rows that answer a query, best first, and what the person should know about the answer.

        Args:
            query: any text; nothing in it is syntax. "Since last week" and "before March 2025" leave other times out where
                `since` and `until` are not given; "in May" ranks what was said then, or soon after, higher.
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
            outcome: only of episodes that ended so, with commas: `worked`, `failed`, `mixed`, `unknown`.
            threshold: least relevance, 0 to 1.
            min_similarity: least cosine.
            meaning: the balance in `hybrid`, 0 words to 1 meaning.
            rerank: the first thirty in the order of a cross-encoder, which reads each together with the query.

        Raises:
            UsageFault: this cannot be asked.
            ModelUnavailable: the cross-encoder is not on this machine (`load_reranker` fetches it).
            StoreFault: the database cannot be read.
        """
        filters = filters_of(
            project=project, role=role, since=since, until=until, type_=type, status=status, priority=priority,
            outcome=outcome,
        )  # fmt: skip
        request = Request(
            utf8(query),
            mode=mode,
            limit=limit,
            page=page,
            filters=filters,
            threshold=self._configured("threshold") if threshold is None else threshold,
            min_similarity=self._configured("min_similarity") if min_similarity is None else min_similarity,
            meaning=meaning,
            time_filters=True,
        )
        behind = self._outcomes_behind(filters)
        with self._database.snapshot():
            hits = search(self._database, self._model(), self._without_private(request), self._scoring(asked=rerank))
            cited = cite_hits(self._database, hits)
        return Hits(cited, (*hits.warnings, *behind), hits.time_read)

    def _scoring(self, *, asked: bool) -> Rerank | None:
        return self._cross_encoder().scores if asked else None

    def load_reranker(self) -> None:
        """Make the cross-encoder ready that `search` reranks by, out of the cache or from the hub. Raises ModelUnavailable."""
        self._cross_encoder(may_fetch=True).load()

    def recall(
        self,
        query: str,
        budget: int | None = None,
        *,
        limit: int = 5,
        project: str | None = None,
        since: str | None = None,
        outcome: str | None = None,
        current_project: str | None = None,
        not_conversation: str | None = None,
        given: frozenset[str] = frozenset(),
        least_relevance: float | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> RecallBlock:
        """What is worth remembering before work on `query` starts; empty of memories where nothing fits.

        Args:
            query: the task in a few words.
            budget: tokens of the block's text, never exceeded; None for the configured ones, 1500 by default.
            limit: entries at most.
            project: only of this project; `.` is the one of the working directory.
            since: only from this ISO date or time on.
            outcome: only what ended so, as for `search`.
            current_project: wins near ties and is marked.
            not_conversation: the id of the conversation that is going on, which is left out.
            given: ids of items whose episodes are left out, because the caller has them already.
            least_relevance: of the best hit, below which nothing is said; None for the usual one.
            count_tokens: what `budget` counts, instead of tokens.

        Raises:
            UsageFault: this cannot be asked.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.recall import recall
        from pastchats_memory.recall.request import RecallRequest
        from pastchats_memory.recall.selection import LEAST_RELEVANCE

        filters = filters_of(project=project, since=since, outcome=outcome)
        request = RecallRequest(
            self._without_private(Request(utf8(query), limit=limit, filters=filters), current_project),
            self.budget if budget is None else budget,
            current_project,
            exclude_conversation=not_conversation,
            exclude_items=given,
            least_relevance=LEAST_RELEVANCE if least_relevance is None else least_relevance,
        )
        behind = self._outcomes_behind(filters)
        with self._database.snapshot():
            block = recall(self._database, self._model(), request, count_tokens or _count_tokens)
        return block._replace(warnings=(*block.warnings, *behind)) if behind else block

    def _outcomes_behind(self, filters: Filters) -> tuple[str, ...]:
        """Warnings where outcomes are asked for that cannot be had in time. Raises StoreFault."""
        if not filters.outcomes:
            return ()
        from pastchats_memory.episodes.derive import catch_up

        return catch_up(self._database)

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
        from pastchats_memory.recall.context import ContextRequest, build_context
        from pastchats_memory.recall.selection import above_threshold

        request = ContextRequest(budget, limit, width)
        filters = filters_of(project=project, since=since, until=until, type_=type, status=status)
        wanted = Request(utf8(question), limit=limit, filters=filters, min_similarity=min_similarity)
        with self._database.snapshot():
            hits, terms = search_with_terms(self._database, self._model(), self._without_private(wanted))
            worth = [add_snippet(hit, terms) for hit in cite_hits(self._database, above_threshold(hits, terms))]
        assembled = build_context(worth, terms.weights, request, _count_tokens)
        return assembled._replace(warnings=hits.warnings)

    def show(self, id_: str, neighbours: int = 2) -> list[Item]:
        """The item with so many turns on each side of its conversation, in order; empty where there is no such item.

        Raises:
            UsageFault: it is no id.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.store import turns

        if (item := self._item(id_)) is None:
            return []
        hidden = hidden_projects(self._database, None)
        around = turns.conversation_around(self._database, item, neighbours)
        return cite_items(self._database, [one for one in around if one.project not in hidden])

    def verify(
        self,
        *,
        project: str | None = None,
        source: str | None = None,
        progress: Callable[[VerifyProgress], None] = lambda _: None,
    ) -> Verified:
        """Check whether every memory's source still stands as it was read: file, line and text.

        Args:
            project: only of this project; `.` is the one of the working directory.
            source: only what was read from this file or below this folder, whether it is still there or not.
            progress: told after each file.

        Raises:
            UsageFault: there is no working directory.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.episodes.cite import verify

        filters = filters_of(project=project)._replace(hidden=hidden_projects(self._database, None))
        return verify(self._database, filters, () if source is None else source_named(source), progress)

    def outcome(self, item: Item) -> Outcome:
        """How the episode of a shown item ended, with the lines that show it. Raises StoreFault."""
        from pastchats_memory.episodes.load import load_outcome

        return load_outcome(self._database, item)

    def unjudged(
        self, project: str | None = ".", outcome: str | None = None, limit: int = 10, *, judged: bool = False
    ) -> tuple[Unjudged, tuple[str, ...]]:
        """The newest episodes whose end no rule knows, laid out for who reads them (`judge`), how many more there are, and warnings.

        Args:
            project: `.` is the one of the working directory, None all.
            outcome: instead, those of which this is said, with commas between several.
            limit: episodes at most.
            judged: instead, what somebody has judged.

        Raises:
            UsageFault: there is no working directory, or no such outcome.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.episodes.judge import list_episodes
        from pastchats_memory.search.no_results import explain_empty

        hidden = hidden_projects(self._database, None)
        wanted = outcome or (",".join(OUTCOMES) if judged else "unknown")
        filters = filters_of(project=project, outcome=wanted)._replace(hidden=hidden)
        behind = self._outcomes_behind(filters)
        with self._database.snapshot():
            found = list_episodes(self._database, filters, limit, judged=judged)
            absent = () if found.sheets else explain_empty(self._database, filters._replace(outcomes=()))
        return found, (*absent, *behind)

    def laid_out(self, id_: str) -> Sheet | None:
        """The episode of a turn as `unjudged` has it; None for no such item. Raises UsageFault, StoreFault."""
        from pastchats_memory.episodes.judge import load_sheet

        item = self._item(id_)
        if item is None:
            return None
        with self._database.snapshot():
            return load_sheet(self._database, item)

    def outcomes_of(self, hits: Iterable[Hit]) -> dict[str, str]:
        """How the episodes of the turns among the hits ended, by the hits' ids: `unknown` where that is not sure enough to be said.

        A turn is left out whose episode was not derived yet. Raises StoreFault.
        """
        from pastchats_memory.store import outcomes, turns

        with self._database.snapshot():
            items = turns.items(self._database, [int(hit.id) for hit in hits if hit.type == "prompt"])
            endings = ((item.id, outcomes.of_turn(self._database, item)) for item in items)
            return {str(id_): ending.outcome for id_, ending in endings if ending is not None}

    def lessons(self, project: str | None = ".", limit: int = 10) -> tuple[list[Lesson], tuple[str, ...]]:
        """What failed repeatedly in a project (`.` is that of the working directory, None all) and what ended it; and warnings.

        Raises:
            UsageFault: there is no working directory.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.episodes.lessons import find_lessons
        from pastchats_memory.search.no_results import explain_empty

        filters = filters_of(project=project, outcome="failed,mixed,worked")
        behind = self._outcomes_behind(filters)
        hidden = hidden_projects(self._database, None)
        with self._database.snapshot():
            found = find_lessons(self._database, filters.project, hidden, limit)
            absent = () if found else explain_empty(self._database, filters._replace(outcomes=(), hidden=hidden))
        return found, (*absent, *behind)

    def how(self, task: str, project: str | None = ".", limit: int = 5) -> tuple[list[Command], tuple[str, ...]]:
        """The commands that worked before for a task, those of an episode in their order, the best fitting episode first; and warnings. Raises UsageFault, StoreFault."""
        from pastchats_memory.episodes.working_commands import working_commands
        from pastchats_memory.recall.selection import above_threshold

        filters = filters_of(project=project, outcome="worked")
        behind = self._outcomes_behind(filters)
        wanted = self._without_private(Request(utf8(task), limit=EPISODES_ASKED, filters=filters))
        with self._database.snapshot():
            hits, terms = search_with_terms(self._database, self._model(), wanted)
            found = working_commands(self._database, wanted, hits, above_threshold(hits, terms), terms, limit)
        return found, (*hits.warnings, *behind)

    @property
    def tasks(self) -> TaskMemory:
        """Task memory: add, update, comment, capture, find, export."""
        from pastchats_memory.tasks import TaskMemory

        return TaskMemory(self._database, self._model(), standing_here(self._database))

    def check_prior_work(self, query: str) -> PriorWork:
        """Whether something was done, is under way, failed, was superseded or is new, with the three best matches.

        Raises:
            UsageFault: the query is empty.
            ModelUnavailable, ModelChanged: without vectors there is no verdict.
        """
        return self.tasks.check_prior_work(utf8(query))

    def consult_episodic_memory(
        self, problem_context: str, limit: int = 5
    ) -> tuple[list[ResolvedTask], tuple[str, ...]]:
        """Completed and archived tasks that have to do with a problem, each with its resolution; and warnings."""
        return self.tasks.consult_episodic_memory(utf8(problem_context), limit)

    def ask(self, question: str, today: date | None = None) -> TaskAnswer:
        """The tasks that a question in plain language asks for, with how it was read. Raises UsageFault, StoreFault."""
        return self.tasks.ask(utf8(question), today)


def _count_tokens(text: str) -> int:
    from pastchats_memory.text.tokens import count_tokens

    return count_tokens(text, wordpieces)


# What changes a memory: indexing, storing a turn while it is said, a change of model.


class Keeping(Opened):
    """The methods that write."""

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
        map: str | None = None,  # noqa: A002 - the name of the flag
        format: str | None = None,  # noqa: A002 - the name of the flag
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
            map: keys of JSON of unknown shape, such as `role=speaker,text=body,time=at`; files without them are read
                as usual. A later run reads the same files by it, too.
            format: read only files of this format, by its name in `metadata.format` or in the configuration.
            progress: called as the run goes on.
            forecast: called before it begins.

        Raises:
            InputMissing: one of the paths does not exist; nothing was indexed.
            UsageFault: the map is wrong, no record has its keys, or no format has the name; nothing was indexed.
            ModelUnavailable: the model cannot be loaded; nothing was indexed.
            ModelChanged: the database has vectors of another model or version; nothing was indexed.
            StoreFault: the database cannot be written; what was stored before stands.
        """
        from pastchats_memory.ingest import index

        options = index_options(
            self._config or replace(DEFAULTS, database=self._database.path),
            project,
            include,
            exclude,
            force=force,
            notes=notes,
            follow=follow_links,
            key_map=map,
            format_=format,
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
    ) -> StoredTurn:  # fmt: skip
        """One turn while it is said, as `ingest.live.store_turn`: of the project of the working directory and now by default."""
        from pastchats_memory.ingest.live import make_live_turn, store_turn

        wanted = wanted_files(self._config or DEFAULTS)
        turn = make_live_turn(role, content, conversation_id, event_id, None if project else str(Path.cwd()), timestamp)
        return store_turn(self._database, self._model(), turn, project, client, wanted)

    def forget(
        self, *ids: str, conversation: str | None = None, source: str | PathLike[str] | None = None,
        project: str | None = None, since: str | None = None, until: str | None = None, query: str | None = None,
        dry_run: bool = False,
    ) -> ForgetResult:  # fmt: skip
        """Forget for good what all of these choose; with `dry_run` only say what that comes to.

        Private projects stay, but for the one that the working directory is in and the one that is named.

        Args:
            ids: `12`, `t:KEY`, `c:5`, `a:7`.
            conversation: native id of one: its turns, and tasks that nothing but it tells of.
            source: path of a file or folder, whether it is still there or not.
            project: its turns and tasks; `.` is the one of the working directory.
            since: from this ISO date or time on; what has no time stays.
            until: up to and with this date or time.
            query: rows that have all of its words, or just this text.
            dry_run: forget nothing.

        Raises:
            UsageFault: nothing says what to forget, or it cannot be asked.
            StoreFault: it cannot be written; nothing is forgotten.
        """
        from pastchats_memory.maintenance.forget import Selector, forget, preview_forget

        hidden = hidden_projects(self._database, None)
        filters = filters_of(project=project, since=since, until=until)
        filters = filters._replace(hidden=tuple(name for name in hidden if name != filters.project))
        sources = () if source is None else source_named(fspath(source))
        selector = Selector(
            tuple(ids), conversation and utf8(conversation), sources, query and utf8(query), filters=filters
        )
        return preview_forget(self._database, selector, hidden) if dry_run else forget(self._database, selector)

    def prune(self, before: str, *, dry_run: bool = False) -> ForgetResult:
        """Forget all turns older than an ISO date or time; what is older is left out from now on, wherever it comes from.

        Those without a time stay, and so do tasks. Raises UsageFault, StoreFault.
        """
        from pastchats_memory.maintenance.forget import Selector, forget, preview_forget

        selector = Selector(before=filters_of(since=before).since)
        unseen = hidden_projects(self._database, None)
        return preview_forget(self._database, selector, unseen) if dry_run else forget(self._database, selector)

    def purge(self) -> bool:
        """Delete everything but what keeps forgotten text away; False where a process that is reading keeps it in the log for now."""
        from pastchats_memory.store.purge import purge

        return purge(self._database)

    def forgotten(self) -> list[Forgetting]:
        """What was forgotten and not lifted, the oldest first. Raises StoreFault."""
        return forgettings(self._database)

    def undo_forget(self, number: int | None = None) -> Forgetting | None:
        """Let what was forgotten then, or last, come back when it is indexed again; None for no such. Raises StoreFault."""
        from pastchats_memory.maintenance.forget import undo_forget

        return undo_forget(self._database, number)

    def judge(self, id_: str, verdict: str, because: str | None = None) -> tuple[Sheet | None, tuple[str, ...]]:
        """Say how the episode of a turn ended, in the place of what the rules say, for as long as what was read stays as it is.

        Args:
            id_: of any turn of the episode, such as `12`.
            verdict: `worked`, `failed`, `mixed` or `unknown`.
            because: words of the answer, or of what the person said next, that show it; none for `unknown`.

        Returns:
            The episode with its outcome, None for no such item; and warnings.

        Raises:
            UsageFault: it is no id, the turn has no outcome, or these words do not stand there; nothing is changed.
            StoreFault: it cannot be written; nothing is changed.
        """
        from pastchats_memory.episodes.judge import judge

        verdict = outcome_named(verdict)
        item = self._item(id_)
        return (None, ()) if item is None else judge(self._database, item, verdict, because and utf8(because))

    def unjudge(self, id_: str) -> tuple[Sheet | None, tuple[str, ...]]:
        """Let the rules say again how the episode of a turn ended; the episode, None for no such item, and warnings. Raises UsageFault, StoreFault."""
        from pastchats_memory.episodes.judge import withdraw_judgement

        item = self._item(id_)
        return (None, ()) if item is None else withdraw_judgement(self._database, item)

    def reindex_outcomes(self, progress: Callable[[DeriveProgress], None] = lambda _: None) -> Derived:
        """How each episode ended, derived anew from the rows; stopped half-way, the next index run does the rest. Raises StoreFault."""
        from pastchats_memory.episodes.derive import derive

        return derive(self._database, progress, anew=True)

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
        from pastchats_memory.store.vectors.reindex import reindex_embeddings

        config = self._config or load()
        wanted = next_model(model, config, meta(self._database))
        embedder = embedder_of(wanted, model_settings(config), may_fetch=True)
        for sentence in about_leaving(embedder):
            say(sentence)
        return reindex_embeddings(self._database, embedder, progress)

    def find_secrets(self, progress: Callable[[RedactProgress], None] = lambda _: None) -> StoredSecrets:
        """In which stored rows the rules of this release find secrets; nothing is changed. Raises StoreFault."""
        from pastchats_memory.maintenance.redact_stored import find_stored_secrets

        return find_stored_secrets(self._database, progress)

    def redact_stored(
        self, found: StoredSecrets | None = None, progress: Callable[[RedactProgress], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
    ) -> RedactReport:  # fmt: skip
        """Take secrets out of what is stored already: out of rows, words, vectors, and the bytes of the file.

        Ids and citations stay. What is found is embedded again. Stopped half-way, the next call does the rest.

        Args:
            found: what `find_secrets` gave; None looks first.
            progress: called as the run goes on.
            say: called before any text leaves this machine, with a sentence that says so and to whom.

        Raises:
            ModelUnavailable, ModelChanged: what changed cannot be embedded; what was not reached is as it was.
            StoreFault: it cannot be written; what was not reached is as it was.
        """
        from pastchats_memory.maintenance.redact_stored import find_stored_secrets, redact_stored

        found = find_stored_secrets(self._database) if found is None else found
        embedder = self._model(may_fetch=bool(found))
        if found:
            embedder.load()
            for sentence in about_leaving(embedder):
                say(sentence)
        return redact_stored(self._database, embedder, found, progress)

    def backup(self, file: str | PathLike[str], *, force: bool = False) -> Counts:
        """A consistent copy of the database, for its owner alone, whoever writes meanwhile; what was copied. Raises UsageFault, StoreFault."""
        from pastchats_memory.store.backup import backup

        return backup(self._database, Path(file), force=force)

    @staticmethod
    def restore(file: str | PathLike[str], path: str | PathLike[str] | None = None) -> tuple[Counts, Path | None]:
        """Put what `backup` wrote in the place of the database at a path, or of the person's own; as `store.backup.restore`."""
        from pastchats_memory.store.backup import restore

        return restore(Path(file), load().database if path is None else Path(path))

    @classmethod
    def mend(cls, path: str | PathLike[str] | None = None) -> RepairReport:
        """Save what can be saved of a damaged database in a new one, which takes its place; the damaged file is kept.

        Args:
            path: of the database; None for the person's own.

        Raises:
            DatabaseCorrupt: nothing can be saved of it; it is as it was.
            StoreFault: it cannot be read, or the new one cannot be written; it is as it was.
            ModelUnavailable: its model, by which lost vectors are made again, cannot be had; it is as it was.
        """
        from pastchats_memory.maintenance.health import RepairReport, rebuild_derived
        from pastchats_memory.store.atomic_file import partial_file, replace_file
        from pastchats_memory.store.recover import recover

        config = load()
        file = config.database if path is None else Path(path)
        with partial_file(file) as partial:
            recovered = recover(file, partial)
            with cls.open(partial, create=False, config=config) as new:
                lacked = rebuild_derived(new._database, new._model())  # noqa: SLF001 - our own
            return RepairReport(recovered, lacked, replace_file(partial, file))

    def export(self) -> Generator[str]:
        """Every turn and task that may be seen from here, a line of JSON each, which `index` reads back. Raises StoreFault."""
        from pastchats_memory.store.interchange import export_turns

        with self._database.snapshot():
            for body in export_turns(self._database, hidden_projects(self._database, None)):
                yield json.dumps(body, ensure_ascii=False)

    def export_to(self, file: str | PathLike[str], *, force: bool = False) -> int:
        """The same into a file for its owner alone, which has its name once it is whole; how many lines. Raises UsageFault, StoreFault."""
        from pastchats_memory.store.atomic_file import write_lines

        with closing(self.export()) as lines:  # also where they cannot be written: it holds a snapshot
            return write_lines(Path(file), self._database.path, lines, force=force)

    def unseen(self) -> tuple[int, int]:
        """How many turns and tasks are hidden from here, since they are of private projects. Raises StoreFault."""
        from pastchats_memory.store import interchange, tasks

        hidden = hidden_projects(self._database, None)
        return interchange.count_hidden_turns(self._database, hidden), tasks.count_hidden(self._database, hidden)


class Memory(Asking, Keeping):
    """An open memory. Use it as a context manager, or close it."""


# A memory that a server asks again and again.


class StandingMemory:
    """The configured memory, opened when it is first asked and again where another file has taken the database's place."""

    def __init__(self, config: Config, say: Callable[[str], None] = lambda _: None, *, create: bool = False) -> None:
        """`say` is told whenever it is opened what a person should know about how; `create` makes it where there is none."""
        self._config = config
        self._say = say
        self._create = create
        self._memory: Memory | None = None
        self._file: tuple[int, int] | None = None

    def opened(self) -> Memory:
        """It, over the file of now. Raises MemoryFault."""
        file = self._config.database
        if self._memory is None or self._file != file_identity(file):
            self.close()
            self._memory = Memory.open(file, create=self._create, config=self._config)
            self._file = file_identity(file)
            for notice in self._memory.notices:
                self._say(notice)
        return self._memory

    def close(self) -> None:
        """Give the file back."""
        if self._memory is not None:
            memory, self._memory = self._memory, None
            memory.close()
