"""A user who goes on from an answer, or takes up its offer, accepts it."""

from __future__ import annotations

import pytest
from one_episode import ANSWER, GREEN, LOOKING, MADE, NEXT_REQUEST, RED, REQUEST, verdict

from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome


def test_a_yes_to_a_plan_or_offer_shows_nothing() -> None:
    leave = EpisodeTurn("assistant", "answer", "I would rename three files. I need your permission to write.")
    offer = EpisodeTurn("assistant", "answer", "The clock is read twice. Would you like me to fix it?")
    plan = EpisodeTurn("assistant", "answer", f"{'First the schema, then the migration. ' * 9}Does this order work?")
    assert verdict(leave, next_message="yes") == "unknown"
    assert verdict(offer, next_message="yes please") == "unknown"
    assert verdict(plan, next_message="yes") == "unknown"
    assert verdict(ANSWER, next_message="可以，开始实施") == "unknown"


def test_a_yes_to_an_offer_below_an_answer_accepts_the_answer() -> None:
    question = EpisodeTurn("user", "prompt", "Is there an option to try the release without publishing it?")
    shown = EpisodeTurn("assistant", "answer", "Yes: `--snapshot` builds and publishes nothing. Want me to run it?")
    assert derive_outcome((question, shown), "sure").verdict == "worked"
    needs = EpisodeTurn("assistant", "answer", "That depends on the version. Could you share its configuration?")
    assert derive_outcome((question, needs), "sure").verdict == "unknown"
    assert verdict(shown, next_message="sure") == "unknown", "where something was to be done, that is a plan"
    for wish in ("Could you try the release without publishing it?", "Do the release without publishing it"):
        assert derive_outcome((EpisodeTurn("user", "prompt", wish), shown), "sure").verdict == "unknown", (
            "it is a request"
        )
    look = EpisodeTurn("user", "prompt", "Still the same white box. What is it, and where is it set? Then remove it.")
    assert derive_outcome((look, shown), "proceed").verdict == "unknown", "more is wanted than an answer"


@pytest.mark.parametrize("words", ["b", "y, both"])
def test_a_choice_after_an_edit_accepts_the_edit(words: str) -> None:
    edited = EpisodeTurn(
        "assistant",
        "answer",
        "Updated the header. Next is (a) the menu or (b) the footer?",
        {"tools": ["Edit head.tsx"]},
    )
    assert verdict(edited, next_message=words) == "worked"
    intended = EpisodeTurn("assistant", "answer", "Do you mean (a) the menu or (b) the footer?")
    assert verdict(intended, next_message=words) == "unknown", "nothing is done yet"


@pytest.mark.parametrize(
    "words",
    [
        "다시해줘.",
        "もう一度お願いします",
        "请重新生成",
        "请重做菜单",
        "请再试一次",
        "faça de novo",
        "faça o menu novamente",
        "hazlo otra vez",
        "haz el menú de nuevo",
        "fais le menu encore une fois",
        "peux-tu refaire le menu",
        "bitte noch mal",
        "Erstelle das Menü erneut",
        "сделай меню заново",
        "можешь переделать меню",
        "зроби меню заново",
        "tolong ulangi menunya",
    ],
)
def test_a_request_to_redo_accepts_nothing(words: str) -> None:
    assert verdict(MADE, next_message=words) != "worked"


def test_a_choice_after_a_bare_claim_shows_nothing() -> None:
    shown = EpisodeTurn("assistant", "answer", "Updated the header. Say a for the menu or b for the footer.")
    assert [verdict(shown, next_message=words) for words in ("b", "option 2", "both")] == ["unknown"] * 3


@pytest.mark.parametrize("words", ["a", "1. the menu is red", "first, it flickers", "b, but the header is not updated"])
def test_a_list_of_faults_is_no_choice(words: str) -> None:
    edited = EpisodeTurn(
        "assistant",
        "answer",
        "Updated the header. Next is (a) the menu or (b) the footer?",
        {"tools": ["Edit head.tsx"]},
    )
    assert verdict(edited, next_message=words) != "worked"


