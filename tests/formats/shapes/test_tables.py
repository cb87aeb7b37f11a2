"""Containers of every kind as tables of the same records."""

import json
from base64 import b64encode

import pytest
from talked import TALK, each

from pastchats_memory.formats.base.source import Record
from pastchats_memory.formats.generic.shapes.inference.pages import spoken_page
from pastchats_memory.formats.generic.shapes.inference.tables import tables_of
from pastchats_memory.formats.generic.shapes.spelled import spelled_out
from pastchats_memory.formats.generic.shapes.windows import windows


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(each(lambda mine, text: {"who": mine, "what": text}), id="a list"),
        pytest.param({f"k{n}": {"who": n % 2 == 0, "what": text} for n, (_, text) in enumerate(TALK)}, id="a map"),
        pytest.param({"cols": ["who", "what"], "rows": each(lambda mine, text: [mine, text])}, id="rows below their names"),
        pytest.param({"fields": {"what": 1, "who": 0}, "rows": each(lambda mine, text: [mine, text])}, id="names and places"),
        pytest.param({"fields": [{"name": "who"}, {"name": "what"}], "rows": each(lambda mine, text: [mine, text])}, id="a schema"),
        pytest.param({"who": each(lambda mine, _: mine), "what": each(lambda _, text: text)}, id="columns"),
        pytest.param(json.dumps(each(lambda mine, text: {"who": mine, "what": text})), id="JSON in a string"),
        pytest.param(b64encode(json.dumps(each(lambda mine, text: {"who": mine, "what": text})).encode()).decode(), id="base64"),
    ],
)  # fmt: skip
def test_every_container_becomes_the_same_table(value):
    records = [table.instances[0].records for table in tables_of(spelled_out({"in": value}))]
    plain = [
        [{key: row[key] for key in ("who", "what")} for row in found if {"who", "what"} <= row.keys()]
        for found in records
    ]
    assert each(lambda mine, text: {"who": mine, "what": text}) in plain


def test_what_only_begins_as_base64_stays_text():
    assert spelled_out("eyJ not base64, but long enough") == "eyJ not base64, but long enough"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{'You' if role == 'user' else 'Bot'}: {text}" for role, text in TALK),
        "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in TALK),
        "".join(f"<human>{text}</human>" if role == "user" else f"<ai>{text}</ai>" for role, text in TALK),
        "".join(f'<div class="msg {role}"><b>{text}</b></div>' for role, text in TALK),
        "speaker,line\n" + "\n".join(f'{role},"{text}"' for role, text in TALK),
    ],
)
def test_a_text_with_marked_speakers_is_records(text):
    assert [row.get("text", row.get("line")) for row in spoken_page(text)] == [text for _, text in TALK]


def test_prose_with_a_colon_is_no_page_of_speakers():
    assert spoken_page("Note: the dough rises.\nWarning: it may stick.") == []
    assert spoken_page('speaker,line\nada,"torn\nbo') == []
    assert spoken_page("speaker,line\nada,lines that\rend in two ways\nbot,yes") == []


def test_what_is_nested_without_end_is_looked_at_as_far_as_chats_go():
    deep: object = each(lambda mine, text: {"who": mine, "what": text})
    for _ in range(60):
        deep = [json.dumps(deep) if len(str(deep)) < 2000 else deep]
    assert tables_of(deep) == []
    assert spelled_out(deep)


@pytest.mark.parametrize(
    ("pick", "kept"), [("b", ["a", "b"]), (0, ["a", "c"]), ("x", ["a", "c", "b"]), (7, ["a", "c", "b"])]
)
def test_of_several_answers_the_picked_one_goes_on(pick, kept):
    tree = {
        "key": "a",
        "words": "Why?",
        "pick": pick,
        "kids": [{"key": "c", "words": "So."}, {"key": "b", "words": "Thus."}],
    }
    chain = [[record["key"] for record in table.instances[0].records] for table in tables_of({"tree": [tree]})]
    assert kept in chain


def test_pages_of_one_list_are_put_together_and_chats_are_not():
    said = each(lambda mine, text: {"who": mine, "what": text})
    (pages,) = (
        t
        for t in tables_of({"pages": [{"page": 2, "log": said[2:]}, {"page": 1, "log": said[:2]}]})
        if t.place[-1] == "log"
    )
    (chats,) = (
        t
        for t in tables_of({"chats": [{"nr": 2, "log": said[2:]}, {"nr": 1, "log": said[:2]}]})
        if t.place[-1] == "log"
    )
    assert ([len(one.records) for one in pages.instances], [len(one.records) for one in chats.instances]) == (
        [4],
        [2, 2],
    )


def test_windows_have_all_items_and_no_small_rest():
    items = [Record(line, {"n": "x" * 80}) for line in range(1, 24)]
    found = [window.values for window in windows(items, 500)]
    assert [value for values in found for value in values] == [item.value for item in items]
    assert min(map(len, found)) > 1
    assert list(windows([], 500)) == []
