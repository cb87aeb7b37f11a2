import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.text.legacy_encoding import guess_encoding


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Größe über 5 m? “Ja” – 3 €"),
        ("cp1252", "Déjà vu, señor: ¿qué?"),
        ("cp1251", "Почему печь перегревается? Уменьши усиление."),
        ("gb18030", "窑炉为什么过热？我们要降低增益。"),
        ("big5", "為什麼過熱？我們要降低增益。"),
        ("cp932", "なぜ窯が過熱しますか？ゲインが高い。"),
        ("euc_kr", "가마가 왜 과열되나요? 이득이 너무 높습니다."),
    ],
)
def test_a_text_is_decoded_by_the_encoding_that_fits_its_letters(encoding: str, text: str) -> None:
    raw = f"user: {text}\n".encode(encoding)
    assert raw.decode(guess_encoding(raw, is_whole=True)) == f"user: {text}\n"


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_character_that_is_cut_at_the_end_of_the_opening_decides_nothing(cut: int) -> None:
    raw = ("窑炉为什么过热？我们要降低增益。" * 3).encode("gb18030")[:-cut]
    assert guess_encoding(raw, is_whole=False) == "gb18030"


@pytest.mark.parametrize(
    "raw",
    [
        "Größe und naïve café".encode() + b"\xff",
        bytes(range(256)),
        b"\x1f\x8b\x08\x00\xe9\xe8",
        "Почему".encode("utf-16-le"),
        b"ascii only",
        b"",
    ],
)
def test_a_damaged_text_and_bytes_that_are_no_text_stay_utf_8(raw: bytes) -> None:
    assert guess_encoding(raw, is_whole=True) == "utf-8"


@given(st.text())
def test_utf_8_stays_utf_8(text: str) -> None:
    assert guess_encoding(text.encode("utf-8", "replace"), is_whole=True) == "utf-8"
