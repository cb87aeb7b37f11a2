import csv
import json

import pytest
from golden import FIXTURES, refused, shared, turns

from pastchats_memory.formats.agents.opencode import OPENCODE
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.formats.exports.chatgpt import CHATGPT
from pastchats_memory.formats.exports.claude_ai import CLAUDE_AI
from pastchats_memory.formats.exports.lm_studio import LM_STUDIO
from pastchats_memory.formats.exports.openai_messages import OPENAI_MESSAGES
from pastchats_memory.formats.exports.sharegpt import SHAREGPT
from pastchats_memory.formats.generic import MESSAGES
from pastchats_memory.formats.markdown.dialogue import DIALOGUE
from pastchats_memory.formats.markdown.notes import NOTES
from pastchats_memory.formats.registry import detect_format

COUNTED = {"claude-ai": CLAUDE_AI, "opencode": OPENCODE}


@pytest.mark.parametrize("path", refused("claude-ai"), ids=lambda path: path.name)
@pytest.mark.parametrize("reader", [CLAUDE_AI, CHATGPT, MESSAGES, DIALOGUE, NOTES], ids=lambda reader: reader.name)
def test_no_reader_takes_the_sidecars_of_an_export(path, reader):
    assert not reader.detect(SourceFile(path))


def test_a_conversation_of_lm_studio_is_named_by_its_file(tmp_path):
    path = tmp_path / "1769847300000.conversation.json"
    path.write_bytes((FIXTURES / "lm-studio" / "lm-studio-q1.json").read_bytes())
    assert {turn.conversation_id for turn in turns(LM_STUDIO, path)} == {"1769847300000"}


@pytest.mark.parametrize(
    ("links", "current", "left"),
    [
        ([("a", None), ("b", "a"), ("c", "a")], None, {1}),
        ([("a", None), ("b", "a"), ("c", "a")], "b", {2}),
        ([("a", "root"), ("b", "root"), ("c", "b")], "a", {1, 2}),
        ([("b", "a"), ("c", "a"), ("a", None)], "c", {0}),
        ([("a", None), ("b", None)], None, set()),
        ([("a", "b"), ("b", "a"), ("c", "b")], "b", {2}),
        ([(None, None), (None, "a")], "a", set()),
        ([], "a", set()),
    ],
)
def test_messages_off_the_current_path_are_abandoned(links, current, left):
    assert abandoned_places(links, current) == left


def test_a_list_of_twenty_thousand_answers_is_walked_in_a_moment():
    links = [("0", None), *((str(number), str(number - 1)) for number in range(1, 20_000))]
    assert abandoned_places(links, "10000") == frozenset()
    assert len(abandoned_places([*links, ("end", "10000")], "end")) == 9999


def test_an_object_that_only_looks_like_a_line_of_a_training_set_is_some_programs_record(tmp_path):
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    for number, record in enumerate(
        (
            {"messages": turns, "sessionId": "s1"},
            {"messages": [{**message, "timestamp": 1769847300} for message in turns]},
            {"messages": [*turns, {"role": "narrator", "content": "c"}]},
        )
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json.dumps(record) + "\n", encoding="utf-8")
        assert detect_format(SourceFile(path)) is MESSAGES
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"messages": turns}), encoding="utf-8")
    assert detect_format(SourceFile(path)) is MESSAGES


def test_real_exports_have_the_prompts_that_were_counted_by_hand():
    folder = shared("transcripts")
    counted = 0
    with (folder / "INDEX.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            reader = COUNTED.get(row["format"])
            if reader is not None and row["human_prompts_or_items"] not in ("", "-1"):
                messages = turns(reader, folder / row["file"])
                prompts = sum(turn.role == "user" for turn in messages)
                assert prompts == int(row["human_prompts_or_items"]), row["file"]
                if reader is CLAUDE_AI:
                    answers = sum(turn.role == "assistant" for turn in messages)
                    assert answers == int(row["assistant_messages_or_subitems"]), row["file"]
                counted += 1
    assert counted >= 9


def test_every_turn_of_real_training_sets_is_read():
    folder = shared("transcripts")
    counted = {
        "sharegpt/hiyouga_LLaMA-Factory__glaive_toolcall_en_demo.json": (SHAREGPT, 746, 746),
        "sharegpt/lm-sys_FastChat__dummy_conversation.json": (SHAREGPT, 1000, 1000),
        "openai-messages/hiyouga_LLaMA-Factory__v1_sft_demo.jsonl": (OPENAI_MESSAGES, 500, 500),
    }
    for name, (reader, prompts, answers) in counted.items():
        text = [turn.role for turn in turns(reader, folder / name)]
        assert (text.count("user"), text.count("assistant")) == (prompts, answers), name


def test_a_real_export_whose_messages_stand_out_of_order_is_put_in_order():
    folder = shared("transcripts")
    messages = [
        turn for turn in turns(CLAUDE_AI, folder / "claude-ai" / "simonw_artifacts.json") if turn.role != "tool"
    ]
    assert [turn.role for turn in messages] == ["user", "assistant"] * 10
    assert [turn.timestamp for turn in messages] == sorted(turn.timestamp for turn in messages)
