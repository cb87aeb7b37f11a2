"""What is stored of a text: media by name, and head and tail of a text that is too long."""

from __future__ import annotations

import base64

import pytest

from pastchats_memory.text.stored_text import HEAD, LONGEST_TEXT, TAIL, limit_text, name_media

BYTES = bytes(range(256)) * 28
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0" + BYTES).decode()
WRAPPED = "\n".join(PNG[at : at + 76] for at in range(0, len(PNG), 76))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"See data:image/png;base64,{PNG} above.", "See [image/png, 7 KiB] above."),
        (f"![shot](data:image/png;base64,{PNG})", "![shot]([image/png, 7 KiB])"),
        (f'<img src="data:image/webp;base64,{PNG}">', '<img src="[image/webp, 7 KiB]">'),
        (f'{{"url": "data:audio/mpeg;name=x.mp3;base64,{PNG}"}}', '{"url": "[audio/mpeg, 7 KiB]"}'),
        (f"DATA:IMAGE/PNG;BASE64,{PNG}", "[image/png, 7 KiB]"),
        (f"data:application/pdf;base64,\n{WRAPPED}\nThe end.", "[application/pdf, 7 KiB]\nThe end."),
        (f'"source": {{"data": "{PNG}"}}', '"source": {"data": "[image/png, 7 KiB]"}'),
        (PNG[20:], "[base64 data, 7 KiB]"),
        ("data:image/svg+xml," + "%3Cpath%20d" * 30, "[image/svg+xml, 349 bytes]"),
    ],
)
def test_embedded_media_are_named(text, named):
    assert name_media(text) == named


@pytest.mark.parametrize(
    "text",
    [
        "data:image/png;base64,iVBORw0KGgo=",
        "The data: it is here, and base64, too.",
        "a" * 5000,
        "0123456789abcdef" * 500,
        "/usr/lib/" * 500,
        "background: url(data:image/svg+xml,%3Csvg/%3E)",
        " ".join(["word"] * 3000),
    ],
)
def test_other_texts_stay_as_they_are(text):
    assert name_media(text) == text


def test_a_long_text_keeps_its_head_and_tail_and_says_so():
    text = "begin " + "word " * LONGEST_TEXT + "end"
    short, left_out = limit_text(text)
    assert short.startswith("begin word ")
    assert short.endswith(" end")
    assert HEAD < len(short) < HEAD + TAIL + 200
    assert f"{left_out:,} characters are not stored" in short
    assert limit_text(text[:LONGEST_TEXT]) == (text[:LONGEST_TEXT], 0)
