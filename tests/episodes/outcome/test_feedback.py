"""The next message praises the work, complains about it, or does neither."""

from __future__ import annotations

import pytest
from one_episode import ANSWER, DONE, GREEN, LOOKING, MADE, NEXT_REQUEST, RED, REQUEST, verdict

from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome
from pastchats_memory.episodes.outcome.reply import Reply


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
def test_acceptance_means_worked(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "worked"


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
def test_rejection_means_failed(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "failed"


def test_words_that_the_user_quotes_are_not_the_reply() -> None:
    quoted = f"> {ANSWER.content}\n> It is right now.\n\n"
    assert verdict(ANSWER, next_message=f"{quoted}no, that is wrong") == "failed"
    assert verdict(ANSWER, next_message=f"{quoted}it works now") == "worked"
    assert verdict(ANSWER, next_message=f"> {ANSWER.content}") == "unknown"


def test_a_complaint_that_names_a_merge_asks_for_no_merge() -> None:
    message = "i aborted the merge. go back and try to do it once more"
    complaint = Reply("rejects", 0.4, complaint=0.51, approval=0.44)
    assert derive_outcome((REQUEST, ANSWER), message, reply=complaint).verdict != "worked"


def test_switching_something_off_is_no_fault() -> None:
    assert verdict(ANSWER, next_message="The clock is off. Validated.") == "unknown"


def test_a_late_fault_may_concern_something_else() -> None:
    assert verdict(ANSWER, next_message="hm. it still fails") == "failed"
    later = "The icon is there. Look at the receiver of last week, it broke at once."
    assert verdict(LOOKING, GREEN, DONE, next_message=later) == "unknown"
    assert (
        verdict(ANSWER, next_message="The first zoom is perfect. The nodes still do not stand in a circle.")
        == "unknown"
    )


@pytest.mark.parametrize(
    "words",
    [
        "I passed the flag, still out of memory.",
    ],
)
def test_a_failed_trial_means_failed(words: str) -> None:
    assert verdict(LOOKING, GREEN, DONE, next_message=words) == "failed"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("I think the left one is right.", "unknown"),
        ("a calculator or a list is great. let's take something simple", "unknown"),
        ("make sure that the count is right", "unknown"),
    ],
)
def test_feedback_may_follow_another_sentence(words: str, expected: str) -> None:
    assert verdict(ANSWER, next_message=words) == expected


def test_an_answer_to_a_question_is_no_verdict() -> None:
    asks = EpisodeTurn("assistant", "answer", "The clock is read twice. Does the other test pass?")
    assert verdict(asks, next_message="still broken") == "unknown"
    assert verdict(asks, next_message="I meant the exact line") == "unknown"


@pytest.mark.parametrize("words", ["Which port does the server use?", "the README is in docs", "no problem", "A"])
def test_neutral_words_mean_unknown(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "wow, it actually worked",
        "问题已解决",
        "this is a useful summary, thanks",
        "that looks good",
        "now everything works",
        "works like a charm",
        "/diff\n/add app.py\nperfect",
        "git commit -am 'fix the clock'",
        "push it to main",
    ],
)
def test_praise_and_a_commit_by_the_user_mean_worked(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "worked"


@pytest.mark.parametrize(
    "words",
    [
        "/diff\n/undo",
        "git checkout -- app.py",
        "please revert that",
        "it still does not load",
        "this did not solve the problem",
        "now I get a new exception",
        "everything is broken now",
        "not true",
        "nothing happens when I click",
        "i cant see it",
        "perfect, but it still crashes",
        "ok. uh. no. it runs on another branch",
        "that worked before your change",
        "всё ещё не работает",
        "ne marche pas",
    ],
)
def test_reports_of_failure_mean_failed(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "you forgot the second file",
        "we don't want a retry in there",
    ],
)
def test_a_correction_concerns_a_part_of_visible_work(words: str) -> None:
    assert verdict(LOOKING, GREEN, DONE, next_message=words) == "mixed"
    assert verdict(ANSWER, next_message=words) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "None of it is urgent, do the header next.",
        "Add a switch for no output.",
        "什么时候会报错？",
        "现在会报错吗？",
        "出错了吗？",
    ],
)
def test_a_mention_of_trouble_is_no_complaint(words: str) -> None:
    assert verdict(MADE, next_message=words) != "failed"


def test_an_offer_of_other_changes_is_no_question() -> None:
    done = EpisodeTurn(
        "assistant", "answer", "按钮的图标已经换好了。\n\nIs there anything else?", {"files": ["button.tsx"]}
    )
    assert verdict(done, next_message="还是报错") == "failed"


