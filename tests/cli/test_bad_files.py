"""Whatever lies in a folder: what is understood is stored, what is not is named with its line, and the run goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from outcomes import explained, turns
from program import Program, Run, write_messages

GOOD = json.dumps({"role": "user", "content": "A line that is whole"})
ANSWER = json.dumps({"role": "assistant", "content": "And its answer"})


def _contents(program: Program) -> set[str]:
    """The texts of all rows."""
    found = program("search", "--mode", "semantic", "--limit", "1000", "--json", "anything")
    assert found.status == 0, found.stderr
    return {row["content"] for row in found.results}


def _indexed(program: Program, *paths: object) -> Run:
    run = program("index", "--json", *paths)
    assert run.status == 0, run.stderr
    assert run.stderr == ""
    return run


def _file(run: Run, name: str) -> dict:
    return next(row for row in run.results if row["source_path"].endswith(name))


def test_a_path_that_does_not_exist_stops_the_run_before_anything_is_written(program: Program) -> None:
    write_messages(program.home / "history" / "chat.jsonl", ("user", "Hello?"), ("assistant", "Hello."))
    explained(program("index", "history", "histroy"), "histroy", "no such file or folder", "nothing was indexed")
    assert turns(program) == 0


def test_an_empty_folder_and_a_folder_without_conversations_hold_nothing_every_time(program: Program) -> None:
    (program.home / "empty").mkdir()
    (program.home / "code").mkdir()
    (program.home / "code" / "package.json").write_text('{"name": "garden", "version": "1.0.0"}', encoding="utf-8")
    for folder in ("empty", "code"):
        for _ in range(2):
            assert program("index", folder).status == 1
        assert program("index", "--dry-run", folder).status == 1


def test_an_unreadable_file_is_named_costs_nothing_else_and_is_read_once_it_can_be(
    program: Program, ordinary: Program
) -> None:
    secret = write_messages(
        program.home / "history" / "secret.jsonl", ("user", "Secret?"), ("assistant", "Yes, it was.")
    )
    write_messages(program.home / "history" / "open.jsonl", ("user", "Open?"), ("assistant", "Indeed."))
    secret.chmod(0o000)
    first = _indexed(ordinary, "history")
    assert _file(first, "secret.jsonl")["reason"] == "Permission denied"
    assert (first.json["turns_added"], first.json["unreadable"]) == (2, 1)
    secret.chmod(0o600)
    assert _indexed(ordinary, "history").json["turns_added"] == 2


def test_a_folder_that_may_not_be_listed_or_entered_is_named_and_costs_nothing_else(
    program: Program, ordinary: Program
) -> None:
    write_messages(program.home / "history" / "open.jsonl", ("user", "Open?"), ("assistant", "Indeed."))
    modes = {"unlisted": 0o300, "unentered": 0o400, "shut": 0o000}
    for name, mode in modes.items():
        write_messages(program.home / "history" / name / "chat.jsonl", ("user", name), ("assistant", f"{name} too"))
        (program.home / "history" / name).chmod(mode)
    run = _indexed(ordinary, "history")
    for name in modes:
        (program.home / "history" / name).chmod(0o700)
    assert run.json["turns_added"] == 2
    refused = [row["source_path"] for row in run.results if row["reason"] == "Permission denied"]
    assert sorted(path.rpartition("history/")[2] for path in refused) == ["shut", "unentered/chat.jsonl", "unlisted"]


def test_an_unreadable_file_alone_is_nothing_found(program: Program, ordinary: Program) -> None:
    write_messages(program.home / "secret.jsonl", ("user", "Secret?"), ("assistant", "Yes.")).chmod(0o000)
    run = ordinary("index", "secret.jsonl")
    assert run.status == 1
    assert "Permission denied" in run.stdout


BROKEN: dict[str, tuple[bytes, str]] = {
    "binary.jsonl": (bytes(range(256)) * 64, "binary"),
    "photo.json": (b"\x89PNG\r\n\x1a\n" + b"\0\1\2\3" * 999, "binary"),
    "large.jsonl": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "Git LFS pointer"),
    "packed.jsonl": (b"\x1f\x8b\x08\0" + b"\x9c" * 99, "gzip"),
    "state.json": (b"SQLite format 3\0" + b"\0" * 99, "SQLite"),
    "nothing.jsonl": (b"", "empty"),
    "nested.json": (b"[" * 100_000 + b"]" * 100_000, ""),
    "open.json": (b'{"a":' * 100_000, ""),
    "nuls.txt": (b"\0" * 5000, ""),
}


def test_each_file_that_is_no_text_is_refused_for_its_own_reason(program: Program) -> None:
    folder = program.home / "mixed"
    write_messages(folder / "good.jsonl", ("user", "Hello?"), ("assistant", "Hello."))
    for name, (content, _) in BROKEN.items():
        (folder / name).write_bytes(content)
    run = _indexed(program, "mixed")
    assert run.json["turns_added"] == 2
    for name, (_, reason) in BROKEN.items():
        assert _file(run, name)["format"] is None
        assert reason in _file(run, name)["reason"], name
    again = _indexed(program, "mixed")
    assert again.json["files_unchanged"] == len(BROKEN) + 1
    assert {Path(file["source_path"]).name: file["reason"] for file in again.results} == {
        name: _file(run, name)["reason"] for name in BROKEN
    }


def test_an_empty_file_is_counted_and_never_listed_as_a_fault(program: Program) -> None:
    folder = program.home / "some"
    write_messages(folder / "good.jsonl", ("user", "Hello?"), ("assistant", "Hello."))
    (folder / "begun.jsonl").touch()
    (folder / "photo.json").write_bytes(BROKEN["photo.json"][0])
    first = program("index", "some").stdout
    assert "1 read (1 messages), 0 unchanged, 1 empty, 1 not taken." in first
    assert "photo.json: " in first
    assert "begun.jsonl" not in first
    assert "Not taken" not in program("index", "some").stdout
    assert "begun.jsonl" not in program("status").stdout


def _spelled(folder: Path) -> dict[str, str]:
    """Files of two lines in many encodings, with the text that each must yield."""
    both = f"{GOOD}\n{ANSWER}\n"
    raw = {
        "bom": both.replace("whole", "whole bom").encode("utf-8-sig"),
        "utf16": both.replace("whole", "whole utf16").encode("utf-16"),
        "utf16be": both.replace("whole", "whole utf16be").encode("utf-16-be"),
        "crlf": both.replace("whole", "whole crlf").replace("\n", "\r\n").encode(),
        "zero": both.replace("whole", "whole\\u0000 zero").encode(),
        "separator": both.replace("whole", "whole\u2028separator").encode(),
        "surrogate": both.replace("whole", "whole \\ud83d surrogate").encode(),
        "pair": both.replace("whole", "whole \\ud83c\\udf31 pair").encode(),
        "long": both.replace("whole", "whole " + "long " * 420_000).encode(),
        "torn": (both.replace("whole", "whole torn") + '{"role": "user", "content": "half a li').encode(),
        "latin": both.replace("whole", "whole caf\xe9 latin").encode("latin-1"),
        "mixed": both.replace("whole", "whole caf\xe9 caf\xe9 caf? mixed").encode().replace(b"?", b"\xe9"),
        "tail": (both.replace("whole", "whole tail")).encode() + b"\0" * 4096,
    }
    folder.mkdir()
    for name, content in raw.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    return {
        **{
            name: f"A line that is whole {name}" for name in ("bom", "utf16", "utf16be", "crlf", "zero", "torn", "tail")
        },
        "separator": "A line that is whole\u2028separator",
        "surrogate": "A line that is whole \ufffd surrogate",
        "pair": "A line that is whole \U0001f331 pair",
        "long": ("A line that is whole " + "long " * 420_000).strip(),
        "latin": "A line that is whole caf\xe9 latin",
        "mixed": "A line that is whole caf\xe9 caf\xe9 caf\ufffd mixed",
    }


def test_every_spelling_of_a_line_is_read_and_no_row_is_lost(program: Program) -> None:
    expected = _spelled(program.home / "spelled")
    run = _indexed(program, "spelled")
    assert run.json["turns_added"] == 2 * len(expected)
    assert _contents(program) - {"And its answer"} == set(expected.values())
    for command in (["search", "whole"], ["recall", "whole", "--json"], ["doctor"]):
        done = program(*command)
        assert (done.status, done.stderr) == (0, "")


def test_a_torn_last_line_is_read_when_it_is_whole(program: Program) -> None:
    _spelled(program.home / "spelled")
    torn = program.home / "spelled" / "torn.jsonl"
    assert _indexed(program, torn).json["turns_added"] == 2
    with torn.open("a", encoding="utf-8") as file:
        file.write('ne, now whole"}\n')
    run = _indexed(program, torn)
    assert (run.json["turns_added"], run.json["unreadable"]) == (1, 0)
    assert "half a line, now whole" in _contents(program)


ANYTHING = (
    None,
    True,
    0,
    -1,
    1e308,
    10**30,
    "",
    "x",
    [],
    {},
    [[]],
    [None],
    {"a": {}},
    [{"text": 7}],
    "\ud800",
    "9" * 400,
)
KEYS = ("role", "content", "timestamp", "id", "conversation_id", "cwd", "project", "metadata", "parent_id", "message")


def test_a_wrong_type_under_any_key_costs_at_most_its_own_line(program: Program) -> None:
    lines, expected = [], set()
    for key in KEYS:
        for number, value in enumerate(ANYTHING):
            text = f"Turn with {key} wrong in way {number}"
            lines += [json.dumps({"role": "user", "content": text, "conversation_id": "c", key: value}), GOOD]
            if key not in ("role", "content", "message"):
                expected.add(text)
    (program.home / "wrong.jsonl").write_text("\n".join([*lines, ANSWER]) + "\n", encoding="utf-8")
    _indexed(program, "wrong.jsonl")
    assert expected - _contents(program) == set()
    assert program("doctor").status == 0


def _claude(**fields: object) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": "00000000-0000-4000-8000-000000000001",
        "sessionId": "s",
        "timestamp": "2026-01-31T08:15:01.000Z",
        "cwd": "/home/me/garden",
        "message": {"role": "user", "content": "Whole"},
        **fields,
    }


@pytest.mark.parametrize("style", ["claude", "codex", "chatgpt"])
def test_wrong_types_in_a_known_format_never_end_the_run(program: Program, style: str) -> None:
    folder = program.home / style
    folder.mkdir()
    for number, value in enumerate(ANYTHING):
        good = [
            _claude(),
            _claude(type="assistant", message={"role": "assistant", "content": [{"type": "text", "text": "Yes"}]}),
        ]
        if style == "claude":
            lines = good + [_claude(**{key: value}) for key in (*_claude(), "parentUuid", "isMeta", "toolUseResult")]
            lines += [
                _claude(message={"role": "user", "content": "x", key: value}) for key in ("role", "content", "id")
            ]
            lines += [
                _claude(message={"role": "user", "content": [value, {"type": value}, {"type": "text", "text": value}]})
            ]
        elif style == "codex":
            meta = {
                "timestamp": "2026-01-31T08:15:01Z",
                "type": "session_meta",
                "payload": {"id": "s", "cwd": "/home/me/garden"},
            }
            messages = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Whole"}]}
            item = {"timestamp": "2026-01-31T08:15:02Z", "type": "response_item", "payload": messages}
            lines = [meta, item] + [{**record, key: value} for record in (meta, item) for key in record]
            lines += [{**item, "payload": {**messages, key: value}} for key in (*messages, "id", "call_id", "output")]
            lines += [{**meta, "payload": {**meta["payload"], key: value}} for key in ("id", "cwd", "git", "timestamp")]
        else:
            message = {
                "author": {"role": "user"},
                "content": {"content_type": "text", "parts": ["Whole"]},
                "create_time": 1.7e9,
            }
            nodes = {
                "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
                "a": {"id": "a", "message": message, "parent": "root", "children": []},
            }
            chat = {"title": "t", "create_time": 1.7e9, "mapping": nodes, "current_node": "a", "id": "c"}
            chats = [chat] + [{**chat, key: value} for key in chat]
            chats += [{**chat, "mapping": {**nodes, "a": {**nodes["a"], key: value}}} for key in nodes["a"]]
            chats += [
                {**chat, "mapping": {**nodes, "a": {**nodes["a"], "message": {**message, key: value}}}}
                for key in message
            ]
            (folder / f"{number}.json").write_text(json.dumps(chats), encoding="utf-8")
            continue
        (folder / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run = _indexed(program, style)
    assert len(run.results) == len(ANYTHING)
    assert run.json["turns_added"] > 0
    assert "Whole" in _contents(program)


def test_a_deep_value_beside_a_message_costs_nothing(program: Program) -> None:
    deep = "[" * 900 + "]" * 900
    (program.home / "deep.jsonl").write_text(
        f'{{"role": "user", "content": "Deep?", "extra": {deep}}}\n{ANSWER}\n', encoding="utf-8"
    )
    assert _indexed(program, "deep.jsonl").json["turns_added"] == 2


def test_a_working_directory_of_another_machine_is_a_name_and_no_more(program: Program, ordinary: Program) -> None:
    shut = program.home / "shut"
    shut.mkdir(mode=0o000)
    folders = {
        str(shut / "garden"): "garden",
        "/" + "x" * 5000 + "/far": "far",
        "C:\\Users\\me\\shed": "shed",
        "/": "unknown",
    }
    for number, folder in enumerate(folders):
        record = {"role": "user", "content": f"Question {number}", "cwd": folder}
        (program.home / f"{number}.jsonl").write_text(f"{json.dumps(record)}\n{ANSWER}\n", encoding="utf-8")
    _indexed(ordinary, *(f"{number}.jsonl" for number in range(len(folders))))
    found = ordinary("search", "--json", "Question", "--role", "user").results
    assert {row["source_project"] for row in found} == set(folders.values())


def test_links_that_lead_in_a_circle_pipes_and_devices_stop_nothing(program: Program) -> None:
    folder = program.home / "history"
    write_messages(folder / "chat.jsonl", ("user", "Hello?"), ("assistant", "Hello."))
    (folder / "round").symlink_to(folder)
    (folder / "self.jsonl").symlink_to(folder / "self.jsonl")
    (folder / "dangling.jsonl").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe.jsonl")
    run = program("index", "--json", "history")
    assert (run.status, run.json["turns_added"], run.json["files_scanned"]) == (
        0,
        2,
        2,
    )  # the pipe is named with its reason
    for named in (folder / "pipe.jsonl", "/dev/zero"):
        alone = program("index", named)
        assert alone.status == 1
        assert "neither a file nor a folder" in alone.stdout
    explained(program("index", folder / "self.jsonl"), "self.jsonl", "symbolic links")


def test_a_file_whose_reading_fails_is_named_and_not_remembered_as_read(program: Program) -> None:
    memory = Path("/proc/self/mem")
    if not memory.exists():
        pytest.skip("there is no file here whose reading fails")
    write_messages(program.home / "chat.jsonl", ("user", "Hello?"), ("assistant", "Hello."))
    for _ in range(2):
        run = program("index", "--json", "chat.jsonl", memory)
        assert (run.status, run.json["unreadable"]) == (0, 1)
        assert _file(run, "mem")["reason"] == "Input/output error"


def test_names_that_are_no_text_are_read_and_cited_with_their_bytes_spelled_out(program: Program) -> None:
    folder = os.fsencode(program.home) + b"/caf\xe9"
    try:
        os.mkdir(folder)  # noqa: PTH102 - pathlib has no bytes
    except (OSError, UnicodeDecodeError):
        pytest.skip("this file system has only names that are text")
    with open(folder + b"/na\xefve.jsonl", "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib has no bytes
        file.write(f"{GOOD}\n{ANSWER}\n")
    name = os.fsdecode(folder)
    first = _indexed(program, name)
    assert first.json["turns_added"] == 2
    assert first.results[0]["source_path"].endswith("/caf\\udce9/na\\udcefve.jsonl")
    assert _indexed(program, name).json["files_unchanged"] == 1
    found = program("search", "--json", "whole").results[0]
    assert found["source_project"] == "caf\\udce9"
    for command in (["recall", "whole", "--json"], ["show", found["id"]], ["index", name, "--dry-run", "--json"]):
        assert program(*command).status == 0
    explained(program("index", name + "/nothing"), "no such file")
    assert program("index", name + "/nothing", "--json").status == 2


def test_a_file_that_vanishes_between_two_runs_keeps_its_rows(program: Program) -> None:
    chat = write_messages(program.home / "history" / "chat.jsonl", ("user", "Hello?"), ("assistant", "Hello."))
    _indexed(program, "history")
    chat.unlink()
    assert program("index", "history").status == 1
    assert turns(program) == 2
