"""One graph for all tests of models: to make it takes longer than to use it."""

from __future__ import annotations

import onnx
import pytest
from tiny_bert import graph


@pytest.fixture(scope="session")
def tiny_graph() -> onnx.ModelProto:
    return graph()
