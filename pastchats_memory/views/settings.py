"""List the settings without secrets, and build the JSON views of settings and installation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pastchats_memory.config import Config
from pastchats_memory.text.encoding import utf8

if TYPE_CHECKING:
    from pastchats_memory.views.schema import settings as views

SECRET_ENDS = ("api_key", "_token")
"""Ends of the keys whose values are secret."""
NO_KEYS = frozenset({"origins", "warnings"})
ORIGIN_OF = {"caches": "cache"}
DEFAULT = "default"
"""Origin of a value that nobody set."""


def list_settings(effective: Config) -> list[views.SettingView]:
    """Return every key with its value, as JSON can hold it, and its origin."""
    return [
        {
            "key": key,
            "value": _hide_secret(key, value),
            "origin": effective.origins.get(ORIGIN_OF.get(key, key), DEFAULT),
        }
        for key, value in effective._asdict().items()
        if key not in NO_KEYS
    ]


def format_setting(value: Any) -> str:
    """Write a value of a setting as text; `–` for none."""
    if value is None or value in ([], {}):
        return "–"
    if isinstance(value, bool):
        return str(value).lower()  # as TOML spells it
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _hide_secret(key: str, value: Any) -> Any:
    """Return a value as JSON can hold it, without secrets."""
    if key.endswith(SECRET_ENDS):
        return None if value is None else "(set)"
    if key.endswith("endpoint") and value is not None and "@" in value:
        scheme, _, rest = value.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"
    if isinstance(value, tuple):
        return [_hide_secret(key, one) for one in value]
    if isinstance(value, os.PathLike):
        return utf8(os.fspath(value))
    if hasattr(value, "items"):
        return {name: _hide_secret(key, one) for name, one in value.items()}
    return value


def build_config(settings: Sequence[views.SettingView], warnings: Sequence[str]) -> views.ConfigBody:
    """Build `config/1`."""
    return {"schema": "config/1", "results": list(settings), "warnings": list(warnings)}


def build_exclude(patterns: Sequence[str], stored: Mapping[str, int]) -> views.ExcludeBody:
    """Build `exclude/1`; `stored` has the number of stored rows by pattern."""
    results: list[views.ExclusionView] = [{"pattern": one, "stored": stored.get(one, 0)} for one in patterns]
    return {"schema": "exclude/1", "results": results}


def build_install(changes: Sequence[views.FileChangeView]) -> views.InstallBody:
    """Build `install/1`."""
    return {"schema": "install/1", "results": list(changes)}


def build_setup(steps: Sequence[views.SetupStepView], recall: str | None) -> views.SetupBody:
    """Build `setup/1`."""
    return {"schema": "setup/1", "recall": recall, "results": list(steps)}


def build_uninstall(changes: Sequence[views.FileChangeView]) -> views.UninstallBody:
    """Build `uninstall/1`."""
    return {"schema": "uninstall/1", "results": list(changes)}
