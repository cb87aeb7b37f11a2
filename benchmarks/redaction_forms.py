"""Corpora of secrets that were made without the rules of `redact`: kinds, places and forms in tables, with values drawn at random.

`redaction_forms.tsv` has kinds of tokens with places for each, and whole forms (connection strings, files, commands, cookies, webhooks,
sentences) with what is secret in them; `redaction_bare.tsv` has tokens that are known by their shape, in places that name no secret, and what
has no shape as its provider's documents show it; `redaction_printed.tsv` has what machines print: environments, clusters, traces, plans, tables, files
of other programs. `redaction_passwords.tsv` has ways to write a password, and `redaction_contexts.tsv` more places, with kinds of 2025 and 2026.
`redaction_harmless.txt` has lines that name secrets, or look like one, and hold none. This draws the values. A secret is found when no ten characters of it are left that the text
around it has not of its own.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pastchats_memory.redact import redact

CORPORA = (
    "forms", "bare", "printed", "passwords", "contexts", "sight_tokens", "sight_bare", "sight_passwords",
    "fresh_tokens", "fresh_bare", "fresh_passwords", "told_passwords", "told_more",
)  # fmt: skip
LETTERS = string.ascii_letters + string.digits
ALPHABETS = {
    "d": string.digits, "h": "0123456789abcdef", "H": "0123456789ABCDEF", "t": string.ascii_uppercase + "234567", "v": string.ascii_lowercase + "234567",
    "B": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", "l": string.ascii_lowercase,
    "L": string.ascii_lowercase + string.digits, "U": string.ascii_uppercase + string.digits, "A": LETTERS, "b": LETTERS + "+/",
    "w": LETTERS + "-_", "c": "./" + LETTERS, "x": LETTERS + "!#%*+-./:=?@^_~",
}  # fmt: skip
WORDS = [
    "abandon",
    "ability",
    "about",
    "absent",
    "absorb",
    "abstract",
    "accident",
    "acoustic",
    "acquire",
    "across",
    "action",
    "actor",
    "adapt",
    "address",
    "advance",
    "advice",
    "again",
    "agent",
    "airport",
    "album",
    "alcohol",
    "alley",
    "alpha",
    "already",
    "amateur",
    "anchor",
    "animal",
    "answer",
    "apology",
    "approve",
    "arctic",
    "armor",
    "arrow",
    "artist",
    "aspect",
    "asthma",
    "athlete",
]
_DRAWN = re.compile(r"\{([a-zA-Z])(\d*)\}")
LEFT = 10


class Sample(NamedTuple):
    """A text with a secret in it."""

    context: str
    kind: str
    text: str
    secret: str


def password(draw: random.Random) -> str:
    """As generators, companies and people make them."""
    return draw.choice(
        (
            "".join(draw.choices(LETTERS, k=draw.randrange(12, 20))),
            draw.choice(("Summer", "Winter", "Dragon", "Falcon"))
            + str(draw.randrange(1990, 2026))
            + draw.choice("!#*?"),
            "".join(draw.choices(LETTERS + "!#%^*_-+", k=16)),
            "-".join(draw.choices(WORDS, k=4)) + str(draw.randrange(10, 99)),
        )
    )


def drawn(written: str, draw: random.Random) -> str:
    """Draw a secret as the table describes it."""

    def one(of: re.Match[str]) -> str:
        if of[1] == "p":
            return password(draw)
        if of[1] == "n":
            return " ".join(draw.choices(WORDS, k=int(of[2])))
        return "".join(draw.choices(ALPHABETS[of[1]], k=int(of[2])))

    return _DRAWN.sub(one, written)


def names(variable: str) -> dict[str, str]:
    """Return the name of a variable as languages spell it."""
    parts = variable.lower().split("_")
    camel = parts[0] + "".join(map(str.title, parts[1:]))
    kebab = "-".join(parts)
    return {
        "«ENV»": variable,
        "«snake»": variable.lower(),
        "«camel»": camel,
        "«kebab»": kebab,
        "«Kebab»": kebab.title(),
    }


def samples(seed: int, each: int, *, corpus: str = "forms", kinds: bool = True) -> Iterator[Sample]:
    """`each` of every kind in every context, if kinds are asked for, and twice as many of every form."""
    written = Path(__file__).with_name(f"redaction_{corpus}.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in written.splitlines() if not line.startswith("#")]
    places: dict[str, list[str]] = {}
    for _, context, text in (line for line in lines if line[0] == "place"):
        places.setdefault(context, []).append(_unescaped(text))
    for _, kind, variable, phrase, written in (line for line in lines if kinds and line[0] == "kind"):
        for context, texts in places.items():
            for number in range(each):
                draw = random.Random(f"{seed}/{kind}/{context}/{number}")  # noqa: S311 - nothing is kept secret with it
                secret = drawn(written, draw)
                text = draw.choice(texts)
                filled = {**names(variable), "«phrase»": phrase, "«quoted»": quote(secret, safe=""), "«secret»": secret}
                for mark, value in filled.items():
                    text = text.replace(mark, value)
                yield Sample(context, kind, text, secret)
    for _, context, kind, written, text in (line for line in lines if line[0] == "form"):
        for number in range(2 * each):
            draw = random.Random(f"{seed}/{kind}/{number}")  # noqa: S311 - as above
            secret = drawn(_unescaped(written), draw)
            made = _unescaped(text).replace("«secret»", secret).replace("«quoted»", quote(secret, safe=""))
            made = made.replace("«json»", json.dumps(secret)[1:-1]).replace("«html»", escape(secret))
            yield Sample(context, kind, made, secret)


def harmless(seed: int) -> Iterator[str]:
    """Lines that hold no secret."""
    written = Path(__file__).with_name("redaction_harmless.txt").read_text(encoding="utf-8")
    yield from drawn(written, random.Random(seed)).splitlines()  # noqa: S311 - as above


def mistaken(seeds: range) -> None:
    """Print how often something is removed from lines without a secret."""
    texts = ["\n".join(harmless(seed)) for seed in seeds]
    size = sum(map(len, texts)) / 1e6
    removed = sum((redact(text).kinds for text in texts), Counter[str]())
    print(f"{size:.1f} MB, {removed.total()} taken out, {removed.total() / size:.2f} a MB: {dict(removed)}")


def _unescaped(text: str) -> str:
    return str(json.loads('"' + text.replace('"', '\\"') + '"'))


def is_left(sample: Sample, redacted: str) -> bool:
    """Return whether a piece of the secret is left, as it is or as URLs, JSON or HTML write it."""
    spelled = {sample.secret, quote(sample.secret, safe=""), json.dumps(sample.secret)[1:-1], escape(sample.secret)}
    around = sample.text
    for one in spelled:
        around = around.replace(one, "\0")
    pieces = {one[at : at + LEFT] for one in spelled for at in range(max(1, len(one) - LEFT + 1))}
    return any(piece in redacted and piece not in around for piece in pieces)
