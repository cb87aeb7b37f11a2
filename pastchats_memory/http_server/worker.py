"""The few threads in which the memory is opened and asked, so that the event loop stays free."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, LifoQueue
from typing import TypeVar

from pastchats_memory.config import Config
from pastchats_memory.errors import MemoryFault
from pastchats_memory.memory import Memory, StandingMemory

Answer = TypeVar("Answer")
MOST_AT_ONCE = 4
"""Questions that are answered side by side, on as many processors: a question has two threads of its own."""


class OpenMemory:
    """The memory, opened once for each question that is answered beside others; no connection is ever shared."""

    def __init__(self, config: Config, say: Callable[[str], None]) -> None:
        """Over the configured database; `say` is told once what a person should know about how it was opened."""
        self._config = config
        self._say = say
        self._said = {*config.warnings}  # which the command has said
        self._threads = ThreadPoolExecutor(min(MOST_AT_ONCE, os.cpu_count() or 1), "memory")
        self._idle: LifoQueue[StandingMemory] = LifoQueue()
        """Last in, first out: a client alone always meets the connection whose pages were read last."""

    async def ask(self, call: Callable[[Memory], Answer]) -> Answer:
        """What the call says.

        Raises:
            MemoryFault: the memory cannot be opened, or not asked this.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, call)

    async def begin(self) -> None:
        """Open it, and say where that cannot be done: it is tried again with each question."""
        try:
            await self.ask(lambda _: None)
        except MemoryFault as fault:
            self._say(f"{fault.message}; until then every question is answered with an error. {fault.hint}".strip())

    async def close(self) -> None:
        """Give the file back when the questions that are being answered are."""
        await asyncio.to_thread(self._threads.shutdown)
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _answer(self, call: Callable[[Memory], Answer]) -> Answer:
        try:
            standing = self._idle.get_nowait()
        except Empty:
            standing = StandingMemory(self._config, self._notice)
        try:
            memory = standing.opened()
            with memory.explaining_damage():
                return call(memory)
        finally:
            self._idle.put(standing)

    def _notice(self, notice: str) -> None:
        if notice not in self._said:
            self._said.add(notice)
            self._say(notice)
