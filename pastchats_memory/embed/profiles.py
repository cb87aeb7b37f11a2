"""Describe what each model needs: files, input and output, by `profiles.toml` or by the files of its folder."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pastchats_memory.embed.windows import read_object
from pastchats_memory.text.data_file import read_data

CLS, MEAN, BUILT_IN = "cls", "mean", "built-in"
QUERY_PROMPTS = ("query", "Retrieval-query", "search_query")
DOCUMENT_PROMPTS = ("document", "passage", "Retrieval-document", "search_document")
"""Names of prompts in files of sentence-transformers."""


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


_DATA = read_data(__file__, "profiles.toml")
_FAMILIES: Mapping[str, Mapping[str, Any]] = _DATA["families"]
_OF_E5 = re.compile(r"(?:^|[-_.])e5[-_.]")


def _build_profile(family: str = "", further: Sequence[str] = (), **rules: Any) -> Profile:
    return Profile(**{"repository": "", **_FAMILIES.get(family, {}), **rules, "further": tuple(further)})


E5 = _build_profile("e5")
PROFILES: Mapping[str, Profile] = {name: _build_profile(**rules) for name, rules in _DATA["models"].items()}
"""Models that run straight from the cache. Others of fastembed's list run through fastembed."""


def profile_of(name: str) -> tuple[str, Profile] | None:
    """Return a known model's name as spelled here, and its profile; None for an unknown name. Case does not matter."""
    return next(((known, profile) for known, profile in PROFILES.items() if known.lower() == name.lower()), None)


def rules_of_folder(folder: Path) -> Profile:
    """Return pooling and prefixes of a model's folder from its files, or those of the model that it is named after."""
    origin = str(_json(folder / "config.json").get("_name_or_path") or "")
    profile = _find_rules([folder.name, origin]) or Profile("")
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


def _find_rules(names: Iterable[str]) -> Profile | None:
    """Return the profile of the first name that ends like a known model's, or belongs to the e5 family."""
    for name in names:
        last = name.rstrip("/").rsplit("/", 1)[-1].lower()
        for known, profile in PROFILES.items():
            if known.lower().endswith(f"/{last}"):
                return profile
        if _OF_E5.search(last):
            return E5
    return None


def _prompt(prompts: dict[str, Any], names: tuple[str, ...], otherwise: str) -> str:
    return next((prompts[name] for name in names if isinstance(prompts.get(name), str)), otherwise)


def _json(path: Path) -> dict[str, Any]:
    """Return the object in a file; none if it is missing or unreadable, because it only adds information."""
    try:
        return read_object(path)
    except (OSError, ValueError):
        return {}
