"""What is particular to Milvus: its file, its conditions, its library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from people import Person, run
from places import MilvusFile, Place

from pastchats_memory.errors import TeamUnavailable
from pastchats_memory.memory.requests import build_filters
from pastchats_memory.team.ask import build_condition
from pastchats_memory.team.milvus import REWRITTEN, open_milvus, render


@pytest.fixture
def place(milvus: MilvusFile) -> Place:
    return milvus


def test_a_team_gets_nothing_before_a_push(ada: Person, milvus: MilvusFile) -> None:
    ada.memory.team.share("billing")
    assert not milvus.path.exists()


def test_an_unreachable_team_leaves_the_copy(ada: Person, bob: Person) -> None:
    ada.share("billing")
    bob.pull()
    with open_milvus(str(bob.config.team_endpoint), None):  # another command holds the file
        found = run(bob, "recall", "--team", "webhook retries pile up")
    assert found.status == 0
    assert "by ada" in found.stdout
    assert "from the last `team pull`" in found.stderr
    assert "Traceback" not in found.stderr


def test_without_a_copy_an_unreachable_team_is_an_error(ada: Person, bob: Person) -> None:
    ada.share("billing")
    with open_milvus(str(bob.config.team_endpoint), None):
        found = run(bob, "search", "--team", "webhook", "--json")
    assert found.status == 2
    assert json.loads(found.stderr)["error"]["kind"] == "team_unavailable"
    assert found.stdout == ""


def test_without_the_library_the_message_says_how_to_install_it(bob: Person, tmp_path: Path) -> None:
    (tmp_path / "pymilvus").mkdir()
    (tmp_path / "pymilvus" / "__init__.py").write_text("raise ModuleNotFoundError(name='pymilvus')", encoding="utf-8")
    found = run(bob, "team", "pull", PYTHONPATH=str(tmp_path))
    assert found.status == 2
    assert "pip install '.[team-milvus]'" in found.stderr


def test_an_erasure_that_was_interrupted_is_completed(ada: Person, bob: Person, milvus: MilvusFile) -> None:
    """Kill a push at the worst place: the file is written anew, and the earlier collection is dropped."""
    ada.share("billing")
    with open_milvus(str(milvus.path), None) as collection:
        collection.load()
        collection._client.rename_collection("pastchats_memory", REWRITTEN)  # noqa: SLF001 - as a kill leaves it
    assert len(bob.found()) == 3


def test_an_erasure_that_had_only_begun_is_dropped(ada: Person, bob: Person, milvus: MilvusFile) -> None:
    ada.share("billing")
    with open_milvus(str(milvus.path), None) as collection:
        collection.create(collection.dim, REWRITTEN)
    assert len(bob.found()) == 3


@pytest.mark.parametrize("name", ['x" or kind != "', "a\\", "{x}", "billing' or 1 == 1", "项目"])
def test_no_name_can_change_a_condition(name: str) -> None:
    condition = render(build_condition(build_filters(project=name)))
    assert set(condition) <= set('abcdefghijklmnopqrstuvwxyz0123456789_ ="[]')
    assert name not in condition


def test_a_file_with_another_name_is_refused(tmp_path: Path, place: Place) -> None:
    person = Person(tmp_path / "carol", place, team_endpoint=str(tmp_path / "team.sqlite"))
    with pytest.raises(TeamUnavailable) as caught:
        person.memory.search("webhook", team=True)
    assert ".db" in caught.value.hint


def test_a_collection_of_another_program_is_refused(bob: Person, milvus: MilvusFile) -> None:
    from milvus_lite.server_manager import server_manager_instance
    from pymilvus import MilvusClient

    client = MilvusClient(str(milvus.path))
    client.create_collection("pastchats_memory", dimension=4)
    client.close()
    server_manager_instance.release_server(str(milvus.path))
    with pytest.raises(TeamUnavailable, match="another release, or of another program"):
        bob.found()


def test_the_file_is_for_its_owner_alone(ada: Person, milvus: MilvusFile) -> None:
    ada.share("billing")
    assert milvus.path.stat().st_mode & 0o077 == 0


def test_a_copy_of_another_team_is_not_read(ada: Person, bob: Person, milvus: MilvusFile, tmp_path: Path) -> None:
    ada.share("billing")
    bob.pull()
    elsewhere = Person(bob.home, MilvusFile(tmp_path / "other.db"))
    assert elsewhere.recall().entries == ()
    assert elsewhere.pull().received == 0
    assert not Person(bob.home, milvus).recall().entries


def test_a_file_keeps_no_byte_of_a_withdrawn_row(ada: Person, milvus: MilvusFile) -> None:
    ada.share("billing")
    assert b"doubles at each" in milvus.stored()
    ada.memory.team.withdraw(["billing"])
    assert b"doubles at each" not in milvus.stored()
