"""What the words of the person who goes on mean for the work before them."""

from __future__ import annotations

import pytest
from one_episode import ANSWER, ASKED, DONE, GOES_ON, GREEN, LOOKING, MADE, RED, verdict

from pastchats_memory.outcome import Row, outcome_of


@pytest.mark.parametrize(
    "words",
    [
        "thanks!",
        "Perfect, now the other one",
        "ok great, that works",
        "it works now",
        "commit!",
        "danke",
        "gracias",
        "спасибо, работает",
    ],
)
def test_words_that_accept_are_worked(words: str) -> None:
    assert verdict(ANSWER, following=words) == "worked"


@pytest.mark.parametrize(
    "words",
    [
        "still broken",
        "no, that is wrong",
        "it doesn't work",
        "that did not fix it",
        "undo that",
        "same error as before",
        "thanks, but it still fails",
        "great, another crash",
        "funktioniert nicht",
        "no funciona",
        "не работает",
        "还是报错",
    ],
)
def test_words_that_reject_are_failed(words: str) -> None:
    assert verdict(ANSWER, following=words) == "failed"


def test_what_is_switched_off_is_no_fault() -> None:
    assert verdict(ANSWER, following="The clock is off. Validated.") == "unknown"


def test_a_fault_that_comes_after_something_else_may_be_of_something_else() -> None:
    assert verdict(ANSWER, following="hm, ok. it fell over at once") == "failed"
    later = "Deployed to staging. I stopped the receiver for a minute, and it fell over at once."
    assert verdict(LOOKING, GREEN, DONE, following=later) == "unknown"
    assert (
        verdict(ANSWER, following="The first zoom is perfect. The nodes still do not stand in a circle.") == "unknown"
    )


def test_what_is_said_in_answer_to_a_question_is_no_verdict_on_the_work() -> None:
    asks = Row("assistant", "answer", "The clock is read twice. Does the other test pass?")
    assert verdict(asks, following="still broken") == "unknown"
    assert verdict(asks, following="I meant the exact line") == "unknown"


@pytest.mark.parametrize("words", ["Which port does the server use?", "the README is in docs", "no problem", "A"])
def test_words_that_say_neither_are_unknown(words: str) -> None:
    assert verdict(ANSWER, following=words) == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "wow, it actually worked",
        "this is a useful summary, thanks",
        "that looks good",
        "now everything works",
        "works like a charm",
        "/diff\n/add app.py\nperfect",
        "git commit -am 'fix the clock'",
        "push it to main",
        "merci, ça marche",
    ],
)
def test_praise_and_a_commit_by_the_person_are_worked(words: str) -> None:
    assert verdict(ANSWER, following=words) == "worked"


@pytest.mark.parametrize(
    "words",
    [
        "/diff\n/undo",
        "git checkout -- app.py",
        "please revert that",
        "it still does not load",
        "this did not solve the problem",
        "that threw an error: undefined is not a function",
        "now I get a new exception",
        "everything is broken now",
        "not true",
        "are you sure? you are saying the same things repeatedly",
        "nothing happens when I click",
        "i cant see it",
        "perfect, but it still crashes",
        "ok. uh. no. it runs on another branch",
        "great job breaking the build, wonderful, another crash",
        "всё ещё не работает",
        "ne marche pas",
    ],
)
def test_words_that_say_it_does_not_work_are_failed(words: str) -> None:
    assert verdict(ANSWER, following=words) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "no, I meant the other test",
        "you forgot the second file",
        "don't use a mock there",
        "this is not correct for leap years",
        "we don't want a retry in there",
    ],
)
def test_a_correction_may_be_of_a_part_of_the_work_in_sight_or_of_all(words: str) -> None:
    assert verdict(LOOKING, GREEN, DONE, following=words) == "unknown"
    assert verdict(ANSWER, following=words) == "failed"


@pytest.mark.parametrize("words", ["the gradient is a little too much", "good, but the margin is off", "not quite"])
def test_words_that_find_it_there_but_not_right_are_mixed(words: str) -> None:
    assert verdict(ANSWER, following=words) == "mixed"


