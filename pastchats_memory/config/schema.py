"""Define the configuration: every key with its value, its default, and which files may set it."""

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

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
    name: str = ""
    """Its name, where that is not the name of the field."""


def _whole(least: int) -> Parse:
    def parse(value: Any) -> int:
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
        if type(number) is not int or not least <= number < 1 << 31:
            raise ValueError(f"a whole number of at least {least}")
        return number

    return parse


def _number(least: float, most: float = 1) -> Parse:
    def parse(value: Any) -> float:
        wanted = f"a number from {least:g} to {most:g}"
        try:
            number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
        except (ValueError, OverflowError) as fault:
            raise ValueError(wanted) from fault
        if number is None or not least <= number <= most:
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


def _tables(example: str, keys: Mapping[str, Parse], other: Parse | None = None) -> Parse:
    """Return the parser of tables by name, which have these keys; with `other` also any further ones."""

    def parse_entry(name: str, key: str, entry: Any) -> Any:
        parse = keys.get(key, other)
        if parse is None:
            raise ValueError(f"in {name} only {', '.join(keys)}; it has {key}")
        try:
            return parse(entry)
        except ValueError as fault:
            raise ValueError(f"in {name}.{key} {fault}") from fault

    def parse(value: Any) -> Mapping[str, Mapping[str, Any]]:
        if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
            raise ValueError(f"tables such as {example}")
        parsed = {name: {key: parse_entry(name, key, table[key]) for key in table} for name, table in value.items()}
        return MappingProxyType({name: MappingProxyType(table) for name, table in parsed.items()})

    return parse


NOTHING: Mapping[str, Any] = MappingProxyType({})
_MODELS = _tables('[models."my-e5"]', _OF_A_MODEL)
_FORMATS = _tables('[formats.mytool] with role = "speaker" and text = "body"', NOTHING, _text)
_PRICES = _tables(
    '[prices."gpt-5"] with input = 3', dict.fromkeys(("input", "output", "cache_read", "cache_write"), _number(0, 1e6))
)
OwnText = Annotated[str | None, Key(_text, is_own=True)]


class Config(NamedTuple):
    """The effective configuration."""

    database: Annotated[Path, Key(_text, is_own=True, is_path=True, variable="DB")]
    caches: Annotated[tuple[Path, ...], Key(_text, is_own=True, is_path=True, name="cache")] = ()
    """Folders of models: our own, then huggingface_hub's, which is only read."""
    model: OwnText = None
    endpoint: OwnText = None
    """Base URL of an OpenAI-compatible server; None: no text leaves the machine."""
    api_key: OwnText = None
    threads: Annotated[int | None, Key(_whole(1), is_own=True)] = None
    """Threads of the model; None for one per core."""
    chat_endpoint: OwnText = None
    """Base URL of an OpenAI-compatible server to which `serve` passes chats on; None: to none."""
    chat_api_key: OwnText = None
    chat_timeout: Annotated[int, Key(_whole(1), is_own=True)] = 300
    """Seconds without a byte from that server."""
    judge_command: Annotated[tuple[str, ...], Key(_command, is_own=True)] = ()
    """Program, with arguments, that labels episodes: it reads a question on stdin and prints the answer."""
    judge_endpoint: OwnText = None
    """Base URL of an OpenAI-compatible server that labels episodes instead; None: none does."""
    judge_model: OwnText = None
    """Name of the model there."""
    judge_api_key: OwnText = None
    judge_timeout: Annotated[int, Key(_whole(1), is_own=True)] = 120
    """Seconds that a label may take."""
    judge_after_sessions: Annotated[int, Key(_whole(0), is_own=True)] = 0
    """Episodes that are labelled after a session at most; 0 switches it off."""
    server_token: Annotated[str | None, Key(_text, is_own=True, variable="TOKEN")] = None
    """Token that the clients of `serve` must send."""
    team: Annotated[bool, Key(_switch, is_own=True)] = False
    """Whether recall also answers from the local copy of the team's memory."""
    team_endpoint: Annotated[str | None, Key(_text, is_own=True, is_path=True)] = None
    """The team's server: an address of PostgreSQL or Milvus, or a file of Milvus Lite; None: nothing is shared."""
    team_token: OwnText = None
    """PostgreSQL's password, or Milvus's token or `user:password`."""
    team_author: OwnText = None
    """Name under which turns are shared with Milvus; None for the name of the user's account."""
    team_projects: Annotated[tuple[str, ...], Key(_texts, is_own=True)] = ()
    """Projects of the others that `team pull` copies; empty for all."""
    team_days: Annotated[int | None, Key(_whole(1), is_own=True)] = None
    """Age of the oldest turn that `team pull` copies; None for any."""
    roots: Annotated[tuple[str, ...], Key(_texts, is_own=True, is_path=True)] = ()
    """Folders of transcripts in addition to the usual ones."""
    prices: Annotated[Mapping[str, Mapping[str, float]], Key(_PRICES, is_own=True, variable="")] = NOTHING
    """Price of a million tokens of each kind, by the beginning of a model's name."""
    models: Annotated[Mapping[str, Mapping[str, Any]], Key(_MODELS, is_own=True, is_path=True, variable="")] = NOTHING
    """Models that the user described, by name."""
    chunk_size: Annotated[int, Key(_whole(100))] = 1500
    """Characters of a part of a note."""
    overlap: Annotated[int, Key(_whole(0))] = 2
    """Lines that two parts of a note share."""
    include: Annotated[tuple[str, ...], Key(_texts)] = ()
    exclude: Annotated[tuple[str, ...], Key(_texts)] = ()
    note_folders: Annotated[tuple[str, ...], Key(_texts)] = ()
    formats: Annotated[Mapping[str, Mapping[str, str]], Key(_FORMATS, is_own=True, variable="")] = NOTHING
    """Maps of keys for JSON of unknown shape, by name, as `index --map` takes one."""
    budget: Annotated[int, Key(_whole(1))] = 1500
    """Tokens of a recall block."""
    threshold: Annotated[float | None, Key(_number(0))] = None
    min_similarity: Annotated[float | None, Key(_number(-1))] = None
    private: Annotated[bool, Key(_truth, variable="")] = False
    """The project's text is recalled only inside it."""
    origins: Mapping[str, str] = NOTHING
    """Where the value of each key comes from, for keys without their default."""
    warnings: tuple[str, ...] = ()
    """Ignored settings of the project's file, each with the reason."""

    def __repr__(self) -> str:
        """Leave the values out, since some are secret."""
        return f"Config({self.database})"


KEYS: Mapping[str, Key] = MappingProxyType(
    {
        detail.name or name: detail
        for name, annotation in Config.__annotations__.items()
        for detail in getattr(annotation, "__metadata__", ())
    }
)
"""What the files and the environment may set, by name."""


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
