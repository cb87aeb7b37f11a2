"""The steps by which a conversation is known without knowing its keys; each over plain values."""

import json
from base64 import b64encode

import pytest
from golden import turns

from pastchats_memory.readers import keys_taken, messages
from pastchats_memory.readers.columns import (
    asks,
    columns_of,
    is_choice,
    is_prose,
    joined,
    may_hold_prose,
    prose_share,
    row_of,
)
from pastchats_memory.readers.inferred import talks_of
from pastchats_memory.readers.naming import side_of, words_of
from pastchats_memory.readers.pages import spoken_page
from pastchats_memory.readers.parties import Document, sides_of
from pastchats_memory.readers.patches import patched
from pastchats_memory.readers.sequence import in_the_end, is_gone, order_of
from pastchats_memory.readers.source import LARGE_DOCUMENT, Source
from pastchats_memory.readers.tables import tables_of, unpacked

TALK = (
    ("user", "My dough stays flat. What is wrong with it?"),
    ("assistant", "The starter is not active yet. Feed it twice a day."),
    ("user", "For how many days should I do that?"),
    ("assistant", "Three days are enough if the kitchen is warm."),
)
"""What every one of the shapes below holds."""


def each(of):
    return [of(role == "user", text) for role, text in TALK]


PAIRS = [(TALK[0][1], TALK[1][1]), (TALK[2][1], TALK[3][1])]


def written(tmp_path, value):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("userSaid", ("user", "said")),
        ("HTTPReply_text2", ("http", "reply", "text")),
        ("Réponse du modèle", ("reponse", "du", "modele")),
        ("話者", ("話者",)),
    ],
)
def test_names_fall_into_words_in_any_spelling(name, words):
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("asr_user_said", "user"),
        ("Benutzereingabe", "user"),
        ("botmsg", "assistant"),
        ("respuesta", "assistant"),
        ("customer_agent", "assistant"),
        ("system_prompt", "user"),
        ("tool_output", "assistant"),
        ("tool_return", "tool"),
        ("weather", None),
        ("personal", None),
    ],
)
def test_a_word_of_a_name_says_whose_side_it_is(name, side):
    assert side_of(name) == side


def test_prose_is_told_from_codes_and_numbers():
    assert is_prose("Feed it twice a day.")
    assert is_prose("三日間餌をやってください")
    for text in ("yes", "now(a b, c d)", "{a b c}", "12 34 56 78", 5):
        assert not is_prose(text)
    assert prose_share(["Feed it twice a day."] * 4) < 0.5
    assert asks("For how long? ")
    assert not asks("For long;")


def test_a_column_of_choices_has_few_words():
    assert is_choice(["a", "b", "a", "b"])
    assert is_choice([True, False, None])
    assert not is_choice([1.5, 2.5])
    assert not is_choice(["one", "two", "three", "four"])


def test_of_a_record_without_end_the_first_values_are_enough():
    assert 0 < len(row_of({f"cell {n}": n for n in range(1000)})) < 1000


def test_numbers_and_codes_hold_no_prose():
    assert not may_hold_prose([{"x": 1.5, "at": [48.1, 11.5], "kind": "bus_stop"}, ["a", "b"]])
    for said in ("Stop here.", "止まれ", "eyJ0ZXh0IjoiU3RvcCBoZXJlLiJ9", ["Stop", "here", "and", "wait"]):
        assert may_hold_prose([{"x": 1.5, "beside": {"words": said}}])


def test_a_record_becomes_a_row_by_paths():
    record = {
        "who": {"kind": "u"},
        "parts": [{"type": "text", "t": "a "}, {"type": "thought", "t": "no"}, {"type": "text", "t": "b"}],
    }
    assert row_of(record) == {"who.kind": "u", "parts.type": "text", "parts.t": "a b"}
    assert columns_of([{"a": 1}, {"b": 2}]) == {"a": [1, None], "b": [None, 2]}
    assert joined(["one", "two", "three", "four"]) == "one two three four"


