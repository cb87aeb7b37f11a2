"""Take what another machine sent into the memory, so that all machines end with the same one in whatever order they read.

Of two versions of a turn the longer text stays, then the greater one by its fields. Of two versions of a task the later
change stays, and its comments, attachments and states are united. Of two judgements the later one stays, then the one of
the greater machine. What was forgotten anywhere is forgotten here.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, cast

import orjson

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.ingest.turn_rows import build_exported_row
from pastchats_memory.model import Origin, Prompt
from pastchats_memory.redact import redact_json
from pastchats_memory.store import sources, sync, tombstone_transfer, turns, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.interchange import export_task
from pastchats_memory.store.tasks import TaskWriter
from pastchats_memory.store.vector_columns import length
from pastchats_memory.sync.folder import Json, Segment, UnusableFile
from pastchats_memory.text import wire
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.hashes import text_hash

FORGETTING_TYPES: tuple[type | UnionType, ...] = (str, str, str, int, int, int, int, str | None)
"""Of the columns of a forgetting; the key is in hexadecimal."""
MACHINE_CHARS = 16
KEY_CHARS = 64
_ORDERED_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\+{0,1000}")
"""A later judgement of the same second has a plus more."""


Records = dict[str, list[Json]]
"""The checked records of a file, by kind."""


def check_records(segment: Segment, label: str) -> Records:
    """Return the records, each with the writer's name here before its paths, none if it is this computer.

    Raises UnusableFile.
    """
    by_kind: Records = {kind: [] for kind in sync.KINDS}
    for record in segment.records:
        kind = str(record.get("kind"))
        if kind not in CHECKS:
            raise UnusableFile("has a record of an unknown kind")
        if not _has_identity(record) or not CHECKS[kind](record):
            raise UnusableFile(f"has a malformed {kind}")
        if kind in ("turn", "task"):
            _rename_source(record["body"], segment.header["host"], label)
        by_kind[kind].append(record)
    return by_kind


def _rename_source(body: Json, host: str, label: str) -> None:
    path = body["source_path"].removeprefix(f"{host}:")
    if path != body["source_path"] and Path(path).is_absolute():
        path = f"{label}:{path}" if label else path
        body["source_path"] = path
        if "places" in body:
            body["places"] = [[path, *place[1:]] for place in body["places"]]


def _has_identity(record: Json) -> bool:
    identity, digest = record.get("identity"), record.get("digest")
    return isinstance(identity, str) and isinstance(digest, str) and wire.is_hex(digest, 2 * sync.DIGEST_BYTES)


def _is_turn(record: Json) -> bool:
    body = record.get("body")
    return (
        isinstance(body, dict)
        and wire.find_wrong_field(body, wire.TURN) is None
        and record["identity"] == body["content_hash"]
        and wire.or_nothing(wire.is_vector)(body.get("vector"))
    )


def _is_task(record: Json) -> bool:
    body, found = record.get("body"), record.get("vectors")
    return (
        isinstance(body, dict)
        and wire.find_wrong_task_field(body) is None
        and record["identity"] == body["identity"]
        and isinstance(found, dict)
        and all(wire.is_hex(name) and wire.or_nothing(wire.is_vector)(vector) for name, vector in found.items())
    )


def _is_judgement(record: Json) -> bool:
    body = record.get("body")
    if not wire.is_hex(record["identity"]) or not isinstance(body, dict):
        return False
    checks = WITHDRAWAL if body.get("is_withdrawn") is True else {**WITHDRAWAL, **wire.JUDGEMENT}
    return body.keys() == checks.keys() and wire.find_wrong_field(body, checks) is None


WITHDRAWAL: wire.Checks = {
    "at": lambda value: isinstance(value, str) and _ORDERED_TIME.fullmatch(value) is not None,
    "machine": lambda value: wire.is_hex(value, MACHINE_CHARS),
    "is_withdrawn": lambda value: isinstance(value, bool),
    "project": wire.is_text,
}
"""Fields of a withdrawn judgement; another one has those of JUDGEMENT as well."""


def _is_forgetting(record: Json) -> bool:
    row, hashes = record.get("row"), record.get("hashes")
    return (
        isinstance(row, list)
        and len(row) == len(FORGETTING_TYPES)
        and all(isinstance(value, type_) for value, type_ in zip(row, FORGETTING_TYPES, strict=True))
        and all(0 <= value <= wire.MAX_NUMBER for value in row[3:7])
        and wire.is_time(row[0])
        and _is_selector(row[1])
        and wire.is_hex(row[2], KEY_CHARS)
        and (row[7] is None or wire.is_time(row[7]))
        and isinstance(hashes, list)
        and all(
            isinstance(one, list) and len(one) == 2 and wire.is_hex(one[0], 32) and isinstance(one[1], int | None)  # noqa: PLR2004 - a pair
            for one in hashes
        )
        and record["identity"] == sync.forgetting_identity(parse_forgetting(record)[0])
    )


def _is_selector(text: str) -> bool:
    """Return whether a text is the JSON object of the criteria of a `forget`: a text each, a list of ids, or nothing."""
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(body, dict) and all(
        value is None
        or isinstance(value, str)
        or (isinstance(value, list) and all(isinstance(one, str) for one in value))
        for value in body.values()
    )


CHECKS: Mapping[str, Callable[[Json], bool]] = {
    "turn": _is_turn,
    "growth": lambda record: wire.is_hex(record["identity"]) and wire.is_hex(record.get("into")),
    "task": _is_task,
    "judgement": _is_judgement,
    "forgetting": _is_forgetting,
    "lifting": lambda record: wire.is_hex(record["identity"], 2 * sync.DIGEST_BYTES),
}
"""Check of a record with an identity and a digest, by its kind."""


def parse_forgetting(record: Json) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Return the rows of a forgetting's record."""
    at, selector, key, *rest = record["row"]
    hashes = [(bytes.fromhex(hash_), length) for hash_, length in record["hashes"]]
    return (at, selector, bytes.fromhex(key), *rest), hashes


