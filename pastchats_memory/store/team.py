"""Store what a team's memory needs: this memory's name there, the shared projects, and the rows of the local copy."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pastchats_memory.store import sync
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.outcomes import LEAST_CONFIDENCE

OUTCOME = f"CASE WHEN o.confidence >= {LEAST_CONFIDENCE} THEN o.verdict ELSE 'unknown' END"
EPISODE_CHARS = 4000
"""Characters of an episode's question, and of its last answer."""


class Member(NamedTuple):
    """Name of this memory among the rows of a team, and the key of their ids."""

    endpoint: str
    id: str
    host: str
    key: bytes


class TurnVersion(NamedTuple):
    """A turn of a shared project, without its text."""

    content_hash: str
    path: str
    outcome: str
    """Of its episode."""
    digest: bytes


class SharedEpisode(NamedTuple):
    """An episode of a shared project."""

    content_hash: str
    """Of the turn that asks."""
    path: str
    conversation_id: str
    turn_index: int
    timestamp: str | None
    question: str
    answer: str
    outcome: str


class PulledRow(NamedTuple):
    """A row of another member that the local copy has."""

    id: str
    digest: str
    kind: str
    author: str
    turn: str


# This memory in a team


def load_member(database: Database, endpoint: str) -> Member | None:
    """Return this memory's name at an endpoint, or None."""
    found = database.run("SELECT endpoint, member, host, key FROM team_members WHERE endpoint = ?", (endpoint,))
    return Member(*found[0]) if found else None


def store_member(database: Database, member: Member) -> None:
    """Store this memory's name at an endpoint."""
    database.run("INSERT OR REPLACE INTO team_members(endpoint, member, host, key) VALUES (?, ?, ?, ?)", member)


def shared_projects(database: Database, endpoint: str) -> list[str]:
    """Return the projects that are shared at an endpoint."""
    return database.column("SELECT project FROM team_projects WHERE endpoint = ? ORDER BY project", (endpoint,))


def add_project(database: Database, endpoint: str, project: str) -> None:
    """Share a project at an endpoint."""
    database.run("INSERT OR IGNORE INTO team_projects(endpoint, project) VALUES (?, ?)", (endpoint, project))


def remove_project(database: Database, endpoint: str, project: str) -> None:
    """Share a project no more."""
    database.run("DELETE FROM team_projects WHERE endpoint = ? AND project = ?", (endpoint, project))


# What is shared


def turn_versions(database: Database, project: str) -> Iterator[TurnVersion]:
    """Yield the turns of a project with their outcome and a digest of all that is shared of them."""
    for content_hash, path, outcome, *values in database.rows(
        f"SELECT p.content_hash, p.source_path, (SELECT {OUTCOME} FROM visible_outcomes o WHERE o.source_project = p.source_project "
        f"AND o.conversation_id = p.conversation_id AND o.first_index <= p.turn_index AND o.last_index >= p.turn_index "
        f"ORDER BY o.first_index DESC LIMIT 1), {', '.join(f'p.{name}' for name in sync.TURN_FIELDS)} "
        f"FROM visible_prompts p WHERE p.source_project = ? ORDER BY p.id",
        (project,),
    ):
        digest = sync.digest_of([path, outcome, sync.turn_digest(values).hex()])
        yield TurnVersion(content_hash, path, outcome or "unknown", digest)


def episodes(database: Database, project: str) -> Iterator[SharedEpisode]:
    """Yield the episodes of a project whose outcome is stored."""
    for row in database.rows(
        "SELECT p.content_hash, p.source_path, o.conversation_id, p.turn_index, p.timestamp, substr(p.content, 1, ?2), "
        "ifnull((SELECT substr(a.content, 1, ?2) FROM visible_prompts a WHERE a.source_project = o.source_project "
        "AND a.conversation_id = o.conversation_id AND a.turn_index BETWEEN o.first_index AND o.last_index "
        f"AND a.role = 'assistant' ORDER BY a.turn_index DESC LIMIT 1), ''), "
        f"{OUTCOME} FROM visible_outcomes o JOIN visible_prompts p ON p.id = o.prompt_id WHERE o.source_project = ?1",
        (project, EPISODE_CHARS),
    ):
        yield SharedEpisode(*row)


def describe_project(database: Database, project: str) -> tuple[int, int, str | None, str | None]:
    """Return a project's turns, conversations, and first and last time."""
    (row,) = database.run(
        "SELECT count(*), count(DISTINCT conversation_id), min(timestamp), max(timestamp) FROM visible_prompts "
        "WHERE source_project = ?",
        (project,),
    )
    return row


def latest_prompts(database: Database, project: str, most: int) -> list[str]:
    """Return the newest prompts of a project."""
    return database.column(
        "SELECT content FROM visible_prompts WHERE source_project = ? AND role = 'user' "
        "ORDER BY timestamp DESC, id DESC LIMIT ?",
        (project, most),
    )


# The local copy of a team's memory


def pulled_digests(copy: Database) -> dict[str, str]:
    """Return the digest of each row that the copy has, by id."""
    return copy.mapping("SELECT id, digest FROM team_rows")


def count_pulled(copy: Database) -> list[tuple[str, int]]:
    """Return the authors in the copy, each with the number of turns."""
    return copy.run("SELECT author, count(*) FROM team_rows WHERE kind = 'turn' GROUP BY author ORDER BY author")


def add_pulled(copy: Database, rows: Iterable[PulledRow]) -> None:
    """Note rows that were stored, inside the caller's transaction."""
    copy.run_many("INSERT OR REPLACE INTO team_rows(id, digest, kind, author, turn) VALUES (?, ?, ?, ?, ?)", list(rows))


def episodes_of(copy: Database, turns: Sequence[str]) -> list[str]:
    """Return the ids of the episodes that some turns begin."""
    return copy.column(f"SELECT id FROM team_rows WHERE kind = 'episode' AND turn IN {LISTED}", (bind_list(turns),))


def drop_pulled(copy: Database, ids: Sequence[str]) -> list[int]:
    """Drop the notes of rows, and return the ids of their turns here."""
    listed = (bind_list(ids),)
    turns = copy.run(f"SELECT id FROM visible_prompts WHERE content_hash IN {LISTED} ORDER BY id", listed)
    copy.run(f"DELETE FROM team_rows WHERE id IN {LISTED}", listed)
    return [id_ for (id_,) in turns]


def stored_hashes(copy: Database, hashes: Sequence[str]) -> set[str]:
    """Return the turns among these that the copy has."""
    return sync.stored_turns(copy, hashes).keys() & set(hashes)


def name_turns(copy: Database, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return content_hash and author of the copy's turns, by id."""
    rows = copy.run(
        "SELECT p.id, p.content_hash, r.author FROM visible_prompts p JOIN team_rows r ON r.id = p.content_hash "
        f"WHERE p.id IN {LISTED}",
        (bind_list(ids),),
    )
    return {id_: (content_hash, author) for id_, content_hash, author in rows}


def find_turn(copy: Database, start: str) -> int | None:
    """Return the id of the turn whose content_hash begins with some hexadecimal digits, or None."""
    found: int | None = copy.value(
        "SELECT min(id) FROM visible_prompts WHERE content_hash >= ?1 AND content_hash < ?1 || 'g'", (start,)
    )
    return found
