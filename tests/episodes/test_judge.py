"""A judgement replaces the rules, with its quotation, while its basis is unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages, write_session

from pastchats_memory import Memory
from pastchats_memory.episodes import derive as deriving
from pastchats_memory.episodes.judge import judge, withdraw_judgement
from pastchats_memory.errors import UsageFault
from pastchats_memory.store import outcomes
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Due
from pastchats_memory.views.text import render_judgement

REQUEST = "Which index makes the list of invoices fast?"
ANSWER = "One over (customer, due): the list filters by the first and orders by the second."
CONTINUED = "The page opens at once with that index, **what about** the archive?"
REPORTED = (("user", REQUEST), ("assistant", ANSWER), ("user", CONTINUED), ("assistant", "It has no such list."))


@pytest.fixture
def question(memory: Memory, history: Path) -> str:
    """The id of the question of an indexed conversation whose outcome no rule tells."""
    memory.index([write_messages(history, *REPORTED)])
    hit = memory.search(REQUEST, mode="keyword")[0]
    assert read_outcome(memory, hit.id) == ("unknown", "said next")
    return hit.id


def read_outcome(memory: Memory, id_: str) -> tuple[str, str]:
    item = next(item for item in memory.show(id_, neighbours=0))
    outcome = memory.outcome(item)
    return outcome.verdict, outcome.basis


def listed(memory: Memory, outcome: str = "unknown") -> list[str]:
    return [sheet.asked for sheet in memory.list_unjudged(None, outcome)[0].sheets]


def test_a_judgement_appears_everywhere_with_its_quotation(memory: Memory, question: str) -> None:
    sheet, warnings = memory.judge(question, "worked", "The page opens at once with that index")
    assert sheet is not None
    assert (sheet.id, sheet.outcome.verdict, sheet.outcome.signal, warnings) == (question, "worked", "judged", ())
    block = memory.recall(REQUEST, outcome="worked")
    assert "Shown by: judged: > The page opens at once with that index\n" in block.text
    (shown,) = block.entries[0].outcome.evidence
    assert (shown.source_line, shown.citation and shown.citation.state) == (3, "holds")
    assert [hit.content for hit in memory.search(REQUEST, outcome="worked")] == [REQUEST, ANSWER]
    assert read_outcome(memory, str(int(question) + 1)) == ("worked", "judged"), "any turn of the episode"


def test_a_sheet_has_everything_that_a_judgement_needs(memory: Memory, history: Path) -> None:
    failed = ("tool", "$ pytest -q\n1 failed in 0.2s")
    write_messages(
        history,
        ("user", "Make the test of the till pass."),
        failed,
        ("assistant", "It still fails, the sum is a float."),
        *REPORTED,
    )
    memory.index([history])
    (sheets, left), warnings = memory.list_unjudged("garden", "unknown", limit=1)
    assert (left, warnings) == (1, ())
    assert [(one.asked, one.answered, one.said_next) for one in sheets] == [(CONTINUED, "It has no such list.", "")]
    (first,), left = memory.list_unjudged("garden", "failed")[0]
    assert (first.results, left) == (("$ pytest -q\n1 failed in 0.2s",), 0)
    assert (first.said_next, first.source_line) == (REQUEST, 1)


def test_a_sheet_shortens_the_middle_of_long_texts(memory: Memory, history: Path) -> None:
    long = f"It begins. {'and goes on ' * 400} It ends."
    memory.index([write_messages(history, ("user", REQUEST), ("assistant", long))])
    ((sheet, *_), _), _ = memory.list_unjudged("garden")
    assert sheet.answered.startswith("It begins.")
    assert sheet.answered.endswith("It ends.")
    assert 900 < len(sheet.answered) <= 1003


def test_a_sheet_has_all_answers_and_the_last_results(memory: Memory, history: Path) -> None:
    runs = [("tool", f"$ pytest -q tests/{place}\n{place} failed in 0.2s") for place in range(1, 5)]
    reported = (("user", REQUEST), ("assistant", "I try each."), *runs, ("assistant", ANSWER))
    memory.index([write_messages(history, *reported)])
    (sheet,) = [one for one in memory.list_unjudged("garden", "unknown,failed")[0].sheets if one.asked == REQUEST]
    assert sheet.answered == f"I try each.\n{ANSWER}"
    assert [text.split()[-4] for text in sheet.results] == ["2", "3", "4"]


def test_leading_answers_have_no_request(memory: Memory, history: Path) -> None:
    memory.index(
        [write_messages(history, ("assistant", "Welcome to the garden."), ("user", REQUEST), ("assistant", ANSWER))]
    )
    sheet, _ = memory.judge(memory.search("Welcome", mode="keyword")[0].id, "unknown")
    assert sheet is not None
    assert (sheet.asked, sheet.answered) == ("", "Welcome to the garden.")
    assert render_judgement(sheet).startswith(
        "> Welcome to the garden.\nOutcome: unknown (judged, said next: Which index"
    )


def test_a_judgement_reports_the_start_of_a_long_request(memory: Memory, history: Path) -> None:
    long = f"{REQUEST} {'And why? ' * 40}"
    memory.index([write_messages(history, ("user", long), ("assistant", ANSWER))])
    sheet, _ = memory.judge(memory.search("Which index", mode="keyword")[0].id, "unknown")
    assert sheet is not None
    first = render_judgement(sheet).partition("\n")[0]
    assert (first[:20], first[-1], len(first)) == (f"> {REQUEST}"[:20], "…", 122)


def test_only_answered_requests_are_listed(memory: Memory, history: Path) -> None:
    write_messages(
        history, ("assistant", "Welcome."), ("user", REQUEST), ("assistant", ANSWER), ("user", "And for receipts?")
    )
    memory.index([history])
    assert listed(memory) == [REQUEST, "Which flour is best for pizza?"]


def test_an_unanswered_prompt_can_be_shown(memory: Memory, history: Path) -> None:
    stopped = ("user", "[Request interrupted by user]")
    memory.index(
        [write_session(history, ("user", REQUEST), stopped, ("user", "And for receipts?"), ("assistant", ANSWER))]
    )
    assert REQUEST in listed(memory, "stopped")


def test_a_judged_episode_is_listed_again_only_after_withdrawal(memory: Memory, question: str) -> None:
    memory.judge(question, "unknown")
    assert REQUEST not in listed(memory)
    assert read_outcome(memory, question) == ("unknown", "judged, said next")
    assert memory.unjudge(question)[1] == ()
    assert REQUEST in listed(memory)
    assert read_outcome(memory, question) == ("unknown", "said next")
    assert memory.unjudge(question)[1] == ("there was no judgement",)


def test_a_judgement_corrects_a_wrong_outcome(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, ("user", REQUEST), ("assistant", ANSWER), ("user", "Thanks, it works!"))])
    (one,) = memory.list_unjudged("garden", "worked")[0].sheets
    sheet, _ = memory.judge(one.id, "unknown")
    assert sheet is not None
    assert (sheet.outcome.verdict, sheet.outcome.shown_by, sheet.was) == ("unknown", "Thanks, it works!", "worked")
    sheet, _ = memory.judge(one.id, "failed", "Thanks, it works!")
    assert sheet is not None
    assert sheet.was == "unknown"
    sheet, _ = memory.judge(one.id, "worked", "Thanks, it works!")
    assert sheet is not None
    assert sheet.was == "failed"
    assert render_judgement(sheet).endswith(f"Outcome: worked (judged: Thanks, it works!); was failed · id {one.id}\n")
    memory.judge(one.id, "unknown")
    assert not memory.search(REQUEST, outcome="worked")


@pytest.mark.promise("evidence", "A judgement must quote words that appear in the answer or in the next message.")
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("The page\n  opens   at once", "The page opens at once"),
        ("index, what about the archive?", "index, **what about** the archive?"),
        ("…at once with that index…", "at once with that index"),
        ("the list filters by the first", "the list filters by the first"),
        ("One over (customer, due)", "One over (customer, due)"),
        ("the page opens at ONCE", None),
        ("It has no such list.", None),
        (REQUEST, None),
        ("index", None),
        ("x" * 1001, None),
        (" … ", None),
        ("", None),
        (None, None),
    ],
)
def test_a_quotation_must_appear_in_the_answer_or_the_next_message(
    memory: Memory, question: str, words: str | None, shown: str | None
) -> None:
    if shown is None:
        with pytest.raises(UsageFault):
            memory.judge(question, "failed", words)
        assert read_outcome(memory, question) == ("unknown", "said next")
        return
    sheet, _ = memory.judge(question, "failed", words)
    assert sheet is not None
    assert sheet.outcome.shown_by == shown


@pytest.mark.parametrize(
    "further",
    [
        ("user", "Wait, it is slow again."),
        ("assistant", "I look at the archive, too."),
        ("tool", "$ pytest -q\n1 failed in 0.2s"),
    ],
)
def test_a_later_message_invalidates_the_judgement(memory: Memory, history: Path, further: tuple[str, str]) -> None:
    memory.index([write_messages(history, *REPORTED[:2])])
    ((first, *_), _), _ = memory.list_unjudged("garden")
    memory.judge(first.id, "worked", "orders by the second")
    assert read_outcome(memory, first.id) == ("worked", "judged")
    memory.index([write_messages(history, *REPORTED[:2], further)])
    assert read_outcome(memory, first.id)[1] != "judged"


def test_changes_around_an_episode_keep_its_judgement(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, *REPORTED)])
    id_ = memory.search(REQUEST, mode="keyword")[0].id
    memory.judge(id_, "worked", "The page opens at once")
    memory.index([write_messages(history, *REPORTED, ("user", "Then leave it."), ("assistant", "Left."))])
    memory.reindex_outcomes()
    assert read_outcome(memory, id_) == ("worked", "judged")


@pytest.mark.promise("evidence", "A judgement is deleted together with any turn that it is based on.")
@pytest.mark.parametrize("forgotten", [REQUEST, ANSWER, CONTINUED])
@pytest.mark.parametrize(("verdict", "because"), [("worked", "The page opens at once"), ("unknown", None)])
def test_a_judgement_is_deleted_with_any_turn_that_it_is_based_on(
    memory: Memory, question: str, forgotten: str, verdict: str, because: str | None
) -> None:
    memory.judge(question, verdict, because)
    memory.forget(memory.search(forgotten, mode="keyword")[0].id)
    database = memory._database  # noqa: SLF001 - nothing of it may stay
    assert [database.value(f"SELECT count(*) FROM {table}") for table in ("judgements", "judgement_reads")] == [0, 0]
    assert all("judged" not in read_outcome(memory, hit.id)[1] for hit in memory.search("index", mode="keyword"))


def test_repeated_words_are_quoted_at_their_last_place(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, ("user", REQUEST), ("assistant", ANSWER), ("user", f"'{ANSWER}' it is."))])
    id_ = memory.search(REQUEST, mode="keyword")[0].id
    sheet, _ = memory.judge(id_, "worked", ANSWER)
    assert sheet is not None
    assert sheet.outcome.evidence[0].source_line == 3


def test_a_long_quotation_is_refused(memory: Memory, history: Path) -> None:
    page = "The list filters by the first and orders by the second column. " * 17
    memory.index([write_messages(history, ("user", REQUEST), ("assistant", page))])
    with pytest.raises(UsageFault, match="1,070 characters are too long for a quotation"):
        memory.judge(memory.search(REQUEST, mode="keyword")[0].id, "worked", page)


def test_a_file_that_is_read_once_more_leaves_its_judgements(memory: Memory, question: str, history: Path) -> None:
    memory.judge(question, "worked", "The page opens at once")
    memory.index([history], force=True)
    assert read_outcome(memory, question) == ("worked", "judged")


@pytest.mark.parametrize("forgotten", [{"conversation": "c1"}, {"query": REQUEST}])
def test_an_episode_that_was_forgotten_meanwhile_is_not_judged(
    memory: Memory, question: str, forgotten: dict[str, str]
) -> None:
    item = memory.show(question, neighbours=0)[0]
    memory.forget(**forgotten)
    database: Database = memory._database  # noqa: SLF001 - the test looks below the public face
    for judged in (lambda: judge(database, item, "unknown", None), lambda: withdraw_judgement(database, item)):
        with pytest.raises(UsageFault, match="is gone"):
            judged()


def test_the_prompt_after_a_stopped_one_is_another_episode(memory: Memory, history: Path) -> None:
    stopped = ("user", "[Request interrupted by user]")
    reported = (("user", REQUEST), ("assistant", ANSWER), ("user", "Try it with partial indexes."), stopped, ("user", "No, it has to be composite."))  # fmt: skip
    memory.index([write_session(history, *reported)])
    id_ = memory.search(REQUEST, mode="keyword")[0].id
    (sheet,) = [one for one in memory.list_unjudged(None, "unknown,failed,worked")[0].sheets if one.id == id_]
    assert sheet.said_next == "Try it with partial indexes."


@pytest.mark.parametrize(
    ("changed", "holds"),
    [(REQUEST, False), ("$ psql\nINDEX READY", False), ("I make it.", True), (ANSWER, False), ("What about the archive?", False)],
)  # fmt: skip
def test_a_judgement_rests_on_request_last_answer_next_message_and_quotation(
    memory: Memory, history: Path, changed: str, holds: bool
) -> None:
    """As when a later release finds a secret in them, or reads them otherwise."""
    reported = (("user", REQUEST), ("assistant", "I make it."), ("tool", "$ psql\nINDEX READY"), ("assistant", ANSWER), ("user", "What about the archive?"))  # fmt: skip
    memory.index([write_messages(history, *reported)])
    id_ = memory.search(REQUEST, mode="keyword")[0].id
    memory.judge(id_, "mixed", "INDEX READY")
    memory._database.run("UPDATE prompts SET content = content || '!' WHERE content = ?", (changed,))  # noqa: SLF001 - the test looks below the public face
    assert (read_outcome(memory, id_) == ("mixed", "judged")) is holds


def withdrawn(memory: Memory, question: str) -> outcomes.Judgement:
    """A judgement of an episode, which nobody has judged."""
    memory.judge(question, "worked", "The page opens at once")
    (row,) = memory._database.run(f"SELECT {outcomes.JUDGEMENT_COLUMNS} FROM judgements j")  # noqa: SLF001 - as it is stored
    memory.unjudge(question)
    return outcomes.judgement_of_row(row)


def write_down(memory: Memory, judgement: outcomes.Judgement) -> None:
    """As by a process that is killed before it derives anything."""
    with memory._database.transaction():  # noqa: SLF001 - the moment that is wanted
        outcomes.store_judgement(memory._database, judgement)  # noqa: SLF001 - the test looks below the public face
        outcomes.mark(memory._database, Due("garden", "c1", 0))  # noqa: SLF001 - the test looks below the public face


def test_an_underived_judgement_is_shown(memory: Memory, question: str) -> None:
    write_down(memory, withdrawn(memory, question))
    sheet = memory.load_episode(question)
    assert sheet is not None
    assert (sheet.outcome.verdict, sheet.outcome.signal) == ("worked", "judged")
    assert read_outcome(memory, question) == ("worked", "judged")
    assert [hit.id for hit in memory.search(REQUEST, outcome="worked")][:1] == [question]


def test_a_judgement_during_derivation_is_derived_later(
    memory: Memory, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judgement, fresh = withdrawn(memory, question), deriving._derive_unlocked  # noqa: SLF001 - the moment that is wanted
    with Memory.open(memory._database.path) as other:  # noqa: SLF001 - the test looks below the public face

        def meanwhile(database: Database) -> object:
            found = fresh(database)
            monkeypatch.setattr(deriving, "_derive_unlocked", fresh)
            write_down(other, judgement)
            return found

        monkeypatch.setattr(deriving, "_derive_unlocked", meanwhile)
        memory.reindex_outcomes()
    assert memory._database.value("SELECT count(*) FROM outcomes WHERE signal = 'judged'") == 1  # noqa: SLF001 - the test looks below the public face


def test_backups_and_repaired_databases_keep_judgements(memory: Memory, question: str, tmp_path: Path) -> None:
    memory.judge(question, "worked", "The page opens at once")
    memory.backup(tmp_path / "copy.db")
    Memory.repair(tmp_path / "copy.db")
    with Memory.open(tmp_path / "copy.db") as mended:
        mended.reindex_outcomes()
        assert read_outcome(mended, question) == ("worked", "judged")


def test_a_note_has_no_outcome_to_judge(memory: Memory, tmp_path: Path) -> None:
    note = tmp_path / "notes" / "plan.md"
    note.parent.mkdir()
    note.write_text("# Plan\n\nBuild the archive page.\n", encoding="utf-8")
    memory.index([note])
    id_ = memory.search("archive page", type="note")[0].id
    with pytest.raises(UsageFault, match="to no conversation"):
        memory.judge(id_, "unknown")


@pytest.fixture
def own(program: Program) -> Program:
    assert program("index", write_messages(program.home / "garden" / "chat.jsonl", *REPORTED)).status == 0
    return program


def test_the_command_lists_stores_and_withdraws(own: Program) -> None:
    run = own("judge", "--all", "--limit", "1")
    assert run.status == 0
    assert run.stdout.startswith("## 1. garden · 2026-05-04 08:02\nOutcome: unknown\nAsked:\n> The page opens")
    assert run.stderr == "1 more; --limit shows more of them.\n"
    run = own("judge", "1", "worked", "--because", "The page opens at once")
    assert (run.status, run.stderr) == (0, "")
    assert run.stdout == f"> {REQUEST}\nOutcome: worked (judged: The page opens at once); was unknown · id 1\n"
    assert "Outcome: worked (judged: The page opens at once)" in own("show", "1").stdout
    assert own("judge", "3", "unknown").stdout.endswith("Outcome: unknown (judged); was unknown · id 3\n")
    run = own("judge", "--all")
    assert (run.status, run.stdout, run.stderr) == (1, "", "There is nothing to judge.\n")
    judged = own("judge", "--judged", "--all").stdout
    assert judged.count("\nOutcome: ") == 2
    assert "## 2. garden · 2026-05-04 08:00\nOutcome: worked (judged: The page opens at once)\nAsked:" in judged
    assert own("judge", "2").stdout == judged.partition("## 2. ")[2].join(("## 1. ", ""))
    assert own("judge", "1", "--undo").stdout.endswith(
        "Outcome: unknown (said next: The page opens at once with that index, **what about** the archive?) · id 1\n"
    )
    assert own("judge", "1", "--undo").stderr == "Warning: there was no judgement\n"
    run = own("judge", "--project", "nowhere")
    assert (
        run.stderr
        == "There is nothing to judge here; --all looks in every project.\nWarning: nothing is stored of the project nowhere\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["1", "--because", "The page"], "say how it ended, or --undo"),
        (["1", "--judged"], "say how it ended, or --undo"),
        (["1", "worked", "--because", "index"], "the quotation is too short"),
        (["1", "worked"], "the quotation is missing"),
        (["1", "worked", "--because", "It was not said"], "neither in the answer nor in the user's next message"),
        (["1", "unknown", "--because", "The page"], "an unknown outcome takes no quotation"),
        (["1", "worked", "--undo"], "say how it ended, or --undo"),
        (["1", "--undo", "--because", "The page"], "say how it ended, or --undo"),
        (["1", "worked", "--outcome", "failed"], "say how it ended, or --undo"),
        (["1", "fine"], "'fine' is not one of"),
        (["t:1", "worked"], "is not an id"),
        (["--because", "The page"], "no episode is named"),
        (["--undo"], "no episode is named"),
        (["--outcome", "fine"], "is not an outcome"),
    ],
)  # fmt: skip
def test_a_refused_judgement_has_a_reason(own: Program, arguments: list[str], words: str) -> None:
    run = own("judge", *arguments)
    assert (run.status, run.stdout) == (2, "")
    assert words in run.stderr
    assert own("judge", "--all", "--json").json["results"][1]["basis"] == "said next"


def test_a_missing_episode_is_not_judged(own: Program) -> None:
    run = own("judge", "999", "unknown")
    assert (run.status, run.stdout, run.stderr) == (
        1,
        "",
        "There is no item 999. Ids stand in the output of search and recall.\n",
    )
    assert own("judge", "999", "unknown", "--json").json == {"schema": "judge/1", "results": []}


def test_judge_fits_its_schema(own: Program) -> None:
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / "judge.json").read_text(encoding="utf-8"))
    for arguments in (
        ["--all"],
        ["1", "worked", "--because", "The page opens"],
        ["1", "--undo"],
        ["--all", "--limit", "1"],
    ):
        Draft202012Validator(schema).validate(own("judge", *arguments, "--json").json)
