import csv

import pytest
from golden import FIXTURES, shared, turns

from pastchats_memory.formats.agents import aider
from pastchats_memory.formats.agents.aider import AIDER
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.ingest.discover import discover_files

CHAT = """
# aider chat started at 2026-02-02 10:00:00

#### Which cable?~~

Red.

> Tokens: 2k sent, 1 received.~~

#### Which cable?~~

Still red.

#### /ask and why?~~
""".replace("~", " ")
TYPED = """
# 2026-02-02 10:01:30.25
+Which cable?

# 2026-02-02 10:17:00
+Which cable?

# 2026-02-02 10:20:59.5
+/ask and why?

# 2026-02-02 11:00:00
+Never sent
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / aider.CHAT).write_text(CHAT, encoding="utf-8")
    (tmp_path / aider.INPUT).write_text(TYPED, encoding="utf-8")
    return tmp_path


def test_prompts_have_the_times_of_the_input_history_beside_them(folder):
    messages = [(turn.content, turn.timestamp[11:16]) for turn in turns(AIDER, folder / aider.CHAT)]
    assert messages == [
        ("Which cable?", "10:01"),
        ("Red.", "10:01"),
        ("Which cable?", "10:17"),
        ("Still red.", "10:17"),
        ("and why?", "10:20"),
    ]


def test_an_input_history_tells_only_the_prompts_that_the_chat_history_lacks(folder):
    assert [turn.content for turn in turns(AIDER, folder / aider.INPUT)] == ["Never sent"]
    (folder / aider.CHAT).unlink()
    assert len(turns(AIDER, folder / aider.INPUT)) == 4


def test_an_input_history_leaves_out_answers_to_questions_of_aider(folder):
    (folder / aider.CHAT).unlink()
    typed = "".join(
        f"\n# 2026-02-02 11:0{place}:00.1\n+{text}\n" for place, text in enumerate(("y", "Yes", "no", "d", "all ok"))
    )
    (folder / aider.INPUT).write_text(typed, encoding="utf-8")
    assert [turn.content for turn in turns(AIDER, folder / aider.INPUT)] == ["all ok"]


def test_a_chat_history_beside_something_that_is_no_text_is_read_all_the_same(folder):
    (folder / aider.INPUT).write_bytes(bytes(range(256)) * 64)
    assert [turn.timestamp[11:16] for turn in turns(AIDER, folder / aider.CHAT)] == ["10:00"] * 5


def test_a_session_keeps_its_id_when_it_grows_and_moves(folder, tmp_path_factory):
    before = {turn.conversation_id for turn in turns(AIDER, folder / aider.CHAT)}
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "kept.md"
    elsewhere.write_text(CHAT + "\nBecause it is the hot one.\n", encoding="utf-8")
    assert {turn.conversation_id for turn in turns(AIDER, elsewhere)} == before
    assert len(before) == 1


def test_both_histories_are_found_below_a_folder(folder):
    assert {candidate.path.name for candidate in discover_files([folder])[0]} == {aider.CHAT, aider.INPUT}
    assert {detect_format(SourceFile(path)) for path in folder.iterdir()} == {AIDER}


def test_a_history_of_another_shell_is_not_taken(tmp_path):
    path = tmp_path / "zsh.history"
    path.write_text("# 2026-02-02 10:01:30\nls\n", encoding="utf-8")
    assert not AIDER.detect(SourceFile(path))


def test_line_ends_that_were_trimmed_cost_nothing_but_the_two_blanks(tmp_path):
    path = tmp_path / "trimmed.md"
    for marked in (FIXTURES / "aider").glob("aider-q[2356789]-*.md"):
        text = marked.read_text(encoding="utf-8")
        path.write_text("\n".join(line.rstrip() for line in text.split("\n")), encoding="utf-8")
        assert [turn.content for turn in turns(AIDER, path)] == [turn.content for turn in turns(AIDER, marked)]


def test_a_notice_whose_blanks_were_cut_is_none_the_less_one_below_another(tmp_path):
    path = tmp_path / aider.CHAT
    first = "# aider chat started at 2026-02-02 10:00:00\n\n> Aider v0.50.1  \n> Use /help for help\n\n"
    path.write_text(f"{first}#### Which cable?\n\nRed.\n", encoding="utf-8")
    assert [(turn.role, turn.content) for turn in turns(AIDER, path)] == [
        ("user", "Which cable?"),
        ("assistant", "Red."),
    ]


def test_an_edited_answer_sent_back_is_a_prompt(tmp_path):
    history = tmp_path / aider.CHAT
    for text in ("Red. That is wrong.", "Is it Red.", "Which cable?"):
        history.write_text(f"{CHAT.rpartition('####')[0]}#### {text}  \n", encoding="utf-8")
        assert [turn.content for turn in turns(AIDER, history)][-1] == text


def test_an_architect_plan_with_a_quotation_is_no_prompt(tmp_path):
    history = tmp_path / aider.CHAT
    plan = ["As the manual has it:", "", "> Degrees.  ", "", "So let it add the offset."]
    echoed = "\n".join(f"#### {line}  " for line in plan)
    history.write_text(
        f"{CHAT}\n" + "\n".join(plan) + f"\n\n> Edit the files? (Y)es/(N)o [Yes]: y  \n\n{echoed}\n", encoding="utf-8"
    )
    assert [turn.content for turn in turns(AIDER, history) if turn.role == "user"][-1] == "and why?"


def test_a_question_that_was_stopped_and_is_asked_again_without_its_command_was_typed_twice(tmp_path):
    history = tmp_path / aider.CHAT
    history.write_text(f"{CHAT}\n#### and why?  \n> ^C again to exit  \n\n#### and why?  \n\nHeat.\n", encoding="utf-8")
    asked = [(turn.content, turn.branch) for turn in turns(AIDER, history) if turn.role == "user"]
    assert asked[2:] == [("and why?", "abandoned"), ("and why?", "main")]


@pytest.mark.parametrize("typed", ["and why? And when?", "No. and why?"])
def test_a_prompt_that_only_begins_like_the_question_is_the_users(tmp_path, typed):
    history = tmp_path / aider.CHAT
    history.write_text(f"{CHAT}\n#### {typed}  \n\nHeat.\n", encoding="utf-8")
    assert [turn.content for turn in turns(AIDER, history) if turn.role == "user"][-1] == typed


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ("Attempt to fix lint errors? n", "result"),
        ("Attempt to fix lint errors? [Y/n] n", "result"),
        ("Attempt to fix lint errors? (Y)es/(N)o [Yes]: n", "result"),
        ("Fix lint errors in kiln.py? (Y)es/(N)o/(D)on't ask again [Yes]: no", "result"),
        ("Attempt to fix lint errors? y", "error"),
        ("Attempt to fix lint errors? [Y/n] y", "error"),
        ("Attempt to fix lint errors? (Y)es/(N)o [Yes]: y", "error"),
        ("Attempt to fix lint errors? (Y)es/(N)o [Yes]", "error"),
    ],
)
def test_errors_that_a_person_declines_to_have_mended_are_none(tmp_path, asked, kind):
    history = tmp_path / aider.CHAT
    found = f"> # Fix any errors below, if possible.  \n>  \n> kiln.py:1:8: F401  \n>  \n> {asked}  \n"
    history.write_text(f"{CHAT}\nAs it says.\n\n> Applied edit to kiln.py  \n{found}", encoding="utf-8")
    assert [turn.kind for turn in turns(AIDER, history)][-1] == kind


OLD = """
# aider chat started at 2024-01-02 10:00:00

