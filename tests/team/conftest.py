"""Two people, and a file of Milvus Lite between them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from people import ANSWERED, ASKED, THANKS, Person

if not all(map(find_spec, ("milvus_lite", "pymilvus"))):  # an import would cost every process of the suite a second
    pytest.skip("the extra `team` is not installed", allow_module_level=True)


@pytest.fixture
def endpoint(tmp_path: Path) -> Path:
    return tmp_path / "team.db"


@pytest.fixture
def ada(tmp_path: Path, endpoint: Path) -> Person:
    """Ada, who has solved something."""
    person = Person(tmp_path / "ada", endpoint)
    person.write("webhooks", ("user", ASKED), ("assistant", ANSWERED), ("user", THANKS))
    return person


@pytest.fixture
def bob(tmp_path: Path, endpoint: Path) -> Person:
    return Person(tmp_path / "bob", endpoint)
