"""How often each signal was right on episodes that nobody had seen: every part judged by the rules as they stood before it was used to mend them.

    python benchmarks/outcome/first_sight.py                      from `first-sight.tsv`, which has what was said then
    python benchmarks/outcome/first_sight.py --judge FOLDER...    say it again, with the rules out of the repository's history: writes the file

Signals have the names of today: what had been several is one. A `form` parts a signal by what today's rules ask for besides.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from draw import HERE, Episode, all_episodes
from score import labels, rule, table, wilson

from pastchats_memory.episodes.outcome import Row, has_visible_work
from pastchats_memory.episodes.outcome.answers import ends_with_question, is_finished, requests_input
from pastchats_memory.episodes.outcome.episode import Episode as Judged
from pastchats_memory.episodes.outcome.feedback import (
    agrees,
    continues_from_answer,
    is_long_without_complaint,
    moves_to_new_request,
)
from pastchats_memory.episodes.outcome.requests import is_inquiry

BEFORE = {
    "test": "0814db1", "later": "e85a34b", "last": "30701fd", "rest": "bd7d815",
    "retyped": "84bf4fa", "agents": "640c6e8", "agents2": "0ff0fc5", "agents3": "aea7bd5",
}  # fmt: skip
"""Of each part the commit of which the rules had learned nothing from it."""
SAID = "first-sight.tsv"
LEASTS = (0, 0.7, 0.75, 0.8, 0.85)
"""Of a signal's share of right verdicts in the other parts, from which on it is told."""
_WORK = frozenset({"commit_stands", "committed", "claim_stands", "edit_stands", "check_passed", "edit_made", "moved_on", "stands"})  # fmt: skip
"""Work in sight: what is `moved_on` today where the person said something next, else `stands`."""
_RENAMED = {"torn": "broke_off", "rejected_in_part": "half_works", "same_error": "still_so", "admitted": "gave_up"}
_JUDGE = """
import json, sys
from pastchats_memory import outcome
said = {}
for number, rows, following in json.load(sys.stdin):
    episode = outcome.Episode(tuple(outcome.Row(*row) for row in rows), following.strip())
    found = ((verdict, signal.__name__) for verdict, _, signal in outcome.TABLE if signal(episode))
    said[number] = next(found, None)
json.dump(said, sys.stdout)
"""
"""What a process with the package of then does: the first signal of the table that finds its evidence, by name."""


@dataclass(frozen=True)
class Told:
    """What a signal said of an episode at first sight."""

    part: str
    signal: str
    form: str
    verdict: str
    true: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", type=Path, nargs="+", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.judge:
        judge(arguments.judge)
    truth = labels("labels.tsv")
    parts = {row["number"]: row["part"] for row in table("episodes.tsv")}
    told = [
        Told(parts[row["number"]], row["signal"], row["form"], row["verdict"], truth[row["number"]])
        for row in table(SAID)
    ]
    report(told)
    report_left_out(told, sum(part in BEFORE for part in parts.values()))


def report(told: Sequence[Told]) -> None:
    """Each signal with its forms, the commonest first."""
    print("| verdict | signal | form | right | in |\n|---|---|---|---|---|")
    for (verdict, signal, form), said in Counter((one.verdict, one.signal, one.form) for one in told).most_common():
        ones = [one for one in told if (one.verdict, one.signal, one.form) == (verdict, signal, form)]
        right = Counter(one.part for one in ones if one.true == verdict)
        of = Counter(one.part for one in ones)
        shares = ", ".join(f"{part} {right[part]} of {of[part]}" for part in BEFORE if of[part])
        print(f"| {verdict} | `{signal}` | {form} | {wilson(right.total(), said)} | {shares} |")


def report_left_out(told: Sequence[Told], count: int) -> None:
    """Each part judged with the signals that the others speak for."""
    print("\n| from | *worked* | *failed* | told |\n|---|---|---|---|")
    for least in LEASTS:
        shown = [one for one in told if one.verdict in ("worked", "failed") and elsewhere(one, told) >= least]
        said = {verdict: [one for one in shown if one.verdict == verdict] for verdict in ("worked", "failed")}
        shares = (wilson(sum(one.true == verdict for one in ones), len(ones)) for verdict, ones in said.items())
        print(f"| {least:.2f} | {' | '.join(shares)} | {len(shown) / count:.2f} |")


def elsewhere(one: Told, told: Sequence[Told]) -> float:
    """How often the signal was right in that form in all other parts, by Laplace's rule."""
    others = (other for other in told if other.part != one.part and other.verdict == one.verdict)
    return rule(
        Counter((f"{other.signal} {other.form}", other.true == other.verdict) for other in others),
        f"{one.signal} {one.form}",
    )


def judge(folders: Sequence[Path]) -> None:
    by_place = {(one.file, one.line, one.digest): one for one in all_episodes(folders)}
    rows = [row for row in table("episodes.tsv") if row["part"] in BEFORE]
    found = {row["number"]: by_place[row["file"], int(row["line"]), row["digest"]] for row in rows}
    with (HERE / SAID).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["number", "signal", "form", "verdict"])
        for part, commit in BEFORE.items():
            episodes = {row["number"]: found[row["number"]] for row in rows if row["part"] == part}
            for number, verdict, signal in said_by(commit, episodes):
                named = name_of(signal, episodes[number])
                writer.writerow([number, named, form_of(named, episodes[number]), verdict])


def said_by(commit: str, episodes: dict[str, Episode]) -> Iterator[tuple[str, str, str]]:
    """Number, verdict and signal of each episode of which the rules of the commit said anything."""
    asked = [
        (number, [(turn.role, turn.kind, turn.content, dict(turn.metadata)) for turn in one.turns], one.next_words)
        for number, one in episodes.items()
    ]
    archive = ["git", "archive", commit, "pastchats_memory"]
    packed = subprocess.run(archive, cwd=HERE.parent.parent, check=True, capture_output=True)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
            files.extractall(folder, filter="data")
        run = subprocess.run(
            [sys.executable, "-c", _JUDGE],
            cwd=folder,
            input=json.dumps(asked),
            check=True,
            capture_output=True,
            text=True,
        )
    yield from ((number, *said) for number, said in json.loads(run.stdout).items() if said)


def name_of(signal: str, episode: Episode) -> str:
    if signal in _WORK:
        return "moved_on" if episode.next_words.strip() else "stands"
    return _RENAMED.get(signal, signal)


def form_of(signal: str, episode: Episode) -> str:
    """What of today's conditions the episode has."""
    rows = tuple(Row(turn.role, turn.kind, turn.content, turn.metadata) for turn in episode.turns)
    one = Judged(rows, episode.next_words.strip(), tuple(each.status for each in episode.tasks))
    waits = requests_input(one) or ends_with_question(one)
    if signal == "stands":
        return "shown" if has_visible_work(one) else "claimed"
    if signal == "moved_on" and waits and not has_visible_work(one):
        return "the answer asks"
    if signal == "moved_on":
        at_length = has_visible_work(one) and is_long_without_complaint(one)
        stated = "states at length" if at_length else "states"
        return "asks or goes on" if moves_to_new_request(one) or continues_from_answer(one) or agrees(one) else stated
    if signal == "built_on":
        return "of a question" if is_inquiry(one) and is_finished(one) and not requests_input(one) else "of a plan"
    if signal in ("rejected", "still_so"):
        return "the answer asks" if ends_with_question(one) else "said"
    return ""


if __name__ == "__main__":
    main()
