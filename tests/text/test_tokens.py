"""The token count that budgets are kept in, with the packaged tokenizer."""

from __future__ import annotations

import math
import subprocess
import sys
from base64 import b64encode
from hashlib import sha512

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.embed.tokenizer import LinePrices, price_text
from pastchats_memory.text.tokens import MARGIN, count_tokens

ANY_TEXT = st.text(st.characters(), max_size=200)  # lone surrogates among them
ROUNDING = 2


def count(text: str) -> int:
    return count_tokens(text, LinePrices())


@given(ANY_TEXT)
def test_every_text_has_a_count_and_only_the_empty_one_costs_nothing(text: str) -> None:
    assert count(text) >= (1 if text else 0)
    assert count("") == 0


@given(ANY_TEXT, ANY_TEXT)
def test_two_texts_on_two_lines_cost_what_they_cost_apart(first: str, second: str) -> None:
    apart = count(first) + count(second)
    assert abs(count(f"{first}\n{second}") - apart) <= ROUNDING + MARGIN


@given(ANY_TEXT, ANY_TEXT)
def test_more_text_never_costs_less(first: str, second: str) -> None:
    assert count(f"{first}\n{second}") >= count(first)


def test_a_sentence_costs_its_words_and_the_blanks_between_them() -> None:
    assert count("the cat sat on the mat") == math.ceil((6 + 5) * MARGIN)


@pytest.mark.parametrize(
    ("text", "known", "unknown"),
    [
        ("plain words", 2, []),
        ("z" * 101, 0, ["z" * 101]),
        ("ok 🎉!", 2, ["🎉"]),
        ("a\u200b\u200bb", 3, ["\u200b", "\u200b"]),
        ("\u200b\u200b", 0, ["\u200b\u200b"]),
        ("cafe\u0301", 1, ["\u0301"]),
        ("[SEP]", 4, []),
        ("2026-11", 4 + 1 + 2, []),
        ("aB", 2, []),
        ("né", 2, []),
        ("ա", 1, ["ա"]),
        (" \n\t ", 0, []),
    ],
)
def test_text_outside_the_vocabulary_is_paid_by_the_byte(text: str, known: int, unknown: list[str]) -> None:
    assert LinePrices()(text) == (known, unknown)


@given(st.lists(ANY_TEXT, max_size=4).map("\n".join), ANY_TEXT)
def test_the_price_of_a_text_is_that_of_its_lines(text: str, more: str) -> None:
    prices = LinePrices()
    for one in (text, f"{more}\n{text}", more, text):
        assert prices(one) == price_text(one)


NOISE = b"".join(sha512(bytes([n])).digest() for n in range(59))[:3750]


# the most that one of three published tokenizers (65,000 to 200,000 entries, byte-level) takes for the text
@pytest.mark.parametrize(
    ("text", "real"),
    [
        pytest.param(b64encode(NOISE).decode(), 3_576, id="base64 of 5,000 characters"),
        pytest.param("QUJD" * 1250, 2_500, id="a word of 5,000 characters"),
        pytest.param(NOISE[:600].hex(), 691, id="hex"),
        pytest.param(NOISE[:100].hex(" "), 210, id="hex in pairs"),
        pytest.param("数据库连接被拒绝" * 20, 160, id="Chinese"),
        pytest.param("データベースに接続できません。" * 10, 160, id="Japanese"),
        pytest.param("데이터베이스 연결 실패 " * 10, 122, id="Korean"),
        pytest.param("फ़ाइल नहीं मिली " * 10, 181, id="Hindi"),
        pytest.param("🎉🚀" * 40, 240, id="emoji"),
        pytest.param("👨‍👩‍👧" * 10, 130, id="joined emoji"),
        pytest.param("\n".join(" " * n + "x" for n in range(40)), 117, id="indentation"),
        pytest.param("\t" * 64, 8, id="tabs"),
        pytest.param(" " * 640, 5, id="spaces"),
        pytest.param("\u3000" * 40, 20, id="wide spaces"),
        pytest.param("\r\n" * 50, 13, id="line ends of Windows"),
        pytest.param("\x00\x01\x02" * 30, 90, id="control characters"),
        pytest.param("a\u200bb" * 60, 121, id="zero-width spaces"),
        pytest.param("e\u0301\u0323" * 40, 160, id="stacked accents"),
        pytest.param("│ ├── └──" * 20, 160, id="drawn trees"),
        pytest.param("<|endoftext|>" * 9, 55, id="special tokens of others"),
    ],
)
def test_hard_texts_cost_at_least_what_they_really_cost(text: str, real: int) -> None:
    assert count(text) >= real


def test_counting_loads_neither_onnxruntime_nor_fastembed() -> None:
    program = (
        "import sys; from pastchats_memory.text.tokens import count_tokens\n"
        "from pastchats_memory.embed.tokenizer import LinePrices\n"
        "count_tokens('some words', LinePrices())\n"
        "print(sorted({'onnxruntime', 'fastembed'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
