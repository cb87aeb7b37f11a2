"""Which rules secrets are found by."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def rules() -> str:
    """The version of the rules, which nobody has to count up: twelve hex digits of what they are written in."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
