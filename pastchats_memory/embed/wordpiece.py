"""The packaged model's tokenizer: what a window is cut by and what budgets are counted in.

Nothing is loaded before the first text; the `tokenizers` library and the file then take about 25 ms.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

FOLDER = Path(__file__).with_name("minilm")
REINSTALL = "reinstall pastchats-memory: a file of the package is missing or damaged"
UNKNOWN = "[UNK]"
DROPPED = {"Cc", "Cf", "Cn", "Co", "Mn"}


@cache
def tokenizer() -> Tokenizer:
    """The packaged tokenizer, loaded once; raises ModelUnavailable where its file cannot be read."""
    try:
        from tokenizers import Tokenizer

        content = (FOLDER / "tokenizer.json").read_bytes()
    except (ImportError, OSError) as fault:
        raise ModelUnavailable(f"the packaged tokenizer cannot be loaded: {fault}", REINSTALL) from fault
    loaded = Tokenizer.from_buffer(content)
    loaded.encode_special_tokens = True  # a text that says "[SEP]" says five characters
    return loaded


def encode(text: str) -> Encoding:
    """The WordPieces of any string, without [CLS] and [SEP]; lone surrogates count as U+FFFD, pairs as one character."""
    if not text.isascii():
        text = whole(text)
    return tokenizer().encode(text, add_special_tokens=False)


def wordpieces(text: str) -> tuple[int, list[str]]:
    """How many WordPieces the vocabulary has for the text, and the pieces of the text that it has none for.

    The second part holds the words that became [UNK] (any of more than 100 characters, most emoji) and what the
    normaliser dropped without leaving a piece (control characters, zero-width ones, loose accents), blanks excepted.
    """
    if not text.isascii():
        text = whole(text)
    encoding = encode(text)
    known, strange, at = 0, [], 0
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        if start > at:
            strange += text[at:start].split()
        if token == UNKNOWN:
            strange.append(text[start:end])
        else:
            known += 1
            if end - start > len(token.removeprefix("##")):
                strange += [letter for letter in text[start:end] if category(letter) in DROPPED]
        at = max(at, end)
    return known, strange + text[at:].split()


def whole(text: str) -> str:
    """The text with surrogate pairs as their characters and lone surrogates as U+FFFD: what tokenizers take."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
