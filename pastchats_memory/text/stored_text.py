"""Reduce a text to what is stored: without embedded media, and of bounded length."""

import re
from collections.abc import Mapping

from pastchats_memory.text.truncate import keep_head, keep_tail

LONGEST_TEXT = 2_500_000
"""Characters of a text that is stored whole."""
HEAD, TAIL = 1_500_000, 500_000
"""Characters of a longer text that are stored of its start and its end."""
LEFT_OUT = "characters are not stored; `show` reads them from the source …]"
LEFT_OUT_KEY = "left_out"
"""Key of the metadata with the number of characters that are not stored."""
LEAST_RUN = 2000
"""Characters of base64 in one word that are media, whatever stands before them."""
LEAST_URI = 200
"""Characters of a data URI without base64 that is media; a shorter one is a part of code."""
KIB = 1024

_DATA_URI = re.compile(
    rf"""
    data:(?P<type>[a-z]+/[\w.+-]+)(?:;[\w.+="-]+){{0,8}}?
    (?:
        ;base64,\s?(?P<base64>[\w+/%-]{{64,}}+=*(?:\\?\s{{1,2}}[\w+/-]{{60,}}+=*)*(?:\s{{1,2}}[\w+/-]{{1,76}}={{1,2}})?)
        | ,(?P<plain>[^\s"'`()<>]{{{LEAST_URI},}}+)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_RUN = re.compile(rf"(?<![\w+/-])[\w+/-]{{{LEAST_RUN},}}+={{0,2}}", re.ASCII)
_MAGIC = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi0": "application/pdf",
    "UEsDB": "application/zip",
    "SUQz": "audio/mpeg",
}
_BASE64_MIX = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"\d"))


def name_media(text: str) -> str:
    """Replace data URIs, and words of base64 too long for anything else, by type and size: `[image/png, 7 KiB]`."""
    if "data:" in text or "DATA:" in text:
        text = _DATA_URI.sub(_name_uri, text)
    return _RUN.sub(_name_run, text) if len(text) >= LEAST_RUN else text


def _name_uri(found: re.Match[str]) -> str:
    base64 = found["base64"]
    return _name(found["type"].lower(), len(base64) * 3 // 4 if base64 else len(found[0]))


def _name_run(found: re.Match[str]) -> str:
    run = found[0]
    if not all(kind.search(run) for kind in _BASE64_MIX) or len(set(run[:LEAST_RUN])) < 32:  # noqa: PLR2004 - of 64 letters
        return run
    type_ = next((of for start, of in _MAGIC.items() if run.startswith(start)), "base64 data")
    return _name(type_, len(run) * 3 // 4)


def _name(type_: str, size: int) -> str:
    return f"[{type_}, {size / KIB:,.0f} KiB]" if size >= KIB else f"[{type_}, {size} bytes]"


def limit_text(text: str) -> tuple[str, int]:
    """Return head and tail of a text over LONGEST_TEXT, and the number of characters between them.

    A line between both says how many characters are left out. A shorter text is returned whole.
    """
    if len(text) <= LONGEST_TEXT:
        return text, 0
    head, tail = keep_head(text, HEAD), keep_tail(text, TAIL)
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[… {left_out:,} {LEFT_OUT}\n{tail}", left_out


def reduce_values(value: object) -> object:
    """Return a JSON value whose strings have no embedded media and a bounded length."""
    if isinstance(value, str):
        return limit_text(name_media(value))[0]
    if isinstance(value, Mapping):
        return {key: reduce_values(inner) for key, inner in value.items()}
    return [reduce_values(inner) for inner in value] if isinstance(value, list | tuple) else value
