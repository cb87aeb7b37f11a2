"""The packaged model: what anyone who hands it texts can rely on."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import count_lines

from pastchats_memory import Memory
from pastchats_memory.arrays import Vector
from pastchats_memory.embed import Embedder, packaged
from pastchats_memory.embed.packaged import WINDOW, WINDOW_TAIL, PackagedEmbedder, window
from pastchats_memory.embed.tokenizer import FOLDER, REINSTALL, encode

TEXTS = [
    "How do we retry failed webhooks with exponential backoff?",
    "def add(a, b):\n    return a + b\n",
    "",
    " \n\t ",
    "错误：数据库连接被拒绝",
    "🎉",
    "ERROR 2026-01-31T08:15:00Z worker-3 connection refused " * 60,
    "x" * 5_000,
    "ok",
    "We postponed the migration until the audit has finished. " * 12,
]
CLOSE = 1e-6


@pytest.fixture(scope="module")
def embedder() -> PackagedEmbedder:
    return PackagedEmbedder()


def test_the_packaged_model_is_an_embedder_with_384_dimensions(embedder: PackagedEmbedder) -> None:
    as_protocol: Embedder = embedder
    assert (as_protocol.name, as_protocol.dim) == ("sentence-transformers/all-MiniLM-L6-v2", 384)


def test_the_same_text_gives_the_same_bytes_in_any_company_order_and_number_of_threads(
    embedder: PackagedEmbedder,
) -> None:
    alone = {text: embedder.embed_query(text).tobytes() for text in TEXTS}
    shuffler = random.Random(7)  # noqa: S311 - an order, not a secret
    for threads in (1, 2, 5):
        company = TEXTS * 3
        shuffler.shuffle(company)
        vectors = PackagedEmbedder(threads).embed(company)
        assert [vector.tobytes() for vector in vectors] == [alone[text] for text in company]


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(), max_size=60))
def test_any_string_has_a_unit_vector_lone_surrogates_included(embedder: PackagedEmbedder, text: str) -> None:
    assert_unit(embedder.embed_query(text))


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_vectors_are_finite_float32_of_length_one(embedder: PackagedEmbedder, text: str) -> None:
    assert_unit(embedder.embed_query(text))


def assert_unit(vector: Vector) -> None:
    assert vector.shape == (384,)
    assert vector.dtype == np.dtype(np.float32)
    assert abs(float(np.linalg.norm(vector)) - 1) < CLOSE


def test_a_surrogate_pair_means_its_character(embedder: PackagedEmbedder) -> None:
    assert np.array_equal(embedder.embed_query("\ud83c\udf89 done"), embedder.embed_query("🎉 done"))


def test_a_paraphrase_is_closer_than_another_subject(embedder: PackagedEmbedder) -> None:
    query = embedder.embed_query("How do I undo the last commit?")
    near = embedder.embed_query("Use git reset to take back your most recent commit.")
    far = embedder.embed_query("The recipe needs two eggs and a cup of sugar.")
    assert float(query @ near) > float(query @ far) + 0.3


@pytest.mark.parametrize("word", ["a ", "counterproductive ", "数据", "x = {}; ", "    \n"])
def test_the_window_is_cut_by_tokens_not_by_characters(word: str) -> None:
    ids = encode((word * 300).strip()).ids
    kept = [*ids[: WINDOW - WINDOW_TAIL], *ids[-WINDOW_TAIL:]] if len(ids) > WINDOW else ids
    assert window(word * 300).tolist() == [[101, *kept, 102]]


@pytest.mark.parametrize("repeats", [30, 100, 10_000])
def test_the_end_of_a_long_text_brings_it_nearer_to_a_question_about_it(
    embedder: PackagedEmbedder, repeats: int
) -> None:
    talk = "We talked about the garden and the flowers in it. " * repeats
    end = "Finally the database migration failed with a deadlock."
    question = embedder.embed_query("database deadlock")
    assert embedder.embed_query(talk + end) @ question > embedder.embed_query(talk) @ question + 0.1


@pytest.mark.parametrize("huge", ["word " * 2_000_000, "x" * 10_000_000, "\n" * 10_000_000 + "word"])
def test_megabytes_cost_no_more_than_a_page(huge: str) -> None:
    assert window(huge).shape[1] <= WINDOW + 2
    assert count_lines(lambda: window(huge)) < 2 * count_lines(lambda: window(huge[:10_000]))


def test_an_endless_stream_is_embedded_as_it_comes() -> None:
    asked = 0

    def stream() -> Iterator[str]:
        nonlocal asked
        while True:
            asked += 1
            yield f"message {asked}"

    vectors = PackagedEmbedder(2).embed(stream())
    assert len(list(islice(vectors, 5))) == 5
    assert asked < 100


def test_all_embedders_share_one_network_that_is_loaded_once() -> None:
    assert PackagedEmbedder(1).session is PackagedEmbedder(2).session


def test_no_texts_give_no_vectors(embedder: PackagedEmbedder) -> None:
    assert list(embedder.embed([])) == []


@pytest.mark.parametrize("module", ["embed", "embed.packaged", "embed.tokenizer", "text.tokens"])
def test_importing_loads_no_model_library(module: str) -> None:
    program = (
        f"import sys, pastchats_memory.{module}\n"
        "print(sorted({'onnxruntime', 'fastembed', 'tokenizers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_files_are_those_of_the_release_and_vectors_are_named_by_the_model_of_the_first_one() -> None:
    PackagedEmbedder().refuse_altered()
    script = (Path(__file__).parents[2] / "scripts" / "build_packaged_model.py").read_text(encoding="utf-8")
    whole = re.search(r'"whole": "([0-9a-f]{64})"', script)
    assert whole is not None
    assert whole[1][:8] in PackagedEmbedder.version


@pytest.mark.promise(
    "network", "`doctor` reports a packaged model whose files differ from the release by a single byte."
)
@pytest.mark.parametrize("name", ["model.onnx", "weights.bin", "tokenizer.json"])
def test_doctor_reports_one_changed_byte_of_the_model(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in FOLDER.iterdir():
        (tmp_path / file.name).symlink_to(file)
    content = bytearray((FOLDER / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(content)
    with Memory.open(tmp_path / "memory.db") as memory:
        assert all(found.is_well for found in memory.doctor())
        monkeypatch.setattr(packaged, "FOLDER", tmp_path)
        (found,) = [found for found in memory.doctor() if not found.is_well]
    assert (found.check, found.remedy) == ("model", REINSTALL)
    assert f"{name} is not that of this release" in found.detail


CUT = """
import pathlib, sys
from pastchats_memory.embed import packaged, tokenizer
from pastchats_memory.errors import ModelUnavailable
packaged.FOLDER = tokenizer.FOLDER = pathlib.Path(sys.argv[1])
try:
    packaged.PackagedEmbedder().embed_query("Where is the rake?")
except ModelUnavailable as fault:
    print(fault.message, fault.hint, sep="\\n")
"""


@pytest.mark.parametrize("name", ["model.onnx", "weights.bin", "tokenizer.json"])
def test_a_truncated_file_is_explained_in_one_sentence(tmp_path: Path, name: str) -> None:
    for file in FOLDER.iterdir():
        (tmp_path / file.name).symlink_to(file)
    content = (FOLDER / name).read_bytes()
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    done = subprocess.run([sys.executable, "-c", CUT, str(tmp_path)], capture_output=True, text=True, check=True)
    what, remedy = done.stdout.splitlines()
    assert re.match("the packaged (?:model|tokenizer) cannot be loaded: ", what)
    assert (remedy, done.stderr) == (REINSTALL, "")


def test_licence_and_notice_lie_beside_the_model() -> None:
    assert "Apache License" in (FOLDER / "LICENSE").read_text(encoding="utf-8")
    assert "53aa5117" in (FOLDER / "NOTICE").read_text(encoding="utf-8")
