"""Tokenize with the packaged model's tokenizer.

It cuts windows and counts budgets.

It loads with the first text; the `tokenizers` library and the file then take about 25 ms.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category, normalize

import orjson

from pastchats_memory.embed import forkserver
from pastchats_memory.errors import ModelUnavailable
from pastchats_memory.text.tokens import count_tokens

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

FOLDER = Path(__file__).with_name("minilm")
REINSTALL = "reinstall pastchats-memory: a file of the package is missing or damaged"
PRICE_REQUEST = "pieces"
"""Kind of a request to the fork for the prices of lines."""
Price = tuple[int, list[str]]
"""What the known pieces of a text cost, and the pieces that are paid by the byte."""
UNKNOWN = "[UNK]"
DROPPED = {"Cc", "Cf", "Cn", "Co", "Mn"}
CASE_CHANGES = re.compile("[a-z](?=[A-Z])|[A-Z]{3,}")
COSTLY_SCRIPTS = re.compile("[\u0250-\u02ff\u0530-\u058f\u0700-\u1fff\u2070-\u209f\uf900-\ufaff]")
"""Scripts of which tokenizers know few letters or none: Armenian, and those from Syriac to extended Greek."""


@cache
def tokenizer() -> "Tokenizer":
    """Return the packaged tokenizer, loaded once. Raises ModelUnavailable for a missing or damaged file."""
    try:
        from tokenizers import Tokenizer

        loaded = Tokenizer.from_buffer((FOLDER / "tokenizer.json").read_bytes())
    except (ImportError, OSError, ValueError) as fault:
        raise ModelUnavailable(f"the packaged tokenizer cannot be loaded: {fault}", REINSTALL) from fault
    loaded.encode_special_tokens = True  # a text that says "[SEP]" says five characters
    return loaded


def encode(text: str) -> "Encoding":
    """Return the WordPieces of any string, without [CLS] and [SEP]; lone surrogates count as U+FFFD."""
    if not text.isascii():
        text = repair_surrogates(text)
    return tokenizer().encode(text, add_special_tokens=False)


class TokenCounter:
    """Counts tokens as `text.tokens.count_tokens` does, with the packaged tokenizer."""

    def __init__(self) -> None:
        self._prices = LinePrices()

    def __call__(self, text: str) -> int:
        """Return the tokens of a text."""
        return count_tokens(text, self._prices)

    def each(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, for which the fork is asked once."""
        self._prices.learn(texts)
        return [*map(self, texts)]


class LinePrices:
    """Prices of texts, remembered line by line, whose ends no piece spans.

    A block is counted whole, by its entries and by its lines.
    """

    def __init__(self) -> None:
        self._known: dict[str, Price] = {}

    def __call__(self, text: str) -> Price:
        """Return what `price_text` returns.

        Without a tokenizer every word is paid by the byte: a budget then holds less, and is never exceeded.
        """
        self.learn([text])
        prices = [self._known[line] for line in text.split("\n")]
        return sum(known for known, _ in prices), [part for _, strange in prices for part in strange]

    def learn(self, texts: Iterable[str]) -> None:
        """Find out the prices of all new lines. The fork is asked once, if it has the tokenizer."""
        further = list(dict.fromkeys(line for text in texts for line in text.split("\n") if line not in self._known))
        if further:
            self._known.update(zip(further, _price_lines(further), strict=True))


def _price_lines(lines: list[str]) -> list[Price]:
    if answered := forkserver.ask(PRICE_REQUEST, "\n".join(lines)):
        return [(known, strange) for known, strange in orjson.loads(answered)]
    try:
        return [price_text(line) for line in lines]
    except ModelUnavailable:
        return [(0, line.split()) for line in lines]


def price_text(text: str) -> Price:
    """Return a text's price in WordPieces, and its parts paid by the byte.

    A piece costs one, or one for each digit, because Gemma, Qwen and Mistral read digits one by one. It costs one more if the
    normaliser removed an accent, or joined upper and lower case (as in base64).

    Paid by the byte are words that became [UNK] (more than 100 characters, most emoji), letters of scripts that vocabularies
    hardly know, and what the normaliser dropped (control characters, zero-width ones, loose accents), except blanks.
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
    """Return the text as tokenizers require it: surrogate pairs joined, lone ones as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
