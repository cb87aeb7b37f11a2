"""Take the screenshots of the README from the sample history, with the Chromium of this system.

`make screenshots` runs it. The server, its database and the copy of the history are temporary.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import ViewportSize, sync_playwright

REPOSITORY = Path(__file__).resolve().parents[1]
PROGRAM = Path(sys.executable).with_name("pastchats-memory")
FOLDER = REPOSITORY / "docs" / "images"
SIZE: ViewportSize = {"width": 1000, "height": 700}
PAGES: Sequence[tuple[str, Literal["light", "dark"], str]] = (
    ("search", "light", "/?query=webhook+retries"),
    ("conversation", "light", "/page/conversation?id=019c6a52-7b1d-7e60-9a54-3c2e8f0b6d11"),
    ("projects", "dark", "/page/projects"),
)
"""Name of the file, colours of the system, and address."""
LINK = re.compile(r"(http://\S+?)/\?token=\S+")


@contextmanager
def serve_demo() -> Iterator[tuple[str, str]]:
    """Serve the sample history; yield the address of the server, and its link."""
    with tempfile.TemporaryDirectory(prefix="demo-") as folder:
        shutil.copytree(REPOSITORY / "fixtures" / "demo" / "history", Path(folder) / "history")
        environment = {**os.environ, "HOME": folder, "PASTCHATS_MEMORY_DB": str(Path(folder) / "memory.db")}
        index, serve = ("index", "history"), ("serve", "--port", "0")
        subprocess.run((PROGRAM, *index), cwd=folder, env=environment, check=True, capture_output=True)  # noqa: S603 - our own program
        process = subprocess.Popen(  # noqa: S603 - as above
            (PROGRAM, *serve), cwd=folder, env=environment, stderr=subprocess.PIPE, encoding="utf-8"
        )
        try:
            found = next(found for line in process.stderr or () if (found := LINK.search(line)))
            yield found[1], found[0]
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    """Write every screenshot."""
    FOLDER.mkdir(exist_ok=True)
    with serve_demo() as (server, link), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=sys.argv[1], args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(link)
        for name, scheme, address in PAGES:
            page.emulate_media(color_scheme=scheme)
            page.goto(server + address)
            page.screenshot(path=FOLDER / f"{name}.png")
            print(f"wrote {name}.png")
        browser.close()


if __name__ == "__main__":
    main()