@pytest.mark.parametrize(
    "drafts",
    [
        {"revisions": [{"no": 1, "x": "old"}, {"no": 2, "x": "new"}]},
        {"candidates": [{"x": "new"}, {"x": "other"}]},
        {"options": [{"x": "other"}, {"x": "new", "chosen": True}]},
        {"takes": [{"no": 1, "x": "other"}, {"no": 7, "x": "new"}], "current": 7},
        {"versions": [{"x": "other"}, {"x": "new"}], "selected": 1},
        {"variants": {"a": {"x": "other"}, "b": {"x": "new"}}, "active": "b"},
    ],
)
def test_of_several_drafts_the_chosen_one_counts(drafts):
    assert "new" in row_of(drafts).values()
    assert not {"old", "other"} & {value for value in row_of(drafts).values() if isinstance(value, str)}


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
        pytest.param(
            [{"op": "add", "path": "/log", "value": []},
             *each(lambda mine, text: {"op": "add", "path": "/log/-", "value": {"who": mine, "what": text}})],
            id="patches",
        ),
    ],
)  # fmt: skip
def test_every_container_becomes_the_same_table(value):
    records = [table.instances[0].records for table in tables_of({"in": value})]
    plain = [
        [{key: row[key] for key in ("who", "what")} for row in found if {"who", "what"} <= row.keys()]
        for found in records
    ]
    assert each(lambda mine, text: {"who": mine, "what": text}) in plain


def test_patches_change_what_was_there():
    assert patched([{"op": "add", "path": "/a", "value": [1, 2]}, {"op": "remove", "path": "/a/0"}]) == {"a": [2]}
    assert patched([{"op": "add", "path": "/a", "value": 1}, {"op": "replace", "path": "/a", "value": 2}]) == {"a": 2}
    assert (
        patched([{"op": "add", "path": "/a/b/0/c", "value": 1}, {"op": "replace", "path": "/x/7/y/z", "value": 1}])
        is not None
    )
    assert patched([{"op": "test", "path": "/a"}]) is None
    first, *others = ({"op": "add", "path": "/a/-", "value": n} for n in (1, 2, 3))
    assert patched([first, {**first, "op": "replace", "path": "/a/0", "value": 7}, *others]) == {"a": [7, 2, 3]}
    assert patched([first, {"op": "remove", "path": "/a/9"}, {"op": "remove", "path": "/a"}]) == {}


def test_a_log_of_patches_is_the_same_document_each_time():
    steps = [{"op": "add", "path": "/a", "value": {"list": [1]}}, {"op": "add", "path": "/a/list/-", "value": 2}]
    assert patched(steps) == patched(steps) == {"a": {"list": [1, 2]}}
    deep = "[" * 500 + "]" * 500
    assert patched([{"op": "add", "path": "/a", "value": json.loads(deep)}])["a"]
    assert unpacked("eyJ not base64, but long enough") == "eyJ not base64, but long enough"


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


@pytest.mark.parametrize(
    "told",
    [
        {"legend": {"x1": "customer", "x2": "assistant"}},
        {"cast": [{"id": "x1", "kind": "person"}, {"id": "x2", "kind": "automated_agent"}]},
        {"cast": [{"id": "x1", "name": "Mia"}, {"id": "x2", "name": "Crumb", "is_bot": True}]},
        {"cast": [{"id": "x2", "name": "Crumb", "engine": "crumb-2"}]},
        {"agent": {"handle": "x2"}, "by": "x1"},
        {"assistant_name": "x2"},
    ],
)
def test_a_document_tells_who_its_codes_are(told):
    sides = sides_of(["x1", "x2", "x1"], ["a?", "b", "c"], Document(told), "code", "said")
    assert {word: role for word, (role, _) in sides.items()} == {"x1": "user", "x2": "assistant"}


def test_numbers_are_places_in_a_list_of_roles():
    sides = sides_of([0, 1], ["a", "b"], Document({"roles": ["human", "ai"]}), "r", "x")
    assert {word: role for word, (role, _) in sides.items()} == {0: "user", 1: "assistant"}


def test_of_two_codes_the_one_who_asks_is_the_person_but_names_stay_names():
    nobody = Document({})
    asked = sides_of(["L", "M", "L"], ["b", "why?", "c"], nobody, "k", "x")
    assert {word: role for word, (role, _) in asked.items()} == {"L": "assistant", "M": "user"}
    assert sides_of(["Ada", "Grace"], ["a?", "b"], nobody, "k", "x") == {}


def test_pieces_are_put_together_by_what_they_share():
    rows = [
        {"kind": "begin", "reply_id": "a", "model": "m"},
        {"kind": "delta", "reply_id": "a", "text": "one "},
        {"kind": "delta", "reply_id": "b", "text": "three"},
        {"kind": "delta", "reply_id": "a", "text": "two"},
        {"kind": "end", "reply_id": "a", "cost": 5},
        {"kind": "pinged", "load": 3},
    ]
    told = in_the_end(rows, ("text",))
    assert [(row.get("text"), row.get("cost")) for row in told] == [("one two", 5), ("three", None), (None, None)]


