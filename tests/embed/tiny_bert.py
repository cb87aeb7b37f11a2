"""A real model that a test can afford: a small BERT as ONNX, 768 wide, its tokenizer, and the same in NumPy."""

from __future__ import annotations

import hashlib
import json
import os
import string
from collections.abc import Mapping
from dataclasses import dataclass
from math import erf
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from pastchats_memory.embed.profiles import Profile

WIDTH, HEADS, INNER, POSITIONS = 768, 12, 128, 32
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    "search",
    "query",
    "document",
    "passage",
    "task",
    "result",
    "title",
    "none",
    "text",
    "represent",
    "this",
    "sentence",
    "for",
    "relevant",
    "passages",
]
EPSILON = 1e-5
REVISION = "0123456789abcdef0123456789abcdef01234567"

Array = NDArray[np.float32]


def vocabulary() -> dict[str, int]:
    letters = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    pieces = [*SPECIAL, *WORDS, *letters, *(f"##{letter}" for letter in letters)]
    return {piece: place for place, piece in enumerate(dict.fromkeys(pieces))}


def weights(layers: int = 1, width: int = WIDTH, inner: int = INNER, words: int = 0) -> dict[str, Array]:
    maker = np.random.default_rng(5)

    def table(*shape: int) -> Array:
        return (maker.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)

    made = {
        "words": table(words or len(vocabulary()), width) * 20,
        "positions": table(POSITIONS, width) * 5,
        "types": table(2, width),
    }
    for layer in range(layers):
        for name, shape in {
            "q": (width, width),
            "k": (width, width),
            "v": (width, width),
            "o": (width, width),
            "in": (width, inner),
            "out": (inner, width),
        }.items():
            made[f"{layer}.{name}"] = table(*shape)
    return made


