"""The journeys of `contracts/journey_*.yml`, step by step with the real program."""

from __future__ import annotations

import shutil
import stat

from program import DEMO, Program, write_messages

OUTCOMES = {"worked", "failed", "mixed", "stopped", "unknown"}


def test_an_agent_recalls_works_and_remembers(own_demo: Program) -> None:
    recalled = own_demo("recall", "--query", "webhook retries backoff", "--json")
    memories = recalled.results
    assert recalled.status == 0
    assert recalled.json["tokens"] <= 1500
    assert {memory["outcome"] for memory in memories} <= OUTCOMES

    best, note = memories[:2]
    assert "exponential backoff with full jitter" in note["content"]
    assert "A fixed delay was tried in January and failed" in note["content"]
    assert best["timestamp"].startswith("2026-02-03")
    assert ("2026-01-13", "failed") in {(one["timestamp"][:10], one["outcome"]) for one in best["before"]}
    shown = own_demo("show", best["id"], "--json").results
    (asked,) = [item for item in shown if item["is_asked"]]
    assert asked["content"] == best["content"]
    assert len(shown) > 1
    assert {item["conversation_id"] for item in shown} == {best["conversation_id"]}

    detail = own_demo("search", "idempotency key", "--project", "courier", "--json")
    assert "Idempotency-Key" in " ".join(hit["content"] for hit in detail.results)

    work = write_messages(
        own_demo.home / "2026-05-04.jsonl",
        ("user", "Add a circuit breaker to the webhook delivery, so that a dead endpoint is left alone."),
        (
            "assistant",
            "The circuit breaker opens after 20 failures in a row and lets one webhook through every 5 minutes.",
        ),
        conversation="breaker",
        project="courier",
    )
    indexed = own_demo("index", work, "--json").json
    assert (indexed["turns_added"], indexed["embedded"]) == (2, 2)

    newest = own_demo("recall", "--query", "webhook circuit breaker", "--json").results[0]
    assert (newest["conversation_id"], newest["source_path"]) == ("breaker", str(work))


def test_a_newcomer_is_led_to_an_answer(program: Program) -> None:
    lost = program("search", "retry strategy")
    assert (lost.status, lost.stdout) == (2, "")
    assert "pastchats-memory index" in lost.stderr
    assert not program.database.exists()

    shutil.copytree(DEMO / "history", program.home / "history")
    rehearsed = program("index", "--dry-run", "history")
    assert rehearsed.status == 0
    assert {"claude-code", "codex", "messages", "markdown", "notes"} <= set(rehearsed.stdout.split())
    assert not program.database.exists()

    indexed = program("index", "history")
    assert indexed.status == 0
    assert "Added 114 turns" in indexed.stdout
    assert stat.S_IMODE(program.database.stat().st_mode) == 0o600

    found = program("search", "retry strategy")
    assert found.status == 0
    assert "thundering" in found.stdout
