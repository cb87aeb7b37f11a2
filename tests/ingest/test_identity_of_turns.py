"""P2: the same turn seen again is one row, and two different turns with equal words are two."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest

from pastchats_memory import Memory
from pastchats_memory.ingest.report import IndexReport

EARLIER, LATER = 1_700_000_000, 1_700_009_000


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


def write(path: Path, lines: Iterable[dict], mtime: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    if mtime is not None:
        os.utime(path, (mtime, mtime))
    return path


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def timed(number: int, role: str = "user", text: str | None = None, conversation: str = "c") -> dict:
    """A message of a generic file that knows its second and its conversation."""
    return {
        "conversation_id": conversation,
        "role": role,
        "content": text or f"Message number {number}",
        "timestamp": f"2026-01-31T08:{number // 60:02}:{number % 60:02}.500Z",
    }


def untimed(*texts: str) -> list[dict]:
    """Messages by turns, that know neither time nor conversation."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def claude(number: int, text: str, session: str = "s1", role: str = "user") -> dict:
    """A Claude Code record, whose `uuid` its copies keep."""
    content = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number else None,
        "sessionId": session,
        "timestamp": f"2026-01-31T08:15:{number:02}.000Z",
        "cwd": "/home/me/garden",
        "message": {"role": role, "content": content, **({"id": f"msg_{number:024}"} if role == "assistant" else {})},
    }


def added(report: IndexReport) -> int:
    return report.counts()["turns_added"]


def rows(memory: Memory) -> list[tuple]:
    """Every row as (conversation, place in it, role, text, project), in that order."""
    hits = memory.search("anything", mode="semantic", limit=1000)
    return sorted(
        (hit.conversation_id or "", hit.turn_index, hit.role, hit.content, hit.source_project) for hit in hits
    )


def texts(memory: Memory) -> list[str]:
    return sorted(hit.content for hit in memory.search("anything", mode="semantic", limit=1000))


