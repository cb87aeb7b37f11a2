"""Draws episodes from real transcripts for labelling, and shows one for a labeller to read.

    python benchmarks/outcome/draw.py FOLDER...                 draw again: writes episodes.tsv
    python benchmarks/outcome/draw.py FOLDER... --show 12 20    print the episodes 12 to 20

First draw: all episodes of six formats, since there are hardly more than were to be labelled; what is drawn is their order, and
with it the half to which each belongs. Second draw, when both halves had been looked at: of everything that was never drawn, all
episodes of the other agents and chats, a few of the two collections of conversations, and of the long history in which aider
was made one episode a session; a part of these from sessions in which the person came back often, since *failed* is rare
and no rule of ours is needed to know that people come back when something failed. Third draw, when the second had been looked
at: of that history's other sessions. Fourth draw, of what was left: a diary of sessions with Gemini CLI, and more of the collections.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.episodes import leading_user_turns, split_episodes
from pastchats_memory.episodes.derive import LATEST, select_changes
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Task, Turn
from pastchats_memory.store.outcomes import Changed

HERE = Path(__file__).parent
FORMATS = ("claude-code", "codex", "aider", "specstory", "opencode", "continue")
OTHERS = ("amp", "chatgpt", "claude-ai", "cursor", "pi-agent", "vscode-copilot-chat")
COLLECTIONS, OF_COLLECTIONS = ("openai-messages", "sharegpt"), 10
HISTORY, OF_HISTORY, OF_LONG_SESSIONS, OF_REST = "chat-history.md", 50, 34, 80
"""`tests/fixtures/chat-history.md` of the source distribution of aider-chat 0.86.2 (Apache-2.0)."""
RETYPED = ("other", "X", "Y", "Z", "W", "N", "O", "P", "Q", "R", "S", "T", "U")
"""Of the transcripts that were retyped those that are no histories of aider: SpecStory, Claude Code's terminal, Bob; then agents' sessions, six times; histories of aider again; agents' sessions, five times."""
DIARY, OF_FILE, OF_REST_AND_DIARY = "markdown-export", 14, 60
FEW_OF, OF_THAT = "dummy_conversation.json", 2
"""A collection of three words a turn."""
LEAST_WORDS = 4
"""In the history: with fewer the author only tried whether his program answers ("hi")."""
ANSWERED = ("assistant", "tool")
"""Who answers; of a model that could not be reached the error does."""
LONG_SESSION = 4
"""Episodes from which on a session is one in which the person came back often."""


@dataclass(frozen=True)
class Episode:
    """What was asked and what answered it, with what the person said next."""

    file: str
    turns: tuple[Turn, ...]
    next_words: str
    tasks: tuple[Changed, ...] = ()
    """Those that came to another state meanwhile."""

    @property
    def line(self) -> int:
        """Of the person's first words."""
        return self.turns[0].line

    @property
    def digest(self) -> str:
        """Of the person's first words."""
        return hashlib.sha256(self.turns[0].content.encode()).hexdigest()[:16]


def episodes_of(file: str, told: list[Turn], changes: Sequence[Changed] = ()) -> Iterator[Episode]:
    """Yield the episodes of one conversation that begin with a person's words."""
    for turns, following in itertools.pairwise(itertools.chain(split_episodes(told), [[]])):
        if turns[0].role == "user" and any(turn.role in ANSWERED for turn in turns):
            over = following[0].timestamp if following else LATEST
            tasks = select_changes(changes, turns[0].timestamp, over)
            next_words = "\n".join(turn.content for turn in leading_user_turns(following))
            yield Episode(file, tuple(turns), next_words, tuple(tasks))


def changes_of(tasks: Sequence[Task]) -> list[Changed]:
    """List the tasks' states that have a time, in order."""
    found = [
        Changed(state.at, number, state.status)
        for number, task in enumerate(tasks)
        for state in task.states
        if state.at is not None
    ]
    return sorted(found, key=lambda one: one.at)


def all_episodes(folders: Sequence[Path]) -> list[Episode]:
    """Of every transcript of the folders, in the order of their names."""
    found: list[Episode] = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.relative_to(folder).parts[0] in (
                *FORMATS,
                *OTHERS,
                *COLLECTIONS,
                DIARY,
                HISTORY,
                *RETYPED,
            ):
                found += episodes_in(path, str(path.relative_to(folder)))
    return found


def episodes_in(path: Path, name: str) -> Iterator[Episode]:
    source = SourceFile(path)
    try:
        reader = detect_format(source)
    except ValueError:
        return
    conversations: dict[str | None, list[Turn]] = {}
    planned: dict[str | None, list[Task]] = {}
    for row in reader.read(source) if reader else ():
        if isinstance(row, Turn) and row.branch == "main":
            conversations.setdefault(row.conversation_id, []).append(row)
        elif isinstance(row, Task):
            planned.setdefault(row.conversation_id, []).append(row)
    for conversation, turns in conversations.items():
        yield from episodes_of(name, turns, changes_of(planned.get(conversation, [])))


