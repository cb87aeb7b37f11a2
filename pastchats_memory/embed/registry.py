"""Which embedder a name stands for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.embed.packaged import FAMILY, PackagedEmbedder
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from pastchats_memory.embed import Embedder
    from pastchats_memory.embed.onnx import Files
    from pastchats_memory.embed.profiles import Profile
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from threading import Thread
from typing import Any, TypeVar

from pastchats_memory.embed.profiles import CLS, MEAN, Profile, rules_for
from pastchats_memory.embed.runtime import be_discreet

PACKAGED = "packaged"
"""How the packaged model is called; its own name stands for the fp32 model of fastembed's list."""
ENDPOINT = "endpoint:"
"""Stands before the name of a model behind the endpoint where one in the list has the same."""
OF_A_PATH = ("/", ".", "~")
"""With one of these begins what is a folder's path and no name."""
GRAPHS = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
"""Where a folder may have its graph; the first that is there counts."""


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class CustomModel:
    """A model that the person described: a folder, a repository on the hub, or a name at the endpoint."""

    path: Path | None = None
    rules: Mapping[str, object] = field(default_factory=dict)
    """Fields of `profiles.Profile`."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the configuration says about models."""

    caches: tuple[Path, ...] = ()
    """Where models lie; what is fetched goes into the first."""
    endpoint: str | None = None
    """Base URL of an OpenAI-compatible server."""
    key: str | None = field(default=None, repr=False)
    threads: int = field(default_factory=cores)
    custom: Mapping[str, CustomModel] = field(default_factory=dict)


def embedder_of(name: str | None, settings: ModelSettings, version: str = "", *, may_fetch: bool = False) -> Embedder:
    """The embedder that a name stands for; nothing is loaded yet.

    Args:
        name: `packaged` or None, a model's name, or a folder's path that begins with `/`, `.` or `~`.
        settings: of the configuration.
        version: of the vectors that it is wanted for, where there are some: tells the packaged model from its original,
            and an endpoint's model from one of the list.
        may_fetch: whether a model that is not on this machine is fetched from the hub.

    Raises:
        ModelUnavailable: there is no such model; of others that is known when they are first needed.
    """
    if name is None or name.lower() == PACKAGED or version.startswith(FAMILY):
        return PackagedEmbedder(settings.threads)
    from pastchats_memory.embed.profiles import Profile, profile_of

    custom = settings.custom.get(name, CustomModel())
    if custom.path is not None or name.startswith(OF_A_PATH):
        return _in_folder(name, custom, settings)
    found = profile_of(name)
    at_endpoint = version.startswith("endpoint") or (settings.endpoint is not None and found is None)
    if name.startswith(ENDPOINT) or (at_endpoint and "repository" not in custom.rules):
        return _at_endpoint(name.removeprefix(ENDPOINT), custom, settings)
    if found is None and "repository" not in custom.rules:
        from pastchats_memory.embed.fastembed import FastembedEmbedder

        return FastembedEmbedder(name, _own_cache(settings), settings.threads, may_fetch=may_fetch)
    name, profile = found or (name, Profile(""))
    return _in_cache(name, replace(profile, **custom.rules), settings, may_fetch=may_fetch)  # type: ignore[arg-type] # config has checked them


def is_model(wanted: str, name: str, version: str) -> bool:
    """Whether vectors of a model's name and version are those of the model that a person calls `wanted`."""
    if wanted.lower() == PACKAGED or version.startswith(FAMILY):
        return wanted.lower() == PACKAGED and version.startswith(FAMILY)
    if wanted.startswith(OF_A_PATH):
        return str(_folder_of(wanted)) == name
    return wanted.removeprefix(ENDPOINT).lower() == name.lower()


def leaves_for(embedder: Embedder) -> str | None:
    """The host to which an embedder sends texts; None where they stay on this machine."""
    return getattr(embedder, "host", None)


def _in_cache(name: str, profile: Profile, settings: ModelSettings, *, may_fetch: bool) -> Embedder:
    from pastchats_memory.embed.onnx import LocalEmbedder

    def find() -> Files:
        found = snapshot(settings.caches, profile)
        if found is None and not may_fetch:
            raise missing(name, _own_cache(settings), "only indexing fetches models")
        return found or fetch(name, profile, _own_cache(settings), on_stderr)

    return LocalEmbedder(name, find, settings.threads)


