"""Names, values and records as columns: what a reader of unknown shapes sees of them."""

import pytest

from pastchats_memory.formats.generic.shapes.inference.columns import columns_of, joined, row_of
from pastchats_memory.formats.generic.shapes.naming import side_of, words_of
from pastchats_memory.formats.generic.shapes.values import asks, is_choice, is_prose, may_hold_prose, prose_share


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
        ("system_prompt", "system"),
        ("instructions", "system"),
        ("instruction", "user"),
        ("system_reply", "assistant"),
        ("models", "assistant"),
        ("tool_output", "assistant"),
        ("tool_return", "tool"),
        ("weather", None),
        ("personal", None),
    ],
)
def test_a_word_of_a_name_says_whose_side_it_is(name, side):
    assert side_of(name) == side


def test_a_letter_says_who_speaks_alone_and_not_in_an_id():
    assert (side_of("a"), side_of("q_1"), side_of("run_a7e8f")) == ("assistant", "user", None)


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
    for said in ("Stop here.", "止まれ", ["Stop", "here", "and", "wait"]):
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
