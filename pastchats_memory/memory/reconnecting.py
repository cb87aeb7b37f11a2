"""Keep a memory open for a server, also after its database file was replaced."""

from collections.abc import Callable

from pastchats_memory.config import Config
from pastchats_memory.memory import Memory
from pastchats_memory.store.database import file_identity


class ReconnectingMemory:
    """The configured memory, opened on first use, and again after its database file was replaced."""

    def __init__(self, config: Config, say: Callable[[str], None] = lambda _: None) -> None:
        """Remember how to open the memory; `say` gets each notice about the configuration whenever it is opened."""
        self._config = config
        self._say = say
        self._memory: Memory | None = None
        self._file: tuple[int, int] | None = None

    def connect(self, *, create: bool = False) -> Memory:
        """Return the memory over the present file, opened if necessary, and created if that is wanted. Raises MemoryFault."""
        file = self._config.database
        if self._memory is None or self._file != file_identity(file):
            self.close()
            self._memory = Memory.open(file, create=create, config=self._config, say=self._say)
            self._file = file_identity(file)
            for notice in self._memory.notices:
                self._say(notice)
        self._memory.fill_pending()
        return self._memory

    def close(self) -> None:
        """Close the database if it is open."""
        if self._memory is not None:
            memory, self._memory = self._memory, None
            memory.close()
