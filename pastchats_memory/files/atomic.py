"""A small file that is written anew: all of it or nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def write_atomic(path: Path, content: bytes) -> None:
    """Give a file other content, for its owner alone where it is new. A link stays a link, and what is there keeps its mode.

    Raises OSError: it is as it was, and nothing lies beside it.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f"{target.name}.pastchats-memory-{os.getpid()}")
    try:
        fresh.touch(mode=stat.S_IRUSR | stat.S_IWUSR)
        fresh.write_bytes(content)
        if target.exists():
            fresh.chmod(stat.S_IMODE(target.stat().st_mode))
        fresh.replace(target)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
