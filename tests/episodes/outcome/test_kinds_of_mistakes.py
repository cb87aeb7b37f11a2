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
    stopped = EpisodeTurn("assistant", "answer", "Let me look.", {"flags": ("interrupted",)})
    assert verdict(stopped, refused, next_message="Look at the calendar first.") == "stopped"
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


def test_an_edit_that_is_refused_again_and_again_has_failed() -> None:
    refused = EpisodeTurn("tool", "error", "The patch does not apply.\n# 1 block of boiler.py did not match")
    ended = EpisodeTurn("tool", "error", "Only 3 reflections allowed, stopping.")
    assert verdict(LOOKING, refused) == "stopped"
    assert verdict(LOOKING, refused, LOOKING, refused, ended) == "failed"
    assert verdict(LOOKING, refused, LOOKING, refused, EDITED) == "unknown"


@pytest.mark.parametrize(
    "words", ["Which vase do you mean?\n\nI'm in planning mode, so I won't write files yet. Which colour?"]
)
def test_an_agent_that_waits_for_an_answer_has_admitted_no_failure(words: str) -> None:
    assert verdict(EDITED, EpisodeTurn("assistant", "answer", words), next_message="blue, please") == "unknown"


def test_a_complaint_about_work_whose_check_is_red_means_failed() -> None:
    built = EpisodeTurn("assistant", "answer", "Built and pushed!", {"tools": ("Edit clock.py", "Bash git push")})
    words = "I'm getting an error when I open it"
    assert verdict(RED, EDITED, built, next_message=words) == "failed"
    assert verdict(GREEN, EDITED, built, next_message=words) == "mixed"


def test_words_that_answer_a_question_praise_no_half() -> None:
    question = EpisodeTurn("assistant", "answer", "The ports are separate. Do you prefer React or Vue?")
    assert verdict(EDITED, question, next_message="React looks good, but only since everybody knows it.") == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "Last thing, deleting a lamp doesn't work.",
        "The only issue: the lamp is missing",
        "Great, one last problem: the total is still missing.",
        "Letztes Problem: die Lampe geht nicht.",
        "Última cosa, no funciona el botón.",
        "Осталось только одно: кнопка не работает.",
        "最后一个问题：按钮没反应",
    ],
)
def test_the_last_thing_that_is_wrong_means_mixed(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "mixed"


def test_a_document_breaks_no_program() -> None:
    request = EpisodeTurn("user", "prompt", "write a readme for the kiln")
    written = EpisodeTurn("assistant", "answer", "It covers setup and `fire`.", {"tools": ("Write README.md",)})
    words = "I'm getting an exception when I call the register command of the shop: KeyError: 'id' in shop/register.py"
    assert derive_outcome((request, written), words).verdict == "unknown"
    assert derive_outcome((request, written), "There are errors in the readme").verdict == "mixed"


def test_a_fault_of_something_that_the_episode_does_not_name_changes_nothing() -> None:
    assert verdict(EDITED, next_message="why is the background image not working") == "unknown"
    assert verdict(EDITED, next_message="why is the login test not working") == "failed"


def test_an_answer_to_a_question_of_fact_cannot_fail_to_work() -> None:
    answer = EpisodeTurn("assistant", "answer", "Only the folder `kiln`.")
    words = "the oven starts, however the mod is not working and does not show up in the list"
    assert asked("Should I copy the repository, or only the folder?", words, answer) == "unknown"
    assert asked("Should I copy the repository, or only the folder?", "No, that is wrong.", answer) == "failed"
    assert asked("How do I copy the folder?", "it doesn't work", answer) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "好的！现在我来推送到仓库。",
        "接下来让我检查测试",
        "では、テストを実行してみます。",
        "Let me push it.",
        "Tracing the login to find why it fails.",
        "I found the log. Next I'm exporting it for the page.",
    ],
)
def test_a_session_that_ends_with_an_announcement_was_stopped(words: str) -> None:
    announced = EpisodeTurn("assistant", "answer", words, {"tools": ("Bash git push origin main",)})
    assert verdict(EDITED, announced) == "stopped"