@pytest.mark.parametrize(
    "words",
    [
        "why is it slower in ci?",
        "hmm",
        "3 more",
        "there is an error in the log",
        "where is the file?",
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
    ],
)
def test_doubt_takes_the_weight_from_a_claim(words: str) -> None:
    assert verdict(LOOKING, DONE, following=GOES_ON) == "worked"
    assert verdict(LOOKING, DONE, following=words) == "unknown"


def test_a_new_and_long_request_is_no_doubt() -> None:
    assert verdict(LOOKING, DONE, following="Review of the change\n\n1. A bug remains in the parser.") == "worked"


def test_a_yes_to_leave_to_an_offered_fix_or_to_a_plan_shows_nothing() -> None:
    leave = Row("assistant", "answer", "I would rename three files. I need your permission to write.")
    offer = Row("assistant", "answer", "The clock is read twice. Would you like me to fix it?")
    plan = Row("assistant", "answer", f"{'First the schema, then the migration. ' * 9}Does this order work?")
    assert verdict(leave, following="yes") == "unknown"
    assert verdict(offer, following="yes please") == "unknown"
    assert verdict(plan, following="yes") == "unknown"
    assert verdict(ANSWER, following="可以，开始实施") == "unknown"


def test_a_yes_to_what_is_offered_below_the_answer_to_a_question_takes_the_answer() -> None:
    question = Row("user", "prompt", "Is there an option to try the release without publishing it?")
    told = Row("assistant", "answer", "Yes: `--snapshot` builds and publishes nothing. Want me to run it?")
    assert outcome_of((question, told), "sure").verdict == "worked"
    needs = Row("assistant", "answer", "That depends on the version. Could you share its configuration?")
    assert outcome_of((question, needs), "sure").verdict == "unknown"
    assert verdict(told, following="sure") == "unknown", "where something was to be done, that is a plan"


def test_what_the_person_did_as_asked_is_no_praise() -> None:
    ask = Row("assistant", "answer", "Please run `npm install` and try again.")
    assert verdict(ask, following="done") == "unknown"
    assert verdict(ask, following="done, it works") == "worked"


def test_the_persons_words_beat_the_check() -> None:
    assert verdict(RED, ANSWER, following="works, thanks") == "worked"
    assert verdict(GREEN, DONE, following="it still fails on my machine") == "failed"
    assert verdict(GREEN, DONE, following="you forgot the second test") == "unknown"


def test_a_pasted_error_of_the_recommended_command_is_failed() -> None:
    advice = Row("assistant", "answer", "Run `npm run dev` in another terminal.")
    pasted = "(venv) mira@home shop % npm run dev\nnpm error Missing script: dev"
    assert verdict(advice, following=pasted) == "failed"
    assert verdict(advice, following="mira@home % docker ps\nError: no daemon") == "unknown"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("it's 3x slower now, thanks", "unknown"),
        ("wow thanks, it's 3x slower now", "failed"),
        ("no no no. keep the store for tests", "failed"),
        ("that's the wrong file", "failed"),
        ("failed again on CI just now", "failed"),
        ("looks exactly the same to me", "failed"),
        ("there's still 12 of them", "failed"),
        ("did that, rebooted, same thing", "failed"),
        ("too clever. go back to what it was", "failed"),
        ("reverted, this locked out the office", "failed"),
        ("it closes now but it also clears the form", "mixed"),
        ("ok pushed it, QA says the crash is gone", "worked"),
        ("no more errors, cheers", "worked"),
        ("prod is back up", "worked"),
        ("ah, that makes sense. add a check for it", "worked"),
        ("you're right!", "worked"),
        ("できました、ありがとうございます", "worked"),
        ("deu certo, obrigado!", "worked"),
        ("oh, already so lovely can you make it blink", "worked"),
        ("エラーになります", "failed"),
        ("remote ist es noch da, geht immer noch nicht", "failed"),
        ("is it still used anywhere?", "unknown"),
        ("I don't see any problem with it", "unknown"),
        ("Let's not rush to conclusions.", "unknown"),
    ],
)
def test_what_is_said_next_is_read_by_what_it_means_for_the_work(words: str, expected: str) -> None:
    edit = Row("assistant", "answer", "The clock is read in one place.", {"tools": ("Edit app.py",)})
    assert verdict(edit, following=words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "add a test for the logout button",
        "ok, now please rename it to submit",
        "Can you also expand the tooltip?",
        "If there is no text in the box, hide the icon.",
        "the header should have one too",
        "Review the search bar. While I type, every letter sends a request that is thrown away, which costs us much.",
        "/diff",
        "@docs/icons.md",
        "请把标题也改成蓝色",
        "agora adicione um botão no rodapé",
        "Desarrolla el botón de borrar",
        "ajoute aussi une légende",
        "フッターにも追加してください",
        "Как теперь настроить иконку в шапке?",
        "@docs/icons.md 改成英文",
    ],
)
def test_who_asks_for_something_else_after_work_in_sight_had_what_was_asked_for(words: str) -> None:
    assert verdict(MADE, following=words) == "worked"


