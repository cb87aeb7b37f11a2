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
from machines import Machine

ASKED = "Why do the webhook retries of the billing service pile up at night?"
ANSWERED = "Because the queue has no backoff. A delay that doubles at each attempt ended it."


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


def rewrite(file: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    change(lines)
    file.write_bytes(gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))


def of_turn(field: str, value: object) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: lines[1]["body"].__setitem__(field, value)


@pytest.mark.parametrize(
    "change",
    [
        of_turn("content", 7), of_turn("content", ""), of_turn("turn_index", -1), of_turn("turn_index", 1 << 70), of_turn("timestamp", "yesterday"),
        of_turn("content_hash", "../../etc"), of_turn("places", [["x"]]), of_turn("vector", "[1, "), of_turn("vector", '["a"]'), of_turn("metadata", []),
        lambda lines: lines[1].__setitem__("kind", "DROP TABLE"), lambda lines: lines[1].__setitem__("digest", "zz"), lambda lines: lines[1].pop("body"),
        lambda lines: lines.__setitem__(1, {"kind": "forgetting", "identity": "00", "digest": "00" * 16, "row": [], "hashes": []}),
        lambda lines: lines.__setitem__(1, {"kind": "judgement", "identity": "00", "digest": "00" * 16, "body": {"is_withdrawn": False}}),
        lambda lines: lines.pop(), lambda lines: lines[0].__setitem__("machine", "0" * 16), lambda lines: lines[0].__setitem__("schema", "sync/99"),
    ],
)  # fmt: skip
def test_a_file_with_a_malformed_record_is_refused_whole(
    file: Path, laptop: Machine, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    rewrite(file, change)
    report = laptop.sync()
    assert len(report.refused) == 1
    assert laptop.texts == []


def test_a_vector_of_another_length_is_not_taken(file: Path, laptop: Machine) -> None:
    rewrite(file, of_turn("vector", "[1, 2, 3]"))
    assert laptop.sync().embedded == 1
    assert laptop.memory.search("webhook retries", mode="semantic")


def test_a_secret_that_the_other_machine_did_not_know_is_redacted(file: Path, laptop: Machine) -> None:
    rewrite(
        file,
        of_turn(
            "content",
            "The key is AKIAIOSFODNN7EXAMPLE and aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
    )
    laptop.sync()
    assert not any("wJalrXUtnFEMI" in text for text in laptop.texts)


def test_a_file_that_unpacks_to_more_than_a_file_may_hold_is_refused(file: Path, laptop: Machine) -> None:
    file.write_bytes(gzip.compress(b" " * ((1 << 28) + 2), compresslevel=1))
    assert [one.reason for one in laptop.sync().refused] == ["is too large"]
