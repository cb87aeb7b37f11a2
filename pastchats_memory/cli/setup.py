"""`setup`: from nothing to the first recall in one command."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.index import index_with_progress
from pastchats_memory.cli.judge import describe_labels
from pastchats_memory.cli.output import emit_json, hanging, is_terminal, notify, warn
from pastchats_memory.config import Config, from_home, load, state_folder
from pastchats_memory.episodes.judges import AGENTS
from pastchats_memory.errors import MemoryFault
from pastchats_memory.formats.registry import History
from pastchats_memory.hooks import background, spool
from pastchats_memory.hooks.install import SKILL, advice
from pastchats_memory.hooks.parts import AgentPart, list_parts, list_removals
from pastchats_memory.hooks.prompt import query_for
from pastchats_memory.hooks.state import encode_path
from pastchats_memory.memory import Memory
from pastchats_memory.memory.indexing import find_readable_histories, list_sources, survey_histories
from pastchats_memory.model.episodes import RecallBlock, RecallEntry
from pastchats_memory.text.display import counted, escape_path, one_line, sanitise
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.topics import measure_topic
from pastchats_memory.views.answers.settings import SetupBody, SetupStep
from pastchats_memory.views.to_json import to_json

if TYPE_CHECKING:
    from pastchats_memory.ingest.forecast import Forecast

FOREGROUND_S = 12.0
"""Seconds of indexing that the user waits for; the rest follows in the background."""
SHORT_S = 60
"""Seconds below which an estimate is given in seconds."""
LABELS = 20
"""Episodes that an agent is offered to label."""
PROJECTS, PROMPTS = 5, 8
"""Newest projects, and titles or prompts of each, that are tried for the first recall."""
ENTRIES = 2
"""Entries of the first recall: it fits one screen."""
NAMES = {"hooks": "hooks", "skills": "skills", "server": "MCP server"}
"""The name of each kind of part."""

_PREPOSITIONS = {"Add": "to", "Remove": "from"}


class _Answers(click.Choice[str]):
    """The words `yes`, `no` and `choose`, of which the first letter is enough."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert({word[0]: word for word in self.choices}.get(value.lower(), value.lower()), param, ctx)


_ANSWERS = _Answers(["yes", "no", "choose"])


