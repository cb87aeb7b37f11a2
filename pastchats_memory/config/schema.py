"""Define every key of the configuration: its values, and which files may set it."""

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

Parse = Callable[[Any], Any]
"""A value of TOML, or a text of the environment, to the value that counts. Raises ValueError with what is wanted."""


class Key(NamedTuple):
    """One key."""

    parse: Parse
    is_own: bool = False
    """Only the person's own file, the environment and flags may say it: a cloned repository's file is hostile."""
    is_path: bool = False
    """A path, in a file relative to the file's folder."""
    variable: str | None = None
    """Its part of the variable's name, where that is not the key in capitals; empty for no variable."""


def _whole(least: int) -> Parse:
    def parse(value: Any) -> int:
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
        if type(number) is not int or not least <= number < 1 << 31:
            raise ValueError(f"a whole number of at least {least}")
        return number

    return parse


def _share(least: float) -> Parse:
    def parse(value: Any) -> float:
        wanted = f"a number from {least:g} to 1"
        try:
            number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
        except (ValueError, OverflowError) as fault:
            raise ValueError(wanted) from fault
        if number is None or not least <= number <= 1:
            raise ValueError(wanted)
        return number

    return parse


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError("a text that is not empty")
    return value.strip()


def _texts(value: Any) -> tuple[str, ...]:
    listed = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise ValueError("a list of texts")  # noqa: TRY004 - all of these say what is wanted
    return tuple(_text(one) for one in listed)


def _command(value: Any) -> tuple[str, ...]:
    try:
        words = shlex.split(value) if isinstance(value, str) else list(_texts(value))
    except ValueError as fault:
        raise ValueError("a command, as a text or a list of words") from fault
    if not words:
        raise ValueError("a command, as a text or a list of words")
    return tuple(words)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")  # noqa: TRY004 - all of these say what is wanted
    return value


def _switch(value: Any) -> bool:
    """Return a truth of TOML, or of a variable, which has only text."""
    return _truth({"true": True, "false": False}.get(value, value) if isinstance(value, str) else value)


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")  # noqa: TRY004 - all of these say what is wanted
    return value


def _pooling(value: Any) -> str:
    allowed = ("cls", "mean", "built-in")
    if value not in allowed:
        raise ValueError(f"one of {', '.join(allowed)}")
    return str(value)


_OF_A_MODEL: Mapping[str, Parse] = MappingProxyType(
    {
        "path": _text,
        "repository": _text,
        "file": _text,
        "query": _words,
        "document": _words,
        "dim": _whole(1),
        "tokens": _whole(8),
        "pooling": _pooling,
    }
)


def _models(value: Any) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise ValueError('tables such as [models."my-e5"]')
    parsed = {}
    for name, table in value.items():
        for key, entry in table.items():
            if key not in _OF_A_MODEL:
                raise ValueError(f"in {name} only {', '.join(_OF_A_MODEL)}; it has {key}")
            try:
                table[key] = _OF_A_MODEL[key](entry)
            except ValueError as fault:
                raise ValueError(f"in {name}.{key} {fault}") from fault
        parsed[name] = MappingProxyType(table)
    return MappingProxyType(parsed)


def _formats(value: Any) -> Mapping[str, Mapping[str, str]]:
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise ValueError('tables such as [formats.mytool] with role = "speaker" and text = "body"')
    tables = {name: {key: _named(name, key, text) for key, text in table.items()} for name, table in value.items()}
    return MappingProxyType({name: MappingProxyType(table) for name, table in tables.items()})


def _named(name: str, key: str, text: Any) -> str:
    try:
        return _text(text)
    except ValueError as fault:
        raise ValueError(f"in {name}.{key} {fault}") from fault


KEYS: Mapping[str, Key] = MappingProxyType(
    {
        "database": Key(_text, is_own=True, is_path=True, variable="DB"),
        "cache": Key(_text, is_own=True, is_path=True),
        "roots": Key(_texts, is_own=True, is_path=True),
        "model": Key(_text, is_own=True),
        "models": Key(_models, is_own=True, is_path=True, variable=""),
        "endpoint": Key(_text, is_own=True),
        "api_key": Key(_text, is_own=True),
        "threads": Key(_whole(1), is_own=True),
        "chat_endpoint": Key(_text, is_own=True),
        "chat_api_key": Key(_text, is_own=True),
        "chat_timeout": Key(_whole(1), is_own=True),
        "judge_command": Key(_command, is_own=True),
        "judge_endpoint": Key(_text, is_own=True),
        "judge_model": Key(_text, is_own=True),
        "judge_api_key": Key(_text, is_own=True),
        "judge_timeout": Key(_whole(1), is_own=True),
        "judge_after_sessions": Key(_whole(0), is_own=True),
        "server_token": Key(_text, is_own=True, variable="TOKEN"),
        "team": Key(_switch, is_own=True),
        "team_endpoint": Key(_text, is_own=True, is_path=True),
        "team_token": Key(_text, is_own=True),
        "team_author": Key(_text, is_own=True),
        "team_projects": Key(_texts, is_own=True),
        "team_days": Key(_whole(1), is_own=True),
        "chunk_size": Key(_whole(100)),
        "overlap": Key(_whole(0)),
        "include": Key(_texts),
        "exclude": Key(_texts),
        "note_folders": Key(_texts),
        "formats": Key(_formats, is_own=True, variable=""),
        "budget": Key(_whole(1)),
        "threshold": Key(_share(0)),
        "min_similarity": Key(_share(-1)),
        "private": Key(_truth, variable=""),
    }
)


def absolute(value: Any, folder: Path) -> Any:
    """Return a path, several, or those of models, as absolute paths.

    Relative ones are below the folder; `~` is a home folder. The address of a server stays as it is.
    Raises RuntimeError if the home folder is not known.
    """
    if isinstance(value, Mapping):
        return MappingProxyType(
            {
                key: absolute(entry, folder) if key == "path" or isinstance(entry, Mapping) else entry
                for key, entry in value.items()
            }
        )
    if isinstance(value, tuple):
        return tuple(str(folder / Path(one).expanduser()) for one in value)
    return value if "://" in value else str(folder / Path(value).expanduser())
