"""Another process is known by its number for as long as it runs."""

from __future__ import annotations

import os
import subprocess
import sys

from pastchats_memory.store.atomic_file import is_alive


def test_a_process_is_alive_until_it_has_ended() -> None:
    assert is_alive(os.getpid())
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_alive(other.pid)
    other.communicate()
    assert not is_alive(other.pid)
