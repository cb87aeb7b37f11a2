"""Files of the folder may be incomplete, doubled, renamed, missing or hostile; none of them does harm."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from machines import Machine

from pastchats_memory.errors import UsageFault

ASKED = "Why do the webhook retries of the billing service pile up at night?"
ANSWERED = "Because the queue has no backoff. A delay that doubles at each attempt ended it."
JUDGEMENT = {
    "verdict": "worked", "shown_in": None, "shown_from": 0, "shown_length": 0, "read": [], "project": "tern", "is_withdrawn": False,
    "judged_at": "2026-03-01 10:00:00", "at": "2026-03-01 10:00:00", "machine": "0" * 16,
}  # fmt: skip


@pytest.fixture
def file(desk: Machine) -> Path:
    desk.write("webhooks", ("user", ASKED), ("assistant", ANSWERED))
    desk.sync()
    (path,) = desk.folder.rglob("*.gz")
    return path


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_file_that_is_still_arriving_is_read_when_it_is_complete(file: Path, laptop: Machine, share: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    (refused,) = laptop.sync().refused
    assert "incomplete" in refused.reason
    assert laptop.texts == []
    file.write_bytes(content)
    assert laptop.sync().received["turn"] == 2


def test_a_conflicted_copy_is_ignored(file: Path, laptop: Machine) -> None:
    shutil.copy(file, file.with_name("00000001 (conflicted copy).jsonl.gz"))
    report = laptop.sync()
    assert (report.refused, report.received["turn"]) == ([], 2)


def test_a_copy_under_another_number_is_refused(file: Path, laptop: Machine) -> None:
    shutil.copy(file, file.with_name("00000002.jsonl.gz"))
    report = laptop.sync()
    assert [one.reason for one in report.refused] == ["is a copy of another file"]
    assert report.received["turn"] == 2


def test_files_may_arrive_in_any_order(desk: Machine, laptop: Machine, file: Path) -> None:
    desk.write("limits", ("user", "Which rate limit does the gateway have?"))
    desk.sync()
    aside = file.with_suffix(".aside")
    file.rename(aside)
    report = laptop.sync()
    assert report.received["turn"] == 1
    (machine,) = [one for one in report.machines if one.host == "desk"]
    assert machine.missing == (1,)
    aside.rename(file)
    laptop.sync()
    assert laptop.state == desk.state


@pytest.mark.parametrize("hostile", ["link", "folder", "pipe"])
def test_only_regular_files_are_opened(file: Path, laptop: Machine, tmp_path: Path, hostile: str) -> None:
    file.unlink()
    if hostile == "link":
        target = tmp_path / "elsewhere"
        target.write_text("private", encoding="utf-8")
        file.symlink_to(target)
    elif hostile == "folder":
        file.mkdir()
    else:
        os.mkfifo(file)
    assert laptop.sync().received.total() == 0


def rewrite(desk: Machine, file: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Change the lines of a file of a machine, which signs it again."""
    _, *lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    change(lines)
    desk.sign(file, b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def of_turn(field: str, value: object) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: lines[1]["body"].__setitem__(field, value)


def of_header(field: str, value: object) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: lines[0].__setitem__(field, value)


def instead(**record: object) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: lines.__setitem__(1, {"identity": "a" * 64, "digest": "00" * 16, **record})


def nested(levels: int) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for _ in range(levels):
        body = {"a": body}
    return body


@pytest.mark.parametrize(
    "change",
    [
        of_turn("content", 7), of_turn("content", ""), of_turn("turn_index", -1), of_turn("turn_index", 1 << 70), of_turn("timestamp", "yesterday"),
        of_turn("content_hash", "../../etc"), of_turn("places", [["x"]]), of_turn("vector", "[1, "), of_turn("vector", '["a"]'), of_turn("metadata", []),
        lambda lines: lines[1].__setitem__("kind", "DROP TABLE"), lambda lines: lines[1].__setitem__("digest", "zz"), lambda lines: lines[1].pop("body"),
        lambda lines: lines.__setitem__(1, {"kind": "forgetting", "identity": "00", "digest": "00" * 16, "row": [], "hashes": []}),
        lambda lines: lines.__setitem__(1, {"kind": "judgement", "identity": "00", "digest": "00" * 16, "body": {"is_withdrawn": False}}),
        lambda lines: lines.pop(), lambda lines: lines[0].__setitem__("machine", "0" * 16), lambda lines: lines[0].__setitem__("schema", "sync/99"),
        of_header("files", 5), of_header("files", [{}]), of_header("forgettings", None), of_header("host", {}), of_header("host", "x" * 256), of_header("at", "\x1b[2J"),
        of_turn("metadata", nested(120)), of_turn("metadata", nested(600)), of_turn("more", nested(600)), instead(kind="lifting", body=5), instead(kind="\x1b[31m"),
        instead(kind="judgement", body=JUDGEMENT | {"source_path": 5}), instead(kind="judgement", body=JUDGEMENT | {"more": "the text of a turn"}),
        instead(kind="judgement", body=JUDGEMENT | {"project": 5}), instead(kind="judgement", body=JUDGEMENT | {"at": "\x1b[2J"}), instead(kind="judgement", body=JUDGEMENT | {"machine": "../desk"}),
    ],
)  # fmt: skip
def test_a_file_with_a_malformed_record_is_refused_whole(
    desk: Machine, file: Path, laptop: Machine, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    rewrite(desk, file, change)
    (refused,) = laptop.sync().refused
    assert refused.reason.isprintable()
    assert laptop.texts == []
    assert sum(machine.unread for machine in laptop.status().machines) == 1


def test_a_judgement_of_known_fields_alone_is_taken(desk: Machine, file: Path, laptop: Machine) -> None:
    rewrite(desk, file, instead(kind="judgement", body=JUDGEMENT))
    report = laptop.sync()
    assert (report.refused, report.received["turn"]) == ([], 1)


def test_a_machine_whose_folder_is_a_link_writes_nothing_behind_it(desk: Machine, file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    file.parent.rename(elsewhere)
    file.parent.symlink_to(elsewhere)
    desk.write("limits", ("user", "Which rate limit does the gateway have?"))
    with pytest.raises(UsageFault, match="is a link"):
        desk.sync()
    assert [path.name for path in elsewhere.iterdir()] == [file.name]
    file.parent.unlink()
    assert desk.sync().sent["turn"] == 1


def test_a_folder_whose_name_is_no_text_is_explained(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"bad\xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has no such names")
    with pytest.raises(UsageFault, match="is not UTF-8"):
        Machine(tmp_path / "desk", folder).sync()


@pytest.mark.parametrize("vector", [[1, 2, 3], [0.5] * 384, [128] * 384, [0] * 384])
def test_a_vector_that_is_none_of_this_model_is_not_taken(
    desk: Machine, file: Path, laptop: Machine, vector: list[float]
) -> None:
    rewrite(desk, file, of_turn("vector", json.dumps(vector)))
    assert laptop.sync().embedded == 1
    assert laptop.memory.search("webhook retries", mode="semantic")


def test_a_secret_that_the_other_machine_did_not_know_is_redacted(desk: Machine, file: Path, laptop: Machine) -> None:
    rewrite(
        desk,
        file,
        of_turn(
            "content",
            "The key is AKIAIOSFODNN7EXAMPLE and aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
    )
    laptop.sync()
    assert not any("wJalrXUtnFEMI" in text for text in laptop.texts)


def test_a_file_that_unpacks_to_more_than_a_file_may_hold_is_refused(
    desk: Machine, file: Path, laptop: Machine
) -> None:
    desk.sign(file, b" " * ((1 << 28) + 2))
    assert [one.reason for one in laptop.sync().refused] == ["is too large"]


def test_two_runs_over_one_memory_do_not_write_at_once(desk: Machine) -> None:
    desk.write("webhooks", ("user", ASKED))
    with FileLock(desk.home / "memory.db.sync-lock"), pytest.raises(UsageFault, match="is running"):
        desk.sync()
    assert desk.sync().sent["turn"] == 1


def test_the_status_of_an_unused_folder_changes_nothing(desk: Machine) -> None:
    with pytest.raises(UsageFault, match="was not used"):
        desk.status()
    assert list(desk.folder.iterdir()) == []
