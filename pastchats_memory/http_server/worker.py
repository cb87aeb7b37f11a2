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
from pastchats_memory.memory import Memory
from pastchats_memory.store.database import file_identity

Answer = TypeVar("Answer")
MOST_AT_ONCE = 4
"""Questions that are answered side by side, on as many processors: a question has two threads of its own."""


class OpenMemory:
    """The memory, opened once for each question that is answered beside others; no connection is ever shared."""

    def __init__(self, config: Config, say: Callable[[str], None]) -> None:
        """Over the configured database; `say` is told once what a person should know about how it was opened."""
        self._config = config
        self._say = say
        self._said: set[str] = set()
        self._threads = ThreadPoolExecutor(min(MOST_AT_ONCE, os.cpu_count() or 1), "memory")
        self._idle: LifoQueue[_Asked] = LifoQueue()
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
            asked = self._idle.get_nowait()
        except Empty:
            asked = _Asked(self._config, self._notice)
        try:
            memory = asked.memory()
            with memory.explaining_damage():
                return call(memory)
        finally:
            self._idle.put(asked)

    def _notice(self, notice: str) -> None:
        if notice not in self._said:
            self._said.add(notice)
            self._say(notice)


class _Asked:
    """One connection: opened at its first question and again only where another file has taken the database's place."""

    def __init__(self, config: Config, say: Callable[[str], None]) -> None:
        self._config = config
        self._say = say
        self._memory: Memory | None = None
        self._file: tuple[int, int] | None = None

    def memory(self) -> Memory:
        """Open. Raises MemoryFault."""
        if self._memory is None or self._file != file_identity(self._config.database):
            self.close()
            self._memory = Memory.open(self._config.database, create=False, config=self._config)
            self._file = file_identity(self._config.database)
            for notice in self._memory.notices:
                self._say(notice)
        return self._memory

    def close(self) -> None:
        """Give the file back."""
        if self._memory is not None:
            memory, self._memory = self._memory, None
            memory.close()