def test_the_whole_that_comes_behind_its_pieces_counts_once():
    rows = [
        {"kind": "delta", "reply_id": "a", "text": "One and a half "},
        {"kind": "delta", "reply_id": "a", "text": "cups of wtr."},
        {"kind": "final", "reply_id": "a", "text": "One and a half cups of water."},
    ]
    assert [row["text"] for row in in_the_end(rows, ("text",))] == ["One and a half cups of water."]


def test_pieces_without_a_name_end_where_something_else_is_said():
    rows = [
        {"ev": "token", "text": "one "},
        {"ev": "token", "text": "two"},
        {"ev": "asked", "text": "more?"},
        {"ev": "token", "text": "three"},
    ]
    assert [row["text"] for row in in_the_end(rows, ("text",))] == ["one two", "more?", "three"]


def test_corrections_and_deletions_reach_the_row_that_they_name():
    rows = [
        {"op": "add", "id": 1, "text": "a"},
        {"op": "add", "id": 2, "text": "b"},
        {"op": "edit", "id": 1, "text": "A"},
        {"op": "edit", "id": 1, "pinned": True},
        {"op": "delete", "id": 2},
    ]
    assert [row["text"] for row in in_the_end(rows, ("text",)) if "text" in row] == ["A"]


def test_what_grows_under_one_id_is_its_last_state():
    rows = [{"id": "a", "text": "Feed"}, {"id": "a", "text": "Feed it."}, {"id": "b", "text": "Why?"}]
    assert [row["text"] for row in in_the_end(rows, ("text",))] == ["Feed it.", "Why?"]


@pytest.mark.parametrize(
    ("row", "gone"),
    [
        ({"removed": True}, True),
        ({"visible": False}, True),
        ({"status": "deleted"}, True),
        ({"deleted_at": "2026-05-01T10:00:00Z"}, True),
        ({"removed": False, "visible": True, "status": "read", "deleted_at": None}, False),
    ],
)
def test_what_was_taken_back_says_so(row, gone):
    assert is_gone(row) is gone


@pytest.mark.parametrize(
    "rows",
    [
        [{"key": "c", "prev": "b"}, {"key": "a", "prev": None}, {"key": "b", "prev": "a"}],
        [{"key": "c", "next": None}, {"key": "a", "next": "b"}, {"key": "b", "next": "c"}],
        [{"key": "c", "seq": 3}, {"key": "a", "seq": 1}, {"key": "b", "seq": 2}],
        [{"key": "a", "turns_left": 3}, {"key": "b", "turns_left": 2}, {"key": "c", "turns_left": 1}],
        [{"key": "c", "at": "2026-05-03"}, {"key": "a", "at": "2026-05-01"}, {"key": "b", "at": "2026-05-02"}],
    ],
)
def test_rows_come_in_the_order_in_which_they_were_said(rows):
    assert [rows[at]["key"] for at in order_of(rows, {})[0]] == ["a", "b", "c"]


def test_links_that_lead_in_a_circle_are_no_order():
    before = {"a": None, "b": "a", "c": "d", "d": "c", "e": "b"}
    order, left = order_of([{"key": key, "prev": link} for key, link in before.items()], {})
    assert (order, left) == ([0, 1, 2, 3, 4], frozenset())


