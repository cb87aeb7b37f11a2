"""Who it is that a word, a number or a flag stands for."""

import pytest

from pastchats_memory.formats.generic.shapes.inference.parties import Document, sides_of


@pytest.mark.parametrize(
    "told",
    [
        {"legend": {"x1": "customer", "x2": "assistant"}},
        {"cast": [{"id": "x1", "kind": "person"}, {"id": "x2", "kind": "automated_agent"}]},
        {"cast": [{"id": "x1", "name": "Mia"}, {"id": "x2", "name": "Crumb", "is_bot": True}]},
        {"cast": [{"id": "x2", "name": "Crumb", "engine": "crumb-2"}]},
        {"agent": {"handle": "x2"}, "by": "x1"},
        {"assistant_name": "x2"},
        {
            "asked": [{"id": "x1", "type": "people"}],
            "people": [{"id": "x1", "type": "people", "facts": {"kind": "guest"}}],
        },
    ],
)
def test_a_document_tells_who_its_codes_are(told):
    sides = sides_of(["x1", "x2", "x1"], ["a?", "b", "c"], Document(told), "code", "said")
    assert {word: role for word, (role, _) in sides.items()} == {"x1": "user", "x2": "assistant"}


def test_numbers_are_places_in_a_list_of_roles():
    sides = sides_of([0, 1], ["a", "b"], Document({"roles": ["human", "ai"]}), "r", "x")
    assert {word: role for word, (role, _) in sides.items()} == {0: "user", 1: "assistant"}


def test_who_begins_may_be_told_in_words_of_one_object():
    sides = sides_of([0, 1], ["a", "b"], Document({"begins": "customer", "then": "bot", "no": "C-4"}), "r", "x")
    assert {word: role for word, (role, _) in sides.items()} == {0: "user", 1: "assistant"}


def test_rows_that_were_made_of_the_document_tell_of_speakers_too():
    rows = [{"id": 1, "name": "Ada", "is_bot": 0}, {"id": 2, "name": "Crumb", "is_bot": 1}]
    sides = sides_of([1, 2], ["a", "b"], Document({}, rows), "voice_id", "x")
    assert {word: role for word, (role, _) in sides.items()} == {1: "user", 2: "assistant"}


def test_what_all_names_have_in_common_says_nothing_of_who_speaks():
    words = ["org.kilns.chat.desk.person.said.v2", "org.kilns.chat.desk.assistant.said.v2"]
    sides = sides_of(words, ["a", "b"], Document({}), "type", "x")
    assert [role for role, _ in sides.values()] == ["user", "assistant"]


def test_where_a_word_says_to_whom_it_goes_the_other_one_speaks():
    words = ["from_user", "to_user", "bot to customer", "to the bot", "to_archive"]
    sides = sides_of(words, ["a"] * len(words), Document({}), "direction", "x")
    assert [sides[word][0] for word in words[:4]] == ["user", "assistant", "assistant", "user"]


def test_letters_are_roles_where_there_is_one_for_each_side_and_none_is_unknown():
    def told(*letters):
        return {
            word: role for word, (role, _) in sides_of(letters, ["a"] * len(letters), Document({}), "k", "x").items()
        }

    assert told("S", "U", "A", "T") == {"S": "system", "U": "user", "A": "assistant", "T": "tool"}
    assert told("U", "A", "B") == {}
    assert told("U", "A", "Z") == {}


def test_of_two_codes_the_one_who_begins_asks_and_says_less_is_the_person_but_names_stay_names():
    nobody = Document({})
    asked = sides_of(["L", "M", "L"], ["It rises slowly.", "why?", "It is too cold."], nobody, "k", "x")
    assert {word: role for word, (role, _) in asked.items()} == {"L": "assistant", "M": "user"}
    began = sides_of(["in", "out", "in"], ["Two loaves", "At ten or at eleven o'clock?", "ten"], nobody, "dir", "x")
    assert {word: role for word, (role, _) in began.items()} == {"in": "user", "out": "assistant"}
    assert sides_of(["Ada", "Grace"], ["a?", "b"], nobody, "k", "x") == {}


@pytest.mark.parametrize(
    ("words", "roles"),
    [
        (["SYS", "USR", "AST"], ["system", "user", "assistant"]),
        (["cst", "agt"], ["user", "assistant"]),
        (["usr", "bot"], ["user", "assistant"]),
        (["USR", "QQX", "ZZX"], []),
        (["HUN", "POL", "AUT"], []),
    ],
)
def test_a_short_word_is_a_role_where_another_one_answers_it(words, roles):
    sides = sides_of(words, words, Document({}), "k", "x")
    assert {word: role for word, (role, _) in sides.items()} == dict(zip(words, roles, strict=False))


def test_a_developer_is_the_person_where_a_program_answers_and_the_program_where_a_person_asks():
    beside = sides_of(["developer", "assist"] * 2, ["x"] * 4, Document({}), "by", "x")
    assert {word: role for word, (role, _) in beside.items()} == {"developer": "user", "assist": "assistant"}
    once = sides_of(["developer", "assist", "Ada", "assist"], ["x"] * 4, Document({}), "by", "x")
    assert once["developer"][0] == "system"
