"""Code by what its docstring says: a judged set out of the packages of this environment, which chose no number of the ranking.

    python benchmarks/docstrings.py [--databases DIR]

Functions of PACKAGES, without their docstrings, are the rows, a file a conversation; asked are first sentences of docstrings. Files
and questions are those with the smallest SHA-256, so that they are the same wherever the same releases are installed.
Printed is what `quality.py` prints of a set.
"""

from __future__ import annotations

import argparse
import ast
import json
import tempfile
import textwrap
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import quality
from judged import Set

PACKAGES = (
    "numpy",
    "pip",
    "pydantic",
    "anyio",
    "starlette",
    "hypothesis",
    "mcp",
    "httpx",
    "fastembed",
    "rich",
    "click",
    "mypy",
)
LINES = range(6, 80)
ROWS, QUESTIONS = 2600, 350
WORDS = range(6, 31)


class Function(NamedTuple):
    """A function of a package."""

    file: str
    line: int
    code: str
    """Without its docstring."""
    said: str
    """The first sentence of its docstring; empty for none."""


def functions(path: Path, name: str) -> Iterator[Function]:
    """Those of a file that are of LINES lines."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first, last = node.lineno, node.end_lineno or node.lineno
            if last - first + 1 not in LINES:
                continue
            kept, said = lines[first - 1 : last], ast.get_docstring(node) or ""
            if said:
                start, end = node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno
                kept = lines[first - 1 : start - 1] + lines[end:last]
            yield Function(name, first, textwrap.dedent("\n".join(kept)), " ".join(said.split("\n\n")[0].split()))


def chosen() -> list[Function]:
    """The functions of whole files, until they are ROWS, each code once."""
    files = []
    for package in PACKAGES:
        found = find_spec(package)
        for folder in found.submodule_search_locations or () if found else ():
            files += [(path, f"{package}/{path.relative_to(folder)}") for path in Path(folder).rglob("*.py")]
    rows: dict[str, Function] = {}
    for path, name in sorted(files, key=lambda file: by_hash(file[1])):
        if len(rows) < ROWS and "test" not in name:
            for function in functions(path, name):
                rows.setdefault(function.code, function)
    return list(rows.values())


def by_hash(text: str) -> str:
    """What a choice is made by."""
    return sha256(text.encode()).hexdigest()


def written(folder: Path) -> Set:
    """The set as files."""
    rows = chosen()
    asked = sorted((row for row in rows if len(row.said.split()) in WORDS), key=lambda row: by_hash(row.said))[
        :QUESTIONS
    ]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "functions.jsonl").open("w", encoding="utf-8") as haystack:
        for row in rows:
            told = {"conversation_id": row.file, "turn_index": row.line, "role": "user", "content": row.code}
            haystack.write(json.dumps({**told, "doc_id": f"{row.file}:{row.line}"}) + "\n")
    questions = [
        {"query_id": str(number), "haystack": "functions", "text": row.said} for number, row in enumerate(asked)
    ]
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions), encoding="utf-8")
    judged = "".join(f"{number}\t{row.file}:{row.line}\t1\n" for number, row in enumerate(asked))
    (folder / "qrels.tsv").write_text("query\tdocument\tgrade\n" + judged, encoding="utf-8")
    return Set(folder)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--databases", type=Path, help="where the set and its database are kept (default: a temporary folder)"
    )
    given = parser.parse_args().databases
    with tempfile.TemporaryDirectory() as scratch:
        folder = given or Path(scratch)
        of = written(folder / "docstrings")
        quality.show(of, quality.measure(of, folder, ablated=False))


if __name__ == "__main__":
    main()
