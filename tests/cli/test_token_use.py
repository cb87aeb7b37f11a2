"""Tokens by day, project, agent and model: `digest` and `status` show them, with a cost by the user's own prices."""

from __future__ import annotations

import json
import shutil

import pytest
from program import DEMO, Program

COURIER = {
    "day": "2026-01-13", "project": "courier", "agent": "claude-code", "model": "claude-sonnet-4-5",
    "input": 10_901, "output": 499, "cache_read": 0, "cache_write": 0, "cost": None,
}  # fmt: skip


@pytest.fixture
def person(program: Program) -> Program:
    """Return the program with the sample history of Claude Code indexed."""
    shutil.copytree(DEMO / "history" / "claude", program.home / ".claude" / "projects")
    assert program("index", ".claude").status == 0
    return program


def set_prices(program: Program, text: str) -> None:
    file = program.home / "config" / "pastchats-memory" / "pastchats-memory.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")


def test_a_digest_shows_the_tokens_of_its_span(person: Program) -> None:
    run = person("digest", "2026-01", "--json")
    assert run.json["tokens"]["by_day"] == [COURIER]
    page = person("digest", "2026-01").stdout
    assert "claude-code 10,901 in, 499 out, 0 from cache, 0 to cache\n" in page
    assert "| 2026-01-13 | courier | claude-code | claude-sonnet-4-5 | 10,901 | 499 | 0 | 0 |  |" in page


def test_the_status_has_the_30_days_before_the_newest_turn(person: Program) -> None:
    days = {one["day"] for one in person("status", "--json").results[0]["tokens"]}
    assert days == {"2026-04-21"}
    assert "Tokens    of 30 days: claude-code 7,250 in, 346 out" in person("status").stdout


def test_the_price_with_the_longest_name_that_fits_counts(person: Program) -> None:
    set_prices(person, '[prices."claude"]\ninput = 9\n[prices."claude-sonnet"]\ninput = 3\noutput = 15\n')
    (use,) = person("digest", "2026-01", "--json").json["tokens"]["by_day"]
    assert use["cost"] == pytest.approx((10_901 * 3 + 499 * 15) / 1e6)
    assert "cost 0.04" in person("digest", "2026-01").stdout


def test_a_model_without_a_price_has_no_cost(person: Program) -> None:
    set_prices(person, '[prices."gpt"]\ninput = 9\n')
    assert person("digest", "2026-01", "--json").json["tokens"]["by_day"] == [COURIER]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("input = -3", "from 0 to 1e+06"),
        ('input = "three"', "prices.claude"),
        ("tokens = 3", "only input, output, cache_read"),
    ],
)
def test_a_wrong_price_is_reported_with_its_place(person: Program, line: str, reason: str) -> None:
    set_prices(person, f'[prices."prices.claude"]\n{line}\n')
    run = person("status")
    assert run.status == 2
    assert reason in " ".join(run.stderr.split())


def test_tokens_of_a_private_project_stay_inside_it(person: Program) -> None:
    folder = person.home / "courier"
    folder.mkdir()
    (folder / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    for file in (person.home / ".claude").rglob("*.jsonl"):
        file.write_text(
            file.read_text(encoding="utf-8").replace("/home/mira/src/courier", str(folder)), encoding="utf-8"
        )
    person("purge", "--yes")
    assert person("index", ".claude").status == 0
    assert "courier" not in person("digest", "2026-01..2026-04", "--json").stdout
    assert "courier" in person.within(folder)("digest", "2026-01..2026-04", "--json", "--project", ".").stdout


def test_absurd_numbers_and_names_of_an_export_are_bounded(person: Program) -> None:
    lines = person("export").stdout.splitlines()
    row = next(row for row in map(json.loads, lines) if "usage" in row.get("metadata", {}))
    absurd = {"input": -5, "output": "many", "cache_read": 1e308, "cache_write": 9223372036854775807}
    row["metadata"] = {"usage": {"m" * 5000: absurd, "odd": 5}}
    places = {"turn_index": 900, "conversation_id": "c", "source_project": "odd"}
    copies = [{**row, **places, "timestamp": f"2026-04-21T09:0{number}:00.000Z"} for number in range(2)]
    for number, copy in enumerate(copies):
        copy |= {"content": f"Odd answer {number}", "content_hash": f"{number:064x}", "echo_hash": None}
    (person.home / "odd.jsonl").write_text("".join(f"{json.dumps(copy)}\n" for copy in copies), encoding="utf-8")
    assert person("index", "odd.jsonl").status == 0
    uses = person("status", "--json").results[0]["tokens"]
    (use,) = [use for use in uses if use["project"] == "odd"]
    most = 2 << 40
    assert list(use.values()) == ["2026-04-21", "odd", "", "m" * 100, 0, 0, most, most, None]
    assert person("digest", "2026-04").status == 0
