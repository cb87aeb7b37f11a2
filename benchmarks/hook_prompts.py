"""Count the prompts at which the hook speaks, with and without an answer.

    PASTCHATS_SHARED=<folder with bench/ and transcripts/> python benchmarks/hook_prompts.py [--databases DIR]

*Transcripts*: prompts that people typed into agents, from the files that INDEX.tsv calls real. The repositories fall into
two halves by their hash, a memory each. A prompt of PROMPT_WORDS words or more that was answered is put again, in a new
session, to its own half, where it was answered once before (known), and to the other half, where nobody worked on
that project (none). People ask again in other words; so *known* is the easy case here.

*Questions*: judged questions of the retrieval sets, put to the memory of their set (known), where other words answer
them, and to the memory of the next set (none).

Each sample is the SAMPLE prompts or questions with the smallest SHA-256, at most A_FILE of one file; nothing of them is
stored. `speaks` counts blocks; `with it` those that hold the conversation or the judged passage that answers. What is
called is what the prompt hook calls, with its cleaning of prompts and its budget, but not its process and its limit of time.

*Labelled prompts*: those in `hook/prompts.tsv`, put to the sample history and to the sessions of agents. A *known* one is
answered in a file of which the table has a part of the path, an *unrelated* one nowhere, and *nothing* names no topic. The rules
were fitted to the half `tune`. The lists of words were completed after `report`, and the thresholds moved once after `fresh`.
The aims are 75, 0 and 4 of 100.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import judged

from pastchats_memory import Memory
from pastchats_memory.hooks import answers
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.hooks.prompt import query_for
from pastchats_memory.model import Hit
from pastchats_memory.store.database import open_database

HERE = Path(__file__).parent
DEMO = HERE.parent / "fixtures" / "demo"
GENERAL = ("openai-messages", "sharegpt")
"""Collections of general questions, among which nothing is unrelated."""
SAMPLE = 100
A_FILE = 8
PROMPT_WORDS = 5
PROMPTS = """
SELECT p.source_path, p.conversation_id, p.content FROM prompts AS p
WHERE p.role = 'user' AND json_extract(p.metadata_json, '$.kind') IS 'prompt' AND EXISTS (
  SELECT 1 FROM prompts AS a WHERE a.conversation_id = p.conversation_id AND a.source_path = p.source_path
    AND a.turn_index > p.turn_index AND a.role = 'assistant')
"""


@dataclass(frozen=True)
class Prompt:
    """A prompt, the memory that knows it, one that does not, and what answers it: conversations or `doc_id`s."""

    text: str
    known: Path
    unknown: Path
    answered_by: frozenset[str]

    @property
    def drawn(self) -> str:
        """By which samples are ordered."""
        return sha256(self.text.encode()).hexdigest()


def halves(transcripts: Path, databases: Path) -> list[Path]:
    """Two memories, half of the repositories each."""
    with (transcripts / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if (row["note"] or "").startswith("real")]
    found = []
    for half in (0, 1):
        path = databases / f"half-{half}.db"
        with Memory.open(path) as memory:
            for row in rows:
                if sha256(row["repository"].encode()).digest()[0] % 2 == half:
                    memory.index([transcripts / row["file"]], project=row["repository"])
        found.append(path)
    return found


def prompts(databases: Sequence[Path]) -> Iterator[Prompt]:
    """Yield the sample of both halves."""
    for own, other in (databases, databases[::-1]):
        texts: dict[str, tuple[str, str]] = {}
        with open_database(own) as database:
            for path, conversation, content in database.run(PROMPTS):
                if len(content.split()) >= PROMPT_WORDS:
                    texts.setdefault(content, (path, conversation))
        of_file: Counter[str] = Counter()
        chosen = 0
        for text, (path, conversation) in sorted(texts.items(), key=lambda item: sha256(item[0].encode()).hexdigest()):
            of_file[path] += 1
            if of_file[path] <= A_FILE and chosen < SAMPLE // 2:
                chosen += 1
                yield Prompt(text, own, other, frozenset({conversation}))


def questions(found: Sequence[judged.Set], databases: Path) -> Iterator[Prompt]:
    """Yield the sample of all sets."""
    paths = [one.indexed(databases) for one in found]
    for number, one in enumerate(found):
        level = next(level for level in ("session", "turn") if one.relevant(level))
        relevant = one.relevant(level)
        answered = [
            Prompt(
                query["text"], paths[number], paths[(number + 1) % len(paths)], frozenset(relevant[query["query_id"]])
            )
            for query in one.queries
            if relevant.get(query["query_id"])
        ]
        yield from sorted(answered, key=lambda prompt: prompt.drawn)[: SAMPLE // len(found)]


def run_hook(prompt: Prompt, database: Path) -> tuple[bool, bool]:
    """Return whether the hook prints a block, and whether the block has the answer."""
    hits = recalled(prompt.text, database)
    return bool(hits), any({hit.conversation_id, hit.metadata.get("doc_id")} & prompt.answered_by for hit in hits)


def recalled(prompt: str, database: Path) -> tuple[Hit, ...]:
    """Return the hits of the hook's block; none for a prompt that it ignores."""
    block = answers.find_block(HookEvent(prompt=prompt), str(database))
    return () if block is None else block.hits