@make_command("setup")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
@click.option("--undo", is_flag=True, help="Remove what setup added to your agents; the memory stays.")
@options.yes_or_no
@options.database
@options.as_json
def command(dry_run: bool, undo: bool, yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Index your histories, connect your agents and recall from your newest project. Run it again to repair.

    The newest conversations come first, and the rest follows in the background. Hooks, skills and the MCP server are added
    to each agent on this machine after a question. Without a terminal and without --yes nothing is changed, exit code 1.
    """
    is_asking = is_terminal(sys.stdin) and not as_json
    answer = False if no or dry_run else True if yes else None if is_asking else False
    run = _Setup(db, answer, is_dry=dry_run, is_quiet=as_json)
    code = run.undo() if undo else run.set_up()
    if as_json:
        emit_json(to_json(SetupBody(run.block, run.steps)))
    return code


class _Setup:
    """One run: asks, works, and reports a line for each step."""

    def __init__(self, db: str | None, answer: bool | None, *, is_dry: bool, is_quiet: bool) -> None:
        """Take the answer to every question; None asks."""
        self._db = db
        self._answer = answer
        self._is_dry = is_dry
        self._open_state = "declined" if answer is None else "planned"
        self._is_quiet = is_quiet
        self._refused: dict[str, list[str]] = {}
        """Agents that a refusal concerns, by its reason, until it is shown."""
        self.steps: list[SetupStep] = []
        self.block: str | None = None

    def set_up(self) -> int:
        """Do everything that is agreed to, and return the exit code. Raises MemoryFault."""
        config = load(self._db)
        warn(config.warnings)
        histories = find_readable_histories(config)
        options.be_nice()  # before the survey, which measures the pace of the run
        survey = self._report_histories(config, histories)
        is_indexing = bool(survey.files) and self._agree(f"Index them into {from_home(str(config.database))}?")
        parts = self._note_refusals(list_parts(self._db, state_folder()))
        chosen = self._choose([part for part in parts if part.changes], "Add")
        if not histories and not parts:
            self._say("No history and no agent was found. Name a folder: pastchats-memory index PATH")
            return NOTHING
        for part in parts:
            self._install(part, is_chosen=part in chosen)
        if histories:
            self._index(config, histories, survey, is_indexing=is_indexing)
        return self._end(
            is_changed=is_indexing or bool(chosen), is_open=bool(survey.files) or any(part.changes for part in parts)
        )

    def _end(self, *, is_changed: bool, is_open: bool) -> int:
        if is_changed or not is_open or self._is_dry:
            return DONE
        self._say("Nothing was changed; --yes does all of it.")
        return NOTHING

    def undo(self) -> int:
        """Remove what was added to agents, and the waiting request for the rest. Return the exit code. Raises MemoryFault."""
        state = state_folder()
        parts = self._note_refusals(list_removals(state))
        done = 0
        chosen = self._choose([part for part in parts if part.fault is None], "Remove")
        for part in parts:
            if part in chosen:
                part.apply(state, is_install=False)
                done += 1
                self._add(part.kind, part.agent, _path_of(part), "removed", _describe(part))
            else:
                self._add_unchanged(part)
        if not self._is_dry:
            spool.withdraw(state, spool.EVERY_AGENT)
        self._say("The memory stays: `pastchats-memory purge` deletes it.")
        return self._end(is_changed=done > 0, is_open=bool(parts))

    def _report_histories(self, config: Config, histories: Sequence[History]) -> Forecast:
        for one in list_sources(config, histories)[: len(histories)]:
            self._add(
                "history", one.program, one.path, "found", f"{counted(one.files, 'file')}, {one.bytes / 1e6:,.1f} MB"
            )
        survey = survey_histories(config, histories)
        if survey.files:
            later = "; the newest come first, the rest follows in the background" if _is_long(survey) else ""
            self._say(f"About {counted(survey.turns, 'turn')} and tasks to index: {_duration(survey.seconds)}{later}.")
        return survey

    def _install(self, part: AgentPart, *, is_chosen: bool) -> None:
        if not is_chosen:
            self._add_unchanged(part)
            return
        try:
            part.apply(state_folder(), is_install=True)
        except MemoryFault as fault:  # the other parts need not wait for this one
            self._add(part.kind, part.agent, _path_of(part), "refused", _reason_of(fault))
            return
        self._add(part.kind, part.agent, _path_of(part), "done", _describe(part))
        for sentence in advice(part.agent) if part.kind == "hooks" else ():
            self._say(f"  {sentence}")

    def _index(self, config: Config, histories: Sequence[History], survey: Forecast, *, is_indexing: bool) -> None:
        paths = [str(one.path) for one in histories]
        if not is_indexing:
            self._add("index", "", None, self._open_state if survey.files else "present", "index of the histories")
        if not is_indexing and not config.database.exists():
            return
        state = state_folder()
        most = round(survey.bytes * FOREGROUND_S / survey.seconds) if _is_long(survey) else None
        if is_indexing and most is not None:  # on disk before anything else: a kill now costs nothing
            spool.add(state, spool.IndexRequest(spool.EVERY_AGENT, encode_path(str(config.database))))
        with options.open_memory(self._db, create=is_indexing) as memory:
            if is_indexing:
                options.interrupt_in_order()
                report = index_with_progress(memory, paths, None, {"newest_bytes": most, "forecast": None})
                later = f"; {report.left_for_later:,} more follow in the background" if report.left_for_later else ""
                detail = f"index: {counted(report.added, 'turn')} of {counted(len(report.files_read), 'file')}{later}"
                self._add("index", "", utf8(str(config.database)), "done", detail)
            if not self._is_dry:
                self._offer_labels(memory)
                self._recall(memory)
        if is_indexing and most is not None:
            background.start(state)

    def _offer_labels(self, memory: Memory) -> None:
        """Ask whether an agent of this machine may label episodes. It costs tokens, so --yes does not agree to it."""
        command = next((one for one in AGENTS if shutil.which(one[0])), None)
        if command is None or memory.config.judge_command or memory.config.judge_endpoint:
            return
        plan = memory.plan_judging(None, LABELS, command=command)
        if not plan.sheets:
            return
        line = " ".join(filter(None, command))
        cost = f"{counted(len(plan.sheets), 'call')} to `{line}`, about {plan.tokens:,} tokens with the answers"
        question = f"Let {command[0]} read the newest episodes whose outcome is unknown, and label them? {cost}."
        if self._answer is None and click.confirm(hanging(question, err=True), default=False, err=True):
            self._add("labels", command[0], None, "done", describe_labels(memory.judge_automatically(plan)))
            return
        self._add("labels", command[0], None, self._open_state, f"labels of unknown outcomes: {cost}")
        self._say(f'  Later: set judge_command = "{line}" and run `pastchats-memory judge --auto --all`.')

    def _recall(self, memory: Memory) -> None:
        """Recall the best thread of the newest project that has one with a known end."""
        found = _find_first_recall(memory)
        if found is None:
            self._say("There is nothing to recall yet. Ask later: pastchats-memory recall 'your next task'")
            return
        project, block = found
        self.block = block.text
        self._add("recall", "", None, "done", f"recall for your newest project, {project}")
        if not self._is_quiet:
            click.echo(f"\n{hanging(block.text)}", nl=False)
            self._say("\nYour turn: pastchats-memory recall 'your next task'")

    def _choose(self, parts: Sequence[AgentPart], verb: str) -> Sequence[AgentPart]:
        """Return the parts to add or to remove: one question for all agents, and one for each part after `choose`."""
        agents = list(dict.fromkeys(part.agent for part in parts))
        if self._answer is None and len(agents) > 1:
            for agent in agents:
                kinds = ", ".join(NAMES[part.kind] for part in parts if part.agent == agent)
                self._say(f"  {agent}: {kinds}")
            question = f"{verb} these {_PREPOSITIONS[verb]} all {len(agents)} agents, or choose one by one?"
            answer = click.prompt(hanging(question, err=True), default="yes", type=_ANSWERS, err=True)
            if answer != "choose":
                return parts if answer == "yes" else ()
        return [part for part in parts if self._agree(_question(part, verb))]

    def _agree(self, question: str) -> bool:
        if self._answer is not None:
            return self._answer
        return click.confirm(hanging(sanitise(question), err=True), default=True, err=True)

    def _add_unchanged(self, part: AgentPart) -> None:
        """Report a part that this run leaves as it is; a refusal of several parts once."""
        if part.fault is not None:
            reason = _reason_of(part.fault)
            named = self._refused.pop(reason, [])
            self._add(part.kind, part.agent, None, "refused", reason, is_shown=False)
            if named:
                self._show("refused", ", ".join(dict.fromkeys(named)), None, reason)
        elif part.changes:
            self._add(part.kind, part.agent, _path_of(part), self._open_state, _describe(part))
        else:
            self._add(part.kind, part.agent, None, "present", f"{NAMES[part.kind]} in place")

    def _note_refusals(self, parts: list[AgentPart]) -> list[AgentPart]:
        for part in parts:
            if part.fault is not None:
                self._refused.setdefault(_reason_of(part.fault), []).append(part.agent)
        return parts

    def _add(self, step: str, agent: str, path: str | None, state: str, detail: str, *, is_shown: bool = True) -> None:
        self.steps.append(SetupStep(step, agent, path, state, one_line(utf8(detail))))
        if is_shown:
            self._show(state, agent, path, detail)

    def _show(self, state: str, agent: str, path: str | None, detail: str) -> None:
        if not self._is_quiet:
            place = f"  {escape_path(from_home(path))}" if path else ""
            click.echo(hanging(f"{state:9}{f'{agent}: ' if agent else ''}{one_line(detail)}{place}", under=9))

    def _say(self, sentence: str) -> None:
        if not self._is_quiet:
            notify(sanitise(sentence))


def _question(part: AgentPart, verb: str) -> str:
    return f"{verb} {_describe(part)} {_PREPOSITIONS[verb]} {part.agent} ({from_home(_path_of(part) or '')})?"


def _reason_of(fault: MemoryFault) -> str:
    return f"{fault.message}. {fault.hint}"


def _path_of(part: AgentPart) -> str | None:
    """Return the file that a part changes, or the folder of several."""
    paths = [str(change.path) for change in part.changes]
    return utf8(paths[0] if len(paths) == 1 else os.path.commonpath(paths)) if paths else None


def _describe(part: AgentPart) -> str:
    skills = ", ".join(change.path.parent.name for change in part.changes if change.path.name == SKILL)
    others = [change.what for change in part.changes if change.path.name != SKILL]
    return ", ".join([*others, f"skills {skills}"] if skills else others)


def _is_long(survey: Forecast) -> bool:
    return survey.seconds > FOREGROUND_S


def _duration(seconds: float) -> str:
    if seconds < SHORT_S:
        return f"about {counted(max(1, round(seconds)), 'second')}"
    return f"about {counted(max(1, round(seconds / 60)), 'minute')}"


def _find_first_recall(memory: Memory) -> tuple[str, RecallBlock] | None:
    """Return the newest project that has something to show, with the block of its best thread; None if there is none.

    The best thread ended well after attempts that failed. Without a known end, the newest prompt that has a block serves.
    """
    projects = [one.project for one in memory.list_projects()][:PROJECTS]
    for project in projects:
        blocks = [_recall_in(memory, project, title, 1) for title in memory.list_solved(project)[:PROMPTS]]
        ended = [block for block in blocks if block.entries and _has_known_end(block.entries[0])]
        if ended:
            return project, max(ended, key=_rate)
    prompts = [(one.source_project, query) for one in memory.list_recent() if (query := query_for(one.content))]
    blocks_of = ((project, _recall_in(memory, project, query, ENTRIES)) for project, query in prompts[:PROMPTS])
    return next(((project, block) for project, block in blocks_of if block.entries), None)


def _recall_in(memory: Memory, project: str, query: str, entries: int) -> RecallBlock:
    return memory.recall(query, limit=entries, current_project=project)


def _has_known_end(entry: RecallEntry) -> bool:
    """Check whether the last attempt of a thread with a known outcome worked; a request for more may follow it."""
    verdicts = [*(attempt.outcome for attempt in entry.before), entry.outcome.verdict]
    return entry.is_current and next((one for one in reversed(verdicts) if one != "unknown"), "") == "worked"


def _rate(block: RecallBlock) -> tuple[int, float, int]:
    """Rate what a first recall shows: attempts before the end, what the question names, and what was done."""
    first = block.entries[0]
    return len(first.before), measure_topic(block.query), len(first.done)
