"""Find the embedder of a model's name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.embed.packaged import FAMILY, PackagedEmbedder
from pastchats_memory.embed.session import ModelSession, Say, UnavailableEmbedder, say_nothing
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from pastchats_memory.embed import Embedder
    from pastchats_memory.embed.onnx import Files

# The modules of other models are imported in functions, because the packaged model does without them.

PACKAGED = frozenset({"packaged", "all-minilm-l6-v2", "sentence-transformers/all-minilm-l6-v2"})
"""Lower-case names of the packaged model. Its fp32 original is used by its vectors, or by an entry of the configuration."""
ENDPOINT = "endpoint:"
"""Prefix of a model behind the endpoint, needed if the list has a model of the same name."""
PATH_STARTS = ("/", ".", "~")
"""Starts of a folder's path, which is no name."""
GRAPHS = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
"""Places of a folder's graph; the first that exists counts."""


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class CustomModel:
    """A model that the user configured: a folder, a repository on the hub, or a name at the endpoint."""

    path: Path | None = None
    rules: Mapping[str, object] = field(default_factory=dict)
    """Fields of `profiles.Profile`."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The configuration of models."""

    caches: tuple[Path, ...] = ()
    """Folders of models; downloads go into the first."""
    endpoint: str | None = None
    """Base URL of an OpenAI-compatible server."""
    key: str | None = field(default=None, repr=False)
    threads: int = field(default_factory=cores)
    custom: Mapping[str, CustomModel] = field(default_factory=dict)
    say: Say = say_nothing
    """Called before text leaves this machine, with a sentence that names the receiver."""


def embedder_of(name: str | None, settings: ModelSettings, version: str = "", *, may_fetch: bool = False) -> Embedder:
    """Return the embedder of a name; nothing is loaded yet.

    An embedder that cannot be used raises ModelUnavailable when a vector is first needed.

    Args:
        name: `packaged` or None, a model's name, or a folder's path that begins with `/`, `.` or `~`.
        settings: the configuration.
        version: version of existing vectors. It tells the packaged model from its original, and an endpoint's model from one
            of the list.
        may_fetch: whether a missing model is downloaded from the hub, and a busy endpoint is waited for.
    """
    is_packaged = name is None or (name.lower() in PACKAGED and name not in settings.custom)
    if name is None or version.startswith(FAMILY) or (is_packaged and not version):
        return PackagedEmbedder(settings.threads)
    try:
        return _find_embedder(name, settings, version, may_fetch=may_fetch)
    except ModelUnavailable as fault:
        return UnavailableEmbedder(name.removeprefix(ENDPOINT), version, fault)


def _find_embedder(name: str, settings: ModelSettings, version: str, *, may_fetch: bool) -> Embedder:
    """Return the embedder of another model than the packaged one. Raises ModelUnavailable."""
    from pastchats_memory.embed.profiles import Profile, profile_of

    custom = settings.custom.get(name, CustomModel())
    if custom.path is not None or name.startswith(PATH_STARTS):
        from pastchats_memory.embed.onnx import LocalEmbedder

        folder = _folder_of(custom.path or name)
        read = partial(_read_folder, folder, custom)
        return LocalEmbedder(name if custom.path else str(folder), read, settings.threads)
    found = profile_of(name)
    at_endpoint = version.startswith("endpoint") or (settings.endpoint is not None and found is None)
    if name.startswith(ENDPOINT) or (at_endpoint and "repository" not in custom.rules):
        return _at_endpoint(name.removeprefix(ENDPOINT), custom, settings, version, is_patient=may_fetch)
    if found is None and "repository" not in custom.rules:
        from pastchats_memory.embed.fastembed import FastembedEmbedder
        from pastchats_memory.embed.hub import own_cache

        return FastembedEmbedder(name, own_cache(settings.caches), settings.threads, may_fetch=may_fetch)
    name, profile = found or (name, Profile(""))
    from pastchats_memory.embed.hub import find_model
    from pastchats_memory.embed.onnx import LocalEmbedder

    profile = replace(profile, **custom.rules)  # type: ignore[arg-type] # config has checked them
    find = partial(find_model, name, profile, settings.caches, may_fetch=may_fetch)
    return LocalEmbedder(name, find, settings.threads)


def require_model_name(name: str, settings: ModelSettings) -> None:
    """Load a model that a new database is to have, and embed a word with it.

    The packaged model and endpoints are not tried: their names are right, and they may work later. Raises ModelUnavailable
    if the name is wrong, or its files cannot be used or fetched.
    """
    from pastchats_memory.embed.openai import EndpointEmbedder

    embedder = embedder_of(name, settings, may_fetch=True)
    if not isinstance(embedder, PackagedEmbedder | EndpointEmbedder):
        ModelSession(embedder).embed_query("ready")


def is_model(wanted: str, name: str, version: str) -> bool:
    """Check whether vectors come from the model that a user calls `wanted`."""
    if version.startswith(FAMILY):
        return wanted.lower() in PACKAGED
    if wanted.startswith(PATH_STARTS):
        return str(_folder_of(wanted)) == name
    return wanted.removeprefix(ENDPOINT).lower() == name.lower()


def _folder_of(path: str | Path) -> Path:
    """Return the full path; an unknown home stays as written, and then no folder is there."""
    return Path(os.path.expanduser(path)).absolute()  # noqa: PTH111 - pathlib's raises RuntimeError for such a home


def _read_folder(folder: Path, custom: CustomModel) -> Files:
    """Return the folder and its profile, by the configuration, else its files, else a model of its name."""
    from pastchats_memory.embed.profiles import rules_of_folder

    graph = next(
        (name for name in (custom.rules.get("file"), *GRAPHS) if name and (folder / str(name)).is_file()), None
    )
    if graph is None or not (folder / "tokenizer.json").is_file():
        lacking = "tokenizer.json" if graph else f"a graph ({', '.join(GRAPHS)})"
        hint = "A model's folder holds its ONNX graph, tokenizer.json and, if it has one, tokenizer_config.json."
        raise ModelUnavailable(f"{folder} is no model's folder: it lacks {lacking}", hint)
    profile = replace(rules_of_folder(folder), file=str(graph))
    return folder, replace(profile, **custom.rules)  # type: ignore[arg-type] # config has checked them


def _at_endpoint(
    name: str, custom: CustomModel, settings: ModelSettings, version: str, *, is_patient: bool
) -> Embedder:
    from pastchats_memory.embed.openai import EndpointEmbedder
    from pastchats_memory.embed.profiles import Profile

    if settings.endpoint is None:
        hint = "Set PASTCHATS_MEMORY_ENDPOINT to its base URL, such as https://api.openai.com/v1, and its key."
        raise ModelUnavailable(f"the model {name} is behind an endpoint, and none is configured", hint)
    profile = replace(Profile(""), **custom.rules)  # type: ignore[arg-type] # config has checked them
    return EndpointEmbedder(
        name, settings.endpoint, settings.key, profile, version, is_patient=is_patient, say=settings.say
    )
