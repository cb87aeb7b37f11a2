"""Ask whether weights learned from the rounds would label better than the order of the rules. They do not, so none are shipped.

    python benchmarks/outcome/learned.py FOLDER round1 round2 …

Every signal is a feature, whichever comes first, and so is what outcomes are derived from: phrases of the next message, classes of
the reply, state of the answer and of the checks. A logistic regression learns five outcomes. Each repository is judged by weights
that saw nothing of it. The rules saw all rounds when they were mended, so this comparison favours them and the signals.

For each outcome the table has the labels of the rules, and as many labels of the model: those that it is surest of.
Behind these stands the largest number of labels that the model gives at the bar of precision.
"""

from __future__ import annotations

import argparse
import os
import sys
import zlib
from collections import Counter
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums of several threads differ in their last digits

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import numpy as np
from first_sight import VERDICTS, Scored, classify_words, print_table, score_episodes
from logistic_regression import Floats, estimate, fit

from pastchats_memory.episodes.outcome import RULES, EpisodeTurn, answers, feedback
from pastchats_memory.episodes.outcome.checks import standing_checks
from pastchats_memory.episodes.outcome.episode import Episode, message_opening
from pastchats_memory.episodes.outcome.patterns import EVIDENCE, GUARDS
from pastchats_memory.episodes.outcome.requests import is_inquiry, is_question

BARS = {"worked": 0.93, "failed": 0.85, "stopped": 0.9}
FOLDS = 10
LEAST = 5
"""Episodes that have a feature; a rarer one is left out."""
PENALTY = 0.01
"""Of the squares of the weights."""
STEPS = 300
SECOND = 0.3
"""Share of the second of two defensible labels."""
PREDICATES = (
    answers.is_finished, answers.announces_step, answers.requests_input, answers.awaits_decision, answers.find_commit,
    answers.find_last_edit, answers.find_claim, answers.find_any_claim, answers.has_tool_use, answers.find_admission,
    answers.ends_with_question, feedback.agrees, feedback.picks_offer, feedback.asks_to_commit, feedback.goes_on,
    feedback.concerns_work, feedback.doubts_result, feedback.moves_to_new_request, feedback.is_pasted_output,
    feedback.find_pasted_error, feedback.repeats_request, feedback.praises_result, feedback.complains,
    feedback.continues_from_answer, feedback.is_long_without_complaint, feedback.objects_likely, is_inquiry,
    is_question,
)  # fmt: skip


def list_features(episode: Episode) -> dict[str, float]:
    """Return what is known of an episode when it is indexed; a feature that is left out is 0."""
    opening, checks, last = message_opening(episode), standing_checks(episode), episode.turns[episode.last_place]
    known: dict[str, object] = {f"rule {rule.name}": rule.signal(episode) for rule in RULES}
    known |= {predicate.__name__: predicate(episode) for predicate in PREDICATES}
    for kind, phrases in (("evidence", EVIDENCE), ("guard", GUARDS)):
        known |= {f"{kind} {name}": opening and pattern.search(opening) for name, pattern in phrases.items()}
    known |= {"silent": not episode.next_message, "green": checks and all(check.passed for check in checks)}
    known |= {"red": any(not check.passed for check in checks), f"ends with {last.role} {last.kind}": True}
    found = {name: 1.0 for name, value in known.items() if value}
    if episode.reply is not None:
        found |= {"complaint": episode.reply.complaint, "approval": episode.reply.approval}
        found[f"reply {episode.reply.kind}"] = episode.reply.probability
    return found | {"turns": min(len(episode.turns), 60) ** 0.5 / 6, "words": min(len(opening), 240) / 240}


def cross_validate(scored: list[Scored], features: Floats) -> Floats:
    """Return the probabilities of each episode by weights that saw nothing of its repository."""
    wanted = np.zeros((len(scored), len(VERDICTS)))
    for row, one in zip(wanted, scored, strict=True):
        shares = (1.0,) if len(one.labels) == 1 else (1 - SECOND, SECOND)
        for label, share in zip(one.labels, shares, strict=True):
            row[VERDICTS.index(label)] = share
    folds = np.array([zlib.crc32(one.repository.encode()) % FOLDS for one in scored])
    found = np.zeros_like(wanted)
    for fold in range(FOLDS):
        seen = features[folds != fold]
        curvature = float(np.linalg.eigvalsh(seen.T @ seen / len(seen))[-1])
        weights = fit(seen, wanted[folds != fold], PENALTY, STEPS, curvature)
        found[folds == fold] = estimate(weights, features[folds == fold])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rounds", nargs="+")
    arguments = parser.parse_args()
    scored, rows = [], []
    for name in arguments.rounds:
        for one, found in score_episodes(arguments.folder, name):
            turns = tuple(EpisodeTurn(turn.role, turn.kind, turn.content, turn.metadata) for turn in found.turns)
            states = tuple(change.status for change in found.tasks)
            scored.append(one)
            rows.append(
                list_features(Episode(turns, found.next_words.strip(), states, classify_words(found.next_words)))
            )
    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    features = np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in rows])
    probabilities = cross_validate(scored, features)
    print_table(scored)
    print(f"{len(names)} features; whole repositories left out")
    for verdict, bar in BARS.items():
        order = np.argsort(-probabilities[:, VERDICTS.index(verdict)], kind="stable")
        right = np.cumsum([verdict in scored[at].labels for at in order])
        given = [one for one in scored if one.outcome.verdict == verdict]
        enough = np.flatnonzero(right >= bar * np.arange(1, len(order) + 1))
        print(
            f"{verdict:<8} rules {sum(one.is_right for one in given)} of {len(given)}; model {right[len(given) - 1]} of {len(given)}; "
            f"at {bar:.0%} it gives {enough[-1] + 1 if len(enough) else 0}"
        )


if __name__ == "__main__":
    main()
