"""Outcomes by who reads: they stand in the place of what the rules say, with words that show them, while what was read is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages, write_session

from pastchats_memory import Memory
from pastchats_memory.episodes import derive as deriving
from pastchats_memory.episodes.judging import judge, take_back
from pastchats_memory.errors import UsageFault
from pastchats_memory.render import judged_text
from pastchats_memory.store import outcomes
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Due

ASKED = "Which index makes the list of invoices fast?"
ANSWER = "One over (customer, due): the list filters by the first and orders by the second."
TAKEN_UP = "The page opens at once with that index, **what about** the archive?"
SAID = (("user", ASKED), ("assistant", ANSWER), ("user", TAKEN_UP), ("assistant", "It has no such list."))


@pytest.fixture
def asked(memory: Memory, history: Path) -> str:
    """The id of the question of an indexed conversation whose outcome no rule tells."""
    memory.index([write_messages(history, *SAID)])
    hit = memory.search(ASKED, mode="keyword")[0]
    assert outcome_of(memory, hit.id) == ("unknown", "said next")
    return hit.id


def outcome_of(memory: Memory, id_: str) -> tuple[str, str]:
    item = next(item for item in memory.show(id_, neighbours=0))
    outcome = memory.outcome(item)
    return outcome.verdict, outcome.basis


def listed(memory: Memory, outcome: str = "unknown") -> list[str]:
    return [sheet.asked for sheet in memory.unjudged(None, outcome)[0].sheets]


def test_what_was_judged_is_said_everywhere_with_the_words_that_show_it(memory: Memory, asked: str) -> None:
    sheet, warnings = memory.judge(asked, "worked", "The page opens at once with that index")
    assert sheet is not None
    assert (sheet.id, sheet.outcome.verdict, sheet.outcome.signal, warnings) == (asked, "worked", "judged", ())
    block = memory.recall(ASKED)
    assert "Outcome: worked (judged: The page opens at once with that index)\n" in block.text
    (shown,) = block.memories[0].outcome.evidence
    assert (shown.source_line, shown.citation and shown.citation.state) == (3, "holds")
    assert [hit.content for hit in memory.search(ASKED, outcome="worked")] == [ASKED, ANSWER]
    assert outcome_of(memory, str(int(asked) + 1)) == ("worked", "judged"), "any turn of the episode"


def test_episodes_are_laid_out_with_what_they_are_judged_by(memory: Memory, history: Path) -> None:
    failed = ("tool", "$ pytest -q\n1 failed in 0.2s")
    write_messages(
        history,
        ("user", "Make the test of the till pass."),
        failed,
        ("assistant", "It still fails, the sum is a float."),
        *SAID,
    )
    memory.index([history])
    (sheets, left), warnings = memory.unjudged("garden", "unknown", limit=1)
    assert (left, warnings) == (1, ())
    assert [(one.asked, one.answered, one.said_next) for one in sheets] == [(TAKEN_UP, "It has no such list.", "")]
    (first,), left = memory.unjudged("garden", "failed")[0]
    assert (first.results, left) == (("$ pytest -q\n1 failed in 0.2s",), 0)
    assert (first.said_next, first.source_line) == (ASKED, 1)


def test_of_long_texts_a_sheet_has_the_beginning_and_more_of_the_end(memory: Memory, history: Path) -> None:
    long = f"It begins. {'and goes on ' * 400} It ends."
    memory.index([write_messages(history, ("user", ASKED), ("assistant", long))])
    ((sheet, *_), _), _ = memory.unjudged("garden")
    assert sheet.answered.startswith("It begins.")
    assert sheet.answered.endswith("It ends.")
    assert 900 < len(sheet.answered) <= 1003


def test_a_sheet_has_all_that_was_answered_and_what_commands_answered_last(memory: Memory, history: Path) -> None:
    runs = [("tool", f"$ pytest -q tests/{place}\n{place} failed in 0.2s") for place in range(1, 5)]
    said = (("user", ASKED), ("assistant", "I try each."), *runs, ("assistant", ANSWER))
    memory.index([write_messages(history, *said)])
    (sheet,) = [one for one in memory.unjudged("garden", "unknown,failed")[0].sheets if one.asked == ASKED]
    assert sheet.answered == f"I try each.\n{ANSWER}"
    assert [text.split()[-4] for text in sheet.results] == ["2", "3", "4"]


def test_answers_that_nobody_asked_for_are_not_what_was_asked(memory: Memory, history: Path) -> None:
    memory.index(
        [write_messages(history, ("assistant", "Welcome to the garden."), ("user", ASKED), ("assistant", ANSWER))]
    )
    sheet, _ = memory.judge(memory.search("Welcome", mode="keyword")[0].id, "unknown")
    assert sheet is not None
    assert (sheet.asked, sheet.answered) == ("", "Welcome to the garden.")
    assert judged_text(sheet).startswith("> Welcome to the garden.\nOutcome: unknown (judged, said next: Which index")


def test_of_a_long_question_the_answer_to_a_judgement_has_the_beginning(memory: Memory, history: Path) -> None:
    long = f"{ASKED} {'And why? ' * 40}"
    memory.index([write_messages(history, ("user", long), ("assistant", ANSWER))])
    sheet, _ = memory.judge(memory.search("Which index", mode="keyword")[0].id, "unknown")
    assert sheet is not None
    first = judged_text(sheet).partition("\n")[0]
    assert (first[:20], first[-1], len(first)) == (f"> {ASKED}"[:20], "…", 122)


def test_only_questions_that_were_answered_are_laid_out(memory: Memory, history: Path) -> None:
    write_messages(
        history, ("assistant", "Welcome."), ("user", ASKED), ("assistant", ANSWER), ("user", "And for receipts?")
    )
    memory.index([history])
    assert listed(memory) == [ASKED, "Which flour is best for pizza?"]


def test_what_is_said_of_a_prompt_without_an_answer_can_be_read_over(memory: Memory, history: Path) -> None:
    stopped = ("user", "[Request interrupted by user]")
    memory.index(
        [write_session(history, ("user", ASKED), stopped, ("user", "And for receipts?"), ("assistant", ANSWER))]
    )
    assert listed(memory, "failed") == [ASKED]


def test_what_was_judged_is_not_laid_out_again_unless_it_is_taken_back(memory: Memory, asked: str) -> None:
    memory.judge(asked, "unknown")
    assert ASKED not in listed(memory)
    assert outcome_of(memory, asked) == ("unknown", "judged, said next")
    assert memory.unjudge(asked)[1] == ()
    assert ASKED in listed(memory)
    assert outcome_of(memory, asked) == ("unknown", "said next")
    assert memory.unjudge(asked)[1] == ("nobody had judged it",)


def test_a_wrong_outcome_is_put_right(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, ("user", ASKED), ("assistant", ANSWER), ("user", "Thanks, it works!"))])
    (one,) = memory.unjudged("garden", "worked")[0].sheets
    sheet, _ = memory.judge(one.id, "unknown")
    assert sheet is not None
    assert (sheet.outcome.verdict, sheet.outcome.shown_by, sheet.was) == ("unknown", "Thanks, it works!", "worked")
    sheet, _ = memory.judge(one.id, "failed", "Thanks, it works!")
    assert sheet is not None
    assert sheet.was == "unknown"
    sheet, _ = memory.judge(one.id, "worked", "Thanks, it works!")
    assert sheet is not None
    assert sheet.was == "failed"
    assert judged_text(sheet).endswith(f"Outcome: worked (judged: Thanks, it works!); was failed · id {one.id}\n")
    memory.judge(one.id, "unknown")
    assert not memory.search(ASKED, outcome="worked")


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
        (ASKED, None),
        ("index", None),
        ("x" * 1001, None),
        (" … ", None),
        ("", None),
        (None, None),
    ],
)
def test_words_that_show_it_stand_in_the_answer_or_in_what_was_said_next(
    memory: Memory, asked: str, words: str | None, shown: str | None
) -> None:
    if shown is None:
        with pytest.raises(UsageFault):
            memory.judge(asked, "failed", words)
        assert outcome_of(memory, asked) == ("unknown", "said next")
        return
    sheet, _ = memory.judge(asked, "failed", words)
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
def test_what_is_said_later_is_judged_anew(memory: Memory, history: Path, further: tuple[str, str]) -> None:
    memory.index([write_messages(history, *SAID[:2])])
    ((first, *_), _), _ = memory.unjudged("garden")
    memory.judge(first.id, "worked", "orders by the second")
    assert outcome_of(memory, first.id) == ("worked", "judged")
    memory.index([write_messages(history, *SAID[:2], further)])
    assert outcome_of(memory, first.id)[1] != "judged"


def test_what_changes_around_an_episode_leaves_its_judgement(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, *SAID)])
    id_ = memory.search(ASKED, mode="keyword")[0].id
    memory.judge(id_, "worked", "The page opens at once")
    memory.index([write_messages(history, *SAID, ("user", "Then leave it."), ("assistant", "Left."))])
    memory.reindex_outcomes()
    assert outcome_of(memory, id_) == ("worked", "judged")


@pytest.mark.promise("evidence", "A judgement is deleted together with any turn that it is based on.")
@pytest.mark.parametrize("forgotten", [ASKED, ANSWER, TAKEN_UP])
@pytest.mark.parametrize(("verdict", "because"), [("worked", "The page opens at once"), ("unknown", None)])
def test_with_any_turn_that_it_rests_on_a_judgement_goes(
    memory: Memory, asked: str, forgotten: str, verdict: str, because: str | None
) -> None:
    memory.judge(asked, verdict, because)
    memory.forget(memory.search(forgotten, mode="keyword")[0].id)
    database = memory._database  # noqa: SLF001 - nothing of it may stay
    assert [database.value(f"SELECT count(*) FROM {table}") for table in ("judgements", "judgement_reads")] == [0, 0]
    assert all("judged" not in outcome_of(memory, hit.id)[1] for hit in memory.search("index", mode="keyword"))


def test_words_that_were_said_twice_are_quoted_where_they_were_said_last(memory: Memory, history: Path) -> None:
    memory.index([write_messages(history, ("user", ASKED), ("assistant", ANSWER), ("user", f"'{ANSWER}' it is."))])
    id_ = memory.search(ASKED, mode="keyword")[0].id
    sheet, _ = memory.judge(id_, "worked", ANSWER)
    assert sheet is not None
    assert sheet.outcome.evidence[0].source_line == 3


def test_who_quotes_a_page_is_asked_for_a_line(memory: Memory, history: Path) -> None:
    page = "The list filters by the first and orders by the second column. " * 17
    memory.index([write_messages(history, ("user", ASKED), ("assistant", page))])
    with pytest.raises(UsageFault, match="1,070 characters are no quotation"):
        memory.judge(memory.search(ASKED, mode="keyword")[0].id, "worked", page)


def test_a_file_that_is_read_once_more_leaves_its_judgements(memory: Memory, asked: str, history: Path) -> None:
    memory.judge(asked, "worked", "The page opens at once")
    memory.index([history], force=True)
    assert outcome_of(memory, asked) == ("worked", "judged")


@pytest.mark.parametrize("forgotten", [{"conversation": "c1"}, {"query": ASKED}])
def test_an_episode_that_was_forgotten_meanwhile_is_not_judged(
    memory: Memory, asked: str, forgotten: dict[str, str]
) -> None:
    item = memory.show(asked, neighbours=0)[0]
    memory.forget(**forgotten)
    for judged in (lambda: judge(memory._database, item, "unknown", None), lambda: take_back(memory._database, item)):  # noqa: SLF001
        with pytest.raises(UsageFault, match="is gone"):
            judged()


def test_of_a_prompt_that_was_stopped_the_next_is_another_episode(memory: Memory, history: Path) -> None:
    stopped = ("user", "[Request interrupted by user]")
    said = (("user", ASKED), ("assistant", ANSWER), ("user", "Try it with partial indexes."), stopped, ("user", "No, it has to be composite."))  # fmt: skip
    memory.index([write_session(history, *said)])
    id_ = memory.search(ASKED, mode="keyword")[0].id
    (sheet,) = [one for one in memory.unjudged(None, "unknown,failed,worked")[0].sheets if one.id == id_]
    assert sheet.said_next == "Try it with partial indexes."


@pytest.mark.parametrize(
    ("changed", "holds"),
    [(ASKED, False), ("$ psql\nINDEX READY", False), ("I make it.", True), (ANSWER, False), ("What about the archive?", False)],
)  # fmt: skip
def test_a_judgement_rests_on_what_was_asked_the_last_answer_what_was_said_next_and_the_words_that_show_it(
    memory: Memory, history: Path, changed: str, holds: bool
) -> None:
    """As when a later release finds a secret in them, or reads them otherwise."""
    said = (("user", ASKED), ("assistant", "I make it."), ("tool", "$ psql\nINDEX READY"), ("assistant", ANSWER), ("user", "What about the archive?"))  # fmt: skip
    memory.index([write_messages(history, *said)])
    id_ = memory.search(ASKED, mode="keyword")[0].id
    memory.judge(id_, "mixed", "INDEX READY")
    memory._database.run("UPDATE prompts SET content = content || '!' WHERE content = ?", (changed,))  # noqa: SLF001
    assert (outcome_of(memory, id_) == ("mixed", "judged")) is holds


def taken_back(memory: Memory, asked: str) -> outcomes.Judgement:
    """A judgement of an episode, which nobody has judged."""
    memory.judge(asked, "worked", "The page opens at once")
    (row,) = memory._database.run(f"SELECT {outcomes.JUDGEMENT_COLUMNS} FROM judgements j")  # noqa: SLF001 - as it is stored
    memory.unjudge(asked)
    return outcomes.of_row(row)


def write_down(memory: Memory, judgement: outcomes.Judgement) -> None:
    """As by a process that is killed before it derives anything."""
    with memory._database.transaction():  # noqa: SLF001 - the moment that is wanted
        outcomes.put(memory._database, judgement)  # noqa: SLF001
        outcomes.mark(memory._database, Due("garden", "c1", 0))  # noqa: SLF001


def test_a_judgement_that_is_written_and_not_yet_derived_is_said_all_the_same(memory: Memory, asked: str) -> None:
    write_down(memory, taken_back(memory, asked))
    sheet = memory.laid_out(asked)
    assert sheet is not None
    assert (sheet.outcome.verdict, sheet.outcome.signal) == ("worked", "judged")
    assert outcome_of(memory, asked) == ("worked", "judged")
    assert [hit.id for hit in memory.search(ASKED, outcome="worked")][:1] == [asked]


def test_what_another_process_judges_while_outcomes_are_derived_is_not_overlooked(
    memory: Memory, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judgement, fresh = taken_back(memory, asked), deriving._fresh  # noqa: SLF001 - the moment that is wanted
    with Memory.open(memory._database.path) as other:  # noqa: SLF001

        def meanwhile(database: Database) -> object:
            found = fresh(database)
            monkeypatch.setattr(deriving, "_fresh", fresh)
            write_down(other, judgement)
            return found

        monkeypatch.setattr(deriving, "_fresh", meanwhile)
        memory.reindex_outcomes()
    assert memory._database.value("SELECT count(*) FROM outcomes WHERE signal = 'judged'") == 1  # noqa: SLF001


def test_a_backup_and_a_mended_database_have_what_was_judged(memory: Memory, asked: str, tmp_path: Path) -> None:
    memory.judge(asked, "worked", "The page opens at once")
    memory.backup(tmp_path / "copy.db")
    Memory.mend(tmp_path / "copy.db")
    with Memory.open(tmp_path / "copy.db") as mended:
        mended.reindex_outcomes()
        assert outcome_of(mended, asked) == ("worked", "judged")


def test_a_note_has_no_outcome_to_judge(memory: Memory, tmp_path: Path) -> None:
    note = tmp_path / "notes" / "plan.md"
    note.parent.mkdir()
    note.write_text("# Plan\n\nBuild the archive page.\n", encoding="utf-8")
    memory.index([note])
    id_ = memory.search("archive page", type="note")[0].id
    with pytest.raises(UsageFault, match="of no conversation"):
        memory.judge(id_, "unknown")


@pytest.fixture
def own(program: Program) -> Program:
    assert program("index", write_messages(program.home / "garden" / "said.jsonl", *SAID)).status == 0
    return program


def test_the_command_lists_says_and_takes_back(own: Program) -> None:
    run = own("judge", "--all", "--limit", "1")
    assert run.status == 0
    assert run.stdout.startswith("## 1. garden · 2026-05-04 08:02\nOutcome: unknown\nAsked:\n> The page opens")
    assert run.stderr == "1 more; --limit shows more of them.\n"
    run = own("judge", "1", "worked", "--because", "The page opens at once")
    assert (run.status, run.stderr) == (0, "")
    assert run.stdout == f"> {ASKED}\nOutcome: worked (judged: The page opens at once); was unknown · id 1\n"
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
    assert own("judge", "1", "--undo").stderr == "Warning: nobody had judged it\n"
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
        (["1", "worked", "--because", "index"], "are too few to tell anything"),
        (["1", "worked"], "nothing shows it"),
        (["1", "worked", "--because", "It was not said"], "stand neither in the answer nor in what was said next"),
        (["1", "unknown", "--because", "The page"], "what is unknown is shown by nothing"),
        (["1", "worked", "--undo"], "say how it ended, or --undo"),
        (["1", "--undo", "--because", "The page"], "say how it ended, or --undo"),
        (["1", "worked", "--outcome", "failed"], "say how it ended, or --undo"),
        (["1", "fine"], "'fine' is not one of"),
        (["t:1", "worked"], "is no id"),
        (["--because", "The page"], "no episode is named"),
        (["--undo"], "no episode is named"),
        (["--outcome", "fine"], "is no outcome"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused_in_a_sentence(own: Program, arguments: list[str], words: str) -> None:
    run = own("judge", *arguments)
    assert (run.status, run.stdout) == (2, "")
    assert words in run.stderr
    assert own("judge", "--all", "--json").json["results"][1]["basis"] == "said next"


def test_an_episode_that_is_not_there_is_not_judged(own: Program) -> None:
    run = own("judge", "999", "unknown")
    assert (run.status, run.stdout, run.stderr) == (
        1,
        "",
        "There is no item 999. Ids stand in the output of search and recall.\n",
    )
    assert own("judge", "999", "unknown", "--json").json == {"schema": "judge/1", "results": []}


def test_what_judge_prints_fits_its_schema(own: Program) -> None:
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / "judge.json").read_text(encoding="utf-8"))
    for arguments in (
        ["--all"],
        ["1", "worked", "--because", "The page opens"],
        ["1", "--undo"],
        ["--all", "--limit", "1"],
    ):
        Draft202012Validator(schema).validate(own("judge", *arguments, "--json").json)
