"""Protocol buffers are read as far as they are whole."""

from __future__ import annotations

import pytest

from pastchats_memory.formats.base.protobuf import MOST_FIELDS, text_at, value_at

LONG = b"\xff" * 9 + b"\x01"
"""The number -1, and as the size of a text far more than there is."""


def test_a_negative_number_does_not_hide_the_fields_behind_it() -> None:
    message = b"\x18" + LONG + b"\x12\x02hi"
    assert value_at(message, 3) == (1 << 64) - 1
    assert text_at(message, (2,)) == "hi"


@pytest.mark.parametrize("damage", [b"\x12" + LONG + b"x", b"\xff" * 100, b"\x0b", b"\x12\x05ab", b"\x0d\x00", b"\x08"])
def test_the_part_of_a_message_before_its_damage_is_read(damage: bytes) -> None:
    message = b"\x0a\x02hi" + damage
    assert text_at(message, (1,)) == "hi"
    assert value_at(message, 2) is None


def test_a_message_of_endless_fields_is_read_up_to_a_limit() -> None:
    assert text_at(b"\x08\x01" * MOST_FIELDS + b"\x12\x02hi", (2,)) == ""
