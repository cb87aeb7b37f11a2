"""What was withdrawn or forgotten is gone from the team, from its file and from the copies of others."""

from __future__ import annotations

from pathlib import Path

from people import ANSWERED, ASKED, Person
from places import Place

from pastchats_memory.store.copy_path import copy_path
from pastchats_memory.store.database import open_database


def texts_in_copy(person: Person) -> bytes:
    return b"".join(path.read_bytes() for path in person.home.glob(copy_path(Path("memory.db")).name + "*"))


def test_a_withdrawn_project_is_gone_there_and_in_the_copies(ada: Person, bob: Person, place: Place) -> None:
    ada.share("billing")
    bob.pull()
    assert ada.memory.team.withdraw(["billing"]) == 5
    assert bob.found() == []
    assert b"backoff" not in place.stored()
    assert bob.pull().deleted == 3
    assert bob.recall().entries == ()
    assert b"backoff" not in texts_in_copy(bob)
    assert ada.memory.team.push().sent == 0


def test_a_forgotten_turn_is_gone_after_the_next_push(ada: Person, bob: Person, place: Place) -> None:
    ada.share("billing")
    bob.pull()
    ada.memory.forget(query="backoff")
    ada.memory.team.push()
    assert ANSWERED not in [text for _, text in bob.found("backoff")]
    assert b"backoff" not in place.stored()
    bob.pull()
    assert b"backoff" not in texts_in_copy(bob)


def test_turns_that_a_member_forgot_are_in_no_team_answer(ada: Person, bob: Person) -> None:
    bob.write("webhooks", ("user", ASKED), ("assistant", ANSWERED))
    ada.share("billing")
    bob.pull()
    bob.memory.forget(query="backoff")
    assert ANSWERED not in [text for _, text in bob.found("backoff")]
    assert ANSWERED not in bob.recall().text
    assert b"backoff" not in texts_in_copy(bob)
    assert bob.pull().received == 0
    assert ANSWERED not in bob.recall().text


def test_an_undone_forget_lets_the_next_pull_bring_the_turn_back(ada: Person, bob: Person) -> None:
    bob.write("webhooks", ("user", ASKED), ("assistant", ANSWERED))
    ada.share("billing")
    bob.memory.forget(query="backoff")
    assert bob.pull().received == 2
    bob.memory.undo_forget()
    assert bob.pull().received == 1
    assert ANSWERED in [text for _, text in bob.found("backoff")]


def test_pruned_times_are_left_out(ada: Person, bob: Person) -> None:
    ada.share("billing")
    bob.write("own", ("user", "An old question about nothing in particular."))
    bob.memory.prune("2026-04-01")
    assert bob.found() == []
    assert bob.pull().received == 0


def test_a_purge_is_followed_by_the_next_push(ada: Person, bob: Person, place: Place) -> None:
    ada.share("billing")
    ada.memory.purge()
    assert ada.memory.team.push().deleted == 5
    assert bob.found() == []
    assert b"backoff" not in place.stored()


def test_a_purge_deletes_the_copy(ada: Person, bob: Person) -> None:
    ada.share("billing")
    bob.pull()
    bob.memory.purge()
    assert texts_in_copy(bob) == b""


def test_a_project_that_is_excluded_here_is_not_copied(ada: Person, tmp_path: Path, place: Place) -> None:
    ada.share("billing")
    careful = Person(tmp_path / "carol", place, exclude=("billing",))
    assert careful.pull().received == 0
    assert careful.found() == []


def test_text_that_a_newer_version_of_a_turn_lacks_is_gone_from_the_file(ada: Person, place: Place) -> None:
    ada.share("billing")
    with open_database(ada.home / "memory.db") as database, database.transaction():
        database.run("UPDATE prompts SET content = 'The answer was redacted.' WHERE content = ?", (ANSWERED,))
    assert ada.memory.team.push().deleted == 0
    assert b"backoff" not in place.stored()
