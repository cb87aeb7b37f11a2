"""Each test is one kind of mistake that the rules made on histories that nobody here had read."""

from __future__ import annotations

import pytest
from one_episode import ANSWER, DONE, GREEN, LOOKING, RED, REQUEST, verdict

from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome
from pastchats_memory.episodes.outcome.reply import Reply

EDITED = EpisodeTurn("assistant", "answer", "The clock is read once now.", {"tools": ("Edit src/clock.py",)})


def asked(words: str, next_message: str, answer: EpisodeTurn = ANSWER) -> str:
    return derive_outcome((EpisodeTurn("user", "prompt", words), answer), next_message).verdict


@pytest.mark.parametrize(
    "words",
    ["yes to all", "go ahead with all of them", "proceed with the next step", "continue with all of it", "ok, go on"],
)
def test_consent_that_is_given_twice_is_no_repeated_request(words: str) -> None:
    assert asked(words, words) != "failed"


def test_commands_are_compared_by_their_arguments() -> None:
    assert asked("/implement phase 2 of the plan", "/implement phase 3 of the plan") != "failed"
    assert asked("/publish", "/publish") != "failed"
    assert asked("/fix the login test on Monday", "/fix the login test on Monday") == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "The invoice mailer in billing/mailer.rb fails with strange numbers since yesterday, customers called twice already.",
        "Der Drucker im Lager druckt seit gestern falsche Etiketten in labels.rb, und niemand weiß warum das so ist.",
    ],
)
def test_a_complaint_about_another_thing_changes_nothing(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "unknown"


@pytest.mark.parametrize(
    "words", ["it fails", "That is wrong.", "No.", "nein, falsch", "不对", "違います", "The login test still fails"]
)
def test_a_complaint_about_the_last_work_needs_no_name(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "failed"


def test_a_refusal_counts_whatever_it_names() -> None:
    words = (
        "Deployed to staging. I stopped the fake receiver for ten minutes, and it fell over at once. Look at its log."
    )
    assert verdict(EDITED, next_message=words) == "failed"


def test_a_pasted_error_that_names_a_changed_file_outweighs_a_green_test() -> None:
    error = "Traceback (most recent call last):\n  File \"src/clock.py\", line 3, in read\nKeyError: 'hour'"
    assert verdict(EDITED, GREEN, DONE, next_message=error) == "failed"
    other = EpisodeTurn("user", "prompt", "TypeError: the clock has no attribute called minute\nMend it.")
    assert derive_outcome((other, EDITED, GREEN, DONE), error).verdict == "mixed"
    elsewhere = error.replace("clock.py", "mailer.py")
    assert verdict(EDITED, GREEN, DONE, next_message=elsewhere) != "worked"


@pytest.mark.parametrize(
    "words",
    [
        "The list is fixed, but the total is missing.",
        "Der Login klappt, aber die Abmeldung nicht.",
        "La liste marche, mais le total manque.",
        "La lista funciona, pero falta el total.",
        "A lista funcionou, mas falta o total.",
        "Список работает, но итога нет.",
        "列表可以了，但总数没有显示",
        "リストは動きましたが、合計がありません",
    ],
)
def test_praise_of_a_part_means_mixed(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "mixed"


def test_a_pasted_log_of_a_run_that_worked_is_no_error() -> None:
    log = "$ make\nError: retrying the download of the list\nBuild succeeded\n12 passed in 0.81s"
    assert verdict(EDITED, next_message=log) != "failed"


def test_a_tool_that_was_refused_without_words_means_stopped() -> None:
    refused = EpisodeTurn("tool", "result", "$ pytest -q\nRefused by the user.")
    assert verdict(LOOKING, refused) == "stopped"
    assert verdict(LOOKING, refused, next_message="Look at the calendar first.") == "stopped"
    plan = EpisodeTurn("tool", "result", "ExitPlanMode\nRefused by the user.")
    assert verdict(LOOKING, plan, next_message="Look at the calendar first.") == "unknown"


@pytest.mark.parametrize("text", ["No response requested.", "(no content)"])
def test_a_stand_in_for_an_answer_is_no_answer(text: str) -> None:
    stand_in = EpisodeTurn("assistant", "answer", text)
    assert derive_outcome((REQUEST, stand_in), "How do I install `pip`?").verdict == "unknown"
    assert verdict(GREEN, ANSWER, stand_in) == "worked"


def test_a_check_that_the_machine_did_not_let_run_says_nothing() -> None:
    denied = EpisodeTurn("tool", "error", "$ go test ./...\ngo: download go1.25.3: mkdir /home/a/go: permission denied")
    red = EpisodeTurn("tool", "error", "$ pytest\nE  PermissionError: permission denied\n1 failed, 3 passed in 0.2s")
    assert verdict(EDITED, denied, DONE) == "unknown"
    assert verdict(EDITED, red) == "failed"


def read_reply(words: str, complaint: float, *turns: EpisodeTurn) -> str:
    reply = Reply("rejects", complaint, complaint)
    return derive_outcome((REQUEST, *turns), words, reply=reply).verdict


@pytest.mark.parametrize(
    "words",
    [
        "i dont see any policies there",
        "I can't open the settings page",
        "it didnt change the names in the letter",
        "The error persists",
        "no me deja elegir la moneda",
        "ese botón no está funcionando",
        "a página não está carregando",
        "je ne vois pas le bouton",
        "der Knopf wird nicht angezeigt",
        "non si apre la finestra",
        "furt nic",
        "кнопка не появляется",
        "还是 404",
        "没有看到窗口",
        "ボタンが表示されない",
        "버튼이 보이지 않아요",
        "düğme görünmüyor",
    ],
)
def test_a_result_that_the_user_cannot_see_has_failed(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "i got this error when i opened the page",
        "error on terraform plan",
        "the page shows a 500",
        "me sale este error al guardar",
        "está dando erro no login",
        "j'ai encore une erreur",
        "ich bekomme einen Fehler",
        "программа выдаёт ошибку",
        "npm run build失败，请看",
        "エラーが出ます",
        "에러가 나요",
    ],
)
def test_an_error_that_the_user_meets_speaks_against_the_work(words: str) -> None:
    assert verdict(EDITED, next_message=words) in ("failed", "mixed")
    assert verdict(ANSWER, next_message=words) == "failed"


@pytest.mark.parametrize("words", ["what the hell is this", "this looks like shit", "the layout is horrible"])
def test_anger_is_an_objection(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "mixed"


def test_a_complaint_that_the_model_finds_likely_is_an_objection_to_visible_work() -> None:
    words = "the arrows of the flaky login test point into a corner"
    assert read_reply(words, 0.72, EDITED) == "mixed"
    assert read_reply(words, 0.3, EDITED) == "unknown"
    assert read_reply(words, 0.72, ANSWER) == "unknown"
    assert read_reply(f"{words}?", 0.72, EDITED) == "unknown"
    assert read_reply("the mailer of the shop prints labels in the warehouse upside down", 0.9, EDITED) == "unknown"


def test_a_next_request_that_the_model_doubts_does_not_confirm_the_work() -> None:
    words = "Make the clock.py of the menu visible in dark mode."
    assert read_reply(words, 0.1, EDITED) == "worked"
    assert read_reply(words, 0.6, EDITED) == "unknown"


@pytest.mark.parametrize(
    "answer",
    [
        "I didn't finish the change yet, the chart is still to be done.",
        "The agent has refused to write the scanner.",
        "No, no logré completar el push.",
        "Não consegui abrir o arquivo.",
        "Je n'ai pas pu lancer le serveur.",
        "Non sono riuscito a leggere il file.",
        "Не удалось запустить сервер.",
        "我无法打开这个文件。",
        "申し訳ありません。現状ではプッシュできません。",
        "서버를 시작할 수 없습니다.",
    ],
)
def test_an_answer_that_admits_failure_has_failed(answer: str) -> None:
    assert verdict(EpisodeTurn("assistant", "answer", answer)) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "Write a failing test for the rounding bug first.",
        "Add a test that fails because of the rounding.",
        "Red phase: tests for the rounding, nothing else.",
        "Schreib zuerst einen Test, der fehlschlägt.",
        "Escribe primero una prueba que falle.",
        "先写一个失败的测试",
    ],
)
def test_a_test_that_was_asked_to_fail_is_no_failure(words: str) -> None:
    turns = (EpisodeTurn("user", "prompt", words), EDITED, RED, EpisodeTurn("assistant", "answer", "The test fails."))
    assert derive_outcome(turns).verdict != "failed"
    fix = EpisodeTurn("user", "prompt", "Fix the failing test.")
    assert derive_outcome((fix, *turns[1:])).verdict == "failed"


def test_a_command_that_the_user_mistyped_is_no_failure_of_the_work() -> None:
    typed = EpisodeTurn("user", "command", "! gti status")
    unknown = EpisodeTurn("tool", "error", "$ gti status\nExit code 127\nbash: gti: command not found")
    explained = EpisodeTurn("assistant", "answer", "There is no such command. Did you mean git?")
    assert derive_outcome((typed, unknown)).verdict == "unknown"
    assert derive_outcome((typed, unknown, explained)).verdict == "unknown"
    run = EpisodeTurn("assistant", "answer", "Let me look.", {"tools": ("Bash gti status",)})
    assert verdict(run, unknown) == "stopped"


def test_a_tool_that_fails_after_the_work_was_done_is_no_failure() -> None:
    cleaning = EpisodeTurn("assistant", "answer", "Cleaning up.", {"tools": ("Bash rm /tmp/probe",)})
    failed = EpisodeTurn("tool", "error", "$ rm /tmp/probe\nExit code 1\nrm: cannot remove: no such file")
    explained = EpisodeTurn("assistant", "answer", "The clock is read once. The cleanup failed, which does not matter.")
    assert verdict(EDITED, cleaning, failed, explained) == "failed"
    assert verdict(EDITED, GREEN, cleaning, failed, explained) != "failed"
    assert verdict(EDITED, GREEN, cleaning, failed) != "failed"


def test_a_rest_in_the_product_is_no_remaining_work() -> None:
    for line in (
        "Remaining items in the cart: 3",
        "**Remaining time** is shown in minutes.",
        "- Remaining budget: 300 EUR",
    ):
        shown = EpisodeTurn("assistant", "answer", f"The page shows:\n\n{line}", {"tools": ("Edit shop.py",)})
        assert verdict(shown) == "unknown"
    left = EpisodeTurn(
        "assistant", "answer", "Two are done.\n\nRemaining issues:\n- the parser", {"tools": ("Edit a.py",)}
    )
    assert verdict(left) == "mixed"


def test_a_long_template_that_is_sent_again_is_no_repeated_request() -> None:
    steps = " ".join(f"Step {number}: write down the value of sensor {number}." for number in range(30))
    assert asked(f"# Nightly check\n\n{steps}", f"# Nightly check\n\n{steps}") != "failed"
    assert asked(f"{steps} Ticket: K-1", f"{steps} Ticket: K-2") != "failed"
    words = "@security-agent Create the havoc mode workflow in strict accordance with the rules."
    assert asked(words, words.replace("havoc", "security")) != "failed"


def test_an_error_after_a_request_about_another_error_means_mixed() -> None:
    request = EpisodeTurn("user", "prompt", "GET /api/items 400 (Bad Request)\nThe items do not load.")
    error = "Error: Route items.ts used params.id before it was awaited"
    answer = EpisodeTurn("assistant", "answer", "The page size is 100 now.", {"tools": ("Edit items.ts",)})
    assert derive_outcome((request, answer), error).verdict == "mixed"


def test_an_earlier_commit_is_no_commit_of_this_work() -> None:
    answer = EpisodeTurn("assistant", "answer", "The readme was committed in the previous commit (fe6d2cc).")
    assert verdict(answer) == "unknown"
