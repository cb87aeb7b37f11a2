"""A map of keys, as `index --map` takes one: its parts, its records, and the map that a dry run suggests."""

from __future__ import annotations

import json

import pytest
from golden import inputs, key_map, turns

from pastchats_memory.errors import UsageFault
from pastchats_memory.formats.base import source
from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.key_map import DEEPEST, MISSING, MOST_NAMED, KeyMap, list_record_keys, look_up
from pastchats_memory.formats.base.source import SAMPLE_RECORDS, SourceFile
from pastchats_memory.formats.generic import MESSAGES, mapped_format

ASK, ANSWER = "Why does the kiln stop?", "Its relay opens."


def write(folder, value, name="a.json"):
    path = folder / name
    text = "".join(json.dumps(line) + "\n" for line in value) if name.endswith("l") else json.dumps(value, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


def read(line, path):
    return [(turn.role, turn.content) for turn in turns(mapped_format(KeyMap.parse(line)), path)]


@pytest.mark.parametrize(
    "line",
    [
        "role=speaker,text=body",
        "role=speaker,text=message.body,time=at,conversation=thread",
        "user=prompt,assistant=answer",
        "user=prompt,assistant=answer,time=at",
        "role=who,text=body,role.bot=assistant,role.me=user",
    ],
)
def test_a_map_is_written_as_it_is_parsed(line):
    assert str(KeyMap.parse(line)) == line
    assert KeyMap.from_table(KeyMap.parse(line).to_table(), "map") == KeyMap.parse(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "`` is not of the form part=KEY"),
        ("role=speaker,text", "`text` is not of the form part=KEY"),
        ("role=speaker,text=", "`text=` is not of the form part=KEY"),
        ("role=a,role=b,text=c", "names role twice"),
        ("role=speaker", "no key for the text (`text`)"),
        ("text=body", "no key for the speaker (`role`)"),
        ("rle=speaker,text=body", "unknown part `rle`"),
        ("xyz=speaker,text=body", "unknown part `xyz`"),
        ("role=speaker,text=body,role.bot=robot", "role.bot must be one of user, assistant, system, tool, note"),
        ("role=speaker,text=body,user=prompt", "use either role and text, or user"),
        ("user=prompt,role.bot=assistant", "use either role and text, or user"),
        ("time=at", "no key for the text (`text`)"),
    ],
)
def test_a_wrong_map_is_explained(line, message):
    with pytest.raises(UsageFault) as raised:
        KeyMap.parse(line)
    assert message in raised.value.message
    assert raised.value.hint


def test_a_misspelled_part_is_recognised():
    with pytest.raises(UsageFault) as raised:
        KeyMap.parse("rle=speaker,text=body")
    assert raised.value.hint == "Did you mean `role`?"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", {"b": 1}),
        ("b.c", 2),
        ("x.y", 3),
        ("l.1", 5),
        ("l.2.z", 6),
    ],
)
def test_a_dotted_key_leads_into_objects_and_lists(path, value):
    assert look_up({"a": {"b": 1}, "b": {"c": 2}, "x.y": 3, "l": [4, 5, {"z": 6}]}, path) == value


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("role=who,text=words", [{"who": "user", "words": ASK}, {"who": "assistant", "words": ANSWER}]),
        ("role=who,text=words", {"log": {"1": {"who": "user", "words": ASK}, "2": {"who": "bot", "words": ANSWER}}}),
        ("role=who,text=words,role.x=user", [{"who": "X", "words": ASK}, {"who": "gpt-4", "words": ANSWER}]),
        ("role=mine,text=t,role.true=user,role.false=assistant", [{"mine": True, "t": ASK}, {"mine": False, "t": ANSWER}]),
        ("role=0,text=1", [["user", ASK], ["assistant", ANSWER]]),
        ("role=0,text=1", {"columns": ["who", "words"], "data": [["user", ASK], ["assistant", ANSWER]]}),
        ("user=0,assistant=1", {"chatbot": [[ASK, ANSWER]]}),
        ("user=0,assistant=1", [[ASK, None], [None, ANSWER]]),
        ("user=q,assistant=a.text", {"q": ASK, "a": {"text": ANSWER}}),
        ("user=q,assistant=a", [{"q": ASK}, {"a": ANSWER}]),
        ("role=who,text=words", {"who": ["user", "assistant"], "words": [ASK, ANSWER]}),
        ("role=who,text=parts", [{"who": "user", "parts": [{"type": "text", "text": ASK}]}, {"who": "ai", "parts": ANSWER}]),
    ],
)  # fmt: skip
def test_records_are_read_wherever_they_stand(line, value, tmp_path):
    assert read(line, write(tmp_path, value)) == [("user", ASK), ("assistant", ANSWER)]


