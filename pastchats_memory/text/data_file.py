"""Read the data files that stand beside modules, each once. Pathlib and tomllib are left out where a cold hook needs neither."""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any


@cache
def read_data(module: str, name: str) -> dict[str, Any]:
    """Return the tables of a TOML file beside a module (`__file__`)."""
    import tomllib

    return tomllib.loads(read_text(module, name))


@cache
def read_words(module: str, name: str) -> Mapping[str, str]:
    """Return the lists of words in a text file beside a module: a paragraph each, after its name and a colon.

    A line that begins with `#` is a remark.
    """
    lines = [line for line in read_text(module, name).splitlines() if not line.startswith("#")]
    parts = (paragraph.partition(":") for paragraph in "\n".join(lines).split("\n\n"))
    return {key: words.removeprefix(" ") for key, _, words in parts}


@cache
def read_parts(module: str, name: str, key: str) -> tuple[str, ...]:
    """Return the parts of one list in a text file beside a module, between bars and line ends; blanks belong to them."""
    return tuple(part for part in read_words(module, name)[key].replace("\n", "|").split("|") if part)


def read_text(module: str, name: str) -> str:
    """Return a text file beside a module."""
    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as file:  # noqa: PTH118, PTH120, PTH123 - no pathlib
        return file.read()
