"""What is forgotten on one machine is forgotten on all of them, and in the folder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from machines import Machine, folder_bytes
from program import Program

from pastchats_memory.store.database import open_database
from pastchats_memory.store.sync import forgetting_identity
from pastchats_memory.tasks.edit import Change

ASKED = "Why do the webhook retries of the billing service pile up at night?"
MERGER = "The merger with Northwind Traders is planned for the last week of May."


def test_a_forgotten_turn_leaves_the_other_machine_and_the_folder(desk: Machine, laptop: Machine) -> None:
    desk.write("webhooks", ("user", ASKED), ("user", MERGER))
    desk.sync()
    laptop.sync()
    assert laptop.memory.forget(query="Northwind").turns == 1
    laptop.sync()
    assert desk.sync().deleted == 1
    assert desk.texts == laptop.texts == [ASKED]
    assert b"Northwind" not in folder_bytes(desk.folder)
    assert ASKED.encode() in folder_bytes(desk.folder)
    assert desk.state == laptop.state


def test_an_old_file_that_comes_back_brings_nothing_back(tmp_path: Path, desk: Machine, laptop: Machine) -> None:
    desk.write("webhooks", ("user", MERGER))
    desk.sync()
    laptop.sync()
    (old,) = [path for path in desk.folder.rglob("*.gz") if b"Northwind" in folder_bytes(path.parent)]
    content = old.read_bytes()
    desk.memory.forget(query="Northwind")
    for machine in (desk, laptop):
        machine.sync()
    assert not old.exists()
    old.write_bytes(content)
    third = Machine(tmp_path / "third", desk.folder)
    for machine in (third, laptop, desk):
        machine.sync()
        assert machine.texts == []
    assert not old.exists()  # its owner deletes it again


def test_the_status_names_the_machines_that_have_not_forgotten_yet(desk: Machine, laptop: Machine) -> None:
    desk.write("webhooks", ("user", MERGER))
    desk.sync()
    laptop.sync()
    desk.memory.forget(query="Northwind")
    desk.sync()
    assert {machine.host: machine.behind for machine in desk.status().machines} == {"desk": 0, "laptop": 1}
    laptop.sync()
    assert {machine.host: machine.behind for machine in desk.status().machines} == {"desk": 0, "laptop": 0}


def test_acknowledging_ends(desk: Machine, laptop: Machine) -> None:
    desk.write("webhooks", ("user", MERGER))
    desk.sync()
    laptop.sync()
    desk.memory.forget(query="Northwind")
    for _ in range(2):
        for machine in (desk, laptop):
            machine.sync()
    before = sorted(desk.folder.rglob("*"))
    for machine in (desk, laptop):
        machine.sync()
    assert sorted(desk.folder.rglob("*")) == before


def test_an_allowed_item_is_allowed_everywhere(desk: Machine, laptop: Machine) -> None:
    path = desk.write("webhooks", ("user", MERGER))
    desk.sync()
    laptop.sync()
    desk.memory.forget(query="Northwind")
    desk.sync()
    laptop.sync()
    assert desk.memory.undo_forget() is not None
    desk.memory.index([path], "tern", force=True)
    desk.sync()
    laptop.sync()
    assert desk.texts == laptop.texts == [MERGER]
    assert laptop.memory.list_forgettings() == []
    laptop.sync()
    desk.sync()
    assert desk.texts == [MERGER]


def test_the_files_of_a_retired_machine_are_taken_over(desk: Machine, laptop: Machine, tmp_path: Path) -> None:
    desk.write("webhooks", ("user", ASKED), ("user", MERGER))
    desk.sync()
    laptop.sync()
    (old,) = [machine.id for machine in laptop.status().machines if machine.host == "desk"]
    laptop.memory.retire_machine(laptop.folder, old, laptop.access)
    laptop.memory.forget(query="Northwind")
    laptop.sync()
    assert b"Northwind" not in folder_bytes(laptop.folder)
    third = Machine(tmp_path / "third", laptop.folder)
    third.sync()
    assert third.texts == [ASKED]


def test_a_task_that_is_added_again_by_hand_stays_on_its_machine(desk: Machine, laptop: Machine) -> None:
    for _ in range(2):
        desk.memory.tasks.add(Change(title=MERGER, project="tern"), key="MER-1")
        desk.sync()
        laptop.sync()
        if not desk.memory.list_forgettings():
            desk.memory.forget("t:MER-1")
    assert b"Northwind" not in folder_bytes(desk.folder)
    assert desk.memory.tasks.count() == 1
    assert laptop.memory.tasks.count() == 0


def test_nothing_names_a_forgotten_turn_any_more(desk: Machine, laptop: Machine) -> None:
    desk.write("webhooks", ("user", ASKED), ("assistant", "No backoff."), ("user", "That failed."), project="northwind")
    desk.sync()
    laptop.sync()
    judged = laptop.memory.search("webhook retries")[0].id
    laptop.memory.judge(judged, "failed", "That failed.")
    laptop.sync()
    desk.sync()
    assert traces(desk) == traces(laptop) == [True, True]
    assert laptop.memory.forget(project="northwind").turns == 3
    assert traces(laptop)[0] is False
    laptop.sync()
    desk.sync()
    laptop.sync()
    assert traces(desk) == traces(laptop) == [False, False]
    assert b'"verdict"' not in folder_bytes(desk.folder)


def traces(machine: Machine) -> list[bool]:
    """Return whether a memory has the latest judgement of a turn, and a hash of any turn, for `sync`."""
    with open_database(machine.home / "memory.db") as database:
        notes = database.value("SELECT count(*) FROM sync_records WHERE kind IN ('turn', 'judgement')")
        bodies = database.value("SELECT count(*) FROM sync_judgements")
    return [bodies > 0, notes > 0]


@pytest.mark.parametrize(
    ("column", "value"),
    [(0, "\x1b[2J"), (1, "no JSON"), (1, "[]"), (1, '{"project": {}}'), (2, "00" * 65), (2, ""), (7, "later")],
)
def test_a_malformed_forgetting_is_refused(desk: Machine, laptop: Machine, column: int, value: str) -> None:
    desk.write("webhooks", ("user", MERGER))
    desk.memory.forget(query="Northwind")
    desk.sync()
    (file,) = desk.folder.rglob("*.gz")
    _, header, record, end = map(json.loads, gzip.decompress(file.read_bytes()).splitlines())
    record["row"][column] = value
    record["identity"] = forgetting_identity(
        tuple(bytes.fromhex(one) if place == 2 else one for place, one in enumerate(record["row"]))
    )
    desk.sign(file, b"".join(json.dumps(line).encode() + b"\n" for line in (header, record, end)))
    assert [one.reason for one in laptop.sync().refused] == ["has a malformed forgetting"]
    assert laptop.memory.list_forgettings() == []


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_purged_memory_comes_back_unless_it_is_forgotten_everywhere(
    desk: Machine, laptop: Machine, everywhere: bool
) -> None:
    desk.write("webhooks", ("user", ASKED), ("user", MERGER))
    laptop.write("limits", ("user", "Which rate limit does the gateway have?"))
    desk.memory.tasks.add(Change(title="Rotate the signing certificate", project="tern"), key="CRT-1")
    for machine in (desk, laptop, desk):
        machine.sync()
    before = laptop.state
    desk.memory.purge(everywhere=everywhere)
    for machine in (desk, laptop, desk, laptop):
        machine.sync()
    if everywhere:
        assert desk.texts == laptop.texts == []
        assert laptop.memory.tasks.count() == 0
        assert not any(
            text in folder_bytes(desk.folder) for text in (b"Northwind", b"webhook", b"gateway", b"certificate")
        )
    else:
        assert desk.state == laptop.state == before


def test_purge_says_that_sync_brings_everything_back_and_how_to_forget_it_there(program: Program) -> None:
    folder = program.home / "carried"
    folder.mkdir()
    program("capture", "--title", "Rotate the signing certificate", "--project", "tern")
    assert program("sync", folder, "--plain").status == 0
    for further, words in (([], "brings it back"), (["--everywhere"], "lets your other machines forget it")):
        run = program("purge", "--yes", *further)
        assert words in run.stderr
        assert str(folder) in run.stderr or further
        program("sync", folder, "--plain")
