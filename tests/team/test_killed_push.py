"""A push that is killed is completed by the next one."""

from __future__ import annotations

import subprocess
import sys

from people import Person
from places import Place

KILLED_PUSH = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from pastchats_memory.config import Config
from pastchats_memory.memory import Memory
from pastchats_memory.team import server
server.BATCH_ROWS = 2
database, endpoint = Path(sys.argv[1]), sys.argv[2]
config = Config(database, team_endpoint=endpoint, team_author="ada")
with Memory.open(database, config=config) as memory:
    memory.team.push(lambda _: os.kill(os.getpid(), signal.SIGKILL))
"""


def kill_push(person: Person) -> None:
    """Push in a process that is killed after its first batch."""
    command = [sys.executable, "-c", KILLED_PUSH, str(person.config.database), str(person.config.team_endpoint)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr


def test_a_killed_push_is_completed_by_the_next_one(ada: Person, bob: Person) -> None:
    ada.memory.team.share("billing")
    kill_push(ada)
    assert bob.pull().received == 2
    assert ada.memory.team.push().sent == 3
    assert bob.pull().received == 1


def test_a_killed_push_of_deletions_is_completed_by_the_next_one(ada: Person, bob: Person, place: Place) -> None:
    ada.share("billing")
    ada.memory.forget(query="backoff")
    ada.write("more", ("user", "Which port does the billing worker listen on?"))
    kill_push(ada)
    ada.memory.team.push()
    assert b"backoff" not in place.stored()
    assert {text for _, text in bob.found("backoff")} == {text for _, text in bob.found("webhook")}
