"""Models by name from a laid-out cache, and by path from a folder: what reaches the graph, and what is made of its output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from program import write_messages
from tiny_bert import WIDTH, TinyModel, numpy_bert, tiny_model, tokenizer

from pastchats_memory import Memory
from pastchats_memory.config import Config
from pastchats_memory.embed.onnx import LocalEmbedder
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.profiles import PROFILES, Profile
from pastchats_memory.embed.registry import CustomModel, ModelSettings, embedder_of
from pastchats_memory.errors import ModelUnavailable
from pastchats_memory.store.database import open_database

TEXT = "Retry the webhook"
PASSAGES = "Represent this sentence for searching relevant passages: "
PREFIXES = {  # model: before a question, before a document, dimensions
    "nomic-ai/nomic-embed-text-v1.5": ("search_query: ", "search_document: ", 384),
    "google/embeddinggemma-300m": ("task: search result | query: ", "title: none | text: ", 256),
    "sentence-transformers/all-MiniLM-L6-v2": ("", "", 384),
    "BAAI/bge-small-en-v1.5": (PASSAGES, "", 384),
    "snowflake/snowflake-arctic-embed-s": (PASSAGES, "", 384),
    "intfloat/multilingual-e5-large": ("query: ", "passage: ", 1024),
    "intfloat/e5-small-v2": ("query: ", "passage: ", 384),
}
CLS = {"BAAI/bge-small-en-v1.5", "snowflake/snowflake-arctic-embed-s"}
FITTING = [name for name, (_, _, dim) in PREFIXES.items() if dim <= WIDTH]
CLOSE = 1e-5


class Recording:
    """A session that runs as it is, and keeps what it was fed."""

    def __init__(self, embedder: LocalEmbedder) -> None:
        self.session = embedder.session
        self.fed: list[dict[str, NDArray[np.int64]]] = []
        embedder.session = self  # type: ignore[assignment] # a session that only listens

    def get_inputs(self) -> object:
        return self.session.get_inputs()

    def run(self, names: None, fed: dict[str, NDArray[np.int64]]) -> object:
        self.fed.append(fed)
        return self.session.run(names, fed)


def laid_out(cache: Path, name: str, graph: onnx.ModelProto, window: int = 512) -> ModelSettings:
    profile = PROFILES[name]
    tiny_model(profile, graph, window).lay_out(cache, profile.repository)
    return ModelSettings((cache,), threads=2)


def local(name: str, settings: ModelSettings) -> LocalEmbedder:
    # By name alone, the packaged model stands for its fp32 original.
    embedder = embedder_of(name, settings, "onnx" if name in PROFILES else "")
    assert isinstance(embedder, LocalEmbedder)
    return embedder


def expected(ids: Sequence[int], *, dim: int, first_token: bool = False) -> NDArray[np.float64]:
    states = numpy_bert(list(ids))
    vector = (states[0] if first_token else states.mean(axis=0))[:dim]
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("name", FITTING)
def test_prefixes_reach_the_graph_and_its_output_is_pooled_cut_and_normalised_again(
    name: str, tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    query, document, dim = PREFIXES[name]
    embedder = local(name, laid_out(tmp_path, name, tiny_graph))
    recording = Recording(embedder)
    for prefix, vector in (
        (query, embedder.embed_query(TEXT)),
        (document, next(iter(embedder.embed([TEXT])))),
    ):
        ids = tokenizer().encode(prefix + TEXT).ids
        fed = recording.fed.pop(0)
        assert fed["input_ids"].tolist() == [ids]
        assert fed["attention_mask"].tolist() == [[1] * len(ids)]
        assert fed["token_type_ids"].tolist() == [[0] * len(ids)]
        assert vector.shape == (dim,)
        assert vector.dtype == np.float32
        assert np.abs(vector - expected(ids, dim=dim, first_token=name in CLS)).max() < CLOSE
    assert embedder.dim == dim


@pytest.mark.parametrize("name", PREFIXES)
def test_every_profile_has_the_prefixes_and_the_dimensions_that_its_card_says(name: str) -> None:
    profile = PROFILES[name]
    assert (profile.query, profile.document, profile.dim) == PREFIXES[name]


@pytest.mark.parametrize(
    ("name", "window"), [("nomic-ai/nomic-embed-text-v1.5", 8192), ("BAAI/bge-small-en-v1.5", 512)]
)
def test_a_text_is_cut_at_the_models_window(
    name: str, window: int, tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    embedder = local(name, laid_out(tmp_path, name, tiny_graph))
    prefix = PROFILES[name].document
    rows = embedder.windows.encode([prefix + "a b " * 10_000, prefix + "a b"])
    whole = tokenizer().encode(prefix + "a b " * 10_000).ids
    assert rows[0].tolist() == [*whole[: window - 1], whole[-1]]
    assert rows[1].tolist() == tokenizer().encode(prefix + "a b").ids


def test_texts_of_any_length_in_one_stream_come_back_in_order_each_with_its_own_vector(
    tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    name = "sentence-transformers/all-MiniLM-L6-v2"
    embedder = local(name, laid_out(tmp_path, name, tiny_graph))
    recording = Recording(embedder)
    texts = ["", "a", "a b c " * 60, "ok", "[SEP]", "\ud800", "x" * 3000, "错误"] * 3
    vectors = list(embedder.embed(texts))
    assert len(recording.fed) < len(texts)
    assert all(fed["input_ids"].size <= 1024 or len(fed["input_ids"]) == 1 for fed in recording.fed)
    for text, vector in zip(texts, vectors, strict=True):
        (alone,) = embedder.embed([text])
        assert np.abs(vector - alone).max() < CLOSE


def test_a_graph_that_scales_over_its_call_gets_one_text_a_call(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    name = "sentence-transformers/all-MiniLM-L6-v2"
    quantised = onnx.ModelProto()
    quantised.CopyFrom(tiny_graph)
    _quantise_the_words(quantised)
    embedder = local(name, laid_out(tmp_path, name, quantised))
    recording = Recording(embedder)
    vectors = list(embedder.embed(["a b c", "d", "e f"]))
    assert [len(fed["input_ids"]) for fed in recording.fed] == [1, 1, 1]
    assert [vector.tobytes() for vector in vectors] == [
        next(iter(embedder.embed([text]))).tobytes() for text in ("a b c", "d", "e f")
    ]


def _quantise_the_words(model: onnx.ModelProto) -> None:
    """Send what the last layer gives through eight bits, scaled over whatever is in the call."""
    nodes = model.graph.node
    last = next(node for node in nodes if node.output[0] == "last_hidden_state")
    given = last.input[0]
    last.input[0] = "back8"
    added = [
        onnx.helper.make_node("DynamicQuantizeLinear", [given], ["q8", "s8", "z8"]),
        onnx.helper.make_node("DequantizeLinear", ["q8", "s8", "z8"], ["back8"]),
    ]
    place = list(nodes).index(last)
    for node in reversed(added):
        nodes.insert(place, node)


INDEX_AND_SEARCH = """
import sys
from pathlib import Path
from pastchats_memory import Memory
from pastchats_memory.config import Config
config = Config(Path("memory.db"), caches=(Path("cache"),), model=sys.argv[1])
with Memory.open("memory.db", config=config) as memory:
    memory.index(["chat.jsonl"])
