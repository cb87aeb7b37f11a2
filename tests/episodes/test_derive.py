"""Outcomes are stored when rows come, derived again when they change, and deleted with quoted rows."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages, write_session

from pastchats_memory import Memory
from pastchats_memory.episodes import derive as deriving
from pastchats_memory.episodes import find_request
from pastchats_memory.episodes.derive import derive, derive_ending, rules_version
from pastchats_memory.episodes.outcome import EpisodeTurn
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database, open_database

REQUEST = ("user", "The login test is flaky, make it pass.")
GREEN = ("tool", "$ pytest -q tests/test_login.py\n12 passed in 0.81s")
ANSWER = ("assistant", "The clock was read twice in that test, which is why it failed at midnight.")
Shown = tuple[int, int, str, str]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    (tmp_path / "history").mkdir()
    return tmp_path / "history" / "chat.jsonl"


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


def database_of(memory: Memory) -> Database:
    return memory._database  # noqa: SLF001 - what is stored is looked at, not only what is said


def listed(database: Database) -> list[Shown]:
    return database.run("SELECT first_index, last_index, verdict, signal FROM outcomes ORDER BY first_index")


def test_an_index_run_stores_how_each_episode_ended_with_the_line_that_shows_it(memory: Memory, history: Path) -> None:
    memory.index(
        [write_messages(history, REQUEST, GREEN, ANSWER, ("user", "Which bread is best?"), ("assistant", "Rye."))]
    )
    database = database_of(memory)
    assert listed(database) == [(0, 2, "worked", "check_passed"), (3, 4, "unknown", "")]
    tool = next(hit for hit in memory.search("12 passed") if hit.role == "tool")
    ending = outcomes.of_turn(database, turns.items(database, [int(tool.id)])[0])
    assert ending is not None
    assert [(shown.text, shown.id) for shown in ending.evidence] == [("12 passed in 0.81s", int(tool.id))]
    assert database.value("SELECT DISTINCT rules FROM outcomes") == rules_version()


def test_a_later_message_changes_the_outcome(memory: Memory, history: Path) -> None:
    turns = (REQUEST, ("assistant", "I will look at the clock of that test."))
    memory.index([write_messages(history, *turns)])
    assert listed(database_of(memory)) == [(0, 1, "stopped", "broke_off")]
    memory.index([write_messages(history, *turns, ("user", "Thanks, it works now!"), ("assistant", "Good."))])
    first, second = listed(database_of(memory))
    assert (first[:3], second[:2]) == ((0, 1, "worked"), (2, 3))


def test_a_prompt_that_was_stopped_before_any_answer_is_an_episode_of_its_own(memory: Memory, history: Path) -> None:
    stopped = ("user", "[Request interrupted by user]")
    question = (("user", "Make the login test pass."), stopped, ("user", "Make the logout test pass."), stopped)
    memory.index(
        [write_session(history, *question, ("user", "Which test is flaky?"), ("assistant", "The login test."))]
    )
    assert listed(database_of(memory)) == [
        (0, 0, "stopped", "unanswered"), (1, 1, "stopped", "unanswered"), (2, 3, "unknown", ""),
    ]  # fmt: skip


def test_a_prompt_that_the_client_repeats_is_one_episode(memory: Memory, history: Path) -> None:
    again = ("user", "Make the login test pass.")
    memory.index([write_session(history, again, ("user", "[Request interrupted by user]"), again, ANSWER)])
    assert [span[:2] for span in listed(database_of(memory))] == [(0, 2)]


def test_later_turns_are_derived_without_reading_the_conversation_from_its_beginning(
    memory: Memory, history: Path
) -> None:
    turns = [
        turn for number in range(30) for turn in (("user", f"Question {number}?"), ("assistant", f"Answer {number}."))
    ]
    memory.index([write_messages(history, *turns)])
    database = database_of(memory)
    database.run("UPDATE outcomes SET signal = 'kept' WHERE first_index < 58")
    memory.index([write_messages(history, *turns, ("user", "And question 30?"), ("assistant", "Answer 30."))])
    assert [signal for *_, signal in listed(database)].count("kept") == 29
    assert len(listed(database)) == 31


def test_incremental_outcomes_equal_outcomes_of_one_run(memory: Memory, history: Path) -> None:
    turns = [REQUEST, GREEN, ANSWER, ("user", "No, still broken."), ("assistant", "I see."), REQUEST, GREEN, ANSWER]
    for length in range(1, len(turns) + 1):
        memory.index([write_messages(history, *turns[:length])])
    by_piece = database_of(memory).run("SELECT * FROM outcomes ORDER BY first_index")
    memory.reindex_outcomes()
    assert database_of(memory).run("SELECT * FROM outcomes ORDER BY first_index") == by_piece
    assert [ending[:2] for ending in listed(database_of(memory))] == [(0, 2), (3, 4), (5, 7)]


WATCHED = "Put the light of the cellar out at midnight and dim the stairs to a third AI!"


def test_a_comment_in_a_watched_file_is_a_request_of_its_own(memory: Memory, tmp_path: Path) -> None:
    """aider notes only that it found one: what came of it was taken for the end of what had been typed before."""
    reported = tmp_path / "house" / ".aider.chat.history.md"
    reported.parent.mkdir()
    reported.write_text(
        "# aider chat started at 2026-11-24 10:02:11\n\n#### Reorder the lists of rooms  \n\nThe section is not there.\n\n"
        "> Tokens: 1.2k sent, 80 received.  \n> Added hall.py to the chat  \n> Processing your request...  \n\n"
        f"The light goes out at midnight, and the stairs have a third of their brightness.\n\nhall.py\n```python\n<<<<<<< SEARCH\n# {WATCHED}\n=======\nlight.off()\n>>>>>>> REPLACE\n```\n\n"
        "> Applied edit to hall.py  \n> Commit 51c7e0d feat: Put the light out  \n\n#### thanks, it works  \n\nGood.\n",
        encoding="utf-8",
    )
    memory.index([reported])
    assert [ending[2] for ending in listed(database_of(memory))] == ["unknown", "worked", "unknown"]
    lists, light = (memory.recall(query).entries[0] for query in ("reorder the lists of rooms", WATCHED))
    assert (lists.outcome.verdict, lists.outcome.shown_by) == ("unknown", WATCHED)
    assert (light.asked, light.outcome.shown_by) == (WATCHED, "thanks, it works")


def test_a_message_added_before_any_answer_belongs_to_the_previous_episode(memory: Memory, history: Path) -> None:
    turns = [REQUEST, ANSWER, ("user", "hm."), ("user", "No, that is wrong, it still fails."), ("assistant", "I see.")]
    for length in range(2, len(turns) + 1):
        memory.index([write_messages(history, *turns[:length])])
    assert listed(database_of(memory)) == [(0, 1, "failed", "still_so"), (2, 4, "unknown", "")]


def test_the_quoted_turn_of_several_is_cited(memory: Memory, history: Path) -> None:
    blame = ("user", "No, that is **wrong**, `make test` still fails.")
    memory.index([write_messages(history, REQUEST, ANSWER, ("user", "hm."), blame, ("assistant", "I see."))])
    (((quotation, _, place),),) = (
        json.loads(row[0])
        for row in database_of(memory).run("SELECT evidence_json FROM outcomes WHERE verdict = 'failed'")
    )
    assert (quotation, place) == ("No, that is wrong, make test still fails.", 3)


def test_a_quotation_of_the_next_message_ends_with_one_turn(memory: Memory, history: Path) -> None:
    port = ("user", "The port is 8080 on the **staging** host.")
    for number, (first, quoted) in enumerate((("A moment.", ["A moment.", 2]), ("/diff", [port[1], 3]))):
        reported = history.with_name(f"{number}.jsonl")
        turns = (REQUEST, ANSWER, ("user", first), port, ("assistant", "I see."))
        memory.index([write_messages(reported, *turns, conversation=f"c{number}")])
        (evidence,) = (
            json.loads(row[0])
            for row in database_of(memory).run(
                f"SELECT evidence_json FROM outcomes WHERE conversation_id = 'c{number}' AND first_index = 0"
            )
        )
        assert [[text, place] for text, _, place in evidence] == [quoted]


def test_a_stored_turn_counts_at_once(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, REQUEST, ("assistant", "I will look at the clock."), conversation="c1")])
    stored = memory.search("flaky login")[0]
    item = turns.items(database_of(memory), [int(stored.id)])[0]
    assert outcomes.of_turn(database_of(memory), item) is not None
    memory.store_turn("user", "Thanks, it works now!", conversation_id="c1", project=stored.source_project)
    assert outcomes.of_turn(database_of(memory), item) is None
    assert "Shown by: > Thanks, it works now!" in memory.recall("flaky login test").text
    derive(database_of(memory))
    ending = outcomes.of_turn(database_of(memory), item)
    assert ending is not None
    assert ending.verdict == "worked"


def test_with_a_deleted_row_everything_that_quotes_it_is_gone_at_once(memory: Memory, history: Path) -> None:
    memory.index(
        [write_messages(history, REQUEST, ANSWER, ("user", "Thanks, the canary sings!"), ("assistant", "Good."))]
    )
    database = database_of(memory)
    assert "canary" in database.value("SELECT group_concat(evidence_json) FROM outcomes")
    with database.transaction():
        database.run("DELETE FROM prompts WHERE content LIKE '%canary%'")
    assert listed(database) == []
    derive(database)
    assert listed(database) == [(0, 3, "unknown", "")]


def test_the_turn_that_is_quoted_is_found_however_many_commands_to_the_client_stand_around_it() -> None:
    episode = [outcomes.TurnRow(1, 0, *REQUEST, {}), outcomes.TurnRow(2, 1, *ANSWER, {})]
    texts = ("see (marked with █)", "█this\nnot\n█that", "/add a\n" * 300_000)
    rows = [outcomes.TurnRow(3 + place, 2 + place, "user", text, {}) for place, text in enumerate(texts)]
    assert derive_ending(episode, rows).evidence[0].text == "this that"


def test_an_undecided_next_message_is_found_quickly_too(memory: Memory, history: Path) -> None:
    memory.index(
        [write_messages(history, REQUEST, ANSWER, ("user", "Where does the canary sing?"), ("assistant", "There."))]
    )
    database = database_of(memory)
    assert "canary" in memory.recall("flaky login test").text
    with database.transaction():
        database.run("DELETE FROM prompts WHERE content LIKE '%canary%'")
    assert "canary" not in memory.recall("flaky login test").text
    derive(database)
    assert database.value("SELECT group_concat(evidence_json) FROM outcomes") == "[]"


def test_a_row_that_changes_project_keeps_its_outcome(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, REQUEST, GREEN, ANSWER)], project="garden")
    memory.index([history], project="shed")
    assert database_of(memory).run("SELECT source_project, verdict FROM outcomes") == [("shed", "worked")]


@pytest.mark.parametrize("others", [0, 1])
def test_rows_written_during_derivation_are_derived_later(
    memory: Memory, history: Path, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    """All that was judged may be out of date by the time that it is written down, or some of it."""
    for number in range(1 + others):
        write_messages(history.with_name(f"{number}.jsonl"), REQUEST, ANSWER, conversation=f"c{number}")
    memory.index([history.parent])
    database, fresh = database_of(memory), deriving._derive_unlocked  # noqa: SLF001 - the moment that is wanted
    with Memory.open(database.path) as other:

        def meanwhile(question: Database) -> object:
            found = fresh(question)
            monkeypatch.setattr(deriving, "_derive_unlocked", fresh)
            other.store_turn("user", "Thanks, it works now!", conversation_id="c0", project=project)
            return found

        project = database.value("SELECT source_project FROM prompts LIMIT 1")
        monkeypatch.setattr(deriving, "_derive_unlocked", meanwhile)
        derive(database, anew=True)
    by_piece = database.run("SELECT * FROM outcomes ORDER BY 1, 2, 3")
    assert [row[5] for row in by_piece] == ["worked", "unknown", *["unknown"] * others]
    derive(database, anew=True)
    assert database.run("SELECT * FROM outcomes ORDER BY 1, 2, 3") == by_piece


def test_an_earlier_due_row_stays_due(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, REQUEST, ANSWER)])
    database, (project, conversation) = (
        database_of(memory),
        database_of(memory).run("SELECT source_project, conversation_id FROM outcomes")[0],
    )
    for from_index in (2, 0, 4):
        with database.transaction():
            outcomes.mark(database, outcomes.Due(project, conversation, from_index))
    assert outcomes.due(database, 9) == [outcomes.Due(project, conversation, 0)]


def test_rules_that_changed_are_noticed_by_the_next_run(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, REQUEST, GREEN, ANSWER)])
    database = database_of(memory)
    database.run("UPDATE outcomes SET verdict = 'failed', rules = 'older'")
    database.run("UPDATE embedding_meta SET value = 'older' WHERE key = 'outcome_rules'")
    memory.index([history])
    assert [verdict for _, _, verdict, _ in listed(database)] == ["worked"]


def test_a_run_out_of_time_leaves_the_rest_due(memory: Memory, history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        write_messages(history.with_name(f"{number}.jsonl"), REQUEST, GREEN, ANSWER, conversation=f"c{number}")
    memory.index([history.parent])
    database = database_of(memory)
    whole = listed(database)
    database.run("DELETE FROM outcomes")
    monkeypatch.setattr(deriving, "BATCH_CONVERSATIONS", 2)
    assert derive(database, anew=True, max_s=0).left == 6
    seen: list[int] = []
    assert derive(database, lambda progress: seen.append(progress.done)).left == 0
    assert seen == [2, 4, 6]
    assert listed(database) == whole


def test_reindex_derives_all_anew_and_its_json_fits_the_schema(program: Program) -> None:
    assert program("index", write_messages(program.home / "chat.jsonl", REQUEST, GREEN, ANSWER)).status == 0
    with closing(sqlite3.connect(program.database)) as connection, connection:
        connection.execute("UPDATE outcomes SET verdict = 'failed'")
    done = program("reindex", "--outcomes", "--json")
    body = json.loads(done.stdout)
    Draft202012Validator(json.loads((REPOSITORY / "contracts/schemas/reindex.json").read_text())).validate(body)
    assert {key: body["results"][0][key] for key in ("conversations", "episodes", "left")} == {
        "conversations": 1, "episodes": 1, "left": 0,
    }  # fmt: skip
    with closing(sqlite3.connect(program.database)) as connection:
        assert connection.execute("SELECT verdict FROM outcomes").fetchall() == [("worked",)]
    assert "1 episode of 1 conversation" in program("reindex", "--outcomes").stdout


@pytest.mark.parametrize("wrong", [(), ("--outcomes", "--embeddings"), ("--outcomes", "--model", "packaged")])
def test_reindex_requires_exactly_one_action(program: Program, wrong: tuple[str, ...]) -> None:
    program("index", write_messages(program.home / "chat.jsonl", REQUEST, ANSWER))
    assert program("reindex", *wrong).status == 2


def test_an_older_database_has_outcomes_before_and_after_derivation(program: Program) -> None:
    history = write_messages(program.home / "chat.jsonl", REQUEST, GREEN, ANSWER)
    assert program("index", history).status == 0
    with open_database(program.database) as database, database.transaction():
        database.run("DELETE FROM outcomes")
        outcomes.mark_all(database)
    assert "Shown by: > 12 passed in 0.81s" in program("recall", "flaky login test").stdout
    assert program("index", history).status == 0
    with open_database(program.database) as database:
        assert (len(listed(database)), outcomes.pending(database)) == (1, 0)
    assert "Shown by: > 12 passed in 0.81s" in program("recall", "flaky login test").stdout


LOGIN = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Make the login test pass."}}


def test_an_open_task_list_leaves_committed_work_unknown(tmp_path: Path) -> None:
    done, left = ({"content": "Read the clock once", "status": state} for state in ("completed", "pending"))
    for name, items in (("done", [done]), ("open", [done, {**left, "content": "Read the other clock"}])):
        with Memory.open(tmp_path / f"{name}.db") as memory:
            memory.index([write_records(tmp_path / name, [LOGIN, *todo("a1", items)])])
            assert [one[2] for one in listed(database_of(memory))] == ["worked" if name == "done" else "unknown"]


def test_a_changed_or_forgotten_task_updates_the_outcome(
    program: Program,
) -> None:
    items = [{"content": "Read the clock once", "status": "completed"}]
    write_records(program.home / "history", [LOGIN, *todo("a1", items)])
    assert program("index", program.home / "history").status == 0

    def worked() -> int:
        return len(program("search", "login test", "--type", "prompt", "--outcome", "worked", "--json").json["results"])

    assert worked() > 0
    key = program("task", "list", "--status", "completed", "--json").json["results"][0]["key"]
    assert program("task", "update", key, "--status", "in_progress").status == 0
    assert worked() == 0
    assert program("forget", "--id", f"t:{key}", "--yes").status == 0
    assert worked() > 0


def test_an_imported_task_updates_the_outcome(
    tmp_path: Path,
) -> None:
    answer, returned = todo("a1", [{"content": "Read the clock once", "status": "in_progress"}])
    with Memory.open(tmp_path / "one.db") as one, Memory.open(tmp_path / "two.db") as two:
        one.index([write_records(tmp_path / "history", [LOGIN, answer, returned])])
        answer["message"]["content"] = answer["message"]["content"][:1]  # type: ignore[index] # without the list
        two.index([write_records(tmp_path / "listed", [LOGIN, answer])])

        def worked() -> list[str]:
            return [hit.role for hit in two.search("login test", outcome="worked") if hit.task is None]

        assert "user" in worked()
        two.tasks.import_lines(one.tasks.export())
        assert worked() == []


def write_records(folder: Path, records: list[dict[str, object]]) -> Path:
    """A session of Claude Code, a record a second."""
    common = {"sessionId": "s1", "cwd": "/home/ada/shop", "version": "2.0.1", "isSidechain": False}
    path = folder / "s1.jsonl"
    path.parent.mkdir()
    path.write_text(
        "".join(
            json.dumps(common | record | {"timestamp": f"2026-05-04T08:00:{number:02}.000Z"}) + "\n"
            for number, record in enumerate(records)
        ),
        encoding="utf-8",
    )
    return path


def todo(uuid: str, items: list[dict[str, str]]) -> list[dict[str, object]]:
    """Records of an answer that keeps a list of what is to be done."""
    call = {"type": "tool_use", "id": f"t-{uuid}", "name": "TodoWrite", "input": {"todos": items}}
    text = {"type": "text", "text": "Committed 4f1c2ab: the clock is read once in that test."}
    answer = {"type": "tool_result", "tool_use_id": f"t-{uuid}", "content": "Todos have been modified successfully."}
    return [
        {"type": "assistant", "uuid": uuid, "message": {"id": uuid, "role": "assistant", "content": [text, call]}},
        {"type": "user", "uuid": f"r-{uuid}", "message": {"role": "user", "content": [answer]}},
    ]


def test_the_request_is_the_typed_text_before_any_command() -> None:
    trial = EpisodeTurn("user", "command", "/run npx detox test e2e/checkout.e2e.js", {"kind": "command"})
    words = EpisodeTurn("user", "prompt", "still times out", {"kind": "prompt"})
    answer = EpisodeTurn("assistant", "answer", "The dialog is in front of the sheet.")
    assert find_request([trial, words, answer]) is words
    assert find_request([trial, answer]) is trial
