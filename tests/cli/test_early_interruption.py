"""Ctrl-C while a question is still starting up."""

from __future__ import annotations

import pytest
from program import Program

INTERRUPT_AT = """
import signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""
"""Sends the process an interruption when it imports a module."""


@pytest.mark.parametrize("module", ["pastchats_memory.cli", "click", "apsw", "numpy", "pastchats_memory.memory"])
def test_an_interruption_at_the_start_ends_at_once_without_a_traceback(own_demo: Program, module: str) -> None:
    stopped = own_demo.altered(INTERRUPT_AT.format(module=module))("recall", "webhook retries")
    assert (stopped.status, stopped.stdout, stopped.stderr) == (130, "", "")
