"""Ask the memory from threads: each question that runs at the same time has its own connection."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, LifoQueue
from typing import TypeVar

from pastchats_memory.config import Config
from pastchats_memory.errors import MemoryFault
from pastchats_memory.memory import Memory
from pastchats_memory.memory.reconnecting import ReconnectingMemory

Answer = TypeVar("Answer")

MAX_QUESTIONS = 4
"""Questions answered at once, at most one per processor: a question has two threads of its own."""


class OpenMemory:
    """Opens the memory once for every question that runs at the same time; no connection is shared."""

    def __init__(self, config: Config, report: Callable[[str], None]) -> None:
        """Use the configured database; `report` gets every notice about its opening once."""
        self._config = config
        self._report = report
        self._reported = {*config.warnings}  # the command has shown these
        self._threads = ThreadPoolExecutor(min(MAX_QUESTIONS, os.cpu_count() or 1), "memory")
        self._idle: LifoQueue[ReconnectingMemory] = LifoQueue()
        """Last in, first out: a single client always gets the connection with the most recently read pages."""

    async def ask(self, call: Callable[[Memory], Answer]) -> Answer:
        """Return the result of the call. Raises MemoryFault if the memory cannot be opened, or cannot answer."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, call)

    async def begin(self) -> None:
        """Open the memory; report if that fails. Every question tries again."""
        try:
            await self.ask(lambda _: None)
        except MemoryFault as fault:
            self._report(f"{fault.message}; until then every question is answered with an error. {fault.hint}".strip())

    async def close(self) -> None:
        """Close the memory after the running questions are answered."""
        await asyncio.to_thread(self._threads.shutdown)
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _answer(self, call: Callable[[Memory], Answer]) -> Answer:
        try:
            standing = self._idle.get_nowait()
        except Empty:
            standing = ReconnectingMemory(self._config, self._notify)
        try:
            memory = standing.connect()
            with memory.explain_damage():
                return call(memory)
        finally:
            self._idle.put(standing)

    def _notify(self, notice: str) -> None:
        if notice not in self._reported:
            self._reported.add(notice)
            self._report(notice)
