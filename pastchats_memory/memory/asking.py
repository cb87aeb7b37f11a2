"""What is asked of a memory: search, recall, context, items, tasks and verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pastchats_memory.arguments import OUTCOMES, filters_of, source_named
from pastchats_memory.embed.wordpiece import wordpieces
from pastchats_memory.episodes.cite import cite_hits, cite_items
from pastchats_memory.memory.opened import Opened
from pastchats_memory.model import Context, Filters, Hit, Hits, Item, utf8
from pastchats_memory.privacy import hidden_projects, standing_here
from pastchats_memory.recollection import Block, Command, Lesson, Outcome, Sheet, Unjudged
from pastchats_memory.search import Request, Scoring, search, search_terms, with_snippet

if TYPE_CHECKING:
    from datetime import date

    from pastchats_memory.episodes.cite import Progress as VerifyProgress
    from pastchats_memory.episodes.cite import Verified
    from pastchats_memory.tasks.ask import Answer
    from pastchats_memory.tasks.board import TaskBoard
    from pastchats_memory.tasks.prior_work import PriorWork, Resolved

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

    def _scoring(self, *, asked: bool) -> Scoring | None:
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
    ) -> Block:
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
        from pastchats_memory.recall import LEAST_RELEVANCE, RecallRequest, recall

        filters = filters_of(project=project, since=since, outcome=outcome)
        request = RecallRequest(
            self._without_private(Request(utf8(query), limit=limit, filters=filters), current_project),
            self.budget if budget is None else budget,
            current_project,
            not_conversation=not_conversation,
            given=given,
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
        from pastchats_memory.context import ContextRequest, assemble
        from pastchats_memory.recall import worth_saying

        request = ContextRequest(budget, limit, width)
        filters = filters_of(project=project, since=since, until=until, type_=type, status=status)
        wanted = Request(utf8(question), limit=limit, filters=filters, min_similarity=min_similarity)
        with self._database.snapshot():
            hits, terms = search_terms(self._database, self._model(), self._without_private(wanted))
            worth = [with_snippet(hit, terms) for hit in cite_hits(self._database, worth_saying(hits, terms))]
        assembled = assemble(worth, terms.weights, request, _count_tokens)
        return assembled._replace(warnings=hits.warnings)

    def show(self, id_: str, neighbours: int = 2) -> list[Item]:
        """The item with so many turns on each side of its conversation, in order; empty where there is no such item.

        Raises:
            UsageFault: it is no id.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.store import prompts

        if (item := self._item(id_)) is None:
            return []
        hidden = hidden_projects(self._database, None)
        around = prompts.conversation_around(self._database, item, neighbours)
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
        from pastchats_memory.search.absent import nothing_passes

        hidden = hidden_projects(self._database, None)
        wanted = outcome or (",".join(OUTCOMES) if judged else "unknown")
        filters = filters_of(project=project, outcome=wanted)._replace(hidden=hidden)
        behind = self._outcomes_behind(filters)
        with self._database.snapshot():
            found = list_episodes(self._database, filters, limit, judged=judged)
            absent = () if found.sheets else nothing_passes(self._database, filters._replace(outcomes=()))
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
        from pastchats_memory.store import outcomes, prompts

        with self._database.snapshot():
            items = prompts.items(self._database, [int(hit.id) for hit in hits if hit.type == "prompt"])
            endings = ((item.id, outcomes.of_turn(self._database, item)) for item in items)
            return {str(id_): ending.said for id_, ending in endings if ending is not None}

    def lessons(self, project: str | None = ".", limit: int = 10) -> tuple[list[Lesson], tuple[str, ...]]:
        """What failed repeatedly in a project (`.` is that of the working directory, None all) and what ended it; and warnings.

        Raises:
            UsageFault: there is no working directory.
            StoreFault: the database cannot be read.
        """
        from pastchats_memory.episodes.lessons import find_lessons
        from pastchats_memory.search.absent import nothing_passes

        filters = filters_of(project=project, outcome="failed,mixed,worked")
        behind = self._outcomes_behind(filters)
        hidden = hidden_projects(self._database, None)
        with self._database.snapshot():
            found = find_lessons(self._database, filters.project, hidden, limit)
            absent = () if found else nothing_passes(self._database, filters._replace(outcomes=(), hidden=hidden))
        return found, (*absent, *behind)

    def how(self, task: str, project: str | None = ".", limit: int = 5) -> tuple[list[Command], tuple[str, ...]]:
        """The commands that worked before for a task, those of an episode in their order, the best fitting episode first; and warnings. Raises UsageFault, StoreFault."""
        from pastchats_memory.episodes.working_commands import working_commands
        from pastchats_memory.recall import worth_saying

        filters = filters_of(project=project, outcome="worked")
        behind = self._outcomes_behind(filters)
        wanted = self._without_private(Request(utf8(task), limit=EPISODES_ASKED, filters=filters))
        with self._database.snapshot():
            hits, terms = search_terms(self._database, self._model(), wanted)
            found = working_commands(self._database, wanted, hits, worth_saying(hits, terms), terms, limit)
        return found, (*hits.warnings, *behind)

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


def _count_tokens(text: str) -> int:
    from pastchats_memory.budget import count_tokens

    return count_tokens(text, wordpieces)
