"""Who speaks where no column says it: texts, keys, ids, records before, lists, the answer to a request; and lists that only look alike."""

import pytest
from talked import TALK, each

from pastchats_memory.formats.base.source import day_by_day, days_joined
from pastchats_memory.formats.generic.shapes.inference.bylines import of_two_lists, with_bylines
from pastchats_memory.formats.generic.shapes.inference.pages import marked_texts
from pastchats_memory.formats.generic.shapes.inference.tables import tables_of

WORDS = [text for _, text in TALK]


def speakers(records):
    return [record.get("speaker") for record in with_bylines(records)]


@pytest.mark.parametrize(
    "records",
    [
        pytest.param(each(lambda mine, text: {"line": f"{'user' if mine else 'bot'}: {text}"}), id="in the texts"),
        pytest.param(each(lambda mine, text: {"user" if mine else "bot": "x", "line": text}), id="as a key"),
        pytest.param(
            [{"id": f"{'user' if place % 2 == 0 else 'bot'}/{place}", "line": text} for place, text in enumerate(WORDS)],
            id="in the ids",
        ),
        pytest.param(
            [item for mine, text in each(lambda *said: said) for item in ({"floor": "user" if mine else "bot"}, {"line": text})],
            id="before the texts",
        ),
    ],
)  # fmt: skip
def test_who_speaks_is_told_in_other_ways_than_by_a_column(records):
    assert [str(who).replace("assistant", "bot") for who in speakers(records)] == ["user", "bot"] * 2


@pytest.mark.parametrize(
    "records",
    [
        pytest.param(each(lambda mine, text: {"id": f"{'user' if mine else 'bot'}-{len(text)}", "line": text}), id="no order"),
        pytest.param([{"id": f"user/{place}", "line": text} for place, text in enumerate(WORDS)], id="one name"),
        pytest.param([{"id": f"user/{place}", "line": text} for place, text in enumerate(WORDS[:3])] + [{"id": 4}], id="a number"),
        pytest.param([{"floor": "user"}, {"line": WORDS[0]}, {"floor": "bot"}, {"line": WORDS[1]}], id="too few"),
        pytest.param([{"floor": who, "line": WORDS[0]} for who in ("user", "bot") * 2], id="names beside texts"),
        pytest.param([{"floor": who} for who in ("user", "bot") * 4] + [{"line": WORDS[0]}], id="hardly anything said"),
        pytest.param([{"question": words} for words in WORDS] * 2, id="one key"),
        pytest.param([{"Ada": "north"}, {"Bo": "south"}] * 2, id="names with a word each"),
        pytest.param([{"floor": 1}, {"line": WORDS[0]}] * 4, id="numbers before the texts"),
        pytest.param([{"line": f"[10:0{place}] {words}"} for place, words in enumerate(("user: a", "bot: b", "-- c --"))], id="events among texts"),
    ],
)  # fmt: skip
def test_what_is_no_byline_leaves_the_records_as_they_are(records):
    assert with_bylines(records) is records


def test_two_lists_are_one_talk_where_they_take_turns():
    def two(left, right, key="at"):
        return of_two_lists({name: [{key: at, "x": "y"} for at in ats] for name, ats in (("a1", left), ("b1", right))})

    assert [one["speaker"] for one in two([1, 5.5], [3, 7])] == ["a1", "b1"] * 2
    days = [f"2026-05-0{day}" for day in range(1, 5)]
    assert [one["speaker"] for one in two(days[1::2], days[::2])] == ["b1", "a1"] * 2
    assert two([1, 2], [3, 4]) == two([5, 1], [3, 7]) == two(["x", 2], [1, 3]) == two([True, 2], [1, 3]) == []
    named = of_two_lists({"bot_said": [{"x": 1}], "user_said": [{"x": 2}]})
    assert [one["speaker"] for one in named] == ["user", "assistant"]
    assert of_two_lists({"a": [{"x": 1}], "b": [{"x": 1}], "c": [{"x": 1}]}) == []


def test_days_are_put_in_their_order_and_other_keys_are_not():
    assert day_by_day({"10.1.2026": ["b"], "9.1.2026": ["a"], "31.12.2025": [0]}) == [0, "a", "b"]
    assert day_by_day({"2026-02-01": ["b"], "2026-01-31": ["a"]}) == ["a", "b"]
    assert day_by_day({"2026-02-01": ["b"], "total": ["a"]}) == day_by_day({"2026-02-01": "b"}) == day_by_day({}) == []


def test_a_list_of_days_is_what_was_said_on_them_and_a_list_of_talks_with_dates_is_not():
    days = [
        {"date": "2026-03-01", "items": [{"line": WORDS[0]}]},
        {"date": "2026-03-02", "items": [{"line": WORDS[1]}]},
    ]
    said = [{"date": "2026-03-01", "line": WORDS[0]}, {"date": "2026-03-02", "line": WORDS[1]}]
    assert days_joined({"days": days, "n": 2}) == {"days": said, "n": 2}
    titled = [{**day, "title": "Bread"} for day in days]
    for other in ({"chats": days}, {"days": titled}, {"days": [{"date": "soon", "items": [1]}]}, {"days": 3}):
        assert days_joined(other) is other


def test_lines_with_but_a_time_are_events_and_other_lines_without_a_name_make_it_no_talk():
    lines = ["[00:01] -- on --", "[00:02] Ada: yes", "[00:03] Bot: no"]
    assert [(one["speaker"], one["text"]) for one in marked_texts(lines)] == [("Ada", "yes"), ("Bot", "no")]
    assert marked_texts([*lines, "and more"]) == []


def test_an_answer_within_a_response_stands_behind_what_was_asked():
    def records(fields):
        return [table.instances[0].records for table in tables_of(fields) if "exchange" in table.place]

    asked, answer = {"party": "ada", "words": WORDS[0]}, {"party": "bot", "words": WORDS[1]}
    sent = {"to": {"body": {"exchange": [asked]}}, "seed": 1}
    assert records({**sent, "back": {"first": {"reply": answer}}}) == [[asked, answer]]
    assert records({**sent, "back": {"again": asked}}) == [[asked]]
    assert records({**sent, "back": {f"k{place}": {} for place in range(50)}}) == [[asked]]
    assert records({**sent, "back": {"one": answer, "two": answer}}) == [[asked]]
    assert records({**sent, "back": {"note": WORDS[0]}}) == [[asked]]
    assert records({**sent, "back": {"a": {"b": {"c": {"d": answer}}}}}) == [[asked]]


def test_letters_with_numbers_are_sides_below_the_name_of_a_talk_alone():
    letters = {f"{'q' if place % 2 == 0 else 'r'}{place // 2}": text for place, text in enumerate(WORDS)}
    for key, are_sides in (("transcript", True), ("parts", False)):
        places = [table.place for table in tables_of({key: letters})]
        assert ((key, "#named") in places) is are_sides
