"""Which rules secrets are found by."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pastchats_memory.rulebook import version_of


@cache
def rules() -> str:
    """The version of the rules: of all that this room states."""
    return version_of(sorted(Path(__file__).parent.glob("*.py")))
