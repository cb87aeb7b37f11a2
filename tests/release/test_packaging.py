"""What people install: the wheel and the source archive, each in an environment of its own, far from this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from program import DEMO, REPOSITORY, Program
from waiting import HANG_S

PACKAGE = "pastchats_memory"
IN_THE_PACKAGE = {
    f"{PACKAGE}/py.typed",
    f"{PACKAGE}/hooks/skills/semantic-search/SKILL.md",
    f"{PACKAGE}/store/schema.sql",
    f"{PACKAGE}/embed/minilm/LICENSE",
    f"{PACKAGE}/embed/minilm/NOTICE",
    f"{PACKAGE}/embed/minilm/SHA256SUMS",
    f"{PACKAGE}/embed/minilm/model.onnx",
    f"{PACKAGE}/embed/minilm/weights.bin",
    f"{PACKAGE}/embed/minilm/tokenizer.json",
}
BESIDE_IT = {"LICENSE", "README.md", "pyproject.toml", "schema.sql"}
NOT_FOR_OTHERS = {".git", ".venv", ".ci", "__pycache__"}


@dataclass(frozen=True)
class Built:
    """Both archives, and where the build backend lies that made them."""

    wheel: Path
    sdist: Path
    backend: Path

    def names(self, kind: str) -> set[str]:
        """The files of an archive, without the folder that a source archive wraps them in."""
        if kind == "wheel":
            with zipfile.ZipFile(self.wheel) as archive:
                return set(archive.namelist())
        with tarfile.open(self.sdist) as archive:
            return {name.partition("/")[2] for name in archive.getnames()}


def run(*command: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in another folder than the repository, where no file of ours can be imported by accident."""
    return subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=HANG_S,
        check=False,
    )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The wheel, made from the source archive as `python -m build` does; skips where the build backend cannot be fetched."""
    folder = tmp_path_factory.mktemp("build")
    backend, output = folder / "backend", folder / "dist"
    wanted = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    fetch = (sys.executable, "-m", "pip", "install", "--quiet", "--target", backend, *wanted)
    fetched = run(*fetch, cwd=folder, PYTHONPATH="")  # the one process of the tests that may leave this machine
    if fetched.returncode:
        pytest.skip(f"no package index for the build backend: {fetched.stderr.strip().splitlines()[-1]}")
    build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", output, REPOSITORY)
    done = run(*build, cwd=folder, PYTHONPATH=str(backend))
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (sdist,) = output.glob("*.whl"), output.glob("*.tar.gz")
    return Built(wheel, sdist, backend)


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_archive_has_the_model_the_schema_the_types_and_the_licences(built: Built, kind: str) -> None:
    names = built.names(kind)
    assert names >= IN_THE_PACKAGE
    beside = {name.partition(".dist-info/licenses/")[2] for name in names} if kind == "wheel" else names
    assert beside >= ({"LICENSE", f"{PACKAGE}/embed/minilm/NOTICE"} if kind == "wheel" else BESIDE_IT)
    assert not [name for name in names if NOT_FOR_OTHERS & set(name.split("/")) or name.endswith((".db", ".pyc"))]


def test_both_archives_hold_the_same_package(built: Built) -> None:
    inside = [{name for name in built.names(kind) if name.startswith(f"{PACKAGE}/")} for kind in ("wheel", "sdist")]
    assert inside[0] == inside[1]


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_installed_package_indexes_searches_and_recalls(built: Built, kind: str, tmp_path: Path) -> None:
    venv, home = tmp_path / "venv", tmp_path / "home"
    shutil.copytree(DEMO, home / "demo")
    assert run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=tmp_path).returncode == 0
    # The dependencies are those of the tests: to fetch them would take minutes. A path that a .pth adds is searched
    # last, and .pth files in it count for nothing: our editable installation stays out of sight.
    (packages,) = venv.glob("lib/python*/site-packages")
    lines = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    (packages / "dependencies.pth").write_text("\n".join(lines), encoding="utf-8")
    install = (sys.executable, "-m", "pip", "--python", venv / "bin" / "python", "install", "--no-deps", "--no-index")
    archive = built.wheel if kind == "wheel" else built.sdist
    done = run(
        *install, "--ignore-installed", "--no-build-isolation", archive, cwd=tmp_path, PYTHONPATH=str(built.backend)
    )
    assert done.returncode == 0, done.stdout + done.stderr

    program = Program(home, (str(venv / "bin" / "pastchats-memory"),))
    where = Program(home, (str(venv / "bin" / "python"), "-c", f"import {PACKAGE}; print({PACKAGE}.__file__)"))
    assert Path(where().stdout.strip()).is_relative_to(packages)
    assert program("--version").status == 0
    indexed = program("index", "demo/history")
    assert indexed.status == 0, indexed.stderr
    assert program("search", "retry strategy", "--json").results
    assert "thundering herd" in program("recall", "build webhook retries").stdout


@pytest.mark.skipif(os.name != "posix" or shutil.which("uv") is None, reason="uv is not installed")
def test_the_installer_installs_the_wheel_for_one_account(built: Built, tmp_path: Path) -> None:
    variables = {"HOME": str(tmp_path), "PASTCHATS_MEMORY_PACKAGE": str(built.wheel)}
    done = run("/bin/sh", REPOSITORY / "install.sh", cwd=tmp_path, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert run(tmp_path / ".local" / "bin" / "pastchats-memory", "--version", cwd=tmp_path, **variables).returncode == 0
