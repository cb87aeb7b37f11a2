"""Damage to a JSONL file costs the record that it hit, in every format."""

from __future__ import annotations

import json

import pytest

from pastchats_memory import Memory
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Turn, Unreadable


def claude_record(number: int) -> bytes:
    role = "user" if number % 2 else "assistant"
    fields = {"type": role, "uuid": f"u{number}", "sessionId": "s1", "timestamp": f"2026-01-01T00:00:{number:02d}Z"}
    return json.dumps({**fields, "message": {"role": role, "content": f"text number {number}"}}).encode()


def plain_record(number: int) -> bytes:
    role = "user" if number % 2 else "assistant"
    return json.dumps({"role": role, "content": f"text number {number}"}).encode()


A, B, C, D, E = map(claude_record, range(1, 6))
ALL = [1, 2, 3, 4, 5]


def lines(*records: bytes) -> bytes:
    return b"\n".join(records) + b"\n"


def numbers_and_faults(path):
    source = SourceFile(path)
    found = list(detect_format(source).read(source))
    numbers = [int(item.content.split()[-1]) for item in found if isinstance(item, Turn)]
    return numbers, [item.line for item in found if isinstance(item, Unreadable)]


DAMAGE = {
    "a line of zeros": (lines(A, B, b"\0" * 200, C, D, E), ALL, [3]),
    "zeros at the start": (lines(b"\0" * 300, A, B, C, D, E), ALL, [1]),
    "zeros before a record": (lines(A, B, b"\0" * 5000 + C, D, E), ALL, [3]),
    "zeros after half a record": (lines(A, B, C[:60] + b"\0" * 600 + D, E), [1, 2, 4, 5], [3]),
    "zeros within a record": (lines(A, B, C[:60] + b"\0" * 99 + C[-9:], D, E), [1, 2, 4, 5], [3]),
    "zeros at the end": (lines(A, B, C, D, E) + b"\0" * 8192, ALL, []),
    "half a record and the next one": (lines(A, B, C[:-12] + D, E), [1, 2, 4, 5], [3]),
    "half a record before its text": (lines(A, B, C[: C.index(b'{"role')] + D, E), [1, 2, 4, 5], [3]),
    "half a record on a line": (lines(A, B, C[:-12], D, E), [1, 2, 4, 5], [3]),
    "half a record and words": (lines(A, B, C[:-12], b"Killed", b"", D, E), [1, 2, 4, 5], [3]),
    "two halves": (lines(A, B, C[:90], D[:80], E), [1, 2, 5], [3, 4]),
    "two records on a line": (lines(A + B, C + b" " + D, E), ALL, []),
    "records and a half on a line": (lines(A, B + C + D[:40], E), [1, 2, 3, 5], [2]),
    "no line ends": (A + B + C + D + E, ALL, []),
    "record separators": (b"".join(b"\x1e" + each + b"\n" for each in (A, B, C, D, E)), ALL, []),
    "a raw line end in a string": (lines(A, B, C.replace(b"number", b"num\n\nber"), D, E), ALL, []),
    "a raw line end in the first record": (lines(A.replace(b"number", b"num\nber"), B, C, D, E), ALL, []),
    "a raw line end before a brace": (lines(A, B, C.replace(b'{"role', b'\n{"role'), D, E), ALL, []),
    "a raw CRLF in a string": (lines(A, B, C.replace(b"number", b"num\r\nber"), D, E).replace(b"\n", b"\r\n"), ALL, []),
    "a mark of byte order": (lines(A, B, b"\xef\xbb\xbf" + C, D, E), ALL, []),
    "no UTF-8": (lines(A, B, C.replace(b"text", b"\xff\xfe\x80" * 40), D, E), ALL, []),
    "random bytes": (lines(A, B, bytes(range(128, 256)) * 3, D, E), [1, 2, 4, 5], [3]),
    "random bytes at the start": (lines(bytes(range(128, 256)) * 3, B, C, D, E), [2, 3, 4, 5], [1]),
    "another program's words": (lines(A, B, b"npm WARN old " + C, D, E), ALL, [3]),
}


@pytest.mark.parametrize(("content", "numbers", "faults"), DAMAGE.values(), ids=DAMAGE)
def test_damage_costs_only_the_record_that_it_hit(tmp_path, content, numbers, faults):
    path = tmp_path / "session.jsonl"
    path.write_bytes(content)
    assert numbers_and_faults(path) == (numbers, faults)


def test_a_file_without_the_name_of_its_kind_survives_a_damaged_first_line(tmp_path):
    for name in ("session.json", "session.txt"):
        path = tmp_path / name
        path.write_bytes(lines(A[:50], *map(plain_record, ALL)))
        assert numbers_and_faults(path) == (ALL, [1])


def test_a_whole_value_within_half_a_record_is_no_record(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(lines(A, C[:-1], B))
    assert numbers_and_faults(path) == ([1, 2], [2])


@pytest.mark.parametrize("record", [claude_record, plain_record])
def test_a_file_that_was_indexed_is_read_on_after_a_crash(tmp_path, record):
    path = tmp_path / "session.jsonl"
    first, second, third, fourth = map(record, (1, 2, 3, 4))
    with Memory.open(tmp_path / "memory.db") as memory:
        path.write_bytes(lines(first, second))
        memory.index([path])
        path.write_bytes(lines(first, second) + b"\0" * 4096 + b"\n" + lines(third, fourth))
        report = memory.index([path])
        assert [[fault.line for fault in file.unreadable] for file in report.files] == [[3]]
        assert {hit.content for hit in memory.search("text number", limit=9)} == {
            f"text number {n}" for n in range(1, 5)
        }


def test_a_record_that_was_broken_at_a_line_end_is_completed_by_the_lines_that_follow(tmp_path):
    path = tmp_path / "session.jsonl"
    broken = C.replace(b"number", b"num\n\nber")
    with Memory.open(tmp_path / "memory.db") as memory:
        path.write_bytes(lines(A, B) + broken[: broken.index(b"\n") + 1])
        memory.index([path])
        path.write_bytes(lines(A, B, broken, D))
        memory.index([path])
        assert "text num\n\nber 3" in {hit.content for hit in memory.search("text", limit=9)}


def test_many_halves_of_records_are_read_in_one_pass(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(lines(A, B, *[b'{"a": {"b": 1,'] * 5_000, C))
    numbers, faults = numbers_and_faults(path)
    assert numbers == [1, 2, 3]
    assert len(faults) == 5_000


@pytest.mark.parametrize("name", ["session.jsonl", "session.json", "session"])
@pytest.mark.parametrize("joined", [b"".join([A, B, C, D, E]), b" ".join([A, B, C, D, E]) + b"\n"])
def test_records_without_line_ends_are_all_read(tmp_path, name, joined):
    (tmp_path / name).write_bytes(joined)
    assert numbers_and_faults(tmp_path / name) == (ALL, [])


def test_one_document_on_one_line_stays_a_document(tmp_path):
    document = b'{"messages": [' + b", ".join(map(plain_record, ALL)) + b"]}"
    (tmp_path / "chat.json").write_bytes(document)
    assert numbers_and_faults(tmp_path / "chat.json") == (ALL, [])


def test_indented_records_one_after_the_other_are_all_read(tmp_path):
    records = [json.dumps(json.loads(record), indent=2).encode() for record in (A, B, C, D, E)]
    (tmp_path / "session.jsonl").write_bytes(lines(*records))
    assert numbers_and_faults(tmp_path / "session.jsonl") == (ALL, [])
