"""Read the rows that machines exchange, and store which of them a synchronised folder has."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from pastchats_memory.model import Attachment, Comment, Prompt, TaskState
from pastchats_memory.store import interchange, outcomes
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.deletion import ChosenRows, delete_rows
from pastchats_memory.store.outcomes import Due, Judgement
from pastchats_memory.store.tasks import TaskWriter
from pastchats_memory.store.tombstone_transfer import COLUMNS as FORGETTING_COLUMNS
from pastchats_memory.store.tombstone_transfer import Record as ForgettingRow
from pastchats_memory.store.tombstone_transfer import load_tombstones
from pastchats_memory.store.tombstones import TURN_COLUMNS, Tombstones, TurnIdentity
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.wire import STORED_FIELDS, Body, build_turn

KINDS = ("forgetting", "lifting", "growth", "turn", "task", "judgement")
"""Kinds of records, in the order in which they are applied."""
TURN_FIELDS = (
    "role", "content", "source_project", "conversation_id", "turn_index", "timestamp", "echo_hash", "metadata_json",
)  # fmt: skip
"""Columns of a turn that all machines have in common."""
DIGEST_BYTES = 16
LOCAL_TASK_FIELDS = ("key", "source_path", "source_line")
"""Fields of a task that each machine has of its own."""
TASK_PARTS = ("states", "conversations", "comments", "attachments")
"""Parts of a task that are united."""


class SyncFolder(NamedTuple):
    """What this machine knows of a folder."""

    id: str
    path: str
    machine: str
    host: str
    place: str
    """Digest of what tells this computer and database from a copy."""
    secret: str | None
    """An age identity; None if the files are not encrypted."""
    generation: int
    """How often the secret was replaced, and one."""
    signing_key: bytes
    proof: bytes
    """Shows the others that the key is that of a machine of this person."""
    pending: str | None = None
    """Number and fingerprint of the file that was about to be written last."""
    is_announced: bool = True
    """Whether a file says whom the person trusts and has retired here."""
    reads_again: bool = False
    """Whether a deletion was undone: a file may still have what it deleted here."""


class SyncFile(NamedTuple):
    """A file of a machine that was written or read here."""

    machine: str
    number: int
    is_current: bool
    fingerprint: str = ""
    """Of its bytes, if it was written or read."""


class KnownMachine(NamedTuple):
    """A machine whose key is known."""

    key: bytes
    label: str | None
    """Its name before paths."""
    is_retired: bool


class SyncRecord(NamedTuple):
    """One version of a row, by what it is recognised."""

    kind: str
    """One of KINDS."""
    identity: str
    digest: bytes


def digest_of(values: object) -> bytes:
    """Return 16 bytes that stand for JSON-able values."""
    return hashlib.blake2b(orjson.dumps(values, option=orjson.OPT_SORT_KEYS), digest_size=DIGEST_BYTES).digest()


# The folder and its files


def load_folder(database: Database, id_: str) -> SyncFolder | None:
    """Return what is known of a folder, or None."""
    found = database.run(f"SELECT {', '.join(SyncFolder._fields)} FROM sync_folders WHERE id = ?", (id_,))
    return SyncFolder(*found[0]) if found else None


def folder_paths(database: Database) -> list[str]:
    """Return where the known folders were last."""
    return database.column("SELECT path FROM sync_folders ORDER BY path")


def store_folder(database: Database, folder: SyncFolder) -> None:
    """Store what is known of a folder."""
    names = SyncFolder._fields
    database.run(
        f"INSERT INTO sync_folders({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) ON CONFLICT(id) "
        f"DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in names[1:])}",
        folder,
    )


def machines(database: Database, folder: str) -> dict[str, KnownMachine]:
    """Return the machines whose keys are known."""
    rows = database.run("SELECT machine, key, label, is_retired FROM sync_machines WHERE folder = ?", (folder,))
    return {machine: KnownMachine(bytes(key), label, bool(is_retired)) for machine, key, label, is_retired in rows}


def store_machine(database: Database, folder: str, machine: str, known: KnownMachine) -> None:
    """Store what is known of a machine."""
    database.run("INSERT OR REPLACE INTO sync_machines VALUES (?, ?, ?, ?, ?)", (folder, machine, *known))


def find_refusal(database: Database, folder: str, machine: str, number: int, stamp: str) -> str | None:
    """Return why a file with this stamp was refused before, or None."""
    reason: str | None = database.value(
        "SELECT reason FROM sync_refusals WHERE folder = ? AND machine = ? AND number = ? AND stamp = ?",
        (folder, machine, number, stamp),
    )
    return reason


def store_refusal(database: Database, folder: str, machine: str, number: int, stamp: str, reason: str) -> None:
    """Store why a file with this stamp was refused."""
    database.run(
        "INSERT OR REPLACE INTO sync_refusals VALUES (?, ?, ?, ?, ?)", (folder, machine, number, stamp, reason)
    )


def files(database: Database, folder: str) -> list[SyncFile]:
    """Return the files that were written or read."""
    names = ", ".join(SyncFile._fields)
    rows = database.run(f"SELECT {names} FROM sync_files WHERE folder = ? ORDER BY machine, number", (folder,))
    return [
        SyncFile(machine, number, bool(is_current), fingerprint) for machine, number, is_current, fingerprint in rows
    ]


def store_file(database: Database, folder: str, file: SyncFile, records: Iterable[Body]) -> None:
    """Store that a file was written or read, and what it holds, inside the caller's transaction."""
    drop_file(database, folder, file)
    database.run(
        "INSERT INTO sync_files(folder, machine, number, is_current, fingerprint) VALUES (?, ?, ?, ?, ?)",
        (folder, *file),
    )
    database.run_many(
        "INSERT OR REPLACE INTO sync_records(folder, kind, identity, machine, number, digest) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (folder, one["kind"], one["identity"], file.machine, file.number, bytes.fromhex(one["digest"]))
            for one in records
        ],
    )


