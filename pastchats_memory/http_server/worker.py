"""The one thread in which the memory is opened and asked, so that the event loop stays free."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pastchats_memory.config import Config
from pastchats_memory.errors import MemoryFault
from pastchats_memory.memory import Memory
from pastchats_memory.store.database import file_identity

Answer = TypeVar("Answer")


class OpenMemory:
    """The memory, opened at the first question and again only where another file has taken the database's place."""

    def __init__(self, config: Config, say: Callable[[str], None]) -> None:
        """Over the configured database; `say` is told once what a person should know about how it was opened."""
        self._config = config
        self._say = say
        self._thread = ThreadPoolExecutor(1, "memory")
        self._memory: Memory | None = None
        self._file: tuple[int, int] | None = None

    async def ask(self, call: Callable[[Memory], Answer]) -> Answer:
        """What the call says, after those that were asked before it.

        Raises:
            MemoryFault: the memory cannot be opened, or not asked this.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._asked, call)

    async def begin(self) -> None:
        """Open it, and say where that cannot be done: it is tried again with each question."""
        try:
            await self.ask(lambda _: None)
        except MemoryFault as fault:
            self._say(f"{fault.message}; until then every question is answered with an error. {fault.hint}".strip())

    async def close(self) -> None:
        """Give the file back when the question that is being answered is."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._closed)
        self._thread.shutdown()

    def _asked(self, call: Callable[[Memory], Answer]) -> Answer:
        if self._memory is None or self._file != file_identity(self._config.database):
            self._closed()
            self._memory = Memory.open(self._config.database, create=False, config=self._config)
            self._file = file_identity(self._config.database)
            for notice in self._memory.notices:
                self._say(notice)
        return call(self._memory)

    def _closed(self) -> None:
        if self._memory is not None:
            memory, self._memory = self._memory, None
            memory.close()
