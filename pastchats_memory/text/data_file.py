"""Read the data files that stand beside modules."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any


@cache
def read_data(module: str, name: str) -> dict[str, Any]:
    """Return the tables of a TOML file beside a module (`__file__`). It is read once."""
    import tomllib  # here, since a cold `recall` needs few data files

    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))
