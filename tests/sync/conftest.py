"""Two machines and a folder between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import Machine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "carried"
    path.mkdir()
    return path


@pytest.fixture
def desk(tmp_path: Path, folder: Path) -> Machine:
    return Machine(tmp_path / "desk", folder)


@pytest.fixture
def laptop(tmp_path: Path, folder: Path) -> Machine:
    return Machine(tmp_path / "laptop", folder)
