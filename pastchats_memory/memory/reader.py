"""Ask a memory: search, recall, conversations, outcomes, tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.embed.tokenizer import TokenCounter
from pastchats_memory.episodes.cite import Verified, cite_hits, cite_items, verify
from pastchats_memory.episodes.load import load_episode, load_outcome
from pastchats_memory.episodes.session_folder import find_session_folder
from pastchats_memory.episodes.successors import mark_superseded
from pastchats_memory.episodes.titles import name_conversation, name_episode, name_hits
from pastchats_memory.errors import UsageFault
from pastchats_memory.fields import OUTCOMES
from pastchats_memory.memory import requests
from pastchats_memory.memory.indexing import build_file_filter, find_histories
from pastchats_memory.memory.opened import OpenedMemory
from pastchats_memory.memory.projects import find_current_project, find_folder_of, resolve_project
from pastchats_memory.model import OPEN, Filters, Hit, Hits, Item, Place, Progress, RecordedCall, StoredTask
from pastchats_memory.model import TYPES as TASK_TYPES
from pastchats_memory.model.episodes import ShownItem
from pastchats_memory.model.ids import canonical_id, is_team_id, leads_to_task, number_of
from pastchats_memory.search.hits import add_snippet, turn_hit
from pastchats_memory.search.missing_rows import describe_running, explain_empty
from pastchats_memory.search.pipeline import search, search_with_terms
from pastchats_memory.search.request import EVEN_BALANCE, Request
from pastchats_memory.store import outcomes, sources, turns
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.stored_text import LEFT_OUT_KEY

if TYPE_CHECKING:
    from datetime import date

    from pastchats_memory.embed.reranker import CrossEncoder
    from pastchats_memory.episodes.conversation import ConversationPart, StoredConversation
    from pastchats_memory.episodes.history import Digest, Recent, Timeline
    from pastchats_memory.episodes.known_failures import KnownFailure
    from pastchats_memory.episodes.resumption import Resumption
    from pastchats_memory.ingest.blame import Blamed
    from pastchats_memory.ingest.overview import SourceReport, UnreadFile
    from pastchats_memory.maintenance.health import Status
    from pastchats_memory.model.episodes import (
        Command,
        Context,
        Lesson,
        Outcome,
        Packet,
        RecallBlock,
        Sheet,
        StandingLines,
        Unjudged,
    )
    from pastchats_memory.recall.pipeline import Found
    from pastchats_memory.recall.request import RecallRequest
    from pastchats_memory.store.outcomes import Tally
    from pastchats_memory.store.recalled import RecalledLog
    from pastchats_memory.store.token_use import TokenUse
    from pastchats_memory.store.turns import ProjectTurns
    from pastchats_memory.tasks import BoardColumn, TaskMemory
    from pastchats_memory.tasks.ask import TaskAnswer
    from pastchats_memory.tasks.prior_work import PriorWork, ResolvedTask
    from pastchats_memory.tasks.similarity import DuplicateCluster
    from pastchats_memory.team import TeamMemory

EPISODES_SEARCHED = 40
"""Hits whose episodes `how` searches for commands."""


class MemoryReader(OpenedMemory):
    """The questions to an open memory."""

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
        format: str | None = None,  # noqa: A002 - the name in every output
        threshold: float | None = None,
        min_similarity: float | None = None,
        meaning: float = EVEN_BALANCE,
        team: bool = False,
        rerank: bool = False,
    ) -> Hits:
        """Return the rows that answer a query, best first, with warnings about the answer.

        "Since last week" and "before March 2025" in the query exclude other times if `since` and `until` are not given;
        "in May" ranks text of that time, or soon after, higher. With `team`,
        the team's server searches what the team shares.

        Raises:
            ModelUnavailable: the cross-encoder is not on this machine (`load_reranker` fetches it).
            TeamUnavailable: no team is configured, or its server cannot be used.
        """
        filters = requests.build_filters(
            project=project, role=role, since=since, until=until, type=type, status=status, priority=priority,
            outcome=outcome, format=format,
        )  # fmt: skip
        request = Request(
            utf8(query),
            mode=mode,
            limit=limit,
            page=page,
            filters=filters,
            threshold=self._default("threshold", threshold),
            min_similarity=self._default("min_similarity", min_similarity),
            meaning=meaning,
            time_filters=not team,
        )
        if team:
            if status or priority or format or rerank or meaning != EVEN_BALANCE:
                hint = "Leave out status, priority, format, meaning and rerank."
                raise UsageFault("the team's memory is searched by its server", hint)
            return self.team.search(request)
        late = self._catch_up_outcomes(filters)
        with self._open_snapshot() as database:
            hits = search(database, self._model(), request, self._cross_encoder().scores if rerank else None)
            cited = mark_superseded(database, cite_hits(database, hits))
        return Hits(cited, (*hits.warnings, *late), hits.time_read)

    @staticmethod
    def check_filters(**filters: str | None) -> None:
        """Raise UsageFault if `search` would refuse one of the filters."""
        requests.build_filters(**filters)

    def load_reranker(self) -> None:
        """Load the cross-encoder of `search(rerank=True)`, from the cache or the hub. Raises ModelUnavailable."""
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
        unasked: bool = False,
        team: bool | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> RecallBlock:
        """Return a block of earlier episodes to read before work on `query`, without entries if none fits.

        Args:
            budget: never exceeded; None for the configured number.
            current_project: wins near ties and is marked.
            not_conversation: id of the current conversation, which is left out.
            given: ids of items whose episodes are left out, because the caller has them already.
            unasked: whether nobody asked for a block, so that only a clear match makes one.
            team: whether the local copy of the team's memory answers too; None for the configured choice.
            count_tokens: the unit of `budget`, instead of tokens.
        """
        from pastchats_memory.recall.pipeline import recall
        from pastchats_memory.recall.request import RecallRequest

        filters = requests.build_filters(project=project, since=since, outcome=outcome)
        if current_project == ".":
            current_project = find_current_project()
        request = RecallRequest(
            Request(utf8(query), limit=limit, filters=filters),
            self.budget if budget is None else budget,
            current_project,
            folder=None if unasked or current_project is None else find_folder_of(current_project),
            exclude_conversation=not_conversation,
            exclude_items=given,
            is_unasked=unasked,
        )
        late = self._catch_up_outcomes(filters)
        of_team = self._find_team_entries if (self.uses_team if team is None else team) else None
        count = TokenCounter().each if count_tokens is None else lambda texts: [*map(count_tokens, texts)]
        with self._open_snapshot(current_project) as database:
            block = recall(database, self._model(), request, count, of_team)
        return block._replace(warnings=(*block.warnings, *late)) if late else block

    def _find_team_entries(self, request: RecallRequest) -> Found:
        from pastchats_memory.memory.team_copy import find_team_entries

        database = self._hide_private(request.current_project)
        return find_team_entries(database, self.config.team_endpoint, self._model(), request)

    @property
    def budget(self) -> int:
        """Return the tokens of a recall block for which the caller names no budget."""
        return self.config.budget

    @property
    def uses_team(self) -> bool:
        """Return whether every recall answers from the local copy of the team's memory, too."""
        return self.config.team

    def context(
        self,
        query: str,
        budget: int = 1500,
        *,
        limit: int = 5,
        excerpt: int = 200,
        type: str | None = None,  # noqa: A002 - the field's name in every output
        status: str | None = None,
        project: str | None = None,
        since: str | None = None,
        until: str | None = None,
        min_similarity: float | None = None,
    ) -> Context:
        """Return the best few items for a question: excerpts with id and source, within a budget."""
        from pastchats_memory.recall.context import ContextRequest, build_context
        from pastchats_memory.recall.selection import above_threshold

        request = ContextRequest(budget, limit, excerpt)
        filters = requests.build_filters(project=project, since=since, until=until, type=type, status=status)
        wanted = Request(utf8(query), limit=limit, filters=filters, min_similarity=min_similarity)
        with self._open_snapshot() as database:
            hits, terms = search_with_terms(database, self._model(), wanted)
            fitting = [
                add_snippet(hit, terms.weights) for hit in cite_hits(database, above_threshold(hits, terms.coverage))
            ]
        context = build_context(fitting, terms.weights, request, TokenCounter())
        return context._replace(warnings=(*hits.warnings, *context.warnings))

    def show(self, id_: str, neighbours: int = 2, *, whole: bool = False) -> list[Item]:
        """Return an item between so many neighbours on each side, in order.

        Empty if there is no such item. With `whole`, the part of the item's text that is not stored is read from its source.
        If no source has it any more, the text says where it was cut.
        """
        if is_team_id(id_):
            from pastchats_memory.memory.team_copy import load_team_items

            return load_team_items(self._hide_private(), self._require_endpoint(), id_, neighbours)
        if (item := self._find_item(id_)) is None:
            return []
        database = self._hide_private()
        shown = cite_items(database, turns.conversation_around(database, item, neighbours))
        if whole and LEFT_OUT_KEY in item.metadata:
            from pastchats_memory.ingest.source_text import read_whole_text  # imports every format

            if (text := read_whole_text(item)) is not None:
                shown = [one._replace(content=text) if one.id == item.id else one for one in shown]
        return shown

    def read_calls(self, id_: str) -> tuple[RecordedCall, ...] | None:
        """Return the tool calls of a turn as its source has them; None without such a turn or source."""
        from pastchats_memory.episodes.recorded_edits import read_turn

        shown = self.show(id_, 0)
        turn = read_turn(shown[0]) if shown else None
        return None if turn is None else turn.calls

    def show_with_outcomes(self, id_: str, neighbours: int = 2, *, whole: bool = False) -> list[ShownItem]:
        """Return what `show` returns, each item with its outcome, and whether it was asked for."""
        items = self.show(id_, neighbours, whole=whole)
        shown = (ShownItem(item, self.outcome(item), item.shown_id == canonical_id(id_)) for item in items)
        return [one._replace(standing=self.count_standing_lines_of(one.item)) if one.is_asked else one for one in shown]

    def count_standing_lines_of(self, item: Item) -> StandingLines | None:
        """Return how many lines that the episode of a turn added stand in HEAD; None if its repository is not here."""
        from pastchats_memory.episodes.actions import changed_files
        from pastchats_memory.recall.commits import count_standing_lines

        if item.team_id or item.conversation_id is None:
            return None
        conversation = (item.project, item.conversation_id)
        with self._open_snapshot() as database:
            ending = load_episode(database, item)[1]
            own = turns.in_span(database, conversation, ending.first_index, ending.last_index)
            edited = cite_items(database, [turn for turn in own if any(changed_files(turn))])
            folder = find_folder_of(item.project) or find_session_folder(database, *conversation)
        files = {name for turn in edited for name in changed_files(turn)}
        return count_standing_lines(edited, files, folder) if folder and edited else None

    def load_conversation(self, id_: str) -> StoredConversation | None:
        """Return a whole conversation by its native id, or by the id of one of its turns; None for no such one."""
        from pastchats_memory.episodes.conversation import load_conversation

        self._catch_up_outcomes(Filters(outcomes=OUTCOMES))
        with self._open_snapshot() as database:
            found = load_conversation(database, utf8(id_))
            if found is None and number_of(id_) is not None:
                item = self._find_item(id_)
                if item is not None and item.conversation_id is not None:
                    found = load_conversation(database, item.conversation_id)
        return found

    def load_conversation_part(
        self, conversation_id: str, number: int = 1, *, project: str | None = None
    ) -> ConversationPart | None:
        """Return some turns of a conversation and an outline of all of it, as `episodes.conversation.load_part` does."""
        from pastchats_memory.episodes.conversation import load_part

        self._catch_up_outcomes(Filters(outcomes=OUTCOMES))
        with self._open_snapshot() as database:
            return load_part(database, utf8(conversation_id), project, number)

    def name_conversations(self, ids: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the titles of conversations by project and id, as `episodes.titles.name_conversation` does."""
        database = self._hide_private()
        return {one: name_conversation(database, *one) for one in set(ids)}

    def name_hits(self, hits: Iterable[Hit]) -> dict[str, str]:
        """Return the title of each hit by its id."""
        return name_hits(self._hide_private(), hits)

    def find_source(self, id_: str) -> Place | None:
        """Return the file and the present line of an item; None without such an item, or without a file."""
        if leads_to_task(id_):
            found = self.tasks.find_item(id_)
            task = found[0] if found else None
            return Place(task.source_path, task.source_line or 1, None) if task and task.source_path else None
        shown = self.show(id_, 0)
        if not shown or not shown[0].places:
            return None
        place, citation = shown[0].places[0], shown[0].citation
        return place._replace(line=citation.line) if citation and citation.line else place

    def find_resumption(self, id_: str) -> Resumption | None:
        """Return the agent's own command that resumes the session of a turn; None without such a turn.

        Raises:
            UsageFault: the id is malformed, or that of a task.
            BrokenFormat: a format of another package cannot be loaded.
        """
        from pastchats_memory.episodes.resumption import ResumableTurn, find_resumption

        item = self._find_item(id_)
        return None if item is None else find_resumption(self._database, ResumableTurn.of_item(item))

    def resume_lines(self, found: Iterable[Hit | Item]) -> dict[str, str]:
        """Return the command lines that resume the sessions of the turns among hits or items, by id.

        A turn whose session cannot be resumed is left out. Raises BrokenFormat if a format of another package cannot be loaded.
        """
        from pastchats_memory.episodes.resumption import ResumableTurn, find_command_lines

        resumable = (
            (str(one.id), ResumableTurn.of_hit(one) if isinstance(one, Hit) else ResumableTurn.of_item(one))
            for one in found
            if not one.author and (isinstance(one, Item) or one.task is None)
        )
        return find_command_lines(self._database, resumable)

    def where(self) -> Packet | None:
        """Return where the last session in the present folder stopped; None if nothing is known."""
        from pastchats_memory.recall.packet import find_last_packet

        project = find_current_project()
        with self._open_snapshot(project) as database:
            return find_last_packet(database, project, Path.cwd(), None) if project else None

    def handoff(self, id_: str | None = None) -> Packet | None:
        """Return the packet of a conversation for another agent; None without such a conversation.

        `id_` is the id of the conversation or of one of its turns; None stands for the last session in the present folder.
        """
        from pastchats_memory.recall.packet import HANDOFF, fit_packet, load_packet

        project = find_current_project()
        with self._open_snapshot(project) as database:
            if id_ is None:
                id_ = turns.find_newest_conversation(database, project, None) if project else None
            elif (
                number_of(id_) is not None and (item := next(iter(turns.items(database, [int(id_)])), None)) is not None
            ):
                id_ = item.conversation_id
            packet = load_packet(database, id_, "handoff") if id_ else None
            return packet and fit_packet(packet, HANDOFF)

    def blame(self, file: str | PathLike[str], line: int | None = None, limit: int = 20) -> list[Blamed]:
        """Return the episodes whose recorded edits changed a file, the newest first.

        Former names of the file that git knows count, too.

        With a line, counted from 1, only episodes that wrote its present text are returned. Without one, the file may be gone.

        Raises InputMissing if a line is given, and there is no such file.
        """
        from pastchats_memory.ingest.blame import find_editors
        from pastchats_memory.memory.blame import find_names, load_line

        path = Path(file)
        text = None if line is None else load_line(path, line)
        names = find_names(path)
        self._catch_up_outcomes(Filters(outcomes=OUTCOMES))
        with self._open_snapshot() as database:
            return find_editors(database, names, text, limit)

    def list_changes(self, name: str, limit: int = 50) -> list[Item]:
        """Return the turns whose calls changed a file of this name or end of a path, the newest first."""
        from pastchats_memory.ingest.blame import list_changes

        with self._open_snapshot() as database:
            return list_changes(database, name, limit)

    def verify(
        self,
        *,
        project: str | None = None,
        source: str | None = None,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> Verified:
        """Check every citation: whether the text still stands in its file, on its line.

        With `source`, only text from this file or from below this folder is checked, which may be gone.
        """
        filters = requests.build_filters(project=project)
        return verify(self._hide_private(), filters, () if source is None else requests.source_paths(source), progress)

    def outcome(self, item: Item) -> Outcome:
        """Return the outcome of a shown item's episode, with the lines that show it."""
        if item.team_id:
            from pastchats_memory.memory.team_copy import load_team_outcome

            return load_team_outcome(self._database, self._require_endpoint(), item)
        return load_outcome(self._database, item)

    def outcomes_of(self, hits: Iterable[Hit], *, or_before: bool = False) -> dict[str, str]:
        """Return the outcomes of the turns among the hits, by id; `unknown` if the evidence is too weak.

        A turn whose episode was not derived yet is left out. The team's turns bring theirs. `or_before` wants the last known
        outcome of the conversation up to the turn, since a person's last words often only confirm one.
        """
        hits = list(hits)
        shared = {hit.id: str(hit.metadata["outcome"]) for hit in hits if hit.author and "outcome" in hit.metadata}
        with self._database.snapshot():
            items = turns.items(
                self._database, [int(hit.id) for hit in hits if hit.type == "prompt" and not hit.author]
            )
            find = outcomes.last_known if or_before else outcomes.of_turn
            endings = ((item.id, find(self._database, item)) for item in items)
            return shared | {str(id_): ending.outcome for id_, ending in endings if ending is not None}

    def lessons(self, project: str | None = ".", limit: int = 10) -> tuple[list[Lesson], tuple[str, ...]]:
        """Return what failed repeatedly in a project, each with what ended it, and warnings.

        The project None means all.
        """
        from pastchats_memory.episodes.lessons import find_lessons

        filters = requests.build_filters(project=project, outcome="failed,mixed,worked")
        late = self._catch_up_outcomes(filters)
        with self._open_snapshot() as database:
            found = find_lessons(database, filters.project, limit)
            absent = () if found else explain_empty(database, filters._replace(outcomes=()))
        return found, (*absent, *late)

    def list_known_failures(self, project: str | None = None, limit: int = 50) -> list[KnownFailure]:
        """Return the commands and edits that failed and whose cure is known, the most frequent first."""
        from pastchats_memory.episodes.known_failures import list_known

        with self._open_snapshot() as database:
            return list_known(database, requests.build_filters(project=project).project, limit)

    def how(self, query: str, project: str | None = ".", limit: int = 5) -> tuple[list[Command], tuple[str, ...]]:
        """Return the commands that worked before for a task, and warnings.

        The episode that fits best comes first, with its commands in the order in which they ran. The project None means
        all.
        """
        from pastchats_memory.episodes.working_commands import working_commands
        from pastchats_memory.recall.selection import above_threshold

        filters = requests.build_filters(project=project, outcome="worked")
        late = self._catch_up_outcomes(filters)
        wanted = Request(utf8(query), limit=EPISODES_SEARCHED, filters=filters)
        with self._open_snapshot() as database:
            hits, terms = search_with_terms(database, self._model(), wanted)
            about, here = above_threshold(hits, terms.coverage), requests.current_viewpoint().project
            found = working_commands(database, wanted, hits, about, terms, limit, here)
        return found, (*hits.warnings, *late)

    def timeline(
        self, when: str | None = None, *, since: str | None = None, until: str | None = None,
        project: str | None = None, limit: int = 100, most_episodes: int | None = None,
    ) -> Timeline:  # fmt: skip
        """Return the conversations of a span by day, the newest ones, in order of time.

        `most_episodes` are read at most, the newest.
        """
        from pastchats_memory.episodes.history import MAX_EPISODES, list_days, move_to_newest

        filters = requests.build_span_filters(when, since, until, project)
        late = self._catch_up_outcomes(filters._replace(outcomes=OUTCOMES))
        with self._open_snapshot() as database:
            if when is since is until is None:
                filters = move_to_newest(database, filters)
            found = list_days(database, filters, limit, most_episodes or MAX_EPISODES)
            absent = () if found.days else explain_empty(database, filters)
        return found._replace(warnings=(*found.warnings, *absent, *late))

    def digest(
        self, when: str | None = None, *, since: str | None = None, until: str | None = None,
        project: str | None = None, limit: int = 20,
    ) -> Digest:  # fmt: skip
        """Return what was worked on in a span, what worked, what is open, and what was decided."""
        from pastchats_memory.episodes.history import make_digest, move_to_newest

        filters = requests.build_span_filters(when, since, until, project)
        late = self._catch_up_outcomes(filters._replace(outcomes=OUTCOMES))
        tasks = self.tasks.list_tasks(filters._replace(kinds=TASK_TYPES, statuses=OPEN), limit)
        with self._open_snapshot() as database:
            if when is since is until is None and not tasks:
                filters = move_to_newest(database, filters)
            found = make_digest(database, filters, tasks, limit, self.config.prices)
            absent = () if found.lines else explain_empty(database, filters)
        return found._replace(warnings=(*found.warnings, *absent, *late))

    def load_recent(self, limit: int = 24, project: str | None = None) -> Recent:
        """Return the newest sessions, what is open among them, and how far an index run is."""
        from pastchats_memory.episodes.history import load_recent

        self._catch_up_outcomes(Filters(outcomes=OUTCOMES))
        with self._open_snapshot() as database:
            return load_recent(database, limit, describe_running(database), project)

    def list_recent(self, limit: int = 20, *, project: str | None = None, format: str | None = None) -> list[Hit]:  # noqa: A002 - the name in every output
        """Return the newest prompt of each of the newest conversations."""
        filters = requests.build_filters(project=project, format=format)
        self._catch_up_outcomes(filters._replace(outcomes=OUTCOMES))
        return [turn_hit(item) for item in turns.list_recent(self._hide_private(), filters, limit)]

    def list_solved(self, project: str, limit: int = 20) -> list[str]:
        """Return titles for what is known to have worked in a project: of conversations, then of episodes, the newest first."""
        self._catch_up_outcomes(Filters(outcomes=OUTCOMES))
        database = self._hide_private()
        known = outcomes.latest_known(database, project, limit)
        worked = [one for one in known if one.ending.outcome == "worked"]
        titles = [name_conversation(database, *one) for one in dict.fromkeys(one.conversation for one in worked)]
        return list(dict.fromkeys([*titles, *(name_episode(database, one.text, *one.conversation) for one in worked)]))

    def list_formats(self) -> list[str]:
        """Return the formats of the files that were read, the most frequent first."""
        return sources.list_formats(self._database)

    def list_projects(self) -> list[ProjectTurns]:
        """Return the projects that may be shown here, the one with the newest turn first."""
        return turns.list_projects(self._hide_private())

    def tally_outcomes(self, project: str | None = None) -> list[Tally]:
        """Count the episodes of each day by outcome, of one project or of all."""
        self._catch_up_outcomes(Filters(outcomes=OUTCOMES))
        return outcomes.tally(self._hide_private(), project)

    def tally_tokens(self, project: str | None = None) -> tuple[TokenUse, ...]:
        """Count the tokens of the newest 30 days, of one project or of all."""
        from pastchats_memory.store.token_use import tally_recent

        return tally_recent(self._hide_private(), self.config.prices, project)

    def log(self, session: str | None = None, limit: int = 20, *, source: str | None = None) -> RecalledLog:
        """Return what hooks gave to agents, in all sessions or in one, the newest first.

        `source` is a conversation; only what other sessions got of it is returned then.
        """
        from pastchats_memory.store.recalled import load_log

        self.store_notes()
        with self._open_snapshot() as database:
            return load_log(database, limit, session, source)

    def count_given(self, conversation_id: str) -> tuple[int, int]:
        """Return how many memories a conversation got, and how many others got of it."""
        from pastchats_memory.store.recalled import count_of_conversation

        return count_of_conversation(self._hide_private(), conversation_id)

    def status(self) -> Status:
        """Return what the memory holds and how it answers."""
        from pastchats_memory.maintenance.health import read_status

        return read_status(self._database, self.tally_tokens())

    def list_sources(self) -> tuple[list[SourceReport], list[UnreadFile]]:
        """Return the histories on this machine, and the indexed files of which some lines or all were not understood."""
        from pastchats_memory.ingest.overview import list_unread, overview

        return overview(self._database, find_histories(), build_file_filter(self.config)), list_unread(self._database)

    def list_unjudged(
        self, project: str | None = ".", outcome: str | None = None, limit: int = 10, *, judged: bool = False
    ) -> tuple[Unjudged, tuple[str, ...]]:
        """List the newest episodes with unknown outcome for somebody who labels them by `judge`, and warnings.

        The project None means all. With `outcome` or `judged`, other episodes are listed instead.
        """
        from pastchats_memory.episodes.judge import list_episodes

        filters = requests.build_filters(
            project=project, outcome=outcome or (",".join(OUTCOMES) if judged else "unknown")
        )
        late = self._catch_up_outcomes(filters)
        with self._open_snapshot() as database:
            found = list_episodes(database, filters, limit, judged=judged)
            absent = () if found.sheets else explain_empty(database, filters._replace(outcomes=()))
        return found, (*absent, *late)

    def load_episode(self, id_: str) -> Sheet | None:
        """Return the episode of a turn as `list_unjudged` does; None for no such item."""
        from pastchats_memory.episodes.judge import load_sheet

        item = self._find_item(id_)
        if item is None:
            return None
        with self._database.snapshot():
            return load_sheet(self._database, item)

    # Tasks and the team

    @property
    def tasks(self) -> TaskMemory:
        """Return task memory: add, update, comment, capture, find, export."""
        from pastchats_memory.tasks import TaskMemory

        viewpoint = requests.current_viewpoint()
        return TaskMemory(self._hide_private(viewpoint.project), self._open_session(), viewpoint)

    def find_task_clusters(self, min_score: float, project: str | None = None) -> list[DuplicateCluster]:
        """Return clusters of similar tasks, in one project or in all."""
        return self.tasks.scan_duplicates(min_score, resolve_project(project))

    def list_tasks(
        self,
        *,
        project: str | None = None,
        status: str | None = None,
        priority: str | None = None,
        type: str | None = None,  # noqa: A002 - the field's name in every output
        epic: str | None = None,
        has_epic: bool = True,
        blocked: bool = False,
        depends_on: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = 50,
        unfinished: bool = False,
    ) -> list[StoredTask]:
        """Return tasks, the most urgent first, then the latest.

        With `unfinished`, finished tasks are left out unless `status` names one. Raises InputMissing for no such epic or task.
        """
        filters = requests.task_filters(
            type=type, project=project, status=status, priority=priority, since=since, until=until
        )
        if unfinished and not filters.statuses:
            filters = filters._replace(statuses=(*OPEN, "unknown"))
        return self.tasks.list_tasks(
            filters, limit, epic=epic, has_epic=has_epic, depends_on=depends_on, blocked=blocked
        )

    def load_board(
        self,
        *,
        project: str | None = None,
        type: str | None = None,  # noqa: A002 - the field's name in every output
        status: str | None = None,
        limit: int,
    ) -> list[BoardColumn]:
        """Return the tasks of each status, of one type and status or of all, with at most `limit` in a column."""
        filters = requests.build_filters(project=project)._replace(
            kinds=(type,) if type else TASK_TYPES, statuses=(status,) if status else ()
        )
        return self.tasks.load_board(filters, limit)

    def search_tasks(
        self,
        query: str,
        *,
        status: str | None = None,
        priority: str | None = None,
        project: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = 10,
    ) -> Hits:
        """Return the tasks that a query fits by their text, comments and attachments, best first."""
        filters = requests.task_filters(
            parts=True, status=status, priority=priority, project=project, since=since, until=until
        )
        return self.tasks.recall(query, filters, limit)

    def check_prior_work(self, query: str) -> PriorWork:
        """Return whether something is done, in progress, failed, superseded, asked before or new, with the best matches."""
        return self.tasks.check_prior_work(utf8(query))

    def consult_episodic_memory(self, query: str, limit: int = 5) -> tuple[list[ResolvedTask], tuple[str, ...]]:
        """Return completed and archived tasks about a problem, each with its resolution, and warnings."""
        return self.tasks.consult_episodic_memory(utf8(query), limit)

    def ask(self, question: str, today: date | None = None) -> TaskAnswer:
        """Return the tasks or conversations that answer a plain question, and how it was read."""
        return self.tasks.ask(utf8(question), today)

    @property
    def team(self) -> TeamMemory:
        """Return the team's memory: share, push, pull, withdraw, search, status.

        Raises TeamUnavailable if no team is configured.
        """
        from pastchats_memory.team import TeamMemory
        from pastchats_memory.team.connect import name_author
        from pastchats_memory.team.copy import CopyLimits
        from pastchats_memory.team.report import TeamAccess

        limits = self._find_limits()
        config = self.config
        endpoint = self._require_endpoint()
        access = TeamAccess(endpoint, config.team_token, name_author(endpoint, config.team_author))
        copied = CopyLimits(config.team_projects, config.team_days)
        return TeamMemory(self._database, self._open_session(), access, limits, copied, is_merged=config.team)

    # Steps of a search

    def _cross_encoder(self, *, may_fetch: bool = False) -> CrossEncoder:
        """Return the cross-encoder of the configured cache, loaded once. Raises ModelUnavailable."""
        from pastchats_memory.embed.reranker import cross_encoder

        if self._cross is None or may_fetch:
            self._cross = cross_encoder(requests.model_settings(self.config), may_fetch=may_fetch)
        return self._cross

    def _default(self, key: str, number: float | None) -> float | None:
        configured: float | None = getattr(self.config, key)
        return configured if number is None else number