def drop_file(database: Database, folder: str, file: SyncFile) -> None:
    """Drop what is stored of a file."""
    database.run(
        "DELETE FROM sync_files WHERE folder = ? AND machine = ? AND number = ?", (folder, file.machine, file.number)
    )


def known_digests(database: Database, folder: str) -> dict[tuple[str, str], set[bytes]]:
    """Return the digests that files of the folder have, by kind and identity."""
    found: dict[tuple[str, str], set[bytes]] = {}
    for kind, identity, digest in database.rows(
        "SELECT kind, identity, digest FROM sync_records WHERE folder = ?", (folder,)
    ):
        found.setdefault((kind, identity), set()).add(digest)
    return found


def acknowledged(database: Database, folder: str) -> set[str]:
    """Return the runs of `forget` that this machine's files there follow already."""
    return set(orjson.loads(database.value("SELECT acknowledged FROM sync_folders WHERE id = ?", (folder,)) or "[]"))


def acknowledge(database: Database, folder: str, forgettings: Iterable[str]) -> None:
    """Store the runs of `forget` that this machine's files there follow."""
    listed = orjson.dumps(sorted(forgettings)).decode()
    database.run("UPDATE sync_folders SET acknowledged = ? WHERE id = ?", (listed, folder))


def records_of_machine(database: Database, folder: str, machine: str) -> dict[int, list[SyncRecord]]:
    """Return what each file of a machine holds, by number."""
    rows = database.run(
        "SELECT number, kind, identity, digest FROM sync_records WHERE folder = ? AND machine = ?", (folder, machine)
    )
    return group_by_key((number, SyncRecord(*record)) for number, *record in rows)


# Turns


def turn_digest(values: Sequence[Any]) -> bytes:
    """Return the digest of TURN_FIELDS."""
    *fields, metadata = values
    return digest_of([*fields, orjson.loads(metadata or "{}")])


def fields_of_turn(prompt: Prompt) -> tuple[Any, ...]:
    """Return the TURN_FIELDS of a row that is not stored yet."""
    turn = prompt.turn
    return (
        turn.role, turn.content, prompt.project, turn.conversation_id, prompt.turn_index, turn.timestamp,
        prompt.echo_hash, orjson.dumps(dict(prompt.metadata)).decode(),
    )  # fmt: skip


def turn_versions(database: Database) -> Iterator[tuple[str, str, str, bytes]]:
    """Yield identity, project, source path and digest of every turn."""
    for identity, project, path, *values in database.rows(
        f"SELECT content_hash, source_project, source_path, {', '.join(TURN_FIELDS)} FROM visible_prompts ORDER BY id"
    ):
        yield identity, project, path, turn_digest(values)


def growths(database: Database) -> dict[str, str]:
    """Return by which hash a turn that grew is recognised now, by the one before."""
    return database.mapping("SELECT old, new FROM sync_growths")


def store_growth(database: Database, old: str, new: str) -> None:
    """Store that a turn grew on another machine."""
    database.run("INSERT OR IGNORE INTO sync_growths(old, new) VALUES (?, ?)", (old, new))


def delete_outgrown(database: Database) -> None:
    """Delete the turns whose longer version is here, with what is derived from them, inside the caller's transaction."""
    found = database.run(
        "WITH RECURSIVE later(old, new) AS (SELECT old, new FROM sync_growths "
        "UNION SELECT l.old, g.new FROM later l JOIN sync_growths g ON g.old = l.new) "
        "SELECT DISTINCT o.id FROM later l JOIN prompts o ON o.content_hash = l.old JOIN prompts n ON n.content_hash = l.new "
        "WHERE l.old != l.new AND substr(n.content, 1, length(o.content)) = o.content ORDER BY o.id"
    )
    delete_rows(database, ChosenRows([id_ for (id_,) in found], [], [], []))


