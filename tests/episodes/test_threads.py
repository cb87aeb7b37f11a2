"""A thread follows a problem through its attempts, and a later message can refute what was done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from irrigation import REFUTATION, TIMEOUTS, WARNING, write_history

from pastchats_memory import Memory
from pastchats_memory.episodes.next_message import turns_to_another_thing
from pastchats_memory.episodes.threads import names_day
from pastchats_memory.model.episodes import RecallBlock

TIMEOUT_QUERY = "timeouts of the valve controller from the database"
WARNING_QUERY = "DeprecationWarning pkg_resources moistread"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def whole(memory: Memory, tmp_path: Path) -> Memory:
    """All conversations about the irrigation."""
    memory.index([write_history(tmp_path / "history")])
    return memory


def recall_in_bytes(memory: Memory, query: str, budget: int) -> RecallBlock:
    return memory.recall(query, budget, count_tokens=lambda text: len(text.encode()))


def test_the_fix_three_turns_after_a_rejected_workaround_leads(whole: Memory) -> None:
    first, *_ = whole.recall(WARNING_QUERY).entries
    assert WARNING[7][1].startswith((first.answered or "").split("\n")[0])
    assert (first.before[0].answered, first.before[0].reply) == (WARNING[1][1], WARNING[2][1])
    assert all("dashboard" not in (entry.asked or "") for entry in whole.recall(WARNING_QUERY).entries)


def test_the_reply_that_rejects_a_workaround_stands_beside_it(whole: Memory) -> None:
    assert f'{WARNING[1][1]} — failed, the user: "{WARNING[2][1]}"' in whole.recall(WARNING_QUERY).text


def test_a_refuted_fix_is_failed_and_what_replaced_it_leads(whole: Memory) -> None:
    first, *_ = whole.recall(TIMEOUT_QUERY).entries
    assert first.asked == REFUTATION[0][1]
    assert "snapshot" in (first.answered or "")
    (refuted,) = first.before
    assert refuted.outcome == "failed"
    assert refuted.reply == REFUTATION[0][1].split(" Find")[0]
    assert " — worked" not in whole.recall(TIMEOUT_QUERY).text


@pytest.mark.parametrize("budget", [700, 1000, 1500])
def test_the_bytes_of_a_hook_hold_the_end_of_the_first_thread(whole: Memory, budget: int) -> None:
    assert "snapshot" in recall_in_bytes(whole, TIMEOUT_QUERY, budget).text


def test_forgetting_the_refutation_gives_the_outcome_back(memory: Memory, tmp_path: Path) -> None:
    folder = write_history(tmp_path / "history", "timeouts", "refutation")
    memory.index([folder])
    assert [hit.conversation_id for hit in memory.search("connection pool", outcome="failed")][:1] == ["timeouts"]
    memory.forget(conversation="refutation")
    first, *_ = memory.recall(TIMEOUT_QUERY).entries
    assert (first.outcome.verdict, first.outcome.shown_by) == ("worked", TIMEOUTS[4][1])


def test_a_fix_that_is_indexed_after_its_refutation_is_refuted_by_a_reindex(memory: Memory, tmp_path: Path) -> None:
    memory.index([write_history(tmp_path / "later", "refutation")])
    memory.index([write_history(tmp_path / "earlier", "timeouts")])
    memory.reindex_outcomes()
    assert all(hit.conversation_id != "timeouts" for hit in memory.search("connection pool", outcome="worked"))


def test_a_conversation_about_another_thing_stays_apart(whole: Memory) -> None:
    first, *_ = whole.recall("review of the module that reads the weather report").entries
    assert (first.hit.conversation_id, first.before) == ("review", ())


def test_a_thread_reads_few_rows_of_a_long_conversation(memory: Memory, tmp_path: Path) -> None:
    pairs = (
        (("user", f"Open valve {number} of the lower field."), ("assistant", f"Valve {number} is open."))
        for number in range(1500)
    )
    turns = [turn for pair in pairs for turn in pair] + [*WARNING[:4]]
    lines = (
        json.dumps({"conversation_id": "long", "project": "irrigation", "role": role, "content": text, "timestamp": f"2026-03-01T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}Z"})
        for n, (role, text) in enumerate(turns)
    )  # fmt: skip
    (tmp_path / "long.jsonl").write_text("\n".join(lines), encoding="utf-8")
    memory.index([tmp_path / "long.jsonl"])
    first, *_ = memory.recall(WARNING_QUERY).entries
    assert first.outcome.shown_by == WARNING[2][1]


Exchange = tuple[str, str]
"""What the person says, and the answer."""
PUMP: tuple[Exchange, ...] = (
    (
        "The pump of the greenhouse stops after ten minutes. Why?",
        "Its relay overheats, I think. A heat sink would help.",
    ),
    ("put a heat sink on it", "I noted a heat sink for the relay in parts.md."),
    ("mounted, and it stopped after twelve minutes", "Then the relay is not to blame. The float switch may stick."),
    ("use a reed contact instead of the float", "The driver reads a reed contact in tank.py now, the float is gone."),
    ("two days without a stop, lovely", "Good to hear."),
)
LABELS: tuple[Exchange, ...] = (
    ("The labels of the seed bags are printed askew. Look at print.py", "The page has no margin, so the driver scales it. A margin of 5 mm would do."),
    ("make it 8 to be safe", "The margin is 8 mm in print.py."),
    ("but that printer wants inches", "I converted the margin to inches for that printer, in print.py."),
    ("straight now, all 40 of them", "Fine."),
)  # fmt: skip


def write_talk(folder: Path, name: str, day: str, *exchanges: Exchange) -> Path:
    """Write a conversation of the project garden; a request with an empty answer got none."""
    turns = [turn for request, answer in exchanges for turn in (("user", request), ("assistant", answer)) if turn[1]]
    lines = [
        {"conversation_id": name, "project": "garden", "role": role, "content": text, "timestamp": f"{day}T08:{minute:02}:00Z"}
        for minute, (role, text) in enumerate(turns)
    ]  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("exchanges", "query", "end"),
    [
        pytest.param(PUMP, "the pump of the greenhouse stops", "reed contact", id="what the user chose"),
        pytest.param(LABELS, "labels of seed bags are printed askew", "inches", id="what another device wants"),
    ],
)
def test_a_thread_goes_on_while_the_user_speaks_about_it(
    memory: Memory, tmp_path: Path, exchanges: tuple[Exchange, ...], query: str, end: str
) -> None:
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *exchanges)])
    first, *others = memory.recall(query).entries
    assert not others
    assert end in (first.answered or "")
    assert first.before[0].reply == exchanges[1][0]


@pytest.mark.parametrize(
    "turn",
    [
        "One more thing: the gate squeaks, which oil do we take?",
        "Great. Now the gate, it squeaks. Which oil do we take?",
        "And where do I write down which oil the squeaking gate of the orchard needs, resin or graphite?",
    ],
)
def test_a_thread_ends_where_the_user_turns_to_another_thing(memory: Memory, tmp_path: Path, turn: str) -> None:
    memory.index(
        [
            write_talk(
                tmp_path / "talk",
                "one",
                "2026-03-02",
                *PUMP[:-1],
                (turn, "In oils.md, one row a hinge. Take the resin oil; graphite stains the paint."),
            )
        ]
    )
    first, *_ = memory.recall("the pump of the greenhouse stops").entries
    assert "reed contact" in (first.answered or "")


@pytest.mark.parametrize(
    ("earlier", "later", "query"),
    [
        pytest.param(
            (("The seeds mould in the box. What now?", "A fan in the box would dry the air."), ("mount a fan then", "The fan runs hourly.")),
            (("So much for the fan in the box, the seeds mould again. Look closer", "The seeds were wet when they came. I added a day of drying."),),
            "seeds mould in the box", id="so much for it",
        ),
        pytest.param(
            (("The router loses the barn. Why?", "The barn is far. A second antenna would help."), ("order the antenna then", "Ordered, it is up.")),
            (("The second antenna for the barn fixed nothing, the router loses it. Find out why", "The cable is broken at the gate. I laid a new one."),),
            "router loses the barn", id="it fixed nothing",
        ),
    ],
)  # fmt: skip
def test_the_end_of_the_conversation_that_refutes_a_remedy_leads(
    memory: Memory, tmp_path: Path, earlier: tuple[Exchange, ...], later: tuple[Exchange, ...], query: str
) -> None:
    write_talk(tmp_path / "talk", "one", "2026-03-02", *earlier)
    memory.index([write_talk(tmp_path / "talk", "two", "2026-04-06", *later)])
    first, *_ = memory.recall(query).entries
    assert first.first.conversation_id == "two"
    assert any(one.reply and one.reply in later[0][0] for one in first.before)


KILN: tuple[Exchange, ...] = (
    ("The kiln overshoots by forty degrees at the end. Slow the ramp in kiln.py", "The ramp in kiln.py is half as steep now."),
    ("It overshoots as before", "I put the ramp of kiln.py back."),
)  # fmt: skip


@pytest.mark.parametrize(
    ("opening", "is_joined"),
    [
        ("Second attempt at the kiln that overshoots.", True),
        ("Last time the slow ramp of the kiln changed nothing, it overshoots.", True),
        ("Zweiter Versuch: the kiln overshoots.", True),
        ("The kiln smells of hot dust on Mondays.", False),
    ],
)
def test_a_request_that_names_an_earlier_attempt_joins_it(
    memory: Memory, tmp_path: Path, opening: str, *, is_joined: bool
) -> None:
    later = (f"{opening} Look at kiln.py", "The coil keeps its heat, so kiln.py switches it off ten minutes early.")
    write_talk(tmp_path / "talk", "one", "2026-03-02", *KILN)
    memory.index([write_talk(tmp_path / "talk", "two", "2026-05-06", later)])
    first, *_ = memory.recall("does the coil of the kiln keep its heat?").entries
    assert "ten minutes early" in (first.answered or "")
    assert (KILN[0][0] in [one.asked for one in first.before]) == is_joined


def test_a_measurement_that_rejects_the_attempt_goes_on_with_the_thread(memory: Memory, tmp_path: Path) -> None:
    talk = (
        ("The boiler of the dairy uses twice the gas, have a look at burner.toml", "The pilot flame burns all day. I switched it off."),
        ("read the meter for two days: 41 cubic metres before, 40 now. so that's not it", "Then the return valve is stuck: I set its limit to 60 degrees."),
        ("19 cubic metres!! thanks", "Good."),
    )  # fmt: skip
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *talk)])
    first, *_ = memory.recall("the boiler of the dairy uses too much gas").entries
    assert "return valve" in (first.answered or "")
    assert [one.asked for one in first.before] == [talk[0][0]]


def test_a_short_message_whose_answer_names_the_same_again_goes_on(memory: Memory, tmp_path: Path) -> None:
    talk = (
        ("The freezer of the dairy fails its target, have a look at cool.toml", "Its fan starts at 4 °C. I lowered it to 2."),
        ("read it for two days: 9 kWh before, 9 now. so that's not it", "Then the gasket of the Liebherr leaks, and K4 runs for 20 hours."),
        ("can we just glue a magnet on the lid", "That holds the lid, but the gasket of the Liebherr is torn below, so K4 would go on. Order the gasket FX12 from Veldhuis."),
    )  # fmt: skip
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *talk)])
    first, *_ = memory.recall("the freezer of the dairy fails its target").entries
    assert "FX12" in (first.answered or "")


def test_a_success_that_the_next_words_contradict_goes_on(memory: Memory, tmp_path: Path) -> None:
    talk = (
        ("The lamp of the stable flickers at night, see lamp.py", "The dimmer is off now in lamp.py, all 12 tests pass."),
        ("deployed yesterday evening, and this morning it's dark again over the cows. they were awake btw", "Then mains dips do it. A capacitor holds the voltage now."),
    )  # fmt: skip
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *talk)])
    first, *_ = memory.recall("the lamp of the stable flickers").entries
    assert "capacitor" in (first.answered or "")


def test_last_words_that_nobody_answered_belong_to_what_they_praise(memory: Memory, tmp_path: Path) -> None:
    folder = write_talk(tmp_path / "talk", "one", "2026-03-02", ("Move the hens to a coop", "The coop has a ramp now."))
    last = {
        "conversation_id": "one",
        "project": "garden",
        "role": "user",
        "content": "every hen walks over Priya's ramp, gracias",
    }
    with (folder / "one.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(last | {"timestamp": "2026-03-02T09:00:00Z"}) + "\n")
    memory.index([folder])
    (only,) = memory.recall("which hen walks over Priya's ramp?").entries
    assert "ramp now" in (only.answered or "")


def test_a_program_that_runs_any_part_of_a_project_joins_nothing(memory: Memory, tmp_path: Path) -> None:
    double = (
        "Guests of the ferry are billed twice, run python manage.py list_twice",
        "It lists 47 guests of the ferry.",
    )
    mail = (
        "Letters to the crew of the ferry arrive late, see python manage.py send_mail",
        "The worker starts at six now.",
    )
    write_talk(tmp_path / "talk", "one", "2026-03-02", double)
    memory.index([write_talk(tmp_path / "talk", "two", "2026-05-06", mail)])
    assert all(not entry.before for entry in memory.recall("guests of the ferry billed twice").entries)


def test_the_work_that_follows_an_accepted_proposal_ends_the_thread(memory: Memory, tmp_path: Path) -> None:
    proposed = "Oil would hold for a week. Better let the hinge turn on a brass bush."
    talk = (
        ("The door of the drying chamber squeaks. Could I oil it?", proposed),
        (
            "Yes, rather so, no patchwork.",
            "The bush came from Veldhuis, and the door has swung 400 times and makes no sound.",
        ),
        ("Silence at last! Commit it please", "Committed as 31c9b55."),
    )
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *talk)])
    first, *others = memory.recall("the door of the drying chamber squeaks").entries
    assert not others
    assert "makes no sound" in (first.answered or "")
    assert proposed.split(". ")[1] in first.before[0].answered


def test_a_decision_that_the_user_adds_to_the_end_is_superseded_with_its_thread(memory: Memory, tmp_path: Path) -> None:
    rule = (
        ("The seed invoice of Brandt is one cent off", "Each line rounds its tax by itself; a sum of the lines rounds once."),
        ("ok. rule for the seed invoices: the tax is rounded once per invoice, never per line", "Noted."),
    )  # fmt: skip
    later = (
        "the tax office wants each line of a seed invoice rounded. This replaces the rule of March.",
        "Each line rounds.",
    )
    write_talk(tmp_path / "talk", "one", "2026-03-02", *rule)
    memory.index([write_talk(tmp_path / "talk", "two", "2026-05-06", later)])
    first, second = memory.recall("how is the tax of a seed invoice rounded?").entries
    assert first.asked == later[0]
    assert second.superseded_by is not None
    assert second.superseded_by.id == first.first.id


@pytest.mark.parametrize(
    ("message", "turns"),
    [
        ("next: the feed for the journal", True),
        ("good. now the spam, thirty a day", True),
        ("übrigens, wie spät ist es auf dem Server?", True),
        ("and the pump, how old is it?", True),
        ("and how do I undo that?", False),
        ("now it stops after a minute, still wrong", False),
        ("do the same for the other valve", False),
        ("it was closed by the way", False),
    ],
)
def test_a_turn_to_another_thing_is_recognised(message: str, turns: bool) -> None:
    assert turns_to_another_thing(message) == turns


@pytest.mark.parametrize(
    ("opening", "answer", "is_superseded"),
    [
        ("the rolls of labels for the seed bags have a black mark", "Now they stop at the black mark: gap sensing (`^MNW`) is replaced by `^MNM`.", True),
        ("las etiquetas se mueven otra vez", "El sensor `^MNW` fue eliminado, ahora vale la marca negra.", True),
        ("the rolls of labels for the seed bags have a black mark", "I measured the gap sensing (`^MNW`) for an hour: no drift at all.", False),
        ("the rolls of labels for the seed bags have a black mark", "Is gap sensing (`^MNW`) replaced by anything?", False),
    ],
)  # fmt: skip
def test_an_answer_that_says_what_is_gone_supersedes_what_another_conversation_did(
    memory: Memory, tmp_path: Path, opening: str, answer: str, *, is_superseded: bool
) -> None:
    early = (
        ("the labels of the seed bags drift by 3 mm", "The printer finds the gap itself now: gap sensing (`^MNW`)."),
    )
    write_talk(tmp_path / "talk", "one", "2026-03-02", *early)
    memory.index([write_talk(tmp_path / "talk", "two", "2026-05-06", (opening, answer))])
    entries = memory.recall("labels of the seed bags drift, gap sensing ^MNW").entries
    old = next(entry for entry in entries if entry.asked == early[0][0])
    assert (old.superseded_by is not None) is is_superseded
    if old.superseded_by is not None:
        assert (old.superseded_by.asked, old.superseded_by.answered in answer) == (opening, True)
        assert entries[0].asked == opening or opening not in [entry.asked for entry in entries]


def test_a_failed_episode_supersedes_nothing_by_its_answer(memory: Memory, tmp_path: Path) -> None:
    early = ("the labels of the seed bags drift by 3 mm", "The printer finds the gap itself now: gap sensing (`^MNW`).")
    later = ("the rolls of labels for the seed bags have a black mark", "Gap sensing (`^MNW`) is replaced by `^MNM`.")
    write_talk(tmp_path / "talk", "one", "2026-03-02", early)
    memory.index([write_talk(tmp_path / "talk", "two", "2026-05-06", later, ("no, that is worse, undo it", "Undone."))])
    entries = memory.recall("labels of the seed bags drift, gap sensing ^MNW").entries
    assert all(entry.superseded_by is None for entry in entries)


OVEN = (
    "The kiln of the pottery loses heat at night, see kiln.py",
    "The seal of its door is torn, so the burner runs for hours. I ordered a new seal in parts.md.",
)
MIXER = (
    "the clay mixer in the yard makes a noise when it starts, which bearing is it?",
    "The lower bearing, number 6205, is dry. A drop of oil helps until spring.",
)


@pytest.mark.parametrize("close", ["", "thanks a lot, the seal came today"])
def test_less_tells_of_another_subject_after_words_that_got_no_answer(
    memory: Memory, tmp_path: Path, close: str
) -> None:
    closing = ((close, ""),) if close else ()
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", OVEN, *closing, MIXER)])
    (entry, *_) = memory.recall("the kiln of the pottery loses heat").entries
    assert ("bearing" in (entry.answered or "")) is not close
    if close:
        (mixer, *_) = memory.recall("noise of the clay mixer, which bearing").entries
        assert mixer.title.startswith("the clay mixer")


def test_a_subject_goes_on_after_a_word_about_something_small(memory: Memory, tmp_path: Path) -> None:
    talk = (
        OVEN,
        ("the wheel squeaks a bit", "It only needs a drop of grease."),
        ("does the new seal of the kiln's door keep the heat of the burner at night, and what did the parts in parts.md for the pottery cost in all?",
         "The burner ran for ten minutes at night, so the seal of the kiln's door holds its heat. The parts for the pottery cost 40 euros."),
    )  # fmt: skip
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *talk)])
    (entry, *_) = memory.recall("the kiln of the pottery loses heat").entries
    assert "ten minutes" in (entry.answered or "")


def test_an_answer_supersedes_nothing_of_its_own_conversation(memory: Memory, tmp_path: Path) -> None:
    talk = (
        ("the labels of the seed bags drift by 3 mm", "The printer finds the gap itself now: gap sensing (`^MNW`)."),
        (
            "each roll has a black mark, use that",
            "Now they stop at the black mark: gap sensing (`^MNW`) is replaced by `^MNM`.",
        ),
    )
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *talk)])
    entries = memory.recall("labels of the seed bags drift, gap sensing ^MNW").entries
    assert all(entry.superseded_by is None for entry in entries)


def test_a_thread_does_not_supersede_itself(memory: Memory, tmp_path: Path) -> None:
    change = "from now on the labels of the seed bags stop at the black mark, not at the gap"
    again = "can you check the labels of the seed bags once more? they drift at the black mark"
    talk = (
        ("where do the labels of the seed bags stop?", "The labels of the seed bags stop at the gap."),
        (change, "They stop at the black mark."),
        (again, "The sensor was dirty. The labels of the seed bags are straight at the black mark now: 40 of 40."),
    )
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *talk)])
    (entry,) = memory.recall("labels of the seed bags, black mark or gap").entries
    assert change in [one.asked for one in entry.before]
    assert (entry.superseded_by, entry.supersedes) == (None, "")


def test_a_successor_leads_also_if_its_thread_went_on(memory: Memory, tmp_path: Path) -> None:
    early = ("the labels of the seed bags drift by 3 mm", "The printer finds the gap itself now: gap sensing (`^MNW`).")
    later = (
        (
            "labels of the bags slip in the cold",
            "The black mark stops them: gap sensing (`^MNW`) is replaced by `^MNM`.\n\n**Done**: 40 labels of the bags are straight.",
        ),
        ("is the black mark on each roll of labels?", "On the rolls of 2026, yes. Older rolls of labels have no mark."),
    )
    write_talk(tmp_path / "talk", "one", "2026-03-02", early)
    memory.index([write_talk(tmp_path / "talk", "two", "2026-05-06", ("the seal came", ""), *later)])
    first, second = memory.recall("the labels of the seed bags drift by 3 mm, gap sensing").entries
    assert (first.asked, second.asked) == (later[1][0], early[0])
    assert second.superseded_by is not None
    assert second.superseded_by.asked == later[0][0]
    assert second.superseded_by.answered == "The black mark stops them: gap sensing (`^MNW`) is replaced by `^MNM`."


def test_a_fix_that_a_later_conversation_refutes_does_not_hold_its_own_one_on_the_subject(
    memory: Memory, tmp_path: Path
) -> None:
    far = (
        "the clay mixer in the yard makes a loud noise when it starts in the morning, which bearing is it, and where do we buy one?",
        "The lower bearing, number 6205, is dry. Hansen in Flensburg has it for 12 euros, and a drop of oil helps until spring.",
    )
    write_talk(tmp_path / "talk", "one", "2026-03-02", OVEN, far)
    later = (
        "So the new seal of the kiln's door did not cure the loss of heat at night. Look again",
        "The flue is open.",
    )
    memory.index([write_talk(tmp_path / "talk", "two", "2026-05-06", later)])
    (entry, *_) = memory.recall("the kiln of the pottery loses heat").entries
    assert [(one.asked, one.outcome) for one in entry.before] == [(OVEN[0], "failed")]
    assert entry.answered == "The flue is open."


FLAP = (
    ("the flap of the mushroom house swings, the air is bad", "The gain was too high, it is 0.3 now. The flap is calm."),
    ("One more thing: the scale in the packing room shows 20 g too little", "Its zero had moved. I set it anew in scale.toml."),
    ("Next: how long do we store the readings of the stable's thermometer?", "For 90 days, by history.toml."),
)  # fmt: skip
CAUSE = "The motor takes 150 s for a stroke, so a command every 10 s is too fast. It is every 180 s now."


@pytest.mark.parametrize(
    ("message", "goes_on"),
    [
        ("the flap was open all night. swings as before, just slower, so not fixed", True),
        ("the door was open all night. it jams as before, so not fixed", False),
        ("who made the flap, and does it swing in both directions when the house is empty?", False),
    ],
)
def test_trouble_that_comes_back_after_other_subjects_goes_on_with_the_thread(
    memory: Memory, tmp_path: Path, message: str, *, goes_on: bool
) -> None:
    memory.index([write_talk(tmp_path / "talk", "one", "2026-03-02", *FLAP, (message, CAUSE))])
    first, *_ = memory.recall("flap of the mushroom house swings again, lower the gain?").entries
    assert (FLAP[0][0] in [one.asked for one in first.before]) is goes_on


@pytest.mark.parametrize(
    ("request_", "answer", "is_joined"),
    [
        ("two harbour pilots got the same berth again", "Convoys have no berth of their own, so the rule did not see them. It does now.", True),
        ("a berth for a convoy, please", "The rule of March, two ships at the same berth, sees single ships only. It counts convoys, too, since today.", True),
        ("a berth for a convoy, please", "The rule of January, two ships at the same berth, sees single ships only. It counts convoys, too, since today.", False),
        ("a berth for a convoy, please", "Two ships at the same berth are a convoy. It has one berth since today.", False),
    ],
)  # fmt: skip
def test_later_trouble_and_what_names_the_month_go_on_with_the_thread(
    memory: Memory, tmp_path: Path, request_: str, answer: str, *, is_joined: bool
) -> None:
    early = (
        "two harbour pilots got the same berth this morning",
        "A rule in the database forbids two ships at one berth.",
    )
    write_talk(tmp_path / "talk", "one", "2026-03-02", early)
    memory.index([write_talk(tmp_path / "talk", "two", "2026-05-06", (request_, answer))])
    entries = memory.recall("two harbour pilots with the same berth for their ships").entries
    first = next(entry for entry in entries if early[0] in (entry.asked, *(one.asked for one in entry.before)))
    assert (first.asked == request_) is is_joined


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("the lock from March has no way out", True),
        ("since 2 March it hangs", True),
        ("as we did two months ago", True),
        ("the lock from January has no way out", False),
        ("it hangs since this morning", False),
        ("it hangs", False),
    ],
)
def test_a_text_names_the_day_of_an_earlier_one(text: str, *, names: bool) -> None:
    assert names_day(text, "2026-05-06T08:00:00Z", "2026-03-02T08:00:00Z") is names


def test_a_text_names_no_day_that_is_not_over() -> None:
    assert not names_day("since this morning it hangs", "2026-03-02T18:00:00Z", "2026-03-02T08:00:00Z")


@pytest.mark.parametrize(
    ("command", "ends"), [("git checkout press.py", True), ("git commit -am 'Press the cheese'", False)]
)
def test_an_answer_that_takes_work_back_ends_a_thread_and_a_commit_does_not(
    memory: Memory, tmp_path: Path, command: str, *, ends: bool
) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
    last = "The race is in the driver of the cheese press, which we cannot mend here. It is not solved, and a newer driver would be the next step, or a patch of its native code."
    contents: list[tuple[str, object]] = [
        ("user", "The cheese press stops when two sensors report at once, see press.py"),
        ("assistant", [{"type": "text", "text": "Both write at once, so press.py waits 200 ms between their reports now."}]),
        ("user", "still stops"),
        ("assistant", [use]),
        ("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "Done."}]),
        ("assistant", [{"type": "text", "text": last}]),
    ]  # fmt: skip
    records = [
        {"type": role, "uuid": f"u{place}", "parentUuid": f"u{place - 1}" if place else None, "sessionId": "press", "cwd": "/home/ada/dairy",
         "timestamp": f"2026-03-02T08:0{place}:00.000Z", "message": {"role": role, "content": content}}
        for place, (role, content) in enumerate(contents)
    ]  # fmt: skip
    file = tmp_path / "press.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    memory.index([file])
    first, *_ = memory.recall("the cheese press stops when two sensors report").entries
    assert ("newer driver" in (first.answered or "")) is ends
