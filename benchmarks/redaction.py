"""Measure how fast secrets are redacted, beside a bare pass over the text.

    python benchmarks/redaction.py [--megabytes N] [--rounds N]

Text is what `corpus.py` has people and agents say, a turn a call, as an index run hands it over. `talk` is that alone;
`talk, a secret a turn` has a made-up token at the end of each; `talk, names of secrets` has a line of a program there that
speaks of tokens and passwords and holds none. `one text` is all the talk in one call. The bare pass finds every word of
the talk with one regular expression.
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections.abc import Callable, Sequence
from functools import partial

import corpus
import timing

from pastchats_memory.redact import redact

WORD = re.compile(r"\w+")
SECRET = "\nexport DEPLOY_TOKEN=glpat-q7Rw2Xc9Lm4Tz8Vb1NfK"  # noqa: S105 - nobody's
NAMES = "\ntoken = request.headers.get('x-token'); password = settings.password or None; max_tokens: 4096"


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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
