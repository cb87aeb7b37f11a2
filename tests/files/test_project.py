"""The project of a folder, by paths of any system."""

from __future__ import annotations

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
        ("/home/ada/gar\\den", "gar\\den"),
    ],
)
def test_a_path_of_another_system_names_its_last_folder(folder: str, project: str) -> None:
    assert project_at(folder) == project
