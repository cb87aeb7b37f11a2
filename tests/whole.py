"""Whether a database is whole, and what is in it whatever its rows are numbered."""

from __future__ import annotations

import numpy as np

from pastchats_memory.store import checks, vectors
from pastchats_memory.store.database import Database

_OF_TASK = "comment_id IS NULL AND attachment_id IS NULL AND aspect = ''"
IN_SQLITE_VEC = (
    ("vec_prompts", "prompt_id", "SELECT id, id FROM prompts"),
    ("vec_tasks", "task_id", f"SELECT id, task_id FROM task_texts WHERE {_OF_TASK}"),
    ("vec_task_parts", "text_id", f"SELECT id, id FROM task_texts WHERE NOT ({_OF_TASK})"),
)
"""A table of sqlite-vec, its key, and the ids of the rows that it holds with their keys."""

STATE = {
    "prompts": (
        "SELECT p.content_hash, p.source_path, p.source_project, p.conversation_id, p.turn_index, p.role, p.content, "
        "p.timestamp, p.metadata_json, p.text_hash, p.echo_hash, e.model, e.dim, e.vector_json, "
        "(SELECT group_concat(concat_ws(':', s.path, g.line, g.end_line, hex(g.passage)), ' ' ORDER BY s.path) "
        "FROM sightings g JOIN sources s ON s.id = g.source_id WHERE g.prompt_id = p.id) "
        "FROM prompts p JOIN prompt_embeddings e ON e.prompt_id = p.id"
    ),
    "sources": (
        "SELECT path, size, iif(path LIKE 'live:%', 0, mtime_ns), recipe, format, note, fingerprint IS NULL, project, problems, "
        "json_array(resume ->> 'offset', resume ->> 'line', resume -> 'places') "
        "FROM sources"
    ),
    "tasks": (
        "SELECT key, title, description, type, status, status_raw, priority, tags_json, project, source_path, source_line "
        "FROM tasks"
    ),
    "texts": (
        "SELECT t.key, x.aspect, x.chunk, x.content, replace(x.labels, t.native_id, ''), x.text_hash, e.model, e.vector_json "
        "FROM task_texts x JOIN tasks t ON t.id = x.task_id JOIN task_embeddings e ON e.text_id = x.id"
    ),
    "comments": "SELECT t.key, c.author, c.content, c.by_hand FROM task_comments c JOIN tasks t ON t.id = c.task_id",
    "states": "SELECT t.key, s.status, s.status_raw FROM task_states s JOIN tasks t ON t.id = s.task_id",
    "links": "SELECT t.key, l.kind, l.name FROM task_links l JOIN tasks t ON t.id = l.task_id",
    "events": "SELECT e.event, p.content_hash FROM live_events e JOIN prompts p ON p.id = e.prompt_id",
    "outcomes": (
        "SELECT source_project, conversation_id, first_index, last_index, verdict, confidence, signal, rules FROM outcomes"
    ),
    "forgotten": (
        "SELECT selector, turns, tasks, comments, attachments, "
        "(SELECT count(*) FROM forgotten t WHERE t.forgetting_id = f.id) FROM forgettings f"
    ),
    "replies": "SELECT p.content_hash, r.kind, r.probability FROM replies r JOIN prompts p ON p.id = r.prompt_id",
    "due": "SELECT source_project, conversation_id, from_index FROM outcomes_due",
    "folders": "SELECT folder, project, max(is_private, 0) FROM project_folders",  # -1: nobody has looked yet
    "model": "SELECT key, value FROM embedding_meta WHERE key LIKE '%model%' OR key = 'embedding_dim'",
    "next": "SELECT text_hash, vector_json FROM next_vectors",
}
"""What must be the same after a run that was killed and repeated as after one that never was."""


def state(database: Database) -> dict[str, list[tuple]]:
    """All that a person can notice, in an order of its own and without numbers of rows and times of writing."""
    return {name: sorted(database.run(statement), key=repr) for name, statement in STATE.items()}


def assert_whole(database: Database) -> None:
    """Integrity, foreign keys, full text; as many rows as embeddings as vectors, and the vectors those of the embeddings."""
    assert checks.damage(database) == []
    assert checks.without_embedding(database) == 0
    assert vectors.pending(database) == {"blocks": 0, "vec0": 0}
    embedded = _embedded(database)
    assert _in_blocks(database, embedded) == list(embedded)
    for table, key, rows in IN_SQLITE_VEC:
        if database.vec0_loaded and database.value("SELECT count(*) FROM sqlite_schema WHERE name = ?", (table,)):
            stored = dict(database.run(f"SELECT {key}, embedding FROM {table}"))
            assert stored == {key: embedded[id_].tobytes() for id_, key in database.run(rows)}


def _embedded(database: Database) -> dict[int, np.ndarray]:
    """By id, ascending, the vector of every turn and every text of a task."""
    ids = [
        id_ for (id_,) in database.run("SELECT id FROM prompts UNION ALL SELECT id FROM task_texts ORDER BY 1")
    ]  # ids of both kinds never meet
    found, rows = vectors.read_codes(database, ids)
    assert found == ids
    return dict(zip(found, rows, strict=True))


def _in_blocks(database: Database, embedded: dict[int, np.ndarray]) -> list[int]:
    """The ids in the exact engine's blocks, which hold the numbers of each vector and the scale that gives it length 1."""
    listed = []
    for raw, codes, scales in database.run("SELECT ids, codes, scales FROM vector_blocks ORDER BY block"):
        ids = np.frombuffer(raw, np.int64).tolist()
        listed += ids
        coded = np.frombuffer(codes, np.int8).reshape(len(ids), -1)
        scale = np.frombuffer(scales, np.float32)[:, None]
        assert (coded == np.array([embedded[id_] for id_ in ids])).all()
        assert np.allclose(np.linalg.norm(coded * scale, axis=1), 1)
    return listed