@pytest.mark.parametrize(
    "words",
    [
        "agent is walking into walls",
        "Somehow the picture next to it became invisible. Give it a border.",
        "the icon is 4 px too low",
        "add it again, properly this time",
        "Put the old one back",
        "I think the label is cut",
    ],
)
def test_a_statement_after_work_in_sight_may_be_a_complaint_in_words_that_nobody_knows(words: str) -> None:
    assert verdict(MADE, following=words) in ("unknown", "failed", "mixed")


@pytest.mark.parametrize(
    "words",
    [
        "that doesn't seem to work",
        "masih error",
        "ça ne marche toujours pas",
        "c'est encore cassé",
        "todavía no carga",
        "el botón se sigue moviendo",
        "não aparece nada",
        "还是打不开",
        "vẫn bị lỗi",
        "hala aynı hata",
        "لا يعمل",
        "काम नहीं कर रहा",
        "dalej nie działa",
        "작동하지 않아요",
    ],
)
def test_the_commonest_complaints_are_known_in_other_languages(words: str) -> None:
    assert verdict(MADE, following=words) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "put the sample data into a file of its own\nwhoever registers cannot choose a role, an error is shown then",
        "explain that on a lower level now. I do not see any place where it is deleted. I meant the exact line.",
        "buat seed data di file terpisah\nuser tidak bisa memilih role",
    ],
)
def test_who_begins_with_a_new_request_finds_no_fault_with_the_old_work_by_describing_it(words: str) -> None:
    assert verdict(ANSWER, following=words) == "unknown"


def test_an_answer_that_asks_something_is_an_end_only_where_more_than_a_claim_shows_the_work() -> None:
    text = "The icon is in place. Which colour shall the label have?"
    for tool, expected in (("Edit a.tsx", "worked"), ("Read a.tsx", "unknown")):
        asks = Row("assistant", "answer", text, {"tools": (tool,)})
        assert verdict(asks, following="Add a label too.") == expected
        assert verdict(asks, following="blue") == "unknown", "it answers the question"


def test_who_goes_into_something_at_length_after_work_in_sight_lets_it_stand_unless_a_word_is_against_it() -> None:
    at_length = (
        "Two observations from the other page: its label is grey, and the menu below it opens to the left on a phone."
    )
    assert verdict(MADE, following=at_length) == "worked"
    assert verdict(MADE, following=at_length[:60]) == "unknown", "a short statement is as often a complaint"
    assert verdict(ANSWER, following=at_length) == "unknown", "no work is in sight"
    assert verdict(MADE, following=f"But wait. {at_length}") == "unknown"
    assert verdict(MADE, RED, following=at_length) != "worked"


@pytest.mark.parametrize(
    "words",
    [
        "Can you use the right edit format, your changes weren't made. Write them again.",
        "Let's continue debugging the button. Currently it shows, but a click on it does nothing.",
        "Right now the icon is drawn twice, I just want one",
        "now all buttons are at the bottom",
        "there should be 5 items, I count 3",
        "it should be on the left side",
        "please read what I wrote",
        "it's the same as before",
        "Make it actually work",
    ],
)
def test_who_corrects_the_work_has_not_gone_on(words: str) -> None:
    assert outcome_of((ASKED, MADE), words).verdict in ("failed", "unknown")


