"""Describe what each known model needs: files, input and output.

The files are those of fastembed's list, so that both share one cache; a test keeps the two equal. The prefixes of
questions and documents come from the models' own cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

CLS, MEAN, BUILT_IN = "cls", "mean", "built-in"


@dataclass(frozen=True, slots=True)
class Profile:
    """A model's files, its rules, and the part of its vectors that counts."""

    repository: str
    """Repository on the hub; empty for a folder."""
    file: str = "onnx/model.onnx"
    pooling: str = MEAN
    """`cls` (the first token), `mean` (over the tokens), or `built-in` (the graph's own second output)."""
    dim: int | None = None
    """Numbers that are kept from the start of a vector (Matryoshka); None for all."""
    query: str = ""
    """Prefix of every question."""
    document: str = ""
    """Prefix of every stored text."""
    tokens: int | None = None
    """Tokens of a window, special ones included; None for what the tokenizer's files say."""
    further: tuple[str, ...] = ()
    """Files that the graph needs besides itself."""


_PASSAGES = "Represent this sentence for searching relevant passages: "
_BGE = Profile("", "model_optimized.onnx", CLS, query=_PASSAGES)
_ARCTIC = Profile("", pooling=CLS, query=_PASSAGES)
_NOMIC = Profile(
    "nomic-ai/nomic-embed-text-v1.5", dim=384, query="search_query: ", document="search_document: ", tokens=8192
)
_GEMMA = Profile(
    "onnx-community/embeddinggemma-300m-ONNX",
    pooling=BUILT_IN,
    dim=256,
    query="task: search result | query: ",
    document="title: none | text: ",
    tokens=2048,
    further=("onnx/model.onnx_data",),
)
E5 = Profile("", query="query: ", document="passage: ", tokens=512)
_OF_E5 = re.compile(r"(?:^|[-_.])e5[-_.]")


def _arctic(size: str, dim: int) -> Profile:
    return replace(_ARCTIC, repository=f"Snowflake/snowflake-arctic-embed-{size}", dim=dim)


def _e5(name: str, dim: int) -> Profile:
    return replace(E5, repository=f"intfloat/{name}", dim=dim)


PROFILES: Mapping[str, Profile] = {
    "nomic-ai/nomic-embed-text-v1.5": _NOMIC,
    "nomic-ai/nomic-embed-text-v1.5-Q": replace(_NOMIC, file="onnx/model_quantized.onnx"),
    "nomic-ai/nomic-embed-text-v1": replace(_NOMIC, repository="nomic-ai/nomic-embed-text-v1", dim=768),
    "google/embeddinggemma-300m": _GEMMA,
    "sentence-transformers/all-MiniLM-L6-v2": Profile("Qdrant/all-MiniLM-L6-v2-onnx", "model.onnx", dim=384),
    "BAAI/bge-small-en-v1.5": replace(_BGE, repository="Qdrant/bge-small-en-v1.5-onnx-Q", dim=384),
    "BAAI/bge-base-en-v1.5": replace(_BGE, repository="Qdrant/bge-base-en-v1.5-onnx-Q", dim=768),
    "BAAI/bge-large-en-v1.5": replace(_BGE, repository="Qdrant/bge-large-en-v1.5-onnx", file="model.onnx", dim=1024),
    "BAAI/bge-small-en": replace(_BGE, repository="Qdrant/bge-small-en", dim=384),
    "BAAI/bge-base-en": replace(_BGE, repository="Qdrant/fast-bge-base-en", dim=768),
    "BAAI/bge-small-zh-v1.5": replace(
        _BGE, repository="Qdrant/bge-small-zh-v1.5", dim=512, query="为这个句子生成表示以用于检索相关文章："
    ),
    "mixedbread-ai/mxbai-embed-large-v1": Profile(
        "mixedbread-ai/mxbai-embed-large-v1", pooling=CLS, dim=1024, query=_PASSAGES
    ),
    "snowflake/snowflake-arctic-embed-xs": _arctic("xs", 384),
    "snowflake/snowflake-arctic-embed-s": _arctic("s", 384),
    "snowflake/snowflake-arctic-embed-m": _arctic("m", 768),
    "snowflake/snowflake-arctic-embed-m-long": _arctic("m-long", 768),
    "snowflake/snowflake-arctic-embed-l": _arctic("l", 1024),
    "jinaai/jina-embeddings-v2-base-en": Profile("Xenova/jina-embeddings-v2-base-en", dim=768),
    "jinaai/jina-embeddings-v2-small-en": Profile("Xenova/jina-embeddings-v2-small-en", dim=512),
    "jinaai/jina-embeddings-v2-base-de": Profile("jinaai/jina-embeddings-v2-base-de", dim=768),
    "jinaai/jina-embeddings-v2-base-code": Profile("jinaai/jina-embeddings-v2-base-code", dim=768),
    "jinaai/jina-embeddings-v2-base-zh": Profile("jinaai/jina-embeddings-v2-base-zh", dim=768),
    "jinaai/jina-embeddings-v2-base-es": Profile("jinaai/jina-embeddings-v2-base-es", dim=768),
    "thenlper/gte-base": Profile("thenlper/gte-base", dim=768),
    "thenlper/gte-large": Profile("Qdrant/gte-large-onnx", "model.onnx", dim=1024),
    "ibm-granite/granite-embedding-small-english-r2": Profile(
        "onnx-community/granite-embedding-small-english-r2-ONNX",
        pooling=BUILT_IN,
        dim=384,
        further=("onnx/model.onnx_data",),
    ),
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": Profile(
        "Qdrant/paraphrase-multilingual-MiniLM-L12-v2-onnx-Q", "model_optimized.onnx", dim=384
    ),
    "sentence-transformers/paraphrase-multilingual-mpnet-base-v2": Profile(
        "Xenova/paraphrase-multilingual-mpnet-base-v2", dim=768
    ),
    "intfloat/multilingual-e5-large": replace(
        E5,
        repository="Qdrant/multilingual-e5-large-onnx",
        file="model.onnx",
        dim=1024,
        further=("model.onnx_data",),
    ),
    "intfloat/multilingual-e5-base": _e5("multilingual-e5-base", 768),
    "intfloat/multilingual-e5-small": _e5("multilingual-e5-small", 384),
    "intfloat/e5-large-v2": _e5("e5-large-v2", 1024),
    "intfloat/e5-base-v2": _e5("e5-base-v2", 768),
    "intfloat/e5-small-v2": _e5("e5-small-v2", 384),
}
"""Models that run straight from the cache. Others of fastembed's list run through fastembed."""


def profile_of(name: str) -> tuple[str, Profile] | None:
    """Return a model's name as spelled here, and its profile.

    None for an unknown name. Case does not matter.
    """
    return next(((known, profile) for known, profile in PROFILES.items() if known.lower() == name.lower()), None)


def rules_for(names: Iterable[str]) -> Profile | None:
    """Return the profile of the first name of a known model or the e5 family.

    A name counts if it ends like a known one.
    """
    for name in names:
        last = name.rstrip("/").rsplit("/", 1)[-1].lower()
        for known, profile in PROFILES.items():
            if known.lower().endswith(f"/{last}"):
                return profile
        if _OF_E5.search(last):
            return E5
    return None
