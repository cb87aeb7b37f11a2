"""What the package never does: unpickle, evaluate, run a shell; a process is started in one place."""

from __future__ import annotations

import ast

import pytest
from program import REPOSITORY

PACKAGE = REPOSITORY / "pastchats_memory"
MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "yaml", "xml", "ctypes", "code", "codeop", "pty"}
CALLS = {"eval", "exec", "compile", "__import__"}
PROCESSES = {"files/processes.py", "hooks/background.py"}
"""Where a process is started: the program itself, by a hook, from a list of words."""


def done_in(source: str) -> set[str]:
    """What a module does of all that."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {one.name for one in names if one.name.partition(".")[0] in MODULES | {"subprocess"}}
            case ast.ImportFrom(module="subprocess", names=[ast.alias(name="list2cmdline")]):
                pass  # it quotes a command, and starts nothing
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in MODULES | {"subprocess"}:
                found.add(module)
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr=name)) if name.startswith(
                ("system", "popen", "spawn")
            ):
                found.add(f"os.{name}")
            case ast.keyword(arg="shell", value=ast.Constant(value=True)):
                found.add("shell=")
            case ast.keyword(arg="allow_pickle" | "trust_remote_code" as name):
                found.add(name)
    return found


@pytest.mark.promise("network", "The package unpickles nothing, evaluates no text and runs no shell.")
def test_the_package_unpickles_evaluates_and_shells_out_nowhere() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 150
    found = {
        str(file.relative_to(PACKAGE)): done for file in files if (done := done_in(file.read_text(encoding="utf-8")))
    }
    assert {name: done for name, done in found.items() if done - {"subprocess"}} == {}
    assert set(found) <= PROCESSES


@pytest.mark.parametrize(
    "source",
    [
        "import pickle", "from yaml import load", "eval('1')", "import os; os.system('ls')", "run('ls', shell=True)",
        "np.load(f, allow_pickle=True)", "__import__('os')",
    ],
)  # fmt: skip
def test_each_of_these_faults_is_noticed(source: str) -> None:
    assert done_in(source)
