import pytest

from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.text.clean import clean
from pastchats_memory.text.truncate import OUTPUT_HEAD, OUTPUT_TAIL, keep_head, keep_tail, truncate_middle


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\0b", "ab"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\ud83d\ude00", "😀"),
        ("lone \ud83d end", "lone � end"),
        ("  kept  ", "  kept  "),
    ],
)
def test_text_is_made_fit_to_be_stored(raw, shown):
    assert clean(raw) == shown


def test_a_long_output_keeps_its_beginning_and_its_end():
    text = "a" * OUTPUT_HEAD + "b" * 500 + "c" * OUTPUT_TAIL
    assert truncate_middle(text) == "a" * OUTPUT_HEAD + "\n[… 500 characters left out …]\n" + "c" * OUTPUT_TAIL
    assert truncate_middle("short") == "short"


def test_a_run_without_an_end_in_sight_is_cut_where_the_room_ends():
    assert keep_head("A" * 1000, 500) == "A" * 500
    assert keep_tail("short", 500) == "short"
    assert keep_head("see " + "A" * 150 + " there", 100) == "see "


def test_a_made_id_depends_on_the_first_three_messages_alone():
    messages = [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]
    assert conversation_hash(messages) == conversation_hash(messages[:3]) != conversation_hash(messages[:2])
    assert conversation_hash([("user", "ab")]) != conversation_hash([("usera", "b")])
