"""Edit the list `exclude` of the user's own file; everything else in the file stays as it is.

Every function raises UsageFault if the file cannot be read or written.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from pastchats_memory.config import own_file
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.atomic import write_atomic

KEY = "exclude"
LONGEST_WAIT_S = 10.0


def excluded() -> tuple[str, ...]:
    """Return the globs in the user's own file."""
    _, document = _read()
    return tuple(map(str, document.get(KEY, ())))


def exclude(globs: Sequence[str]) -> None:
    """Add globs that are not there yet."""
    _change(lambda listed: [*listed, *(glob for glob in dict.fromkeys(globs) if glob not in listed)])


def include_again(globs: Sequence[str]) -> None:
    """Remove globs. Raises UsageFault if one of them is not in the list."""

    def without(listed: list[str]) -> list[str]:
        if missing := [glob for glob in globs if glob not in listed]:
            raise UsageFault(
                f"{missing[0]!r} is not excluded in your own file", "See `pastchats-memory exclude --list`."
            )
        return [glob for glob in listed if glob not in globs]

    _change(without)


def _read() -> tuple[Path, tomlkit.TOMLDocument]:
    path = own_file()
    if path is None:
        raise UsageFault(
            "the home folder is not known", "Set XDG_CONFIG_HOME, or put a .pastchats-ignore into the folder."
        )
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        document = tomlkit.document()
    except (OSError, ValueError, TOMLKitError) as fault:
        raise UsageFault(
            f"{path}: {fault}", "Correct the file; after that `pastchats-memory config` shows what counts."
        ) from fault
    if not isinstance(document.get(KEY, []), list):
        raise UsageFault(f"{path}: `{KEY}` must be a list of texts", "Correct the file.")
    return path, document


def _change(how: Callable[[list[str]], list[str]]) -> None:
    """Change the list while no other process does, where there are locks."""
    from filelock import FileLock  # brings asyncio, which a reader of the list has no use for

    target = Path(os.path.realpath(_read()[0]))
    with ExitStack() as held:
        with suppress(OSError, NotImplementedError):  # no locks here, or the other process stands still
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            held.enter_context(FileLock(f"{target}-lock", LONGEST_WAIT_S, mode=0o600, fallback_to_soft=False))
        path, document = _read()
        before = [str(glob) for glob in document.get(KEY, [])]
        after = how(before)
        if KEY not in document:
            document[KEY] = tomlkit.array()  # before the first table, where it belongs
        listed = document[KEY]
        assert isinstance(listed, list)  # noqa: S101 - as `_read` has made sure, for the checker of types
        for glob in {*before} - {*after}:
            listed.remove(glob)
        listed.extend(glob for glob in after if glob not in before)
        _write(path, tomlkit.dumps(document))


def _write(path: Path, text: str) -> None:
    try:
        write_atomic(path, text.encode())
    except OSError as fault:
        raise UsageFault(
            f"{path}: {fault.strerror}", "Make it writable, or put a .pastchats-ignore into the folder."
        ) from fault