@pytest.mark.parametrize("words", ["the gradient is a little too much", "good, but the margin is off", "not quite"])
def test_reports_of_flaws_mean_mixed(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "mixed"


@pytest.mark.parametrize(
    "words",
    [
        "why is it slower in ci?",
        "hmm",
        "3 more",
        "I'm pretty sure there is a constant for that",
        "now you are asserting that nobody passes a name",
        "please double check the colours on every page",
        "hay un problema en el formulario",
        "there is an error in the log",
        "where is the file?",
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
    ],
)
def test_doubt_outweighs_a_claim(words: str) -> None:
    assert verdict(LOOKING, DONE, next_message=NEXT_REQUEST) == "worked"
    assert verdict(LOOKING, DONE, next_message=words) != "worked"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("nice, the leak is gone", "worked"),
        ("Green on CI as well, thanks! Merged.", "worked"),
        ("Login works again", "worked"),
        ("no problems since yesterday", "worked"),
        ("much better", "worked"),
        ("this is exactly what I wanted", "worked"),
        ("no, same 500. look at the log", "failed"),
        ("that broke the build", "failed"),
        ("now it fails with a different error: ECONNREFUSED", "failed"),
        ("the build went red", "failed"),
        ("that's not it", "failed"),
        ("ok I fixed it myself", "failed"),
        ("I asked for euros, not dollars", "failed"),
        ("这次可以了，很顺利", "worked"),
        ("None of the buttons work", "failed"),
        ("Hang on, what the hell are you doing?", "failed"),
        ("no output from C", "failed"),
    ],
)
def test_plain_praise_and_complaints_outweigh_visible_work(words: str, expected: str) -> None:
    assert verdict(MADE, next_message=words) == expected
    assert verdict(LOOKING, GREEN, DONE, next_message=words) == expected


@pytest.mark.parametrize(
    "words",
    ["it failed before, works now", "That failed at first but now it works, thanks", "the tests went red, but then green, thanks",
     "no same 500 error now, great"],
)  # fmt: skip
def test_a_solved_problem_is_no_complaint(words: str) -> None:
    assert verdict(MADE, next_message=words) != "failed"


@pytest.mark.parametrize(
    "words", ["问题解决了吗？", "问题没有解决", "问题没解决", "已解决吗", "可以了吗？", "这样就可以了吗", "跑通了没"]
)
def test_a_question_about_success_is_no_praise(words: str) -> None:
    assert verdict(ANSWER, next_message=words) != "worked"


@pytest.mark.parametrize("place", ["In tests/test_login.py:\n\n", "`button.tsx`:\n", "src\\login.cs:\n\n"])
@pytest.mark.parametrize(
    ("words", "expected"), [("It still fails.", "failed"), ("Rename the icon to submit.", "worked")]
)
def test_a_leading_file_name_is_ignored(place: str, words: str, expected: str) -> None:
    assert verdict(MADE, next_message=words) == verdict(MADE, next_message=place + words) == expected
    assert words[:-1] in derive_outcome((REQUEST, MADE), place + words).evidence[0].quotation or expected == "worked"


def test_withdrawn_praise_is_no_praise() -> None:
    assert verdict(ANSWER, next_message="Good! However, the layer is disposed of and made anew.") == "unknown"
    assert verdict(ANSWER, next_message="Good! Add the second layer.") == "worked"


def test_a_new_and_long_request_is_no_doubt() -> None:
    words = "Review of the change in clock.py\n\n1. A bug remains in the parser."
    assert verdict(LOOKING, DONE, GREEN, next_message=words) == "worked"


def test_a_report_of_the_user_s_own_action_is_no_praise() -> None:
    ask = EpisodeTurn("assistant", "answer", "Please run `npm install` and try again.")
    assert verdict(ask, next_message="done") == "unknown"
    assert verdict(ask, next_message="done, it works") == "worked"


def test_the_user_s_words_outweigh_a_check() -> None:
    assert verdict(RED, ANSWER, next_message="works, thanks") == "worked"
    assert verdict(GREEN, DONE, next_message="it still fails on my machine") == "failed"
    assert verdict(GREEN, DONE, next_message="you forgot the second test") == "mixed"