def labelled(database: Path) -> None:
    """Print how many prompts of `hook/prompts.tsv` get a block, and how many get the file with the answer."""
    with (HERE / "hook" / "prompts.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        paths = [hit.source_path for hit in recalled(row["prompt"], database)]
        counts[row["half"], row["kind"], "of"] += 1
        counts[row["half"], row["kind"], "speaks"] += bool(paths)
        counts[row["half"], row["kind"], "with it"] += any(row["file"] in path for path in paths)
    print("\n| labelled prompts | of | speaks | with it |\n|---|--:|--:|--:|")
    for half in dict.fromkeys(row["half"] for row in rows):
        for kind in ("known", "unrelated", "nothing"):
            of, speaks, right = (counts[half, kind, name] for name in ("of", "speaks", "with it"))
            print(f"| {kind} ({half}) | {of} | {speaks} | {right if kind == 'known' else ''} |")


def agents(transcripts: Path, databases: Path) -> Path:
    """Index the sample history and the sessions of agents and chats, without collections of general questions."""
    path = databases / "agents.db"
    with Memory.open(path) as memory:
        memory.index([DEMO / "history"])
        memory.index([DEMO / "exports"], project="chatgpt")
        memory.index(
            sorted(folder for folder in transcripts.iterdir() if folder.is_dir() and folder.name not in GENERAL)
        )
    return path


def show(name: str, sample: Sequence[Prompt]) -> None:
    """Print a row with the counts of a sample."""
    known = [run_hook(prompt, prompt.known) for prompt in sample]
    none = [run_hook(prompt, prompt.unknown)[0] for prompt in sample]
    cleaned = sum(query_for(prompt.text) is None for prompt in sample)
    of = len(sample)
    print(
        f"| {name} | {of} | {cleaned} | {sum(speaks for speaks, _ in known)} | {sum(right for _, right in known)} | {sum(none)} |"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--databases", type=Path, help="where the databases are kept (default: a temporary folder)")
    arguments = parser.parse_args()
    shared = Path(os.environ.get("PASTCHATS_SHARED", "../shared"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.databases or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        print("| prompts | of | left alone | known: speaks | with it | none: speaks |\n|---|--:|--:|--:|--:|--:|")
        if (shared / "transcripts" / "INDEX.tsv").exists():
            show("transcripts", list(prompts(halves(shared / "transcripts", folder))))
            labelled(agents(shared / "transcripts", folder))
        else:
            print("skipped: no transcripts here; set PASTCHATS_SHARED")
        found = judged.sets(sorted(path.parent for path in (shared / "bench").glob("*/queries.jsonl")))
        if found:
            show("questions", list(questions(found, folder)))


if __name__ == "__main__":
    main()
