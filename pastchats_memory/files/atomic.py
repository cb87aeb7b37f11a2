"""Write a small file atomically."""

import os
import stat
from pathlib import Path


def write_atomic(path: Path, content: bytes, *, is_durable: bool = True) -> None:
    """Replace the content of a file, all or nothing; one that `is_durable` survives a loss of power.

    A new file is readable by its owner alone. A link stays a link, and an existing file keeps its mode. After an OSError
    the file is unchanged, and no temporary file is left.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f"{target.name}.pastchats-memory-{os.getpid()}")
    try:
        fresh.touch(mode=stat.S_IRUSR | stat.S_IWUSR)
        with fresh.open("wb") as file:
            file.write(content)
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        if target.exists():
            fresh.chmod(stat.S_IMODE(target.stat().st_mode))
        fresh.replace(target)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
