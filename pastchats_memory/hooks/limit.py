"""Measure how long this process has been running, by the operating system's own record of its start."""

import os
import sys
import time

LONGEST_S = 3600.0
"""A hook that seems older than this runs where the two clocks disagree."""


def seconds_since_start() -> float:
    """Return the seconds since the system started this process.

    On a busy machine, the interpreter may need seconds before it runs the first line of ours. Without such a record, as on
    macOS, return the processor time, which is never more.
    """
    if sys.platform != "linux":
        return time.process_time()
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than this takes
            # The name of the program stands in parentheses and may contain any of them; field 22 is the start.
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        elapsed = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        elapsed = -1.0
    return elapsed if 0 <= elapsed <= LONGEST_S else time.process_time()