def turn_bodies(database: Database, identities: Sequence[str]) -> list[Body]:
    """Return the turns with these identities as `export` writes them, each with its vector."""
    rows = database.run(
        f"{interchange.TURNS}, g.line, g.end_line, e.model, e.vector_json FROM prompts p "
        "JOIN json_each(?) wanted ON wanted.value = p.content_hash LEFT JOIN sources s ON s.path = p.source_path "
        "LEFT JOIN sightings g ON g.prompt_id = p.id AND g.source_id = s.id "
        "LEFT JOIN prompt_embeddings e ON e.prompt_id = p.id ORDER BY p.id",
        (bind_list(identities),),
    )
    return [
        build_turn(stored, [] if line is None else [[stored[STORED_FIELDS.index("source_path")], line, end_line]])
        | {"vector": vector if model else None}
        for *stored, line, end_line, model, vector in rows
    ]


def forgotten_turns(database: Database, identities: Sequence[str]) -> set[str]:
    """Return the turns among these that stay here in spite of a tombstone."""
    tombstones = Tombstones(database)
    if not tombstones:
        return set()
    rows = database.run(
        f"SELECT {TURN_COLUMNS} FROM prompts p WHERE p.content_hash IN {LISTED}", (bind_list(identities),)
    )
    turns = [TurnIdentity(*row[1:]) for row in rows]
    return {str(hash_) for hash_ in tombstones.find_forgotten({turn.content_hash: turn for turn in turns})}


def stored_turns(database: Database, identities: Sequence[str]) -> dict[str, tuple[int, tuple[Any, ...]]]:
    """Return id and TURN_FIELDS of the turns with these identities."""
    rows = database.run(
        f"SELECT content_hash, id, {', '.join(TURN_FIELDS)} FROM prompts WHERE content_hash IN {LISTED}",
        (bind_list(identities),),
    )
    return {identity: (id_, tuple(values)) for identity, id_, *values in rows}


# Tasks


def task_digest(body: Body) -> bytes:
    """Return the digest of an exported task, without what each machine has of its own."""
    parts = {name: _sorted(body[name]) for name in TASK_PARTS}
    parts["states"] = [state for state in parts["states"] if state["at"] is not None]  # others depend on their order
    return digest_of([task_fields(body), parts])


def task_fields(body: Body) -> Body:
    """Return the fields of an exported task of which the latest change stays, with its links."""
    fields = {name: value for name, value in body.items() if name not in (*LOCAL_TASK_FIELDS, *TASK_PARTS)}
    return fields | {"links": _sorted(body["links"])}


def _sorted(parts: Sequence[Body]) -> list[Body]:
    return sorted(parts, key=lambda part: orjson.dumps(part, option=orjson.OPT_SORT_KEYS))


def task_vectors(database: Database, identity: str) -> dict[str, str]:
    """Return the vectors of a task's texts, by the hexadecimal text_hash."""
    return {
        bytes(text_hash).hex(): vector
        for text_hash, vector in database.run(
            "SELECT t.text_hash, e.vector_json FROM task_texts t JOIN tasks k ON k.id = t.task_id "
            "JOIN task_embeddings e ON e.text_id = t.id WHERE k.identity = ? AND e.model != ''",
            (identity,),
        )
    }


def replace_task(database: Database, writer: TaskWriter, body: Body) -> bool:
    """Store a task of another machine with its fields and links; return False if it was forgotten.

    Call it inside the caller's transaction.
    """
    id_ = database.value("SELECT id FROM tasks WHERE identity = ?", (body["identity"],))
    if id_ is None:
        return interchange.store_exported(database, writer, body)[1] != "forgotten"
    names = [name for name in interchange.FIELDS if name not in LOCAL_TASK_FIELDS]
    interchange.replace_fields(database, id_, body, names)
    database.run("DELETE FROM task_links WHERE task_id = ?", (id_,))
    for link in body["links"]:
        writer.link(id_, link["kind"], link["target"], link["name"], by_hand=bool(link["by_hand"]))
    outcomes.mark_of_tasks(database, [id_])
    unite_task_parts(database, writer, body)
    return True


def unite_task_parts(database: Database, writer: TaskWriter, body: Body) -> None:
    """Add comments, attachments, states and conversations that a stored task lacks, but no forgotten ones.

    Call it inside the caller's transaction.
    """
    id_, name = database.value("SELECT id FROM tasks WHERE identity = ?", (body["identity"],)), body["identity"]
    tombstones = Tombstones(database)
    for one in body["comments"]:
        if not tombstones.has("comment", (name, one["identity"]), one["content"]):
            comment = Comment(one["content"], one["author"], one["created_at"])
            writer.add_comment(id_, (one["identity"], comment), by_hand=bool(one["by_hand"]))
    for one in body["attachments"]:
        if not tombstones.has("attachment", (name, one["sha256"]), one["content"]):
            writer.add_attachment(id_, Attachment(**one))
    writer.add_states(
        id_, [TaskState(one["status"], one["status_raw"], one["at"]) for one in body["states"] if one["at"]]
    )
    for one in body["conversations"]:
        writer.add_conversation(id_, one["conversation_id"])
    writer.texts.refresh(id_)