@pytest.mark.parametrize(
    "words",
    [
        "add a test for the logout button",
        "Follow the rules in icons.md for the menu",
        "WORK ON ALL OF THIS",
        "reword the title",
        "rephrase the caption",
        "shorten the footer",
        "elaborate on the legend",
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
def test_a_new_request_after_visible_work_accepts_it(words: str) -> None:
    assert verdict(MADE, next_message=words) == "worked"


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
def test_a_statement_after_visible_work_shows_nothing(words: str) -> None:
    assert verdict(MADE, next_message=words) in ("unknown", "failed", "mixed")


def test_an_answer_with_a_question_needs_more_than_a_claim() -> None:
    text = "The icon is in place. Which colour shall the label have?"
    for tool, expected in (("Edit a.tsx", "worked"), ("Read a.tsx", "unknown")):
        asks = EpisodeTurn("assistant", "answer", text, {"tools": (tool,)})
        assert verdict(asks, next_message="Add a label to a.tsx too.") == expected
        assert verdict(asks, next_message="blue") == "unknown", "it answers the question"


def test_a_long_message_without_complaint_accepts_visible_work() -> None:
    at_length = (
        "Two observations from the other page: its label is grey, and the menu below it opens to the left on a phone."
    )
    assert verdict(MADE, next_message=at_length) == "worked"
    assert verdict(MADE, next_message=at_length[:60]) == "unknown", "a short statement is as often a complaint"
    assert verdict(ANSWER, next_message=at_length) == "unknown", "no work is in sight"
    assert verdict(MADE, next_message=f"But wait. {at_length}") == "unknown"
    assert verdict(MADE, next_message=f"{at_length} Fix that.") == "unknown"
    greek = (
        "Σου δίνω το στιγμιότυπο της οθόνης για να καταλάβεις πως έχεις κάνει πολλά πράγματα, θα τα δούμε ένα ένα τώρα."
    )
    assert verdict(MADE, next_message=greek) == "unknown", "its words against the work would not be known"
    assert verdict(MADE, RED, next_message=at_length) != "worked"


@pytest.mark.parametrize(
    "words",
    [
        "Let's continue debugging the button. Currently it shows, but a click on it does nothing.",
        "Right now the icon is drawn twice, I just want one",
        "now all buttons are at the bottom",
        "there should be 5 items, I count 3",
        "it should be on the left side",
        "Make it actually work",
    ],
)
def test_a_correction_does_not_accept_the_work(words: str) -> None:
    assert derive_outcome((REQUEST, MADE), words).verdict in ("failed", "unknown")


def test_conditions_are_no_faults_and_go_on_is_no_yes() -> None:
    assert derive_outcome((REQUEST, MADE), "if things don't work we deploy the build of yesterday").verdict != "failed"
    looking = EpisodeTurn("assistant", "answer", "Now I need to see where the callback is hooked. Let me look at it:")
    assert (
        derive_outcome((EpisodeTurn("user", "prompt", "why is the bar empty?"), looking), "continue").verdict
        == "unknown"
    )


@pytest.mark.parametrize(
    "words",
    [
        "do that",
        "go ahead and make this change",
    ],
)
def test_a_request_to_apply_the_answer_accepts_it(words: str) -> None:
    user_turn = EpisodeTurn("user", "prompt", "Why does the login test fail?")
    assert derive_outcome((user_turn, ANSWER), words).verdict == "worked"
    assert verdict(ANSWER, next_message=words) == "unknown", "nobody had asked a question"


def test_a_yes_to_a_list_of_choices_shows_nothing() -> None:
    asks = EpisodeTurn("assistant", "answer", "How should I seed it?\n\n- add what is missing\n- make all of it anew")
    assert verdict(asks, next_message="yes do that") == "unknown"


def test_a_y_is_a_yes_only_alone() -> None:
    for words, expected in (("y", "worked"), ("y los archivos de prueba", "unknown")):
        assert (
            derive_outcome((EpisodeTurn("user", "prompt", "Why does the login test fail?"), ANSWER), words).verdict
            == expected
        )


def test_go_ahead_with_an_offer_shows_nothing() -> None:
    offer = EpisodeTurn(
        "assistant", "answer", "I would hash the key with PBKDF2 instead of MD5. Shall I proceed with it?"
    )
    assert verdict(offer, next_message="Ok, proceed.") == "unknown"


def test_feedback_follows_a_trial_command() -> None:
    for trial in ("/run python door.py", "/test pytest -q", "!make"):
        assert verdict(MADE, next_message=trial) == "unknown"
        assert verdict(MADE, next_message=f"{trial}\n/drop door.py\n{NEXT_REQUEST}") == "worked"
        assert verdict(MADE, next_message=f"{trial}\nit still does not work") == "failed"


@pytest.mark.parametrize(
    "wish", ["Go through the app and let me know what you would change.", "Search for problems that you can fix."]
)
def test_deliberately_unchanged_parts_are_not_missing(wish: str) -> None:
    user_turn = EpisodeTurn("user", "prompt", wish)
    read = EpisodeTurn(
        "assistant",
        "answer",
        "I've explored the app and listed two bugs. As requested, I have not made any changes.",
        {"tools": ["Read app.py"]},
    )
    red = EpisodeTurn(
        "tool", "error", "$ npm run lint\nsrc/app.tsx(2799,23): error TS2345: not assignable\nExit code 2"
    )
    assert derive_outcome((user_turn, read)).verdict == "unknown"
    assert derive_outcome((user_turn, red, read)).verdict == "unknown", "what was searched for"


def test_a_late_admission_is_no_failure() -> None:
    shown = EpisodeTurn(
        "assistant", "answer", "The version is 2.1.10.\n\nI can't check your tags; `git tag` lists them."
    )
    assert verdict(shown, next_message="Which one is the latest?") == "unknown"
    gave_up = EpisodeTurn(
        "assistant", "answer", "I can't check your tags; `git tag` lists them.\n\nThe version is 2.1.10."
    )
    assert verdict(gave_up, next_message="Which one is the latest?") == "failed"


def test_declining_unrequested_work_is_no_failure() -> None:
    shown = EpisodeTurn(
        "assistant", "answer", "Your settings deny edits: I am asked each time, and I can't do it automatically."
    )
    assert verdict(shown, next_message="Create a file with a command") == "unknown"


@pytest.mark.parametrize("user_turn", ["مرحبا", "Hello there!", "你好", "thanks a lot", "Bonjour,"])
def test_a_greeting_has_no_outcome(user_turn: str) -> None:
    greeted = EpisodeTurn("user", "prompt", user_turn)
    assert derive_outcome((greeted, MADE)).verdict == derive_outcome((greeted, MADE), NEXT_REQUEST).verdict == "unknown"
    wanted = EpisodeTurn("user", "prompt", f"{user_turn} make the button blue")
    assert derive_outcome((wanted, MADE)).verdict == derive_outcome((wanted, MADE), NEXT_REQUEST).verdict == "worked"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "How long did that take?",
        "now make the logout page",
        "Wie spät ist es?",
        "¿Qué más queda por hacer?",
        "次は何をしますか",
        "Теперь сделай страницу выхода",
        "Peux-tu ajouter une page d'aide ?",
        "接下来做什么？",
        "/clear",
    ],
)
def test_an_edit_without_a_check_or_a_word_about_it_shows_nothing(words: str) -> None:
    edited = EpisodeTurn("assistant", "answer", "The clock is read once now.", {"tools": ("Edit clock.py",)})
    assert verdict(edited, next_message=words) == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "Now use clock.py in the logout test.",
        "Add a test for read_clock",
        "Füge read_clock in die Hilfe ein",
        "ajoute read_clock à la page d'aide",
        "Agrega read_clock al menú",
        "Добавь read_clock в справку",
        "请把 read_clock 写进文档",
    ],
)
def test_a_request_that_names_what_was_made_builds_on_it(words: str) -> None:
    edited = EpisodeTurn("assistant", "answer", "There is a function `read_clock` now.", {"tools": ("Edit clock.py",)})
    assert verdict(edited, next_message=words) == "worked"
    assert verdict(LOOKING, next_message=words) == "unknown", "nothing was made"


