"""Local-first hybrid recall over the conversations that people and their coding agents already have on disk."""

from pastchats_memory.errors import MemoryFault

TYPE_CHECKING = False  # a hook does without the import of typing
if TYPE_CHECKING:
    from pastchats_memory.memory import Memory
    from pastchats_memory.model import Hit, Item
    from pastchats_memory.model.episodes import RecallBlock

__version__ = "1.0.0"
__all__ = ["Hit", "Item", "Memory", "MemoryFault", "RecallBlock"]


def __getattr__(name: str) -> object:
    """Import `Memory` and its values on first use: `--version` needs neither NumPy nor SQLite."""
    if name == "Memory":
        from pastchats_memory.memory import Memory

        return Memory
    if name in __all__:
        from pastchats_memory.model import episodes

        return getattr(episodes, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names only."""
    return __all__