# Forgettings


def forgettings(database: Database) -> dict[str, ForgettingRow]:
    """Return what was forgotten, by an identity that all machines give it."""
    return {forgetting_identity(row[0]): row for row in load_tombstones(database)}


def forgetting_identities(database: Database) -> set[str]:
    """Return the identity of each run of `forget`, without its tombstones."""
    return {forgetting_identity(row) for row in database.run(f"SELECT {FORGETTING_COLUMNS} FROM forgettings")}


def forgetting_identity(row: Sequence[Any]) -> str:
    """Return what recognises one run of `forget`: its key, time and criteria."""
    fields = dict(zip(FORGETTING_COLUMNS.split(", "), row, strict=True))
    return digest_of([fields["at"], fields["selector"], bytes(fields["key"]).hex(), fields["before"]]).hex()


def lift(database: Database, identity: str) -> None:
    """Remove the tombstones of one run of `forget`, inside the caller's transaction."""
    for number, *row in database.run(f"SELECT id, {FORGETTING_COLUMNS} FROM forgettings"):
        if forgetting_identity(row) == identity:
            database.run("DELETE FROM forgettings WHERE id = ?", (number,))


# Judgements


def judgements(database: Database) -> dict[str, Body]:
    """Return every judgement, by the content_hash of the turn that asks."""
    rows = database.run(
        "SELECT p.content_hash, j.verdict, s.content_hash, j.shown_from, j.shown_length, j.judged_at, "
        "(SELECT json_group_array(t.content_hash) FROM judgement_reads r JOIN prompts t ON t.id = r.turn_id "
        "WHERE r.prompt_id = j.prompt_id), p.source_project FROM judgements j JOIN visible_prompts p ON p.id = j.prompt_id "
        "LEFT JOIN prompts s ON s.id = j.shown_in"
    )
    return {
        asking: {
            "verdict": verdict, "shown_in": shown_in, "shown_from": start, "shown_length": length, "judged_at": at,
            "read": sorted(orjson.loads(read)), "project": project,
        }
        for asking, verdict, shown_in, start, length, at, read, project in rows
    }  # fmt: skip


def latest_judgements(database: Database) -> dict[str, tuple[Body, bool]]:
    """Return the latest judgements of all machines, and whether each is applied here."""
    rows = database.run("SELECT identity, body, is_applied FROM sync_judgements")
    return {identity: (orjson.loads(body), bool(is_applied)) for identity, body, is_applied in rows}


def store_latest_judgement(database: Database, identity: str, body: Body, *, is_applied: bool) -> None:
    """Store the latest judgement of an episode."""
    database.run(
        "INSERT OR REPLACE INTO sync_judgements(identity, body, is_applied) VALUES (?, ?, ?)",
        (identity, orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode(), int(is_applied)),
    )


def apply_judgement(database: Database, identity: str, body: Body) -> bool:
    """Store a judgement of another machine, or its withdrawal; return False if its turns are not all here yet.

    Call it inside the caller's transaction.
    """
    read, shown_in = body.get("read", []), body.get("shown_in")
    named = {identity, *read, *([shown_in] if shown_in else [])}
    turns = {
        content_hash: (id_, length, Due(project, str(conversation), index))
        for content_hash, id_, length, project, conversation, index in database.run(
            "SELECT content_hash, id, length(content), source_project, conversation_id, turn_index FROM prompts "
            f"WHERE content_hash IN {LISTED}",
            (bind_list(sorted(named)),),
        )
    }
    if body["is_withdrawn"]:
        if identity in turns:
            outcomes.delete_judgement(database, turns[identity][0])
            outcomes.mark(database, turns[identity][2])
        return True
    if not named <= turns.keys() or (shown_in and body["shown_from"] + body["shown_length"] > turns[shown_in][1]):
        return False
    asking, shown = turns[identity][0], turns[shown_in][0] if shown_in else None
    judgement = Judgement(
        asking,
        body["verdict"],
        shown,
        body["shown_from"],
        body["shown_length"],
        frozenset(turns[one][0] for one in read),
    )
    outcomes.store_judgement(database, judgement)
    database.run("UPDATE judgements SET judged_at = ? WHERE prompt_id = ?", (body["judged_at"], asking))
    outcomes.mark(database, turns[identity][2])
    return True
