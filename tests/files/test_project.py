"""The project of a folder, by paths of any system."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pastchats_memory.files.project import project_at


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        (r"C:\Users\Ada\src\garden", "garden"),
        (r"c:\Users\Ada\garden" + "\\", "garden"),
        (r"C:\Users\Ada/src/garden", "garden"),
        ("C:/Users/Ada/src/garden", "garden"),
        (r"\\wsl$\Ubuntu\home\ada\garden", "garden"),
        (r"src\garden", "garden"),
        ("/home/ada/garden", "garden"),
        ("/home/ada/gar\\den", Path("gar\\den").name),
    ],
)
def test_a_path_of_another_system_names_its_last_folder(folder: str, project: str) -> None:
    assert project_at(folder) == project


@pytest.mark.parametrize(
    "folder",
    [
        "/srv/kiln/.claude/worktrees/frosty-kepler",
        "/srv/kiln/.claude/worktrees/frosty-kepler/src/api",
        "C:\\code\\kiln\\.claude\\worktrees\\frosty-kepler",
        "/srv/kiln/.gemini/worktrees/door",
        "/srv/kiln/.cursor/worktrees/door",
        "/srv/kiln/.kilocode/worktrees/door",
        "/srv/kiln/.worktrees/door",
        "/srv/kiln/.conductor/lisbon",
        "/srv/kiln.worktrees/copilot-worktree-1",
        "/srv/kiln-worktrees/door",
        "/home/ada/.codex/worktrees/a1b2/kiln",
        "C:\\Users\\ada\\.codex\\worktrees\\a1b2\\kiln\\src",
        "/Users/ada/.cursor/worktrees/kiln/x1y2z",
        "C:\\Users\\ada\\.cursor\\worktrees\\kiln\\x1y2z",
        "/Users/ada/.superset/worktrees/kiln/door",
        "/Users/ada/conductor/workspaces/kiln/lisbon/app",
        "/tmp/vibe-kanban/worktrees/a1b2-door/kiln",  # noqa: S108 - nothing is written
    ],
)
def test_a_worktree_that_is_gone_has_the_name_of_its_repository(folder: str) -> None:
    assert project_at(folder) == "kiln"


@pytest.mark.parametrize("folder", ["/srv/worktrees", "/home/ada/my-worktrees/kiln", "/home/ada/claude/worktrees/kiln"])
def test_a_folder_that_is_called_like_worktrees_is_no_layout(folder: str) -> None:
    assert project_at(folder) == Path(folder).name


@pytest.mark.parametrize(("name", "is_bare"), [("kiln", False), ("kiln.git", True), ("kiln/.bare", True)])
def test_a_worktree_has_the_name_of_its_repository_bare_or_not(name: str, is_bare: bool, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True)

    made, repository, worktree = tmp_path / "made", tmp_path / name, tmp_path / "elsewhere" / "frosty"
    git("init", "-q", str(made))
    git("-C", str(made), "commit", "-q", "--allow-empty", "-m", "First")
    git("clone", "-q", *["--bare"][: int(is_bare)], str(made), str(repository))
    git("-C", str(repository), "worktree", "add", "-q", "-b", "door", str(worktree))
    assert project_at(str(worktree)) == "kiln"


@pytest.mark.parametrize("pointer", ["../kiln/.git/worktrees/frosty", "C:\\code\\kiln\\.git\\worktrees\\frosty"])
def test_the_file_of_git_in_a_worktree_may_have_a_relative_path_or_one_of_windows(pointer: str, tmp_path: Path) -> None:
    (tmp_path / ".git").write_text(f"gitdir: {pointer}\n", encoding="utf-8")
    assert project_at(str(tmp_path)) == "kiln"