def _in_folder(name: str, custom: CustomModel, settings: ModelSettings) -> Embedder:
    from pastchats_memory.embed.onnx import LocalEmbedder

    folder = _folder_of(custom.path or name)
    return LocalEmbedder(name if custom.path else str(folder), partial(_of_folder, folder, custom), settings.threads)


def _folder_of(path: str | Path) -> Path:
    """Its full path; a home that is not known stays as it is said, and no folder is there."""
    return Path(os.path.expanduser(path)).absolute()  # noqa: PTH111 - pathlib's raises RuntimeError for such a home


def _of_folder(folder: Path, custom: CustomModel) -> Files:
    """The folder and the rules for it: as configured, else as its own files say, else of a model of its name."""
    graph = next(
        (name for name in (custom.rules.get("file"), *GRAPHS) if name and (folder / str(name)).is_file()), None
    )
    if graph is None or not (folder / "tokenizer.json").is_file():
        lacking = "tokenizer.json" if graph else f"a graph ({', '.join(GRAPHS)})"
        hint = "A model's folder holds its ONNX graph, tokenizer.json and, if it has one, tokenizer_config.json."
        raise ModelUnavailable(f"{folder} is no model's folder: it lacks {lacking}", hint)
    profile = replace(rules_of_folder(folder), file=str(graph))
    return folder, replace(profile, **custom.rules)  # type: ignore[arg-type] # config has checked them


def _at_endpoint(name: str, custom: CustomModel, settings: ModelSettings) -> Embedder:
    from pastchats_memory.embed.openai import EndpointEmbedder
    from pastchats_memory.embed.profiles import Profile

    if settings.endpoint is None:
        hint = "Set PASTCHATS_MEMORY_ENDPOINT to its base URL, such as https://api.openai.com/v1, and its key."
        raise ModelUnavailable(f"the model {name} is behind an endpoint, and none is configured", hint)
    return EndpointEmbedder(name, settings.endpoint, settings.key, replace(Profile(""), **custom.rules))  # type: ignore[arg-type] # config has checked them


def _own_cache(settings: ModelSettings) -> Path:
    if not settings.caches:
        raise ModelUnavailable("there is no folder for models", "Name one with PASTCHATS_MEMORY_CACHE.")
    return settings.caches[0]


# Models that lie in a cache as huggingface_hub and fastembed lay them out, and how one that does not gets there.

TOKENIZER_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
PATIENCE = 2.5
"""Seconds in which the hub must have answered, names of hosts looked up included, before it counts as out of reach."""
OTHERWISE = ", name a folder with an ONNX model by its path, or use the packaged one: --model packaged"
LINKED = "onnx_snapshots"
"""Where fastembed links a graph and its data, if the cache keeps them in folders that onnxruntime would not combine."""

Found = tuple[Path, Profile]
T = TypeVar("T")


def snapshot(caches: Iterable[Path], profile: Profile) -> Found | None:
    """The folder of the first cache that has all of a model, and the profile to use it with. Looks at names only."""
    needed = ("tokenizer.json", profile.file, *profile.further)
    wanted = f"models--{profile.repository.replace('/', '--')}"
    for cache in caches:
        for repository in _named(cache, wanted):
            for folder in _revisions(repository):
                if all((folder / name).is_file() for name in needed):
                    graph = repository / LINKED / folder.name / profile.file
                    return folder, replace(profile, file=str(graph)) if graph.is_file() else profile
    return None


def _named(cache: Path, wanted: str) -> list[Path]:
    """The repository's folder, then one that is spelled in other case, as older releases of fastembed left them."""
    if (cache / wanted).is_dir():
        return [cache / wanted]
    try:
        return [entry for entry in cache.iterdir() if entry.name.lower() == wanted.lower()]
    except OSError:
        return []


def _revisions(repository: Path) -> list[Path]:
    """Snapshots, the one that `main` stands for first, then the newest."""
    try:
        main = (repository / "refs" / "main").read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        main = ""
    try:
        folders = list((repository / "snapshots").iterdir())
        newest = sorted(folders, key=lambda folder: -folder.stat().st_mtime)
    except OSError:
        return []
    return sorted(newest, key=lambda folder: folder.name != main)


