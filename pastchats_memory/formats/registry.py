"""Every format: the built-in ones, and those that other packages add by an entry point.

Every function that returns formats raises BrokenFormat if a package of a format cannot be loaded, or defines no Format.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from pastchats_memory.errors import BrokenFormat, UsageFault
from pastchats_memory.formats.base.format import CERTAIN, Format, load
from pastchats_memory.formats.base.locations import Environment, places
from pastchats_memory.text.data_file import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from pastchats_memory.formats.base.dialect import Dialect
    from pastchats_memory.formats.base.key_map import KeyMap
    from pastchats_memory.formats.base.source import SourceFile

ENTRY_POINTS = "pastchats_memory.formats"
"""The group of entry points, such as `mytool = "my_package:MYTOOL"`, by which other packages add formats."""

_ROWS = [
    line.split(maxsplit=2) for line in read_text(__file__, "built_in.txt").splitlines() if not line.startswith("#")
]
BUILT_IN: Mapping[str, str] = {name: place for name, place, *_ in _ROWS}
"""Where each built-in format is defined, by name."""
VERIFIED: Mapping[str, str] = {name: verified[0] for name, _, *verified in _ROWS if verified}
"""What `Format.verified` says of a format of another package."""

_PLACES = [line.split(maxsplit=1) for line in read_text(__file__, "locations.txt").splitlines() if line[0] != "#"]

SHORT_NAMES = {"gemini": "gemini-cli", "qwen": "qwen-code", "copilot": "copilot-cli"}
"""Names that people use for agents."""


@cache
def load_format(name: str) -> Format:
    """Return a format by its name or a short name, without loading the others. Raises UsageFault if there is none."""
    name = SHORT_NAMES.get(name, name)
    if name in BUILT_IN:
        found: Format = load(BUILT_IN[name])
        return found
    for format_ in added_formats():
        if format_.name == name:
            return format_
    raise UsageFault(f"there is no format {name!r}", "`pastchats-memory formats` lists them.")


@cache
def all_formats() -> tuple[Format, ...]:
    """Return the formats of other packages, then the built-in ones."""
    return (*added_formats(), *map(load_format, BUILT_IN))


@cache
def added_formats() -> tuple[Format, ...]:
    """Return the formats that other packages add, by the names of their entry points."""
    return tuple(format_ for format_, _ in _added())


def mapped_format(key_map: KeyMap | None = None) -> Format:
    """Return the format that reads JSON of unknown shape: by a user's map of its keys, or by known keys."""
    return next(format_.with_map(key_map) for format_ in all_formats() if format_.with_map is not None)


def origin_of(format_: Format) -> str:
    """Return "built in", or the package that adds the format with its version."""
    return next((origin for added, origin in _added() if added is format_), "built in")


@cache
def _added() -> tuple[tuple[Format, str], ...]:
    from importlib.metadata import entry_points  # a hook has no use for it

    found: dict[str, tuple[Format, str]] = {}
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            format_ = point.load()
        except (ImportError, AttributeError, NameError, SyntaxError, TypeError, ValueError) as fault:
            raise BrokenFormat(
                f"the format {point.name!r} of {origin} cannot be loaded: {fault}", f"Update or uninstall {origin}."
            ) from fault
        if not isinstance(format_, Format):
            raise BrokenFormat(f"{point.value} of {origin} is not a Format", f"Update or uninstall {origin}.")
        if format_.name in BUILT_IN or format_.name in found:
            raise BrokenFormat(f"{origin} adds a format {format_.name!r}, which exists", f"Uninstall {origin}.")
        found[format_.name] = (format_, origin)
    return tuple(found.values())


def detect_format(source: SourceFile) -> Format | None:
    """Return the most confident format, or None; a certain one ends the search.

    Raises:
        NotText: a binary file, or a database of an unknown program.
        OSError: the file cannot be read.
    """
    best, confidence = None, 0
    for format_ in all_formats():
        if source.shape == "sqlite" and not format_.is_specific:
            continue
        found = format_.detect(source)
        if found >= CERTAIN:
            return format_
        if found > confidence:
            best, confidence = format_, found
    if best is None and source.shape == "sqlite":
        from pastchats_memory.formats.base.source import NotText

        raise NotText("an SQLite database in which no known program keeps conversations")
    return best


def locations_of(format_: Format, environment: Environment) -> Iterator[Path]:
    """Yield the places of a format: those that the table lists, then those that it finds itself."""
    yield from places(*(pattern for name, pattern in _PLACES if name == format_.name))(environment)
    yield from format_.locations(environment)


class DefaultLocation(NamedTuple):
    """A default location of a format's files."""

    path: Path
    exists: bool


class FormatReport(NamedTuple):
    """A format with its origin and the places of its files."""

    format: Format
    origin: str
    """The package that adds the format with its version, or "built in"."""
    files: tuple[DefaultLocation, ...]


def report_formats(environment: Environment) -> list[FormatReport]:
    """Return every format by name, with its origin and its default locations."""
    reports = []
    for format_ in sorted(all_formats(), key=lambda format_: format_.name):
        found = ((path, os.path.exists(path)) for path in locations_of(format_, environment))  # noqa: PTH110 - pathlib's raises below a closed folder on Python 3.11
        reports.append(FormatReport(format_, origin_of(format_), tuple(DefaultLocation(*each) for each in found)))
    return reports


@cache
def any_dialect() -> Dialect:
    """Return the spellings of all agents, for a file that may hold a session of any of them."""
    from pastchats_memory.formats.base.dialect import COMMON  # a hook has no use for it

    return reduce(or_, (format_.dialect() for format_ in all_formats() if format_.dialect is not None), COMMON)


class History(NamedTuple):
    """A program's history on this machine."""

    program: str
    path: Path


def discover(environment: Environment) -> list[History]:
    """Return every history that exists in a default location, in the order of the formats."""
    found: dict[Path, History] = {}
    for format_ in all_formats():
        for path in locations_of(format_, environment):
            if path.exists():
                found.setdefault(path, History(format_.program or format_.name, path))
    return list(found.values())


def formats_of_kind(kind: str) -> Iterator[Format]:
    """Yield the formats whose files hold "conversation", "notes" or "tasks"."""
    return (format_ for format_ in all_formats() if kind in format_.kinds)