def build_forgetting_fields(row: tuple[tuple[Any, ...], list[tuple[Any, ...]]]) -> Json:
    """Return the record of a forgetting, with its key: it must only stand in an encrypted or private file."""
    (at, selector, key, *rest), hashes = row
    return {
        "row": [at, selector, bytes(key).hex(), *rest],
        "hashes": [[bytes(hash_).hex(), length] for hash_, length in hashes],
    }


def take_forgettings(database: Database, records: Sequence[Json], lifted: Iterable[str]) -> int:
    """Forget what another machine has forgotten, but for what was lifted; return the number of deleted rows."""
    left_out = set(lifted)
    rows = [parse_forgetting(record) for record in records if record["identity"] not in left_out]
    return tombstone_transfer.apply_tombstones(database, rows)


def take_turns(database: Database, session: ModelSession, records: Sequence[Json], *, has_same_model: bool) -> int:
    """Store the turns that are new, or of a greater version than the one here; return their number.

    Call it inside the caller's transaction.
    """
    dim = length(database)
    prompts = {prompt.content_hash: prompt for prompt in map(_build_prompt, records)}
    stored = sync.stored_turns(database, list(prompts))
    new = [prompt for hash_, prompt in prompts.items() if hash_ not in stored]
    newer = [
        (stored[hash_][0], prompt)
        for hash_, prompt in prompts.items()
        if hash_ in stored and _weigh_turn(sync.fields_of_turn(prompt)) > _weigh_turn(stored[hash_][1])
    ]
    wanted = [*new, *(prompt for _, prompt in newer)]
    sent = {
        text_hash(body["content"]): body["vector"]
        for body in (record["body"] for record in records)
        if has_same_model and _is_of_length(body.get("vector"), dim)
    }
    ready = turns.known_vectors(database, [prompt.text_hash for prompt in wanted], session.name)
    ready |= {prompt.text_hash: sent[prompt.text_hash] for prompt in wanted if prompt.text_hash in sent}
    missing = {prompt.text_hash: prompt.turn.content for prompt in wanted if prompt.text_hash not in ready}
    ready |= dict(zip(missing, vectors.encode_or_defer(session, list(missing.values())), strict=True))
    for id_, prompt in newer:
        turns.overwrite(database, id_, prompt, session.name, ready[prompt.text_hash])
    added = 0
    for path, some in group_by_key((prompt.source_path, prompt) for prompt in new).items():
        source_id = sources.name_source(database, path)
        added += turns.store(database, some, ready, session.name, source_id).added
    return added + len(newer)