def test_words_without_a_role_stay_in_lower_case_and_are_not_guessed(tmp_path):
    path = write(tmp_path, [{"who": "user", "words": ASK}, {"who": "Kiln Desk", "words": ANSWER}])
    assert [role for role, _ in read("role=who,text=words", path)] == ["user", "kiln desk"]


def test_other_keys_become_metadata_and_times_are_read(tmp_path):
    record = {"who": "user", "message": {"body": ASK, "lang": "en"}, "sent": {"at": 1769850000}, "n": 7}
    path = write(tmp_path, [record, {**record, "who": "bot"}])
    reader = mapped_format(KeyMap.parse("role=who,text=message.body,time=sent.at"))
    first, second = turns(reader, path)
    assert first.timestamp == "2026-01-31T09:00:00.000Z"
    assert dict(first.metadata) == {"lang": "en", "n": 7}
    assert second.metadata["who"] == "bot"


def test_a_conversation_key_may_stand_in_the_record_or_around_it(tmp_path):
    record = {"who": "user", "words": ASK}
    reader = mapped_format(KeyMap.parse("role=who,text=words,conversation=room"))
    inside = write(tmp_path, [{**record, "room": name} for name in ("a", "b", 3)])
    assert [turn.conversation_id for turn in turns(reader, inside)] == ["a", "b", "3"]
    around = write(tmp_path, [{"room": name, "lines": [record]} for name in ("a", "b")])
    assert [turn.conversation_id for turn in turns(reader, around)] == ["a", "b"]
    lines = write(tmp_path, [{**record, "room": "a"}, {**record, "room": "b"}], "a.jsonl")
    assert [turn.conversation_id for turn in turns(reader, lines)] == ["a", "b"]


def test_lists_under_several_keys_are_conversations_of_these_names(tmp_path):
    record = {"who": "user", "words": ASK}
    path = write(tmp_path, {"monday": [record], "friday": [record]})
    reader = mapped_format(KeyMap.parse("role=who,text=words"))
    assert [turn.conversation_id for turn in turns(reader, path)] == ["monday", "friday"]


@pytest.mark.parametrize(
    "path",
    [path for path in inputs("messages") if key_map(path) and path.suffix == ".json" and "newest" not in path.name],
    ids=lambda path: path.name,
)
def test_a_large_document_gives_the_same_turns(path, monkeypatch):
    reader = mapped_format(key_map(path))
    whole = list(reader.read(SourceFile(path)))
    monkeypatch.setattr(source, "LARGE_DOCUMENT", 0)
    monkeypatch.setattr("pastchats_memory.formats.generic.LARGE_DOCUMENT", 0)
    assert list(reader.read(SourceFile(path))) == whole


def test_lines_are_read_on_from_a_checkpoint_by_the_same_map(tmp_path):
    lines = [{"who": ("user", "bot")[place % 2], "words": f"Sentence {place}."} for place in range(SAMPLE_RECORDS + 4)]
    reader = mapped_format(KeyMap.parse("role=who,text=words"))
    whole = turns(reader, write(tmp_path, lines, "whole.jsonl"))
    path = write(tmp_path, lines[:-2], "grown.jsonl")
    *first, checkpoint = reader.read(SourceFile(path))
    assert isinstance(checkpoint, Checkpoint)
    write(tmp_path, lines, "grown.jsonl")
    resumed = Checkpoint(checkpoint.offset, checkpoint.line, json.loads(json.dumps(checkpoint.state)))
    rest = [row for row in MESSAGES.read(SourceFile(path, resumed=resumed)) if not isinstance(row, Checkpoint)]
    assert first + rest == whole


SUGGESTED = [
    path
    for path in inputs("messages")
    if key_map(path) and not any(name in path.name for name in ("pupil", "newest-first", "in-between", "by-a-code"))
]
"""Files with a map that the names of their keys and roles suggest."""