SHAPES = {
    "timed": [timed(1), timed(2, "assistant"), timed(3)],
    "untimed": untimed("How?", "So.", "Thanks"),
    "short": untimed("How?", "So."),
    "claude": [claude(1, "How?"), claude(2, "So.", role="assistant")],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("how", ["again", "touched", "forced", "moved", "renamed", "copied", "linked"])
def test_the_same_turns_seen_again_add_nothing(memory: Memory, tmp_path: Path, shape: str, how: str) -> None:
    file = write(tmp_path / "history" / "chat.jsonl", SHAPES[shape])
    assert added(memory.index([tmp_path / "history"])) == len(SHAPES[shape])
    before = rows(memory)
    if how == "touched":
        os.utime(file, (EARLIER, EARLIER))
    elif how == "moved":
        (tmp_path / "history" / "old").mkdir()
        file.rename(tmp_path / "history" / "old" / "chat.jsonl")
    elif how == "renamed":
        file.rename(tmp_path / "history" / "another-name.jsonl")
    elif how == "copied":
        (tmp_path / "history" / "backup").mkdir()
        shutil.copy(file, tmp_path / "history" / "backup" / "chat.jsonl")
    elif how == "linked":
        (tmp_path / "history" / "backup").mkdir()
        os.link(file, tmp_path / "history" / "backup" / "chat.jsonl")
    report = memory.index([tmp_path / "history"], force=how == "forced")
    assert (added(report), report.embedded) == (0, 0)
    assert rows(memory) == before


def test_a_citation_names_a_file_that_is_still_there(memory: Memory, tmp_path: Path) -> None:
    file = write(tmp_path / "chat.jsonl", SHAPES["timed"])
    memory.index([file])
    moved = file.rename(tmp_path / "moved.jsonl")
    memory.index([moved])
    hits = memory.search("Message number 2")
    assert {hit.source_path for hit in hits} == {str(moved)}
    assert f"Source: {moved}:1 (turn 0) · id 1; matched: line 2" in memory.recall("Message number 2").text


def test_every_place_where_a_turn_was_seen_is_kept(memory: Memory, tmp_path: Path) -> None:
    first = write(tmp_path / "a" / "chat.jsonl", SHAPES["timed"], EARLIER)
    second = write(tmp_path / "b" / "chat.jsonl", [{"note": "a line before"}, *SHAPES["timed"]], LATER)
    memory.index([tmp_path / "a", tmp_path / "b"])
    item = memory.show(memory.search("Message number 1")[0].id, 0)[0]
    assert [(place.path, place.line) for place in item.places] == [(str(first), 1), (str(second), 2)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_that_grew_adds_only_what_is_new(memory: Memory, tmp_path: Path, shape: str) -> None:
    file = write(tmp_path / "chat.jsonl", SHAPES[shape])
    memory.index([file])
    more = {
        "timed": [timed(4, "assistant"), timed(5)],
        "claude": [claude(3, "And then?"), claude(4, "Then this.", role="assistant")],
    }.get(shape, untimed("And then?", "Then this."))
    append(file, "".join(json.dumps(line) + "\n" for line in more))
    report = memory.index([file])
    assert (added(report), report.embedded) == (2, 2)
    assert len(texts(memory)) == len(SHAPES[shape]) + 2
    assert len({row[0] for row in rows(memory)}) == 1, "all in one conversation"
    assert [row[1] for row in rows(memory)] == list(range(len(SHAPES[shape]) + 2))


@pytest.mark.parametrize("first", ["march", "april"])
def test_exports_that_overlap_are_joined(memory: Memory, tmp_path: Path, first: str) -> None:
    write(tmp_path / "march.jsonl", [timed(number) for number in range(10)], EARLIER)
    write(tmp_path / "april.jsonl", [timed(number) for number in range(5, 15)], LATER)
    second = "april" if first == "march" else "march"
    assert added(memory.index([tmp_path / f"{first}.jsonl"])) == 10
    assert added(memory.index([tmp_path / f"{second}.jsonl"])) == 5
    assert texts(memory) == sorted(f"Message number {number}" for number in range(15))


def test_two_different_turns_with_equal_words_are_two_rows(memory: Memory, tmp_path: Path) -> None:
    write(tmp_path / "timed.jsonl", [timed(1, text="yes"), timed(2, "assistant", "Done."), timed(3, text="yes")])
    write(tmp_path / "untimed.jsonl", untimed("continue", "Done.", "continue", "Done.", "continue", "Finished."))
    write(tmp_path / "claude.jsonl", [claude(1, "go on"), claude(2, "Done.", role="assistant"), claude(3, "go on")])
    memory.index([tmp_path])
    found = texts(memory)
    assert [found.count(text) for text in ("yes", "continue", "go on", "Done.")] == [2, 3, 2, 4]
    assert added(memory.index([tmp_path], force=True)) == 0


def test_different_conversations_in_files_of_one_name_are_kept_apart(memory: Memory, tmp_path: Path) -> None:
    write(tmp_path / "a" / "chat.jsonl", untimed("Plant beans", "Done.", "continue", "Done."))
    write(tmp_path / "b" / "chat.jsonl", untimed("Paint the shed", "Done.", "continue", "Done."))
    assert added(memory.index([tmp_path])) == 8


def test_short_ids_that_every_file_counts_anew_do_not_join_different_turns(memory: Memory, tmp_path: Path) -> None:
    for name, texts_ in (("a", ("Plant beans", "Done.")), ("b", ("Paint the shed", "Finished."))):
        write(tmp_path / f"{name}.jsonl", [{"id": place, **line} for place, line in enumerate(untimed(*texts_), 1)])
    assert added(memory.index([tmp_path])) == 4


def test_an_answer_with_an_id_that_was_half_written_is_one_row_with_all_its_words(
    memory: Memory, tmp_path: Path
) -> None:
    file = write(tmp_path / "s1.jsonl", [claude(1, "How?"), claude(2, "First we", role="assistant")])
    memory.index([file])
    write(file, [claude(1, "How?"), claude(2, "First we dig, then we plant.", role="assistant")])
    report = memory.index([file])
    assert (added(report), sum(state.updated for state in report.files)) == (0, 1)
    assert texts(memory) == ["First we dig, then we plant.", "How?"]
    assert memory.search("plant", mode="keyword")[0].content == "First we dig, then we plant."


@pytest.mark.parametrize("suffix", ["md", "jsonl"])
@pytest.mark.parametrize("length", [2, 4])
def test_the_last_turn_of_a_file_without_ids_grows_in_its_row(
    memory: Memory, tmp_path: Path, suffix: str, length: int
) -> None:
    messages = ["How do we start?", "With the beans.", "And then?", "First we"][:length]

    def save() -> None:
        lines = untimed(*messages)
        text = "".join(f"## {line['role'].title()}\n\n{line['content']}\n\n" for line in lines)
        (tmp_path / f"chat.{suffix}").write_text(
            text if suffix == "md" else "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
        )

    save()
    memory.index([tmp_path / f"chat.{suffix}"])
    messages[-1] += " dig, then we plant."
    save()
    report = memory.index([tmp_path / f"chat.{suffix}"])
    assert (added(report), sum(state.updated for state in report.files)) == (0, 1)
    assert texts(memory) == sorted(messages)


def test_a_turn_put_before_a_shorter_one_takes_nothing_from_it(memory: Memory, tmp_path: Path) -> None:
    opening = ["Plant beans", "Done.", "Water them", "Done, too."]
    file = write(tmp_path / "chat.jsonl", untimed(*opening, "ok", "Fine."))
    memory.index([file])
    write(file, untimed(*opening, "ok, and the roses", "Which roses?", "ok", "Fine."))
    memory.index([file])
    assert texts(memory) == sorted([*opening, "ok, and the roses", "Which roses?", "ok", "Fine."])


def test_rows_of_a_conversation_stay_when_its_file_loses_them(memory: Memory, tmp_path: Path) -> None:
    file = write(tmp_path / "chat.jsonl", [timed(1), timed(2, "assistant"), timed(3)])
    memory.index([file])
    write(file, [timed(3)])
    report = memory.index([file])
    assert (added(report), report.superseded) == (0, 0)
    assert len(texts(memory)) == 3


@pytest.mark.parametrize("order", [("old", "new"), ("new", "old"), ("both",)])
def test_a_resumed_session_that_copies_earlier_turns_leaves_them_to_the_older_file(
    memory: Memory, tmp_path: Path, order: tuple[str, ...]
) -> None:
    begun = [claude(1, "How?"), claude(2, "So.", role="assistant")]
    files = {"old": write(tmp_path / "s1.jsonl", begun, EARLIER)}
    copied = [{**line, "sessionId": "s2"} for line in begun]
    resumed = [*copied, claude(3, "And then?", "s2"), claude(4, "Then this.", "s2", "assistant")]
    files["new"] = write(tmp_path / "s2.jsonl", resumed, LATER)
    for name in order:
        memory.index([tmp_path] if name == "both" else [files[name]])
    assert [(row[0], row[3]) for row in rows(memory)] == [
        ("s1", "How?"),
        ("s1", "So."),
        ("s2", "And then?"),
        ("s2", "Then this."),
    ]


@pytest.mark.parametrize("order", [("original", "fork"), ("fork", "original"), ("both",)])
def test_a_fork_leaves_the_turns_that_it_copied_to_a_session_that_went_on_after_it(
    memory: Memory, tmp_path: Path, order: tuple[str, ...]
) -> None:
    begun = [claude(1, "How?"), claude(2, "So.", role="assistant")]
    copied = [
        {**line, "sessionId": "s2", "forkedFrom": {"sessionId": "s1", "messageUuid": line["uuid"]}} for line in begun
    ]
    files = {
        "original": write(tmp_path / "s1.jsonl", [*begun, claude(5, "And back here?")], LATER),
        "fork": write(tmp_path / "s2.jsonl", [*copied, claude(3, "And then?", "s2")], EARLIER),
    }
    for name in order:
        memory.index([tmp_path] if name == "both" else [files[name]])
    assert [(row[0], row[3]) for row in rows(memory)] == [
        ("s1", "How?"),
        ("s1", "So."),
        ("s1", "And back here?"),
        ("s2", "And then?"),
    ]


def test_a_project_given_by_hand_counts_for_every_turn_and_can_be_changed_and_taken_back(
    memory: Memory, tmp_path: Path
) -> None:
    file = write(tmp_path / "s1.jsonl", [claude(1, "How?"), claude(2, "So.", role="assistant")])
    for project in (None, "shed", "roof", ""):
        report = memory.index([file], project=project)
        assert report.embedded == (2 if project is None and added(report) else 0)
        assert {row[4] for row in rows(memory)} == {project or "garden"}
        assert len(memory.search("How", project=project or "garden")) == 2
        assert memory.search("How", project="nobody") == []
    assert len(texts(memory)) == 2


NOTE = "# Garden\n\nWhat we know.\n\n## Beans\n\nSow in May.\n\n## Roses\n\nCut in March.\n"


def test_parts_that_a_rewritten_note_no_longer_has_are_gone_and_the_others_stay(memory: Memory, tmp_path: Path) -> None:
    note = tmp_path / "garden.md"
    note.write_text(NOTE, encoding="utf-8")
    assert added(memory.index([note])) == 3
    roses = memory.search("Cut in March", mode="keyword")[0]
    note.write_text(NOTE.replace("## Beans\n\nSow in May.\n\n", "## Peas\n\nSow in April.\n\n"), encoding="utf-8")
    report = memory.index([note])
    assert (added(report), report.superseded) == (1, 1)
    assert memory.search("May", mode="keyword") == []
    assert memory.search("beans", mode="keyword") == []
    kept = memory.search("Cut in March", mode="keyword")[0]
    assert (kept.id, kept.source_line) == (roses.id, 9)
    assert len(texts(memory)) == 3
    assert all(finding.is_well for finding in memory.doctor())


def test_a_part_that_stands_in_another_note_too_is_not_superseded(memory: Memory, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "garden.md").write_text(NOTE, encoding="utf-8")
    memory.index([tmp_path], notes=True)
    (tmp_path / "a" / "garden.md").write_text("# Garden\n\nAll sold.\n", encoding="utf-8")
    report = memory.index([tmp_path], notes=True)
    assert report.superseded == 0
    beans = memory.search("Sow in May", mode="keyword")[0]
    assert beans.source_path == str(tmp_path / "b" / "garden.md")


def test_equal_texts_go_through_the_model_once(memory: Memory, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [timed(number, text=f"Text {number % 7}") for number in range(600)])
    first = memory.index([tmp_path])
    assert (added(first), first.embedded) == (600, 7)
    write(
        tmp_path / "b.jsonl", [timed(number, text=f"Text {number % 7}", conversation="d") for number in range(700, 710)]
    )
    second = memory.index([tmp_path])
    assert (added(second), second.embedded, second.cached) == (10, 0, 10)


@pytest.mark.parametrize(("left", "entered"), [(EARLIER, LATER), (LATER, EARLIER)])
def test_a_part_that_moved_to_a_note_of_the_same_name_is_still_one_row(
    memory: Memory, tmp_path: Path, left: int, entered: int
) -> None:
    before, after = (tmp_path / "notes" / folder / "log.md" for folder in ("a", "b"))
    for path in (before, after):
        path.parent.mkdir(parents=True)
        path.write_text(f"# Log\n\nWhat stays in {path.parent.name}.\n", encoding="utf-8")
    append(before, "\n## Fence\n\nThe fence is painted green.\n")
    memory.index([tmp_path / "notes"])
    (fence,) = memory.search("fence", mode="keyword")
    before.write_text("# Log\n\nWhat stays in a.\n", encoding="utf-8")
    append(after, "\n## Fence\n\nThe fence is painted green.\n")
    os.utime(before, (left, left))
    os.utime(after, (entered, entered))
    memory.index([tmp_path / "notes"])
    (found,) = memory.search("fence", mode="keyword")
    assert (found.id, found.source_path) == (fence.id, str(after))


def test_equal_words_of_the_same_second_in_two_conversations_are_two_turns(memory: Memory, tmp_path: Path) -> None:
    busy = [
        timed(1, role, "yes", conversation) | {"timestamp": "2026-01-31T08:15:20Z"}
        for conversation in ("a", "b")
        for role in ("user", "assistant")
    ]
    assert added(memory.index([write(tmp_path / "busy.jsonl", busy)])) == 4
    assert added(memory.index([write(tmp_path / "again" / "busy.jsonl", busy)])) == 0


def test_a_turn_that_was_known_by_its_second_alone_is_the_same_row_when_its_file_is_read_again(
    memory: Memory, tmp_path: Path
) -> None:
    file = write(tmp_path / "chat.jsonl", [timed(1) | {"timestamp": "2026-01-31T08:15:20Z"}, timed(2, "assistant")])
    memory.index([file])
    apsw.Connection(str(tmp_path / "memory.db")).execute(
        "UPDATE prompts SET content_hash = 'as it was made before' WHERE role = 'user'"
    )
    assert added(memory.index([file], force=True)) == 0
    assert len(rows(memory)) == 2


def test_equal_words_under_the_same_number_of_a_step_are_turns_of_two_sessions(memory, tmp_path):
    for number, session in enumerate(("first", "second")):
        step = {
            "step_index": 0,
            "source": "USER_EXPLICIT",
            "type": "USER_INPUT",
            "status": "DONE",
            "content": "continue",
        }
        for brain, fields in (
            ("timed", {"created_at": f"2026-01-3{number}T08:00:01Z"}),
            ("untimed", {"content": "go on"}),
        ):
            write(tmp_path / brain / session / ".system_generated" / "logs" / "transcript.jsonl", [step | fields])
    assert added(memory.index([tmp_path])) == 4
