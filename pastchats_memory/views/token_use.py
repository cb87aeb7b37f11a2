"""Render used tokens in one line for each agent, and as a table of Markdown."""

from collections.abc import Iterable, Sequence

from pastchats_memory.store.token_use import KINDS, TokenUse
from pastchats_memory.text.display import escape_name
from pastchats_memory.text.groups import group_by_key

TITLES = ("Day", "Project", "Agent", "Model", "Input", "Output", "Read from cache", "Written to cache", "Cost")
MOST_ROWS = 20


def describe_agents(uses: Iterable[TokenUse]) -> str:
    """Return the sums of each agent; the cost is that of the models with a price."""
    by_agent = group_by_key((use.agent, use) for use in uses)
    return "; ".join(f"{escape_name(agent)} {_describe(own)}" for agent, own in by_agent.items())


def _describe(uses: Sequence[TokenUse]) -> str:
    amounts = zip(KINDS, ("in", "out", "from cache", "to cache"), strict=True)
    sums = [f"{sum(getattr(use, kind) for use in uses):,} {name}" for kind, name in amounts]
    costs = [use.cost for use in uses if use.cost is not None]
    return ", ".join([*sums, f"cost {sum(costs):,.2f}"] if costs else sums)


def render_token_table(uses: Sequence[TokenUse]) -> str:
    """Render the newest rows."""
    rows = [TITLES, ("---",) * 4 + ("--:",) * 5, *map(_list_cells, uses[-MOST_ROWS:])]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _list_cells(use: TokenUse) -> Iterable[str]:
    yield from (escape_name(name).replace("|", "\\|") for name in use[:4])
    yield from (f"{getattr(use, kind):,}" for kind in KINDS)
    yield "" if use.cost is None else f"{use.cost:,.2f}"
