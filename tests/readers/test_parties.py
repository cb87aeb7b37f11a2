"""Who it is that a word, a number or a flag stands for."""

import pytest

from pastchats_memory.readers.parties import Document, sides_of


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


def test_of_two_codes_the_one_who_begins_asks_and_says_less_is_the_person_but_names_stay_names():
    nobody = Document({})
    asked = sides_of(["L", "M", "L"], ["It rises slowly.", "why?", "It is too cold."], nobody, "k", "x")
    assert {word: role for word, (role, _) in asked.items()} == {"L": "assistant", "M": "user"}
    began = sides_of(["in", "out", "in"], ["Two loaves", "At ten or at eleven o'clock?", "ten"], nobody, "dir", "x")
    assert {word: role for word, (role, _) in began.items()} == {"in": "user", "out": "assistant"}
    assert sides_of(["Ada", "Grace"], ["a?", "b"], nobody, "k", "x") == {}
