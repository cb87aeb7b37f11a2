"""Each rule finds its evidence, and the stronger of two rules decides."""

from __future__ import annotations

import subprocess
import sys

import pytest
from one_episode import ANSWER, DONE, GREEN, LOOKING, MADE, NEXT_REQUEST, RED, REQUEST, verdict

from pastchats_memory.episodes.outcome import EpisodeTurn, QuotedLine, RuleOutcome, derive_outcome


def test_an_answer_that_nothing_follows_is_unknown() -> None:
    assert derive_outcome((REQUEST, ANSWER)) == RuleOutcome("unknown", 0.0)


@pytest.mark.parametrize(
    ("next_message", "listed"),
    [
        ("And the pizza?\n\nWhere is that?", "And the pizza? Where is that?"),
        ("/clear\nWhere is the calendar?", "Where is the calendar?"),
        ("/clear", None),
        ("/ask why is it blue?", "/ask why is it blue?"),
        ("[Request interrupted by user for tool use]", None),
        (f"Where is it? {'On. ' * 60}", f"Where is it? {'On. ' * 55}On.…"),
    ],
    ids=[
        "on one line",
        "without commands to the client",
        "commands alone",
        "a question to its model",
        "a notice",
        "its beginning",
    ],
)
def test_an_unknown_outcome_quotes_the_next_message(next_message: str, listed: str | None) -> None:
    ended = derive_outcome((EpisodeTurn("user", "prompt", "Is the clock fixed?"), ANSWER), next_message)
    assert ended == RuleOutcome("unknown", 0.0, () if listed is None else (QuotedLine(listed, 2),))


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Nothing has been pushed to it.", "unknown"),
        ("Once the migration is applied, the column is there.", "unknown"),
        ("The test is not fixed.", "unknown"),
        ("I'll get this fixed now.", "stopped"),
    ],
)
def test_denials_conditions_and_announcements_are_no_claims(claim: str, expected: str) -> None:
    assert verdict(LOOKING, EpisodeTurn("assistant", "answer", claim)) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("$ pytest -q\n12 passed in 0.81s", "worked"),
        ("$ go test ./...\n--- FAIL: TestTotal (0.00s)\nFAIL", "failed"),
        ("$ cargo build 2>&1 | tail\nerror[E0382]: borrow of moved value", "failed"),
        ("$ npx tsc --noEmit; echo EXIT=$?\nEXIT=0", "worked"),
        ("$ npx tsc --noEmit\nsrc/a.ts(3,1): error TS2322: Type", "failed"),
        ("$ npm run build\n> shop@1.0.0 build", "worked"),
        ("$ npm run build | tail -1\n> shop@1.0.0 build", "unknown"),
    ],
)
def test_a_check_decides_if_nobody_comments(output: str, expected: str) -> None:
    listed = EpisodeTurn("assistant", "answer", "That is how the test fails or passes in the middle of the night.")
    assert verdict(LOOKING, EpisodeTurn("tool", "result", output), listed) == expected


def test_each_kind_of_check_counts_by_its_last_run() -> None:
    lint = EpisodeTurn("tool", "result", "$ ruff check .\nAll checks passed!")
    listed = EpisodeTurn("assistant", "answer", "The names are in order, and the list is sorted.")
    assert verdict(RED, lint, listed) == "unknown"
    assert verdict(RED, lint, GREEN, listed) == "worked"


def test_an_edit_after_a_red_check_restores_a_claim() -> None:
    edit = EpisodeTurn("assistant", "answer", "Let me mend it.", {"tools": ("Edit app.py",)})
    assert verdict(LOOKING, edit, RED, DONE) == "unknown"
    assert verdict(LOOKING, RED, edit, DONE, next_message=NEXT_REQUEST) == "worked"


def test_the_last_check_beats_earlier_ones() -> None:
    assert verdict(RED, LOOKING, RED, GREEN, ANSWER) == "worked"
    assert verdict(GREEN, LOOKING, RED, ANSWER) == "failed"


def test_a_failing_grep_is_no_check() -> None:
    assert verdict(EpisodeTurn("tool", "error", "$ grep -n todo app.py\nExit code 1"), ANSWER) == "unknown"