def test_what_may_come_about_is_no_fault_and_a_go_for_what_was_not_finished_is_no_yes() -> None:
    assert outcome_of((ASKED, MADE), "if things don't work we deploy the build of yesterday").verdict != "failed"
    looking = Row("assistant", "answer", "Now I need to see where the callback is hooked. Let me look at it:")
    assert outcome_of((Row("user", "prompt", "why is the bar empty?"), looking), "continue").verdict == "unknown"


def test_what_a_new_request_describes_is_no_fault_of_the_old_work() -> None:
    assert outcome_of((ASKED, MADE), "write a test for the case that nothing is found").verdict != "failed"


@pytest.mark.parametrize("words", ["do that", "please patch them", "go ahead and make this change", "applique cela"])
def test_who_wants_done_what_was_answered_takes_it_up(words: str) -> None:
    asked = Row("user", "prompt", "Why does the login test fail?")
    assert outcome_of((asked, ANSWER), words).verdict == "worked"
    assert verdict(ANSWER, following=words) == "unknown", "nobody had asked a question"


@pytest.mark.parametrize(
    "words",
    ["the page is blank", "CI is failing", "I get a 500 now", "can't click it", "same", "build fails", "the list disappears when I scroll"],
)  # fmt: skip
def test_who_states_what_is_wrong_after_advice_has_not_got_what_was_asked_for(words: str) -> None:
    assert verdict(ANSWER, following=words) == "failed"
    assert verdict(MADE, following=words) in ("unknown", "mixed"), "beside work in sight it may be something else"


def test_what_is_wrong_with_what_was_asked_for_is_failed_beside_work_in_sight() -> None:
    turns = (Row("user", "prompt", "Give the button an icon."), MADE)
    assert outcome_of(turns, "the icon is missing").verdict == "failed"
    assert outcome_of(turns, "the button is not clickable").verdict == "failed"


@pytest.mark.parametrize(
    "words",
    ["the cache is not needed", "I can't use npm here, use pnpm", "we don't use jest", "not now", "no comments"],
)
def test_what_is_so_or_is_not_wanted_is_no_trouble(words: str) -> None:
    assert verdict(ANSWER, following=words) == "unknown"


def test_a_no_to_the_question_with_which_the_answer_ends_rejects_nothing() -> None:
    asks = Row("assistant", "answer", "The bridge drops the upper half of the word. Shall I start the build now?")
    assert verdict(asks, following="No, that is too expensive. Make the change and write it down.") == "unknown"


def test_a_yes_to_a_list_of_choices_shows_nothing() -> None:
    asks = Row("assistant", "answer", "How should I seed it?\n\n- add what is missing\n- make all of it anew")
    assert verdict(asks, following="yes do that") == "unknown"


@pytest.mark.parametrize("words", ["still quite different, see how the tabs are styled", "still off by a bit"])
def test_who_begins_with_still_has_it_as_it_was(words: str) -> None:
    assert verdict(MADE, following=words) == "failed"


def test_a_y_is_a_yes_only_alone() -> None:
    for words, expected in (("y", "worked"), ("y los archivos de prueba", "unknown")):
        assert outcome_of((Row("user", "prompt", "Why does the login test fail?"), ANSWER), words).verdict == expected


def test_a_go_for_what_was_only_offered_shows_nothing() -> None:
    offer = Row("assistant", "answer", "I would hash the key with PBKDF2 instead of MD5. Shall I proceed with it?")
    assert verdict(offer, following="Ok, proceed.") == "unknown"


def test_what_is_sent_back_is_no_praise_of_it() -> None:
    text = "Perfect the order of the modules, so that the build finds them"
    assert verdict(Row("assistant", "answer", text), following=text) == "unknown"


def test_the_difference_that_a_client_shows_is_an_edit() -> None:
    shown = Row(
        "assistant", "answer", "I'll create it.\n\n---\n\n_****_\n\n```diff\n- \n+ KEY=value\n```\n\nIt is there."
    )
    found = outcome_of((ASKED, shown), "now the second file")
    assert (found.verdict, found.evidence[-1].quotation) == ("worked", "+ KEY=value")
