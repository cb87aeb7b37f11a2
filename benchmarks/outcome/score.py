"""Scores the outcomes that the rules give against the labels: precision, recall and coverage with intervals of 95 % (Wilson).

    python benchmarks/outcome/score.py FOLDER... [--part build|test|later|last|rest|retyped|agents|agents2|agents3|agents4|agents5|agents6|agents7|agents8|agents9|agents10|agents11|agents12|all]
    python benchmarks/outcome/score.py FOLDER... --signals        how often each signal was right, of all parts and of what was written
    python benchmarks/outcome/score.py FOLDER... --curve          precision against coverage: what is shown from a confidence on that is counted in other files

The folders hold the transcripts that `episodes.tsv` names (GUIDE.md). Look at the parts `last` and `rest` for their numbers only.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from episodes import HERE, Episode, all_episodes
from written import SETS, episode_of, written

from pastchats_memory.episodes.outcome import RULES, EpisodeTurn, RuleOutcome, derive_outcome
from pastchats_memory.store.outcomes import LEAST_CONFIDENCE


@dataclass(frozen=True)
class Scored:
    """An episode with what it was labelled and what the rules say."""

    file: str
    part: str
    true: str
    given: RuleOutcome


LEASTS = (0, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Confidences that the curve has."""
VERDICTS = ("worked", "failed", "mixed", "stopped", "unknown")


def table(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def labels(name: str) -> dict[str, str]:
    return {row["number"]: row["label"] for row in table(name)}


def wilson(hits: int, of: int) -> str:
    """Format a share with its Wilson interval (z = 1.96).

    Source: https://doi.org/10.1080/01621459.1927.10502953
    """
    if not of:
        return "     – (0/0)"
    z = 1.96
    share = hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    reach = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{share:.2f} [{middle - reach:.2f}, {middle + reach:.2f}] ({hits}/{of})"


def kappa(first: dict[str, str], second: dict[str, str]) -> float:
    """Cohen's kappa of two labellings, over the episodes that both have."""
    both = first.keys() & second.keys()
    agreed = sum(first[number] == second[number] for number in both) / len(both)
    shares = (Counter(first[number] for number in both), Counter(second[number] for number in both))
    chance = sum(shares[0][verdict] * shares[1][verdict] for verdict in VERDICTS) / len(both) ** 2
    return (agreed - chance) / (1 - chance)


def given(episode: Episode) -> RuleOutcome:
    rows = [EpisodeTurn(turn.role, turn.kind, turn.content, turn.metadata) for turn in episode.turns]
    return derive_outcome(rows, episode.next_words, [one.status for one in episode.tasks])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument(
        "--part",
        choices=(
            "build",
            "test",
            "later",
            "last",
            "rest",
            "retyped",
            "agents",
            "agents2",
            "agents3",
            "agents4",
            "agents5",
            "agents6",
            "agents7",
            "agents8",
            "agents9",
            "agents10",
            "agents11",
            "agents12",
            "all",
        ),
        default="all",
    )
    parser.add_argument("--signals", action="store_true")
    parser.add_argument("--curve", action="store_true")
    arguments = parser.parse_args()
    by_place = {(one.file, one.line, one.digest): one for one in all_episodes(arguments.folders)}
    truth = labels("labels.tsv")
    scored: list[Scored] = []
    missing = 0
    for row in table("episodes.tsv"):
        episode = by_place.get((row["file"], int(row["line"]), row["digest"]))
        if episode is None:
            missing += 1
        else:
            scored.append(Scored(row["file"], row["part"], truth[row["number"]], given(episode)))
    if missing:
        print(f"{missing} episodes are not in the folders, or their readers give them otherwise now", file=sys.stderr)
    if arguments.signals:
        report_signals(scored, of_written())
    elif arguments.curve:
        report_curve(scored, of_written())
    else:
        report(arguments.part, [one for one in scored if arguments.part in (one.part, "all")])


def of_written() -> list[Scored]:
    """Return the episodes that were written for the rules."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            Scored(name, "written", one.label, given(episode_of(one, Path(folder))))
            for name in SETS
            for one in written(name)
        ]


def counted(scored: Iterable[Scored]) -> Counter[tuple[str, bool]]:
    """Count how often each signal was right and wrong."""
    return Counter((one.given.signal, one.given.verdict == one.true) for one in scored)


def rule(signals: Counter[tuple[str, bool]], signal: str) -> float:
    """Laplace's rule of succession."""
    right, wrong = signals[signal, True], signals[signal, False]
    return (right + 1) / (right + wrong + 2)


def report_signals(real: Sequence[Scored], made: Sequence[Scored]) -> None:
    """Count confidences over both the real and the written episodes.

    Some signals are rare in the real ones; the others were written with the rules in mind.
    """
    seen, invented = counted(real), counted(made)
    for name, verdict, confidence, _ in RULES:
        counts = " and ".join(
            f"{each[name, True]:3} of {each[name, True] + each[name, False]:3}" for each in (seen, invented)
        )
        print(f"{verdict:8}{name:18}{counts}  {rule(seen + invented, name):.2f}  in the table {confidence:.2f}")


def report_curve(scored: Sequence[Scored], made: Sequence[Scored]) -> None:
    """Cross-validate: label each file with confidences counted elsewhere.

    "Elsewhere" is all other files and the written episodes.
    """
    confidences = [confidence_elsewhere(one, [*scored, *made]) for one in scored]
    print(f"{len(scored)} episodes\n\n| from | *worked* | *failed* | shown |\n|---|---|---|---|")
    for least in LEASTS:
        shown = [one for one, known in zip(scored, confidences, strict=True) if one.given.signal and known >= least]
        claimed = {verdict: [one for one in shown if one.given.verdict == verdict] for verdict in ("worked", "failed")}
        shares = (wilson(sum(one.true == verdict for one in ones), len(ones)) for verdict, ones in claimed.items())
        print(f"| {least:.2f} | {' | '.join(shares)} | {len(shown) / len(scored):.2f} |")


def confidence_elsewhere(one: Scored, scored: Sequence[Scored]) -> float:
    return rule(counted(other for other in scored if other.file != one.file), one.given.signal)


def report(part: str, scored: Sequence[Scored]) -> None:
    agreement = kappa(labels("labels-a.tsv"), labels("labels-b.tsv"))
    print(f"part {part}: {len(scored)} episodes; kappa of all that were labelled twice {agreement:.2f}")
    print_table(Counter((one.true, one.given.verdict) for one in scored))
    print("\nwhat is told:")
    print_table(Counter((one.true, shown_verdict(one.given)) for one in scored))


def shown_verdict(outcome: RuleOutcome) -> str:
    return outcome.verdict if outcome.confidence >= LEAST_CONFIDENCE else "unknown"


def print_table(pairs: Counter[tuple[str, str]]) -> None:
    count = pairs.total()
    print("| class | precision | recall | as worked, failed, mixed, unknown |\n|---|---|---|---|")
    for verdict in VERDICTS:
        right = pairs[verdict, verdict]
        claimed = sum(pairs[other, verdict] for other in VERDICTS)
        true = sum(pairs[verdict, other] for other in VERDICTS)
        row = ", ".join(str(pairs[verdict, other]) for other in VERDICTS)
        print(f"| {verdict} | {wilson(right, claimed)} | {wilson(right, true)} | {row} |")
    print(f"coverage {wilson(count - sum(pairs[other, 'unknown'] for other in VERDICTS), count)}")


if __name__ == "__main__":
    main()
