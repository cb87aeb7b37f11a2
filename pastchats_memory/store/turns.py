"""Store and read turns: rows of `prompts` with their vectors and the places where they occur."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import inf
from typing import NamedTuple

import orjson

from pastchats_memory.model import Filters, Item, Metadata, Place, Prompt
from pastchats_memory.store import sources
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.live_events import LIVE
from pastchats_memory.store.outcomes import OPENING, Ending
from pastchats_memory.store.tombstones import Tombstones, is_copied
from pastchats_memory.store.vector_columns import stored_vector
from pastchats_memory.text.groups import group_by_key

LIVE_FIDELITY = -1
"""Fidelity of a live turn: whatever file has the turn replaces it."""
CHUNK = 64
"""Turns that are loaded together."""
FIRST_ROWS, FIRST_PROMPTS = 40, 10
"""Rows and prompts at the beginning of a conversation that may name it."""
MAX_DISTANCE = timedelta(minutes=1)
"""Between the times of a turn and of its copy without ids."""

ITEM_COLUMNS = (
    "p.id, p.source_path, p.source_project, p.conversation_id, p.turn_index, p.role, p.content, p.timestamp, "
    "p.metadata_json"
)


class WriteResult(NamedTuple):
    """Ids and counts of a stored batch."""

    ids: tuple[int, ...]
    """In the order of the turns that are stored."""
    added: int
    """New rows."""
    updated: int
    """Rows with a new text."""
    forgotten: int
    """Turns that were left out, because they were forgotten."""


class _Row(NamedTuple):
    """Fields of a stored row that decide whether a turn changes it."""

    id: int
    source_path: str
    text_hash: bytes
    length: int
    """Characters of its content."""
    fields: tuple[object, ...]
    """As `_fields` returns them."""
    owner_mtime_ns: int
    """Of the file that the row is filed under."""


def known_vectors(database: Database, text_hashes: Iterable[bytes], model: str) -> dict[bytes, str]:
    """Return the JSON vectors, by text_hash, of texts that a turn or a task has under this model."""
    return database.mapping(
        "SELECT t.text_hash, e.vector_json FROM task_texts t JOIN task_embeddings e ON e.text_id = t.id "
        "WHERE e.model = ?1 AND t.text_hash IN (SELECT unhex(value) FROM json_each(?2)) "
        "UNION ALL SELECT p.text_hash, e.vector_json FROM prompts p JOIN prompt_embeddings e ON e.prompt_id = p.id "
        "WHERE e.model = ?1 AND p.text_hash IN (SELECT unhex(value) FROM json_each(?2))",
        (model, bind_list(text_hash.hex() for text_hash in text_hashes)),
    )


def are_unchanged(database: Database, prompts: Sequence[Prompt]) -> list[bool]:
    """Return for each turn whether it is stored with exactly this text."""
    rows = _rows(database, [prompt.content_hash for prompt in prompts])
    return [
        prompt.content_hash in rows and rows[prompt.content_hash].text_hash == prompt.text_hash for prompt in prompts
    ]


def find_forgotten(database: Database, prompts: Sequence[Prompt]) -> frozenset[str]:
    """Return the content_hashes of the turns that are not stored because they were forgotten."""
    tombstones = Tombstones(database)
    if not tombstones:
        return frozenset()
    rows = _rows(database, [prompt.content_hash for prompt in prompts])
    return tombstones.forgotten_hashes([prompt for prompt in prompts if prompt.content_hash not in rows])


def store(
    database: Database,
    prompts: Sequence[Prompt],
    encoded: Mapping[bytes, str],
    model: str,
    source_id: int,
    copies: Mapping[str, int] | None = None,
) -> WriteResult:
    """Store turns of one source with vectors and full text, but no forgotten ones, inside the caller's transaction.

    Call `vectors.catch_up` afterwards, once a transaction rather than once a source.

    Args:
        database: open for writing.
        prompts: the turns, no content_hash twice.
        encoded: JSON vectors by text_hash, of every text that was not stored unchanged when they were computed; some may be
            pending.
        model: of the vectors.
        source_id: of the file that the turns were read from.
        copies: fidelity of each format that repeats transcripts without their ids, by name. The turn of the higher
            fidelity is kept. Files of other formats are transcripts. Live turns need no entry.
    """
    fidelities = {**(copies or {}), LIVE: LIVE_FIDELITY}
    forgotten = find_forgotten(database, prompts)
    prompts = [prompt for prompt in prompts if prompt.content_hash not in forgotten]
    rows = _rows(database, [prompt.content_hash for prompt in prompts])
    rows |= _find_copied(database, [prompt for prompt in prompts if prompt.content_hash not in rows], rows)
    rows |= _find_grown(database, [prompt for prompt in prompts if prompt.content_hash not in rows], rows, source_id)
    rows |= _find_repeated(
        database, [prompt for prompt in prompts if prompt.content_hash not in rows], rows, fidelities
    )
    rows |= _find_outgrown(database, [prompt for prompt in prompts if prompt.content_hash not in rows])
    path, mtime_ns = database.run("SELECT path, mtime_ns FROM sources WHERE id = ?", (source_id,))[0]
    new = [_fields(prompt) for prompt in prompts if prompt.content_hash not in rows]
    insert = f"INSERT INTO prompts({_FIELD_COLUMNS})"
    inserted = dict(database.insert_rows(insert, new, "RETURNING content_hash, id"))
    changed = dict(inserted)
    for prompt in prompts:
        row = rows.get(prompt.content_hash)
        if row is None or not _replaces(prompt, row, None if prompt.source_path != path else mtime_ns, fidelities):
            continue
        if row.text_hash != prompt.text_hash and prompt.text_hash not in encoded:
            continue  # another process has since read more of it than we have
        if row.fields != _fields(prompt):
            _note_growth(database, row, prompt)
            _update(database, row.id, prompt)
        if row.text_hash != prompt.text_hash:
            changed[prompt.content_hash] = row.id
    texts = {prompt.content_hash: prompt.text_hash for prompt in prompts}
    set_vectors(database, model, {id_: encoded[texts[content_hash]] for content_hash, id_ in changed.items()})
    stored = inserted | {content_hash: row.id for content_hash, row in rows.items()}
    ids = [stored[prompt.content_hash] for prompt in prompts]
    sources.remember_folders(database, sources.folders_of(prompts))
    _store_occurrences(database, source_id, list(zip(ids, prompts, strict=True)))
    return WriteResult(tuple(ids), len(inserted), len(changed) - len(inserted), len(forgotten))


def _replaces(prompt: Prompt, row: _Row, mtime_ns: int | None, fidelities: Mapping[str, int]) -> bool:
    """Return whether a turn that is stored already is stored anew as it was read now.

    The file that the row is filed under may change it. Another file may if the row came from a copy, if the file is older
    (a resumed session copies its predecessor's turns, and few say so), or if it has more of an answer that was first read
    half-written; an export (`mtime_ns` is None) only then. A turn of higher fidelity replaces one of lower, never the
    other way.
    """
    new, stored = _fidelity(prompt.metadata, fidelities), _fidelity(_metadata(row), fidelities)
    if new != stored:
        return new > stored
    if mtime_ns is None:
        return row.text_hash != prompt.text_hash and len(prompt.turn.content) > row.length
    if row.source_path == prompt.source_path:
        return True
    if row.text_hash != prompt.text_hash:
        return len(prompt.turn.content) > row.length
    was_copied = is_copied(_metadata(row))  # the other session may still grow
    return mtime_ns < row.owner_mtime_ns if was_copied == is_copied(prompt.metadata) else was_copied


def _store_occurrences(database: Database, source_id: int, stored: Sequence[tuple[int, Prompt]]) -> None:
    """Store where rows occur in the file that was read.

    An export also names further places, and private projects. A file that nobody has read yet counts as unread.
    """
    database.run_many(
        "INSERT OR REPLACE INTO sightings(prompt_id, source_id, line, end_line) VALUES (?, ?, ?, ?)",
        [(id_, source_id, prompt.turn.line, prompt.turn.end_line) for id_, prompt in stored],
    )
    exported = [(id_, prompt, prompt.turn.origin) for id_, prompt in stored if prompt.turn.origin]
    places = [(id_, place) for id_, _, origin in exported for place in origin.places]
    database.run_many(
        "INSERT OR IGNORE INTO sources(path, size, mtime_ns, recipe) VALUES (?, -1, 0, '')",
        [(path,) for path in {place.path for _, place in places}],
    )
    database.run_many(
        "INSERT OR IGNORE INTO sightings(prompt_id, source_id, line, end_line) "
        "SELECT ?1, id, ?3, ?4 FROM sources WHERE path = ?2",
        [(id_, place.path, place.line, place.end_line) for id_, place in places],
    )
    sources.keep_private(database, {prompt.project for _, prompt, origin in exported if origin.is_private})


def items(database: Database, ids: Sequence[int]) -> list[Item]:
    """Return the stored turns with these ids, in the order given."""
    found = _items(database, f"p.id IN {LISTED}", (bind_list(ids),))
    by_id = {item.id: item for item in found}
    return [by_id[id_] for id_ in ids if id_ in by_id]


def conversation_around(database: Database, item: Item, turns: int) -> list[Item]:
    """Return the item with up to `turns` turns on each side in its conversation; a note alone."""
    if item.conversation_id is None:
        return [item]
    return in_span(database, (item.project, item.conversation_id), item.turn_index - turns, item.turn_index + turns)


def episode_turns(database: Database, item: Item, ending: Ending, reach: int) -> list[Item]:
    """Return the turns of the item's episode, in order.

    Of a long episode only those within `reach` turns of its beginning, its end or the item.
    """
    return _items(
        database,
        "p.conversation_id = ? AND p.source_project = ? AND p.turn_index BETWEEN ? AND ? "
        "AND (p.turn_index < ? OR p.turn_index > ? OR p.turn_index BETWEEN ? AND ?)",
        (
            *(item.conversation_id, item.project, ending.first_index, ending.last_index),
            *(ending.first_index + reach, ending.last_index - reach, item.turn_index - reach, item.turn_index + reach),
        ),
    )


def in_span(database: Database, conversation: tuple[str, str], first_index: int, last_index: int) -> list[Item]:
    """Return the turns of a conversation, given by project and id, between two indexes, in order."""
    return _items(
        database,
        "p.source_project = ? AND p.conversation_id = ? AND p.turn_index BETWEEN ? AND ?",
        (*conversation, first_index, last_index),
    )


def find_extent(database: Database, conversation_id: str, project: str | None = None) -> tuple[str, int] | None:
    """Return the project and the last index of a conversation, None without a visible turn.

    Without a project, the one with the newest turn counts.
    """
    found = database.run(
        "SELECT source_project, max(turn_index) FROM visible_prompts WHERE conversation_id = ? "
        "AND ifnull(source_project = ?, 1) "
        "GROUP BY source_project ORDER BY max(ifnull(timestamp, '')) DESC, max(id) DESC LIMIT 1",
        (conversation_id, project),
    )
    return (found[0][0], found[0][1]) if found else None


class SubagentTurns(NamedTuple):
    """The conversation of a subagent."""

    project: str
    conversation_id: str
    turns: int
    started: str | None


def list_parts(database: Database, conversation_id: str) -> list[SubagentTurns]:
    """Return the conversations whose ids begin with an id and a slash: those of its subagents."""
    found = database.run(
        "SELECT source_project, conversation_id, count(*), min(timestamp) FROM visible_prompts "
        "WHERE conversation_id > ?1 || '/' AND conversation_id < ?1 || '0' "
        "GROUP BY conversation_id, source_project ORDER BY min(id)",
        (conversation_id,),
    )
    return [SubagentTurns(*row) for row in found]


def of_conversation(database: Database, conversation_id: str) -> list[Item]:
    """Return all turns with a conversation's native id, in order; they may be of several projects."""
    return _items(database, "p.conversation_id = ?", (conversation_id,))


def ends_of_conversation(database: Database, conversation_id: str, most: int) -> list[Item]:
    """Return the first and the last turns of a conversation, at most so many of each, in order."""
    end = "SELECT id FROM (SELECT id FROM visible_prompts WHERE conversation_id = ?1 ORDER BY turn_index {0}, id {0} LIMIT ?2)"
    return _items(database, f"p.id IN ({end.format('ASC')} UNION {end.format('DESC')})", (conversation_id, most))


def find_newest_conversation(database: Database, project: str, not_conversation: str | None) -> str | None:
    """Return the conversation of a project in which the user wrote last, another than one; None if there is none."""
    found: str | None = database.value(
        "SELECT conversation_id FROM visible_prompts WHERE source_project = ?1 AND role = 'user' AND timestamp IS NOT NULL "
        "AND conversation_id IS NOT NULL AND conversation_id IS NOT ?2 ORDER BY timestamp DESC, id DESC LIMIT 1",
        (project, not_conversation),
    )
    return found


def with_changed_file(
    database: Database, names: Collection[str], project: str | None
) -> Iterator[tuple[Item, str | None]]:
    """Yield the turns whose tool calls mention a file by one of its names, and their folders, the newest first.

    Turns of a project, if one is given, whose list of changed files was cut are among them.
    """
    quoted = " OR ".join('"{}"'.format(name.replace('"', '""')) for name in names)
    rows = database.run(
        "SELECT p.id, p.folder FROM visible_prompts p WHERE p.id IN (SELECT rowid FROM tool_calls_fts WHERE tool_calls_fts MATCH ?1) "
        "OR (p.source_project = ?2 AND p.tool_calls LIKE '%…\"%') ORDER BY p.timestamp DESC, p.id DESC",
        (quoted, project),
    )
    for start in range(0, len(rows), CHUNK):
        folders = dict(rows[start : start + CHUNK])
        yield from ((item, folders[item.id]) for item in items(database, list(folders)))


def first_folder(database: Database, project: str, conversation_id: str) -> str | None:
    """Return the first recorded working directory of a conversation, or None."""
    folder: str | None = database.value(
        "SELECT folder FROM visible_prompts WHERE source_project = ? AND conversation_id = ? AND folder IS NOT NULL "
        "ORDER BY turn_index LIMIT 1",
        (project, conversation_id),
    )
    return folder


class Opening(NamedTuple):
    """The texts of a conversation that may name it, in order."""

    titles: tuple[str, ...]
    """The title that the agent or its user gave it, if any."""
    prompts: tuple[str, ...]
    """The first prompts of the user."""
    others: tuple[str, ...]
    """The first texts of others: the task of a subagent, answers, notes."""


def load_opening(database: Database, project: str, conversation_id: str) -> Opening:
    """Return the texts that may name a conversation, of each the beginning."""
    of_role = (
        f"SELECT substr(content, 1, {OPENING}) FROM visible_prompts "
        "WHERE source_project = ? AND conversation_id = ? AND {} ORDER BY turn_index LIMIT ?"
    )
    conversation = (project, conversation_id)
    titles = database.run(
        "SELECT title FROM (SELECT turn_index, iif(json_valid(metadata_json), metadata_json ->> '$.title', NULL) AS title "
        "FROM visible_prompts WHERE source_project = ? AND conversation_id = ? ORDER BY turn_index LIMIT ?) "
        "WHERE typeof(title) = 'text' ORDER BY turn_index DESC LIMIT 1",
        (*conversation, FIRST_ROWS),
    )
    prompts = database.run(of_role.format("role = 'user'"), (*conversation, FIRST_PROMPTS))
    others = database.run(of_role.format("role NOT IN ('user', 'tool')"), (*conversation, FIRST_PROMPTS))
    return Opening(*(tuple(str(row[0]) for row in rows) for rows in (titles, prompts, others)))


def list_recent(database: Database, filters: Filters, limit: int) -> list[Item]:
    """Return the newest prompt of each conversation of a project and a format, the newest first."""
    found = database.run(
        "SELECT id, max(timestamp) FROM visible_prompts WHERE role = 'user' AND conversation_id IS NOT NULL "
        "AND timestamp IS NOT NULL AND ifnull(source_project = ?1, ?1 IS NULL) "
        "AND ifnull(metadata_json ->> '$.format' = ?2, ?2 IS NULL) "
        "GROUP BY source_project, conversation_id ORDER BY 2 DESC LIMIT ?3",
        (filters.project, filters.format, limit),
    )
    return items(database, [id_ for id_, _ in found])


class ProjectTurns(NamedTuple):
    """How much of a project is stored."""

    project: str
    turns: int
    first: str | None
    """Times of the first and of the last turn that has one."""
    last: str | None


def list_projects(database: Database) -> list[ProjectTurns]:
    """Return all projects, the one with the newest turn first."""
    rows = database.run(
        "SELECT source_project, count(*), min(timestamp), max(timestamp) FROM visible_prompts "
        "GROUP BY source_project "
        "ORDER BY max(timestamp) DESC NULLS LAST, source_project"
    )
    return [ProjectTurns(*row) for row in rows]


def count(database: Database) -> int:
    """Return the number of turns and notes."""
    return database.number("SELECT count(*) FROM visible_prompts")


def count_turns(database: Database, conversation_id: str) -> int:
    """Return the number of turns of a conversation, in all projects."""
    return database.number("SELECT count(*) FROM visible_prompts WHERE conversation_id = ?", (conversation_id,))


def last_answer(database: Database, conversation_id: str, until: str | None) -> Item | None:
    """Return the assistant's last turn in a conversation, up to a time if it has one before."""
    for bound in (until, None) if until else (None,):
        found = database.run(
            "SELECT id FROM visible_prompts WHERE conversation_id = ?1 AND role = 'assistant' AND ifnull(timestamp <= ?2, ?2 IS NULL) "
            "ORDER BY turn_index DESC LIMIT 1",
            (conversation_id, bound),
        )
        if found:
            return items(database, [found[0][0]])[0]
    return None


def _items(database: Database, where: str, values: Sequence[object]) -> list[Item]:
    statement = f"SELECT {ITEM_COLUMNS} FROM visible_prompts p WHERE {where} ORDER BY p.turn_index, p.id"
    rows = database.run(statement, values)
    places: dict[int, list[Place]] = {row[0]: [] for row in rows}
    for id_, path, line, end_line in database.run(
        "SELECT g.prompt_id, s.path, g.line, g.end_line FROM sightings g JOIN sources s ON s.id = g.source_id "
        f"WHERE g.prompt_id IN {LISTED} ORDER BY g.prompt_id, s.mtime_ns, s.path",
        (bind_list(places),),
    ):
        places[id_].append(Place(path, line, end_line))
    return [
        Item(  # type: ignore[call-arg] # mypy cannot count a slice
            *row[:8], orjson.loads(row[8] or "{}"), tuple(sorted(places[row[0]], key=lambda of: of.path != row[1]))
        )
        for row in rows
    ]


def _fields(prompt: Prompt) -> tuple[object, ...]:
    turn = prompt.turn
    return (
        prompt.source_path,
        prompt.project,
        turn.conversation_id,
        prompt.turn_index,
        turn.role,
        turn.content,
        turn.timestamp,
        prompt.content_hash,
        orjson.dumps(dict(prompt.metadata)).decode(),
        prompt.text_hash,
        prompt.echo_hash,
        prompt.turn.cwd,
    )


_FIELD_COLUMNS = (
    "source_path, source_project, conversation_id, turn_index, role, content, timestamp, content_hash, metadata_json, "
    "text_hash, echo_hash, folder"
)


_PLACE = slice(2, 5)
"""Slice of the fields: conversation, index and role."""
_CONTENT = 5
_TIMESTAMP = 6
_HASH = 7
_METADATA = 8
_ECHO = 10


def _update(database: Database, id_: int, prompt: Prompt) -> None:
    database.run(
        f"UPDATE prompts SET ({_FIELD_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
        (*_fields(prompt), id_),
    )


def _note_growth(database: Database, row: _Row, prompt: Prompt) -> None:
    """Store that a turn is recognised by another hash from now on, since it has more of its text or of its conversation."""
    old = row.fields[_HASH]
    if old != prompt.content_hash and prompt.turn.content.startswith(str(row.fields[_CONTENT])):
        database.run("INSERT OR REPLACE INTO sync_growths(old, new) VALUES (?, ?)", (old, prompt.content_hash))
        database.run("DELETE FROM sync_growths WHERE old = ?", (prompt.content_hash,))


def overwrite(database: Database, id_: int, prompt: Prompt, model: str, encoded: str) -> None:
    """Give a turn the shared fields and the vector of a greater version of it; its file and place stay.

    Call it inside the caller's transaction.
    """
    path = database.value("SELECT source_path FROM prompts WHERE id = ?", (id_,))
    _update(database, id_, prompt._replace(source_path=path))
    set_vectors(database, model, {id_: encoded})


def set_vectors(database: Database, model: str, encoded: Mapping[int, str]) -> None:
    """Store the encoded vectors of turns by id, inside the caller's transaction."""
    rows = [(id_, *stored_vector(database, model, vector)) for id_, vector in encoded.items()]
    database.insert_rows("INSERT OR REPLACE INTO prompt_embeddings(prompt_id, model, dim, vector_json)", rows)


def _rows(database: Database, content_hashes: Sequence[str]) -> dict[str, _Row]:
    listed = (bind_list(content_hashes),)
    return dict(_stored(database, f"p.content_hash IN {LISTED}", listed))


def _find_copied(database: Database, new: Sequence[Prompt], same: Mapping[str, _Row]) -> dict[str, _Row]:
    """Return rows of the same role, text and time under another native id, by the new turn's content_hash."""
    wanted = {prompt.echo_hash: prompt.content_hash for prompt in new if prompt.echo_hash is not None}
    if not wanted:
        return {}
    found = _stored(database, f"p.echo_hash IN {LISTED}", (bind_list(wanted),))
    return {wanted[str(row.fields[_ECHO])]: row for content_hash, row in found if content_hash not in same}


def _find_grown(database: Database, new: Sequence[Prompt], same: Mapping[str, _Row], source_id: int) -> dict[str, _Row]:
    """Return rows that a new turn continues, by its content_hash: at its position in this file, and the beginning of its text.

    So the last, unfinished turn of a growing file is replaced if it has no id of its own. A conversation whose id was made
    of its first turns keeps its rows when it grows. A turn with an id is recognised by it. A row that is still in the file
    as it was (in `same`) is not continued, wherever it has moved to.
    """
    new = [prompt for prompt in new if prompt.turn.native_id is None]
    if not new:
        return {}
    found = _stored(
        database,
        f"p.id IN (SELECT prompt_id FROM sightings WHERE source_id = ?) AND p.turn_index IN {LISTED}",
        (source_id, bind_list(prompt.turn_index for prompt in new)),
    )
    lines = database.mapping("SELECT prompt_id, line FROM sightings WHERE source_id = ?", (source_id,))
    rows = [row for content_hash, row in found if content_hash not in same]
    by_turn = {row.fields[_PLACE]: row for row in rows}
    by_line = {(lines[row.id], *row.fields[_PLACE][1:]): row for row in rows}
    grown: dict[str, _Row] = {}
    used: set[int] = set()
    for prompt in new:
        place = _fields(prompt)[_PLACE]
        row = by_turn.get(place) or by_line.get((prompt.turn.line, *place[1:]))
        if row is None or row.id in used or not prompt.turn.content.startswith(str(row.fields[_CONTENT])):
            continue
        used.add(row.id)
        grown[prompt.content_hash] = row
    return grown


def _find_repeated(
    database: Database, new: Sequence[Prompt], same: Mapping[str, _Row], fidelities: Mapping[str, int]
) -> dict[str, _Row]:
    """Return rows that are the same turn in a file of another fidelity, by the new turn's content_hash.

    A copy has no id of the turn: role and text are equal, the times a minute apart at most, and so is the conversation
    if both name one.
    """
    timed = [prompt for prompt in new if prompt.turn.timestamp]
    times = sorted(str(prompt.turn.timestamp) for prompt in timed)
    if not times:
        return {}
    # "continue" stands in a thousand transcripts, in few of them within these minutes, and in few copies
    where = "p.text_hash IN (SELECT unhex(value) FROM json_each(?)) AND julianday(p.timestamp) BETWEEN julianday(?) - .001 AND julianday(?) + .001"
    values = [bind_list(prompt.text_hash.hex() for prompt in timed), times[0], times[-1]]
    copies = {str(name) if (name := prompt.metadata.get("format")) in fidelities else None for prompt in new}
    if copies == {None}:
        where += f" AND json_extract(p.metadata_json, '$.format') IN {LISTED}"
        values.append(bind_list(fidelities))
    elif len(copies) == 1:  # a format repeats no turn of its own, and a list of prompts may have thousands of one text
        where += " AND json_extract(p.metadata_json, '$.format') IS NOT ?"
        values.append(str(copies.pop()))
    by_text = group_by_key((row.text_hash, row) for _, row in _stored(database, where, values))
    used = {row.id for row in same.values()}
    found: dict[str, _Row] = {}
    for prompt in new:
        near = [
            row
            for row in by_text.get(prompt.text_hash, [])
            if row.id not in used and _is_repetition(prompt, row, fidelities)
        ]
        if near:
            row = min(near, key=lambda row: _distance(prompt, row))
            used.add(row.id)
            found[prompt.content_hash] = row
    return found


def _is_repetition(prompt: Prompt, row: _Row, fidelities: Mapping[str, int]) -> bool:
    conversation, _, role = row.fields[_PLACE]
    own = prompt.turn.conversation_id
    return (
        _fidelity(prompt.metadata, fidelities) != _fidelity(_metadata(row), fidelities)
        and role == prompt.turn.role
        and (own == conversation or own is None or conversation is None)
        and _distance(prompt, row) <= MAX_DISTANCE
    )


def _fidelity(metadata: Metadata, fidelities: Mapping[str, int]) -> float:
    """Return how close a turn's file is to the conversation; infinity for a transcript."""
    return fidelities.get(str(metadata.get("format")), inf)


def _find_outgrown(database: Database, new: Sequence[Prompt]) -> dict[str, _Row]:
    """Return rows at the place of an exported turn with more or less of its text, by the turn's content_hash.

    So an answer without an id of its own that was exported half-written is the same turn as the complete one.
    """
    found: dict[str, str] = {}
    for prompt in new:
        turn = prompt.turn
        if turn.origin is None:
            continue
        place = (turn.conversation_id, prompt.turn_index, prompt.source_path, turn.role)
        for content_hash, content in database.run(
            "SELECT content_hash, content FROM prompts "
            "WHERE conversation_id IS ? AND turn_index = ? AND source_path = ? AND role = ?",
            place,
        ):
            if content.startswith(turn.content) or turn.content.startswith(content):
                found[prompt.content_hash] = content_hash
    rows = _rows(database, list(found.values()))
    return {exported: rows[stored] for exported, stored in found.items()}


def _metadata(row: _Row) -> Metadata:
    found: Metadata = orjson.loads(str(row.fields[_METADATA]))
    return found


def _distance(prompt: Prompt, row: _Row) -> timedelta:
    mine, stored = prompt.turn.timestamp, row.fields[_TIMESTAMP]
    if mine is None or stored is None:
        return timedelta.max
    return abs(datetime.fromisoformat(mine) - datetime.fromisoformat(str(stored)))


def _stored(database: Database, where: str, values: Sequence[object]) -> list[tuple[str, _Row]]:
    found = database.run(
        f"SELECT p.content_hash, p.id, p.source_path, p.text_hash, length(p.content), s.mtime_ns, {_FIELD_COLUMNS} "
        f"FROM (SELECT * FROM prompts p WHERE {where}) p LEFT JOIN sources s ON s.path = p.source_path",
        values,
    )
    return [(row[0], _Row(row[1], row[2], row[3], row[4], row[6:], row[5] or 0)) for row in found]
