"""Archives are read through: exports work whole, and what could do harm is refused with its reason."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from importlib import import_module
from pathlib import Path

import pytest
from program import DEMO, Program

from pastchats_memory.files.archives import AT_ONCE, ZSTD, open_member

CHAT = json.dumps([{"role": "user", "content": "Is the fence painted?"}, {"role": "assistant", "content": "Green."}])
LINES = '{"role": "user", "content": "Is the gate?"}\n{"role": "assistant", "content": "Not yet."}\n'
FIXTURES = DEMO.parent
OTHERS = ("memories.json", "projects.json", "users.json")
EXPORT = (DEMO / "exports" / "chatgpt" / "conversations.json").read_bytes()


def packed(path: Path, **members: str | bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_json", ".json"), content)
    return path


def test_an_export_is_read_as_it_was_downloaded(program: Program) -> None:
    packed(program.home / "export.zip", conversations_json=EXPORT, user_json='{"id": "u"}', chat_html="<html>")
    run = program("index", "export.zip", "--json")
    assert run.status == 0
    assert run.json["turns_added"] > 0
    hit = program("search", "--json", "--mode", "keyword", "--limit", "1", "the").results[0]
    assert hit["source_path"] == str(program.home / "export.zip" / "conversations.json")
    again = program("index", "export.zip", "--json").json
    assert (again["turns_added"], again["files_unchanged"], again["embedded"]) == (0, 2, 0)


def test_a_claude_ai_export_is_read_whole_with_what_is_no_conversation_named(program: Program) -> None:
    """As it is downloaded: conversations in one file; account, projects and memories in others."""
    samples = FIXTURES / "claude-ai"
    conversations = (samples / "claude-ai-q1.json").read_text(encoding="utf-8")
    others = {name: (samples / "refused" / name).read_text(encoding="utf-8") for name in OTHERS}
    with zipfile.ZipFile(program.home / "data-2026-05-01.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"conversations.json": conversations, **others}.items():
            archive.writestr(name, content)
    (program.home / "alone.json").write_text(conversations, encoding="utf-8")
    alone = program("index", "alone.json", "--db", "alone.db", "--json").json["turns_added"]
    run = program("index", "data-2026-05-01.zip", "--json").json
    assert run["turns_added"] == alone > 0
    formats = {Path(each["source_path"]).name: each["format"] for each in run["results"]}
    assert formats == {"conversations.json": "claude-ai", **dict.fromkeys(OTHERS)}
    assert all(each["reason"] for each in run["results"] if each["format"] is None)


def test_a_torn_document_is_left_with_where_it_fails_as_the_reason(program: Program) -> None:
    torn = program.home / "export.json"
    torn.write_bytes(EXPORT[: len(EXPORT) // 3])
    packed(program.home / "export.zip", conversations_json=EXPORT[: len(EXPORT) // 3])
    for name in ("export.json", "export.zip"):
        run = program("index", name)
        assert run.status == 1
        assert "not whole JSON: unexpected end of data" in run.stdout


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("chat.jsonl.gz", gzip.compress),
        ("chat.jsonl.zst", lambda raw: import_module(ZSTD).compress(raw)),
        ("chat.jsonl.zstd", lambda raw: b"".join(map(import_module(ZSTD).compress, raw.splitlines(keepends=True)))),
    ],
)
def test_a_packed_file_is_cited_by_its_own_name_within(program: Program, name: str, pack) -> None:
    folder = program.home / "history"
    folder.mkdir()
    (folder / name).write_bytes(pack(LINES.encode()))
    assert program("index", "history", "--json").json["turns_added"] == 2
    hit = program("search", "--json", "gate").results[0]
    assert (hit["source_path"], hit["source_line"]) == (str(folder / name / "chat.jsonl"), 1)
    assert program("doctor", "--json").status == 0
    assert program("index", "history", "--json").json["files_unchanged"] == 1
    (folder / name).write_bytes(pack((LINES + '{"role": "user", "content": "Now it is."}\n').encode()))
    assert program("index", "history", "--json").json["turns_added"] == 1


@pytest.mark.parametrize("padding", [0, 1, AT_ONCE - 1, 3 * AT_ONCE])
def test_a_gzip_file_of_several_parts_is_read_to_its_end(tmp_path: Path, padding: int) -> None:
    parts = [b"", LINES.encode(), b"", os.urandom(2 * AT_ONCE), LINES.encode()]
    path = tmp_path / "chat.jsonl.gz"
    path.write_bytes(b"".join(gzip.compress(part) + bytes(padding) for part in parts))
    with open_member(path)() as stream:
        assert stream.read() == b"".join(parts)


@pytest.mark.parametrize("last", [1, 9, 60, -9, -1])
def test_a_gzip_file_that_was_cut_is_damaged(tmp_path: Path, last: int) -> None:
    path = tmp_path / "chat.jsonl.gz"
    path.write_bytes(gzip.compress(LINES.encode() * 9)[:last])
    with open_member(path)() as stream, pytest.raises(OSError, match="it ends before its end"):
        stream.read()


def test_harmful_members_are_refused_and_the_rest_is_read(program: Program) -> None:
    inner = packed(program.home / "inner.zip", chat_json=CHAT).read_bytes()
    (program.home / "inner.zip").unlink()
    with zipfile.ZipFile(program.home / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {
            "../../outside.json": CHAT,
            "/etc/chat.json": CHAT,
            "C:\\chat.json": CHAT,
            "more.zip": inner,
            "state.db": b"SQLite format 3\0",
            "__MACOSX/chat.json": CHAT,
            "fine/chat.json": CHAT,
        }.items():
            archive.writestr(name, content)
    run = program("index", "a.zip", "--json")
    assert run.json["turns_added"] == 2
    reasons = sorted(file["reason"] for file in run.results if file["reason"])
    assert reasons == [
        "a database within an archive; unpack it first",
        "a name that leads out of the archive",
        "a name that leads out of the archive",
        "a name that leads out of the archive",
        "an archive within an archive; unpack it first",
    ]


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda _: b"PK\3\4" + b"\0" * 99, lambda _: b""])
def test_a_broken_archive_is_reported(program: Program, damage) -> None:
    path = packed(program.home / "a.zip", chat_json=CHAT)
    path.write_bytes(damage(path.read_bytes()))
    run = program("index", "a.zip", "--json")
    assert run.status == 1
    assert "zip archive that cannot be read" in run.results[0]["reason"]


def test_a_member_that_is_damaged_costs_itself(program: Program) -> None:
    path = packed(program.home / "a.zip", bad_json=CHAT * 50, good_json=CHAT)
    raw = bytearray(path.read_bytes())
    raw[45:60] = b"\xff" * 15
    path.write_bytes(raw)
    run = program("index", "a.zip", "--json")
    assert run.json["turns_added"] == 2
    assert any(
        "damaged" in file["reason"] or "damaged" in str(file["unreadable"]) for file in run.results if not file["added"]
    )


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pastchats_memory.files.archives.SMALL_SIZE", 10_000)
    zeros = b"[" + b" " * 5_000_000 + b"]"
    packed(tmp_path / "a.zip", chat_json=zeros)
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(zeros))
    from pastchats_memory import Memory

    with Memory.open(tmp_path / "memory.db") as memory:
        report = memory.index([tmp_path])
    assert len([file for file in report.files if "far more than any transcript" in str(file)]) == 2


@pytest.mark.parametrize("name", ["chatgpt-export-2026-03-01.zip", "data.zip", "Alte Chats/backup.zip"])
def test_the_project_of_an_export_is_its_service_whatever_its_archive_is_called(program: Program, name: str) -> None:
    (program.home / name).parent.mkdir(exist_ok=True)
    packed(program.home / name, conversations_json=EXPORT)
    program("index", name, "--json")
    assert {hit["source_project"] for hit in program("search", "the", "--json").results} == {"chatgpt"}
    assert program("index", "--dry-run", "--force", name, "--json").results[0]["project"] == "chatgpt"


def test_the_project_of_a_claude_export_is_its_service_too(program: Program) -> None:
    chat = [
        {"uuid": "m-1", "sender": "human", "text": "Is the kiln cold?"},
        {"uuid": "m-2", "sender": "assistant", "text": "The kiln is cold."},
    ]
    export = [{"uuid": "c-1", "name": "Kiln", "created_at": "2026-03-01T10:00:00Z", "chat_messages": chat}]
    packed(program.home / "data-2026-03-01-batch-0000.zip", conversations_json=json.dumps(export).encode())
    program("index", "data-2026-03-01-batch-0000.zip")
    assert {hit["source_project"] for hit in program("search", "kiln", "--json").results} == {"claude-ai"}
