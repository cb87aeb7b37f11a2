"""Recall, search and show present outcomes, earlier failures, successors and filters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages, write_session

from pastchats_memory import Memory
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Citation
from pastchats_memory.store import outcomes
from pastchats_memory.text.key_sentences import key_sentences

REQUEST = "The webhook worker sends some events twice, make it send each of them once."
FIRST = "I put a lock around the sending of webhook events, so that a worker sends each of them once."
BROKEN = "No, still broken: the webhook worker sends the same event twice after a restart."
SECOND = (
    "The worker now claims a webhook event in the table before it sends it: `UPDATE events SET claimed_by` decides."
)
MENDED = (
    ("user", REQUEST), ("assistant", FIRST), ("user", BROKEN), ("assistant", SECOND),
    ("tool", "$ pytest -q\n8 passed in 1.2s"), ("assistant", "Each webhook event is sent once."),
)  # fmt: skip
"""It failed, and then it worked."""


def sure(memory: Memory) -> None:
    """As if every signal were right often enough to be said: here it counts what is made of outcomes."""
    memory._database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")  # noqa: SLF001 - no command writes what the test needs


def listed(folder: Path, conversation: str, day: int, *turns: tuple[str, str], project: str = "garden") -> None:
    lines = (
        {
            "conversation_id": conversation, "project": project, "role": role, "content": text,
            "timestamp": f"2026-05-{day:02}T08:{minute:02}:07.000Z",
        }
        for minute, (role, text) in enumerate(turns)
    )  # fmt: skip
    (folder / f"{conversation}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_attempts_of_one_conversation_appear_in_order(memory: Memory, history: Path) -> None:
    write_messages(history, *MENDED)
    memory.index([history])
    sure(memory)
    block = memory.recall("webhook event claimed in the table before the worker sends it")
    first = block.entries[0]
    assert (first.outcome.verdict, first.outcome.shown_by) == ("worked", "8 passed in 1.2s")
    assert [(one.asked, one.outcome) for one in first.before] == [(REQUEST, "failed")]
    assert f'Before it: > {FIRST} — failed, the user: "{BROKEN}" · id 3' in block.text
    assert [entry.title for entry in block.entries] == [REQUEST.rstrip(".")]


@pytest.mark.promise(
    "evidence", "The line that shows an outcome is checked against its file, and so are other attempts."
)
def test_evidence_and_attempts_are_checked_in_their_own_files(memory: Memory, history: Path) -> None:
    write_messages(history, *MENDED)
    memory.index([history])
    sure(memory)
    question = "webhook event claimed in the table before the worker sends it"
    (first, *_) = memory.recall(question).entries
    assert [one.citation and one.citation.state for one in (*first.outcome.evidence, *first.before)] == ["holds"] * 2
    read = history.read_text(encoding="utf-8")
    history.write_text("\n" + read.replace("8 passed", "7 passed"), encoding="utf-8")
    block = memory.recall(question)
    (shown,), (before,) = block.entries[0].outcome.evidence, block.entries[0].before
    assert (shown.citation, before.citation) == (Citation("changed"), Citation("moved", 2))
    assert before.source_line == 2
    assert "Shown by: > 8 passed in 1.2s (changed since it was read)\n" in block.text
    history.unlink()
    block = memory.recall(question)
    assert block.entries[0].outcome.evidence[0].citation == Citation("gone")
    assert "Shown by: > 8 passed in 1.2s\n" in block.text, "the source says it"


def test_stopped_work_appears_with_its_continuation(program: Program) -> None:
    stopped = ("user", "[Request interrupted by user]")
    write_session(
        program.home / "garden" / "s.jsonl", ("user", REQUEST), ("assistant", "I read how another project does it, and"), stopped,
        ("user", "You need not, the table of webhook events has a column for it."), ("assistant", SECOND), ("user", "Thanks, it works."),
        ("assistant", "Good."),
    )  # fmt: skip
    assert program("index", program.home / "garden").status == 0
    text = program("recall", "webhook worker sends some events twice").stdout
    assert "Before it, stopped · id 1:\n> I read how another project does it, and\n" in text
    assert "Shown by: > Thanks, it works.\n" in text


def test_a_success_lists_its_failed_attempts(memory: Memory, history: Path) -> None:
    write_messages(history, *MENDED)
    memory.index([history])
    sure(memory)
    block = memory.recall("lock around the sending of webhook events")
    (shown,) = [entry for entry in block.entries if "webhook" in (entry.asked or "")]
    assert shown.outcome.verdict == "worked"
    assert [(one.asked, one.answered, one.outcome) for one in shown.before] == [(REQUEST, FIRST, "failed")]
    assert block.text.count(FIRST) == 1
    failed = memory.recall("lock around the sending of webhook events", outcome="failed").entries[0]
    assert (failed.outcome.verdict, failed.after and failed.after.asked) == ("failed", BROKEN)


def test_a_stopped_prompt_shows_the_next_answered_one(memory: Memory, history: Path) -> None:
    stopped = ("user", "[Request interrupted by user]")
    again = "Claim each event in the table before it is sent."
    write_session(
        history, ("user", REQUEST), stopped, ("user", again), stopped, ("user", "No lock."), ("assistant", SECOND)
    )
    memory.index([history])
    first = memory.recall(REQUEST).entries[0]
    assert (first.asked, first.answered, first.outcome.verdict, first.before) == ("No lock.", SECOND, "unknown", ())
    assert memory.recall(REQUEST, outcome="failed").entries == ()
    assert memory.lessons(None)[0] == [], "nothing was tried"


def test_an_uncertain_failure_is_listed_without_an_outcome(memory: Memory, history: Path) -> None:
    write_messages(history, ("user", REQUEST), ("assistant", FIRST), ("user", BROKEN), ("assistant", SECOND))
    memory.index([history])
    memory._database.run("UPDATE outcomes SET confidence = 0.5")  # noqa: SLF001 - no command writes what the test needs
    (entry,) = memory.recall("webhook worker sends events twice").entries
    assert [(one.asked, one.outcome, one.reply) for one in entry.before] == [(REQUEST, "unknown", BROKEN)]


def test_the_same_problem_in_another_conversation_of_the_project_is_one_thread(memory: Memory, history: Path) -> None:
    folder = history.parent
    again = "The webhook worker sends some of the events twice, make it send each one once."
    listed(folder, "monday", 4, ("user", REQUEST), ("assistant", FIRST), ("user", "No, that is wrong, undo it."))
    listed(folder, "tuesday", 5, ("user", again), ("assistant", SECOND), ("tool", "$ pytest -q\n8 passed in 1.2s"))
    listed(folder, "shed", 6, ("user", REQUEST), ("assistant", FIRST), ("user", "No, that is wrong."), project="shed")
    memory.index([folder])
    sure(memory)
    entries = memory.recall("webhook event claimed by a worker before it is sent", project="garden").entries
    worked = next(entry for entry in entries if entry.outcome.verdict == "worked")
    assert [(one.asked, one.outcome) for one in worked.before] == [(REQUEST, "failed")]


def test_a_filter_for_successes_shows_failures_and_successors(memory: Memory, history: Path) -> None:
    folder = history.parent
    green = ("tool", "$ pytest -q\n8 passed in 1.2s")
    listed(folder, "monday", 4, ("user", REQUEST), ("assistant", FIRST), ("user", "No, that is wrong, undo it."))
    listed(folder, "tuesday", 5, ("user", REQUEST), ("assistant", SECOND), green)
    listed(folder, "kept", 6, ("user", "Use Redis for the sessions."), ("assistant", "Sessions are in Redis."), green)
    listed(folder, "moved", 7, ("user", "Move the sessions to Postgres instead of Redis."), ("assistant", "Moved."))
    memory.index([folder])
    sure(memory)
    worked = memory.recall("webhook worker sends events twice", outcome="worked").entries[0]
    assert [(one.asked, one.outcome) for one in worked.before] == [(REQUEST, "failed")]
    saved = memory.recall("Redis for the sessions", outcome="worked").entries[0]
    assert saved.superseded_by is not None


def test_a_superseded_decision_names_its_successor(memory: Memory, history: Path) -> None:
    folder = history.parent
    listed(folder, "monday", 4, ("user", "Where do we keep the sessions of the shop?"),
         ("assistant", "Keep the sessions of the shop in Redis, with a lifetime of a day."))  # fmt: skip
    change = "Replace Redis by a table in Postgres for the sessions of the shop."
    listed(folder, "friday", 8, ("user", change), ("assistant", "The sessions of the shop are rows of a table now."))
    listed(folder, "later", 9, ("user", "Replace the lamp in the shop, its sessions are dark."), ("assistant", "Done."))
    memory.index([folder])
    block = memory.recall("where are sessions of the shop kept")
    entry = next(entry for entry in block.entries if "Redis, with a lifetime" in (entry.answered or ""))
    assert entry.superseded_by is not None
    assert entry.superseded_by.asked == change
    assert f"Superseded by: > 2026-05-08 08:00: {change}" in block.text
    assert all(one.superseded_by is None for one in block.entries if one is not entry)
    first = block.entries[0]
    assert (first.asked, first.supersedes) == (change, (entry.question or entry.hit).id)
    assert f" · supersedes {first.supersedes}\n" in block.text


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("ok, let's use Postgres instead of Redis.", True),
        ("We are replacing redis by Postgres. How long will it take?", True),
        ("Why did we drop Redis from the shop?", False),
        ("app.py:3:1: Q12: Use connect(...) instead of Redis(...)", False),
        ("Fill in the template of the shop, replacing Redis with its address.", False),
        ("# Replace with real sessions of Redis", False),
    ],
)
def test_questions_and_advice_supersede_nothing(memory: Memory, history: Path, change: str, names: bool) -> None:
    folder = history.parent
    saved = "Keep the sessions of the shop in Redis, replace it with care."
    listed(
        folder, "monday", 4, ("user", "Where do we keep the sessions of the shop, and with what?"), ("assistant", saved)
    )
    listed(folder, "friday", 8, ("user", f"The sessions of the shop: {change}"), ("assistant", "The shop has them."))
    memory.index([folder])
    entries = memory.recall("where are sessions of the shop kept").entries
    assert saved in [text for entry in entries for text in (entry.answered, *(one.answered for one in entry.before))]
    assert [entry.answered for entry in entries if entry.superseded_by] == ([saved] if names else [])


def test_looking_and_failed_commands_are_left_out(program: Program) -> None:
    write_messages(
        program.home / "chat.jsonl", ("user", REQUEST), ("tool", "$ cat worker.py && ls\nimport time"),
        ("assistant", SECOND), ("tool", "$ cd /home/ada/shop && pytest -q tests/test_worker.py\n8 passed in 1.2s"), ("assistant", "Sent once."),
    )  # fmt: skip
    assert program("index", program.home / "chat.jsonl").status == 0
    text = program("recall", "webhook worker sends events twice").stdout
    assert "Ran: pytest -q tests/test_worker.py\n" in text
    assert "cat " not in text.split("Ran:")[1].split("\n")[0]


def test_recall_and_show_fit_their_schemas(program: Program) -> None:
    write_messages(program.home / "chat.jsonl", *MENDED)
    assert program("index", program.home / "chat.jsonl").status == 0
    for schema, arguments in (("recall", ["recall", "webhook events twice"]), ("show", ["show", "5"])):
        body = program(*arguments, "--json").json
        Draft202012Validator(json.loads((REPOSITORY / f"contracts/schemas/{schema}.json").read_text())).validate(body)
    question = next(row for row in body["results"] if row["is_asked"])
    assert question["outcome"] == "worked"
    (shown,) = question["evidence"]
    assert (shown["quotation"], shown["source_line"]) == ("8 passed in 1.2s", 5)
    assert shown["source_path"].endswith("chat.jsonl")
    assert "Outcome: worked (8 passed in 1.2s)" in program("show", "5").stdout


def test_outcomes_filter_recall_and_search(memory: Memory, history: Path) -> None:
    folder = history.parent
    green = ("tool", "$ pytest -q\n8 passed in 1.2s")
    listed(folder, "one", 4, ("user", REQUEST), ("assistant", SECOND), green, ("assistant", "Sent once."))
    listed(folder, "two", 5, ("user", REQUEST), ("assistant", "Which of the two webhook workers do you mean?"))
    memory.index([folder])
    query = "webhook worker sends events twice"
    conversations = {hit.conversation_id for hit in memory.search(query, outcome="worked")}
    assert conversations == {"one"}
    assert {hit.conversation_id for hit in memory.recall(query, outcome="worked,mixed").hits} == {"one"}
    assert "one" not in {hit.conversation_id for hit in memory.search(query, outcome="unknown,failed")}
    assert "two" in {hit.conversation_id for hit in memory.search(query, outcome="unknown")}
    assert set(memory.outcomes_of(memory.search(query, outcome="unknown")).values()) == {"unknown"}
    assert list(memory.search(query, outcome="failed")) == []
    every = {hit.id for hit in memory.search(query, limit=50)}
    apart = [{hit.id for hit in memory.search(query, limit=50, outcome=one)} for one in ("worked", "unknown")]
    assert apart[0] | apart[1] == every
    assert not apart[0] & apart[1]


def test_a_filter_derives_due_outcomes_first(memory: Memory, history: Path) -> None:
    listed(
        history.parent, "one", 4, ("user", REQUEST), ("tool", "$ pytest -q\n8 passed in 1.2s"), ("assistant", SECOND)
    )
    memory.index([history.parent])
    database = memory._database  # noqa: SLF001 - as an earlier release left it
    with database.transaction():
        database.run("DELETE FROM outcomes")
        outcomes.mark_all(database)
    hits = memory.search("webhook worker", outcome="worked")
    assert ({hit.conversation_id for hit in hits}, hits.warnings) == ({"one"}, ())


@pytest.mark.parametrize("wrong", ["", "good", "worked,good"])
def test_an_invalid_outcome_is_refused(memory: Memory, wrong: str) -> None:
    with pytest.raises(UsageFault, match="is not an outcome"):
        memory.search("webhook", outcome=wrong)


def test_the_decisive_lines_of_an_answer_are_taken_in_their_order() -> None:
    answer = "\n".join(
        [
            "Let me look at the webhook worker.",
            *(f"Step {number} of the tour through the house." for number in range(30)),
            "The cause: two workers read the webhook event before either has claimed it.",
            *(f"Step {number} of the tour through the garden." for number in range(30)),
            "Fixed in `worker.py`: the event is claimed before it is sent.",
            "Would you like me to write a test for the webhook worker?",
        ]
    )
    shown = key_sentences(answer, {"webhook": 2.0, "worker": 1.0}, 200)
    assert shown.index("two workers read") < shown.index("claimed before it is sent")
    assert len(shown) <= 200
    assert all(line in answer for line in shown.split("\n"))
    assert key_sentences("Short.", {}, 200) == "Short."


def test_equally_decisive_lines_yield_to_the_last_ones() -> None:
    steps = [f"The webhook was tried in the way that has the number {number}." for number in range(30)]
    shown = key_sentences("\n".join([*steps, "Let me know how the webhook does."]), {"webhook": 1.0}, 200)
    assert shown == "\n".join(steps[-3:])


def test_a_list_number_stays_with_its_item() -> None:
    steps = [
        f"{number}. The webhook was tried in the garden. " + "It was a long and windy day. " * 4
        for number in range(1, 30)
    ]
    shown = key_sentences("\n".join(steps), {"webhook": 1.0}, 200)
    assert shown.split("\n")[0] == "26. The webhook was tried in the garden."


def test_a_sentence_that_a_terminal_broke_at_its_width_is_shown_whole() -> None:
    tour = ["This is a step of the tour through the house."] * 30
    cause = (
        "The cause was found in the end: two workers read the webhook event before either of\n"
        "them has claimed it, so that it is sent twice."
    )
    shown = key_sentences("\n".join([cause, *tour]), {"webhook": 1.0}, 250)
    assert cause.replace("\n", " ") in shown


def test_lines_that_follow_each_other_without_being_one_sentence_stay_lines() -> None:
    steps = [f"ran step {number} of the tour through the house" for number in range(30)]
    shown = key_sentences("\n".join([*steps, "claimed the webhook event"]), {"webhook": 1.0}, 200)
    assert shown.split("\n")[-2:] == [steps[-1], "claimed the webhook event"]


def test_short_lines_do_not_fill_the_remaining_room() -> None:
    steps = ["This is a step of the tour through the house, and of the garden behind it."] * 10
    shown = key_sentences(
        "\n".join([*steps, "在线模式：", "Done.", "The webhook event is claimed now.", "Yours."]), {"webhook": 1.0}, 60
    )
    assert shown.split("\n")[-1] == "The webhook event is claimed now."
    assert "Done." not in shown


def test_edits_that_a_client_is_to_make_are_no_part_of_what_is_quoted() -> None:
    block = "<<<<<<< SEARCH\nlock()\n=======\nclaim()\n>>>>>>> REPLACE"
    fenced = f"**src/worker.py**\n```python\n{block}\n{block}\n```"
    assert key_sentences(f"The worker claims it.\n\n{fenced}\n\nRun it.", {}, 900).split() == [
        "The",
        "worker",
        "claims",
        "it.",
        "Run",
        "it.",
    ]
    assert key_sentences(f"It claims.\n\n```\nsrc/worker.py\n{block}\n```", {}, 900) == "It claims."
    assert key_sentences(f"{fenced}\n\n{fenced}", {"claim": 1.0}, 20) == ""
    assert key_sentences("It claims.\n------- SEARCH\nlock()\n=======\n+++++++ REPLACE", {}, 900) == "It claims."
    assert (
        key_sentences("It claims.\n*** Begin Patch\n*** Delete File: a.py\n*** End Patch\nRun it.", {}, 900)
        == "It claims.\n\nRun it."
    )


def test_an_edit_that_was_broken_off_ends_at_its_fence_and_other_code_stays() -> None:
    broken = "worker.py\n```\n<<<<<<< SEARCH\nlock()\n=======\nclaim()\n```\nThe worker claims it."
    assert key_sentences(broken, {}, 900) == "The worker claims it."
    assert key_sentences("It claims.\n<<<<<<< SEARCH\nlock()", {}, 900) == "It claims."
    saved = "In `git`:\n```\n<<<<<<< HEAD\nlock()\n=======\nclaim()\n>>>>>>> main\n```\nKeep the second."
    assert key_sentences(saved, {}, 900) == saved


@pytest.mark.parametrize(
    "broken",
    [
        "*** Begin Patch\n*** Update File: keys.py\n@@\n-a\n\n+b\n\n c\n\n*** Update File: b.py\n+d",
        "<<<<<<< SEARCH\na()\n\n    b()\n\n=======\nc()",
        "```\n*** Begin Patch\n+a\n```",
    ],
)
def test_text_below_a_cut_edit_is_shown(broken: str) -> None:
    cause = "It failed because the key left out the tenant."
    assert key_sentences(f"{broken}\n\n{cause}", {}, 900) == cause
    assert key_sentences(f"The cache:\n\n{broken}\n \n\n{cause}", {}, 900).split("\n")[-1] == cause
    whole = "*** Begin Patch\n+a\n\nb\n*** End Patch"
    assert key_sentences(f"{broken}\n\n{cause}\n\n{whole}", {}, 900) == cause


@pytest.mark.parametrize(
    "offer",
    ["Let me know if you want the same for the other worker.", "I would be happy to help with any of them, or with all of them.",
     "Just tell me which one you prefer, and I will prepare a plan.", "You may also want to consider a larger table in the future.",
     "If you'd like, I can write it down.", "Feel free to ask for more of it."],
)  # fmt: skip
def test_the_line_that_names_the_cause_is_not_lost_to_offers_or_to_late_steps(offer: str) -> None:
    tour = [f"{number}. The event goes from the house to the garden." for number in range(1, 5)]
    cause, fix = "The actual cause is the clock: it was an hour late.", "The network sets the clock now."
    answer = "\n".join(["I looked at the whole way.", *tour, "Then I looked at the shed.", cause, fix, offer])
    assert key_sentences(answer, {"webhook": 1.0}, 60) == cause
    assert key_sentences(answer, {}, 135) == f"Then I looked at the shed.\n{cause}\n{fix}"


def test_filtered_hits_show_their_outcome(program: Program) -> None:
    write_messages(program.home / "webhooks.jsonl", *MENDED, ("user", "works, thanks"), project="garden")
    assert program("index", "webhooks.jsonl").status == 0
    assert "user (failed) · garden" in program("search", "webhook worker", "--outcome", "failed").stdout
    assert "(failed)" not in program("search", "webhook worker").stdout
