"""Measure how often the right session or turn comes first, on the files that other memory tools publish results for.

    python benchmarks/session_recall.py locomo locomo10.json
    python benchmarks/session_recall.py longmemeval longmemeval_s.json [--questions N] [--mode keyword]
    python benchmarks/session_recall.py longmemeval longmemeval_s.json --questions 100 --together N
    python benchmarks/session_recall.py beam chats/100K
    python benchmarks/session_recall.py beam-sessions chats/100K

All are the official files. A session is a transcript with its real dates, and a question is put verbatim, on its day if the
file names one. A session takes the place of its best turn. R@k is the share of questions with a session of the answer among the first k, MRR the mean of
1 / rank of the first one, and nDCG@10 counts all of them. Questions without a session that answers them are left out: 4 of LoCoMo's 1,986, and the
abstentions of LongMemEval and BEAM. `--questions` draws a sample of haystacks, always the same for the same file. `--together`
puts the questions to one memory of so many sessions: those that answer, then the first others in the order of the haystacks.
`--keep` keeps that memory in a folder, so that a run that was killed goes on there, and another mode has nothing to embed.

BEAM names the turns that answer, so `beam` counts turns, and `beam-sessions` the batches that a chat was written in. It takes
a folder of BEAM's repository, or rows of its data set on the hub: as JSON Lines, or as Parquet if pyarrow is installed.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from pastchats_memory import Memory
from pastchats_memory.arrays import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.search.pipeline import search
from pastchats_memory.search.request import Request
from pastchats_memory.store.database import open_database

SEED = 20261129
DEPTH = 200
"""Turns of one question whose sessions are ranked."""
EVIDENCE = re.compile(r"D:?(\d+)")
"""The session in LoCoMo's name of a turn, such as `D8:6`; a few of its names are `D:8:6`."""
LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
LONGMEMEVAL_TIME = "%Y/%m/%d (%a) %H:%M"
BEAM_TIME = "%B-%d-%Y"
BEAM_MARK = re.compile(r"\s*->->[\d, ]*\Z")
"""What the maker of BEAM's chats left behind a message: its place in the plan."""
ABSTENTION = "_abs"
"""End of the id of a question that no session answers."""


@dataclass(frozen=True)
class Question:
    """A question with the sessions or turns that answer it."""

    text: str
    kind: str
    answers: frozenset[str]
    is_about_turns: bool = False
    day: date = field(default_factory=date.today)
    """The day when it is asked, from which "two weeks ago" counts. Only LongMemEval names it."""


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
        keyed = [(sha256(text.encode("utf-8", "replace")).digest(), text) for text in texts]
        new = {key: text for key, text in keyed if key not in self._vectors}
        self._vectors.update(zip(new, self._model.embed(new.values()), strict=True))
        yield from (self._vectors[key] for key, _ in keyed)

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
        yield Haystack(name, tuple(messages), tuple(one for one in questions if one.answers))


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
        day = datetime.strptime(row["question_date"], LONGMEMEVAL_TIME).replace(tzinfo=UTC).date()
        question = Question(row["question"], row["question_type"], frozenset(row["answer_session_ids"]), day=day)
        yield Haystack(row["question_id"], tuple(messages), (question,))


def read_beam(path: Path) -> Iterator[Haystack]:
    """Yield the chats of BEAM, with the turns that answer."""
    return _read_beam(path, by_session=False)


def read_beam_sessions(path: Path) -> Iterator[Haystack]:
    """Yield the chats of BEAM, with the batches that answer."""
    return _read_beam(path, by_session=True)


def _read_beam(path: Path, *, by_session: bool) -> Iterator[Haystack]:
    for name, chat, probes in _list_beam_chats(path):
        session_of: dict[int, str] = {}
        messages = []
        for number, batch in enumerate(_find_batches(chat), start=1):
            anchor = next((message["time_anchor"] for message in batch if message.get("time_anchor")), None)
            when = anchor and _read_time(anchor, BEAM_TIME)
            for message in batch:
                session_of[message["id"]] = f"{name}/S{number}"
                text = BEAM_MARK.sub("", message["content"])
                written = _message(session_of[message["id"]], message["role"], text, when)
                messages.append({**written, "doc_id": f"{name}/{message['id']}"})
        questions = (
            Question(
                probe["question"],
                kind,
                frozenset(session_of[id_] if by_session else f"{name}/{id_}" for id_ in ids),
                is_about_turns=not by_session,
            )
            for kind, of_kind in probes.items()
            for probe in of_kind
            for ids in [set(_find_ids(probe.get("source_chat_ids"))) & session_of.keys()]
        )
        yield Haystack(name, tuple(messages), tuple(one for one in questions if one.answers))


def _list_beam_chats(path: Path) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield name, chat and questions from a folder of the repository or from rows of the hub."""
    if path.is_dir():
        for file in sorted(path.glob("*/probing_questions/probing_questions.json")):
            folder = file.parents[1]
            shortened = folder / "chat_trunecated.json"  # BEAM's own spelling, of the chats that were too long
            chat = shortened if shortened.exists() else folder / "chat.json"
            yield folder.name, _read_json(chat), _read_json(file)
        return
    for row in _read_rows(path):
        probes = row["probing_questions"]
        yield row["conversation_id"], row["chat"], ast.literal_eval(probes) if isinstance(probes, str) else probes


def _read_json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _read_rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".parquet":
        yield from import_module("pyarrow.parquet").read_table(path).to_pylist()
    else:
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _find_batches(value: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages of each batch: a list of the hub's, or an object whose `turns` are lists of messages."""
    if isinstance(value, Mapping):
        yield [message for exchange in value["turns"] for message in exchange]
    elif value and isinstance(value[0], Mapping) and "role" in value[0]:
        yield value
    else:
        for inner in value:
            yield from _find_batches(inner)


