"""Measure redaction: how many secrets it finds, what it takes for one, and how fast it is.

    python benchmarks/redaction.py forms [--corpus NAME|harmless] [--seed N] [--each N] [--missed]
    python benchmarks/redaction.py recall [FOLDER]
    python benchmarks/redaction.py recall --code FOLDER [--show]
    python benchmarks/redaction.py speed [--megabytes N] [--rounds N]

`forms` draws from a corpus that was made without the rules (`redaction_forms.py`), or counts what is removed from harmless lines.

`recall` measures on the corpus of `redaction_corpus.py`: a secret counts as found when no ten characters of it are left. False
positives on what looks like secrets and is none, and on the texts of FOLDER (default: the transcripts of
PASTCHATS_SHARED). Speed on the same texts, beside splitting them into words with one regular expression. With `--code`, only the
program files of FOLDER count, such as those of a library. Each mark in such a file is false, unless somebody published a key: `--show`
prints the lines.

`speed` has text of `corpus.py`, a turn a call, as an index run hands it over. `talk` is that alone;
`talk, a secret a turn` has a made-up token at the end of each; `talk, names of secrets` has a line of a program there that
speaks of tokens and passwords and holds none. `one text` is all the talk in one call. The bare pass finds every word of
the talk with one regular expression.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import ndiff
from functools import partial
from pathlib import Path

import corpus
import redaction_forms
import timing
from redaction_corpus import CONTEXTS, Sample, harmless, samples

from pastchats_memory.redact import redact

WORD = re.compile(r"\w+")
SECRET = "\nexport DEPLOY_TOKEN=glpat-q7Rw2Xc9Lm4Tz8Vb1NfK"  # noqa: S105 - nobody's
NAMES = "\ntoken = request.headers.get('x-token'); password = settings.password or None; max_tokens: 4096"
REPOSITORY = Path(__file__).parents[1]
SEEDS = (1, 2, 3)
ENDINGS = frozenset(
    ".c .cs .cjs .cpp .go .h .html .java .js .json .jsx .kt .md .mjs .php .pl .pm .py .pyi .rb .rs .sh .swift .toml .ts .tsx .vue .yaml .yml".split()  # noqa: SIM905 - as a list it would fill a page
)
LARGEST = 200_000
"""Bytes of a program file; larger ones are generated."""


def measure_forms(options: argparse.Namespace) -> None:
    """Count the drawn secrets that are found, by context."""
    if options.corpus == "harmless":
        redaction_forms.mistaken(range(options.seed, options.seed + 100))
        return
    samples_of, found = Counter[str](), Counter[str]()
    for sample in redaction_forms.samples(options.seed, options.each, corpus=options.corpus):
        redacted = redact(sample.text).text
        hit = not redaction_forms.is_left(sample, redacted)
        samples_of[sample.context] += 1
        found[sample.context] += hit
        if options.missed and not hit:
            print(f"{sample.context} {sample.kind}: {sample.text!r}")
    for context, many in samples_of.items():
        print(f"{context:18} {found[context] / many:.3f} of {many}")
    print(f"{'all':18} {found.total() / samples_of.total():.3f} of {samples_of.total()}")


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
    """Count the secrets of all kinds that are found."""
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
    """Count what is removed from harmless texts and from those of a folder."""
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


def turns(megabytes: float) -> list[str]:
    """Return so many megabytes of synthetic conversations."""
    utterances: list[str] = []
    left = 1e6 * megabytes
    for conversation in corpus.conversations(1_000_000):
        utterances += [turn.text for turn in conversation.turns]
        left -= sum(len(turn.text) for turn in conversation.turns)
        if left <= 0:
            break
    return utterances


def each(way: Callable[[str], object], texts: Sequence[str]) -> None:
    """Apply a function to every text."""
    for text in texts:
        way(text)


def measure_speed(options: argparse.Namespace) -> None:
    """Redact in turn with a bare pass, and print the times."""
    talk = turns(options.megabytes)
    texts = {
        "bare pass": talk,
        "talk": talk,
        "talk, a secret a turn": [text + SECRET for text in talk],
        "talk, names of secrets": [text + NAMES for text in talk],
        "one text": ["\n".join(talk)],
    }
    print(timing.machine())
    print(f"{sum(map(len, talk)) / 1e6:.1f} million characters of talk in {len(talk):,} turns")
    ways = {
        name: partial(each, WORD.findall if name == "bare pass" else redact, utterances)
        for name, utterances in texts.items()
    }
    took = timing.interleaved(ways, options.rounds)
    timing.show(took, against="bare pass")
    print(f"\n{'':30}{'MB a second of processor time':>32}")
    for name, utterances in texts.items():
        seconds = statistics.median(one.cpu for one in took[name])
        print(f"{name:30}{sum(map(len, utterances)) / 1e6 / seconds:32.1f}")


def measure_recall(options: argparse.Namespace) -> None:
    """Count the secrets that are found, and what is taken for one."""
    if options.code:
        mistaken_in_code(options.folder, shows_lines=options.show)
        return
    recall()
    mistaken(options.folder)


def main() -> None:
    """Measure and print."""
    shared = Path(os.environ.get("PASTCHATS_SHARED", REPOSITORY.parent / "shared")) / "transcripts"
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    forms = kinds.add_parser("forms")
    forms.add_argument("--corpus", choices=(*redaction_forms.CORPORA, "harmless"), default="forms")
    forms.add_argument("--seed", type=int, default=1)
    forms.add_argument("--each", type=int, default=4)
    forms.add_argument("--missed", action="store_true", help="show them")
    forms.set_defaults(measure=measure_forms)
    found = kinds.add_parser("recall")
    found.add_argument("folder", type=Path, nargs="?", default=shared)
    found.add_argument("--code", action="store_true", help="count in program files alone")
    found.add_argument("--show", action="store_true", help="show the lines")
    found.set_defaults(measure=measure_recall)
    speed = kinds.add_parser("speed")
    speed.add_argument("--megabytes", type=float, default=10)
    speed.add_argument("--rounds", type=int, default=5)
    speed.set_defaults(measure=measure_speed)
    options = parser.parse_args()
    options.measure(options)


if __name__ == "__main__":
    main()
