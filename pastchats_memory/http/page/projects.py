"""Show projects: their outcomes over time, what was worked on when, and what failed repeatedly."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import groupby, pairwise

from pastchats_memory.episodes.history import ConversationDay
from pastchats_memory.http.page.answers import PageRequest, Redirect, WebPage, make_url, require
from pastchats_memory.http.page.plot import plot_outcomes
from pastchats_memory.memory import Memory

LISTED = 40
"""Conversations of a timeline on one page."""
EPISODES = 1500
"""Episodes that are read for them, at most."""
LESSONS = 25
"""Lessons on the page."""
SPANS = (("today", "Today"), ("7d", "7 days"), ("30d", "30 days"), ("365d", "A year"), ("", "Everything"))
EVERYTHING = "1970-01-01"
"""Beginning of a timeline without a span."""


def show_projects(memory: Memory, _: PageRequest) -> WebPage:
    """Show all projects, the latest first, each with its outcomes."""
    tallies = memory.tally_outcomes()
    by_project: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in tallies:
        by_project[one.project][one.verdict] += one.episodes
    cards = [{"stored": one, "totals": by_project[one.project]} for one in memory.list_projects()]
    return WebPage("projects", {"cards": cards, "plot": plot_outcomes(tallies), "tokens": memory.tally_tokens()})


def show_project(memory: Memory, request: PageRequest) -> WebPage | Redirect:
    """Show a project: its outcomes over time, and its conversations by day.

    A project that has only tasks is shown as their board. Raises RequestError, UsageFault.
    """
    name = request.query.get("name", "")
    stored = next((one for one in memory.list_projects() if one.project == name), None)
    if stored is None and name in memory.tasks.list_projects():
        return Redirect(make_url("/page/tasks", project=name))
    stored = require(stored, "project", "It may have been forgotten, or be private.")
    plot = plot_outcomes(memory.tally_outcomes(name))
    days = _find_days(memory, request, "/page/project", name)
    recent, tokens = memory.load_recent(12, name), memory.tally_tokens(name)
    return WebPage("project", {"stored": stored, "plot": plot, "tokens": tokens, "recent": recent, **days})


def show_timeline(memory: Memory, request: PageRequest) -> WebPage:
    """Show the conversations of all projects by day. Raises UsageFault."""
    return WebPage("timeline", _find_days(memory, request, "/page/timeline", None))


def _find_days(memory: Memory, request: PageRequest, path: str, project: str | None) -> dict[str, object]:
    """Return the newest days of a timeline, with links to older ones and to other spans."""
    when, since, until = (request.query.get(name, "") for name in ("when", "since", "until"))
    span = {"when": when} if when and not until else {"since": since or EVERYTHING, "until": until or None}
    timeline = memory.timeline(**span, project=project, limit=LISTED, most_episodes=EPISODES)
    newest_first = sorted(timeline.days, key=lambda one: (one.day, one.since), reverse=True)
    days = [(day, list(group)) for day, group in groupby(newest_first, key=lambda one: one.day)]
    gaps = [
        (date.fromisoformat(later) - date.fromisoformat(earlier)).days // 7
        for (later, _), (earlier, _) in pairwise(days)
    ]
    return {
        "days": [(day, group, gap) for (day, group), gap in zip(days, [*gaps, 0], strict=False)],
        "older": _link_older(newest_first, path, project) if timeline.more or timeline.is_cut else None,
        "chosen": f"{since} to {until}" if since and until else "",
        "spans": [(label, make_url(path, name=project, when=one), one == when) for one, label in SPANS],
    }


def _link_older(shown: Sequence[ConversationDay], path: str, project: str | None) -> str:
    """Return the address of what began before everything that is shown."""
    before = datetime.fromisoformat(min(one.since for one in shown)) - timedelta(milliseconds=1)
    return make_url(path, name=project, until=before.isoformat(timespec="milliseconds"))


def show_lessons(memory: Memory, request: PageRequest) -> WebPage:
    """Show the lessons of all projects, or of `project`."""
    project = request.query.get("project")
    (lessons, warnings), known = memory.lessons(project, LESSONS), memory.list_known_failures(project)
    return WebPage("lessons", {"lessons": lessons, "known": known, "warnings": warnings, "project": project or ""})