def _find_ids(value: Any) -> Iterator[int]:
    """Yield the numbers in lists and objects of any depth."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _find_ids(inner)


def _read_time(text: str, pattern: str) -> str:
    """Return a time of the file in ISO 8601; the files name no zone."""
    return datetime.strptime(text, pattern).replace(tzinfo=UTC).isoformat()


def _message(conversation: str, role: str, content: str, when: str | None) -> dict[str, str]:
    dated = {} if when is None else {"timestamp": when}
    return {"conversation_id": conversation, "role": role, "content": content, **dated}


READERS = {
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
    "beam": read_beam,
    "beam-sessions": read_beam_sessions,
}


def put_together(haystacks: Iterable[Haystack], questions: int | None, sessions: int) -> Haystack:
    """Return one haystack of so many sessions, with all that answer the first questions; a session keeps its first date."""
    drawn = list(haystacks)
    first = [question for haystack in drawn for question in haystack.questions][:questions]
    answers = {answer for question in first for answer in question.answers}
    found: dict[str, list[Mapping[str, str]]] = {}
    for is_answer in (True, False):
        for haystack in drawn:
            own: dict[str, list[Mapping[str, str]]] = defaultdict(list)
            for message in haystack.messages:
                own[message["conversation_id"]].append(message)
            found |= {name: own[name] for name in own if name not in found and (name in answers) == is_answer}
    messages = tuple(message for session in list(found.values())[:sessions] for message in session)
    return Haystack("together", messages, tuple(first))


def rank_answers(
    haystack: Haystack, embedder: Cached, folder: Path, mode: str = "hybrid"
) -> Iterator[tuple[Question, list[str]]]:
    """Index a haystack into a database of its own, and yield each question with the sessions or turns found, best first."""
    transcript = folder / "haystack.jsonl"
    lines = "".join(json.dumps(message) + "\n" for message in haystack.messages)
    if not transcript.exists() or transcript.read_text(encoding="utf-8") != lines:
        transcript.write_text(lines, encoding="utf-8")
    with open_database(transcript.with_suffix(".db"), create=True) as database:
        memory = Memory(database, embedder)
        memory.index([transcript], project=haystack.name)
        for question in haystack.questions:
            request = Request(question.text, mode=mode, limit=DEPTH, today=question.day, time_filters=True)
            hits = search(database, embedder, request)
            found = (hit.metadata.get("doc_id") if question.is_about_turns else hit.conversation_id for hit in hits)
            yield question, list(dict.fromkeys(map(str, found)))


def measure(ranked: Sequence[str], relevant: frozenset[str]) -> list[float]:
    """Return R@1, R@5, R@10, the reciprocal rank and nDCG@10 of one question."""
    places = [place for place, session in enumerate(ranked, start=1) if session in relevant]
    first = places[0] if places else math.inf
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(10, len(relevant)) + 1))
    gain = sum(1 / math.log2(place + 1) for place in places if place <= 10)
    return [float(first <= 1), float(first <= 5), float(first <= 10), 1 / first, gain / ideal]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("benchmark", choices=READERS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--questions", type=int, help="only so many; LongMemEval embeds hundreds of thousands of turns")
    parser.add_argument(
        "--together", type=int, metavar="SESSIONS", help="put the questions to one memory of so many sessions"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="with --together: keep the memory in this folder")
    parser.add_argument("--mode", choices=("hybrid", "keyword", "semantic"), default="hybrid")
    arguments = parser.parse_args()
    haystacks = READERS[arguments.benchmark](arguments.file)
    if arguments.questions:
        drawn = list(haystacks)
        random.Random(SEED).shuffle(drawn)  # noqa: S311 - the same sample everywhere
        haystacks = iter(drawn)
    if arguments.together:
        haystacks = iter([put_together(haystacks, arguments.questions, arguments.together)])
    elif arguments.keep:
        parser.error("--keep needs --together, because each haystack has a memory of its own")
    embedder, found = Cached(), defaultdict[str, list[list[float]]](list)
    for haystack in haystacks:
        with tempfile.TemporaryDirectory() if arguments.keep is None else nullcontext(arguments.keep) as folder:
            for question, ranked in rank_answers(haystack, embedder, Path(folder), arguments.mode):
                found[question.kind].append(measure(ranked, question.answers))
                if found[question.kind][-1][0] < 1:
                    print(f"not first in {haystack.name}: {question.text}", file=sys.stderr, flush=True)
        if arguments.questions and sum(map(len, found.values())) >= arguments.questions:
            break
    every = [one for of_kind in found.values() for one in of_kind]
    print("| questions | of | R@1 | R@5 | R@10 | MRR | nDCG@10 |\n|---|--:|--:|--:|--:|--:|--:|")
    for name, rows in (("all", every), *sorted(found.items())):
        means = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        print(f"| {name} | {len(rows)} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")


if __name__ == "__main__":
    main()
