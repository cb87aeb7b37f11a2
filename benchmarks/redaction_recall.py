"""Measure how many secrets `redact` finds, and what it takes for one.

    python benchmarks/redaction_recall.py [FOLDER]
    python benchmarks/redaction_recall.py --code FOLDER [--show]

Recall on the corpus of `redaction_corpus.py`: a secret counts as found when no ten characters of it are left. False
positives on what looks like secrets and is none, and on the texts of FOLDER (default: the transcripts of
PASTCHATS_SHARED). Speed on the same texts, beside splitting them into words with one regular expression.

With `--code`, only the program files of FOLDER count, such as those of a library. Each mark in such a file is false, unless somebody
published a key: `--show` prints the lines.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import ndiff
from pathlib import Path

from redaction_corpus import CONTEXTS, Sample, harmless, samples

from pastchats_memory.redact import redact

REPOSITORY = Path(__file__).parents[1]
SEEDS = (1, 2, 3)
ENDINGS = frozenset(
    ".c .cs .cjs .go .h .java .js .jsx .kt .mjs .php .pl .pm .py .pyi .rb .rs .sh .swift .toml .ts .tsx .yaml .yml".split()  # noqa: SIM905 - as a list it would fill a page
)
LARGEST = 200_000
"""Bytes of a program file; larger ones are generated."""


def reads(sample: Sample, redacted: str) -> bool:
    """Return whether all text around the secret is left."""
    return redacted.startswith(sample.text[: sample.start]) and redacted.endswith(sample.text[sample.end :])


def texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                yield path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def seconds(work: Callable[[str], object], of: list[str]) -> float:
    start = time.process_time()
    for text in of:
        work(text)
    return time.process_time() - start


def recall() -> None:
    found, drawn, whole, contexts = Counter[str](), Counter[str](), 0, Counter[str]()
    for seed in SEEDS:
        for sample in samples(seed):
            redacted = redact(sample.text).text
            hit = not sample.is_left_in(redacted)
            drawn[sample.kind] += 1
            found[sample.kind] += hit
            contexts[sample.context] += hit
            whole += hit and reads(sample, redacted)
    total = drawn.total()
    each = total // len(CONTEXTS)
    print(
        f"{len(drawn)} kinds, {total} secrets: recall {found.total() / total:.4f}, nothing else taken {whole / total:.4f}"
    )
    print("  " + ", ".join(f"{context} {contexts[context] / each:.4f}" for context in CONTEXTS))
    missed = [(found[kind] / drawn[kind], kind) for kind in drawn if found[kind] < drawn[kind]]
    for share, kind in sorted(missed):
        print(f"  {kind}: {share:.4f}")
    print(f"  all of the other {len(drawn) - len(missed)} kinds: 1")


def mistaken(folder: Path) -> None:
    removed = Counter(kind for seed in SEEDS for kind, text in harmless(seed) if redact(text).text != text)
    drawn = sum(1 for seed in SEEDS for _ in harmless(seed))
    print(f"harmless texts taken for secrets: {removed.total()} of {drawn} {dict(removed) or ''}")
    of = list(texts(folder))
    if not of:
        print(f"no texts at {folder}; set PASTCHATS_SHARED or name a folder")
        return
    size = sum(len(text.encode()) for text in of) / 1e6
    kinds = sum((redact(text).kinds for text in of), Counter[str]())
    print(f"{folder.name}: {size:.1f} MB, {kinds.total()} taken out, {kinds.total() / size:.2f} a MB: {dict(kinds)}")
    ours = min(seconds(redact, of) for _ in range(3))
    words = min(seconds(re.compile(r"\w+").findall, of) for _ in range(3))
    print(
        f"{size / ours:.1f} MB/s, {ours / words:.2f} times as long as splitting them into words by a regular expression"
    )


def mistaken_in_code(folder: Path, *, shows_lines: bool) -> None:
    """Count what is removed from the program files below a folder."""
    size, kinds = 0, Counter[str]()
    for path in sorted(folder.rglob("*")):
        if path.suffix not in ENDINGS or not path.is_file() or path.stat().st_size > LARGEST:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        size += len(text)
        redacted = redact(text)
        kinds += redacted.kinds
        if shows_lines and redacted.kinds:
            changed = [line for line in ndiff(text.splitlines(), redacted.text.splitlines()) if line[0] in "-+"]
            print(path, *(line[:200] for line in changed), sep="\n")
    print(f"{size / 1e6:.1f} MB, {kinds.total()} removed, {kinds.total() / size * 1e6:.2f} a MB: {dict(kinds)}")


def main() -> None:
    shared = Path(os.environ.get("PASTCHATS_SHARED", REPOSITORY.parent / "shared")) / "transcripts"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=shared)
    parser.add_argument("--code", action="store_true", help="count in program files alone")
    parser.add_argument("--show", action="store_true", help="show the lines")
    options = parser.parse_args()
    if options.code:
        mistaken_in_code(options.folder, shows_lines=options.show)
        return
    recall()
    mistaken(options.folder)


if __name__ == "__main__":
    main()
