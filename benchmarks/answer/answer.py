"""Score any recall tool: does a block of N bytes hold the words that decide? Only the standard library is needed.

    python benchmarks/answer/answer.py --fetch FOLDER
    python benchmarks/answer/answer.py FOLDER --ask 'TOOL {question}' [--prepare 'TOOL index {folder}'] [--bytes 1500] [--misses]

`--fetch` brings the sessions of `sessions.tsv` from GitHub at their commits. `--ask` runs once for each question of
`questions.tsv`, in a home that has the sessions where the agents keep them; the first N bytes of its output are the block.
Each question names a line of a session. The deciding words are that record's text from `start` on, `length` characters long,
after `normalise`; only their digest is stored, and the text of nobody.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
GITHUB = "https://github.com/{}"
HOMES = {".claude/projects/": ".claude/projects", ".codex/": ".codex"}
"""Folder in the path of a session, and the place in a home where its agent looks."""
_MARKS = re.compile(r"(?m)^\s*>\s?|[*`\\]+|\[\[|\]\]|</?mark>")


class Question(NamedTuple):
    """A question, and where the words stand that answer it."""

    question: str
    repository: str
    file: str
    line: int
    start: int
    length: int
    digest: str


def normalise(text: str) -> str:
    """Return a text without marks of quotation, emphasis, code and hits, every run of blanks one blank."""
    return " ".join(_MARKS.sub("", text).split())


def texts_of(value: object) -> Iterator[str]:
    """Yield the visible texts of a JSON record: strings under `text` and `content`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("text", "content") and isinstance(inner, str):
                yield inner
            else:
                yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)


def load_questions() -> list[Question]:
    """Return the questions of the file beside this one."""
    with (HERE / "questions.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Question(
                row["question"],
                row["repository"],
                row["file"],
                int(row["line"]),
                int(row["start"]),
                int(row["length"]),
                row["digest"],
            )
            for row in rows
        ]


def fetch(folder: Path, source: str = GITHUB) -> None:
    """Bring the sessions of each repository at its commit, and no other file. Raises CalledProcessError."""
    with (HERE / "sessions.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            target = folder / row["repository"].replace("/", "+")
            if target.exists():
                continue
            with tempfile.TemporaryDirectory() as scratch:
                git = ["git", "-C", scratch]
                subprocess.run([*git, "init", "-q", "--bare"], check=True)
                address = source.format(row["repository"])
                subprocess.run([*git, "fetch", "-q", "--depth", "1", address, row["commit"]], check=True)
                packed = subprocess.run([*git, "archive", row["commit"], row["path"]], check=True, capture_output=True)
            with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
                sessions = [member for member in archive if member.name.endswith(".jsonl")]
                archive.extractall(target, sessions, filter="data")


def find_words(folder: Path, question: Question) -> str | None:
    """Return the deciding words, or None if the file does not have them."""
    path = folder / question.repository.replace("/", "+") / question.file
    if not path.is_file():
        return None
    record = path.read_text(encoding="utf-8").split("\n")[question.line - 1]
    text = normalise(" \n ".join(texts_of(json.loads(record))))
    words = text[question.start : question.start + question.length]
    return words if hashlib.sha256(words.encode()).hexdigest()[:16] == question.digest else None


def make_home(folder: Path, home: Path) -> None:
    """Lay the sessions where each agent keeps its own."""
    for repository in folder.iterdir():
        for path in repository.rglob("*.jsonl"):
            name = path.relative_to(repository).as_posix()
            place = next((place for part, place in HOMES.items() if part in name), None)
            if place == ".codex" and path.name.startswith("rollout-"):
                target = home.joinpath(".codex", "sessions", *path.name[8:18].split("-"), path.name)
            elif place is not None and place != ".codex":
                target = home / place / name.partition(".claude/projects/")[2]
            else:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)


def run(command: str, home: Path, **values: str) -> str:
    """Run a tool in a home of its own and return what it prints, whatever its exit code."""
    words = [word.format(**values) for word in shlex.split(command)]
    environment = {**os.environ, "HOME": str(home)}
    environment = {
        name: value for name, value in environment.items() if not name.startswith(("XDG_", "CLAUDE", "CODEX"))
    }
    done = subprocess.run(
        words, cwd=home, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=1200, check=False
    )
    if done.returncode not in (0, 1):
        print(done.stderr.decode(errors="replace")[-500:], file=sys.stderr)
    return done.stdout.decode(errors="replace")


def holds(block: str, words: str, size: int) -> bool:
    """Return whether the first bytes of a block have the deciding words."""
    return words in normalise(block.encode()[:size].decode(errors="ignore"))


def main() -> None:
    """Fetch, or score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--source", default=GITHUB, help="address of a repository, with {} for its name")
    parser.add_argument("--prepare", help="command that indexes; {folder} is the home")
    parser.add_argument("--ask", help="command that answers {question}")
    parser.add_argument("--bytes", type=int, default=1500)
    parser.add_argument("--misses", action="store_true", help="name the questions that were missed")
    given = parser.parse_args()
    if given.fetch:
        fetch(given.folder, given.source)
    if not given.ask:
        return
    known = {question: words for question in load_questions() if (words := find_words(given.folder, question))}
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        make_home(given.folder, home)
        if given.prepare:
            run(given.prepare, home, folder=scratch)
        blocks = {question: run(given.ask, home, question=question.question, folder=scratch) for question in known}
    held = [question for question, block in blocks.items() if holds(block, known[question], given.bytes)]
    whole = [question for question, block in blocks.items() if known[question] in normalise(block)]
    sizes = sorted(len(block.encode()) for block in blocks.values())
    print(
        f"{len(held)} of {len(known)} blocks of {given.bytes} bytes hold the deciding words; "
        f"{len(whole)} if nothing is cut; {sizes[len(sizes) // 2]:,} bytes in the middle"
    )
    for question in blocks if given.misses else ():
        if question not in held:
            print(f"  missed: {question.question}")


if __name__ == "__main__":
    main()
