"""A cross-encoder that a test can afford: the small BERT with one number a pair, laid out as fastembed's cache has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tiny_bert import WIDTH, TinyModel, tokenizer, tokenizer_files, vocabulary
from tokenizers import processors

from pastchats_memory.embed.reranker import PROFILE


def cross_model(bert: onnx.ModelProto, *, number: float = 1.0) -> TinyModel:
    """The graph of `tiny_bert` whose first output is `logits`, shape (rows, 1), times a number."""
    made = onnx.ModelProto()
    made.CopyFrom(bert)
    weights = (np.random.default_rng(9).normal(size=(WIDTH, 1)) * number).astype(np.float32)
    made.graph.initializer.append(numpy_helper.from_array(weights, "head"))
    made.graph.node.append(helper.make_node("MatMul", ["sentence_embedding", "head"], ["logits"]))
    del made.graph.output[:]
    made.graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", 1]))
    return TinyModel({**tokenizer_files(64), **pair_tokenizer(), PROFILE.file: made.SerializeToString()})


def pair_tokenizer() -> dict[str, bytes]:
    made = tokenizer()
    ends = [(name, vocabulary()[name]) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return {"tokenizer.json": made.to_str().encode()}


def laid_out(bert: onnx.ModelProto, cache: Path, *, number: float = 1.0) -> Path:
    return cross_model(bert, number=number).lay_out(cache, PROFILE.repository)
