"""Say what a user's reply means for the answer before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import orjson

ReplyKind = Literal["rejects", "partly", "confirms", "agrees", "new", "other"]
"""`rejects`: the work failed. `partly`: a part of it did. `confirms`: it worked. `agrees`: yes, or go on. `new`: another
request, or a neutral question. `other`: a complaint about another thing."""

WEIGHTS = Path(__file__).with_name("reply_weights.json")


@dataclass(frozen=True, slots=True)
class Reply:
    """The most probable meaning of a reply."""

    kind: ReplyKind
    probability: float

    @property
    def is_clear(self) -> bool:
        """Return whether nine of ten such replies, or more, were read right."""
        return self.probability >= float(read_weights()["least"][self.kind])


@cache
def read_weights() -> dict[str, Any]:
    """Return the content of the data file: `scripts/train_replies.py` describes it."""
    return orjson.loads(WEIGHTS.read_bytes())  # type: ignore[no-any-return] # the script writes an object
