"""A day that somebody wrote by hand is that day wherever they live."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from program import Program

DAY, BEFORE, AFTER = "2026-03-18", "2026-03-17", "2026-03-19"
WRITTEN = {
    f"notes/{DAY}-queue.md": "# Queue\n\nThe lantern queue moved.\n",
    f"notes/{DAY.replace('-', '/')}.md": "The lantern diary.\n",
    "notes/dated.md": f"---\ndate: {DAY}\n---\n\nThe lantern was dated.\n",
    "notes/log.md": f"# Log\n\n## {BEFORE}\n\nNothing.\n\n## {DAY} Evening\n\nThe lantern went out.\n\n## {AFTER}\n\nNothing.\n",
    "notes/fact.md": f"# Session\n\n**Date:** {DAY}\n\nThe lantern is a fact.\n",
    "dialogues/front.md": f"---\ndate: {DAY}\n---\n\n## User\n\nWhere is the lantern?\n\n## Assistant\n\nGone.\n",
    "dialogues/beside.md": f"## User — {DAY} 23:30:15\n\nWho lit the lantern?\n\n## Assistant — {DAY} 23:59:45\n\nAda.\n",
}


def write(home: Path) -> None:
    for name, text in WRITTEN.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_day_written_by_hand_is_found_by_that_day_and_shown_as_that_day(program: Program, zone: str) -> None:
    write(program.home)
    there = program.with_variables(TZ=zone)
    done = there("index", "notes", "dialogues")
    assert done.status == 0, done.stderr

    asked = ("search", "lantern", "--mode", "keyword", "--limit", "20")
    found = there(*asked, "--since", DAY, "--until", DAY, "--json").results
    assert {Path(hit["source_path"]).relative_to(program.home).as_posix() for hit in found} == set(WRITTEN)
    assert there(*asked, "--until", BEFORE).status == 1
    assert there(*asked, "--since", AFTER).status == 1

    when = re.findall(r" · (\d{4}-\d\d-\d\d) · id \d+$", there(*asked).stdout, re.MULTILINE)
    assert when == [DAY] * len(WRITTEN)


def test_a_day_without_a_time_is_shown_without_one(program: Program) -> None:
    write(program.home)
    there = program.with_variables(TZ="America/New_York")
    assert there("index", "notes/log.md").status == 0
    assert f" · {DAY}\n" in there("recall", "the lantern went out").stdout
    assert f"{BEFORE} to {AFTER}\n" in there("status").stdout


def test_a_file_that_is_read_again_in_another_zone_gives_no_row_twice(program: Program) -> None:
    write(program.home)
    rows = []
    for zone in ("America/New_York", "Asia/Tokyo"):
        there = program.with_variables(TZ=zone)
        done = there("index", "notes", "dialogues", "--force", "--json")
        rows.append(done.json["turns_added"])
    assert rows[0] > len(WRITTEN)
    assert rows[1] == 0
    found = there("search", "lantern", "--mode", "keyword", "--since", DAY, "--until", DAY, "--json").results
    assert len(found) == len(WRITTEN)
