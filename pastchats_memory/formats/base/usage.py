"""Count the tokens that an API reports with its answers."""

from collections import Counter
from collections.abc import Mapping

from pastchats_memory.formats.base.values import Json, number_of

MOST = 1 << 40
"""Tokens of one report that are believed."""
Tokens = Counter[str]
"""Number by kind: `input` that no cache held, `output`, input from the cache (`cache_read`) and into it (`cache_write`)."""


def read_tokens(usage: Json, keys: Mapping[str, str]) -> Tokens:
    """Return the numbers of a report, by the API's name of each kind."""
    numbers = {kind: number_of(usage.get(key)) or 0 for kind, key in keys.items()}
    return Counter({kind: min(number, MOST) for kind, number in numbers.items() if number > 0})
