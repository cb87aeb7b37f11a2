"""A copy of a process that answers it: what is said across, and that neither outlives or hides the other's faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from waiting import HANG_S, wait_until

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.tokenizer import price_text

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no copy is made of a process elsewhere")

ASKED = ["webhook retries", "\ud800 naïve ✓\x00", "", "a long text. " * 8_000]
REFUSED = "import os\ndef refused(): raise BlockingIOError(11, 'Resource temporarily unavailable')\nos.fork = refused\n"


def run(code: str, status: int = 0) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=HANG_S)
    assert done.returncode == status, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("begin", ["", REFUSED], ids=["a copy", "no further process is allowed"])
def test_the_fork_returns_the_same_vectors_and_prices(begin: str) -> None:
    found = run(
        f"{begin}from pastchats_memory.embed.packaged import PackagedEmbedder, load_in_background\n"
        "from pastchats_memory.embed.tokenizer import LinePrices\nimport sys\nload_in_background()\n"
        f"for text in {ASKED}: print(PackagedEmbedder().embed_query(text).tobytes().hex(), ascii(LinePrices()(text)))\n"
        "print('onnxruntime' in sys.modules)"
    ).splitlines()
    usual = PackagedEmbedder()
    assert found[:-1] == [f"{usual.embed_query(text).tobytes().hex()} {price_text(text)!a}" for text in ASKED]
    assert found[-1] == str(bool(begin))


def test_the_process_answers_itself_if_the_fork_was_killed() -> None:
    found = run(
        "import os, signal\nfrom pathlib import Path\n"
        "from pastchats_memory.embed.packaged import PackagedEmbedder, load_in_background\nload_in_background()\n"
        "child = int(Path(f'/proc/self/task/{os.getpid()}/children').read_text())\n"
        "os.kill(child, signal.SIGKILL)\nprint(PackagedEmbedder().embed_query('webhook retries').tobytes().hex())"
    )
    assert found == PackagedEmbedder().embed_query("webhook retries").tobytes().hex()


@pytest.mark.parametrize(("ending", "status"), [("os._exit(0)", 0), ("os.kill(os.getpid(), 9)", -9)])
def test_the_fork_ends_with_the_process(ending: str, status: int) -> None:
    copy = run(
        "import os\nfrom pathlib import Path\nfrom pastchats_memory.embed.packaged import load_in_background\nload_in_background()\n"
        f"print(Path(f'/proc/self/task/{{os.getpid()}}/children').read_text(), flush=True)\n{ending}",
        status,
    )
    wait_until(lambda: has_ended(Path(f"/proc/{copy}/status")))


def has_ended(status: Path) -> bool:
    try:
        return "zombie" in status.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_process_has_at_most_one_fork() -> None:
    children = run(
        "import os\nfrom pathlib import Path\nfrom pastchats_memory.embed.packaged import load_in_background\n"
        "load_in_background()\nload_in_background()\nprint(Path(f'/proc/self/task/{os.getpid()}/children').read_text())"
    )
    assert len(children.split()) == 1
