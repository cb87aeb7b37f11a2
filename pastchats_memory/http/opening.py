"""Open the page in the browser of the person who started the server.

Every account of a machine can read the words of a command, so the browser is given a file that only this account can
read, and the file leads to the link.
"""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from threading import Thread

from pastchats_memory.files.atomic import write_atomic

FILE = "open-page.html"


def has_screen() -> bool:
    """Return whether a person at a terminal has a browser on a screen of this machine."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()) or "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform in ("win32", "darwin") or any(os.environ.get(one) for one in ("DISPLAY", "WAYLAND_DISPLAY"))


@contextmanager
def opening(folder: Path, link: str) -> Iterator[None]:
    """Open a link by a file in a folder, which is deleted at the end; do nothing if it cannot be written."""
    file = folder / FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # it may be a link, or a file that others can read
        head = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(link)}"><title>pastchats-memory</title>'
        write_atomic(file, f"<!doctype html>{head}\n".encode())
        Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
    except OSError:  # the printed link is enough
        pass
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
