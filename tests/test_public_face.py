"""What `import pastchats_memory` gives."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest
from program import IS_BARE, Program

import pastchats_memory
from pastchats_memory import Memory, MemoryFault

NOT_ON_THE_PATH_OF_RECALL = {
    "fastembed", "jinja2", "markdown_it", "platformdirs", "starlette", "tabulate", "tqdm", "uvicorn", "wcwidth",
}  # fmt: skip


def test_the_package_shows_exactly_its_sorted_names() -> None:
    assert sorted(pastchats_memory.__all__) == pastchats_memory.__all__
    assert dir(pastchats_memory) == pastchats_memory.__all__
    for name in pastchats_memory.__all__:
        assert getattr(pastchats_memory, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Manager'"):
        _ = pastchats_memory.Manager


def test_the_version_is_that_of_the_installation() -> None:
    assert pastchats_memory.__version__ == version("pastchats-memory")


def test_memory_opens_searches_and_recalls_as_the_readme_says(demo: Program) -> None:
    with Memory.open(demo.database) as memory:
        hits = memory.search("retry strategy", limit=3)
        block = memory.recall("build webhook retries", budget=800)
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert block.text.startswith("# Memory Recall")
    assert 0 < block.tokens <= 800
    assert all(hit.source_path for hit in block.hits)


def test_every_failure_of_a_request_is_one_exception(demo: Program, tmp_path) -> None:
    with pytest.raises(MemoryFault, match="there is no database yet"):
        Memory.open(tmp_path / "none.db", create=False)
    with Memory.open(demo.database) as memory, pytest.raises(MemoryFault, match="the query is empty"):
        memory.search(" ")


def test_importing_the_package_loads_neither_numpy_nor_sqlite() -> None:
    code = "import sys, pastchats_memory; print(sorted({'numpy', 'apsw', 'click', 'onnxruntime'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "beside", [True, False], ids=["the model in a process beside", "no further process is allowed"]
)
def test_a_process_that_only_recalls_imports_none_of_the_slow_libraries(demo: Program, *, beside: bool) -> None:
    alone = "import os, sys, runpy\ndef refused(): raise BlockingIOError(11, 'no')\nos.fork = refused\nrunpy.run_module('pastchats_memory', run_name='__main__', alter_sys=True)"
    watched = Program(
        demo.home, (sys.executable, "-X", "importtime", *(["-m", "pastchats_memory"] if beside else ["-c", alone]))
    )
    done = watched("recall", "--query", "build webhook retries")
    assert done.status == 0
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    imported = {module.partition(".")[0] for module in modules}
    assert {"apsw", "numpy"} <= imported
    assert ("onnxruntime" in imported) == (not beside or IS_BARE or sys.platform != "linux")
    assert imported & NOT_ON_THE_PATH_OF_RECALL == set()
    assert "numpy.ma" not in modules
