"""Lessons, working commands, and the prior work in conversations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, Reader, write_session

from pastchats_memory import Memory
from pastchats_memory.views.answers.search import HOW, LESSONS
from pastchats_memory.views.text import render_commands, render_lessons

REQUEST = "The webhook worker sends some events twice, make it send each of them once."
AGAIN = "The webhook worker sends some of the events twice, make it send each one once."
LOCK = ("assistant", "I put a lock around the sending of webhook events.")
CLAIM = ("assistant", "The worker now claims a webhook event in the table before it sends it.")
GREEN = ("tool", "$ pytest -q tests/test_worker.py\n8 passed in 1.2s")


def listed(folder: Path, conversation: str, day: int, *turns: tuple[str, str], project: str = "garden") -> Path:
    lines = (
        {
            "conversation_id": conversation, "project": project, "role": role, "content": text,
            "timestamp": f"2026-05-{day:02}T08:{minute:02}:07.000Z",
        }
        for minute, (role, text) in enumerate(turns)
    )  # fmt: skip
    folder.mkdir(exist_ok=True)
    path = folder / f"{conversation}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def memory(tmp_path: Path):
    """Webhooks that failed three times in two conversations of one project before they worked; once in another project."""
    folder = tmp_path / "history"
    listed(folder, "monday", 4, ("user", REQUEST), LOCK, ("user", "No, still broken after a restart."), LOCK,
         ("user", "No, that is wrong, undo it."), ("assistant", "Undone."))  # fmt: skip
    listed(folder, "tuesday", 5, ("user", AGAIN), LOCK, ("user", "No, it still sends them twice."), CLAIM, GREEN)
    listed(folder, "shed", 6, ("user", REQUEST), LOCK, ("user", "No, wrong."), ("assistant", "I see."), project="shed")
    listed(
        folder, "kitchen", 7, ("user", "Which flour is best for pizza?"), ("assistant", "Tipo 00."), project="kitchen"
    )
    with Memory.open(tmp_path / "memory.db") as opened:
        opened.index([folder])
        # As if every signal were right often enough to be said: here it counts what is made of outcomes.
        opened._database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")  # noqa: SLF001 - no command writes what the test needs
        yield opened


def test_failures_across_conversations_make_one_lesson(memory: Memory) -> None:
    (lesson,), warnings = memory.lessons("garden")
    assert (lesson.project, lesson.times, warnings) == ("garden", 3, ())
    assert [one.asked for one in lesson.attempts] == [REQUEST, "No, still broken after a restart.", AGAIN]
    assert {one.outcome for one in lesson.attempts} == {"failed"}
    assert lesson.ended_by is not None
    assert (lesson.ended_by.outcome, lesson.ended_by.shown_by) == ("worked", "8 passed in 1.2s")
    schema = json.loads((REPOSITORY / "contracts/schemas/lessons.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(LESSONS.build([lesson], warnings))
    text = render_lessons([lesson])
    assert "## 1. garden · failed 3 times\n> 2026-05-04 08:00: The webhook worker" in text
    assert text.count("still broken") == 1, "what was asked next is not quoted before it"


def test_the_lesson_of_most_failures_comes_first_then_the_latest(memory: Memory, tmp_path: Path) -> None:
    problems = {
        "orchard": ("Prune the apple trees so that they bear next year.", 2, 12),
        "brewery": ("The kettle boils over, keep it from boiling over.", 4, 8),
        "library": ("Books are lent out twice, lend each of them once.", 2, 10),
    }
    for name, (question, times, day) in problems.items():
        failed = [(("user", question), LOCK, ("user", "No, that is wrong, undo it."), ("assistant", "Undone."))] * times
        for number, turns in enumerate((*failed, (("user", question), CLAIM, GREEN))):
            listed(tmp_path / "history", f"{name}{number}", day + number, *turns, project=name)
    memory.index([tmp_path / "history"])
    memory._database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")  # noqa: SLF001 - as above
    found, _ = memory.lessons(None)
    assert [(lesson.project, lesson.times) for lesson in found] == [
        ("brewery", 4), ("garden", 3), ("orchard", 2), ("library", 2),
    ]  # fmt: skip


def test_complaints_of_one_conversation_are_one_chain(tmp_path: Path) -> None:
    question = "The login endpoint returns 500 after the upgrade to Django 5, please fix."
    cause = ("assistant", "The login used a serializer that Django 5 removed; `settings.py` has the JSON one now.")
    listed(tmp_path / "history", "login", 4, ("user", question), ("assistant", "I changed the order of the middleware."),
         ("user", "still 500"), ("assistant", "I look at the header of the login instead."),
         ("user", "no, same 500. look at the log"), cause, GREEN)  # fmt: skip
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "history"])
        (lesson,) = memory.lessons("garden")[0]
        assert [one.asked for one in lesson.attempts] == [question, "still 500"]
        assert lesson.ended_by.asked == "no, same 500. look at the log"
        (entry,) = memory.recall("login endpoint returns 500 after the upgrade to Django").entries
        assert (entry.outcome.verdict, [(one.asked, one.reply) for one in entry.before]) == (
            "worked",
            [(question, "still 500")],
        )
        (failed,) = memory.recall("login endpoint returns 500 after the upgrade", outcome="failed").entries
        assert failed.after is not None
        assert failed.after.asked == "no, same 500. look at the log"


PRINTED = """$ npx playwright test
Exit code 1
  1) checkout.spec.ts:31:7 › pays with a card
    waiting for frameLocator('iframe[name="stripeFrame"]')
  1 failed
  11 passed"""
RED = ("tool", PRINTED)
PAYING = (
    "The checkout test hangs on CI: Playwright times out at the payment iframe.",
    "Nobody pays with a card in the pipeline, the build is red again.",
    "Why do the elements of Stripe not load in our runs? I want them to pay with a card there.",
)


def paying(tmp_path: Path, *question: str) -> Memory:
    for day, request in enumerate(question, start=1):
        ended = GREEN if request == question[-1] else ("user", "No, that is wrong, undo it.")
        listed(tmp_path / "history", f"p{day}", day, ("user", request), RED, LOCK, ended)
    memory = Memory.open(tmp_path / "memory.db")
    memory.index([tmp_path / "history"])
    return memory


def test_a_mentioned_error_joins_attempts_in_other_words(tmp_path: Path) -> None:
    with paying(tmp_path, *PAYING) as memory:
        (lesson,) = memory.lessons("garden")[0]
        assert [one.asked for one in (*lesson.attempts, lesson.ended_by)] == list(PAYING)
        entry = memory.recall("checkout test pays with a card, Stripe iframe in Playwright").entries[0]
    assert (entry.outcome.verdict, [one.asked for one in entry.before]) == ("worked", list(PAYING[:2]))


def test_an_unmentioned_red_test_joins_nothing(tmp_path: Path) -> None:
    others = "Paginate the list of orders.", "Limit the rate of the public API.", "Write the notes of the release."
    with paying(tmp_path, *others) as memory:
        assert memory.lessons("garden")[0] == []
        assert [one for entry in memory.recall("limit the rate of the API").entries for one in entry.before] == []


def test_successes_are_searched_for_errors_only_after_a_failure(memory: Memory, tmp_path: Path) -> None:
    statements: list[str] = []
    connection = memory._database.connection  # noqa: SLF001 - nothing else counts them
    connection.exec_trace = lambda _cursor, statement, _values: bool(statements.append(statement) or True)
    before = memory.lessons(None)
    few = len(statements)
    for day in range(1, 21):
        listed(
            tmp_path / "history", f"bed{day}", day, ("user", f"Dig bed {day}."), RED, CLAIM, GREEN, project="orchard"
        )
    memory.index([tmp_path / "history"])
    memory._database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")  # noqa: SLF001 - as above
    statements.clear()
    assert memory.lessons(None) == before
    assert len(statements) < few + 10


def test_the_places_that_a_lesson_cites_are_checked(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "history" / "monday.jsonl").unlink()
    (lesson,), _ = memory.lessons("garden")
    assert [one.citation and one.citation.state for one in lesson.attempts] == ["gone", "gone", "holds"]
    assert "monday.jsonl:1 (the file is gone) · id" in render_lessons([lesson])


def test_an_unsolved_problem_is_no_lesson(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        listed(tmp_path / "history", "ended", 4, ("user", REQUEST), LOCK, ("user", "No, still broken after a restart."), LOCK,
             ("user", "No, it is still broken."), CLAIM, GREEN)  # fmt: skip
        refused = (("user", "Book a table at the lake for tonight."), ("assistant", "I'm unable to book tables."))
        listed(tmp_path / "history", "refused", 5, *(refused * 4))
        memory.index([tmp_path / "history"])
        (lesson,) = memory.lessons("garden")[0]
    assert (lesson.attempts[0].asked, lesson.times) == (REQUEST, 2)


def test_undated_examples_solve_nothing(tmp_path: Path) -> None:
    """Such are collections for function calling, where the same is refused in one example and done in the next."""
    question = ("user", "Please send the invoice of March to the customer Ledger Ltd.")
    refused = (question, ("assistant", "I'm sorry, but I'm unable to send invoices."))
    done = (question, ("assistant", "The invoice of March is sent."), GREEN)
    for day, turns in enumerate((refused, refused, done), start=1):
        timed = listed(tmp_path / "history", f"c{day}", day, *turns).read_text(encoding="utf-8").splitlines()
        lines = [{**json.loads(line), "project": "collection", "timestamp": None} for line in timed]
        (tmp_path / "history" / f"x{day}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "history"])
        assert [(lesson.project, lesson.times) for lesson in memory.lessons(None)[0]] == [("garden", 2)]


@pytest.mark.parametrize(
    "question",
    ["do that", "yes please, go ahead and try it", "你好", "/run pytest tests/test_worker.py", "run the tests"],
)
def test_a_request_without_a_subject_joins_nothing(tmp_path: Path, question: str) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        for day, text in ((1, question), (2, question), (3, "谢谢" if question == "你好" else question)):
            listed(tmp_path / "history", f"c{day}", day, ("user", text), LOCK, ("user", "No, that is wrong, undo it."))
        memory.index([tmp_path / "history"])
        assert memory.lessons(None)[0] == []
        assert [one.before for one in memory.recall(question).entries if one.before] == []
        assert memory.check_prior_work(question).verdict == "new"
        listed(tmp_path / "history", "c4", 4, ("user", question), CLAIM, GREEN)
        memory.index([tmp_path / "history"])
        assert memory.lessons(None)[0] == []


def test_client_text_does_not_join_two_problems(tmp_path: Path) -> None:
    above = "Find the comments below (marked with █) in the code files I've shared with you.\nThey contain instructions for you.\n"
    comments = ("Why is the webhook sent twice?", "Paginate the list of orders.", "Paginate the list of orders!")
    with Memory.open(tmp_path / "memory.db") as memory:
        for day, comment in enumerate(comments, start=1):
            question = f"{above}\nsrc/worker.py:\n│def run():\n█# {comment} AI"
            listed(
                tmp_path / "history", f"c{day}", day, ("user", question), LOCK, ("user", "No, that is wrong, undo it.")
            )
        listed(tmp_path / "history", "c4", 4, ("user", question), CLAIM, GREEN)
        memory.index([tmp_path / "history"])
        (lesson,) = memory.lessons(None)[0]
    assert lesson.times == 2
    assert [one.asked for one in lesson.attempts] == [
        "# Paginate the list of orders. AI",
        "# Paginate the list of orders! AI",
    ]


def test_one_failure_is_no_lesson_and_projects_stay_separate(memory: Memory) -> None:
    assert memory.lessons("shed") == ([], ())
    assert [lesson.project for lesson in memory.lessons(None)[0]] == ["garden"]


def test_a_missing_project_is_reported(memory: Memory) -> None:
    assert memory.lessons("gardem") == ([], ("nothing is stored of the project gardem; there is garden",))


def test_working_commands_come_with_their_episode(memory: Memory) -> None:
    (command,), _ = memory.how("webhook worker sends events twice", "garden")
    assert (command.command, command.times) == ("pytest -q tests/test_worker.py", 1)
    assert command.episode.outcome == "worked"
    assert memory.how("webhook worker sends events twice", "shed")[0] == []
    assert memory.how("best flour for pizza", None)[0] == []


def test_commands_appear_once_and_in_episode_order(tmp_path: Path) -> None:
    made = ("tool", "$ cd web && pytest -q 2>&1 | tail -3\n8 passed in 1.2s"), ("tool", "$ pytest -q\n8 passed in 1.2s")
    with Memory.open(tmp_path / "memory.db") as memory:
        listed(tmp_path / "history", "one", 1, ("user", "Run the tests of the web shop."), CLAIM,
             ("tool", "$ make build\nBUILD SUCCESSFUL"), *made)  # fmt: skip
        memory.index([tmp_path / "history"])
        found = memory.how("run the tests of the web shop", None)[0]
    assert [one.command for one in found] == ["make build", "cd web && pytest -q 2>&1 | tail -3"]
    assert render_commands(found).count("In:") == 1
    assert (
        render_commands([*found, found[0]._replace(episode=found[0].episode._replace(id="0")), found[1]]).count("In:")
        == 2
    )


def test_a_question_how_to_run_the_tests_finds_the_test_command(demo: Reader) -> None:
    with Memory.open(demo.database) as memory:

        def commands(task: str) -> list[str]:
            return [one.command for one in memory.how(task, "courier")[0]]

        for task in ("run the tests", "how do I run the tests here?", "what is the command to run the unit tests"):
            assert commands(task) == ["pytest -q"]
        for task in ("build the image", "test the taste of a pizza dough", "lint it"):
            assert commands(task) == []


def test_the_test_command_is_found_in_any_language(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        path = listed(tmp_path / "history", "one", 1, ("user", "登录失败，请修复"), ("assistant", "已修复。"), ("tool", "$ pytest -q\n8 passed in 1.2s"),
                    ("user", "谢谢"), ("assistant", "不客气。"))  # fmt: skip
        memory.index([path])
        for task in ("run the tests", "test", "tests"):
            (found,), _ = memory.how(task, None)
            assert (found.command, found.run.source_line) == ("pytest -q", 3)
        assert render_commands([found]).endswith(f"Source: {path}:1 · id 1; run: line 3\n")


def test_a_run_is_cited_by_the_line_of_its_call_however_often_the_command_was_run(tmp_path: Path) -> None:
    def record(place: int, role: str, *blocks: dict[str, object]) -> dict[str, object]:
        return {
            "sessionId": "5f0c9a52-1111-4c1e-9b1d-000000000008", "cwd": "/home/ada/garden", "isSidechain": False, "type": role,
            "uuid": f"u{place}", "parentUuid": f"u{place - 1}" if place else None, "timestamp": f"2026-05-04T08:{place:02}:07.000Z",
            "message": {"role": role, "content": list(blocks)},
        }  # fmt: skip

    def text(words: str) -> dict[str, object]:
        return {"type": "text", "text": words}

    def call(id_: str) -> dict[str, object]:
        return {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": "make test"}}

    def answer(id_: str, output: str, *, is_error: bool) -> dict[str, object]:
        return {"type": "tool_result", "tool_use_id": id_, "content": output, "is_error": is_error}

    records = [
        record(0, "user", text("Make the parser green.")), record(1, "assistant", call("t1")), record(2, "user", answer("t1", "12 passed in 1.0s", is_error=False)),
        record(3, "assistant", text("All 12 tests pass now.")), record(4, "user", text("Thanks, perfect. Now add a button.")), record(5, "assistant", call("t2")),
        record(6, "user", answer("t2", "Exit code 1\n1 failed in 2s", is_error=True)), record(7, "assistant", text("It fails.")),
    ]  # fmt: skip
    path = tmp_path / "garden" / "s.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([path])
        (found,), _ = memory.how("run the tests", None)
    assert (found.command, found.run.source_line) == ("make test", 2), "the one in line 6 failed"


def test_a_long_command_is_printed_by_the_schema_too(tmp_path: Path) -> None:
    command = f"pytest -q {' '.join(f'tests/unit/test_module_{number}.py' for number in range(9))}"
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index(
            [
                listed(
                    tmp_path / "history", "one", 1, ("user", REQUEST), CLAIM, ("tool", f"$ {command}\n8 passed in 1.2s")
                )
            ]
        )
        found, warnings = memory.how("run the tests", None)
    assert [one.run.quotation for one in found] == [command]
    schema = json.loads((REPOSITORY / "contracts/schemas/how.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(HOW.build(found, warnings))


def test_the_test_command_is_found_beyond_the_hits(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        listed(tmp_path / "history", "one", 1, ("user", "登录失败，请修复"), ("assistant", "已修复。"), ("tool", "$ pytest -q\n8 passed in 1.2s"), ("user", "谢谢"))  # fmt: skip
        talk = (turn for number in range(60) for turn in (("user", f"Run to bed {number} and look."), ("assistant", "I ran there."), ("user", "Great, thanks!"), CLAIM))  # fmt: skip
        listed(tmp_path / "history", "two", 2, *talk)
        memory.index([tmp_path / "history"])
        assert [one.command for one in memory.how("run the tests", None)[0]] == ["pytest -q"]


def test_search_words_in_a_command_are_not_its_purpose(tmp_path: Path) -> None:
    checked = ("tool", '$ npx tsc --noEmit | grep -Ei "session|machine"\nsrc/session.ts(3,1): error TS2322: Type')
    with Memory.open(tmp_path / "memory.db") as memory:
        listed(tmp_path / "history", "one", 1, ("user", "Publish the session of the garden."), ("assistant", "Published."),
             ("tool", "$ ./publish.sh session\nok"), ("tool", "$ make session-page\nBUILD SUCCESSFUL"), ("user", "Thanks, works."), CLAIM)  # fmt: skip
        listed(tmp_path / "history", "two", 2, ("user", "The types of the shed are wrong."), CLAIM, checked, ("tool", "$ pytest -q\n8 passed in 1.2s"), ("user", "Great, thanks!"), CLAIM)  # fmt: skip
        memory.index([tmp_path / "history"])
        commands = [one.command for one in memory.how("publish session", None)[0]]
    assert commands == ["./publish.sh session", "make session-page"]


def test_one_time_commands_need_a_task_that_names_them(
    tmp_path: Path,
) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        listed(tmp_path / "history", "one", 1, ("user", "Run the tests of the web shop, without what docker left."), CLAIM,
             ("tool", "$ rm -r docker-data"), ("tool", "$ sudo mkdir tmp"), ("tool", "$ chmod +x tests/run.sh"),
             ("tool", "$ git add tests && git commit -m 'tests of the shop'"), ("tool", "$ git branch tests-of-the-web-shop"), ("tool", "$ git push"), GREEN)  # fmt: skip
        memory.index([tmp_path / "history"])

        def commands(task: str) -> list[str]:
            return [one.command for one in memory.how(task, None)[0]]

        green = GREEN[1][2:32]
        assert commands("run the tests of the web shop") == [green]
        assert commands("what docker left behind") == [green]
        assert commands("push the tests of the web shop") == ["git push", green]
        assert commands("chmod for the tests of the web shop") == ["chmod +x tests/run.sh", green]


def test_an_unanswered_prompt_was_only_asked_before(tmp_path: Path) -> None:
    stopped = (("user", REQUEST), ("user", "[Request interrupted by user]"))
    with Memory.open(tmp_path / "memory.db") as memory:
        session = tmp_path / "history" / "stopped.jsonl"
        memory.index([write_session(session, *stopped, ("user", "What day is it?"), ("assistant", "Friday."))])
        assert memory.check_prior_work(REQUEST).verdict == "asked_before"
        listed(tmp_path / "history", "answered", 5, ("user", REQUEST), LOCK, ("user", "No, that is wrong, undo it."))
        memory.index([tmp_path / "history"])
        assert memory.check_prior_work(REQUEST).verdict == "failed_before"


def test_a_private_project_teaches_nobody_outside(memory: Memory) -> None:
    memory._database.run("INSERT INTO project_folders VALUES ('/garden', 'garden', 1)")  # noqa: SLF001 - no command writes what the test needs
    assert memory.lessons(None)[0] == []
    assert memory.how("webhook worker sends events twice", None)[0] == []
    assert memory.check_prior_work(REQUEST).verdict != "done"


def test_a_conversation_with_the_same_request_counts_as_prior_work(memory: Memory) -> None:
    work = memory.check_prior_work("The webhook worker sends some events twice, make it send each of them once.")
    assert work.verdict == "failed_before"
    assert memory.check_prior_work("Which flour is best for pizza?").verdict == "asked_before"


def test_lessons_and_commands_fit_their_schemas(program: Program) -> None:
    wrong = ("user", "No, that is wrong, undo it.")
    for number, ended in enumerate((wrong, wrong, GREEN, GREEN), start=1):
        listed(program.home / "history", f"c{number}", number, ("user", REQUEST), CLAIM, ended)
    assert program("index", program.home / "history").status == 0
    for name, arguments in (("how", ["webhook worker sends events twice", "--all"]), ("lessons", ["--all"])):
        run = program(name, *arguments, "--json")
        schema = json.loads((REPOSITORY / f"contracts/schemas/{name}.json").read_text(encoding="utf-8"))
        Draft202012Validator(schema).validate(json.loads(run.stdout))
        assert run.status == 0
        assert run.results
    shown = program("how", "webhook worker sends events twice", "--project", "garden").stdout
    assert "> $ pytest -q tests/test_worker.py" in shown
    assert "history/c4.jsonl:1 · id " in shown


def test_a_type_check_is_found_by_its_program_and_nothing_else(tmp_path: Path) -> None:
    runs = [
        ("tool", "$ curl -s localhost:80\nok"),
        ("tool", "$ flake8 web\n0 errors"),
        ("tool", "$ mypy web\nSuccess: no issues found"),
    ]
    with Memory.open(tmp_path / "memory.db") as memory:
        listed(tmp_path / "history", "one", 1, ("user", "Check the types of the web shop."), CLAIM, *runs,
               ("tool", "$ pytest -q\n8 passed in 1.2s"))  # fmt: skip
        memory.index([tmp_path / "history"])
        assert [one.command for one in memory.how("type check the project", None)[0]] == ["mypy web"]


def test_a_plain_check_precedes_one_of_a_part(tmp_path: Path) -> None:
    runs = [
        ("tool", "$ cargo test kiln::cools\ntest result: ok. 1 passed; 0 failed"),
        ("tool", "$ cargo test\ntest result: ok. 9 passed; 0 failed"),
    ]
    with Memory.open(tmp_path / "memory.db") as memory:
        listed(tmp_path / "history", "one", 1, ("user", "The kiln cools too fast, mend it."), CLAIM, *runs)
        memory.index([tmp_path / "history"])
        found = [one.command for one in memory.how("run the tests", None)[0]]
    assert found == ["cargo test", "cargo test kiln::cools"]
