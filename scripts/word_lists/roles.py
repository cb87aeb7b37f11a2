"""List the entries of `formats/generic/roles.toml` that no golden file needs: `python scripts/word_lists/roles.py`.

Each entry is removed in turn. An entry is needed if a golden file of `fixtures/messages` then gives other turns, another
suggested map, or if a file in `refused` is read.
"""

from __future__ import annotations

import copy
import json
import sys
import tomllib
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

from pastchats_memory.formats.generic import GENERIC, GenericFormat, containers, message, roles
from pastchats_memory.formats.generic.key_map import KeyMap
from pastchats_memory.readers.resume import Checkpoint
from pastchats_memory.readers.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures" / "messages"
WORDS = Path(roles.__file__).with_name("roles.toml")


def check_roles() -> list[str]:
    """List the entries whose removal changes no golden result, as `list: entry`."""
    document = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    use(document)
    paths = [path for path in sorted(FIXTURES.glob("*.json*")) if path.suffix in (".json", ".jsonl")]
    refused = sorted((FIXTURES / "refused").iterdir())
    if not paths or not refused:
        raise FileNotFoundError(f"no golden files in {FIXTURES}")
    expected = [read(path) for path in paths] + [GENERIC.detect(Source(path)) for path in refused]
    unneeded = []
    for name, changed in without_each(document):
        use(changed)
        found = (read(path) for path in paths)
        confidences = (GENERIC.detect(Source(path)) for path in refused)
        if all(new == old for new, old in zip((*found, *confidences), expected, strict=True)):
            unneeded.append(name)
    use(document)
    return unneeded


def without_each(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each entry and the document without it."""
    for section, table in document.items():
        for key, words in table.items():
            if isinstance(words, str):
                changed = copy.deepcopy(document)
                del changed[section][key]
                yield f"{section}: {key}", changed
                continue
            for word in words:
                changed = copy.deepcopy(document)
                changed[section][key].remove(word)
                yield f"{key}: {word}", changed


def use(document: dict[str, Any]) -> None:
    """Make the generic format read by these word lists."""
    for module in (roles, message, containers):
        for value in vars(module).values():
            if isinstance(value, _lru_cache_wrapper):
                value.cache_clear()
    words = roles.Vocabulary(document)
    for module in (roles, message, containers, *(sys.modules[name] for name in LATER if name in sys.modules)):
        module.vocabulary = lambda: words  # type: ignore[attr-defined]


LATER = ("pastchats_memory.formats.generic.columns",)
"""Modules that are imported when they are first needed."""


def read(path: Path) -> object:
    """Return the turns of a golden file and the map that is suggested for it, as plain values."""
    sidecar = path.with_suffix(".map")
    key_map = KeyMap.parse(sidecar.read_text(encoding="utf-8").strip()) if sidecar.exists() else None
    reader = GenericFormat(key_map)
    source = Source(path)
    rows = [row for row in reader.read(source) if not isinstance(row, Checkpoint)]
    suggested = str(GENERIC.suggest_map(source)) if key_map else ""
    return reader.detect(source), json.dumps([tuple(row) for row in rows], default=dict), suggested


def main() -> None:
    """Print the entries that no golden file needs; exit with 1 if there are any."""
    unneeded = check_roles()
    print("\n".join(unneeded) or "Every entry is needed.")
    sys.exit(bool(unneeded))


if __name__ == "__main__":
    main()
