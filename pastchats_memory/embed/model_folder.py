"""Read what a model's folder says about itself in files of sentence-transformers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pastchats_memory.embed.profiles import CLS, MEAN, Profile, rules_for
from pastchats_memory.embed.windows import read_object

QUERY_PROMPTS = ("query", "Retrieval-query", "search_query")
DOCUMENT_PROMPTS = ("document", "passage", "Retrieval-document", "search_document")


def rules_of_folder(folder: Path) -> Profile:
    """Return pooling and prefixes from its files, or those of the model that the folder is named after."""
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
    """Return the object in a file; none if it is missing or unreadable, because it only adds information."""
    try:
        return read_object(path)
    except (OSError, ValueError):
        return {}
