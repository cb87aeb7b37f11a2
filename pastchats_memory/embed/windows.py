"""Tokenize for a model's folder, with windows as its files say, into the ids that fastembed would pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pastchats_memory.embed.tokenizer import repair_surrogates

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Ids = NDArray[np.int64]

USUAL_WINDOW = 512
"""Tokens of a window if a model's files do not say."""
LONGEST_LIMIT = 1 << 20
"""Largest believable window; some files say 1e30 for "any"."""
CHARACTERS_A_TOKEN = 16
"""Characters that are tokenized for each token of the window; megabytes cost no more than a page."""


class Windows:
    """A tokenizer that turns texts into token ids, at most a window of each."""

    def __init__(self, folder: Path, tokens: int | None) -> None:
        """Read the folder's tokenizer.

        `tokens` is the window, None for what the folder says.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file has invalid content.
        """
        from tokenizers import AddedToken, Tokenizer

        tokenizer: Tokenizer = Tokenizer.from_buffer((folder / "tokenizer.json").read_bytes())
        for value in read_object(folder / "special_tokens_map.json").values():
            for token in value if isinstance(value, list) else [value]:
                tokenizer.add_special_tokens([token if isinstance(token, str) else AddedToken(**token)])
        tokenizer.encode_special_tokens = True  # a text that says "[SEP]" says five characters
        tokenizer.no_padding()
        self.tokens = tokens or _window(folder)
        side = read_object(folder / "tokenizer_config.json").get("truncation_side")
        direction = side or (tokenizer.truncation or {}).get("direction", "right")
        tokenizer.enable_truncation(max_length=self.tokens, direction=direction)
        self._tokenizer = tokenizer

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of each text, special ones included, of shape (tokens,) and at most a window long."""
        cut = [repair_surrogates(text[: self.tokens * CHARACTERS_A_TOKEN]) for text in texts]
        return [np.array(encoding.ids, np.int64) for encoding in self._tokenizer.encode_batch(cut)]

    def encode_pairs(self, question: str, texts: Sequence[str]) -> list[tuple[Ids, Ids]]:
        """Return for each text the ids of question and text, and the types that say to which of the two an id belongs.

        Both share one window; the longer one is cut.
        """
        most = self.tokens * CHARACTERS_A_TOKEN
        pairs = [(repair_surrogates(question[:most]), repair_surrogates(text[:most])) for text in texts]
        return [
            (np.array(encoding.ids, np.int64), np.array(encoding.type_ids, np.int64))
            for encoding in self._tokenizer.encode_batch(pairs)
        ]


def pad(rows: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Return the rows in one array, and a mask that is 1 within a row; both have the shape (rows, longest)."""
    lengths = np.array([len(row) for row in rows])
    mask = (np.arange(lengths.max())[None, :] < lengths[:, None]).astype(np.int64)
    ids = np.zeros(mask.shape, np.int64)
    ids[mask.astype(bool)] = np.concatenate(rows)
    return ids, mask


def _window(folder: Path) -> int:
    """Return the strictest limit in a folder's configurations of the tokenizer and of sentences."""
    config = read_object(folder / "tokenizer_config.json")
    limits = [config.get("model_max_length"), config.get("max_length")]
    limits.append(read_object(folder / "sentence_bert_config.json").get("max_seq_length"))
    return min((limit for limit in limits if type(limit) is int and 0 < limit <= LONGEST_LIMIT), default=USUAL_WINDOW)


def read_object(path: Path) -> dict[str, Any]:
    """Read the JSON object in a file; empty without a file. Raises OSError, ValueError."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} holds no object")  # noqa: TRY004 - a file's fault, not a caller's
    return found
