"""What changes a memory: indexing, storing a turn while it is said, a change of model."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.arguments import filters_of, outcome_named, source_named
from pastchats_memory.config import load
from pastchats_memory.configured import about_leaving, index_options, model_settings, next_model, wanted_files
from pastchats_memory.embed.models import embedder_of
from pastchats_memory.memory.opened import DEFAULTS, Opened
from pastchats_memory.model import utf8
from pastchats_memory.privacy import hidden_projects, look_for_private_projects
from pastchats_memory.store.sources import meta
from pastchats_memory.store.tombstones import forgettings

if TYPE_CHECKING:
    from pastchats_memory.episodes.derive import Derived
    from pastchats_memory.episodes.derive import Progress as DeriveProgress
    from pastchats_memory.forget import Forgotten
    from pastchats_memory.health import Mended
    from pastchats_memory.ingest import Forecast, IndexReport, Progress
    from pastchats_memory.ingest.live import Stored
    from pastchats_memory.recollection import Sheet
    from pastchats_memory.reindex import ReindexProgress, ReindexReport
    from pastchats_memory.rescan import Found as FoundSecrets
    from pastchats_memory.rescan import Progress as RescanProgress
    from pastchats_memory.rescan import Rescanned
    from pastchats_memory.store.backup import Counts
    from pastchats_memory.store.tombstones import Forgetting


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
    ) -> Stored:  # fmt: skip
        """One turn while it is said, as `ingest.live.store_turn`: of the project of the working directory and now by default."""
        from pastchats_memory.ingest.live import live_turn, store_turn

        wanted = wanted_files(self._config or DEFAULTS)
        turn = live_turn(role, content, conversation_id, event_id, None if project else str(Path.cwd()), timestamp)
        return store_turn(self._database, self._model(), turn, project, client, wanted)

    def forget(
        self, *ids: str, conversation: str | None = None, source: str | PathLike[str] | None = None,
        project: str | None = None, since: str | None = None, until: str | None = None, query: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:  # fmt: skip
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
        from pastchats_memory.forget import Selector, find, forget

        hidden = hidden_projects(self._database, None)
        filters = filters_of(project=project, since=since, until=until)
        filters = filters._replace(hidden=tuple(name for name in hidden if name != filters.project))
        sources = () if source is None else source_named(fspath(source))
        selector = Selector(
            tuple(ids), conversation and utf8(conversation), sources, query and utf8(query), filters=filters
        )
        return find(self._database, selector, hidden) if dry_run else forget(self._database, selector)

    def prune(self, before: str, *, dry_run: bool = False) -> Forgotten:
        """Forget all turns older than an ISO date or time; what is older is left out from now on, wherever it comes from.

        Those without a time stay, and so do tasks. Raises UsageFault, StoreFault.
        """
        from pastchats_memory.forget import Selector, find, forget

        selector = Selector(before=filters_of(since=before).since)
        unseen = hidden_projects(self._database, None)
        return find(self._database, selector, unseen) if dry_run else forget(self._database, selector)

    def purge(self) -> bool:
        """Delete everything but what keeps forgotten text away; False where a process that is reading keeps it in the log for now."""
        from pastchats_memory.store.purging import purge

        return purge(self._database)

    def forgotten(self) -> list[Forgetting]:
        """What was forgotten and not lifted, the oldest first. Raises StoreFault."""
        return forgettings(self._database)

    def undo_forget(self, number: int | None = None) -> Forgetting | None:
        """Let what was forgotten then, or last, come back when it is indexed again; None for no such. Raises StoreFault."""
        from pastchats_memory.forget import undo

        return undo(self._database, number)

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
        from pastchats_memory.episodes.judging import judge

        verdict = outcome_named(verdict)
        item = self._item(id_)
        return (None, ()) if item is None else judge(self._database, item, verdict, because and utf8(because))

    def unjudge(self, id_: str) -> tuple[Sheet | None, tuple[str, ...]]:
        """Let the rules say again how the episode of a turn ended; the episode, None for no such item, and warnings. Raises UsageFault, StoreFault."""
        from pastchats_memory.episodes.judging import take_back

        item = self._item(id_)
        return (None, ()) if item is None else take_back(self._database, item)

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
        from pastchats_memory.reindex import reindex_embeddings

        config = self._config or load()
        wanted = next_model(model, config, meta(self._database))
        embedder = embedder_of(wanted, model_settings(config), may_fetch=True)
        for sentence in about_leaving(embedder):
            say(sentence)
        return reindex_embeddings(self._database, embedder, progress)

    def find_secrets(self, progress: Callable[[RescanProgress], None] = lambda _: None) -> FoundSecrets:
        """In which stored rows the rules of this release find secrets; nothing is changed. Raises StoreFault."""
        from pastchats_memory.rescan import find

        return find(self._database, progress)

    def redact_stored(
        self, found: FoundSecrets | None = None, progress: Callable[[RescanProgress], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
    ) -> Rescanned:  # fmt: skip
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
        from pastchats_memory.rescan import find, rescan

        found = find(self._database) if found is None else found
        embedder = self._model(may_fetch=bool(found))
        if found:
            embedder.load()
            for sentence in about_leaving(embedder):
                say(sentence)
        return rescan(self._database, embedder, found, progress)

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
    def mend(cls, path: str | PathLike[str] | None = None) -> Mended:
        """Save what can be saved of a damaged database in a new one, which takes its place; the damaged file is kept.

        Args:
            path: of the database; None for the person's own.

        Raises:
            DatabaseCorrupt: nothing can be saved of it; it is as it was.
            StoreFault: it cannot be read, or the new one cannot be written; it is as it was.
            ModelUnavailable: its model, by which lost vectors are made again, cannot be had; it is as it was.
        """
        from pastchats_memory.health import Mended, complete
        from pastchats_memory.store.partial import beside, put_in_place
        from pastchats_memory.store.salvage import salvage

        config = load()
        file = config.database if path is None else Path(path)
        with beside(file) as partial:
            saved = salvage(file, partial)
            with cls.open(partial, create=False, config=config) as new:
                lacked = complete(new._database, new._model())  # noqa: SLF001 - our own
            return Mended(saved, lacked, put_in_place(partial, file))

    def export(self) -> Generator[str]:
        """Every turn and task that may be seen from here, a line of JSON each, which `index` reads back. Raises StoreFault."""
        from pastchats_memory.store.export import exported

        with self._database.snapshot():
            for body in exported(self._database, hidden_projects(self._database, None)):
                yield json.dumps(body, ensure_ascii=False)

    def export_to(self, file: str | PathLike[str], *, force: bool = False) -> int:
        """The same into a file for its owner alone, which has its name once it is whole; how many lines. Raises UsageFault, StoreFault."""
        from pastchats_memory.store.partial import write_lines

        with closing(self.export()) as lines:  # also where they cannot be written: it holds a snapshot
            return write_lines(Path(file), self._database.path, lines, force=force)

    def unseen(self) -> tuple[int, int]:
        """How many turns and tasks are hidden from here, since they are of private projects. Raises StoreFault."""
        from pastchats_memory.store import export, task_rows

        hidden = hidden_projects(self._database, None)
        return export.unseen(self._database, hidden), task_rows.unseen(self._database, hidden)
