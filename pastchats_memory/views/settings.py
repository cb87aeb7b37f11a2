"""List the settings without secrets."""

import os
from typing import Annotated, Any, NamedTuple

from pastchats_memory.config import Config
from pastchats_memory.text.encoding import utf8

SECRET_ENDS = ("api_key", "_token")
"""Ends of the keys whose values are secret."""
NO_KEYS = frozenset({"origins", "warnings"})
ORIGIN_OF = {"caches": "cache"}
DEFAULT = "default"
"""Origin of a value that nobody set."""


class Setting(NamedTuple):
    """A setting with its value and where the value comes from."""

    key: Annotated[str, {"minLength": 1}]
    value: Annotated[object, "The effective value; a secret is shown as set."]
    """JSON can hold it."""
    origin: Annotated[str, {"minLength": 1}, "default, a flag, an environment variable, or FILE:LINE."]


def list_settings(effective: Config) -> list[Setting]:
    """Return every setting without secrets."""
    return [
        Setting(key, _hide_secret(key, value), effective.origins.get(ORIGIN_OF.get(key, key), DEFAULT))
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