@pytest.mark.parametrize(
    "claim", ["Push and re-run, it should work now.", "If this still fails, clear the cache.", "Try running it again."]
)
def test_an_edit_with_an_invitation_to_try_shows_nothing(claim: str) -> None:
    made = EpisodeTurn(
        "assistant", "answer", f"Changed the token in the workflow. {claim}", {"tools": ("Edit release.yml",)}
    )
    assert verdict(made) == "unknown"
    assert (
        verdict(made, GREEN, EpisodeTurn("assistant", "answer", f"Changed the token in the workflow. {claim}"))
        == "worked"
    )
    assert verdict(made, next_message=NEXT_REQUEST) == "worked"


def test_a_claim_with_a_failed_edit_shows_nothing() -> None:
    claim = EpisodeTurn("assistant", "answer", "I've updated the block, it matches now.", {"files": ("app.py",)})
    refused = EpisodeTurn(
        "tool", "error", "The LLM did not conform to the edit format.\n# 1 SEARCH/REPLACE block failed to match!"
    )
    missing = EpisodeTurn(
        "assistant", "answer", "That section does not exist in the file, so there is nothing to replace."
    )
    assert verdict(claim, missing, next_message=NEXT_REQUEST) == "worked"
    assert verdict(claim, refused, missing, next_message=NEXT_REQUEST) == "unknown"


def test_a_line_of_a_check_is_quoted_without_the_bracket_that_was_opened_before_it() -> None:
    lint = EpisodeTurn("tool", "result", "$ npx eslint .\n✖ 4 problems (0 errors, 4 warnings)")
    ended = derive_outcome((REQUEST, MADE, lint, EpisodeTurn("assistant", "answer", "All errors are fixed.")))
    assert ended.evidence[-1].quotation == "0 errors, 4 warnings"


def test_an_error_without_an_answer_at_the_end_means_stopped() -> None:
    assert (
        verdict(LOOKING, EpisodeTurn("tool", "error", "Traceback (most recent call last):\nKeyError: 'x'")) == "stopped"
    )


def test_prose_about_interruptions_is_no_interruption() -> None:
    prose = f"{'The loop runs until the queue is empty. ' * 9}A KeyboardInterrupt ends it."
    assert verdict(EpisodeTurn("assistant", "answer", prose)) == "unknown"
    assert verdict(EpisodeTurn("assistant", "answer", "API Error: 529 overloaded_error")) == "stopped"
    assert (
        verdict(ANSWER, EpisodeTurn("tool", "error", "Traceback (most recent call last):\n^C KeyboardInterrupt"))
        == "stopped"
    )
    assert verdict(ANSWER, EpisodeTurn("tool", "error", "^C again to exit\n\n^C KeyboardInterrupt")) == "unknown"


def test_an_interruption_during_work_means_stopped() -> None:
    flagged = {"flags": ("interrupted",), "tools": ("Read app.py",)}
    assert verdict(LOOKING, EpisodeTurn("assistant", "answer", "Let me read on.", flagged)) == "stopped"
    fixed = {**flagged, "tools": ("Edit app.py", "Read app.py")}
    assert verdict(LOOKING, EpisodeTurn("assistant", "answer", "Fixed both places.", fixed)) == "stopped"
    edits = {**flagged, "tools": ("Edit app.py", "Edit clock.py")}
    cut = EpisodeTurn("assistant", "answer", "The clock comes next, and", edits)
    assert verdict(cut, next_message="Use UTC there.") == "stopped"


def test_stopping_a_complete_answer_is_no_failure() -> None:
    for flag, text, expected in (
        ("interrupted", "The clock is read twice.", "unknown"),
        ("interrupted", "> ===== test session starts =====\n> ===== 4 passed in 0.48s =====", "unknown"),
        ("interrupted", "The clock is read twice, and", "stopped"),
        ("interrupted", "The clock is read twice, so I mend the test:", "stopped"),
        ("api_error", "The clock is read twice.", "stopped"),
    ):
        assert verdict(EpisodeTurn("assistant", "answer", text, {"flags": (flag,)})) == expected, (flag, text)


