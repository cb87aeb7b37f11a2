"""What a text costs a language model, from above: the token count that every budget is kept in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

WordPieces = Callable[[str], tuple[int, Sequence[str]]]
"""What the pieces of a text that a vocabulary knows cost, and the pieces of the text that are paid by the byte."""

MARGIN = 1.02
"""Without it a real tokenizer counted more in 1 of 317 hard texts."""

BLANKS = re.compile(r" {1,16}|\s")
"""What one token of blanks can hold at most: tokenizers merge spaces freely, all others hardly."""


def count_tokens(text: str, wordpieces: WordPieces) -> int:
    """Tokens of a text, never below what a real tokenizer counts; 0 only for the empty text.

    What the known pieces cost, the UTF-8 bytes of the others (byte-level tokenizers fall back to bytes), and one for each
    newline and each run of spaces (a run of more than 16 is several; other blanks cost their bytes), times MARGIN,
    rounded up. Held against the vocabularies of GPT-4 and later, Llama 3, DeepSeek, Qwen, GLM, Gemma, Kimi, Mistral and
    others; those of 32,000 to 50,000 entries (GPT-2, Llama 2) take more for deep indentation, which they split.
    """
    known, unknown = wordpieces(text)
    spelled = sum(len(piece.encode("utf-8", "surrogatepass")) for piece in unknown)
    blanks = sum(1 if blank.isascii() else len(blank.encode("utf-8")) for blank in BLANKS.findall(text))
    return math.ceil((known + spelled + blanks) * MARGIN)
