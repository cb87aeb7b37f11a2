"""Lay out bars of outcomes over time, which a template draws as SVG."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from pastchats_memory.fields import OUTCOMES
from pastchats_memory.store.outcomes import Tally

WIDTH, HEIGHT = 640, 120
"""Units of the drawing, without its labels."""
GAP = 0.2
"""Share of a bar's place that stays empty."""
FOOT = 6
"""Height of episodes with unknown outcome."""
MOST_BARS = 60
WIDEST = 40


class PlotSegment(NamedTuple):
    """A part of a bar."""

    verdict: str
    y: float
    height: float


class Bar(NamedTuple):
    """The episodes of a day, week, month or year."""

    label: str
    x: float
    width: float
    segments: Sequence[PlotSegment]
    counts: Mapping[str, int]
    total: int
    since: str
    until: str
    """The first and the last day."""


class Plot(NamedTuple):
    """Stacked bars in order of time."""

    unit: str
    """`day`, `week`, `month` or `year`."""
    bars: Sequence[Bar]
    totals: Mapping[str, int]
    width: int = WIDTH
    height: int = HEIGHT


def plot_outcomes(tallies: Iterable[Tally]) -> Plot | None:
    """Return bars of the finest unit of which few enough are needed; None without an episode.

    Years may take more bars.
    """
    by_day: dict[str, Counter[str]] = {}
    for one in tallies:
        by_day.setdefault(one.day, Counter())[one.verdict] += one.episodes
    if not by_day:
        return None
    first, last = map(date.fromisoformat, (min(by_day), max(by_day)))
    unit = next(unit for unit, length in UNITS.items() if (last - first).days < length * MOST_BARS or unit == "year")
    counts: dict[date, Counter[str]] = {start: Counter() for start in _list_starts(first, last, unit)}
    for day, numbers in by_day.items():
        counts[_find_start(date.fromisoformat(day), unit)].update(numbers)
    highest = max(1, *(sum(numbers.values()) - numbers["unknown"] for numbers in counts.values()))
    place = WIDTH / len(counts)
    bars = [
        _lay_out(number * place, place, start, unit, numbers, highest)
        for number, (start, numbers) in enumerate(counts.items())
    ]
    return Plot(unit, bars, sum(by_day.values(), Counter()))


UNITS = {"day": 1, "week": 7, "month": 28, "year": 365}
"""Days of each unit, at least."""
LONGEST = {"day": 1, "week": 7, "month": 31, "year": 366}
"""Days after which the next one has begun."""


def _lay_out(x: float, place: float, start: date, unit: str, numbers: Mapping[str, int], highest: int) -> Bar:
    """Return a bar; episodes with unknown outcome are a flat foot, so that they hide no other."""
    y, segments, width = float(HEIGHT), [], min(place * (1 - GAP), WIDEST)
    for verdict in ("unknown", *OUTCOMES[:-1]):
        number = numbers.get(verdict, 0)
        height = FOOT * bool(number) if verdict == "unknown" else round((HEIGHT - FOOT) * number / highest, 2)
        if height:
            y = round(y - height, 2)
            segments.append(PlotSegment(verdict, y, height))
    left, total = x + (place - width) / 2, sum(numbers.values())
    until = _find_start(start + timedelta(days=LONGEST[unit]), unit) - timedelta(days=1)
    days = start.isoformat(), until.isoformat()
    name = days[0][: {"year": 4, "month": 7}.get(unit, 10)]
    return Bar(name, round(left, 2), round(width, 2), segments, numbers, total, *days)


def _list_starts(first: date, last: date, unit: str) -> Iterable[date]:
    start = _find_start(first, unit)
    while start <= last:
        yield start
        start = _find_start(start + timedelta(days=LONGEST[unit]), unit)


def _find_start(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(month=1, day=1) if unit == "year" else day.replace(day=1) if unit == "month" else day