def test_an_answer_cut_within_a_block_is_incomplete() -> None:
    whole = "app.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```"
    torn = f"{whole}\n\nshop.py\n```python\n<<<<<<< SEARCH\na"
    applied = {"files": ("app.py",)}
    assert verdict(EpisodeTurn("assistant", "answer", whole, applied), next_message=NEXT_REQUEST) == "worked"
    assert verdict(EpisodeTurn("assistant", "answer", torn), next_message="go on") == "stopped"
    assert verdict(EpisodeTurn("assistant", "answer", torn)) == "stopped"
    assert verdict(EpisodeTurn("assistant", "answer", whole, {**applied, "flags": ("interrupted",)})) == "unknown"
    assert verdict(EpisodeTurn("assistant", "answer", torn), next_message="thanks, that was enough") == "worked"
    nested = EpisodeTurn("assistant", "answer", "```md\n```sh\nmake\n```\nTell me if you want the other page as well.")
    assert verdict(nested, next_message="go on") == "unknown", "a fence within a fence, then prose to its end"
    left_out = EpisodeTurn("assistant", "answer", "I write the table of terms.\n\n```markdown:docs/terms.md")
    assert verdict(left_out, next_message="go on") == "unknown", "SpecStory left out what the block held"


def test_a_visible_commit_or_edit_means_worked() -> None:
    renames = EpisodeTurn("assistant", "answer", "Renamed it.", {"tools": ("Bash git commit -am Rename",)})
    assert verdict(renames) == "worked"
    block = "app.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    applied = EpisodeTurn("assistant", "answer", block, {"files": ("app.py",)})
    unmatched = EpisodeTurn("tool", "error", "# 1 block failed to match!")
    assert verdict(EpisodeTurn("assistant", "answer", block)) == "unknown"
    assert verdict(applied) == "unknown"
    assert verdict(applied, next_message="Use app.py in the other test too.") == "worked"
    by_subagent = EpisodeTurn(
        "assistant",
        "answer",
        "Done.\n\n- Commit: `6dec692a`\n- No push performed.",
        {"tools": ("task Commit the work",)},
    )
    assert verdict(by_subagent) == "worked"
    assert verdict(EpisodeTurn("assistant", "answer", block), unmatched) == "stopped"
    assert verdict(EpisodeTurn("assistant", "answer", block, {"commits": ("6dec692",)}), unmatched) != "worked"


def test_an_unanswered_error_outweighs_a_claim() -> None:
    claim = EpisodeTurn(
        "assistant", "answer", "```\n```\n\nI've created the empty file.", {"tools": ("Write logs/a.log",)}
    )
    skipped = EpisodeTurn("tool", "error", "Skipping edits to logs/a.log that matches gitignore spec.")
    assert verdict(LOOKING, claim, next_message="now fill a.log with ten lines") == "worked"
    assert verdict(LOOKING, claim, skipped, next_message="now fill a.log with ten lines") == "unknown"


def test_evidence_has_words() -> None:
    claim = EpisodeTurn("assistant", "answer", "```\n```\n\nCreated the file as you asked.")
    (shown,) = derive_outcome((REQUEST, LOOKING, claim), "谢谢").evidence or ()
    assert shown.quotation == "谢谢"


def test_a_commit_that_the_client_makes_after_each_edit_shows_nothing() -> None:
    asks = "app.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\nPlease confirm if you would like to proceed."
    made = EpisodeTurn("assistant", "answer", asks, {"files": ("app.py",), "commits": ("6dec692",)})
    assert verdict(made, next_message="Add a test for the clock.") == "unknown"
    assert verdict(EpisodeTurn("assistant", "answer", "Renamed it.", {"commits": ("6dec692",)})) == "unknown"


def test_a_claim_counts_only_for_continued_work() -> None:
    assert verdict(DONE, next_message=NEXT_REQUEST) == "worked"
    assert verdict(DONE) == "unknown"
    question = EpisodeTurn("user", "prompt", "Is the clock fixed?")
    assert derive_outcome((question, DONE), "Where is the calendar?").verdict == "unknown"
    assert verdict(LOOKING, DONE) == "unknown"
    assert verdict(LOOKING, DONE, next_message=NEXT_REQUEST) == "worked"
    waits = EpisodeTurn("assistant", "answer", "Fixed the first. Still waiting on the second one.")
    assert verdict(LOOKING, waits, next_message=NEXT_REQUEST) == "unknown"


