"""A shown citation is checked: it holds, moved, changed, is gone, or is unchecked."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import DEMO, REPOSITORY, Program
from work import count_lines

from pastchats_memory import Memory
from pastchats_memory.store.database import open_database

SCHEMAS = REPOSITORY / "contracts" / "schemas"
REQUEST = "How often does the payment webhook retry before it gives up?"
ANSWERED = "Five times, with the wait doubled each time, and then the event goes to the dead letter queue."
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"


def line_of(role: str, content: str, minute: int) -> str:
    reported = {"conversation_id": "hooks", "project": "shop", "role": role, "content": content}
    return json.dumps(reported | {"timestamp": f"2026-05-01T08:{minute:02}:07.000Z"})


def lines(*contents: str) -> str:
    roles = ("user", "assistant")
    return "".join(line_of(roles[place % 2], reported, place) + "\n" for place, reported in enumerate(contents))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hooks.jsonl"
    path.write_text(lines("Good morning to you.", "Good morning.", REQUEST, ANSWERED))
    return path


@pytest.fixture
def memory(tmp_path: Path, file: Path):
    with Memory.open(tmp_path / "memory.db") as opened:
        opened.index([file])
        yield opened


def cited(memory: Memory, content: str = REQUEST) -> tuple[str, int | None]:
    hit = next(hit for hit in memory.search(content, mode="keyword") if hit.content == content)
    assert hit.citation is not None
    return hit.citation.state, hit.source_line


def test_an_untouched_source_holds(memory: Memory) -> None:
    assert cited(memory) == ("holds", 3)
    assert memory.verify().states == {"holds": 4, "moved": 0, "changed": 0, "gone": 0, "unchecked": 0}


def test_appended_lines_change_no_citation(memory: Memory, file: Path) -> None:
    with file.open("a") as more:
        more.write(lines("And then?", "Then a person looks."))
    assert cited(memory) == ("holds", 3)
    assert cited(memory, ANSWERED) == ("holds", 4)


def test_a_line_that_was_pushed_down_is_cited_where_it_is_now(memory: Memory, file: Path) -> None:
    file.write_text(lines("Something else came first.") + "\n" + file.read_text())
    assert cited(memory) == ("moved", 5)
    assert f"{file}:5 (turn 2; moved since it was read)" in memory.recall(REQUEST).text


def test_a_changed_word_of_the_same_length_is_noticed_whatever_time_the_file_says(memory: Memory, file: Path) -> None:
    before = file.stat()
    file.write_text(file.read_text().replace("payment webhook", "invoice webhook"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert cited(memory) == ("changed", 3)
    assert f"{file}:3 (turn 2; changed since it was read)" in memory.recall(REQUEST).text
    assert cited(memory, ANSWERED) == ("holds", 4)


def test_a_memory_of_a_deleted_file_stays_and_is_marked(memory: Memory, file: Path) -> None:
    file.unlink()
    assert cited(memory) == ("gone", 3)
    block = memory.recall(REQUEST)
    assert REQUEST in block.text
    assert f"{file}:3 (turn 2; the file is gone)" in block.text
    (item,) = memory.show(block.hits[0].id, neighbours=0)
    assert item.citation is not None
    assert item.citation.state == "gone"


def test_a_copy_that_still_holds_is_cited_instead(memory: Memory, file: Path, tmp_path: Path) -> None:
    copy = shutil.copy2(file, tmp_path / "copy.jsonl")
    memory.index([copy])
    file.write_text(file.read_text().replace("payment", "invoice"))
    hit = memory.search(REQUEST, mode="keyword")[0]
    assert hit.citation is not None
    assert (hit.source_path, hit.source_line, hit.citation.state) == (str(copy), 3, "holds")
    assert memory.verify().states["holds"] == 4


def test_the_next_index_run_updates_citations(memory: Memory, file: Path) -> None:
    file.write_text(lines("Something else came first.") + file.read_text())
    memory.index([file])
    assert cited(memory) == ("holds", 4)


def test_a_redacted_text_is_checked_without_its_secret(memory: Memory, tmp_path: Path) -> None:
    reported = f"The deploy key is {SECRET}, use it for the release of the shop only."
    path = tmp_path / "secret.jsonl"
    path.write_text(lines(reported, "It is noted."))
    memory.index([path])
    stored = reported.replace(SECRET, "[redacted:github-token]")
    assert cited(memory, stored) == ("holds", 1)
    path.write_text(lines("Before that.", "Yes.") + path.read_text())
    assert cited(memory, stored) == ("moved", 3)
    path.write_text(path.read_text().replace("release", "trials "))
    assert cited(memory, stored) == ("changed", 1)


def test_a_citation_of_a_redacted_text_is_checked_without_the_rules_of_redaction(
    memory: Memory, tmp_path: Path
) -> None:
    reported = f"The deploy key is {SECRET}, use it for the release of the shop only."
    path = tmp_path / "secret.jsonl"
    path.write_text(lines(reported, "It is noted."))
    memory.index([path])
    code = """if True:
        import sys
        from pastchats_memory import Memory
        hit = Memory.open(sys.argv[1]).search("deploy key for the release of the shop", mode="keyword")[0]
        print(hit.citation.state, "pastchats_memory.redact.marks" in sys.modules)"""
    command = [sys.executable, "-c", code, str(tmp_path / "memory.db")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["holds", "False"]


def test_a_redacted_text_whose_parts_were_exchanged_is_changed(memory: Memory, tmp_path: Path) -> None:
    reported = f"Use this for the shop alone: {SECRET} and never on the machines of customers."
    path = tmp_path / "secret.jsonl"
    path.write_text(lines(reported, "It is noted."))
    memory.index([path])
    first, second = reported.split(SECRET)
    path.write_text(path.read_text().replace(reported, f"{second}{SECRET}{first}"))
    assert cited(memory, reported.replace(SECRET, "[redacted:github-token]"))[0] == "changed"


@pytest.mark.promise("evidence", "No digest that is stored for a citation allows guessing a secret.")
def test_no_digest_lets_a_secret_be_guessed(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "notes" / "door.md"
    path.parent.mkdir()
    path.write_text("# Door\n\npassword: hunter2-of-the-door\n")
    memory.index([path])
    with open_database(tmp_path / "memory.db") as database:
        (before,) = database.run(
            "SELECT passage FROM sightings JOIN prompts p ON p.id = prompt_id WHERE p.role = 'note'"
        )
    path.write_text("# Door\n\npassword: other77-of-the-door\n")
    memory.index([path], force=True)
    with open_database(tmp_path / "memory.db") as database:
        (after,) = database.run(
            "SELECT passage FROM sightings JOIN prompts p ON p.id = prompt_id WHERE p.role = 'note'"
        )
    assert before == after != (b"",)


def test_a_file_with_a_token_in_its_name_is_found(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / SECRET
    folder.mkdir()
    path = folder / f"about-{SECRET}.jsonl"
    path.write_text(lines("What is the colour of the shed door?", "Green since last summer, with a white frame."))
    memory.index([path])
    hit = memory.search("colour of the shed door", mode="keyword")[0]
    assert SECRET not in hit.source_path
    assert hit.citation is not None
    assert hit.citation.state == "holds"
    path.unlink()
    assert memory.verify(source=str(tmp_path)).states["gone"] == 2


def test_a_part_of_a_note_holds_by_all_of_its_lines(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "notes" / "pond.md"
    path.parent.mkdir()
    path.write_text("# Pond\n\nDug in April.\n\n## Pump\n\nThe pump needs a new filter.\nIt is the small one.\n")
    memory.index([path])
    hit = next(hit for hit in memory.search("pump filter", mode="keyword") if "filter" in hit.content)
    assert hit.citation is not None
    assert hit.citation.state == "holds"
    path.write_text(path.read_text().replace("the small one", "the large one"))
    assert {failed.state for failed in memory.verify(source=str(path)).failed} == {"changed"}
    path.write_text("Preface.\n" + path.read_text().replace("the large one", "the small one"))
    assert [(failed.state, failed.line) for failed in memory.verify(source=str(path)).failed] == [
        ("moved", 2),
        ("moved", 6),
    ]


def test_a_document_of_one_line_holds_when_a_conversation_was_added_to_it(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "chats.json"
    reported = [
        {"role": "user", "content": "Which of the two boilers is louder at night?"},
        {"role": "assistant", "content": "The left one."},
    ]
    path.write_text(json.dumps({"messages": reported}))
    memory.index([path])
    content = "Which of the two boilers is louder at night?"
    assert cited(memory, content) == ("holds", 1)
    path.write_text(json.dumps({"messages": [*reported, {"role": "user", "content": "Thank you."}]}))
    assert cited(memory, content) == ("holds", 1)
    path.write_text(json.dumps({"messages": reported}, indent=1))
    assert cited(memory, content) == ("moved", 5)
    path.write_text(path.read_text().replace("louder", "colder"))
    assert cited(memory, content) == ("changed", 1)


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".zip"])
def test_an_archive_is_unpacked_only_after_a_change(tmp_path: Path, suffix: str) -> None:
    archive = tmp_path / f"chats{suffix}"

    def pack(content: str) -> None:
        if suffix == ".zip":
            with zipfile.ZipFile(archive, "w") as opened:
                opened.writestr("a/hooks.jsonl", content)
        else:
            archive.write_bytes(gzip.compress(content.encode()))

    pack(lines(REQUEST, ANSWERED))
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([archive])
        assert cited(memory) == ("holds", 1)
        pack(lines("Before that.", "Yes.", REQUEST, ANSWERED))
        assert cited(memory) == ("moved", 3)
        pack(lines("Before that.", "Yes."))
        assert cited(memory) == ("changed", 1)
        archive.unlink()
        assert cited(memory) == ("gone", 1)


def test_a_foreign_database_holds_until_it_is_written(tmp_path: Path) -> None:
    import apsw

    path = tmp_path / "logs.db"
    connection = apsw.Connection(str(path))
    connection.execute((DEMO.parent / "llm-logs" / "llm-logs-q1.sql").read_text())
    connection.close()
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([path])
        found = memory.verify()
        assert found.states["holds"] == found.total > 1
        connection = apsw.Connection(str(path))
        connection.execute("CREATE TABLE another(one); UPDATE responses SET prompt = 'x', response = 'y'")
        connection.close()
        assert memory.verify().states["unchecked"] > 0
        path.unlink()
        found = memory.verify()
        assert found.states["gone"] == found.total


def test_a_task_is_cited_by_the_line_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "todo.md"
    path.write_text("# Plan\n\n- [ ] Paint the fence of the orchard green\n- [ ] Mend the gate\n")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([path])

        def state() -> tuple[str | None, int | None]:
            hit = memory.search("fence of the orchard", type="task", mode="keyword")[0]
            return hit.citation and hit.citation.state, hit.source_line

        assert state() == ("holds", 3)
        path.write_text("# Plan\n\nSoon.\n\n- [ ] Paint the fence of the orchard green\n")
        assert state() == ("moved", 5)
        path.write_text("# Plan\n\n- [ ] Paint the fence of the orchard white\n")
        assert state() == ("changed", 3)
        memory.index([path])
        assert memory.verify().states["holds"] > 0


def test_a_memory_without_a_file_is_not_checked(memory: Memory) -> None:
    memory.store_turn("user", "Remember that the cellar key hangs behind the stove.", "today", "event-1", "house")
    hit = memory.search("cellar key behind the stove", mode="keyword")[0]
    assert hit.citation is None
    assert memory.verify().total == 4


@pytest.mark.promise(
    "evidence",
    "A citation reports whether its file still contains the text; a pipe or a device in its place neither blocks nor leaks.",
)
@pytest.mark.parametrize("what", ["pipe", "folder", "link to a device", "link to another file", "sparse"])
def test_a_replaced_source_neither_blocks_nor_leaks(memory: Memory, file: Path, tmp_path: Path, what: str) -> None:
    file.unlink()
    other = tmp_path / "other"
    other.write_text("root:secret-of-the-host\n" * 50)
    if what == "pipe":
        os.mkfifo(file)
    elif what == "folder":
        file.mkdir()
    elif what == "link to a device":
        file.symlink_to("/dev/zero")
    elif what == "link to another file":
        file.symlink_to(other)
    else:
        with file.open("wb") as sparse:
            sparse.truncate(1 << 43)
    expected = "changed" if what in ("link to another file", "sparse") else "gone"
    assert cited(memory) == (expected, 3)
    block = memory.recall(REQUEST)
    assert "secret-of-the-host" not in block.text
    assert memory.verify().states[expected] == 4


def test_a_file_of_countless_lines_is_not_searched_while_somebody_waits(memory: Memory, file: Path) -> None:
    file.write_bytes(b"\n" * (12 << 20))
    assert cited(memory) == ("changed", 3)
    assert count_lines(lambda: cited(memory)) < 100_000, "each of twelve million lines would be one"


def test_an_older_database_is_checked_by_its_files_and_by_their_texts_until_it_is_indexed(
    memory: Memory, file: Path
) -> None:
    run = memory._database.run  # noqa: SLF001 - what an older release left is made by hand
    run("UPDATE sightings SET passage = NULL")
    assert cited(memory) == ("holds", 3)
    file.write_text(lines("Before that.", "Yes.") + file.read_text())
    assert cited(memory) == ("moved", 5)
    file.write_text(lines("Before that.", "Yes."))
    assert cited(memory) == ("unchecked", 3)
    memory.index([file])
    assert run("SELECT count(*) FROM sightings WHERE passage IS NULL") == [(0,)]


def test_a_session_that_grew_is_read_from_where_it_grew(memory: Memory, file: Path) -> None:
    with file.open("a") as more:
        more.write(lines("Who looks at the dead letter queue?", "Whoever is on call that week, each morning."))
    memory.index([file])
    assert cited(memory, "Who looks at the dead letter queue?") == ("holds", 5)
    assert memory.verify().states["holds"] == 6


def test_verify_says_what_does_not_hold_and_ends_with_one(program: Program) -> None:
    path = program.home / "hooks.jsonl"
    path.write_text(lines("Good morning to you.", "Good morning.", REQUEST, ANSWERED))
    assert program("index", path).status == 0
    well = program("verify")
    assert (well.status, well.stderr) == (0, "")
    assert "4 citations checked" in well.stdout
    path.write_text(lines("One more.") + path.read_text().replace("gives up", "goes on"))
    run = program("verify", "--json")
    assert run.status == 1
    Draft202012Validator(json.loads((SCHEMAS / "verify.json").read_text())).validate(run.json)
    assert run.json["checked"] == 4
    assert run.json["states"] == {"holds": 0, "moved": 3, "changed": 1, "gone": 0, "unchecked": 0}
    moved = [(row["source_line"], row["line"]) for row in run.results if row["state"] == "moved"]
    assert sorted(moved) == [(1, 2), (2, 3), (4, 5)]
    text = program("verify", "--project", "shop", "--source", program.home)
    assert text.status == 1
    assert f"{path.name}:1 → line 2" in text.stdout
    assert program("verify", "--project", "another").status == 1


def test_verify_shows_nothing_of_a_private_project_elsewhere(program: Program) -> None:
    project = program.home / "quiet"
    project.mkdir()
    (project / "pastchats-memory.toml").write_text("private = true\n")
    reported = {"role": "user", "content": REQUEST, "cwd": str(project), "project": "quiet"}
    (program.home / "quiet.jsonl").write_text(
        json.dumps(reported) + "\n" + json.dumps(reported | {"role": "assistant", "content": ANSWERED}) + "\n"
    )
    assert program("index", program.home / "quiet.jsonl").status == 0
    (program.home / "quiet.jsonl").unlink()
    run = program("verify", "--json")
    assert run.status == 1
    assert (run.json["checked"], run.results) == (0, [])


@pytest.mark.parametrize("what", ["pipe", "folder", "link to a device"])
def test_a_device_in_the_place_of_an_archive_is_refused(tmp_path: Path, file: Path, what: str) -> None:
    archive = tmp_path / "hooks.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(file, "hooks.jsonl")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([archive])
        read = archive.stat()
        archive.unlink()
        if what == "pipe":
            os.mkfifo(archive)
        elif what == "folder":
            archive.mkdir()
        else:
            archive.symlink_to("/dev/zero")
        os.utime(archive, ns=(read.st_atime_ns, read.st_mtime_ns), follow_symlinks=False)
        assert memory.verify().states["gone"] == 4
