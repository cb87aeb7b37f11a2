"""What one machine has, the other has after both have synchronised, once and cited."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyrage
import pytest
from machines import Machine, folder_bytes

from pastchats_memory.config import Config
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.store import turns
from pastchats_memory.store.database import open_database
from pastchats_memory.sync.report import FolderAccess

ASKED = "Why do the webhook retries of the billing service pile up at night?"
ANSWERED = "Because the queue has no backoff. A delay that doubles at each attempt ended it."


def test_a_turn_is_found_on_the_other_machine_by_meaning_without_being_embedded_again(
    desk: Machine, laptop: Machine
) -> None:
    desk.write("webhooks", ("user", ASKED), ("assistant", ANSWERED))
    assert desk.sync().sent["turn"] == 2
    report = laptop.sync()
    assert (report.received["turn"], report.embedded) == (2, 0)
    (first, *_) = laptop.memory.search("exponential delay between attempts", mode="semantic")
    assert first.content == ANSWERED


def test_the_source_of_a_synchronised_turn_names_the_machine_that_has_the_file(desk: Machine, laptop: Machine) -> None:
    path = desk.write("webhooks", ("user", ASKED), ("assistant", ANSWERED))
    desk.sync()
    laptop.sync()
    (first, *_) = laptop.memory.search("webhook retries pile up")
    assert (first.source_path, first.source_line) == (f"desk:{path}", 1)
    assert first.citation is not None
    assert first.citation.state == "unchecked"


def test_a_second_run_has_nothing_to_do(desk: Machine, laptop: Machine) -> None:
    desk.write("webhooks", ("user", ASKED))
    for machine in (desk, laptop, desk, laptop):
        machine.sync()
    before = sorted(desk.folder.rglob("*"))
    for machine in (laptop, desk, laptop):
        report = machine.sync()
        assert (report.sent.total(), report.received.total()) == (0, 0)
    assert sorted(desk.folder.rglob("*")) == before


def test_the_same_turn_on_both_machines_is_one_row(desk: Machine, laptop: Machine) -> None:
    for machine in (desk, laptop):
        machine.write("webhooks", ("user", ASKED), ("assistant", ANSWERED))
    desk.sync()
    assert laptop.sync().received.total() == 0
    desk.sync()
    assert desk.texts == laptop.texts == sorted([ASKED, ANSWERED])


@pytest.mark.parametrize("first", ["desk", "laptop"])
def test_the_longer_text_of_a_turn_stays_whoever_reads_first(desk: Machine, laptop: Machine, first: str) -> None:
    desk.write_session("webhooks", ("user", ASKED), ("assistant", ANSWERED))
    laptop.write_session("webhooks", ("user", ASKED), ("assistant", ANSWERED + " It is merged."))
    order = (desk, laptop, desk) if first == "desk" else (laptop, desk, laptop)
    for machine in order:
        machine.sync()
    assert desk.texts == laptop.texts == sorted([ASKED, ANSWERED + " It is merged."])
    assert desk.state == laptop.state


def test_a_lost_memory_comes_back_with_its_own_paths(folder: Path, desk: Machine) -> None:
    path = desk.write("webhooks", ("user", ASKED))
    desk.sync()
    desk.memory.close()
    for file in desk.home.glob("memory.db*"):
        file.unlink()
    again = Machine(desk.home, folder)
    again.sync()
    with open_database(again.home / "memory.db") as database:
        (item,) = turns.items(database, [1])
    assert item.source_path == str(path)


@pytest.mark.parametrize("kind", ["excluded", "private"])
def test_private_and_excluded_projects_never_leave(tmp_path: Path, folder: Path, kind: str) -> None:
    desk = Machine(
        tmp_path / "desk",
        folder,
        config=Config(Path(), exclude=("secret-*",)) if kind == "excluded" else Config(Path()),
    )
    desk.write("webhooks", ("user", ASKED))
    if kind == "private":
        project = tmp_path / "secret-project"
        project.mkdir()
        (project / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
        transcript = tmp_path / "private.jsonl"
        transcript.write_text(
            json.dumps({"role": "user", "content": "The merger is planned for May.", "cwd": str(project)}),
            encoding="utf-8",
        )
        desk.memory.index([transcript])
    else:
        desk.memory._config = Config(Path())  # noqa: SLF001 - it was indexed before it was excluded
        desk.write("merger", ("user", "The merger is planned for May."), project="secret-project")
        desk.memory._config = Config(Path(), exclude=("secret-*",))  # noqa: SLF001
    assert "The merger is planned for May." in desk.texts
    report = desk.sync()
    assert (report.sent["turn"], report.held_back) == (1, 1)
    assert b"merger" not in folder_bytes(folder)


def test_turns_that_become_private_are_withdrawn(tmp_path: Path, folder: Path, desk: Machine) -> None:
    project = tmp_path / "project"
    project.mkdir()
    transcript = tmp_path / "session.jsonl"
    transcript.write_text(
        json.dumps({"role": "user", "content": "The merger is planned for May.", "cwd": str(project)}), encoding="utf-8"
    )
    desk.memory.index([transcript])
    desk.write("webhooks", ("user", ASKED))
    desk.sync()
    assert b"merger" in folder_bytes(folder)
    (project / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    assert desk.sync().rewritten == 1
    assert b"merger" not in folder_bytes(folder)
    assert ASKED.encode() in folder_bytes(folder)


def test_a_folder_that_is_missing_is_explained(tmp_path: Path, desk: Machine) -> None:
    with pytest.raises(InputMissing, match="is no folder"):
        desk.memory.sync(tmp_path / "nowhere", desk.access)


def test_a_wrong_key_file_leaves_the_folder_as_it_was(tmp_path: Path, folder: Path, desk: Machine) -> None:
    key = tmp_path / "words.txt"
    key.write_text("correct horse battery staple\n", encoding="utf-8")
    with pytest.raises(UsageFault, match="no age key"):
        desk.sync(FolderAccess(key_file=key))
    assert not list(folder.iterdir())
    assert not desk.sync(FolderAccess(passphrase=lambda: "correct horse")).refused


def test_nothing_of_the_text_can_be_read_in_an_encrypted_folder(tmp_path: Path, folder: Path) -> None:
    key = tmp_path / "age.txt"
    key.write_text(f"# created: today\n{pyrage.x25519.Identity.generate()}\n", encoding="utf-8")
    desk = Machine(tmp_path / "desk", folder, access=FolderAccess(key_file=key))
    laptop = Machine(tmp_path / "laptop", folder, access=FolderAccess(key_file=key))
    desk.write("webhooks", ("user", ASKED))
    desk.sync()
    assert b"webhook" not in folder_bytes(folder)
    laptop.sync()
    assert laptop.texts == [ASKED]
    key.unlink()
    assert laptop.sync(FolderAccess()).refused == []  # the key lies in the memory by now


def test_another_key_reads_nothing(tmp_path: Path, folder: Path) -> None:
    keys = [tmp_path / name for name in ("one.txt", "two.txt")]
    for key in keys:
        key.write_text(str(pyrage.x25519.Identity.generate()), encoding="utf-8")
    desk, laptop = (Machine(tmp_path / f"m{key.stem}", folder, access=FolderAccess(key_file=key)) for key in keys)
    desk.write("webhooks", ("user", ASKED))
    desk.sync()
    (refused,) = laptop.sync().refused
    assert "encrypted with another key" in refused.reason
    assert laptop.texts == []


def test_a_passphrase_opens_the_folder_and_a_wrong_one_does_not(tmp_path: Path, folder: Path) -> None:
    desk = Machine(tmp_path / "desk", folder, access=FolderAccess(passphrase=lambda: "correct horse"))
    desk.write("webhooks", ("user", ASKED))
    desk.sync()
    laptop = Machine(tmp_path / "laptop", folder)
    with pytest.raises(UsageFault, match="not the folder's passphrase"):
        laptop.sync(FolderAccess(passphrase=lambda: "battery staple"))
    with pytest.raises(UsageFault, match="are encrypted"):
        laptop.sync(FolderAccess(is_plain=True))
    with pytest.raises(UsageFault, match="needs its passphrase"):
        laptop.sync(FolderAccess())
    laptop.sync(FolderAccess(passphrase=lambda: "correct horse"))
    assert laptop.texts == [ASKED]


def test_a_busy_machine_does_not_call_the_passphrase_wrong(tmp_path: Path, folder: Path) -> None:
    """The library refuses more work than the machine does in a few seconds, as it has timed it before."""
    access = FolderAccess(passphrase=lambda: "correct horse")
    Machine(tmp_path / "desk", folder, access=access).sync()
    key = folder / "key.age"
    content, number = re.subn(rb"(\n-> scrypt \S+ )[0-9]+", rb"\g<1>40", key.read_bytes())
    assert number == 1
    key.write_bytes(content)
    with pytest.raises(UsageFault, match="too busy to try the passphrase"):
        Machine(tmp_path / "laptop", folder).sync(access)


def test_a_busy_machine_does_not_weaken_the_passphrase(tmp_path: Path, folder: Path) -> None:
    Machine(tmp_path / "desk", folder, access=FolderAccess(passphrase=lambda: "correct horse")).sync()
    work = re.search(rb"\n-> scrypt \S+ ([0-9]+)\n", (folder / "key.age").read_bytes())
    assert work is not None
    assert int(work[1]) >= 16


def test_a_folder_that_stops_being_encrypted_is_refused(tmp_path: Path, folder: Path) -> None:
    key = tmp_path / "age.txt"
    key.write_text(str(pyrage.x25519.Identity.generate()), encoding="utf-8")
    desk = Machine(tmp_path / "desk", folder, access=FolderAccess(key_file=key))
    desk.sync()
    marker = folder / "pastchats-sync.json"
    marker.write_text(marker.read_text().replace("true", "false"), encoding="utf-8")
    with pytest.raises(UsageFault, match="says that it is not encrypted"):
        desk.sync()


def test_a_stranger_who_replaces_the_marker_gets_no_plain_text(tmp_path: Path, folder: Path) -> None:
    key = tmp_path / "age.txt"
    key.write_text(str(pyrage.x25519.Identity.generate()), encoding="utf-8")
    desk = Machine(tmp_path / "desk", folder, access=FolderAccess(key_file=key))
    desk.write("webhooks", ("user", ASKED))
    desk.sync()
    marker = folder / "pastchats-sync.json"
    body = json.loads(marker.read_text(encoding="utf-8"))
    marker.write_text(json.dumps(body | {"id": "0" * 32, "is_encrypted": False}), encoding="utf-8")
    for access in (FolderAccess(), FolderAccess(key_file=key), FolderAccess(passphrase=lambda: "correct horse")):
        with pytest.raises(UsageFault, match="not encrypted"):
            desk.sync(access)
    assert b"webhook" not in folder_bytes(folder)


def test_a_passphrase_or_a_key_that_is_no_text_is_explained(tmp_path: Path, folder: Path) -> None:
    key = tmp_path / "age.txt"
    key.write_bytes(b"\x00\xa3\xff" * 100)
    for access, problem in (
        (FolderAccess(passphrase=lambda: "a\udcff"), "is not UTF-8"),
        (FolderAccess(key_file=key), "no age key"),
    ):
        with pytest.raises(UsageFault, match=problem):
            Machine(tmp_path / "desk", folder, access=access).sync()


def test_a_project_that_is_excluded_on_one_machine_alone_is_not_stored_there(tmp_path: Path, desk: Machine) -> None:
    careful = Machine(tmp_path / "careful", desk.folder, config=Config(Path(), exclude=("tern",)))
    desk.write("webhooks", ("user", ASKED), ("assistant", ANSWERED))
    desk.write("other", ("user", "Which port does the worker listen on?"), project="worker")
    desk.sync()
    report = careful.sync()
    assert (report.received["turn"], report.left_out) == (1, 2)
    assert careful.texts == ["Which port does the worker listen on?"]
    assert desk.sync().deleted == 0


@pytest.mark.parametrize("turns", [2, 3, 4])
def test_a_turn_without_an_id_that_grew_is_one_turn_everywhere(
    tmp_path: Path, desk: Machine, laptop: Machine, turns: int
) -> None:
    dialogue = [("user", ASKED), ("assistant", ANSWERED), ("user", "Is it merged?"), ("assistant", "Not yet.")][:turns]
    role, text = dialogue[-1]
    grown = [*dialogue[:-1], (role, f"{text} Tests are running."), ("user", "Tell me when they have ended.")]
    for machine in (desk, laptop):
        machine.paste("webhooks", *dialogue)
        machine.sync()
    desk.paste("webhooks", *grown)
    third = Machine(tmp_path / "third", desk.folder)
    for machine in (desk, laptop, third, desk, laptop, third):
        machine.sync()
    assert desk.texts == laptop.texts == third.texts == sorted(text for _, text in grown)
    assert desk.state == laptop.state == third.state