@pytest.mark.parametrize(
    ("tools", "then", "expected"),
    [
        (("Edit app.py",), (), "unknown"),
        (("apply_patch app.py",), (), "unknown"),
        (("Read app.py",), (), "unknown"),
        (("Bash git commit -m 'Read the clock once'",), (), "worked"),
        (("Bash git push",), (EpisodeTurn("tool", "error", "$ git push\nrejected: non-fast-forward"),), "unknown"),
        (("Bash gh pr create --fill",), (), "worked"),
    ],
)
def test_tool_actions_count_without_a_later_error(
    tools: tuple[str, ...], then: tuple[EpisodeTurn, ...], expected: str
) -> None:
    step = EpisodeTurn("assistant", "answer", "On with it.", {"tools": tools})
    assert verdict(step, *then, EpisodeTurn("assistant", "answer", "The clock is read in one place.")) == expected


def test_an_open_task_leaves_the_outcome_unknown() -> None:
    done, doing = "completed", "in_progress"
    assert derive_outcome((REQUEST, MADE), tasks=(done,)).verdict == "worked"
    assert derive_outcome((REQUEST, MADE), tasks=(done, doing)).verdict == "unknown"
    assert derive_outcome((REQUEST, MADE), NEXT_REQUEST, (done, doing)).verdict == "worked", "the person says so"
    announces = EpisodeTurn(
        "assistant", "answer", "The changelog is there. Next are the notes.", {"tools": ("Edit a.md",)}
    )
    assert verdict(announces) == "stopped"


def test_a_completed_task_is_the_agent_s_own_word() -> None:
    for states in (("completed", "completed"), ("blocked",), ("in_progress",), ("completed", "in_progress")):
        assert derive_outcome((REQUEST, LOOKING, ANSWER), tasks=states).verdict == "unknown"


def test_a_raw_tool_call_leaves_the_answer_incomplete() -> None:
    call = '<function name="Bash">\n<parameter name="command">ls</parameter>\n</function>\n</tool_call>'
    ended = EpisodeTurn("assistant", "answer", f"{DONE.content}\n{call}")
    assert verdict(LOOKING, DONE, next_message=NEXT_REQUEST) == "worked"
    assert verdict(LOOKING, ended, next_message=NEXT_REQUEST) == "unknown"


def test_a_final_red_check_outweighs_claims() -> None:
    claim = EpisodeTurn(
        "assistant",
        "answer",
        "The tests are in place. I run them now.",
        {"tools": ("Write test_login.py", "Bash pytest -q")},
    )
    assert verdict(LOOKING, claim, RED) == "failed"


def test_an_admission_means_failed_and_with_work_mixed() -> None:
    admission = EpisodeTurn("assistant", "answer", "I could not reproduce it.")
    assert verdict(admission) == "failed"
    assert verdict(GREEN, EpisodeTurn("assistant", "answer", "I can't test the upload itself.")) == "mixed"


def test_the_evidence_names_the_line_and_the_turn() -> None:
    (shown,) = derive_outcome((REQUEST, LOOKING, GREEN, ANSWER)).evidence
    assert (shown.quotation, shown.place) == ("12 passed in 0.81s", 2)
    (reported,) = derive_outcome((REQUEST, ANSWER), "Thanks!\nAnd the port?").evidence
    assert (reported.quotation, reported.place) == ("Thanks!", 2)


def test_no_pattern_is_compiled_before_the_first_outcome() -> None:
    code = (
        "import re; made = []; compile_ = re._compiler.compile\n"
        "re._compiler.compile = lambda p, f=0: made.append(p) or compile_(p, f)\n"
        "import pastchats_memory.episodes.outcome as o; loaded = sum(len(p) > 400 for p in made)\n"
        "o.derive_outcome((o.EpisodeTurn('user', 'prompt', 'a'), o.EpisodeTurn('assistant', 'answer', 'b')), 'no')\n"
        "print(loaded, sum(len(p) > 400 for p in made))"
    )
    loaded, after = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    ).stdout.split()
    assert int(loaded) == 0 < int(after)


