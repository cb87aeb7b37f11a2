"""Wait for a condition. The limit only catches a hang, so a busy machine never reaches it."""

from __future__ import annotations

import time
from collections.abc import Callable

HANG_S = 600
"""Seconds after which a process or a condition counts as hanging."""
FOREVER_S = 1_000_000
"""Seconds of a pause that a test ends from outside."""
_PAUSE_S = 0.02


def wait_until(is_met: Callable[[], object], hang_s: float = HANG_S) -> None:
    """Return once the condition is met.

    Raises:
        AssertionError: it was not met within `hang_s` seconds.
    """
    give_up = time.monotonic() + hang_s
    while not is_met():
        assert time.monotonic() < give_up, f"not met within {hang_s} seconds"
        time.sleep(_PAUSE_S)
