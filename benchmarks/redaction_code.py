"""Count what redaction removes from program files that hold no secret, such as a library's.

    python benchmarks/redaction_code.py FOLDER... [--show]

Each mark in such a file is false, unless somebody published a key: look at them with `--show`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from difflib import ndiff
from pathlib import Path

from pastchats_memory.redact import redact

ENDINGS = frozenset(
    [
        ".c",
        ".cs",
        ".cjs",
        ".go",
        ".h",
        ".java",
        ".js",
        ".jsx",
        ".kt",
        ".mjs",
        ".php",
        ".pl",
        ".pm",
        ".py",
        ".pyi",
        ".rb",
        ".rs",
        ".sh",
        ".swift",
        ".toml",
        ".ts",
        ".tsx",
        ".yaml",
        ".yml",
    ]
)
LARGEST = 200_000
"""Bytes of a file; larger ones are generated."""


def program_files(folders: list[Path]) -> Iterator[Path]:
    """Return the program files below folders, in order."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in ENDINGS and path.is_file() and path.stat().st_size <= LARGEST:
                yield path


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--show", action="store_true", help="show the lines")
    options = parser.parse_args()
    size, kinds = 0, Counter[str]()
    for path in program_files(options.folders):
        text = path.read_text(encoding="utf-8", errors="replace")
        size += len(text)
        redacted = redact(text)
        kinds += redacted.kinds
        if options.show and redacted.kinds:
            changed = [line for line in ndiff(text.splitlines(), redacted.text.splitlines()) if line[0] in "-+"]
            print(path, *(line[:200] for line in changed), sep="\n")
    print(f"{size / 1e6:.1f} MB, {kinds.total()} removed, {kinds.total() / size * 1e6:.2f} a MB: {dict(kinds)}")


if __name__ == "__main__":
    main()
