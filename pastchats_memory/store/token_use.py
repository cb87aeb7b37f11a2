"""Count the tokens that agents reported, by day, project, agent and model."""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from pastchats_memory.fields import Count
from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import conditions

MOST, LONGEST_NAME = 1 << 40, 100
"""Tokens of one answer that are believed, and characters of a model's name that are shown."""
UNIT = 1_000_000
"""Tokens that a price is for."""
Prices = Mapping[str, Mapping[str, float]]
"""Prices of the kinds of tokens by the beginning of a model's name, as the user gives them."""


class TokenUse(NamedTuple):
    """Tokens that an agent used in a project on one day with one model."""

    day: Annotated[str, {"format": "date"}, "The local day."]
    project: str
    agent: Annotated[str, "Format of its transcripts."]
    model: str
    input: Annotated[Count, "Without what a cache held."]
    output: Count
    cache_read: Annotated[Count, "Input that a cache held."]
    cache_write: Annotated[Count, "Input that was written to a cache."]
    cost: Annotated[float | None, "By your table of prices; null if the model is not in it."] = None


KINDS = TokenUse._fields[4:8]


def tally(database: Database, filters: Filters, prices: Prices) -> tuple[TokenUse, ...]:
    """Return the tokens of the turns that pass the filters, by day, project, agent and model, in this order."""
    condition, values = conditions(filters)
    number = "min(max(CAST(u.value ->> '{}' AS INTEGER), 0), {})"  # an export may say anything
    sums = ", ".join(f"CAST(total({number.format(kind, MOST)}) AS INTEGER)" for kind in KINDS)
    rows = database.run(
        "SELECT date(p.timestamp, 'localtime') AS day, p.source_project, "
        f"CAST(coalesce(p.metadata_json ->> '$.format', '') AS TEXT), substr(u.key, 1, {LONGEST_NAME}), {sums} FROM visible_prompts p, json_each(p.metadata_json, '$.usage') u "
        f"WHERE {condition} AND day IS NOT NULL AND u.type = 'object' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
        values,
    )
    return tuple(_add_cost(TokenUse(*row), prices) for row in rows)


def tally_recent(database: Database, prices: Prices, project: str | None = None) -> tuple[TokenUse, ...]:
    """Return the tokens of the 30 days that end with the newest turn."""
    condition, values = conditions(Filters(project=project))
    since = f"SELECT strftime('%FT%H:%M:%fZ', max(p.timestamp), '-30 days') FROM visible_prompts p WHERE {condition}"
    return tally(database, Filters(project=project, since=database.value(since, values)), prices)


def _add_cost(use: TokenUse, prices: Prices) -> TokenUse:
    """Add the cost by the longest name that the model's name begins with."""
    name = max(filter(use.model.startswith, prices), key=len, default=None)
    cost = None if name is None else sum(getattr(use, kind) * price for kind, price in prices[name].items()) / UNIT
    return use._replace(cost=cost)
