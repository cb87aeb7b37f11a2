"""Find models in a cache with the layout of huggingface_hub and fastembed, and download missing ones."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TypeVar

from pastchats_memory.embed.profiles import Profile
from pastchats_memory.embed.runtime import be_discreet, first_line
from pastchats_memory.errors import ModelUnavailable

TOKENIZER_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
PATIENCE = 2.5
"""Seconds in which the hub must answer, name lookup included, before it counts as unreachable."""
OTHER_WAYS = ", name a folder with an ONNX model by its path, or use the packaged one: --model packaged"
INDEXING = "only indexing fetches models"
LINKS = "onnx_snapshots"
"""Folder in which fastembed links a graph and its data, if onnxruntime would not accept their places."""
Found = tuple[Path, Profile]
T = TypeVar("T")


def find_snapshot(caches: Iterable[Path], profile: Profile) -> Found | None:
    """Return the folder of the first cache with all files of a model by their names, and the model's profile."""
    needed = ("tokenizer.json", profile.file, *profile.further)
    wanted = f"models--{profile.repository.replace('/', '--')}"
    for cache in caches:
        for repository in _find_repository(cache, wanted):
            for folder in _list_snapshots(repository):
                if all((folder / name).is_file() for name in needed):
                    graph = repository / LINKS / folder.name / profile.file
                    return folder, replace(profile, file=str(graph)) if graph.is_file() else profile
    return None


def _find_repository(cache: Path, wanted: str) -> list[Path]:
    """Return the repository's folder, or those in other case, which older releases of fastembed left."""
    if (cache / wanted).is_dir():
        return [cache / wanted]
    try:
        return [entry for entry in cache.iterdir() if entry.name.lower() == wanted.lower()]
    except OSError:
        return []


def _list_snapshots(repository: Path) -> list[Path]:
    """Return snapshots: the one of `main` first, then the newest."""
    try:
        main = (repository / "refs" / "main").read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        main = ""
    try:
        newest = sorted((repository / "snapshots").iterdir(), key=lambda folder: -folder.stat().st_mtime)
    except OSError:
        return []
    return sorted(newest, key=lambda folder: folder.name != main)


def find_model(
    name: str,
    profile: Profile,
    caches: Sequence[Path],
    *,
    may_fetch: bool,
    fetching: str = INDEXING,
    otherwise: str = OTHER_WAYS,
) -> Found:
    """Return the folder and the profile of a model, which is downloaded into the first cache if it may be.

    `fetching` says what fetches models, and `otherwise` is as for `model_missing`. Raises ModelUnavailable.
    """
    if found := find_snapshot(caches, profile):
        return found
    cache = own_cache(caches)
    if not may_fetch:
        raise model_missing(name, cache, fetching, otherwise)
    return _fetch_model(name, profile, cache, otherwise)


def own_cache(caches: Sequence[Path]) -> Path:
    """Return the folder for downloads, the first. Raises ModelUnavailable if there is none."""
    if not caches:
        raise ModelUnavailable("there is no folder for models", "Name one with PASTCHATS_MEMORY_CACHE.")
    return caches[0]


def _fetch_model(name: str, profile: Profile, cache: Path, otherwise: str) -> Found:
    """Download a model into the cache and show the progress on a terminal.

    Raises ModelUnavailable if the hub is unreachable (known within seconds), lacks the model, or broke off.
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
        megabytes = sum(ask_soon(ask)) / 1e6
        print_notice(f"Downloading {name} ({megabytes:,.0f} MB) from {hub.endpoint} to {cache}")
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        snapshot_download(profile.repository, cache_dir=cache, allow_patterns=list(wanted))
        found = find_snapshot([cache], profile)
        if found is None:
            raise FileNotFoundError(f"{profile.repository} lacks one of {', '.join(wanted)}")
        return _link_data(found)
    except faults as fault:
        raise model_missing(name, cache, f"{hub.endpoint}: {first_line(fault)}", otherwise) from fault


def model_missing(name: str, cache: Path, why: str, otherwise: str = OTHER_WAYS) -> ModelUnavailable:
    """Return the fault of a model that cannot be had, with the ways out, the last of which is `otherwise`."""
    hint = (
        f"Run the same command again where the hub can be reached, copy the model's folder from another machine into "
        f"{cache}{otherwise}."
    )
    return ModelUnavailable(f"the model {name} is not on this machine, and it cannot be fetched ({why})", hint)


def ask_soon(ask: Callable[[], T]) -> T:
    """Return or raise the result of a call; raise TimeoutError if it takes too long, as a name lookup may."""
    answers: list[T] = []
    faults: list[Exception] = []

    def run() -> None:
        try:
            answers.append(ask())
        except Exception as fault:  # noqa: BLE001 - raised again below, in the thread that asked
            faults.append(fault)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if faults:
        raise faults[0]
    if not answers:
        raise TimeoutError(f"no answer within {PATIENCE:g} seconds")
    return answers[0]


def _link_data(found: Found) -> Found:
    """Link a graph and its data as fastembed does, if onnxruntime needs it."""
    folder, profile = found
    if not profile.further:
        return found
    from fastembed.common.onnx_external_data import link_external_data

    return folder, replace(profile, file=str(link_external_data(folder, profile.file, list(profile.further))))


def print_notice(line: str) -> None:
    """Print a notice to stderr."""
    sys.stderr.write(f"{line}\n")
