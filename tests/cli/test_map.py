"""`index --map` and `--format`, and the maps of the user's own configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program import Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.errors import UsageFault

ASK, ANSWER = "Why does the kiln stop?", "Its relay opens."
LINE = "role=speaker,text=body,time=at"


def write(path: Path, *texts: str) -> Path:
    """Write records with the keys `speaker`, `body` and `at`, of a visitor and a clerk in turn."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [
        {"speaker": ("visitor", "clerk")[place % 2], "body": text, "at": f"2026-01-31T09:0{place}:00Z"}
        for place, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def write_pairs(path: Path) -> Path:
    """Write a record whose keys are the letters q and r."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([{"q": ASK, "r": ANSWER}]), encoding="utf-8")
    return path


def own_configuration(program: Program, text: str) -> None:
    file = Path(program.environment["XDG_CONFIG_HOME"]) / "pastchats-memory" / "pastchats-memory.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def list_turns(program: Program) -> list[tuple[str, str]]:
    with Memory.open(program.database) as memory:
        hits = memory.search("kiln relay", mode="keyword", limit=20)
        return sorted((hit.role, hit.content) for hit in hits)


def test_a_map_reads_a_file_of_unknown_shape(program: Program) -> None:
    write_pairs(program.home / "a.json")
    assert program("index", "a.json").status == 1
    run = program("index", "a.json", "--map", "user=q,assistant=r", "--json")
    assert (run.status, run.json["turns_added"]) == (0, 2)
    assert run.results[0]["format"] == "messages"
    assert list_turns(program) == [("assistant", ANSWER), ("user", ASK)]


def test_a_mapped_file_is_refreshed_without_the_flag(program: Program) -> None:
    path = write_pairs(program.home / "chats" / "a.json")
    assert program("index", "chats", "--map", "user=q,assistant=r").status == 0
    assert program("index", "chats", "--json").json["files_unchanged"] == 1
    path.write_text(json.dumps([{"q": ASK, "r": ANSWER}, {"q": "Is the kiln old?", "r": "The relay is."}]))
    again = program("index", "chats", "--json")
    assert again.json["turns_added"] == 2
    moved = path.rename(path.with_name("b.json"))
    assert program("index", "chats", "--json").json["moved"] == 1
    moved.write_text(json.dumps([{"q": "And the kiln now?", "r": "No relay."}]))
    assert program("index", "chats", "--json").json["turns_added"] == 2


def test_grown_lines_are_read_on_by_the_remembered_map(program: Program) -> None:
    texts = [f"Sentence {number} of the kiln." for number in range(60)]
    path = program.home / "log.jsonl"
    lines = [json.dumps({"x": "ab"[n % 2], "t": text}) + "\n" for n, text in enumerate(texts)]
    path.write_text("".join(lines[:50]), encoding="utf-8")
    first = program("index", "log.jsonl", "--map", "role=x,text=t,role.a=user,role.b=assistant", "--json")
    assert first.json["turns_added"] == 50
    path.write_text("".join(lines), encoding="utf-8")
    assert program("index", "log.jsonl", "--json").json["turns_added"] == 10
    with Memory.open(program.database) as memory:
        roles = {hit.role for hit in memory.search("kiln", mode="keyword", limit=100)}
    assert roles == {"user", "assistant"}


def test_another_map_reads_an_unchanged_file_again(program: Program) -> None:
    write_pairs(program.home / "a.json")
    assert program("index", "a.json", "--map", "user=r,assistant=q").status == 0
    assert program("index", "a.json", "--map", "user=q,assistant=r").status == 0
    assert ("user", ASK) in list_turns(program)


def test_files_of_a_folder_without_the_keys_are_read_as_usual(program: Program) -> None:
    folder = program.home / "mixed"
    write_messages(folder / "chat.jsonl", ("user", "Is the kiln painted?"))
    write_pairs(folder / "a.json")
    run = program("index", "mixed", "--map", "user=q,assistant=r", "--json")
    assert run.json["turns_added"] == 3
    assert program("index", "mixed", "--map", "user=q,assistant=r", "--json").json["files_unchanged"] == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rle=speaker,text=body", "unknown part `rle`"),
        ("role=speaker", "no key for the text"),
        ("text", "`text` is not of the form part=KEY"),
        ("role=speaker,text=bdy", "no record has the key `bdy`"),
        ("role=speaker,text=body,time=when", "no record has the key `when`"),
        ("role=body.x,text=body", "no record has the key `body.x`"),
    ],
)
def test_a_wrong_map_is_explained(program: Program, line: str, message: str) -> None:
    write(program.home / "a.jsonl", ASK, ANSWER)
    for options in ((), ("--dry-run",)):
        run = program("index", "a.jsonl", "--map", line, *options)
        assert (run.status, run.stdout) == (2, "")
        assert message in run.stderr
    if "record" in message:
        assert "speaker, body, at" in run.stderr


def test_a_map_without_any_json_file_is_explained(program: Program) -> None:
    (program.home / "a.md").write_text("# Kiln\n\nWe looked at it.\n", encoding="utf-8")
    run = program("index", "a.md", "--map", LINE)
    assert run.status == 2
    assert "no JSON or JSONL file" in run.stderr


def test_a_dry_run_prints_the_map_that_is_used_and_the_map_that_fits(program: Program) -> None:
    write(program.home / "all" / "known.jsonl", ASK, ANSWER, "And now?", "Replace it.")
    write_pairs(program.home / "all" / "unknown.json")
    lines = program("index", "--dry-run", "all").stdout.splitlines()
    assert f"{Path('all/known.jsonl')}: read with --map role=speaker,text=body,time=at" in lines
    assert f"{Path('all/unknown.json')}: not read; this fits: --map user=q,assistant=r" in lines
    maps = {
        Path(file["source_path"]).name: file["map"] for file in program("index", "--dry-run", "all", "--json").results
    }
    assert maps == {"known.jsonl": LINE, "unknown.json": "user=q,assistant=r"}
    mapped = program("index", "--dry-run", "all", "--map", "user=q,assistant=r")
    assert f"{Path('all/unknown.json')}: read with --map user=q,assistant=r" in mapped.stdout.splitlines()


def test_a_dry_run_prints_the_map_that_fits_a_file_that_index_left(program: Program) -> None:
    write_pairs(program.home / "a.json")
    assert program("index", "a.json").status == 1
    assert "a.json: not read; this fits: --map user=q,assistant=r" in program("index", "--dry-run", "a.json").stdout


def test_a_map_of_the_users_own_configuration_counts(program: Program) -> None:
    write_pairs(program.home / "a.json")
    own_configuration(program, "[formats.letters]\nuser = 'q'\nassistant = 'r'\n")
    assert program("index", "a.json", "--json").json["turns_added"] == 2
    assert "letters" in program("config").stdout


def test_a_file_that_was_left_is_read_once_a_map_is_configured(program: Program) -> None:
    write_pairs(program.home / "a.json")
    assert program("index", "a.json").status == 1
    own_configuration(program, "[formats.letters]\nuser = 'q'\nassistant = 'r'\n'role.x' = 'user'\n")
    wrong = program("index", "a.json")
    assert wrong.status == 2
    assert "[formats.letters]: use either role and text, or user and assistant" in wrong.stderr
    own_configuration(program, "[formats.letters]\nuser = 'q'\nassistant = 'r'\n")
    assert program("index", "a.json", "--format", "letters").status == 0


def test_a_configured_map_takes_no_file_of_a_known_format(program: Program) -> None:
    own_configuration(program, "[formats.mine]\nuser = 'content'\n")
    write_messages(program.home / "chat.jsonl", ("user", "Is the kiln painted?"))
    session = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "message": {"role": "user", "content": ASK},
        "content": ASK,
    }
    (program.home / "claude.jsonl").write_text(json.dumps(session) + "\n", encoding="utf-8")
    found = program("index", "--dry-run", "claude.jsonl", "--json").results
    assert [file["format"] for file in found] == ["claude-code"]


@pytest.mark.parametrize("table", ["5", "{ user = 5 }", "{ user = '' }"])
def test_a_configured_map_of_another_type_is_an_error(program: Program, table: str) -> None:
    own_configuration(program, f"formats = {{ letters = {table} }}\n")
    run = program("index", ".")
    assert run.status == 2
    assert "`formats` must be" in run.stderr


def test_a_map_in_a_projects_file_is_ignored(program: Program) -> None:
    write_pairs(program.home / "a.json")
    (program.home / "pastchats-memory.toml").write_text("[formats.letters]\nuser = 'q'\nassistant = 'r'\n")
    run = program("index", "a.json")
    assert run.status == 1
    assert "`formats` is ignored in a project's file" in program("config").stderr


def test_a_named_format_reads_only_its_files(program: Program) -> None:
    folder = program.home / "all"
    write_messages(folder / "chat.jsonl", ("user", "Is the kiln painted?"))
    (folder / "note.md").write_text("---\ndate: 2026-01-31\n---\n# Kiln\n\nThe relay is new.\n", encoding="utf-8")
    assert program("index", "all", "--format", "notes", "--json").json["turns_added"] == 1
    left = program("index", "all", "--format", "codex")
    assert left.status == 1
    assert "not of the format codex, which was named for it" in left.stdout


def test_a_named_format_reads_a_named_file_that_it_would_not_detect(program: Program) -> None:
    plan = program.home / "plan.json"
    plan.write_text("The kiln relay is old.\n", encoding="utf-8")
    assert program("index", "plan.json").status == 1
    assert program("index", "plan.json", "--format", "notes", "--json").json["turns_added"] == 1
    plan.write_text("The kiln relay is old.\n\nThe new one is ordered.\n", encoding="utf-8")
    assert program("index", ".").status == 0
    assert "ordered" in program("search", "relay").stdout


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--format", "codx"], "no format is called 'codx'", "Did you mean codex?"),
        (["--format", "xyzzy"], "no format is called 'xyzzy'", "Formats: agent-log, aider,"),
        (["--format", "codex", "--map", LINE], "--map is read by the format messages, not by codex", "Leave out one"),
    ],
)
def test_an_unknown_format_is_explained(program: Program, arguments: list[str], message: str, hint: str) -> None:
    write(program.home / "a.jsonl", ASK, ANSWER)
    run = program("index", "a.jsonl", *arguments)
    assert run.status == 2
    assert message in run.stderr
    assert hint in run.stderr
    assert not program.database.exists()


def test_the_generic_format_may_be_named_beside_a_map(program: Program) -> None:
    write(program.home / "a.jsonl", ASK, ANSWER)
    run = program("index", "a.jsonl", "--format", "messages", "--map", LINE, "--json")
    assert run.json["turns_added"] == 2


def test_python_takes_a_map_and_a_format_too(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "a.json")
    with Memory.open(tmp_path / "memory.db", create=True) as memory:
        with pytest.raises(UsageFault, match="unknown part"):
            memory.index([path], map="usr=q")
        with pytest.raises(UsageFault, match="no format is called"):
            memory.index([path], format="lettres")
        assert memory.index([path], map="user=q,assistant=r").added == 2
        assert memory.index([path]).files_unchanged == 1
