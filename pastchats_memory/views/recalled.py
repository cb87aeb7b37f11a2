"""Render the log of what hooks gave to agents."""

from collections.abc import Iterable

from pastchats_memory.store.recalled import Recalled, RecalledLog, Week
from pastchats_memory.text.display import escape_name, format_time, sanitise

SESSION_WIDTH = 8
"""Characters of a session's id."""


def render_log(log: RecalledLog) -> str:
    """Render a line for each memory that was given, and the counts by week."""
    return "\n".join([*map(_render_line, log.results), f"By week: {render_weeks(log.weeks)}", ""])


def render_weeks(weeks: Iterable[Week]) -> str:
    """Render how many memories were given in each week, and how many of them were used."""
    return ", ".join(f"{one.week}: {one.given:,} ({one.used:,} used)" for one in weeks)


def _render_line(one: Recalled) -> str:
    ids = f" · id {escape_name(', '.join(one.ids))}" if one.ids else ""
    used = " · used" if one.is_used else ""
    session = f" · session {escape_name(one.session[:SESSION_WIDTH])}" if one.session else ""
    prompt = f"\n  > {sanitise(one.prompt)}" if one.prompt else ""
    facts = f"{escape_name(one.agent)} · {escape_name(one.kind)} · {one.bytes:,} bytes{ids}{session}{used}"
    return f"{format_time(one.given_at)} · {facts}{prompt}"
