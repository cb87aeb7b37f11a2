"""A file that has grown costs what was added to it, and gives the rows of one that was read as a whole."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from growing import FORMATS, named

from pastchats_memory import Memory
from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.formats.agents.claude_code import CLAUDE_CODE
from pastchats_memory.formats.base import source
from pastchats_memory.formats.base.checkpoint import CannotResume, Checkpoint
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.ingest import anchors, changes
from pastchats_memory.model import Turn

SESSION = "5d0f6c1e-7a42-4c59-9b1e-0c4f2a9d7e31"


def make_record(number: int, kind: str, content: object, above: int | None = None, **more: object) -> dict[str, object]:
    role = {"user": "user", "assistant": "assistant"}.get(kind)
    message = {
        "message": {
            "role": role,
            "content": content,
            **({"id": f"msg_{more.pop('id', number)}"} if role == "assistant" else {}),
        }
    }
    return {
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "parentUuid": f"00000000-0000-4000-8000-{(number - 1 if above is None else above):012d}" if number > 1 else None,
        "sessionId": SESSION,
        "cwd": "/home/mira/src/courier",
        "timestamp": f"2026-03-01T10:{number // 60:02d}:{number % 60:02d}.123Z",
        **(message if role else {}),
        **more,
    }  # fmt: skip


def used(name: str, **values: object) -> dict[str, object]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "Bash", "input": values}


def result(name: str, text: str, *, failed: bool = False) -> list[dict[str, object]]:
    return [{"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": text, "is_error": failed}]


def session(turns: int) -> list[dict[str, object]]:
    """A conversation of so many exchanges: prompt, answer of two lines, call, result, closing answer."""
    records: list[dict[str, object]] = []
    for turn in range(turns):
        at = len(records) + 1
        records += [
            make_record(at, "user", f"Please fix bug {turn}."),
            make_record(at + 1, "assistant", [{"type": "text", "text": f"Looking at {turn}."}], id=f"a{turn}"),
            make_record(at + 2, "assistant", [used(f"t{turn}", command=f"pytest -k bug{turn}")], id=f"a{turn}"),
            make_record(at + 3, "user", result(f"t{turn}", f"FAILED bug{turn}", failed=True)),
            make_record(at + 4, "assistant", [{"type": "text", "text": f"Bug {turn} is fixed."}], id=f"b{turn}"),
        ]
    return records


def lines(records: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(path: Path, resumed: Checkpoint | None = None, reader: object = CLAUDE_CODE) -> tuple[list[Turn], Checkpoint]:
    """The turns that stand for good and those that may still change, and where to go on."""
    items = list(reader.read(SourceFile(path, resumed=resumed)))
    (checkpoint,) = [item for item in items if isinstance(item, Checkpoint)]
    return items, json.loads(json.dumps(checkpoint.state)) and checkpoint


def list_turns(items: list[object]) -> list[Turn]:
    """List the turns as they are stored, which is without their calls."""
    return [item._replace(calls=()) for item in items if isinstance(item, Turn)]


@pytest.mark.parametrize("cut", range(1, 15))
def test_read_in_two_parts_a_session_gives_the_turns_of_the_whole(tmp_path: Path, cut: int) -> None:
    records, path = session(3), tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(lines(records))
    whole = list_turns(read(path)[0])
    path.write_bytes(lines(records[:cut]))
    items, checkpoint = read(path)
    certain = list_turns(items[: items.index(checkpoint)])
    path.write_bytes(lines(records))
    try:
        rest = list_turns(read(path, checkpoint)[0])
    except CannotResume:
        assert cut % 5 == 3, "only where an answer was cut before its first words"
        return
    assert certain + rest == whole


ROWS = (
    "SELECT p.turn_index, p.role, p.content, p.timestamp, p.conversation_id, p.source_project, p.metadata_json, g.line, "
    "p.content_hash FROM prompts p JOIN sightings g ON g.prompt_id = p.id ORDER BY p.turn_index, p.id"
)


def stored(memory: Memory, statement: str) -> list[tuple[object, ...]]:
    return memory._database.run(statement)  # noqa: SLF001 - what is stored is asked of the store


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "memory.db") as memory:
        yield memory


def rows(memory: Memory) -> list[tuple[object, ...]]:
    return stored(memory, ROWS)


def chat(turns: int) -> list[dict[str, object]]:
    return [
        {"role": ("user", "assistant")[turn % 2], "content": f"Sentence {turn % 7}.", "timestamp": f"2026-03-01T10:{turn // 60:02d}:{turn % 60:02d}Z" if turn % 3 else None}
        for turn in range(turns)
    ]  # fmt: skip


def of(made, exchanges: int) -> list[dict[str, object]]:
    return [record for turn in range(exchanges) for record in made(turn)]


GROWING = [(session, "claude-code"), (lambda turns: chat(5 * turns), "messages")] + [
    (lambda turns, made=made: of(made, turns), named(made)) for made in FORMATS
]


@pytest.mark.parametrize("made", [made for made, _ in GROWING], ids=[name for _, name in GROWING])
def test_indexed_as_it_grows_a_file_has_the_rows_of_one_indexed_whole(tmp_path: Path, memory: Memory, made) -> None:
    records, path = made(60), tmp_path / "history" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    cuts = sorted(random.Random(5).sample(range(45, len(records)), 6))  # noqa: S311 - no secret
    for cut in (*cuts, len(records)):
        path.write_bytes(lines(records[:cut]) + (b'{"torn": "line' if cut < len(records) else b""))
        memory.index([path.parent])
    with Memory.open(tmp_path / "whole.db") as whole:
        whole.index([path.parent])
        assert rows(memory) == rows(whole)


def test_a_call_that_waits_when_a_session_of_gptme_is_read_is_answered_when_it_has_grown(
    tmp_path: Path, memory: Memory
) -> None:
    path = tmp_path / "history" / "2026-11-23-door" / "conversation.jsonl"
    path.parent.mkdir(parents=True)
    path.with_name("config.toml").write_text("workspace = [")
    records = [
        {"role": "system", "content": "Be brief.", "timestamp": "2026-11-23T18:44:00", "pinned": True},
        {"role": "user", "content": "Run the tests.", "timestamp": "2026-11-23T18:44:01"},
        {"role": "assistant", "content": "I do.\n\n```shell\nmake test\n```", "timestamp": "2026-11-23T18:44:02"},
        {"role": "system", "content": "Ran command: `make test`\n\n`3 passed`", "timestamp": "2026-11-23T18:44:03"},
    ]
    for cut in (3, 4):
        path.write_bytes(lines(records[:cut]))
        memory.index([path.parent])
    with Memory.open(tmp_path / "whole.db") as whole:
        whole.index([path.parent])
        assert rows(memory) == rows(whole)
        assert any("$ make test\n3 passed" in row for row in rows(whole))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes that are read of files that are opened, one number a read."""
    seen: list[int] = []

    class Counted:
        def __init__(self, file) -> None:
            self._file = file

        def __getattr__(self, name: str):
            return getattr(self._file, name)

        def __enter__(self):
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def read(self, *size: int) -> bytes:
            found = self._file.read(*size)
            seen.append(len(found))
            return found

        def readline(self, *size: int) -> bytes:
            found = self._file.readline(*size)
            seen.append(len(found))
            return found

    for reader in (source, changes, anchors):
        monkeypatch.setattr(reader, "open_regular", lambda path: Counted(open_regular(path)))
    return seen


