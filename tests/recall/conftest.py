"""The demo memory, opened once for the tests of a module."""

from __future__ import annotations

import pytest
from program import Reader

from pastchats_memory import Memory


@pytest.fixture(scope="module")
def demo_memory(demo: Reader):
    with Memory.open(demo.database) as opened:
        yield opened