def numpy_bert(ids: list[int]) -> NDArray[np.float64]:
    """What the graph of one layer gives for one text: the last hidden state, of shape (tokens, 768)."""
    w = {name: array.astype(np.float64) for name, array in weights().items()}
    x = _norm(w["words"][ids] + w["positions"][np.arange(len(ids)) % POSITIONS] + w["types"][0])
    heads = [(x @ w[f"0.{name}"]).reshape(len(ids), HEADS, -1).transpose(1, 0, 2) for name in "qkv"]
    scores = heads[0] @ heads[1].transpose(0, 2, 1) / np.sqrt(WIDTH // HEADS)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    x = _norm(x + (shares @ heads[2]).transpose(1, 0, 2).reshape(len(ids), WIDTH) @ w["0.o"])
    inner = x @ w["0.in"]
    inner = inner * (1 + np.vectorize(erf)(inner / np.sqrt(2))) / 2
    return _norm(x + inner @ w["0.out"])


def _norm(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + EPSILON)


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def const(self, name: str, value: object, kind: type = np.int64) -> str:
        array = value if isinstance(value, np.ndarray) else np.array(value, kind)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, *inputs: str, name: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def norm(self, x: str, name: str) -> str:
        return self.node("LayerNormalization", x, "ones", "zeros", name=name, axis=-1, epsilon=EPSILON)


def graph(
    *, layers: int = 1, width: int = WIDTH, heads: int = HEADS, inner: int = INNER, words: int = 0
) -> onnx.ModelProto:
    """BERT of so many layers: `last_hidden_state` and, second, its mean over the tokens as `sentence_embedding`."""
    g = _Graph()
    for name, array in weights(layers, width, inner, words).items():
        g.const(name, array)
    g.const("ones", np.ones(width, np.float32))
    g.const("zeros", np.zeros(width, np.float32))
    g.const("split", [0, 0, heads, width // heads])
    g.const("join", [0, 0, width])
    g.const("places", POSITIONS)
    g.const("nought", 0)
    g.const("step", 1)
    g.const("along", [1])
    g.const("both", [1, 2])
    g.const("scale", np.sqrt(width // heads), np.float32)
    g.const("far", -1e9, np.float32)
    g.const("unit", 1.0, np.float32)
    g.const("half", 0.5, np.float32)
    g.const("root", np.sqrt(2), np.float32)
    length = g.node("Gather", g.node("Shape", "input_ids", name="shape"), "step", name="length")
    place = g.node("Mod", g.node("Range", "nought", length, "step", name="range"), "places", name="place")
    words = g.node("Gather", "words", "input_ids", name="word")
    typed = g.node("Add", words, g.node("Gather", "types", "token_type_ids", name="type"), name="typed")
    x = g.norm(g.node("Add", typed, g.node("Gather", "positions", place, name="position"), name="embedded"), "x")
    real = g.node("Cast", "attention_mask", name="real", to=TensorProto.FLOAT)
    absent = g.node("Mul", g.node("Sub", "unit", real, name="absent"), "far", name="bias")
    bias = g.node("Unsqueeze", absent, "both", name="bias4")
    for layer in range(layers):
        x = _layer(g, x, bias, layer)
    g.node("Identity", x, name="last_hidden_state")
    mask = g.node("Unsqueeze", real, g.const("last", [2]), name="mask3")
    total = g.node("ReduceSum", g.node("Mul", x, mask, name="kept"), "along", name="total", keepdims=0)
    count = g.node("ReduceSum", real, "along", name="count", keepdims=1)
    g.node("Div", total, count, name="sentence_embedding")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [
        helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["rows", "tokens", width]),
        helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["rows", width]),
    ]
    made = helper.make_graph(g.nodes, "tiny-bert", inputs, outputs, g.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _layer(g: _Graph, x: str, bias: str, layer: int) -> str:
    def n(name: str) -> str:
        return f"{name}.{layer}"

    q, k, v = (
        g.node(
            "Transpose",
            g.node("Reshape", g.node("MatMul", x, f"{layer}.{c}", name=n(c)), "split", name=n(f"{c}4")),
            name=n(f"{c}t"),
            perm=[0, 2, 3, 1] if c == "k" else [0, 2, 1, 3],
        )
        for c in "qkv"
    )
    scores = g.node("Div", g.node("MatMul", q, k, name=n("raw")), "scale", name=n("scaled"))
    shares = g.node("Softmax", g.node("Add", scores, bias, name=n("biased")), name=n("shares"), axis=-1)
    seen = g.node("Transpose", g.node("MatMul", shares, v, name=n("seen")), name=n("seent"), perm=[0, 2, 1, 3])
    mixed = g.node("MatMul", g.node("Reshape", seen, "join", name=n("joined")), f"{layer}.o", name=n("mixed"))
    x = g.norm(g.node("Add", x, mixed, name=n("sum1")), n("x1"))
    inner = g.node("MatMul", x, f"{layer}.in", name=n("inner"))
    grown = g.node("Add", g.node("Erf", g.node("Div", inner, "root", name=n("z")), name=n("erf")), "unit", name=n("e1"))
    gelu = g.node("Mul", g.node("Mul", inner, grown, name=n("g1")), "half", name=n("gelu"))
    return g.norm(g.node("Add", x, g.node("MatMul", gelu, f"{layer}.out", name=n("back")), name=n("sum2")), n("x2"))


def tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordPiece(vocabulary(), unk_token="[UNK]"))  # noqa: S106 - no password
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(SPECIAL)
    ends = [(name, vocabulary()[name]) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return made


@dataclass(frozen=True)
class TinyModel:
    """The files of a model, by their path in its repository."""

    files: Mapping[str, bytes]

    def write(self, folder: Path) -> Path:
        """Into a folder of one's own."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder

    def lay_out(self, cache: Path, repository: str) -> Path:
        """As huggingface_hub and fastembed lay a cache out: blobs, and a snapshot of links to them; its folder."""
        home = cache / f"models--{repository.replace('/', '--')}"
        snapshot = home / "snapshots" / REVISION
        (home / "refs").mkdir(parents=True)
        (home / "refs" / "main").write_text(REVISION, encoding="ascii")
        (home / "blobs").mkdir()
        for name, content in self.files.items():
            blob = home / "blobs" / hashlib.sha256(content).hexdigest()
            blob.write_bytes(content)
            link = snapshot / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(blob, link.parent))
        return snapshot


def tokenizer_files(window: int) -> dict[str, bytes]:
    return {
        "tokenizer.json": tokenizer().to_str().encode(),
        "tokenizer_config.json": json.dumps({"model_max_length": window, "pad_token": "[PAD]"}).encode(),
        "special_tokens_map.json": json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}).encode(),
        "config.json": json.dumps({"pad_token_id": 0}).encode(),
    }


def tiny_model(profile: Profile, made: onnx.ModelProto, window: int = 512) -> TinyModel:
    """A model with the files that a profile names, its weights beside the graph where the profile has them there."""
    files = tokenizer_files(window)
    if profile.further:
        made, files[profile.further[0]] = _outside(made, Path(profile.further[0]).name)
    return TinyModel(files | {profile.file: made.SerializeToString()})


def _outside(made: onnx.ModelProto, name: str) -> tuple[onnx.ModelProto, bytes]:
    """The graph with its weights in a file beside it, and that file."""
    outside = onnx.ModelProto()
    outside.CopyFrom(made)
    data = b""
    for tensor in outside.graph.initializer:
        raw = numpy_helper.to_array(tensor).tobytes()
        if len(raw) > 1024:
            onnx.external_data_helper.set_external_data(tensor, name, len(data), len(raw))
            tensor.ClearField("raw_data")
            data += raw
    return outside, data
