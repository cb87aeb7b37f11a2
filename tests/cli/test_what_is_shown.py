"""`show`, `status` and `doctor` say what is so now."""

from __future__ import annotations

import shutil
from pathlib import Path

from program import Program, write_messages

from pastchats_memory import Memory


def test_show_cites_a_file_that_still_exists_and_keeps_the_place_that_is_gone(program: Program) -> None:
    gone, standing = (program.home / folder / "webhooks.jsonl" for folder in ("history", "copy"))
    write_messages(gone, ("user", "How do we retry webhooks?"), ("assistant", "With backoff and jitter."))
    shutil.copytree(gone.parent, standing.parent)
    assert program("index", "history", "copy").status == 0
    gone.unlink()
    for shown in program("show", "1", "--json").results:
        assert shown["source_path"] == str(standing)
        assert shown["source_line"] == int(shown["id"])
        assert shown["outcome"] == "unknown"
        assert [place["path"] for place in shown["places"]] == [str(standing), str(gone)]
    assert f"Source: {standing}:1 " in program("show", "1").stdout


def test_an_item_of_nought_is_named_as_it_was_asked_for(indexed: Program) -> None:
    run = indexed("show", "000")
    assert (run.status, run.stdout) == (1, "")
    assert "no item 0." in run.stderr


def test_a_missing_vec0_table_is_not_reported_as_a_missing_extension(program: Program, tmp_path: Path) -> None:
    (program.home / "empty").mkdir()
    without = program.without_sqlite_vec(tmp_path)
    assert without("index", "empty").status == 1
    assert "Vectors   none yet" in program("status").stdout
    assert "sqlite-vec is loaded, but its table is not built yet" in program("doctor").stdout
    write_messages(program.home / "history" / "pans.jsonl", ("user", "Which pan is for eggs?"))
    assert without("index", "history").status == 0
    assert "exact (NumPy; `doctor` says why)" in without("status").stdout


def test_the_doctor_examines_a_database_that_may_only_be_read(indexed: Program, ordinary: Program) -> None:
    indexed.database.chmod(0o400)
    run = ordinary("doctor", "--json")
    assert (run.status, run.stderr) == (0, "")
    assert all(finding["is_well"] for finding in run.results)
    folder = indexed.home / "shelf"
    folder.mkdir()
    database = indexed.database.rename(folder / "memory.db")
    folder.chmod(0o500)
    try:
        assert ordinary("doctor", "--db", database).status == 0
    finally:
        folder.chmod(0o700)


def test_no_turn_has_a_status(indexed: Program) -> None:
    with Memory.open(indexed.database) as memory:
        assert memory.search("webhooks", status=None)
        assert memory.search("webhooks", status="done") == []


def test_a_long_id_of_a_tracker_leaves_the_text_its_room_and_stays_whole(indexed: Program) -> None:
    key = "payments-service-rob.safe.retry.of.webhooks"
    assert "id t:" not in indexed("search", "webhooks").stdout
    assert indexed("task", "add", "Retry the webhooks of all customers", "--key", key).status == 0
    lines = indexed("search", "retry webhooks of customers").stdout.splitlines()
    assert any(line.endswith(f" · id t:{key}") for line in lines)
    assert any("Retry the webhooks of all customers" in line for line in lines)


def test_a_path_can_be_copied_from_every_command_that_shows_it(program: Program) -> None:
    path = program.home / "history" / "chat [1](2) ·.jsonl"
    write_messages(path, ("user", "Which glaze is for the blue bowl?"), ("assistant", "Cobalt."))
    assert program("index", "history").status == 0
    source = f"`{path}`:1"
    assert source in program("search", "blue bowl glaze").stdout
    assert f"Source: {source} " in program("show", "1").stdout
    path.unlink()
    assert f"`{path}`" in program("open", "1").stderr
    assert str(path.name) in program("verify").stdout
