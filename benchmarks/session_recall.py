"""Measure how often the right session comes first, on the files that other memory tools publish results for.

    python benchmarks/session_recall.py locomo locomo10.json
    python benchmarks/session_recall.py longmemeval longmemeval_s.json [--questions N]

Both are the official files. A session is a transcript with its real dates, and a question is put verbatim. A session takes
the place of its best turn. R@k is the share of questions with a session of the answer among the first k, MRR the mean of
1 / rank of the first one. Questions without a session that answers them are left out: 4 of LoCoMo's 1,986, and
LongMemEval's abstentions.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from pastchats_memory import Memory
from pastchats_memory.embed import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.store.database import open_database

DEPTH = 200
"""Turns of one question whose sessions are ranked."""
EVIDENCE = re.compile(r"D:?(\d+)")
"""The session in LoCoMo's name of a turn, such as `D8:6`; a few of its names are `D:8:6`."""
LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
LONGMEMEVAL_TIME = "%Y/%m/%d (%a) %H:%M"
ABSTENTION = "_abs"
"""End of the id of a question that no session answers."""


@dataclass(frozen=True)
class Question:
    """A question with the sessions that answer it."""

    text: str
    kind: str
    sessions: frozenset[str]


@dataclass(frozen=True)
class Haystack:
    """The messages of some sessions, as a generic transcript has them, and the questions about them."""

    name: str
    messages: tuple[Mapping[str, str], ...]
    questions: tuple[Question, ...]


class Cached:
    """The packaged model, which embeds each text once: haystacks of LongMemEval share their sessions."""

    name, version, dim = PackagedEmbedder.name, PackagedEmbedder.version, PackagedEmbedder.dim

    def __init__(self) -> None:
        self._model = PackagedEmbedder()
        self._vectors: dict[bytes, Vector] = {}

    def load(self) -> None:
        """Load the model."""
        self._model.load()

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield the vector of each text."""
        for text in texts:
            key = sha256(text.encode("utf-8", "replace")).digest()
            if key not in self._vectors:
                self._vectors[key] = next(iter(self._model.embed([text])))
            yield self._vectors[key]

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return self._model.embed_query(text)


def read_locomo(file: Path) -> Iterator[Haystack]:
    """Yield the dialogues of LoCoMo's official file."""
    for sample in json.loads(file.read_text(encoding="utf-8")):
        name, talk = str(sample["sample_id"]), sample["conversation"]
        messages = [
            _message(f"{name}/S{number}", "user", f"{turn['speaker']}: {_text_of(turn)}", when)
            for number in range(1, len(talk))
            if f"session_{number}" in talk
            for when in [_read_time(talk[f"session_{number}_date_time"], LOCOMO_TIME)]
            for turn in talk[f"session_{number}"]
        ]
        questions = (
            Question(
                str(row["question"]),
                f"category {row['category']}",
                frozenset(f"{name}/S{number}" for number in EVIDENCE.findall(" ".join(row.get("evidence", ())))),
            )
            for row in sample["qa"]
        )
        yield Haystack(name, tuple(messages), tuple(one for one in questions if one.sessions))


def _text_of(turn: Mapping[str, Any]) -> str:
    """Return the words of a turn of LoCoMo, and the caption of its picture."""
    return f"{turn['text']} [image: {turn['blip_caption']}]" if turn.get("blip_caption") else str(turn["text"])


def read_longmemeval(file: Path) -> Iterator[Haystack]:
    """Yield the questions of LongMemEval's official file, each with its own haystack."""
    for row in json.loads(file.read_text(encoding="utf-8")):
        if row["question_id"].endswith(ABSTENTION):
            continue
        sessions = zip(row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True)
        messages = [
            _message(name, turn["role"], turn["content"], _read_time(date, LONGMEMEVAL_TIME))
            for name, date, turns in sessions
            for turn in turns
        ]
        question = Question(row["question"], row["question_type"], frozenset(row["answer_session_ids"]))
        yield Haystack(row["question_id"], tuple(messages), (question,))


def _read_time(text: str, pattern: str) -> str:
    """Return a time of the file in ISO 8601; the files name no zone."""
    return datetime.strptime(text, pattern).replace(tzinfo=UTC).isoformat()


def _message(conversation: str, role: str, content: str, when: str) -> dict[str, str]:
    return {"conversation_id": conversation, "role": role, "content": content, "timestamp": when}


READERS = {"locomo": read_locomo, "longmemeval": read_longmemeval}


def rank_sessions(haystack: Haystack, embedder: Cached, folder: Path) -> Iterator[tuple[Question, list[str]]]:
    """Index a haystack into a database of its own, and yield each question with the sessions that it finds, best first."""
    transcript = folder / f"{len(list(folder.iterdir()))}.jsonl"
    transcript.write_text("".join(json.dumps(message) + "\n" for message in haystack.messages), encoding="utf-8")
    with open_database(transcript.with_suffix(".db"), create=True) as database:
        memory = Memory(database, embedder)
        memory.index([transcript], project=haystack.name)
        for question in haystack.questions:
            hits = memory.search(question.text, limit=DEPTH)
            yield question, list(dict.fromkeys(str(hit.conversation_id) for hit in hits))


def measure(ranked: Sequence[str], relevant: frozenset[str]) -> tuple[float, float, float]:
    """Return R@1, R@5 and the reciprocal rank of one question."""
    first = next((place for place, session in enumerate(ranked, start=1) if session in relevant), None)
    return (float(first == 1), float(first is not None and first <= 5), 0.0 if first is None else 1 / first)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("benchmark", choices=READERS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--questions", type=int, help="only so many; LongMemEval embeds hundreds of thousands of turns")
    arguments = parser.parse_args()
    embedder, found = Cached(), defaultdict[str, list[tuple[float, float, float]]](list)
    with tempfile.TemporaryDirectory() as folder:
        for haystack in READERS[arguments.benchmark](arguments.file):
            for question, ranked in rank_sessions(haystack, embedder, Path(folder)):
                found[question.kind].append(measure(ranked, question.sessions))
            if arguments.questions and sum(map(len, found.values())) >= arguments.questions:
                break
    every = [one for of_kind in found.values() for one in of_kind]
    print("| questions | of | R@1 | R@5 | MRR |\n|---|--:|--:|--:|--:|")
    for name, rows in (("all", every), *sorted(found.items())):
        means = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        print(f"| {name} | {len(rows)} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")


if __name__ == "__main__":
    main()