@pytest.mark.parametrize(
    "words", ["Nothing to push.", "Logging is on again.", "Pushing works, I'm leaving it at that."]
)
def test_a_report_at_the_end_announces_nothing(words: str) -> None:
    assert verdict(EDITED, EpisodeTurn("assistant", "answer", words, {"tools": ("Bash git status",)})) != "stopped"


def test_a_yes_to_a_request_for_a_decision_shows_nothing() -> None:
    text = "I can fire the kiln at once, or dry it first. " * 10
    asking = EpisodeTurn("assistant", "answer", f"{text}Once you confirm, I'll run it.")
    assert verdict(asking, next_message="yes") == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "alright, that fixed it. now remove the prints",
        "The bug has been resolved. Tidy up, please.",
        "its just super beautiful, I will host it on my box",
        "The schedule matches my idea. Keep track of it.",
        "Please mark task 5.5 as done.",
        "A week without a crash.",
        "Geht jetzt!",
        "ça marche, la suite maintenant",
        "Listo. Ahora el otro",
        "deu certo",
        "готово, что дальше?",
    ],
)
def test_a_confirmation_needs_no_thanks(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "worked"


@pytest.mark.parametrize(
    "words", ["sí dale", "so 1) a 2) b 3) c", "I agree with your suggestions. Put them in glaze.py"]
)
def test_a_yes_to_a_long_answer_approves_it(words: str) -> None:
    text = "There are three glazes, of which the second is the safest for food. " * 8
    assert verdict(EpisodeTurn("assistant", "answer", f"{text}Which one?"), next_message=words) == "worked"


def test_a_plan_that_the_user_has_carried_out_worked() -> None:
    plan = EpisodeTurn("assistant", "plan", "1. Dry the kiln.\n2. Fire it.")
    words = "PLEASE IMPLEMENT THIS PLAN:\n## Dry the kiln\nDo not skip the second step."
    assert verdict(plan, next_message=words) == "worked"
    assert verdict(plan, next_message="go ahead and implement this") == "worked"
    assert verdict(plan, next_message="Which step is the longest?") == "unknown"


@pytest.mark.parametrize(
    "line",
    [
        '[plugin:vite:import] Failed to resolve import "kiln" from "src/clock.py"',
        "src/clock.py:120:3: undefined: err",
        "2025-06-12 14:53:53.046 [main] ERROR o.k.Clock - clock.py has no hour",
    ],
)
def test_a_pasted_line_of_a_compiler_or_a_log_is_an_error(line: str) -> None:
    assert verdict(EDITED, next_message=line) == "failed"


def test_a_sure_complaint_is_no_answer_to_a_question() -> None:
    question = EpisodeTurn("assistant", "answer", "Drawn in blue. How does the flaky login test look?")
    words = "The login test lost the colour and cannot even store the flaky lamp"
    assert read_reply(words, 0.85, EDITED, question) == "mixed"
    assert read_reply(words, 0.5, EDITED, question) == "unknown"


def test_a_commit_that_was_asked_for_stands_whatever_comes_next() -> None:
    pushed = EpisodeTurn("assistant", "answer", "I committed and pushed the changes to the `main` branch.")
    words = "# Task\nThe rows push off the right edge and break the kiln view."
    assert asked("commit and push", words, pushed) == "worked"
    assert asked("commit and push", "Did you push it??", pushed) != "worked"


@pytest.mark.parametrize(
    "words",
    [
        "this fix is not good, I will drop it. Try a larger page instead.",
        "Your statement is not correct: the list is empty.",
        "no i meant the whole test in Turkish",
        "Nein, ich meinte den anderen Test",
        "No, me refería al otro test",
        "指的是说开始的画面",
    ],
)
def test_a_correction_of_what_the_agent_understood_means_failed(words: str) -> None:
    assert verdict(GREEN, EDITED, next_message=words) == "failed"


def test_a_long_message_in_which_the_model_reads_a_complaint_confirms_no_check() -> None:
    words = (
        "My own plan for the login test is that you and I look at the left half of it, since it is the one that we see"
    )
    assert read_reply(words, 0.1, EDITED, GREEN) == "worked"
    assert read_reply(words, 0.6, EDITED, GREEN) == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "The bug is back.",
        "the error came back",
        "It is back again.",
        "The crash has returned.",
        "Der Fehler ist wieder da.",
        "El error ha vuelto.",
        "Le bug est revenu.",
        "Ошибка вернулась.",
        "That was the wrong fix",
        "wrong approach",
        "That's not the right fix",
        "Das war die falsche Lösung.",
    ],
)
def test_a_problem_that_is_back_and_a_wrong_fix_mean_failed(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "failed"


@pytest.mark.parametrize("words", ["The error is back to front in the log, rename it.", "The old menu is back, great!"])
def test_something_else_that_is_back_is_no_failure(words: str) -> None:
    assert verdict(EDITED, next_message=words) != "failed"


def test_a_typographic_apostrophe_is_an_apostrophe() -> None:
    for mark in "'’":
        announced = EpisodeTurn("assistant", "answer", f"The kiln is cold. Let{mark}s look into the clock now.")
        assert verdict(announced) == "stopped"


def test_a_step_that_was_cancelled_at_the_end_was_stopped() -> None:
    words = "I look at the clock, and then at the calendar.\n\nCancelled"
    cancelled = EpisodeTurn("assistant", "answer", words, {"tools": ("Edit clock.py",)})
    assert verdict(cancelled) == "stopped"
    assert verdict(cancelled, next_message="continue") == "stopped"
    assert verdict(cancelled, next_message="it doesn't work") == "failed"


def test_an_offer_that_the_user_repeats_is_accepted() -> None:
    offer = "The ports agree. " * 30 + "If you want, I can add a **single constant** for the port of the clock."
    answer = EpisodeTurn("assistant", "answer", offer, {"tools": ("Edit clock.py",)})
    assert verdict(answer, next_message="add a single constant for the port of the clock.") == "worked"
    assert verdict(answer, next_message="add a single constant for the time of the moon.") != "worked"


def test_a_usage_limit_of_any_span_stops_the_work() -> None:
    for span in ("Usage", "Session", "Weekly", "5-hour"):
        limit = EpisodeTurn("assistant", "answer", f"{span} limit reached - resets 1pm")
        assert verdict(EDITED, limit) == "stopped"


@pytest.mark.parametrize(
    "words",
    [
        "عالی",
        "ممنون",
        "شكرا",
        "Tack!",
        "bedankt",
        "dziękuję",
        "teşekkürler",
        "cảm ơn",
        "terima kasih",
        "감사합니다",
        "дякую",
        "非常好，现在看注销",
        "完璧です。",
    ],
)
def test_praise_is_read_in_many_languages(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "worked"


def test_a_word_that_picks_the_next_work_shows_nothing_of_this_one() -> None:
    question = EpisodeTurn("assistant", "answer", f"{'The statusline is set up. ' * 30}Deploy or mend the rest?")
    reply = Reply("agrees", 0.9, 0.05, 0.9)
    assert derive_outcome((REQUEST, question), "prefer mending", reply=reply).verdict == "unknown"


def test_a_result_that_is_not_quite_meant_is_refused() -> None:
    assert verdict(EDITED, next_message="That's not quite what I meant. The other one.") == "failed"


@pytest.mark.parametrize(
    "words", ["no postgres, we have only sqlite on the kiln box", "the lamp has no network, that cannot work"]
)
def test_a_call_that_is_refused_with_a_reason_has_failed(words: str) -> None:
    refused = EpisodeTurn("tool", "result", "$ apt install postgresql\nRefused by the user.")
    assert verdict(LOOKING, refused, next_message=words) == "failed"
    assert verdict(LOOKING, refused, next_message="go ahead") != "failed"
    assert verdict(LOOKING, refused, DONE, GREEN) == "worked"
