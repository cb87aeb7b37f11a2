import csv
import json

import pytest
from golden import FIXTURES, inputs, refused, rows, shared, turns

from pastchats_memory.formats.base import source
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.exports.chatgpt import CHATGPT
from pastchats_memory.formats.exports.chatgpt.message import remove_citations
from pastchats_memory.formats.generic import MESSAGES
from pastchats_memory.formats.markdown.dialogue import DIALOGUE
from pastchats_memory.formats.markdown.notes import NOTES


@pytest.mark.parametrize("path", refused("chatgpt"), ids=lambda path: path.name)
@pytest.mark.parametrize("reader", [CHATGPT, MESSAGES, DIALOGUE, NOTES], ids=lambda reader: reader.name)
def test_no_reader_takes_the_sidecars_of_an_export(path, reader):
    assert not reader.detect(SourceFile(path))


@pytest.mark.parametrize("path", inputs("chatgpt"), ids=lambda path: path.name)
def test_the_line_of_a_turn_holds_the_beginning_of_its_text(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    for turn in turns(CHATGPT, path):
        words = "mean.md" if turn.kind == "result" else turn.content.removeprefix("[image]\n").split("\n")[0][:10]
        assert json.dumps(words, ensure_ascii=False)[1:-1] in lines[turn.line - 1].replace("\ue203", "")


def test_an_abandoned_branch_comes_before_the_one_that_replaced_it():
    messages = [(turn.branch, turn.role) for turn in turns(CHATGPT, FIXTURES / "chatgpt" / "chatgpt-q3.json")]
    assert messages == [
        ("main", "user"),
        ("abandoned", "assistant"),
        ("main", "assistant"),
        ("abandoned", "user"),
        ("abandoned", "assistant"),
        ("main", "user"),
        ("main", "assistant"),
    ]


@pytest.mark.parametrize(
    ("marked", "shown"),
    [
        ("a\ue200cite\ue202turn0search1\ue201b", "ab"),
        ("a\ue200cite\ue202turn0search1", "acite" + "turn0search1"),
        ("\ue203kept\ue204", "kept"),
        ('\ue200entity\ue202["city","Oslo","Norway"]\ue201', "Oslo"),
        ("\ue200entity\ue202[broken\ue201", ""),
        ("\ue200url\ue202the page\ue202turn0\ue201", "the page"),
        ("told【12†source】.", "told."),
        ("【no dagger】", "【no dagger】"),
    ],
)
def test_citation_markers_go_and_the_words_in_them_stay(marked, shown):
    assert remove_citations(marked) == shown


def test_citation_markers_without_end_lose_only_private_characters():
    text = "【" * 200_000 + "†" * 200_000
    assert remove_citations("\ue200" * 200_000 + text) == text


def test_a_chain_of_five_thousand_messages_is_walked(tmp_path):
    mapping = {
        f"node-{number}": {
            "parent": f"node-{number - 1}" if number else None,
            "children": [f"node-{number + 1}"],
            "message": {"id": f"node-{number}", "author": {"role": "user"}, "content": {"parts": [f"word {number}"]}},
        }
        for number in range(5_000)
    }
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps({"mapping": mapping, "current_node": "node-4999"}, indent=0), encoding="utf-8")
    messages = turns(CHATGPT, path)
    assert [turn.content for turn in messages] == [f"word {number}" for number in range(5_000)]
    assert {turn.branch for turn in messages} == {"main"}


def test_real_exports_have_the_prompts_and_answers_that_were_counted_by_hand():
    folder = shared("transcripts")
    counted = 0
    with (folder / "INDEX.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if row["format"] == "chatgpt" and row["human_prompts_or_items"] not in ("", "-1"):
                messages = [turn for turn in turns(CHATGPT, folder / row["file"]) if turn.branch == "main"]
                prompts = sum(turn.role == "user" for turn in messages)
                answers = sum(turn.role == "assistant" for turn in messages)
                assert (prompts, answers) == (
                    int(row["human_prompts_or_items"]),
                    int(row["assistant_messages_or_subitems"]),
                ), row["file"]
                counted += 1
    assert counted >= 7


def test_the_fence_that_fills_the_file_is_the_export(tmp_path):
    export = (FIXTURES / "chatgpt" / "single.json").read_text(encoding="utf-8")
    path = tmp_path / "kept.md"
    path.write_text(f'```json\n{{"mapping": "an example"}}\n```\n\n```json\n{export}\n```\n', encoding="utf-8")
    assert len(turns(CHATGPT, path)) == len(turns(CHATGPT, FIXTURES / "chatgpt" / "single.json"))
    path.write_text(f'```json\n{{"mapping": torn {"x" * 99}\n```\n', encoding="utf-8")
    assert not CHATGPT.detect(SourceFile(path))


def test_a_truncated_large_export_gives_its_whole_items(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "LARGE_DOCUMENT", 0)
    conversation = (FIXTURES / "chatgpt" / "single.json").read_text(encoding="utf-8")
    path = tmp_path / "conversations.json"
    path.write_text(f'[{f"{conversation}," * 50} {{"title": "Torn', encoding="utf-8")
    found = rows(CHATGPT, path)
    assert len(found) == 50 * len(turns(CHATGPT, FIXTURES / "chatgpt" / "single.json")) + 1
    assert found[-1].reason == "not JSON: the document is cut short"
