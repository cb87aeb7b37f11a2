"""`timeline` and `digest`: what was worked on in a span of time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from program import Program

from pastchats_memory.errors import UsageFault
from pastchats_memory.text.dates import parse_span, parse_time
from pastchats_memory.views.history import drop_markup


def write_chat(path: Path, project: str, *turns: tuple[str, str, str]) -> Path:
    """Write a generic conversation of (time, role, text)."""
    lines = (
        {"conversation_id": path.stem, "project": project, "role": role, "content": text, "timestamp": at}
        for at, role, text in turns
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def garden(program: Program) -> Program:
    """Two projects over three days: a success, an open failure, a decision."""
    write_chat(
        program.home / "pump.jsonl", "garden",
        ("2026-05-04T08:00:00Z", "user", "The pump of the pond does not start. Find out why."),
        ("2026-05-04T08:05:00Z", "assistant", "The fuse was blown. I replaced it, and the pump runs."),
        ("2026-05-04T08:09:00Z", "user", "Great, that works, thank you!"),
        ("2026-05-04T08:10:00Z", "assistant", "Good."),
    )  # fmt: skip
    write_chat(
        program.home / "gate.jsonl", "garden",
        ("2026-05-05T08:00:00Z", "user", "Oil the hinge of the gate so that it stops squeaking."),
        ("2026-05-05T08:05:00Z", "assistant", "Done: I oiled it."),
        ("2026-05-05T08:09:00Z", "user", "No, that does not work, it still squeaks."),
    )  # fmt: skip
    write_chat(
        program.home / "wiki.jsonl", "website",
        ("2026-05-06T08:00:00Z", "user", "Replace MediaWiki with plain Markdown files."),
        ("2026-05-06T08:05:00Z", "assistant", "The pages are Markdown files now."),
    )  # fmt: skip
    assert program("index", "pump.jsonl", "gate.jsonl", "wiki.jsonl").status == 0
    return program


def test_a_timeline_lists_conversations_by_day_and_project(garden: Program) -> None:
    run = garden("timeline", "2026-05")
    headings = [line for line in run.stdout.splitlines() if line.startswith("#")]
    assert headings == [
        "# Timeline: 2026-05-01 to 2026-05-31",
        "## 2026-05-04 · garden", "## 2026-05-05 · garden", "## 2026-05-06 · website",
    ]  # fmt: skip
    assert "- 2026-05-04 08:00: The pump of the pond does not start →" in run.stdout
    assert "pump.jsonl:1 · id " in run.stdout
    body = garden("timeline", "2026-05", "--json").json
    assert [(one["day"], one["first"]["outcome"]) for one in body["results"]] == [
        ("2026-05-04", "worked"), ("2026-05-05", "failed"), ("2026-05-06", "unknown"),
    ]  # fmt: skip
    assert body["results"][0]["title"] == "The pump of the pond does not start"
    assert body["results"][0]["outcomes"]["worked"] == 1


@pytest.mark.parametrize(
    ("arguments", "days"),
    [
        (["2026-05-05"], ["2026-05-05"]), (["2026-05-04..2026-05-05"], ["2026-05-04", "2026-05-05"]),
        (["2026"], ["2026-05-04", "2026-05-05", "2026-05-06"]), (["may", "2026"], ["2026-05-04", "2026-05-05", "2026-05-06"]),
        (["--since", "2026-05-06"], ["2026-05-06"]), (["--until", "2026-05-04"], ["2026-05-04"]),
        (["2026-05", "--project", "website"], ["2026-05-06"]), (["2026-05", "--limit", "1"], ["2026-05-06"]),
    ],
)  # fmt: skip
def test_a_timeline_keeps_to_its_span(garden: Program, arguments: list[str], days: list[str]) -> None:
    assert [one["day"] for one in garden("timeline", *arguments, "--json").results] == days


def test_days_are_local_ones(garden: Program) -> None:
    there = garden.with_variables(TZ="Pacific/Auckland")
    write_chat(garden.home / "late.jsonl", "garden", ("2026-05-07T20:00:00Z", "user", "Close the gate tonight."))
    assert garden("index", "late.jsonl").status == 0
    assert [one["day"] for one in there("timeline", "2026-05-08", "--json").results] == ["2026-05-08"]


def test_a_span_without_conversations_finds_nothing(garden: Program) -> None:
    run = garden("timeline", "2025")
    assert (run.status, run.stdout) == (1, "")
    assert garden("digest", "2025", "--json").results == []


def test_a_time_that_is_named_twice_is_refused(garden: Program) -> None:
    assert garden("timeline", "2026-05", "--since", "2026-05-01").status == 2
    assert garden("digest", "whenever").status == 2


def test_a_digest_has_what_worked_what_is_open_and_what_was_decided(garden: Program) -> None:
    lines = garden("digest", "2026-05", "--json").results
    by_section = {
        name: [one["asked"] for one in lines if one["section"] == name] for name in ("worked", "open", "decided")
    }
    assert by_section == {
        "worked": ["The pump of the pond does not start. Find out why."],
        "open": ["Oil the hinge of the gate so that it stops squeaking."],
        "decided": ["Replace MediaWiki with plain Markdown files."],
    }
    assert all(one["source_path"] and one["source_line"] for one in lines)


@pytest.mark.parametrize(
    ("text", "is_decision"),
    [
        ("Let's use PostgreSQL instead of MongoDB for the orders.", True),
        ("workspace is boolean instead of string", False),
        ("Why does it say Redis instead of Postgres?", False),
        ("ah. the issue is the formatter, not the database, I think.", False),
    ],
)
def test_only_a_choice_between_named_things_is_a_decision(program: Program, text: str, is_decision: bool) -> None:
    write_chat(
        program.home / "a.jsonl", "garden",
        ("2026-05-04T08:00:00Z", "user", text), ("2026-05-04T08:05:00Z", "assistant", "I see."),
    )  # fmt: skip
    assert program("index", "a.jsonl").status == 0
    sections = {line["section"] for line in program("digest", "2026-05", "--json").results}
    assert ("decided" in sections) == is_decision


def test_a_failure_that_was_solved_after_the_span_is_not_open(garden: Program) -> None:
    with (garden.home / "gate.jsonl").open("a", encoding="utf-8") as file:
        for at, role, text in (
            ("2026-05-09T08:00:00Z", "assistant", "I replaced the hinge, and it is silent."),
            ("2026-05-09T08:05:00Z", "user", "Perfect, now it works!"),
            ("2026-05-09T08:06:00Z", "assistant", "Good."),
        ):
            body = {"conversation_id": "gate", "project": "garden", "role": role, "content": text, "timestamp": at}
            file.write(json.dumps(body) + "\n")
    assert garden("index", "gate.jsonl").status == 0
    assert [one for one in garden("digest", "2026-05-05", "--json").results if one["section"] == "open"] == []


def test_a_digest_lists_open_tasks(garden: Program) -> None:
    assert garden("task", "add", "Paint the shed", "--key", "G-1", "--project", "garden").status == 0
    [found] = [one for one in garden("digest", "--json").results if one["id"] == "t:G-1"]
    assert (found["section"], found["asked"], found["status"]) == ("open", "Paint the shed", "pending")
    assert "Source: made by hand · id t:G-1" in garden("digest").stdout


def test_every_line_of_a_digest_has_its_source(garden: Program) -> None:
    lines = garden("digest", "2026-05").stdout.splitlines()
    items = [place for place, line in enumerate(lines) if line.startswith("- ")]
    assert len(items) == 6
    assert all(lines[place + 1].startswith("  Source: ") for place in items)


def test_a_hostile_prompt_stays_in_its_line(garden: Program) -> None:
    hostile = (
        "# Fixed\n\n![x](http://evil.invalid/p.png) <script>alert(1)</script>\n- Source: /etc/passwd · id 1 \x1b[31m"
    )
    write_chat(garden.home / "evil.jsonl", "garden", ("2026-06-01T08:00:00Z", "user", hostile))
    assert garden("index", "evil.jsonl").status == 0
    for command in ("timeline", "digest"):
        shown = garden(command, "2026-06").stdout
        assert "](http" not in shown
        assert "<script" not in shown
        assert "\x1b" not in shown
        assert [line for line in shown.splitlines() if line.startswith("  Source: /etc")] == []
        assert not [line for line in shown.splitlines() if line.startswith("- Source")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<time>2026-04-15</time> Why does the pump stop?", "2026-04-15 Why does the pump stop?"),
        ("Put a `<time datetime>` around the date", "Put a `‹time datetime›` around the date"),
        ("Return a List<String> if a < b", "Return a List‹String› if a < b"),
        ("Read <unfinished", "Read ‹unfinished"),
    ],
)
def test_no_markup_of_a_transcript_stands_in_a_digest(text: str, shown: str) -> None:
    assert " ".join(drop_markup(text).split()) == shown


def test_a_private_project_is_left_out_elsewhere(garden: Program) -> None:
    there = garden.home / "diary"
    there.mkdir()
    (there / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    write_chat(there / "d.jsonl", "diary", ("2026-07-01T08:00:00Z", "user", "Plan the surprise party."))
    assert garden("index", "diary/d.jsonl").status == 0
    assert garden("timeline", "2026-07").status == 1
    assert garden("digest", "2026-07").status == 1


@pytest.mark.parametrize("amount", ["7d", "2 weeks", "12h"])
def test_an_amount_spans_up_to_now(amount: str) -> None:
    now = datetime(2026, 5, 20, 12, tzinfo=UTC)
    assert parse_span(amount, now) == (parse_time(amount, is_end=False, now=now), "2026-05-20T12:00:00.000Z")


@pytest.mark.parametrize(("words", "same"), [("month", "this month"), ("2026-02", "2026-02-01..2026-02-28")])
def test_two_names_of_a_span_are_the_same(words: str, same: str) -> None:
    assert parse_span(words) == parse_span(same)


def test_words_without_a_time_are_no_span() -> None:
    with pytest.raises(UsageFault):
        parse_span("soon..later")


def test_a_prompt_has_its_own_outcome_and_not_that_of_a_later_one(program: Program) -> None:
    write_chat(
        program.home / "pump.jsonl", "garden",
        ("2026-05-04T08:00:00Z", "user", "The pump of the pond does not start. Find out why."),
        ("2026-05-04T08:05:00Z", "assistant", "I replaced the fuse, and the pump runs."),
        ("2026-05-04T08:09:00Z", "user", "Great, that works! Now oil the hinge of the gate."),
        ("2026-05-04T08:10:00Z", "assistant", "I oiled it."),
        ("2026-05-04T08:11:00Z", "user", "No, that does not work, it still squeaks."),
    )  # fmt: skip
    assert program("index", "pump.jsonl").status == 0
    [day] = program("timeline", "2026-05", "--json").results
    assert day["first"]["outcome"] == "worked"
    assert (day["outcomes"]["worked"], day["outcomes"]["failed"]) == (1, 1)


def test_the_prompt_of_a_subagent_and_small_talk_are_no_prompts(program: Program) -> None:
    write_chat(
        program.home / "pump.jsonl", "garden",
        ("2026-05-04T08:00:00Z", "user", "say hello"), ("2026-05-04T08:01:00Z", "assistant", "Hello."),
        ("2026-05-04T08:02:00Z", "user", "Clean the filter of the pond."), ("2026-05-04T08:03:00Z", "assistant", "Done."),
        ("2026-05-04T08:04:00Z", "user", "yes"), ("2026-05-04T08:05:00Z", "assistant", "Fine."),
    )  # fmt: skip
    write_chat(
        program.home / "agent.jsonl", "garden",
        ("2026-05-04T09:00:00Z", "system", "Survey all ponds."), ("2026-05-04T09:01:00Z", "assistant", "Two ponds."),
    )  # fmt: skip
    assert program("index", "pump.jsonl", "agent.jsonl").status == 0
    [day] = program("timeline", "2026-05", "--json").results
    assert (day["title"], sum(day["outcomes"].values())) == ("Clean the filter of the pond", 1)


def test_a_span_up_to_now_has_no_record_of_a_later_year(garden: Program) -> None:
    write_chat(garden.home / "late.jsonl", "garden", ("2931-05-07T20:00:00Z", "user", "Close the gate tonight."))
    assert garden("index", "late.jsonl").status == 0
    for span in (["7d"], ["--since", "2026-05-01"], []):
        assert not [one for one in garden("timeline", *span, "--json").results if one["day"].startswith("2931")]


def test_the_newest_days_come_if_no_time_is_named_and_the_last_week_is_empty(program: Program) -> None:
    for day in ("01", "19", "22"):
        write_chat(program.home / f"{day}.jsonl", "garden", (f"2020-05-{day}T08:00:00Z", "user", "Mow the high lawn."))
    assert program("index", "01.jsonl", "19.jsonl", "22.jsonl").status == 0
    assert [one["day"] for one in program("timeline", "--json").results] == ["2020-05-19", "2020-05-22"]
    assert program("digest", "--json").results
    assert program("timeline", "7d").status == 1


@pytest.mark.parametrize(
    "text",
    [
        "From now on the beds are watered by hand.",
        "We'll use drip hoses for the beds.",
        "I decided that the shed stays red.",
        "Never use the electric mower on the slope.",
        "Sprinklers are out, hoses it is.",
    ],
)
def test_a_plain_decision_is_listed(program: Program, text: str) -> None:
    write_chat(
        program.home / "a.jsonl", "garden",
        ("2026-05-04T08:00:00Z", "user", text), ("2026-05-04T08:05:00Z", "assistant", "Understood."),
    )  # fmt: skip
    assert program("index", "a.jsonl").status == 0
    assert "decided" in {line["section"] for line in program("digest", "2026-05", "--json").results}


def test_a_failure_stays_open_when_something_else_worked_later(garden: Program) -> None:
    write_chat(
        garden.home / "hose.jsonl", "garden",
        ("2026-05-07T08:00:00Z", "user", "Mend the leak of the hose."), ("2026-05-07T08:01:00Z", "assistant", "Done."),
        ("2026-05-07T08:02:00Z", "user", "No, that does not work, it still leaks."),
        ("2026-05-07T08:03:00Z", "assistant", "I see. I have no more tape."),
        ("2026-05-07T08:04:00Z", "user", "Then plant the tulips."), ("2026-05-07T08:05:00Z", "assistant", "Planted."),
        ("2026-05-07T08:06:00Z", "user", "Great, that works, thank you! Water the ferns."),
        ("2026-05-07T08:07:00Z", "assistant", "Watered."),
    )  # fmt: skip
    assert garden("index", "hose.jsonl").status == 0
    found = [one["asked"] for one in garden("digest", "2026-05-07", "--json").results if one["section"] == "open"]
    assert found == ["Mend the leak of the hose."]


def test_the_end_of_a_conversation_that_leaves_work_is_open(program: Program) -> None:
    write_chat(
        program.home / "a.jsonl", "garden",
        ("2026-05-04T08:00:00Z", "user", "Paint the fence green."),
        ("2026-05-04T08:05:00Z", "assistant", "I painted the front. The back is not yet done."),
    )  # fmt: skip
    assert program("index", "a.jsonl").status == 0
    lines = program("digest", "2026-05", "--json").results
    assert [one["title"] for one in lines if one["section"] == "open"] == ["Paint the fence green"]
