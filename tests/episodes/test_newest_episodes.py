"""Test that the newest episodes of a long history are found without reading the others."""

from __future__ import annotations

import apsw
from program import Program

from pastchats_memory import Memory
from pastchats_memory.model import Filters
from pastchats_memory.store import outcomes
from pastchats_memory.store.database import open_database


def test_the_newest_episodes_of_all_projects_are_those_of_each_project(own_demo: Program) -> None:
    with Memory.open(own_demo.database) as memory:
        projects = [one.project for one in memory.list_projects()]
    with open_database(own_demo.database) as database:
        all_ = outcomes.within(database, Filters(), 1000)
        apart = [one for name in projects for one in outcomes.within(database, Filters(project=name), 1000)]
        newest = outcomes.within(database, Filters(), 5)
    assert len(all_) > len(newest)
    assert all_ == sorted(apart, key=lambda one: (one.timestamp, one.question_id))
    assert newest == all_[-5:]


def test_the_newest_episodes_are_found_without_a_scan_of_all_outcomes(own_demo: Program) -> None:
    statements: list[str] = []
    with open_database(own_demo.database) as database:
        database.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        outcomes.within(database, Filters(), 5)
        database.connection.trace_v2(0)
        plan = database.run(f"EXPLAIN QUERY PLAN {statements[-1]}", ("", "~", None, 5))
    steps = [step for *_, step in plan]
    assert [step for step in steps if step.startswith("SCAN main.outcomes")] == []
    assert any("prompts_by_time" in step for step in steps)