def _is_of_length(vector: str | None, dim: int) -> bool:
    """Return whether a vector has this many whole numbers as they are stored, and one that is not zero."""
    if vector is None or vector.count(",") + 1 != dim:
        return False
    numbers = orjson.loads(vector)
    return all(type(one) is int and abs(one) <= vectors.MAX_NUMBER for one in numbers) and any(numbers)


def _build_prompt(record: Json) -> Prompt:
    """Return the row of a record, redacted by the rules of this release."""
    body = record["body"]
    line = body["places"][0][1] if body["places"] else 0
    turn = wire.parse_turn(body, line)
    prompt = build_exported_row(turn, cast("Origin", turn.origin), None)
    end_line = body["places"][0][2] if body["places"] else None
    return prompt._replace(turn=prompt.turn._replace(origin=None, cwd=None, line=line, end_line=end_line))


def _weigh_turn(fields: Sequence[Any]) -> tuple[int, str, bytes]:
    """Return by what the versions of a turn are ordered, the same on every machine."""
    content = str(fields[sync.TURN_FIELDS.index("content")])
    *rest, metadata = fields
    return len(content), content, orjson.dumps([*rest, orjson.loads(metadata or "{}")], option=orjson.OPT_SORT_KEYS)


def take_tasks(database: Database, session: ModelSession, records: Sequence[Json], *, has_same_model: bool) -> int:
    """Store the tasks that are new or were changed later than here, and unite the others' parts; return their number.

    Call it inside the caller's transaction.
    """
    ready: dict[bytes, str] = {}
    if has_same_model:
        dim = length(database)
        sent = [pair for one in records for pair in one["vectors"].items()]
        ready = {bytes.fromhex(name): vector for name, vector in sent if _is_of_length(vector, dim)}
    writer, stored = TaskWriter(database, session, ready), 0
    for record in records:
        body: wire.Body = redact_json(record["body"])
        here = export_task(database, body["identity"])
        if here is not None and sync.task_digest(here) == sync.task_digest(body):
            continue
        if here is None or _weigh_task(body) > _weigh_task(here):
            stored += sync.replace_task(database, writer, body)
        else:
            sync.unite_task_parts(database, writer, body)
    return stored


def _weigh_task(body: wire.Body) -> tuple[str, bytes]:
    return body["updated_at"] or "", orjson.dumps(sync.task_fields(body), option=orjson.OPT_SORT_KEYS)


def weigh_judgement(body: wire.Body) -> tuple[str, str, bytes]:
    """Return by what judgements of an episode are ordered: time, then machine."""
    return body["at"], body["machine"], orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


def take_judgements(database: Database, records: Sequence[Json]) -> None:
    """Remember the judgements that are later than those known."""
    known = sync.latest_judgements(database)
    for record in records:
        identity, body = record["identity"], record["body"]
        if identity not in known or weigh_judgement(body) > weigh_judgement(known[identity][0]):
            sync.store_latest_judgement(database, identity, body, is_applied=False)
            known[identity] = (body, False)


def apply_judgements(database: Database) -> int:
    """Apply the judgements whose turns are here by now; return their number."""
    applied: Counter[bool] = Counter()
    with database.transaction():
        for identity, (body, is_applied) in sync.latest_judgements(database).items():
            if not is_applied:
                done = sync.apply_judgement(database, identity, body)
                applied[done] += 1
                if done:
                    sync.store_latest_judgement(database, identity, body, is_applied=True)
    return applied[True]
