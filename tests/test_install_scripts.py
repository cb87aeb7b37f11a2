"""The first line that a person runs: what it says, and what it does without the tools that it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from program import REPOSITORY

TOOLS = ("cat", "mktemp", "rm")


def run(*command: str, home: Path, tools: tuple[str, ...] = TOOLS) -> subprocess.CompletedProcess[str]:
    """Run a command with an empty home folder, and a PATH that has some tools alone."""
    folder = home / "tools"
    folder.mkdir()
    for tool in tools:
        (folder / tool).symlink_to(str(shutil.which(tool)))
    variables = {"HOME": str(home), "PATH": str(folder)}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_a_dry_run_of_the_installer_says_what_it_would_do_and_does_nothing(tmp_path: Path) -> None:
    done = run("/bin/sh", str(REPOSITORY / "install.sh"), "--dry-run", home=tmp_path)
    assert done.returncode == 0
    assert "install uv into ~/.local/bin" in done.stdout
    assert "install pastchats-memory" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["tools"]


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_the_installer_names_a_way_out_without_a_program_that_downloads(tmp_path: Path) -> None:
    done = run("/bin/sh", str(REPOSITORY / "install.sh"), home=tmp_path)
    assert done.returncode == 1
    assert "https://docs.astral.sh/uv" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_the_installer_refuses_an_unknown_argument(tmp_path: Path) -> None:
    done = run("/bin/sh", str(REPOSITORY / "install.sh"), "--dryrun", home=tmp_path)
    assert (done.returncode, "unknown argument --dryrun" in done.stderr) == (2, True)


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_an_installer_whose_download_broke_off_does_nothing(tmp_path: Path) -> None:
    script = (REPOSITORY / "install.sh").read_text(encoding="utf-8").partition("uv=$HOME/.local/bin/uv\n  fi\n")[0]
    done = run("/bin/sh", "-c", script, home=tmp_path)
    assert done.returncode
    assert done.stdout == ""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_wrapper_for_npm_names_uv_if_it_is_missing(tmp_path: Path) -> None:
    node = str(shutil.which("node"))
    done = run(node, str(REPOSITORY / "packaging" / "npm" / "run.js"), "--version", home=tmp_path)
    assert done.returncode == 1
    assert "needs uv" in done.stderr
