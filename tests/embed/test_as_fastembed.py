"""The direct path and fastembed: one list, one cache, the same vectors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from tiny_bert import tiny_model, tokenizer_files

from pastchats_memory.embed.onnx import LocalEmbedder
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.profiles import BUILT_IN, CLS, MEAN, PROFILES, Profile
from pastchats_memory.embed.registry import ModelSettings, embedder_of
from pastchats_memory.embed.runtime import be_discreet
from pastchats_memory.embed.tokenizer import FOLDER

be_discreet()

from fastembed import TextEmbedding  # noqa: E402 - after what keeps it quiet
from fastembed.common.model_description import ModelSource, PoolingType  # noqa: E402 - after what keeps it quiet

OURS_ALONE = {name for name in PROFILES if name.startswith("intfloat/") and name != "intfloat/multilingual-e5-large"}
TEXTS = ["Retry the webhook.", "", "a b c " * 60, "def add(a, b): return a + b", "Is the fence painted?"]
CLOSE = 1e-5


def test_the_files_of_every_profile_are_those_of_fastembeds_list() -> None:
    pooling = {"OnnxTextEmbedding": CLS, "BuiltinSentenceEmbedding": BUILT_IN}
    listed = {
        model.model: (kind.__name__, model)
        for kind in TextEmbedding.EMBEDDINGS_REGISTRY
        for model in kind._list_supported_models()  # noqa: SLF001 - the public list does not say the pooling
    }
    assert PROFILES.keys() - listed.keys() == OURS_ALONE
    for name in PROFILES.keys() - OURS_ALONE:
        kind, model = listed[name]
        profile = PROFILES[name]
        assert profile.repository == model.sources.hf
        assert profile.file == model.model_file
        assert list(profile.further) == model.additional_files
        assert profile.pooling == pooling.get(kind, MEAN)
        assert profile.dim is not None
        assert profile.dim <= model.dim


@pytest.mark.parametrize(
    "name", ["nomic-ai/nomic-embed-text-v1", "google/embeddinggemma-300m", "thenlper/gte-base", "BAAI/bge-base-en-v1.5"]
)
def test_fp32_models_give_the_vectors_that_fastembed_gives(
    name: str, tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    profile = PROFILES[name]
    tiny_model(profile, tiny_graph, window=profile.tokens or 64).lay_out(tmp_path, profile.repository)
    direct = embedder_of(name, ModelSettings((tmp_path,)))
    assert isinstance(direct, LocalEmbedder)
    theirs = TextEmbedding(name, str(tmp_path), threads=1, local_files_only=True)
    prefixed = [profile.document + text for text in TEXTS]
    for ours, vector in zip(direct.embed(TEXTS), theirs.embed(prefixed), strict=True):
        cut = vector[: profile.dim]
        assert np.abs(ours - cut / np.linalg.norm(cut)).max() < CLOSE


def test_the_packaged_model_gives_the_vectors_that_fastembed_gives_with_one_text_a_call(tmp_path: Path) -> None:
    _packaged_as_fastembed_feeds_it(tmp_path)
    TextEmbedding.add_custom_model(
        "packaged/all-MiniLM-L6-v2",
        pooling=PoolingType.DISABLED,
        normalization=True,
        sources=ModelSource(hf="packaged/all-MiniLM-L6-v2"),
        dim=384,
        model_file="model.onnx",
    )
    theirs = TextEmbedding("packaged/all-MiniLM-L6-v2", threads=1, specific_model_path=str(tmp_path))
    embedder = PackagedEmbedder()
    for text, vector in zip(TEXTS, theirs.embed(TEXTS, batch_size=1), strict=True):
        assert np.abs(embedder.embed_query(text) - vector).max() < CLOSE


def _packaged_as_fastembed_feeds_it(folder: Path) -> None:
    """The same graph with its input under the name that fastembed uses."""
    model = onnx.load(FOLDER / "model.onnx")
    for node in model.graph.node:
        for place, given in enumerate(node.input):
            if given == "ids":
                node.input[place] = "input_ids"
    model.graph.input[0].name = "input_ids"
    onnx.save(model, folder / "model.onnx")
    for name, content in tokenizer_files(256).items():
        if name != "special_tokens_map.json":
            (folder / name).write_bytes(content)
    (folder / "tokenizer.json").write_bytes((FOLDER / "tokenizer.json").read_bytes())


def test_a_model_that_needs_more_than_a_graph_runs_through_fastembed(
    tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    profile = Profile("Qdrant/Qwen3-Embedding-0.6B-onnx", "onnx/model_quantized.onnx")
    tiny_model(profile, tiny_graph).lay_out(tmp_path, profile.repository)
    embedder = embedder_of("Qwen/Qwen3-Embedding-0.6B-Q", ModelSettings((tmp_path,)))
    vectors = list(embedder.embed(TEXTS))
    assert [vector.shape for vector in vectors] == [(768,)] * len(TEXTS)
    assert all(abs(float(np.linalg.norm(vector)) - 1) < CLOSE for vector in vectors)
    assert np.abs(embedder.embed_query(TEXTS[0]) - vectors[0]).max() < CLOSE


BY_FASTEMBED = """
from pathlib import Path
from pastchats_memory.embed.registry import ModelSettings, embedder_of
from pastchats_memory.errors import ModelUnavailable
try:
    embedder_of("Qwen/Qwen3-Embedding-0.6B-Q", ModelSettings((Path("cache"),))).load()
except ModelUnavailable:
    pass
"""
PACKAGED = """
from pastchats_memory.embed.packaged import PackagedEmbedder
PackagedEmbedder().load()
"""


@pytest.mark.parametrize("load", [BY_FASTEMBED, PACKAGED], ids=["fastembed", "packaged"])
def test_no_library_reports_usage_on_any_path(load: str, tmp_path: Path) -> None:
    check = (
        "import os, sys\n"
        "assert os.environ['ORT_DISABLE_TELEMETRY'] == '1' and 'onnxruntime' in sys.modules\n"
        "from huggingface_hub import constants\n"
        "print(constants.HF_HUB_DISABLE_TELEMETRY)\n"
    )
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", load + check], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
    left = [path for path in tmp_path.rglob("*") if path.is_file() and "pyc" not in path.name]
    assert left == [], "a device id, or anything else that was not asked for"