@pytest.mark.parametrize(
    "words", ["clock.py is broken", "read_clock throws", "Put read_clock back as it was, clock.py too"]
)
def test_a_complaint_that_names_what_was_made_does_not_build_on_it(words: str) -> None:
    edited = EpisodeTurn("assistant", "answer", "There is a function `read_clock` now.", {"tools": ("Edit clock.py",)})
    assert verdict(edited, next_message=words) != "worked"


def test_a_plan_in_a_file_is_no_work() -> None:
    plan = EpisodeTurn(
        "assistant", "answer", "The plan is written.", {"tools": ("Write /home/ada/.claude/plans/login.md",)}
    )
    assert verdict(plan, next_message="Do the same for login.md") == "unknown"
    made = EpisodeTurn("assistant", "answer", "The plan is written.", {"tools": ("Write docs/plans/login.md",)})
    assert verdict(made, next_message="Do the same for logout.md") == "worked"


def test_a_check_before_the_last_edit_shows_nothing_of_it() -> None:
    tools = ("Edit clock.py", "Bash pytest -q")
    answer = "The clock is read once."
    assert verdict(EpisodeTurn("assistant", "answer", "I start.", {"tools": tools}), GREEN, ANSWER) == "worked"
    later = EpisodeTurn("assistant", "answer", answer, {"tools": ("Edit app.py",)})
    assert verdict(EpisodeTurn("assistant", "answer", "I start.", {"tools": tools}), GREEN, later) == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "oui",
        "Sí, dale.",
        "ja",
        "sim",
        "да",
        "2",
        "Option 1 of course",
        "commit and push",
        "faça o commit e push",
        "Implement the plan.",
    ],
)
def test_a_yes_to_finished_work_accepts_it(words: str) -> None:
    edited = EpisodeTurn("assistant", "answer", "The header is updated. Shall I go on?", {"tools": ["Edit head.tsx"]})
    assert verdict(edited, next_message=words) == "worked"


def test_a_yes_to_a_long_answer_accepts_it_though_nothing_was_changed() -> None:
    review = EpisodeTurn("assistant", "answer", "The cache is never cleared, so that old prices stay. " * 10)
    assert verdict(review, next_message="yes") == "worked"


def test_a_complaint_after_a_commit_is_about_what_was_committed() -> None:
    asked = EpisodeTurn("user", "prompt", "commit and push")
    pushed = EpisodeTurn("assistant", "answer", "Pushed to main.", {"tools": ["Bash git push"]})
    assert derive_outcome((asked, pushed), "The products still do not load.").verdict == "worked"
    assert derive_outcome((asked, pushed), "The push did not work.").verdict != "worked"


@pytest.mark.parametrize(
    "words",
    ["Lo sigo viendo.", "no me gusta el approach", "immer noch derselbe Fehler", "ça ne marche pas", "ainda não aparece", "до сих пор падает",
     "还是不行", "まだ動かない", "여전히 안 돼요"],
)  # fmt: skip
def test_a_complaint_in_any_language_is_read(words: str) -> None:
    edited = EpisodeTurn("assistant", "answer", "The header is updated.", {"tools": ["Edit head.tsx"]})
    assert verdict(edited, next_message=words) == "failed"
