"""Define `Memory`, the Python interface: open a database, index into it, and ask it.

Every method raises StoreFault if the database cannot be read or written, and UsageFault if an argument has a wrong value
or there is no working directory to take the project from. One that was to change rows has changed none then, unless its
docstring says more. `memory.questions` describes the arguments that people choose; the project `.` is the one of the
working directory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pastchats_memory.config import load
from pastchats_memory.embed.registry import embedder_of
from pastchats_memory.embed.tokenizer import TokenCounter
from pastchats_memory.memory import requests
from pastchats_memory.memory.indexing import build_file_filter, index_options
from pastchats_memory.memory.opened import DEFAULTS
from pastchats_memory.memory.reader import MemoryReader
from pastchats_memory.store import task_rows, turns
from pastchats_memory.store.atomic_file import partial_file, replace_file, write_lines
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import meta
from pastchats_memory.store.tombstones import Forgetting, forgettings
from pastchats_memory.text.display import escape_json
from pastchats_memory.text.encoding import utf8

if TYPE_CHECKING:
    from pastchats_memory.episodes.auto_judge import AutoJudged, JudgingPlan
    from pastchats_memory.episodes.derive import Derived
    from pastchats_memory.ingest.forecast import Forecast
    from pastchats_memory.ingest.live import StoredTurn
    from pastchats_memory.ingest.report import IndexProgress, IndexReport
    from pastchats_memory.maintenance.forget import ForgetResult, Selector
    from pastchats_memory.maintenance.health import HealthCheck, RepairReport
    from pastchats_memory.maintenance.redact_stored import RedactReport, StoredSecrets
    from pastchats_memory.model import Progress
    from pastchats_memory.model.episodes import Sheet
    from pastchats_memory.store.backup import Counts
    from pastchats_memory.store.vectors.reindex import ReindexReport
    from pastchats_memory.sync.report import FolderAccess, SyncReport


class Memory(MemoryReader):
    """An open memory. Use it as a context manager, or close it."""

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
        newest_bytes: int | None = None,
        progress: Callable[[IndexProgress], None] = lambda _: None,
        forecast: Callable[[Forecast], None] | None = None,
    ) -> IndexReport:
        """Add the conversations, notes and tasks below the paths to the memory.

        Without a usable model, they are stored without vectors and get them in the next run that has one.

        Args:
            project: project of every turn, instead of the one that the files name.
            force: read unchanged files too.
            notes: read Markdown that is no dialogue wherever it lies.
            include: globs in addition to the configured ones; if there are any, a file must match one.
            exclude: globs in addition to the configured ones, of files, folders and projects to skip.
            follow_links: follow symbolic links out of a folder.
            map: keys of JSON of unknown shape, such as `role=speaker,text=body,time=at`; files without them are read
                as usual. A later run reads the same files by it, too.
            format: read only files of this format, by its name in `metadata.format` or in the configuration.
            newest_bytes: read only the newest files that fit into so many bytes together; a later run reads the others.
            progress: called during the run.
            forecast: called before it begins; without it nothing is measured.

        Raises:
            InputMissing: one of the paths does not exist; nothing was indexed.
            ModelChanged: another process has changed the model meanwhile; earlier batches stay.
            StoreFault: the database cannot be written; earlier batches stay.
        """
        from pastchats_memory.ingest.run import index
        from pastchats_memory.maintenance.known_secrets import remove_known
        from pastchats_memory.store.atomic_file import remove_abandoned
        from pastchats_memory.store.known_secrets import known_secrets_of

        remove_abandoned(self._database.path)
        options = index_options(
            self._config or DEFAULTS._replace(database=self._database.path),
            project,
            include=include,
            exclude=exclude,
            force=force,
            notes=notes,
            follow_links=follow_links,
            map=map,
            format=format,
            newest_bytes=newest_bytes,
        )
        session = self._open_session(may_fetch=True)
        try:
            with known_secrets_of(self._database) as known:
                report = index(self._database, session, [Path(path) for path in paths], options, progress, forecast)
                if known is not None:
                    remove_known(self._database, session, known)
            return report
        finally:
            requests.update_private_projects(self._database)

    def store_answer(
        self, stamp: str, paths: Sequence[str], project: str | None, show: Callable[[IndexReport], str], **how: Any
    ) -> None:
        """Store what `index` answers next if it finds everything as it is now; nothing if there is something to do.

        Args:
            stamp: of `ingest.no_news`, made before the run that has just ended.
            show: returns the JSON of a report.
        """
        from pastchats_memory.ingest.run import describe_repeat
        from pastchats_memory.store.repeated_runs import store_answer

        options = index_options(self.config, project, **how)
        report = describe_repeat(
            self._database, [Path(path) for path in paths], options, meta(self._database)["model_name"]
        )
        if report is not None and report.known:
            store_answer(self._database, stamp, show(report))

    def store_turn(
        self, role: str, content: str, conversation_id: str | None = None, event_id: str | None = None,
        project: str | None = None, timestamp: str | None = None, client: str = "python",
    ) -> StoredTurn:  # fmt: skip
        """Store one turn, by default of the current project and time, as `ingest.live.store_turn` does."""
        from pastchats_memory.ingest.live import make_live_turn, store_turn
        from pastchats_memory.store.known_secrets import known_secrets_of

        wanted = build_file_filter(self.config)
        turn = make_live_turn(role, content, conversation_id, event_id, None if project else str(Path.cwd()), timestamp)
        with known_secrets_of(self._database):
            return store_turn(self._database, self._open_session(), turn, project, client, wanted)

    def judge(self, id_: str, verdict: str, because: str | None = None) -> tuple[Sheet | None, tuple[str, ...]]:
        """Label the episode of a turn.

        The label replaces that of the rules until the episode changes.

        Args:
            id_: id of any turn of the episode, such as `12`.
            verdict: one of `OUTCOMES`.
            because: words of the answer, or of the user's next message, that show it; None for `unknown`.

        Returns:
            The episode with its outcome, None for no such item; and warnings.
        """
        from pastchats_memory.episodes.judge import judge

        verdict = requests.parse_outcome(verdict)
        item = self._find_item(id_)
        return (None, ()) if item is None else judge(self._database, item, verdict, because and utf8(because))

    def plan_judging(self, project: str | None = ".", limit: int = 10, *, command: Sequence[str] = ()) -> JudgingPlan:
        """Return what `judge_automatically` would ask a judge about: the newest episodes with unknown outcome.

        The judge is a command that reads a question on stdin, or the configured one.

        Episodes of private and of excluded projects are left out, in their own folder too. The project None means all.
        """
        from pastchats_memory.episodes.auto_judge import ANSWER_TOKENS, JudgingPlan
        from pastchats_memory.episodes.judge import list_episodes
        from pastchats_memory.views.judge_question import write_question

        config = self.config
        judge = requests.find_judge(
            config._replace(judge_command=tuple(command), judge_endpoint=None) if command else config
        )
        wanted = build_file_filter(config)
        database = self._database.hide(
            requests.private_projects(self._database) | requests.excluded_projects(self._database, wanted)
        )
        filters = requests.build_filters(project=project, outcome="unknown")
        late = self._catch_up_outcomes(filters)
        with database.snapshot():
            sheets = list_episodes(database, filters, limit, judged=False).sheets
        sheets = tuple(sheet for sheet in sheets if not wanted.excludes(sheet.source_path))
        tokens = sum(_count_tokens(write_question(sheet)) + ANSWER_TOKENS for sheet in sheets)
        return JudgingPlan(judge, sheets, tokens, late)

    def judge_automatically(self, plan: JudgingPlan) -> AutoJudged:
        """Ask the judge of a plan about its episodes, and store the labels whose words stand in the conversation.

        Each question is redacted once more. After three calls in a row without an answer no other is made.

        Raises:
            MemoryFault: the judge cannot be used.
            StoreFault: the database cannot be written; earlier labels stand.
        """
        from pastchats_memory.episodes.auto_judge import judge_all
        from pastchats_memory.views.judge_question import write_question

        return judge_all(self._database, plan.sheets, plan.judge, write_question, _count_tokens)

    def unjudge(self, id_: str) -> tuple[Sheet | None, tuple[str, ...]]:
        """Remove the label of a turn's episode, so that the rules decide again.

        Return the episode with its outcome, None for no such item; and warnings.
        """
        from pastchats_memory.episodes.judge import withdraw_judgement

        item = self._find_item(id_)
        return (None, ()) if item is None else withdraw_judgement(self._database, item)

    # Forgetting

    def forget(
        self, *ids: str, conversation: str | None = None, source: str | PathLike[str] | None = None,
        project: str | None = None, since: str | None = None, until: str | None = None, query: str | None = None,
        dry_run: bool = False,
    ) -> ForgetResult:  # fmt: skip
        """Delete everything that matches all arguments, for good; with `dry_run`, only report it.

        Rows of private projects stay, except those of the working directory's project and of the named one.

        Args:
            ids: `12`, `t:KEY`, `c:5`, `a:7`.
            conversation: native id of a conversation: its turns, and the tasks that only it mentions.
            source: path of a file or folder, which may be gone.
            project: its turns and tasks.
            since: from this time on; rows without a time stay.
            until: up to this date or time, inclusive.
            query: rows that contain all of these words, or exactly this text.

        Raises:
            DeletionUnfinished: the rows are forgotten, but their text is still in the file; the next command goes on.
        """
        from pastchats_memory.maintenance.forget import Selector

        hidden = requests.hidden_projects(self._database, None)
        filters = requests.build_filters(project=project, since=since, until=until)
        database = self._database.hide(name for name in hidden if name != filters.project)
        sources = () if source is None else requests.source_paths(fspath(source))
        selector = Selector(
            tuple(ids), conversation and utf8(conversation), sources, query and utf8(query), filters=filters
        )
        return self._forget(database, selector, hidden, dry_run=dry_run)

    def prune(self, before: str, *, dry_run: bool = False) -> ForgetResult:
        """Delete all turns older than an ISO date or time, and keep older ones out from now on.

        Turns without a time stay, and so do tasks. Raises DeletionUnfinished.
        """
        from pastchats_memory.maintenance.forget import Selector

        selector = Selector(before=requests.build_filters(since=before).since)
        return self._forget(self._database, selector, requests.hidden_projects(self._database, None), dry_run=dry_run)

    def _forget(self, database: Database, selector: Selector, hidden: Sequence[str], *, dry_run: bool) -> ForgetResult:
        """Delete what a selector chooses, from the local copy of the team's memory too; or only report it."""
        from pastchats_memory.maintenance.forget import forget, preview_forget
        from pastchats_memory.store.copy_path import copy_path

        self.store_notes()
        if dry_run:
            return preview_forget(database, selector, hidden)
        forgotten = forget(database, selector)
        if copy_path(self._database.path).is_file():
            from pastchats_memory.team.copy import forget_in_copy

            forget_in_copy(self._database)
        return forgotten

    def purge(self, *, everywhere: bool = False) -> None:
        """Delete everything except the hashes that keep forgotten text out.

        The next `sync` brings back what the other machines have; with `everywhere` it lets them forget it.

        Raises DeletionUnfinished if all is deleted, but its text is still in the file; the next command goes on.
        """
        from pastchats_memory.maintenance.forget import forget_all
        from pastchats_memory.maintenance.known_secrets import forget_known
        from pastchats_memory.store.copy_path import delete_copy
        from pastchats_memory.store.purge import purge

        self.store_notes()
        delete_copy(self._database.path)
        forget_known(self._database)
        if everywhere:
            forget_all(self._database)
        purge(self._database, keeps_sync=everywhere)

    def list_forgettings(self) -> list[Forgetting]:
        """List the deletions by `forget` and `prune` that were not undone, oldest first."""
        return forgettings(self._database)

    def undo_forget(self, number: int | None = None) -> Forgetting | None:
        """Allow the text of one deletion, or of the last, to be indexed again.

        Return the deletion, or None if there is none of this number.
        """
        from pastchats_memory.maintenance.forget import undo_forget

        return undo_forget(self._database, number)

    def find_secrets(self, progress: Callable[[Progress], None] = lambda _: None) -> StoredSecrets:
        """Find stored rows with secrets by the rules of this release, and change nothing."""
        from pastchats_memory.maintenance.redact_stored import find_stored_secrets
        from pastchats_memory.store.known_secrets import known_secrets_of

        with known_secrets_of(self._database):
            return find_stored_secrets(self._database, progress)

    def redact_stored(
        self, found: StoredSecrets | None = None, progress: Callable[[Progress], None] = lambda _: None
    ) -> RedactReport:
        """Remove secrets from stored rows, from their words and vectors, and from the bytes of the file.

        Ids and citations stay, and changed text is embedded again. After an interruption, the next call does the rest.

        `found` is the result of `find_secrets`; None searches first.

        Raises:
            ModelChanged: another process has changed the model meanwhile; rows that were not reached are unchanged.
            DeletionUnfinished: no row has them any more, but the file still does; the next command goes on.
            StoreFault: the database cannot be written; rows that were not reached are unchanged.
        """
        from pastchats_memory.maintenance.redact_stored import find_stored_secrets, redact_stored
        from pastchats_memory.store.known_secrets import known_secrets_of

        with known_secrets_of(self._database):
            found = find_stored_secrets(self._database) if found is None else found
            return redact_stored(self._database, self._open_session(may_fetch=bool(found)), found, progress)

    # Upkeep, copies and other machines

    def doctor(self) -> list[HealthCheck]:
        """Run every check and return the results; a failed one says how to repair it."""
        from pastchats_memory.maintenance.health import check_health

        return check_health(self._database, self._model())

    def reindex_outcomes(self, progress: Callable[[Progress], None] = lambda _: None) -> Derived:
        """Derive the outcome of every episode again from the rows.

        After an interruption, the next index run does the rest.
        """
        from pastchats_memory.episodes.derive import derive
        from pastchats_memory.episodes.replies import classify_replies, open_packaged

        classify_replies(self._database, open_packaged(self._model()))
        return derive(self._database, progress, anew=True)

    def reindex_embeddings(
        self, model: str | None = None, progress: Callable[[Progress], None] = lambda _: None
    ) -> ReindexReport:
        """Embed every text again, and change to the new vectors when the last is stored.

        Until then the old vectors answer. The model None is the configured one, else the newest version of the database's own.

        Raises:
            ModelUnavailable: the model cannot be loaded; the old vectors keep answering.
            ModelChanged: another process is changing the model too.
            StoreFault: the database cannot be written; the old vectors keep answering.
        """
        from pastchats_memory.store.vectors.reindex import reindex_embeddings

        config = self._config or load()
        wanted = requests.choose_model(model, config, meta(self._database))
        embedder = embedder_of(wanted, requests.model_settings(config, self._say), may_fetch=True)
        return reindex_embeddings(self._database, embedder, progress)

    def backup(self, file: str | PathLike[str], *, force: bool = False) -> Counts:
        """Copy the database into a file for its owner alone, consistently even during writes.

        Return what was copied. Raises UsageFault.
        """
        from pastchats_memory.store.backup import backup

        return backup(self._database, Path(file), force=force)

    @staticmethod
    def restore(file: str | PathLike[str], path: str | PathLike[str] | None = None) -> tuple[Counts, Path | None]:
        """Replace the database at a path, or the user's own, by a backup, as `store.backup.restore` does."""
        from pastchats_memory.store.backup import restore

        return restore(Path(file), load().database if path is None else Path(path))

    @classmethod
    def repair(cls, path: str | PathLike[str] | None = None) -> RepairReport:
        """Recover a damaged database into a new one, which replaces it.

        The damaged file is kept.

        Args:
            path: of the database; None for the user's own.

        Raises:
            DatabaseCorrupt: nothing can be recovered; the file is unchanged.
            StoreFault: it cannot be read, or the new one cannot be written; the file is unchanged.
        """
        from pastchats_memory.maintenance.health import RepairReport, rebuild_derived
        from pastchats_memory.store.recover import recover

        config = load()
        file = config.database if path is None else Path(path)
        with partial_file(file) as partial:
            recovered = recover(file, partial)
            with cls.open(partial, create=False, config=config) as new:
                lacked = rebuild_derived(new._database, new._model())  # noqa: SLF001 - our own
            return RepairReport(recovered, lacked, replace_file(partial, file))

    def sync(
        self,
        folder: str | PathLike[str],
        access: FolderAccess | None = None,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> SyncReport:
        """Exchange the memory with the user's other machines through a folder, as `sync.synchronise` does.

        Private and excluded projects stay here. Raises MemoryFault, OSError.
        """
        from pastchats_memory.store.known_secrets import known_secrets_of
        from pastchats_memory.sync import synchronise

        limits = self._find_limits()
        session = self._open_session()
        with known_secrets_of(self._database):
            return synchronise(self._database, session, Path(folder), access, limits, progress)

    def sync_status(self, folder: str | PathLike[str], access: FolderAccess | None = None) -> SyncReport:
        """Return the machines that use a folder, and what they have not done yet. Raises MemoryFault, OSError."""
        from pastchats_memory.sync import read_status

        return read_status(self._database, Path(folder), access)

    def retire_machine(self, folder: str | PathLike[str], machine: str, access: FolderAccess | None = None) -> None:
        """Take over the files of a machine that is no longer used, and no new ones. Raises MemoryFault, OSError."""
        from pastchats_memory.sync import retire

        retire(self._database, Path(folder), access, machine)

    def trust_machine(self, folder: str | PathLike[str], code: str, access: FolderAccess | None = None) -> None:
        """Take the files of the machine whose code you have compared. Raises MemoryFault, OSError."""
        from pastchats_memory.sync import trust_machine

        trust_machine(self._database, Path(folder), access, code)

    def replace_sync_secret(self, folder: str | PathLike[str], access: FolderAccess) -> None:
        """Give a folder a new passphrase or key; the next `sync` writes the files again. Raises MemoryFault, OSError."""
        from pastchats_memory.sync import replace_secret

        replace_secret(self._database, Path(folder), access)

    def sync_folders(self) -> list[str]:
        """Return the folders that were used for `sync`."""
        from pastchats_memory.store.sync import folder_paths

        return folder_paths(self._database)

    def export(self) -> Generator[str]:
        """Yield every visible turn and task as a line of JSON, which `index` reads back."""
        from pastchats_memory.store.interchange import export_turns

        with self._open_snapshot() as database:
            for body in export_turns(database):
                yield json.dumps(body, ensure_ascii=False)

    def export_to(self, file: str | PathLike[str], *, force: bool = False) -> int:
        """Write the lines of `export` into a file for its owner alone, and return their number.

        The file gets its name once it is complete. Raises UsageFault.
        """
        with closing(self.export()) as lines:  # also if writing fails: it holds a snapshot
            return self.write_document(map(escape_json, lines), file, force=force)

    def write_document(self, lines: Iterable[str], file: str | PathLike[str], *, force: bool = False) -> int:
        """Write lines into a file for its owner alone, and return their number.

        The file gets its name once it is complete. Raises UsageFault.
        """
        return write_lines(Path(file), self._database.path, lines, force=force)

    def count_hidden(self) -> tuple[int, int]:
        """Return the number of turns and of tasks that are hidden here, as they are private."""
        database = self._hide_private()
        return (
            turns.count(self._database) - turns.count(database),
            task_rows.count(self._database) - task_rows.count(database),
        )


def _count_tokens(text: str) -> int:
    return TokenCounter()(text)