with Memory.open("memory.db", config=Config(Path("memory.db"), caches=(Path("cache"),))) as memory:
    print([hit.id for hit in memory.search("painted fence", mode="semantic")], memory.status().model, memory.status().dim)
print(sorted({"fastembed", "huggingface_hub", "httpx"} & set(sys.modules)))
"""


@pytest.mark.parametrize("name", FITTING)
def test_a_profile_indexes_and_answers_from_a_laid_out_cache_without_a_word_on_stderr(
    name: str, tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    laid_out(tmp_path / "cache", name, tiny_graph)
    write_messages(tmp_path / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green, on Monday."))
    done = subprocess.run(
        [sys.executable, "-c", INDEX_AND_SEARCH, name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    found, libraries = done.stdout.splitlines()
    assert found in (f"['1', '2'] {name} {PREFIXES[name][2]}", f"['2', '1'] {name} {PREFIXES[name][2]}")
    assert libraries == "[]", "what runs from the cache imports nothing that fetches"


def test_a_folder_of_ones_own_works_by_its_path(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    folder = tiny_model(Profile("", "model.onnx"), tiny_graph).write(tmp_path / "mine")
    embedder = local(str(folder), ModelSettings())
    ids = tokenizer().encode(TEXT).ids
    assert (embedder.name, embedder.dim) == (str(folder), WIDTH)
    assert np.abs(embedder.embed_query(TEXT) - expected(ids, dim=WIDTH)).max() < CLOSE


def test_a_folder_named_after_a_known_model_or_family_has_its_rules(
    tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    model = tiny_model(Profile("", "onnx/model.onnx"), tiny_graph)
    for folder, prefix in (("multilingual-e5-small", "query: "), ("nomic-embed-text-v1.5", "search_query: ")):
        embedder = local(str(model.write(tmp_path / folder)), ModelSettings())
        ids = tokenizer().encode(prefix + TEXT).ids
        assert np.abs(embedder.embed_query(TEXT) - expected(ids, dim=384)).max() < CLOSE


def test_a_folders_own_pooling_and_prompts_count(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    files = {
        **tiny_model(Profile("", "model.onnx"), tiny_graph).files,
        "1_Pooling/config.json": json.dumps({"pooling_mode_cls_token": True}).encode(),
        "config_sentence_transformers.json": json.dumps(
            {"prompts": {"query": "task: ", "document": "text: "}}
        ).encode(),
    }
    embedder = local(str(TinyModel(files).write(tmp_path / "mine")), ModelSettings())
    for prefix, vector in (("task: ", embedder.embed_query(TEXT)), ("text: ", next(iter(embedder.embed([TEXT]))))):
        ids = tokenizer().encode(prefix + TEXT).ids
        assert np.abs(vector - expected(ids, dim=WIDTH, first_token=True)).max() < CLOSE


def test_a_custom_entry_names_a_folder_and_its_rules(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    folder = tiny_model(Profile("", "model.onnx"), tiny_graph).write(tmp_path / "mine")
    rules = {"query": "query: ", "document": "passage: ", "dim": 128, "pooling": "cls"}
    embedder = local("my-e5", ModelSettings(custom={"my-e5": CustomModel(folder, rules)}))
    ids = tokenizer().encode("passage: " + TEXT).ids
    assert (embedder.name, embedder.dim) == ("my-e5", 128)
    (vector,) = embedder.embed([TEXT])
    assert np.abs(vector - expected(ids, dim=128, first_token=True)).max() < CLOSE


def test_other_weights_or_rules_are_another_version(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    folder = tiny_model(Profile("", "model.onnx"), tiny_graph).write(tmp_path / "mine")
    first = local(str(folder), ModelSettings()).version
    assert local(str(folder), ModelSettings()).version == first
    custom = ModelSettings(custom={"x": CustomModel(folder, {"query": "query: "})})
    assert local("x", custom).version != first
    changed = bytearray((folder / "model.onnx").read_bytes())
    changed[-100] ^= 1
    (folder / "model.onnx").write_bytes(changed)
    assert local(str(folder), ModelSettings()).version != first


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.onnx", b"not a graph"),
        ("model.onnx", b""),
        ("tokenizer.json", b"{}"),
        ("tokenizer_config.json", b"[1]"),
        ("tokenizer_config.json", b"{broken"),
    ],
)
def test_a_damaged_file_is_one_clear_sentence(
    file: str, content: bytes, tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    folder = tiny_model(Profile("", "model.onnx"), tiny_graph).write(tmp_path / "mine")
    (folder / file).write_bytes(content)
    with pytest.raises(ModelUnavailable, match="cannot be used") as refused:
        local(str(folder), ModelSettings()).embed_query("x")
    assert "\n" not in refused.value.message
    assert str(folder) in refused.value.hint


@pytest.mark.parametrize("lacking", ["tokenizer.json", "model.onnx"])
def test_a_missing_file_of_a_folder_is_named(lacking: str, tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    folder = tiny_model(Profile("", "model.onnx"), tiny_graph).write(tmp_path / "mine")
    (folder / lacking).unlink()
    with pytest.raises(ModelUnavailable, match=lacking):
        local(str(folder), ModelSettings()).load()


def test_a_folder_in_a_home_that_is_not_known_is_no_models_folder() -> None:
    with pytest.raises(ModelUnavailable, match="is no model's folder: it lacks a graph"):
        local("~nobody-of-that-name/model", ModelSettings()).load()


def test_a_graph_narrower_than_its_profile_is_reported(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    name = "BAAI/bge-large-en-v1.5"
    with pytest.raises(ModelUnavailable, match="gives 768 numbers a text, not the 1024"):
        local(name, laid_out(tmp_path, name, tiny_graph)).embed_query("x")


def test_a_snapshot_that_lacks_a_file_is_none(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    name = "google/embeddinggemma-300m"
    settings = laid_out(tmp_path, name, tiny_graph)
    next(tmp_path.rglob("model.onnx_data")).unlink()
    with pytest.raises(ModelUnavailable, match="not on this machine"):
        local(name, settings).load()


def test_a_cache_spelled_in_other_case_and_without_refs_is_found(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    name = "snowflake/snowflake-arctic-embed-s"
    settings = laid_out(tmp_path, name, tiny_graph)
    home = tmp_path / "models--Snowflake--snowflake-arctic-embed-s"
    (home / "refs" / "main").unlink()
    home.rename(tmp_path / "models--snowflake--snowflake-arctic-embed-s")
    assert local(name.upper(), settings).dim == 384


def test_the_database_goes_with_its_model_whatever_is_configured_later(
    tiny_graph: onnx.ModelProto, tmp_path: Path
) -> None:
    name = "BAAI/bge-small-en-v1.5"
    laid_out(tmp_path / "cache", name, tiny_graph)
    write_messages(tmp_path / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green, on Monday."))
    database = tmp_path / "memory.db"
    with Memory.open(database, config=Config(database, (tmp_path / "cache",), model=name)) as memory:
        memory.index([tmp_path / "chat.jsonl"])
    for later in (None, "packaged", "nomic-ai/nomic-embed-text-v1.5"):
        with Memory.open(database, config=Config(database, (tmp_path / "cache",), model=later)) as memory:
            hits = memory.search("fence", mode="semantic")
            assert (len(hits), hits.warnings) == (2, ())
            assert [name in notice and str(later) in notice for notice in memory.notices] == [True] * (
                later is not None
            )


def test_vectors_of_two_models_are_never_compared(tiny_graph: onnx.ModelProto, tmp_path: Path) -> None:
    name = "BAAI/bge-small-en-v1.5"  # with the packaged model's number of dimensions
    laid_out(tmp_path / "cache", name, tiny_graph)
    write_messages(tmp_path / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green, on Monday."))
    database = tmp_path / "memory.db"
    with Memory.open(database, config=Config(database, (tmp_path / "cache",), model=name)) as memory:
        memory.index([tmp_path / "chat.jsonl"])
    with Memory(open_database(database), PackagedEmbedder()) as memory:
        hits = memory.search("painted fence", mode="semantic")
        assert [hit.similarity for hit in hits] == [None] * len(hits)
        assert "by words alone" in hits.warnings[0]
