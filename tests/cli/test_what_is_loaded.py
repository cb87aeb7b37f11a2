"""A command imports nothing that it has no use for: neither libraries that are slow to import, nor packages of ours."""

from __future__ import annotations

import subprocess
import sys

import pytest
from program import Program

MODULES = ("recall", "search", "show", "timeline", "how", "judge", "ask", "task", "prior_work")
NOT_NEEDED = ("formats", "ingest", "maintenance", "sync", "team.client")
SLOW = ("apsw", "importlib.metadata", "markdown_it", "numpy", "onnxruntime", "tokenizers", "tomlkit", "tomllib")
SLOW_IMPORTS = {
    "--version": (),
    "--help": (),
    "search --help": ("apsw",),
    "recall --help": ("apsw",),
    "setup --help": ("apsw", "tomlkit", "tomllib"),
    "forget --help": ("apsw",),
    "reindex --help": ("apsw",),
    "serve --help": (),
    "show 1": ("apsw",),
    "where": ("apsw",),
    "timeline": ("apsw",),
    "handoff": ("apsw",),
    "judge": ("apsw",),
    "status": ("apsw",),
    "digest": ("apsw", "numpy"),
    "lessons --all": ("apsw", "numpy"),
    "search --mode keyword retries": ("apsw", "numpy"),
    "context retries": ("apsw", "numpy", "onnxruntime", "tokenizers"),
    "how --all test": ("apsw", "numpy", "onnxruntime", "tokenizers"),
}
"""The slow libraries that a command imports over a database that is up to date."""


@pytest.mark.parametrize("command", SLOW_IMPORTS)
def test_a_command_imports_only_the_slow_libraries_that_it_needs(demo: Program, command: str) -> None:
    watched = Program(demo.home, (sys.executable, "-X", "importtime", "-m", "pastchats_memory"))
    imported = {line.rpartition("|")[2].strip() for line in watched(*command.split()).stderr.splitlines()}
    assert tuple(name for name in SLOW if name in imported) == SLOW_IMPORTS[command]


@pytest.mark.parametrize("module", MODULES)
def test_a_reading_command_imports_no_package_that_it_does_not_need(module: str) -> None:
    code = f"import sys, pastchats_memory.cli.{module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    needless = tuple(f"pastchats_memory.{package}" for package in NOT_NEEDED)
    assert [name for name in run.stdout.split() if name.startswith(needless)] == []


def test_open_and_resume_import_no_reader() -> None:
    code = "import sys, pastchats_memory.cli.open; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    readers = ("pastchats_memory.ingest", "pastchats_memory.formats.agents")
    assert [name for name in run.stdout.split() if name.startswith(readers)] == []
