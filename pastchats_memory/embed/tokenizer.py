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
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Ids = NDArray[np.int64]

FOLDER = Path(__file__).with_name("minilm")
REINSTALL = "reinstall pastchats-memory: a file of the package is missing or damaged"
PIECES = "pieces"
"""What a copy of this process is asked for."""
UNKNOWN = "[UNK]"
DROPPED = {"Cc", "Cf", "Cn", "Co", "Mn"}
CAPITALS = re.compile("[a-z](?=[A-Z])|[A-Z]{3,}")
SPELLED = re.compile("[\u0250-\u02ff\u0530-\u058f\u0700-\u1fff\u2070-\u209f\uf900-\ufaff]")
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
        text = whole(text)
    return tokenizer().encode(text, add_special_tokens=False)


def wordpieces(text: str) -> tuple[int, list[str]]:
    """What `costs` says, of this process or of the one beside it that has loaded the tokenizer. Raises ModelUnavailable."""
    answered = forkserver.ask(PIECES, text)
    if answered is None:
        return costs(text)
    known, strange = orjson.loads(answered)
    return known, strange


def costs(text: str) -> tuple[int, list[str]]:
    """What the text costs in WordPieces, and the pieces of the text that are to be paid by the byte.

    A piece costs one, one of several digits as many: Gemma, Qwen and Mistral read them one by one. Where the normaliser
    took an accent off a letter, or made one word of two cases (as in base64), it costs one more. The second part holds the words that became [UNK] (any of more than 100
    characters, most emoji), letters of scripts for which vocabularies have hardly more than bytes, and what the
    normaliser dropped without leaving a piece (control characters, zero-width ones, loose accents), blanks excepted.
    """
    if not text.isascii():
        text = whole(text)
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
            strange += dropped + SPELLED.findall(surface)
            known += _price(surface) + len(dropped) + sum(map(_is_accented, surface))
    return known, strange + text[at:].split()


@lru_cache(maxsize=1 << 15)
def _price(surface: str) -> int:
    return max(1, sum(map(str.isdecimal, surface))) + len(CAPITALS.findall(surface))


@cache
def _is_accented(letter: str) -> bool:
    return any(category(part) == "Mn" for part in normalize("NFD", letter)[1:])


def whole(text: str) -> str:
    """The text with surrogate pairs as their characters and lone surrogates as U+FFFD: what tokenizers take."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# The tokenizer of a model's folder, cut as its own files say: the same ids that fastembed gives its graphs.

USUAL_WINDOW = 512
"""Tokens, where a model's files do not say."""
LONGEST_LIMIT = 1 << 20
"""Some files say 1e30 for "as many as you like"."""
CHARACTERS_A_TOKEN = 16
"""No more of a text is looked at for each token of the window: megabytes cost no more than a page."""


class Windows:
    """Texts to token ids, at most a window of each."""

    def __init__(self, folder: Path, tokens: int | None) -> None:
        """Read the folder's tokenizer; `tokens` is the window, None for what the folder says.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file does not say what it should.
        """
        from tokenizers import AddedToken, Tokenizer

        tokenizer: Tokenizer = Tokenizer.from_buffer((folder / "tokenizer.json").read_bytes())
        for token in _special_tokens(folder):
            tokenizer.add_special_tokens([token if isinstance(token, str) else AddedToken(**token)])
        tokenizer.encode_special_tokens = True  # a text that says "[SEP]" says five characters
        tokenizer.no_padding()
        self.tokens = tokens or _window(folder)
        side = _json(folder / "tokenizer_config.json").get("truncation_side")
        direction = side or (tokenizer.truncation or {}).get("direction", "right")
        tokenizer.enable_truncation(max_length=self.tokens, direction=direction)
        self._tokenizer = tokenizer

    def of(self, texts: Sequence[str]) -> list[Ids]:
        """For each text its ids, special ones among them, of shape (tokens,), at most a window long."""
        most = self.tokens * CHARACTERS_A_TOKEN
        cut = [whole(text[:most]) for text in texts]
        return [np.array(encoding.ids, np.int64) for encoding in self._tokenizer.encode_batch(cut)]

    def of_pairs(self, question: str, texts: Sequence[str]) -> list[tuple[Ids, Ids]]:
        """For each text the ids of the question and it, and of which of the two each is; a window in all, the longer one cut."""
        most = self.tokens * CHARACTERS_A_TOKEN
        pairs = [(whole(question[:most]), whole(text[:most])) for text in texts]
        return [
            (np.array(encoding.ids, np.int64), np.array(encoding.type_ids, np.int64))
            for encoding in self._tokenizer.encode_batch(pairs)
        ]


def padded(rows: Sequence[Ids]) -> tuple[Ids, Ids]:
    """The rows side by side, of shape (rows, longest), and a mask that is 1 where a row goes so far."""
    lengths = np.array([len(row) for row in rows])
    mask = (np.arange(lengths.max())[None, :] < lengths[:, None]).astype(np.int64)
    ids = np.zeros(mask.shape, np.int64)
    ids[mask.astype(bool)] = np.concatenate(rows)
    return ids, mask


def _window(folder: Path) -> int:
    """The stricter of the two limits that a tokenizer's configuration may have, or what the folder says of sentences."""
    said = _json(folder / "tokenizer_config.json")
    limits = [said.get("model_max_length"), said.get("max_length")]
    limits.append(_json(folder / "sentence_bert_config.json").get("max_seq_length"))
    real = [limit for limit in limits if type(limit) is int and 0 < limit <= LONGEST_LIMIT]
    return min(real, default=USUAL_WINDOW)


def _special_tokens(folder: Path) -> list[Any]:
    listed: list[Any] = []
    for value in _json(folder / "special_tokens_map.json").values():
        listed += value if isinstance(value, list) else [value]
    return listed


def _json(path: Path) -> dict[str, Any]:
    """The object in a file, empty where there is no file. Raises OSError, ValueError."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} holds no object")  # noqa: TRY004 - a file's fault, not a caller's
    return found
