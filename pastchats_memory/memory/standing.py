"""A memory that a server asks again and again."""

from __future__ import annotations

from collections.abc import Callable

from pastchats_memory.config import Config
from pastchats_memory.memory import Memory
from pastchats_memory.store.database import file_identity


class StandingMemory:
    """The configured memory, opened when it is first asked and again where another file has taken the database's place."""

    def __init__(self, config: Config, say: Callable[[str], None] = lambda _: None, *, create: bool = False) -> None:
        """`say` is told whenever it is opened what a person should know about how; `create` makes it where there is none."""
        self._config = config
        self._say = say
        self._create = create
        self._memory: Memory | None = None
        self._file: tuple[int, int] | None = None

    def opened(self) -> Memory:
        """It, over the file of now. Raises MemoryFault."""
        file = self._config.database
        if self._memory is None or self._file != file_identity(file):
            self.close()
            self._memory = Memory.open(file, create=self._create, config=self._config)
            self._file = file_identity(file)
            for notice in self._memory.notices:
                self._say(notice)
        return self._memory

    def close(self) -> None:
        """Give the file back."""
        if self._memory is not None:
            memory, self._memory = self._memory, None
            memory.close()