def test_a_failed_last_command_with_an_obstacle_means_failed() -> None:
    user_turn = EpisodeTurn("user", "prompt", "Deploy it to staging.")
    red = EpisodeTurn("tool", "error", "$ fly deploy\nExit code 1\nError: not enough memory on builder")
    tools = {"tools": ("Write Dockerfile", "Bash fly deploy")}
    hindered = EpisodeTurn("assistant", "answer", "The builder can't get the memory that it needs.", tools)
    found = derive_outcome((user_turn, red, hindered))
    assert (found.verdict, found.evidence[0].quotation) == ("failed", "Error: not enough memory on builder")
    mended = EpisodeTurn("tool", "result", "$ fly deploy\nMachine update succeeded")
    assert derive_outcome((user_turn, red, mended, hindered)).verdict != "failed"
    retried = EpisodeTurn(
        "assistant", "answer", "It can't deploy there.", {"tools": ("Bash fly deploy", "Bash fly deploy -r ams")}
    )
    assert derive_outcome((user_turn, red, retried)).verdict == "unknown"
    question = EpisodeTurn("user", "prompt", "Why does the deploy fail?")
    assert derive_outcome((question, red, hindered)).verdict == "unknown"


def test_a_requested_red_check_is_no_failure() -> None:
    user_turn = EpisodeTurn("user", "prompt", "The login test fails one run in six. Find out why it is flaky.")
    listed = EpisodeTurn(
        "assistant", "answer", "Five of thirty fail: the limiter answers 429 when two workers share a user."
    )
    assert derive_outcome((user_turn, RED, listed)).verdict == "unknown"
    assert derive_outcome((REQUEST, RED, listed)).verdict == "failed"


def test_a_red_check_that_reproduces_a_bug_is_no_failure() -> None:
    listed = EpisodeTurn("user", "prompt", "Since March all high tides are one hour late.")
    found = EpisodeTurn("assistant", "answer", "Reproduced with a test. The importer stores the errors of both clocks.")
    assert derive_outcome((listed, RED, found), "So which side do I fix?").verdict == "unknown"


def test_an_edit_counts_as_after_a_red_check_by_the_order_of_the_calls() -> None:
    listed = "Two tests contradict each other, and I left both as they are."
    before = EpisodeTurn("assistant", "answer", listed, {"tools": ("Edit app.py", "Bash pytest -q")})
    after = EpisodeTurn("assistant", "answer", listed, {"tools": ("Bash pytest -q", "Edit app.py")})
    assert verdict(RED, before) == "failed"
    assert verdict(RED, after, next_message=NEXT_REQUEST) == "worked"


def test_a_refused_push_means_failed() -> None:
    refused = EpisodeTurn("tool", "error", "$ git push\nExit code 1\nerror: failed to push some refs")
    asks = EpisodeTurn("assistant", "answer", "The remote has newer commits.", {"tools": ("Bash git push",)})
    assert derive_outcome((EpisodeTurn("user", "prompt", "push it"), refused, asks)).verdict == "failed"
    assert verdict(refused, asks) == "unknown", "it is not what was asked for"


def test_a_multiline_command_matches_its_joined_call() -> None:
    red = EpisodeTurn("tool", "error", "$ cd app\npytest -q\nExit code 1\n1 failed, 3 passed in 0.10s")
    edited = EpisodeTurn(
        "assistant", "answer", "The parser is done.", {"tools": ("Bash cd app pytest -q", "Edit parser.py")}
    )
    assert verdict(red, edited, next_message=NEXT_REQUEST) == "worked", "the edit came after it"