def test_a_branch_that_was_left_is_known_by_the_leaf():
    rows = [{"key": "a", "up": None}, {"key": "b", "up": "a"}, {"key": "c", "up": "a"}, {"key": "d", "up": "b"}]
    order, left = order_of(rows, {"active_leaf": "d"})
    assert (order, left) == ([0, 1, 3, 2], {2})


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"turns": each(lambda mine, text: {"incoming": not mine, "payload": text})}, id="a direction as a flag"),
        pytest.param({"sms": each(lambda mine, text: {"direction": "inbound" if mine else "outbound", "body": text})},
                     id="a direction as whoever runs the service sees it"),
        pytest.param({"chat": each(lambda mine, text: {"icon": "🧑" if mine else "🤖", "text": text})}, id="pictures"),
        pytest.param({"export": "\n".join(f"12.05.26, 10:00 - {'Rosa' if role == 'user' else 'Bread AI'}: {text}" for role, text in TALK)},
                     id="a page with dates"),
        pytest.param({"captions": each(lambda mine, text: f"<v {'Caller' if mine else 'Agent'}>{text}</v>")}, id="captions"),
        pytest.param({"chat": each(lambda mine, text: {"side": "right" if mine else "left", "text": text})}, id="sides of a screen"),
        pytest.param({"échanges": [{"demande": a, "réponse": b, "heure": "10:00"} for a, b in PAIRS]}, id="pairs in French"),
        pytest.param({"steps": each(lambda mine, text: {"human" if mine else "machine": text})}, id="a key a side"),
        pytest.param({"talk": [item for mine, text in each(lambda *said: said) for item in ("visitor" if mine else "bot", text)]}, id="turns in a list"),
        pytest.param({f"{'user' if n % 2 == 0 else 'bot'}_{n // 2 + 1}": text for n, (_, text) in enumerate(TALK)}, id="numbered keys"),
        pytest.param({"log": {"user_turns": [{"n": 0, "t": PAIRS[0][0]}, {"n": 2, "t": PAIRS[1][0]}],
                              "bot_turns": [{"n": 1, "t": PAIRS[0][1]}, {"n": 3, "t": PAIRS[1][1]}]}}, id="two lists with numbers"),
        pytest.param({"history": [PAIRS[0]], "prompt": PAIRS[1][0], "response": PAIRS[1][1]}, id="what was said before, and the last"),
        pytest.param({"by_day": {"2026-05-01": each(lambda mine, text: {"party": "guest" if mine else "butler", "words": text})}}, id="by day"),
        pytest.param({"id": "x", "at": {"who": "client", "body": TALK[0][1], "next": {"who": "advisor", "body": TALK[1][1], "next": {
            "who": "client", "body": TALK[2][1], "next": {"who": "advisor", "body": TALK[3][1]}}}}}, id="each within the one before"),
    ],
)  # fmt: skip
def test_a_shape_is_known_by_its_columns(value, tmp_path):
    path = written(tmp_path, value)
    assert [(turn.role, turn.content) for turn in turns(messages, path)] == list(TALK)
    assert {"role", "text"} <= keys_taken(messages, Source(path)).keys()


def test_a_speaker_with_a_long_name_is_heard_too(tmp_path):
    narrator = "The voice that tells what happens in the bakery"
    scene = [
        (side, f"{text} {place}")
        for place, side in enumerate(("kundin", "berater", narrator) * 3)
        for text in [TALK[0][1]]
    ]
    path = written(tmp_path, {"sitzung": [{"sprecher": who, "worte": text} for who, text in scene]})
    assert [turn.content for turn in turns(messages, path)] == [text for _, text in scene]


def streamed(tmp_path, exchanges, pieces=4):
    """JSONL of questions, and answers that come in pieces."""
    steps = []
    for place in range(exchanges):
        steps.append({"ev": "heard", "by": "caller", "n": 2 * place, "words": f"What comes after loaf number {place}?"})
        part = {"ev": "delta", "by": "desk", "n": 2 * place + 1}
        steps += [part | {"words": f"Then take loaf {place}, slice {n} out. "} for n in range(pieces)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps(step)}\n" for step in steps), encoding="utf-8")
    return path


def test_it_says_which_columns_of_lines_that_belong_together_it_took(tmp_path):
    assert keys_taken(messages, Source(streamed(tmp_path, 2))) == {"role": "by", "text": "words"}


def test_what_is_said_in_thousands_of_pieces_is_heard_to_its_end(tmp_path):
    said = turns(messages, streamed(tmp_path, 30, pieces=40))
    assert [turn.role for turn in said] == ["user", "assistant"] * 30
    assert said[-1].content.endswith("Then take loaf 29, slice 39 out.")


def test_lines_of_a_large_file_are_understood_one_by_one_alone(tmp_path):
    path = streamed(tmp_path, 2)
    assert messages.recognise(Source(path))
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"ev": "dump", "raw": "x" * LARGE_DOCUMENT}) + "\n")
    assert not messages.recognise(Source(path))


@pytest.mark.parametrize(
    "value",
    [
        each(lambda mine, text: {"lang": "en" if mine else "de", "text": text}),
        each(lambda mine, text: {"valid": mine, "description": text}),
        each(lambda mine, text: {"to": "customer" if mine else "agent", "body": text}),
        each(lambda mine, text: {"source": "client" if mine else "server", "msg": text}),
        {"alerts": each(lambda mine, text: {"source": "client" if mine else "agent", "message": text})},
        each(lambda mine, text: {"author": "ada" if mine else "dependabot[bot]", "sha": "x", "message": text}),
        {"bot": "x", "sampleUtterances": [text for _, text in TALK]},
        each(lambda mine, text: {"rating": 5 if mine else 1, "text": text}),
        {"slides": each(lambda _, text: {"title": "x", "content": text})},
    ],
)
def test_one_kind_of_evidence_is_not_enough(value, tmp_path):
    assert talks_of(value) == []
    assert not messages.recognise(Source(written(tmp_path, value)))