@pytest.mark.parametrize("path", SUGGESTED, ids=lambda path: path.name)
def test_a_map_that_fits_is_suggested(path):
    assert (MESSAGES.suggest_map(SourceFile(path))) == path.with_suffix(".map").read_text(encoding="utf-8").strip()


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"faq": [{"q": "What is a kiln, please?", "a": "It is an oven for clay."}] * 3},
        [{"lang": "en", "text": "A kiln is an oven."}, {"lang": "de", "text": "Ein Ofen für Ton."}],
        [{"id": f"user-{n}", "text": f"Sentence {n} of these."} for n in range(5)],
        [[1, 2], [3, 4]],
        {"definitions": {}, "log": [{"rol": "usuario", "m": ASK}, {"rol": "asistente", "m": ANSWER}]},
    ],
)
def test_no_map_is_suggested_for_other_files(value, tmp_path):
    assert MESSAGES.suggest_map(SourceFile(write(tmp_path, value))) is None


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ([{"prompt": ASK, "completion": ANSWER}], "user=prompt,assistant=completion"),
        ([{"user": ASK}, {"assistant": ANSWER}], "user=user,assistant=assistant"),
        ([{"role": "user", "content": ASK, "ts": 1769850000}] * 2, "role=role,text=content,time=ts"),
    ],
)
def test_a_file_with_known_keys_shows_the_map_by_which_it_is_read(value, line, tmp_path):
    path = write(tmp_path, value)
    assert (MESSAGES.suggest_map(SourceFile(path))) == line
    known = [(turn.role, turn.content) for turn in turns(MESSAGES, path)]
    assert read(line, path) == known


@pytest.mark.parametrize("kinds", [("user", "assistant"), ("human", "helper"), ("customer", "desk")])
def test_objects_that_name_speaker_and_text_are_read_without_and_with_the_map_that_is_shown(kinds, tmp_path):
    path = write(
        tmp_path,
        [{"who": {"kind": kind}, "message": {"body": text}} for kind, text in zip(kinds, (ASK, ANSWER), strict=True)],
    )
    known = [(turn.role, turn.content) for turn in turns(MESSAGES, path)]
    assert [content for _, content in known] == [ASK, ANSWER]
    line = MESSAGES.suggest_map(SourceFile(path))
    assert line == "role=who.kind,text=message.body"
    assert read(line, path) == known


@pytest.mark.parametrize(
    "value",
    [
        [{"who": {"kind": "human"}, "message": {"body": ASK}}, {"who": "bot", "message": {"body": ANSWER}}],
        [{"rol": "usuario", "m": ASK}, {"rol": "asistente", "m": ANSWER}, {"rol": "usuario", "t": "How warm is it?"}],
        [{"q": ASK, "r": ANSWER}, {"q": "How warm is it?", "r": 7}],
    ],
)
def test_a_map_that_loses_turns_is_not_suggested(value, tmp_path):
    assert MESSAGES.suggest_map(SourceFile(write(tmp_path, value))) is None


@pytest.mark.parametrize("name", ["shape-48-two-lists", "shape-07-librechat", "messages-q15-both-sides"])
def test_no_map_is_suggested_that_loses_what_known_keys_read(name):
    (path,) = (path for path in inputs("messages") if path.stem == name)
    assert turns(MESSAGES, path)
    assert MESSAGES.suggest_map(SourceFile(path)) is None


def test_a_record_whose_side_is_no_text_is_skipped(tmp_path):
    path = write(tmp_path, [{"q": ASK, "r": ANSWER}, {"q": "How warm is it?", "r": 7}])
    assert read("user=q,assistant=r", path) == [("user", ASK), ("assistant", ANSWER)]


def test_keys_that_no_record_has_are_listed(tmp_path):
    path = write(tmp_path, [{"speaker": "clerk", "body": ANSWER}])
    assert KeyMap.parse("role=speaker,text=txt").list_missing(SourceFile(path).example) == ["txt"]
    assert KeyMap.parse("role=speaker,text=body").list_missing(SourceFile(path).example) == []


def test_the_keys_of_records_are_listed_up_to_a_limit(tmp_path):
    assert list_record_keys(SourceFile(write(tmp_path, {"rows": [{"speaker": "clerk", "body": ANSWER}]})).example) == [
        "speaker",
        "body",
    ]
    many = [{f"key{number}": number for number in range(MOST_NAMED + 5)}] * 2
    assert len(list_record_keys(SourceFile(write(tmp_path, many)).example)) == MOST_NAMED


def test_keys_of_objects_below_the_deepest_level_are_not_listed(tmp_path):
    value = {"body": ANSWER}
    for _ in range(DEEPEST + 1):
        value = [value]
    assert list_record_keys(SourceFile(write(tmp_path, value)).example) == []


def test_nothing_stands_under_a_path_below_a_number():
    assert look_up({"body": 7}, "body.text") is MISSING