def fetch(name: str, profile: Profile, cache: Path, say: Callable[[str], None], otherwise: str = OTHERWISE) -> Found:
    """Bring a model from the hub into the cache, showing how far it is on a terminal; `otherwise` is as for `missing`.

    Raises:
        ModelUnavailable: the hub cannot be reached (known within seconds), does not have it, or broke off.
    """
    be_discreet()
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils import httpx

    faults = (OSError, ValueError, httpx.HTTPError)
    hub = HfApi()
    wanted = (*TOKENIZER_FILES, profile.file, *profile.further)

    def ask() -> Sequence[int]:
        about = hub.model_info(profile.repository, files_metadata=True, timeout=PATIENCE)
        return [file.size or 0 for file in about.siblings or [] if file.rfilename in wanted]

    try:
        megabytes = sum(within(PATIENCE, ask)) / 1e6
        say(f"Downloading {name} ({megabytes:,.0f} MB) from {hub.endpoint} to {cache}")
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        snapshot_download(profile.repository, cache_dir=cache, allow_patterns=list(wanted))
        found = snapshot([cache], profile)
        if found is None:
            raise FileNotFoundError(f"{profile.repository} lacks one of {', '.join(wanted)}")
        return _linked(found)
    except faults as fault:
        raise missing(name, cache, f"{hub.endpoint}: {_first_line(fault)}", otherwise) from fault


def missing(name: str, cache: Path, why: str, otherwise: str = OTHERWISE) -> ModelUnavailable:
    """What is said of a model that cannot be had, with the ways out, of which `otherwise` ends the list."""
    hint = (
        f"Run the same command again where the hub can be reached, copy the model's folder from another machine into "
        f"{cache}{otherwise}."
    )
    return ModelUnavailable(f"the model {name} is not on this machine, and it cannot be fetched ({why})", hint)


def within(seconds: float, ask: Callable[[], T]) -> T:
    """What a call returns or raises; TimeoutError where it takes longer, as looking up a host's name may."""
    answers: list[T] = []
    faults: list[Exception] = []

    def run() -> None:
        try:
            answers.append(ask())
        except Exception as fault:  # noqa: BLE001 - raised again below, in the thread that asked
            faults.append(fault)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if faults:
        raise faults[0]
    if not answers:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return answers[0]


def _linked(found: Found) -> Found:
    """The same, by way of fastembed's links where the graph has data of its own that onnxruntime would refuse."""
    folder, profile = found
    if not profile.further:
        return found
    from fastembed.common.onnx_external_data import link_external_data

    return folder, replace(profile, file=str(link_external_data(folder, profile.file, list(profile.further))))


def _first_line(fault: BaseException) -> str:
    return (str(fault).strip() or type(fault).__name__).splitlines()[0][:200]


def on_stderr(line: str) -> None:
    """A notice where the person sees it."""
    sys.stderr.write(f"{line}\n")


# What a model's folder says about itself, in the files that sentence-transformers writes.

QUERY_PROMPTS = ("query", "Retrieval-query", "search_query")
DOCUMENT_PROMPTS = ("document", "passage", "Retrieval-document", "search_document")


def rules_of_folder(folder: Path) -> Profile:
    """Pooling and prefixes as its files say; where they say nothing, as of the model that the folder is named after."""
    origin = str(_json(folder / "config.json").get("_name_or_path") or "")
    profile = rules_for([folder.name, origin]) or Profile("")
    pooling = _json(folder / "1_Pooling" / "config.json")
    if pooling.get("pooling_mode_cls_token") is True:
        profile = replace(profile, pooling=CLS)
    elif pooling.get("pooling_mode_mean_tokens") is True:
        profile = replace(profile, pooling=MEAN)
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict):
        profile = replace(
            profile,
            query=_prompt(prompts, QUERY_PROMPTS, profile.query),
            document=_prompt(prompts, DOCUMENT_PROMPTS, profile.document),
        )
    return replace(profile, repository="", further=())


def _prompt(prompts: dict[str, Any], names: tuple[str, ...], otherwise: str) -> str:
    return next((prompts[name] for name in names if isinstance(prompts.get(name), str)), otherwise)


def _json(path: Path) -> dict[str, Any]:
    """The object in a file; empty where there is none that can be read: it is only asked for what it may add."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
