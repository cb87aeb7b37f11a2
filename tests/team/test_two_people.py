"""What one person shares, another finds, with its author; nothing else leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from people import ANSWERED, ASKED, THANKS, Person
from places import Place

from pastchats_memory.errors import InputMissing, TeamUnavailable, UsageFault
from pastchats_memory.store.copy_path import copy_path
from pastchats_memory.store.database import open_database


def test_a_shared_turn_is_found_by_the_other_with_its_author_and_source(ada: Person, bob: Person) -> None:
    ada.share("billing")
    (first, *_) = bob.memory.search("webhook retries pile up", team=True)
    assert (first.author, first.content, first.source_project) == ("ada", ASKED, "billing")
    assert first.source_path.startswith("team:billing:")
    assert first.source_line is None
    assert first.id.startswith("team:")


def test_recall_answers_from_the_copy_with_outcome_and_author(ada: Person, bob: Person) -> None:
    ada.share("billing")
    assert bob.pull().received == 3
    block = bob.recall()
    assert "· by ada ·" in block.text
    assert block.warnings == ()
    assert "\nShown by: > " in block.text
    assert ANSWERED in block.text
    (entry,) = block.entries
    assert (entry.hit.author, entry.outcome.verdict) == ("ada", "worked")
    assert entry.ids == {entry.hit.id}


def test_own_entries_come_first_among_equals(ada: Person, bob: Person) -> None:
    ada.share("billing")
    bob.write(
        "own",
        ("user", "The webhook retries pile up at night again, why?"),
        ("assistant", "The clock of the worker was wrong by an hour."),
    )
    bob.pull()
    block = bob.recall()
    assert [entry.hit.author for entry in block.entries] == ["", "ada"]


def test_the_block_of_both_memories_keeps_its_budget(ada: Person, bob: Person) -> None:
    ada.share("billing")
    bob.write("own", ("user", "The webhook retries pile up at night again, why?"), ("assistant", "The clock. " * 200))
    bob.pull()
    assert bob.recall(budget=200).tokens <= 200


def test_a_turn_of_both_memories_is_shown_once(ada: Person, bob: Person) -> None:
    bob.write("webhooks", ("user", ASKED), ("assistant", ANSWERED), ("user", THANKS))
    ada.share("billing")
    bob.pull()
    assert [entry.hit.author for entry in bob.recall().entries] == [""]


def test_a_push_sends_only_named_projects(ada: Person, place: Place) -> None:
    ada.write("diary", ("user", "The zanzibar surprise party for Carol is on Friday."), project="home")
    ada.share("billing")
    assert b"zanzibar" not in place.stored()


def test_a_private_project_is_refused_though_it_is_named(ada: Person, tmp_path: Path) -> None:
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    path = tmp_path / "session.jsonl"
    message = {"role": "user", "content": "The merger is planned for the autumn."}
    record = {
        "type": "user", "uuid": "u1", "sessionId": "s", "cwd": str(folder), "timestamp": "2026-03-01T10:00:01.000Z",
        "message": message,
    }  # fmt: skip
    path.write_text(
        json.dumps(record) + "\n",
        encoding="utf-8",
    )
    ada.memory.index([path])
    with pytest.raises(UsageFault, match="private or excluded"):
        ada.memory.team.share("secret")


def test_an_excluded_project_is_refused_though_it_is_named(ada: Person, place: Place) -> None:
    careful = Person(ada.home, place, exclude=("billing",))
    with pytest.raises(UsageFault, match="excluded"):
        careful.memory.team.share("billing")


def test_a_project_that_is_excluded_later_is_deleted_there(ada: Person, bob: Person, place: Place) -> None:
    ada.share("billing")
    report = Person(ada.home, place, exclude=("billing",)).memory.team.push()
    assert report.held_back == ["billing"]
    assert bob.found() == []


def test_an_unknown_project_cannot_be_shared(ada: Person) -> None:
    with pytest.raises(InputMissing, match="no project is called 'biling'"):
        ada.memory.team.share("biling")


def test_a_secret_is_redacted_once_more(ada: Person, place: Place) -> None:
    with open_database(ada.home / "memory.db") as database, database.transaction():
        database.run(  # as an older release may have stored it
            "UPDATE prompts SET content = ? WHERE content = ?", ("export DB_PASSWORD=hunter2hunter2", ANSWERED)
        )
    assert ada.memory.team.preview("billing").redactions == 1
    ada.share("billing")
    assert b"hunter2" not in place.stored()


def test_a_second_push_writes_nothing(ada: Person) -> None:
    assert ada.share("billing").sent == 5  # three turns and two episodes
    assert ada.memory.team.push().sent == 0


def test_new_turns_are_pushed_and_pulled_alone(ada: Person, bob: Person) -> None:
    ada.share("billing")
    bob.pull()
    ada.write("redis", ("user", "Why did we drop redis from the session store?"))
    assert ada.memory.team.push().sent == 2
    assert bob.pull().received == 1


def test_a_pull_embeds_nothing_of_the_same_model(ada: Person, bob: Person) -> None:
    ada.share("billing")
    assert bob.pull().embedded == 0


def test_a_judgement_travels_with_its_episode(ada: Person, bob: Person) -> None:
    (hit,) = ada.memory.search("webhook retries", limit=1)
    ada.memory.judge(hit.id, "failed", because="Because the queue has no backoff.")
    ada.share("billing")
    bob.pull()
    assert bob.recall().entries[0].outcome.verdict == "failed"


def test_search_filters_by_project_role_time_and_outcome(ada: Person, bob: Person) -> None:
    ada.write("redis", ("user", "Why did the webhook store drop redis?"), project="store")
    ada.share("billing", "store")

    def texts(**filters: str) -> set[str]:
        return {hit.content for hit in bob.memory.search("webhook", **filters, team=True)}  # type: ignore[arg-type]

    assert texts(project="store") == {"Why did the webhook store drop redis?"}
    assert texts(project="billing", role="assistant") == {ANSWERED}
    assert texts(outcome="worked") == {ASKED, ANSWERED}
    assert texts(since="2026-03-02") == set()
    assert texts(until="2026-03-01T10:00:30Z", project="billing") == {ASKED}


def test_a_project_with_a_hostile_name_is_found_by_it_alone(ada: Person, bob: Person) -> None:
    name = 'x" or kind != "'
    ada.write("odd", ("user", "The webhook of the odd project is slow today."), project=name)
    ada.share("billing", name)
    assert {hit.source_project for hit in bob.memory.search("webhook", project=name, team=True)} == {name}


def test_two_people_who_share_the_same_project_do_not_delete_each_others_turns(ada: Person, bob: Person) -> None:
    bob.write("own", ("user", "The webhook worker needs a restart at night."))
    ada.share("billing")
    bob.share("billing")
    ada.memory.team.push()
    assert {author for author, _ in bob.found("webhook")} == {"ada", "bob"}
    assert {one.author: one.turns for one in ada.memory.team.status().authors} == {"ada": 3, "bob": 1}


def test_a_copied_database_on_another_computer_does_not_delete_the_first_ones_rows(ada: Person, bob: Person) -> None:
    ada.share("billing")
    with open_database(ada.home / "memory.db") as database, database.transaction():
        database.run("UPDATE team_members SET host = 'another'")
    ada.memory.forget(project="billing")
    ada.memory.team.push()
    assert len(bob.found()) == 3


def test_without_an_endpoint_the_team_names_the_setting(tmp_path: Path, place: Place) -> None:
    person = Person(tmp_path / "carol", place, team_endpoint=None)
    with pytest.raises(TeamUnavailable) as caught:
        _ = person.memory.team
    assert "team_endpoint" in caught.value.hint
    assert "`team_endpoint` is not set, so no team answers" in person.recall().warnings


def test_a_server_that_does_not_answer_is_explained(tmp_path: Path, place: Place) -> None:
    person = Person(tmp_path / "carol", place, team_endpoint="http://127.0.0.1:1")
    with pytest.raises(TeamUnavailable, match=r"http://127\.0\.0\.1:1"):
        person.memory.search("webhook", team=True)


def test_pulled_rows_lose_a_secret_that_an_own_text_shows_before_or_after_the_pull(ada: Person, bob: Person) -> None:
    first, second = "Rk7-vQ2m!pX9", "Wm4+zT8q?hB3"
    ada.write("vault", ("user", f"Is {first} or {second} right for the billing vault?"))
    ada.share("billing")
    bob.write("env", ("user", f"DB_PASSWORD={first}"))
    bob.pull()
    stored = copy_path(bob.memory.path).read_bytes()
    assert first.encode() not in stored
    assert second.encode() in stored
    bob.write("later", ("user", f"SMTP_PASSWORD={second}"))
    bob.pull()
    assert second.encode() not in copy_path(bob.memory.path).read_bytes()