@pytest.mark.parametrize("made", [made for made, _ in GROWING], ids=[name for _, name in GROWING])
def test_an_appended_file_costs_its_new_bytes_and_its_ends(tmp_path: Path, memory: Memory, counted, made) -> None:
    before, records, path = made(120), made(121), tmp_path / "history" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(lines(before))
    memory.index([path.parent])
    assert sum(counted) > path.stat().st_size
    counted.clear()
    added = lines(records[len(before) :])
    with path.open("ab") as file:
        file.write(added)
    report = memory.index([path.parent])
    assert report.counts()["turns_added"] >= 1
    longest = max(map(len, lines(records).split(b"\n")))
    # Its ends before and after, and the last lines once more for their passages, from one that has its own.
    assert sum(counted) <= 3 * (len(added) + longest) + 4 * changes.ENDS + len(b"SQLite format 3\0")


def test_a_torn_last_line_is_left_for_the_next_run(tmp_path: Path, memory: Memory) -> None:
    records, path = session(12), tmp_path / f"{SESSION}.jsonl"
    whole = lines(records)
    path.write_bytes(whole[:-40])
    first = memory.index([path])
    assert first.unreadable == []
    path.write_bytes(whole)
    assert memory.index([path]).counts()["turns_added"] == 1
    assert rows(memory)[-1][2] == "Bug 11 is fixed."


