"""`--db "$UNSET"` must not fall through to the person's own database."""

from __future__ import annotations

import pytest

from pastchats_memory.config import load
from pastchats_memory.errors import UsageFault


def test_an_empty_database_name_is_refused() -> None:
    with pytest.raises(UsageFault, match="names no file"):
        load("", {"PASTCHATS_MEMORY_DB": "/tmp/memory.db"})  # noqa: S108 - a name, not a file
