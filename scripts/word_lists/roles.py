"""List the entries of `formats/generic/roles.toml` that no golden file needs: `python scripts/word_lists/roles.py`.

Each entry is removed in turn, and stays removed if it is not needed. An entry is needed if a golden file of
`fixtures/messages` then gives other turns or another suggested map, or if a file in `refused` is read.
"""

from __future__ import annotations

import copy
import json
import sys
import tomllib
import unicodedata
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.key_map import KeyMap
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.generic import MESSAGES, exchange, mapped_format, roles

FIXTURES = Path(__file__).parents[2] / "fixtures" / "messages"
WORDS = Path(roles.__file__).with_name("roles.toml")


def check_roles() -> list[str]:
    """List the entries that can be removed together without a change of any golden result, as `list: entry`."""
    document = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    use(document)
    files = [GoldenFile(path) for path in list_golden_files()]
    unneeded = []
    for section, key, word in list_entries(document):
        changed = without(document, section, key, word)
        use(changed)
        if all(file.is_unchanged() for file in files if normalise(word) in file.text):
            unneeded.append(f"{section}.{key}: {word}")
            document = changed
    use(document)
    return unneeded


def list_golden_files() -> list[Path]:
    """List the golden files and the refused ones.

    Raises FileNotFoundError if there are none.
    """
    paths = [path for path in sorted(FIXTURES.glob("*.json*")) if path.suffix in (".json", ".jsonl")]
    refused = sorted((FIXTURES / "refused").iterdir())
    if not paths or not refused:
        raise FileNotFoundError(f"no golden files in {FIXTURES}")
    return [*paths, *refused]


class GoldenFile:
    """A golden file with its turns and its suggested map."""

    def __init__(self, path: Path) -> None:
        """Read the file with all word lists."""
        self._path = path
        self._result = self._read()
        self.text = normalise(path.read_text(encoding="utf-8", errors="replace") + path.name)
        if sidecar := self._map():
            self.text += normalise(str(sidecar))

    def is_unchanged(self) -> bool:
        """Return whether the file still gives the same result."""
        return self._read() == self._result

    def _map(self) -> KeyMap | None:
        sidecar = self._path.with_suffix(".map")
        return KeyMap.parse(sidecar.read_text(encoding="utf-8").strip()) if sidecar.exists() else None

    def _read(self) -> object:
        """Return confidence, turns and suggested map as plain values; of a refused file the confidence."""
        key_map = self._map()
        reader, source = mapped_format(key_map), SourceFile(self._path)
        confidence = reader.detect(source)
        if self._path.parent != FIXTURES:
            return confidence
        rows = [row for row in reader.read(source) if not isinstance(row, Checkpoint)]
        suggested = MESSAGES.suggest_map(source) if key_map and MESSAGES.suggest_map else None
        return confidence, json.dumps([tuple(row) for row in rows], default=dict), suggested


def normalise(text: str) -> str:
    """Return the text in lower case, without accents and separators, in which every word of a name can be found."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if letter.isalnum() or letter == "$")


def list_entries(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    """List section, key and word of each entry."""
    return [
        (section, key, word) for section, table in document.items() for key, words in table.items() for word in words
    ]


def without(document: dict[str, Any], section: str, key: str, word: str) -> dict[str, Any]:
    """Return the document without one entry."""
    changed = copy.deepcopy(document)
    changed[section][key].remove(word)
    return changed


def use(document: dict[str, Any]) -> None:
    """Make the generic format read by these word lists."""
    for module in (roles, exchange):
        for value in vars(module).values():
            if isinstance(value, _lru_cache_wrapper):
                value.cache_clear()
    words = roles.RoleVocabulary.from_toml(document)
    roles.vocabulary = lambda: words  # type: ignore[assignment]


def main() -> None:
    """Print the entries that no golden file needs; exit with 1 if there are any."""
    unneeded = check_roles()
    print("\n".join(unneeded) or "Every entry is needed.")
    sys.exit(bool(unneeded))


if __name__ == "__main__":
    main()
