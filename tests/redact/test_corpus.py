"""The generated corpus of secrets: made without knowledge of the detectors, and nearly all of it is found."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from program import REPOSITORY

from pastchats_memory.redact import redact

CORPUS = REPOSITORY / "benchmarks" / "redaction_corpus.py"
LEAST_RECALL = 0.998
LEAST_OF_A_KIND = 0.9
PIECE = 10


@pytest.fixture(scope="module")
def corpus() -> ModuleType:
    spec = importlib.util.spec_from_file_location("redaction_corpus", CORPUS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["redaction_corpus"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_corpus_knows_nothing_of_the_detectors() -> None:
    tree = ast.parse(Path(CORPUS).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {
        node.module if isinstance(node, ast.ImportFrom) else alias.name for node in imports for alias in node.names
    }
    assert {str(name).partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_no_piece_of_a_generated_secret_is_left_but_of_very_few(corpus: ModuleType) -> None:
    asked, missed = Counter[str](), Counter[str]()
    for sample in corpus.samples():
        redacted = redact(sample.text).text
        secret = sample.text[sample.start : sample.end]
        asked[sample.kind] += 1
        missed[sample.kind] += any(secret[at : at + PIECE] in redacted for at in range(max(1, len(secret) - PIECE + 1)))
    assert len(asked) >= 40
    assert min(asked.values()) >= 50
    assert missed.total() <= (1 - LEAST_RECALL) * asked.total(), missed
    assert not [kind for kind in asked if missed[kind] > (1 - LEAST_OF_A_KIND) * asked[kind]]


def test_nothing_harmless_is_taken_for_a_secret(corpus: ModuleType) -> None:
    taken = [(name, text) for name, text in corpus.harmless() if redact(text).text != text]
    assert taken == []


def test_the_corpus_is_the_same_for_the_same_seed(corpus: ModuleType) -> None:
    first, again, other = (list(corpus.harmless(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