def test_a_pasted_error_of_the_recommended_command_is_failed() -> None:
    advice = EpisodeTurn("assistant", "answer", "Run `npm run dev` in another terminal.")
    pasted = "(venv) mira@home shop % npm run dev\nnpm error Missing script: dev"
    assert verdict(advice, next_message=pasted) == "failed"
    assert verdict(advice, next_message="mira@home % docker ps\nError: no daemon") == "unknown"


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
        ("エラーになります", "failed"),
        ("remote ist es noch da, geht immer noch nicht", "failed"),
        ("is it still used anywhere?", "unknown"),
        ("I don't see any problem with it", "unknown"),
        ("Let's not rush to conclusions.", "unknown"),
    ],
)
def test_the_next_message_is_read_as_feedback(words: str, expected: str) -> None:
    edit = EpisodeTurn("assistant", "answer", "The clock is read in one place.", {"tools": ("Edit app.py",)})
    assert verdict(edit, next_message=words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "that doesn't seem to work",
    ],
)
def test_common_complaints_are_recognised_in_other_languages(words: str) -> None:
    assert verdict(MADE, next_message=words) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "put the sample data into a file of its own\nwhoever registers cannot choose a role, an error is shown then",
        "explain that on a lower level now. I do not see any place where it is deleted. I meant the exact line.",
        "buat seed data di file terpisah\nuser tidak bisa memilih role",
    ],
)
def test_a_new_request_that_describes_a_fault_is_no_complaint(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "unknown"


def test_the_description_in_a_new_request_is_no_complaint() -> None:
    assert derive_outcome((REQUEST, MADE), "write a test for the case that nothing is found").verdict != "failed"


@pytest.mark.parametrize(
    "words",
    ["the page is blank", "CI is failing", "I get a 500 now", "can't click it",  "build fails" ],
)  # fmt: skip
def test_a_statement_of_trouble_after_advice_means_failed(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "failed"
    assert verdict(MADE, next_message=words) in ("unknown", "mixed"), "beside work in sight it may be something else"


def test_trouble_with_the_requested_thing_means_failed() -> None:
    turns = (EpisodeTurn("user", "prompt", "Give the button an icon."), MADE)
    assert derive_outcome(turns, "the icon is missing").verdict == "failed"
    assert derive_outcome(turns, "the button doesn't show it").verdict == "failed"


@pytest.mark.parametrize(
    "words",
    ["the cache is not needed", "I can't use npm here, use pnpm", "we don't use jest", "not now", "no comments"],
)
def test_facts_and_wishes_are_no_trouble(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "unknown"


@pytest.mark.parametrize("words", ["ok. uh. no. the CI runs on main", "uh, no"])
def test_a_hesitant_no_is_a_no(words: str) -> None:
    assert verdict(MADE, next_message=words) == "failed"


@pytest.mark.parametrize(
    "words",
    ["hmm, no problem", "hm, no need for that", "uh, no idea which one", "uh no, it works", "okay... no. 2 please"],
)
def test_a_no_to_something_else_rejects_nothing(words: str) -> None:
    assert verdict(MADE, next_message=words) != "failed"


def test_a_mistaken_undo_is_no_failure() -> None:
    assert verdict(MADE, next_message="I had to fix it by hand.") == "failed"
    assert verdict(MADE, next_message="I had to fix it, which I broke by mistake. Redo it.") == "unknown"
    assert verdict(MADE, next_message="You accidentally deleted the header, please revert it.") == "failed"
    assert verdict(MADE, next_message="Revert it, you removed the tests by mistake.") == "failed"


def test_a_yes_to_go_on_shows_nothing() -> None:
    question = EpisodeTurn("user", "prompt", "How is the merge going?")
    answer = EpisodeTurn(
        "assistant", "answer", "I resolve the third conflict of seven now. Should I continue with the rest?"
    )
    assert derive_outcome((question, answer), "yes").verdict == "unknown"


def test_a_no_to_the_agent_s_question_rejects_nothing() -> None:
    asks = EpisodeTurn(
        "assistant", "answer", "The bridge drops the upper half of the word. Shall I start the build now?"
    )
    assert verdict(asks, next_message="No, that is too expensive. Make the change and write it down.") == "unknown"


@pytest.mark.parametrize("words", ["still quite different, see how the tabs are styled", "still off by a bit"])
def test_a_message_that_starts_with_still_means_failed(words: str) -> None:
    assert verdict(MADE, next_message=words) == "failed"


def test_a_persistent_problem_outweighs_visible_work() -> None:
    assert verdict(MADE, next_message="The footer is using the dark background still.") == "failed"
    assert verdict(ANSWER, next_message="The footer is using the dark background still.") == "unknown"


def test_a_repeated_answer_is_no_praise() -> None:
    text = "Perfect the order of the modules, so that the build finds them"
    assert verdict(EpisodeTurn("assistant", "answer", text), next_message=text) == "unknown"


def test_the_difference_that_a_client_shows_is_an_edit() -> None:
    shown = EpisodeTurn(
        "assistant", "answer", "I'll create it.\n\n---\n\n_****_\n\n```diff\n- \n+ KEY=value\n```\n\nIt is there."
    )
    assert verdict(shown, next_message="Do the same for the second file.") == "worked"
