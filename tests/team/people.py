"""People of one team: each with a memory of their own, and one place for what they share."""

from __future__ import annotations

import json
from pathlib import Path

from inprocess import Shell
from places import Place
from program import Program, Run

from pastchats_memory.config import Config
from pastchats_memory.memory import Memory
from pastchats_memory.model.episodes import RecallBlock
from pastchats_memory.team.report import PullReport, PushReport

ASKED = "Why do the webhook retries of the billing service pile up at night?"
ANSWERED = "Because the queue has no backoff. A delay that doubles at each attempt ended it."
THANKS = "Great, that fixed it, thanks!"


class Person:
    """A memory that uses the team's place under a name."""

    def __init__(self, home: Path, place: Place, **settings: object) -> None:
        self.home = home
        home.mkdir(exist_ok=True)
        usual = Config(home / "memory.db", team_endpoint=place.endpoint_for(home.name), team_author=home.name)
        self.config = usual._replace(**settings)  # type: ignore[arg-type]
        self.memory = Memory.open(home / "memory.db", config=self.config)

    def write(self, name: str, *turns: tuple[str, str], project: str = "billing") -> None:
        """Write a transcript of (role, text), each a minute after the one before, and index it."""
        lines = [
            {"role": role, "content": text, "conversation_id": name, "id": f"{name}-{number}", "timestamp": f"2026-03-01T10:{number:02}:01.000Z"}
            for number, (role, text) in enumerate(turns)
        ]  # fmt: skip
        path = self.home / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.memory.index([path], project)

    def share(self, *projects: str) -> PushReport:
        for project in projects:
            self.memory.team.share(project)
        return self.memory.team.push()

    def pull(self) -> PullReport:
        return self.memory.team.pull()

    def found(self, query: str = ASKED) -> list[tuple[str, str]]:
        """Return author and text of what the team has for a query."""
        return [(hit.author, hit.content) for hit in self.memory.search(query, team=True)]

    def recall(self, query: str = "webhook retries pile up", **more: object) -> RecallBlock:
        return self.memory.recall(query, team=True, **more)  # type: ignore[arg-type]


def run(person: Person, *words: str, **more: str) -> Run:
    """Run the program in a process of its own as a person, with the team's settings in the environment."""
    return Program(person.home, variables=settings_of(person) | more)(*words)


def shell_of(person: Person) -> Shell:
    """Return a shell in this process, where the library of Milvus is imported once for all commands."""
    return Shell(person.home, settings_of(person))


def settings_of(person: Person) -> dict[str, str]:
    return {
        "PASTCHATS_MEMORY_DB": str(person.config.database),
        "PASTCHATS_MEMORY_TEAM_ENDPOINT": str(person.config.team_endpoint),
        "PASTCHATS_MEMORY_TEAM": "true",
        "XDG_STATE_HOME": str(person.home / "state"),
    }