def test_work_that_the_agent_reverted_does_not_count() -> None:
    for back in ("git checkout -- app.py", "git restore .", "git reset --hard HEAD", "git stash", "git revert HEAD"):
        tools = ("Edit app.py", f"Bash {back}")
        assert verdict(EpisodeTurn("assistant", "answer", "The clock is read once.", {"tools": tools})) == "unknown", (
            back
        )
        again = EpisodeTurn("assistant", "answer", "The clock is read once.", {"tools": (*tools, "Edit clock.py")})
        assert verdict(again, next_message=NEXT_REQUEST) == "worked", "something was done after it"
    for saved in ("git checkout -- package-lock.json", "git commit -m 'Explain git revert in the guide'"):
        assert (
            verdict(
                EpisodeTurn("assistant", "answer", "Done.", {"tools": ("Edit app.py", f"Bash {saved}")}),
                next_message=NEXT_REQUEST,
            )
            == "worked"
        ), saved
    user_turn = EpisodeTurn("user", "prompt", "Revert the clock to what it was in March.")
    done = EpisodeTurn(
        "assistant", "answer", "Done.", {"tools": ("Bash git revert --no-edit 4f1c", "Bash git commit -m clock")}
    )
    assert derive_outcome((user_turn, done)).verdict == "worked"


def test_a_failed_last_command_outweighs_earlier_work() -> None:
    rollout = EpisodeTurn("tool", "error", "$ kubectl rollout status deploy/web\nExit code 1\nerror: timed out waiting")
    edit = {"tools": ("Edit web.yaml", "Bash kubectl rollout status deploy/web")}
    assert verdict(rollout, EpisodeTurn("assistant", "answer", "The worker is created.", edit)) == "unknown"
    looked = {"tools": ("Edit web.yaml", "Bash kubectl rollout status deploy/web", "Bash kubectl get pods")}
    assert verdict(rollout, EpisodeTurn("assistant", "answer", "The worker is created.", looked)) == "unknown"
    mended = {"tools": ("Bash kubectl rollout status deploy/web", "Edit web.yaml")}
    assert (
        verdict(
            rollout, EpisodeTurn("assistant", "answer", "The worker is created.", mended), next_message=NEXT_REQUEST
        )
        == "worked"
    )


def test_a_refused_edit_does_not_count() -> None:
    flags = {"tools": ("Edit app.py",), "flags": ("interrupted",)}
    refused = EpisodeTurn("assistant", "answer", "This touches fourteen files, app.py first.", flags)
    assert verdict(refused, next_message="no. small steps, please") == "failed"


def test_an_error_of_the_service_outweighs_an_earlier_claim() -> None:
    claim = EpisodeTurn("assistant", "answer", "Teammate 2 is complete.", {"tools": ("Task teammate 3",)})
    limit = EpisodeTurn("assistant", "answer", "You’ve hit your session limit · resets 3pm", {"flags": ("api_error",)})
    summary = EpisodeTurn("assistant", "summary", "The session so far: teammates 1 and 2 are complete.")
    nothing = EpisodeTurn("assistant", "answer", "No response requested.")
    for behind in ((), (summary,), (summary, nothing)):
        for words in ("", "continue", "weiter", "Make the login test pass, it is flaky since Monday."):
            assert verdict(claim, limit, *behind, next_message=words) == "stopped", (behind, words)
    flagged = EpisodeTurn("assistant", "summary", "The session so far.", {"flags": ("api_error",)})
    assert verdict(claim, flagged, next_message="continue") == "stopped"


@pytest.mark.parametrize(
    "words", ["no, use UTC there", "That is wrong.", "It still fails.", "revert that", "No, the other file"]
)
def test_an_interruption_with_a_complaint_is_judged_by_the_complaint(words: str) -> None:
    cut = EpisodeTurn("assistant", "answer", "The clock comes next, and", {"flags": ("interrupted",)})
    assert verdict(cut, next_message=words) in ("failed", "unknown"), words


def test_a_session_that_ends_at_work_means_stopped() -> None:
    edit = {"tools": ("Edit app.py",)}
    assert verdict(EpisodeTurn("assistant", "answer", "Let me look at the clock:", edit)) == "stopped"
    assert verdict(EpisodeTurn("assistant", "answer", "Shall I go on?", edit)) != "stopped"
    announced = EpisodeTurn("assistant", "answer", "Now I'll run the linter.", edit)
    assert verdict(announced, next_message="continue") == "stopped"
    assert verdict(announced, next_message="Thanks, that works.") == "worked"