> Aider v0.20
> Model: gpt-4

#### how do I parse dates?

Use dateutil.
{end}
#### and times?

The same.
"""
NEW = """
# aider chat started at 2026-01-02 10:00:00

> Aider v0.86~~
> Model: gpt-5~~

#### fix the parser~~

#### is a heading of this answer.

> Tokens: 1k sent, 20 received.~~
""".replace("~", " ")


@pytest.mark.parametrize("end", ["", "\n> Tokens: 1k sent, 20 received.\n"], ids=["first versions", "later versions"])
@pytest.mark.parametrize("order", [1, -1], ids=["old first", "new first"])
def test_sessions_with_and_without_line_ends_of_aider_stand_in_one_history(tmp_path, end, order):
    history = tmp_path / aider.CHAT
    sessions = [OLD.format(end=end), NEW]
    history.write_text("".join(sessions[::order]), encoding="utf-8")
    found = [(turn.role, turn.content) for turn in turns(AIDER, history)]
    old = [
        ("user", "how do I parse dates?"),
        ("assistant", "Use dateutil."),
        ("user", "and times?"),
        ("assistant", "The same."),
    ]
    new = [("user", "fix the parser"), ("assistant", "#### is a heading of this answer.")]
    assert found == (old + new if order == 1 else new + old)


def test_real_histories_have_as_many_prompts_and_commands_as_were_counted():
    folder = shared("transcripts")
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file, delimiter="\t") if row["format"] == "aider"]
    assert listed
    for row in listed:
        text = [turn.role for turn in turns(AIDER, folder / row["file"])]
        assert text.count("user") == int(row["human_prompts_or_items"]), row["file"]


def test_a_part_of_a_history_without_its_heading_is_read_when_the_user_names_the_format(tmp_path):
    part = tmp_path / "part.md"
    part.write_text("#### fix the parser\n\nI fixed it.\n\n#### now test\n\nTests pass.\n", encoding="utf-8")
    assert [(turn.role, turn.content) for turn in AIDER.read(SourceFile(part))] == [
        ("user", "fix the parser"),
        ("assistant", "I fixed it."),
        ("user", "now test"),
        ("assistant", "Tests pass."),
    ]


def test_a_text_without_prompts_gives_no_turns_even_if_the_user_names_the_format(tmp_path):
    note = tmp_path / "note.md"
    note.write_text("# Kilns\n\nThey are hot.\n", encoding="utf-8")
    assert list(AIDER.read(SourceFile(note))) == []
