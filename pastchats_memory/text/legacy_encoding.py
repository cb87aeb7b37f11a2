"""Guess the encoding of a text that is not UTF-8, as older programs and terminals of Windows write it."""

import codecs
import re

CANDIDATES = {
    "cp932": r"[\u3041-\u30ff]",
    "euc_kr": r"[\uac00-\ud7a3]",
    "gb18030": r"[的一是不了在有我这个们中来上大为和国到以说要就会可也你对能而子那得下之年过发后作用]",
    "big5": r"[的一是不了在有我這個們中來上大為和國到以說要就會可也你對能而子那得下之年過發後作用]",
    "cp1251": r"[а-яёА-ЯЁ]{3,}",
    "cp1252": r"[ß-öø-ÿÀ-ÖØ-Ýœšž’‘“”„–—…•€«»°©§¿¡]",
}
"""The encodings that are tried in this order, each with characters that are common in its texts."""
COMMON_SHARE = {"cp932": 0.2, "euc_kr": 0.8, "gb18030": 0.05, "big5": 0.05, "cp1251": 0.8, "cp1252": 0.9}
"""The least share of those characters in all that are not ASCII."""
_DAMAGED = re.compile("[\udc80-\udcff]")
_OTHER = re.compile(r"[^\x00-\x7f]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def guess_encoding(opening: bytes, *, is_whole: bool) -> str:
    """Return the encoding of a text by its first bytes: `utf-8` unless hardly anything in it is that.

    If they are not the whole text, the last character may be cut.
    """
    text = opening.decode("utf-8", errors="surrogateescape")
    damaged = len(_DAMAGED.findall(text))
    sound = len(_OTHER.findall(text)) - damaged
    if damaged <= sound or _CONTROL.search(opening):
        return "utf-8"
    return next((name for name in CANDIDATES if _is_common(opening, name, is_whole=is_whole)), "utf-8")


def _is_common(opening: bytes, name: str, *, is_whole: bool) -> bool:
    """Return whether bytes are text in an encoding, and its characters are common in such texts."""
    try:
        text = codecs.getincrementaldecoder(name)().decode(opening, final=is_whole)
    except UnicodeDecodeError:
        return False
    common = sum(map(len, re.findall(CANDIDATES[name], text)))
    return 0 < common >= COMMON_SHARE[name] * len(_OTHER.findall(text))