def test_an_answer_that_was_half_written_is_one_row_that_grows(tmp_path: Path, memory: Memory) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    half = [
        *session(10),
        make_record(51, "user", "And now?"),
        make_record(52, "assistant", [{"type": "text", "text": "First,"}], id="01HalfWrittenAnswer"),
    ]
    path.write_bytes(lines(half))
    memory.index([path])
    path.write_bytes(
        lines(
            [
                *half,
                make_record(53, "assistant", [{"type": "text", "text": "then the rest."}], id="01HalfWrittenAnswer"),
            ]
        )
    )
    report = memory.index([path])
    assert (report.files[0].added, report.files[0].updated, report.embedded) == (0, 1, 1)
    assert rows(memory)[-1][2] == "First,\n\nthen the rest."


def test_a_prompt_that_is_rewritten_later_is_marked_in_earlier_rows(tmp_path: Path, memory: Memory) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    records = [
        *session(10),
        make_record(51, "user", "Do it in Perl."),
        make_record(52, "user", "[Request interrupted by user]"),
    ]
    path.write_bytes(lines(records))
    memory.index([path])
    path.write_bytes(lines([*records, make_record(60, "user", "Do it in Python.", above=50)]))
    memory.index([path])
    branches = {row[2]: json.loads(str(row[6]))["branch"] for row in rows(memory)}
    assert (branches["Do it in Perl."], branches["Do it in Python."]) == ("abandoned", "main")


def test_a_file_that_was_rewritten_is_read_again_and_only_what_is_new_is_embedded(
    tmp_path: Path, memory: Memory
) -> None:
    records, path = session(12), tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(lines(records))
    memory.index([path])
    count = len(rows(memory))
    path.write_bytes(lines([*records[5:], make_record(99, "user", "Something else?")]))
    report = memory.index([path])
    assert (report.embedded, report.counts()["turns_added"], len(rows(memory))) == (1, 1, count + 1)


def test_a_killed_resume_continues_from_the_same_checkpoint(tmp_path: Path, memory: Memory) -> None:
    records, path = session(20), tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(lines(records[:60]))
    memory.index([path])
    path.write_bytes(lines(records))

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.index([path], progress=stop)
    memory.index([path])
    with Memory.open(tmp_path / "whole.db") as whole:
        whole.index([path])
        assert rows(memory) == rows(whole)


@pytest.mark.promise("forgetting", "A prompt that still waits in an agent's queue is stored nowhere until it is a row.")
def test_a_queued_prompt_that_the_agent_has_not_got_is_not_stored(tmp_path: Path, memory: Memory) -> None:
    waits = "Is the mainspring of the longcase clock cracked?"
    file = tmp_path / "session.jsonl"
    lines = [
        make_record(1, "user", "Why does the clock stop?"),
        make_record(2, "assistant", [{"type": "text", "text": "I look at the escapement."}]),
        {"type": "queue-operation", "operation": "enqueue", "content": waits, "sessionId": SESSION, "timestamp": "2026-03-01T10:00:03.123Z"},
    ]  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    memory.index([file])
    assert all(waits.encode() not in path.read_bytes() for path in tmp_path.glob("*.db*"))
    dequeued = {**lines[2], "operation": "dequeue", "reason": "dequeued"}
    del dequeued["content"]
    lines += [
        dequeued,
        make_record(3, "user", waits),
        make_record(4, "assistant", [{"type": "text", "text": "It is whole."}]),
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    memory.index([file])
    assert [hit.content for hit in memory.search("mainspring", mode="keyword")] == [waits]