def test_a_plan_that_was_not_approved_is_not_stopped() -> None:
    plan = EpisodeTurn("assistant", "plan", "1. Read the clock once.", {"flags": ("interrupted",)})
    asking = EpisodeTurn(
        "assistant", "answer", "Here is my plan", {"flags": ("interrupted",), "tools": ("ExitPlanMode",)}
    )
    assert verdict(LOOKING, plan) == verdict(LOOKING, asking) == "unknown"


def test_a_command_that_was_interrupted_means_stopped() -> None:
    edited = EpisodeTurn("assistant", "answer", "First the app.", {"tools": ("Edit app.py",)})
    stopped = EpisodeTurn("tool", "error", "$ make serve\n[Request interrupted by user for tool use]")
    failed = EpisodeTurn("tool", "error", "$ make deploy\nExit code 2\nfatal: no such target")
    assert verdict(edited, stopped) == "stopped"
    assert verdict(edited, failed) == "failed"
    assert verdict(stopped) == "stopped"


@pytest.mark.parametrize("prompt", ["Speed up the start.", "hi", "可以"])
@pytest.mark.parametrize("flag", ["interrupted", "api_error"])
def test_a_prompt_that_was_stopped_before_any_answer_means_stopped(prompt: str, flag: str) -> None:
    outcome = derive_outcome((EpisodeTurn("user", "prompt", prompt, {"flags": (flag,)}),))
    assert (outcome.verdict, outcome.signal) == ("stopped", "unanswered")


def test_prompts_and_summaries_alone_have_no_outcome() -> None:
    assert derive_outcome((EpisodeTurn("user", "prompt", "Speed up the start."),)).verdict == "unknown"
    assert derive_outcome((EpisodeTurn("system", "summary", "The start was to be faster."),)).verdict == "unknown"


def test_an_edit_counts_whatever_the_answer_announces() -> None:
    announced = EpisodeTurn(
        "assistant", "answer", "Let me first look at the test.", {"tools": ("Edit test_login.py", "Read")}
    )
    assert verdict(announced, next_message=NEXT_REQUEST) == "worked"
    assert verdict(announced) == "stopped"
    assert (
        verdict(announced, EpisodeTurn("tool", "error", "$ pytest -q\nExit code 2"), next_message=NEXT_REQUEST)
        != "worked"
    )


@pytest.mark.parametrize(
    "what_else",
    [
        "Is there anything else I can help with?",
    ],
)
def test_a_polite_offer_leaves_work_complete(what_else: str) -> None:
    steps = EpisodeTurn("tool", "result", "$ ls\ntest_login.py"), DONE
    polite = EpisodeTurn("assistant", "answer", f"Fixed: the clock is read once. {what_else}")
    open_ = EpisodeTurn("assistant", "answer", "Fixed: the clock is read once. Should the other tests have it too?")
    assert verdict(*steps, polite, next_message=NEXT_REQUEST) == "worked"
    assert verdict(*steps, open_, next_message="Now the menu.") == "unknown"


def test_a_proposed_push_shows_nothing() -> None:
    proposed = EpisodeTurn("assistant", "answer", "Push it:\n\n```bash\ngit push\n```", {"tools": ["shell git push"]})
    assert verdict(proposed) == "unknown"
    assert verdict(EpisodeTurn("assistant", "answer", "It is pushed.", {"tools": ["shell git push"]})) == "worked"


def test_an_edit_by_the_client_clears_an_earlier_red_check() -> None:
    lint = EpisodeTurn("tool", "error", "$ aider --lint\ndoor.py:2: SyntaxError: unmatched ')'")
    mended = EpisodeTurn(
        "assistant", "answer", 'I close it.\n\n```python\nprint("failed")\n```', {"files": ["door.py"]}
    )
    assert verdict(MADE, lint, mended, next_message=NEXT_REQUEST) == "worked"
    assert verdict(MADE, lint, mended, lint) == "failed"
    command = EpisodeTurn("tool", "error", "$ pip install door\nno such package")
    hindered = EpisodeTurn("assistant", "answer", "It cannot be installed, so I wrote it.", {"files": ["door.py"]})
    assert verdict(command, hindered) != "failed"
