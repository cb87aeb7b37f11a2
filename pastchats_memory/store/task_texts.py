"""The texts of tasks that are searched, each with its vector: made from the rows of a task whenever these change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from pastchats_memory.model import Task
from pastchats_memory.store.database import Database

CHUNK = 1500
"""Characters of an attachment that are one text."""
MOST_CHUNKS = 256
"""Of one attachment: the chunks of a longer one are longer, so that megabytes cost seconds and every word is found."""
Embed = Callable[[Sequence[str]], Iterable[str]]
"""JSON vectors of texts, in their order."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a task that is to be searched."""

    content: str
    comment_id: int | None = None
    attachment_id: int | None = None
    chunk: int = 0
    labels: str = ""
    title: str = ""
    """Of a task that has a description too: embedded by itself as well."""


def text_hash(content: str) -> bytes:
    """SHA-256 of a text, under which its vector is found again."""
    return hashlib.sha256(content.encode()).digest()


def task_text(title: str, description: str) -> str:
    """What of a task is embedded."""
    return f"{title}\n\n{description}".strip()


def texts_to_come(tasks: Iterable[Task]) -> Iterator[str]:
    """The texts that storing the tasks will ask vectors for, unless what is stored already makes them others."""
    for task in tasks:
        yield task_text(task.title, task.description)
        yield task.title
        yield from (comment.content for comment in task.comments)
        for attachment in task.attachments:
            yield from chunks(attachment.content or attachment.name)


def chunks(text: str) -> list[str]:
    """Pieces of about CHUNK characters at line ends where there are any, at most MOST_CHUNKS; none is empty."""
    size = max(CHUNK, -(-2 * len(text) // MOST_CHUNKS))  # a piece has at least half of it
    pieces, start = [], 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            end = text.rfind("\n", start + size // 2, end) + 1 or end
        pieces.append(text[start:end])
        start = end
    return [piece for piece in pieces if piece.strip()] or [text]


def known_vectors(database: Database, hashes: Iterable[bytes], model: str) -> dict[bytes, str]:
    """The JSON vectors of those texts that have one under this model, in a task or in a turn. Raises StoreFault.

    Those of titles alone are not looked for: a title is short.
    """
    listed = orjson.dumps([hash_.hex() for hash_ in hashes]).decode()
    return dict(
        database.run(
            "SELECT t.text_hash, e.vector_json FROM task_texts t JOIN task_embeddings e ON e.text_id = t.id "
            "WHERE e.model = ?1 AND t.text_hash IN (SELECT unhex(value) FROM json_each(?2)) "
            "UNION ALL SELECT p.text_hash, e.vector_json FROM prompts p JOIN prompt_embeddings e ON e.prompt_id = p.id "
            "WHERE e.model = ?1 AND p.text_hash IN (SELECT unhex(value) FROM json_each(?2))",
            (model, listed),
        )
    )


def encoded(database: Database, texts: Iterable[str], model: str, embed: Embed) -> dict[bytes, str]:
    """JSON vectors by text_hash, of unchanged texts from the database. Raises StoreFault, ModelUnavailable."""
    wanted = {text_hash(text): text for text in texts}
    known = known_vectors(database, wanted, model)
    missing = {hash_: text for hash_, text in wanted.items() if hash_ not in known}
    return known | dict(zip(missing, embed(list(missing.values())), strict=True))


class TaskTexts:
    """Keeps `task_texts` and their vectors at what the tasks say; inside the caller's transaction."""

    def __init__(self, database: Database, model: str, embed: Embed, ready: Mapping[bytes, str]) -> None:
        self._database = database
        self._model = model
        self._embed = embed
        self._ready = dict(ready)

    def refresh(self, id_: int) -> None:
        """Make the searched texts of a task, with their vectors, what its rows now say; none of a task that is gone."""
        wanted = {(text.comment_id, text.attachment_id, text.chunk): text for text in self._texts(id_)}
        stored = {
            tuple(row[:3]): row[3:]
            for row in self._database.run(
                "SELECT comment_id, attachment_id, chunk, id, text_hash, labels FROM task_texts WHERE task_id = ?",
                (id_,),
            )
        }
        gone = [(row[0],) for place, row in stored.items() if place not in wanted]
        self._database.run_many("DELETE FROM task_texts WHERE id = ?", gone)
        changed = {
            place: text
            for place, text in wanted.items()
            if place not in stored or tuple(stored[place][1:]) != (text_hash(text.content), text.labels)
        }
        needed = [needed for text in changed.values() for needed in (text.content, text.title) if needed]
        unknown = [needed for needed in needed if text_hash(needed) not in self._ready]
        self._ready |= encoded(self._database, unknown, self._model, self._embed)
        for place, text in changed.items():
            self._write(id_, text, None if place not in stored else stored[place][0])

    def _write(self, task_id: int, text: Text, text_id: int | None) -> None:
        hash_ = text_hash(text.content)
        place = (task_id, text.comment_id, text.attachment_id, text.chunk)
        if text_id is None:
            text_id = self._database.value(
                "INSERT INTO task_texts(task_id, comment_id, attachment_id, chunk, content, labels, text_hash) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
                (*place, text.content, text.labels, hash_),
            )
        else:
            self._database.run(
                "UPDATE task_texts SET content = ?, labels = ?, text_hash = ? WHERE id = ?",
                (text.content, text.labels, hash_, text_id),
            )
        vector = self._ready[hash_]
        title = self._ready[text_hash(text.title)] if text.title else None
        self._database.run(
            "INSERT OR REPLACE INTO task_embeddings(text_id, model, dim, vector_json, title_json) VALUES (?, ?, ?, ?, ?)",
            (text_id, self._model, vector.count(",") + 1, vector, title),
        )

    def _texts(self, id_: int) -> Iterator[Text]:
        for key, native_id, title, description, tags, project in self._database.run(
            "SELECT key, native_id, title, description, tags_json, project FROM tasks WHERE id = ?", (id_,)
        ):
            labels = " ".join(dict.fromkeys([key, native_id, project, *orjson.loads(tags)]))
            yield Text(task_text(title, description), labels=labels, title=title if description else "")
        for comment_id, content in self._database.run(
            "SELECT id, content FROM task_comments WHERE task_id = ? ORDER BY id", (id_,)
        ):
            yield Text(content, comment_id=comment_id)
        for attachment_id, name, content in self._database.run(
            "SELECT id, name, content FROM task_attachments WHERE task_id = ? ORDER BY id", (id_,)
        ):
            for number, piece in enumerate(chunks(content or name)):
                yield Text(piece, attachment_id=attachment_id, chunk=number, labels=name)
