"""Test the bars of outcomes over time."""

from __future__ import annotations

import pytest

from pastchats_memory.http.page.plot import FOOT, HEIGHT, MOST_BARS, WIDTH, plot_outcomes
from pastchats_memory.store.outcomes import Tally


def tallies(*days: str) -> list[Tally]:
    return [Tally("courier", day, "worked", 1) for day in days]


@pytest.mark.parametrize(
    ("last", "unit"), [("2026-01-20", "day"), ("2026-06-01", "week"), ("2029-01-01", "month"), ("2060-01-01", "year")]
)
def test_the_unit_is_the_finest_that_fits(last: str, unit: str) -> None:
    plot = plot_outcomes(tallies("2026-01-01", last))
    assert plot is not None
    assert plot.unit == unit
    assert len(plot.bars) <= MOST_BARS + 1
    assert sum(bar.total for bar in plot.bars) == 2
    assert plot.bars[0].label <= "2026-01-01"


def test_the_parts_of_a_bar_stack_up_to_its_height() -> None:
    plot = plot_outcomes(
        [Tally("a", "2026-01-01", "worked", 3), Tally("b", "2026-01-01", "failed", 1), *tallies("2026-01-03")]
    )
    assert plot is not None
    highest, nothing, low = plot.bars
    assert sum(segment.height for segment in highest.segments) == HEIGHT - FOOT
    assert min(segment.y for segment in highest.segments) == FOOT
    assert nothing.segments == []
    assert sum(segment.height for segment in low.segments) == (HEIGHT - FOOT) / 4
    assert plot.totals == {"worked": 4, "failed": 1}
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH for bar in plot.bars)


def test_unknown_outcomes_hide_no_other() -> None:
    plot = plot_outcomes([Tally("a", "2026-01-01", "unknown", 500), Tally("a", "2026-01-01", "failed", 1)])
    assert plot is not None
    assert {one.verdict: one.height for one in plot.bars[0].segments} == {"unknown": FOOT, "failed": HEIGHT - FOOT}


def test_a_bar_knows_its_days() -> None:
    plot = plot_outcomes(tallies("2026-01-01", "2026-06-01"))
    assert plot is not None
    assert (plot.bars[0].since, plot.bars[0].until) == ("2025-12-29", "2026-01-04")
    assert plot.bars[-1].until == "2026-06-07"


def test_no_episode_has_no_plot() -> None:
    assert plot_outcomes([]) is None
