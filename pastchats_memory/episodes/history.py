"""List what was worked on in a span of time: conversations by day, and a digest of their episodes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, NamedTuple

from pastchats_memory.episodes.lessons import group_by_problem
from pastchats_memory.episodes.problems import extract_subject
from pastchats_memory.episodes.statements import is_decision, leaves_work_open
from pastchats_memory.episodes.successors import find_successors
from pastchats_memory.episodes.threads import cite_attempts, load_attempt
from pastchats_memory.episodes.titles import find_title, name_conversation, name_episode
from pastchats_memory.fields import HIDDEN, OUTCOMES, As, Count, Shown, Time, View, Warnings, answer, shown_as
from pastchats_memory.model import Filters, StoredTask
from pastchats_memory.model.episodes import FAILURES, Attempt
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ended
from pastchats_memory.store.token_use import Prices, TokenUse, tally
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.topics import is_small_talk

SPAN_DAYS = 7
"""Days of a span that nobody names."""
MAX_EPISODES = 5000
"""The newest episodes of a span that are read."""
RECENT_EPISODES = 150
"""The newest episodes, among which open ones are sought."""
OPEN_OUTCOMES = (*FAILURES, "stopped")
TRUNCATED = "only the newest {:,} prompts are considered; name a shorter time or a project"
SECTIONS = ("worked_on", "worked", "open", "decided")
"""Parts of a digest, in order."""


class OutcomeCounts(View):
    """Number of episodes by outcome."""

    worked: Count
    failed: Count
    mixed: Count
    stopped: Count
    unknown: Count


@shown_as("DayView")
class ConversationDay(NamedTuple):
    """A conversation on one day."""

    day: Annotated[str, {"format": "date"}, "The local day."]
    project: str
    conversation_id: str
    since: Annotated[str, As(Time)]
    """Time of its first prompt on that day."""
    until: Annotated[str, As(Time), "Time of its last prompt on that day."]
    title: str
    """Title of the conversation."""
    outcomes: Annotated[Mapping[str, int], As(OutcomeCounts)]
    first: Annotated[Attempt, "Its first prompt on that day, with its own outcome."]


@answer("timeline/1", title="Output of `timeline --json`.")
class Timeline(NamedTuple):
    """The conversations of a span."""

    since: Time
    until: Time
    days: Annotated[tuple[ConversationDay, ...], "By day, project and time.", Shown("results", after="more")]
    more: Annotated[Count, "Further conversations, which are older."]
    is_cut: Annotated[bool, HIDDEN]
    """Whether older episodes were not read."""
    warnings: Warnings


class DigestLine(NamedTuple):
    """An episode or a task of a digest."""

    section: str
    """One of SECTIONS."""
    project: str
    title: str
    """Title of the conversation that was worked on, of the episode, or of the task."""
    attempt: Attempt
    status: str = ""
    """Status of a task; empty for an episode."""
    replaced_by: str = ""
    """Id of the later request that replaced what was decided."""


class Digest(NamedTuple):
    """What was worked on in a span, what worked, what is open, and what was decided."""

    since: str | None
    until: str | None
    lines: tuple[DigestLine, ...]
    """By section, project and time."""
    more: Mapping[str, int]
    """Number of further lines, by section."""
    outcomes: Mapping[str, int]
    """Number of episodes by outcome."""
    tokens: tuple[TokenUse, ...]
    warnings: tuple[str, ...]


def move_to_newest(database: Database, filters: Filters) -> Filters:
    """Return a span of the same length that ends with the newest prompt, if nothing was asked in the span."""
    newest = outcomes.find_newest(database, filters)
    if newest is None or filters.since is None or newest >= filters.since:
        return filters
    since = datetime.fromisoformat(newest) - timedelta(days=SPAN_DAYS)
    return filters._replace(since=since.isoformat(timespec="milliseconds").replace("+00:00", "Z"), until=newest)


def list_days(database: Database, filters: Filters, limit: int, most_episodes: int = MAX_EPISODES) -> Timeline:
    """Return the newest conversations of a span by day, without rows that have no time."""
    episodes, warnings = _load(database, filters, most_episodes)
    days = _group_by_day(episodes)
    shown = days[-limit:]
    firsts = _cite(database, [group[0] for group in shown])
    found = [_summarise(database, group, firsts[group[0].question_id]) for group in shown]
    found.sort(key=lambda one: (one.day, one.project, one.since))
    return Timeline(filters.since, filters.until, tuple(found), len(days) - len(shown), bool(warnings), warnings)


def make_digest(
    database: Database, filters: Filters, tasks: Sequence[StoredTask], limit: int, prices: Prices
) -> Digest:
    """Return the digest of a span, with its open tasks and the newest lines of each section up to the limit.

    A failure is open unless a later attempt at the same problem worked. A decision is a short request that settles something
    it names.
    """
    episodes, warnings = _load(database, filters)
    days = _group_by_day(episodes)
    considered = episodes if filters.until is None else _load(database, filters._replace(until=None))[0]
    sections: dict[str, list[Ended]] = {
        "worked_on": [group[0] for group in days],
        "worked": [one for one in episodes if one.ending.outcome == "worked"],
        "open": _find_open(database, episodes, considered),
        "decided": [one for one in episodes if is_decision(one.text)],
    }
    shown = {name: found[-limit:] for name, found in sections.items()}
    cited = _cite(database, {one.question_id: one for found in shown.values() for one in found}.values())
    successors = find_successors(database, [*shown["worked_on"], *shown["worked"], *shown["decided"]], considered)
    lines = [
        DigestLine(
            name,
            one.conversation[0],
            _name(database, one, of_episode=name != "worked_on"),
            cited[one.question_id],
            replaced_by=successors.get(one.question_id, ""),
        )
        for name, found in shown.items()
        for one in found
    ]
    for task in tasks:
        place = (task.timestamp, task.source_path, task.source_line)
        attempt = Attempt(f"t:{task.key}", task.title, "", "unknown", "", *place)
        lines.append(DigestLine("open", task.project, task.title, attempt, task.status))
    lines.sort(key=lambda line: (SECTIONS.index(line.section), line.project, line.attempt.timestamp or ""))
    more = {name: len(found) - len(shown[name]) for name, found in sections.items()}
    tokens = tally(database, filters, prices)
    return Digest(filters.since, filters.until, tuple(lines), more, _count(episodes), tokens, warnings)


class RecentSession(NamedTuple):
    """A conversation in which a person wrote."""

    last: Ended
    """Its last episode."""
    day: str
    """The local day of that."""
    title: str
    format: str
    turns: int


class Recent(NamedTuple):
    """What a person did last."""

    sessions: tuple[RecentSession, ...]
    """The newest first."""
    open: tuple[tuple[Ended, str], ...]
    """The last of each conversation that failed, was stopped or was left unanswered, with its title, the newest first."""
    more_open: int
    running: tuple[str, ...]
    """How far an index run is."""


def load_recent(database: Database, limit: int, running: tuple[str, ...], project: str | None) -> Recent:
    """Return the newest sessions of a project or of all, and what is open among the newest episodes, each up to a limit."""
    episodes, _ = _load(database, Filters(project=project), RECENT_EPISODES)
    newest = {one.conversation: one for one in episodes}
    latest = sorted(newest.values(), key=lambda one: one.timestamp or "", reverse=True)[:limit]
    items = {item.id: item for item in turns.items(database, [one.question_id for one in latest])}
    sessions = tuple(
        RecentSession(
            one,
            _local_day(one.timestamp),
            name_conversation(database, *one.conversation),
            str(items[one.question_id].metadata.get("format") or ""),
            turns.count_turns(database, one.conversation[1]),
        )
        for one in latest
    )
    last_open = {one.conversation: one for one in _find_open(database, episodes, episodes)}.values()
    found = sorted(last_open, key=lambda one: one.timestamp or "", reverse=True)
    shown = tuple((one, _name(database, one, of_episode=True)) for one in found[: limit // 2])
    return Recent(sessions, shown, len(found) - len(shown), running)


def _load(database: Database, filters: Filters, most: int = MAX_EPISODES) -> tuple[list[Ended], tuple[str, ...]]:
    found = outcomes.within(database, filters, most)
    return list(filter(_is_request, found)), (TRUNCATED.format(most),) if len(found) == most else ()


def _is_request(one: Ended) -> bool:
    """Return whether an episode asks for anything, unlike small talk and bare commands of a client."""
    return not is_small_talk(one.text) and (one.text[:1] not in ("/", "!") or bool(find_title([one.text])))


def _group_by_day(episodes: Iterable[Ended]) -> list[list[Ended]]:
    """Return the episodes of each conversation and local day, in the order in which they began."""
    return list(group_by_key(((_local_day(one.timestamp), one.conversation), one) for one in episodes).values())


def _local_day(timestamp: str | None) -> str:
    moment = datetime.fromisoformat(timestamp or "")
    try:
        return moment.astimezone().date().isoformat()
    except (ValueError, OverflowError):  # the zone would push it out of the calendar
        return moment.astimezone(UTC).date().isoformat()


def _name(database: Database, one: Ended, *, of_episode: bool) -> str:
    return (
        name_episode(database, one.text, *one.conversation)
        if of_episode
        else name_conversation(database, *one.conversation)
    )


def _summarise(database: Database, group: Sequence[Ended], first: Attempt) -> ConversationDay:
    project, conversation_id = group[0].conversation
    return ConversationDay(
        _local_day(group[0].timestamp),
        project,
        conversation_id,
        group[0].timestamp or "",
        group[-1].timestamp or "",
        name_conversation(database, project, conversation_id),
        _count(group),
        first,
    )


def _count(episodes: Iterable[Ended]) -> Mapping[str, int]:
    counts = Counter(one.ending.outcome for one in episodes)
    return {verdict: counts[verdict] for verdict in OUTCOMES}


def _find_open(database: Database, episodes: Sequence[Ended], considered: Sequence[Ended]) -> list[Ended]:
    """Return what failed or stopped and nothing later (`considered`) resolved, and last prompts left open, in order."""
    by_conversation = group_by_key((one.conversation, one) for one in considered)
    in_problem = {
        last.question_id for group in group_by_problem(database, considered) if (last := _find_last_failure(group))
    }
    unresolved = {
        one.question_id
        for group in by_conversation.values()
        for place, one in enumerate(group)
        if one.question_id in in_problem and not any(_follows_up(one, later) for later in group[place + 1 :])
    }
    for one in (group[-1] for group in by_conversation.values() if group[-1].ending.outcome == "unknown"):
        closing = turns.last_answer(database, one.conversation[1], None)
        if closing is not None and leaves_work_open(closing.content):
            unresolved.add(one.question_id)
    return [one for one in episodes if one.question_id in unresolved]


def _find_last_failure(group: Sequence[Ended]) -> Ended | None:
    """Return the last failure or stopped work of a group, unless a later attempt worked."""
    last = next((one for one in reversed(group) if one.ending.outcome in ("worked", *OPEN_OUTCOMES)), None)
    return None if last is None or last.ending.outcome == "worked" else last


def _follows_up(one: Ended, later: Ended) -> bool:
    """Return whether a later episode of a conversation resolves an open one, or reports its problem again."""
    is_next = later.ending.first_index == one.ending.last_index + 1
    is_decided = later.ending.outcome in ("worked", *OPEN_OUTCOMES)
    return is_decided and (is_next or not extract_subject(one.text).isdisjoint(extract_subject(later.text)))


def _cite(database: Database, episodes: Iterable[Ended]) -> dict[int, Attempt]:
    """Return the short form of each episode with its citation, by the id of the turn that asks."""
    endings = {one.question_id: one.ending for one in episodes}
    items = turns.items(database, list(endings))
    cited = cite_attempts(database, [load_attempt(database, item, endings[item.id]) for item in items])
    return {int(id_): attempt for id_, attempt in cited.items()}
