"""The packaged model's tokenizer: what a window is cut by and what budgets are counted in.

Nothing is loaded before the first text; the `tokenizers` library and the file then take about 25 ms.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category, normalize

import orjson

from pastchats_memory.embed import forkserver
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Ids = NDArray[np.int64]

FOLDER = Path(__file__).with_name("minilm")
REINSTALL = "reinstall pastchats-memory: a file of the package is missing or damaged"
PRICE_REQUEST = "pieces"
"""What a copy of this process is asked for."""
UNKNOWN = "[UNK]"
DROPPED = {"Cc", "Cf", "Cn", "Co", "Mn"}
CASE_CHANGES = re.compile("[a-z](?=[A-Z])|[A-Z]{3,}")
COSTLY_SCRIPTS = re.compile("[\u0250-\u02ff\u0530-\u058f\u0700-\u1fff\u2070-\u209f\uf900-\ufaff]")
"""Scripts of which tokenizers have some letters or none: Armenian, and those from Syriac to extended Greek."""


@cache
def tokenizer() -> Tokenizer:
    """The packaged tokenizer, loaded once; raises ModelUnavailable where its file is missing or damaged."""
    try:
        from tokenizers import Tokenizer

        loaded = Tokenizer.from_buffer((FOLDER / "tokenizer.json").read_bytes())
    except (ImportError, OSError, ValueError) as fault:
        raise ModelUnavailable(f"the packaged tokenizer cannot be loaded: {fault}", REINSTALL) from fault
    loaded.encode_special_tokens = True  # a text that says "[SEP]" says five characters
    return loaded


def encode(text: str) -> Encoding:
    """The WordPieces of any string, without [CLS] and [SEP]; lone surrogates count as U+FFFD, pairs as one character."""
    if not text.isascii():
        text = repair_surrogates(text)
    return tokenizer().encode(text, add_special_tokens=False)


def wordpieces(text: str) -> tuple[int, list[str]]:
    """What `costs` says, of this process or of the one beside it that has loaded the tokenizer. Raises ModelUnavailable."""
    answered = forkserver.ask(PRICE_REQUEST, text)
    if answered is None:
        return price_text(text)
    known, strange = orjson.loads(answered)
    return known, strange


def price_text(text: str) -> tuple[int, list[str]]:
    """What the text costs in WordPieces, and the pieces of the text that are to be paid by the byte.

    A piece costs one, one of several digits as many: Gemma, Qwen and Mistral read them one by one. Where the normaliser
    took an accent off a letter, or made one word of two cases (as in base64), it costs one more. The second part holds the words that became [UNK] (any of more than 100
    characters, most emoji), letters of scripts for which vocabularies have hardly more than bytes, and what the
    normaliser dropped without leaving a piece (control characters, zero-width ones, loose accents), blanks excepted.
    """
    if not text.isascii():
        text = repair_surrogates(text)
    encoding = encode(text)
    known, strange, at = 0, [], 0
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        if start > at:
            strange += text[at:start].split()
        at = max(at, end)
        surface = text[start:end]
        if token == UNKNOWN:
            strange.append(surface)
        elif surface.isascii():
            known += _price(surface)
        else:
            dropped = [letter for letter in surface if category(letter) in DROPPED]
            strange += dropped + COSTLY_SCRIPTS.findall(surface)
            known += _price(surface) + len(dropped) + sum(map(_is_accented, surface))
    return known, strange + text[at:].split()


@lru_cache(maxsize=1 << 15)
def _price(surface: str) -> int:
    return max(1, sum(map(str.isdecimal, surface))) + len(CASE_CHANGES.findall(surface))


@cache
def _is_accented(letter: str) -> bool:
    return any(category(part) == "Mn" for part in normalize("NFD", letter)[1:])


def repair_surrogates(text: str) -> str:
    """The text with surrogate pairs as their characters and lone surrogates as U+FFFD: what tokenizers take."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# The tokenizer of a model's folder, cut as its own files say: the same ids that fastembed gives its graphs.


def _json(path: Path) -> dict[str, Any]:
    """The object in a file, empty where there is no file. Raises OSError, ValueError."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} holds no object")  # noqa: TRY004 - a file's fault, not a caller's
    return found