def drawn(episodes: list[Episode]) -> list[tuple[str, Episode]]:
    """Each episode drawn with its part, in an order that is random and the same in every run."""
    named = [one for one in episodes if one.file.partition("/")[0] in FORMATS]
    first = random.Random(20261122).sample(named, len(named))  # noqa: S311 - a draw that can be repeated
    halves = [("test" if number % 2 else "build", one) for number, one in enumerate(first)]
    chance = random.Random(20261123)  # noqa: S311 - a draw that can be repeated
    later = [one for one in episodes if one.file.partition("/")[0] in OTHERS]
    later += chance.sample([one for one in episodes if one.file.partition("/")[0] in COLLECTIONS], OF_COLLECTIONS)
    later += _of_history([one for one in episodes if one.file == HISTORY], chance)
    last = _rest_of_history([one for one in episodes if one.file == HISTORY], later, random.Random(20261124))  # noqa: S311 - a draw that can be repeated
    rest = _left_over(episodes, [*named, *later], random.Random(20261125))  # noqa: S311 - a draw that can be repeated
    parts = (("later", chance.sample(later, len(later))), ("last", last), ("rest", rest))
    return [*halves, *((part, one) for part, ones in parts for one in ones)]


def _left_over(episodes: list[Episode], drawn: list[Episode], chance: random.Random) -> list[Episode]:
    """List the diary's episodes and some new ones of each file of the collections.

    Each prompt occurs once, and none resembles a drawn episode.
    """
    used = {(one.file, one.line, one.digest) for one in drawn}
    taken = [one for one in episodes if one.file.startswith(DIARY)]
    seen: set[str] = set()
    files: dict[str, list[Episode]] = {}
    for one in episodes:
        is_collected = one.file.partition("/")[0] in COLLECTIONS
        if is_collected and (one.file, one.line, one.digest) not in used and one.digest not in seen:
            seen.add(one.digest)
            files.setdefault(one.file, []).append(one)
    for name, ones in files.items():
        taken += chance.sample(ones, min(len(ones), OF_THAT if name.endswith(FEW_OF) else OF_FILE))
    chance.shuffle(taken)
    return taken[:OF_REST_AND_DIARY]


def _of_history(episodes: list[Episode], chance: random.Random) -> list[Episode]:
    sessions: dict[str | None, list[Episode]] = {}
    for one in episodes:
        if _is_asked(one):
            sessions.setdefault(one.turns[0].conversation_id, []).append(one)
    names = chance.sample(list(sessions), len(sessions))
    rest = [name for name in names[OF_HISTORY:] if len(sessions[name]) >= LONG_SESSION]
    return [chance.choice(sessions[name]) for name in (*names[:OF_HISTORY], *rest[:OF_LONG_SESSIONS])]


def _rest_of_history(episodes: list[Episode], drawn: list[Episode], chance: random.Random) -> list[Episode]:
    """One episode a session of those that nothing was drawn of, each prompt once."""
    used = {one.turns[0].conversation_id for one in drawn}
    seen = {one.digest for one in drawn}
    sessions: dict[str | None, list[Episode]] = {}
    for one in episodes:
        if one.turns[0].conversation_id not in used and one.digest not in seen and _is_asked(one):
            seen.add(one.digest)
            sessions.setdefault(one.turns[0].conversation_id, []).append(one)
    return [chance.choice(sessions[name]) for name in chance.sample(list(sessions), OF_REST)]


def _is_asked(episode: Episode) -> bool:
    return sum(len(turn.content.split()) for turn in episode.turns if turn.kind == "prompt") >= LEAST_WORDS


def shown(number: int, episode: Episode) -> str:
    """Format an episode for a labeller: of long turns the beginning and the end."""
    turns = (
        f"--- line {turn.line} {turn.role} {turn.kind}{_recorded(turn)}\n{_short(turn.content, 1500)}"
        for turn in episode.turns
    )
    following = _short(episode.next_words, 700) or "(none: the transcript ends)"
    return "\n".join((f"===== {number}  {episode.file}", *turns, f"--- the person's next words\n{following}"))


def _recorded(turn: Turn) -> str:
    beside = {key: turn.metadata[key] for key in ("flags", "tools", "files", "commits") if turn.metadata.get(key)}
    return f" {beside}" if beside else ""


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}\n[…]\n{text[-most // 2 :]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--show", type=int, nargs=2, metavar=("FIRST", "LAST"))
    arguments = parser.parse_args()
    episodes = all_episodes(arguments.folders)
    if arguments.show is None:
        rows = drawn(episodes)
        with (HERE / "episodes.tsv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t", lineterminator="\n")
            writer.writerow(["number", "file", "line", "digest", "part"])
            for number, (part, episode) in enumerate(rows, start=1):
                writer.writerow([number, episode.file, episode.line, episode.digest, part])
        print(f"{len(rows)} of {len(episodes)} episodes drawn from {len({one.file for _, one in rows})} files")
        return
    by_place = {(one.file, one.line, one.digest): one for one in episodes}
    with (HERE / "episodes.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if arguments.show[0] <= int(row["number"]) <= arguments.show[1]:
                print(shown(int(row["number"]), by_place[row["file"], int(row["line"]), row["digest"]]))


if __name__ == "__main__":
    main()
