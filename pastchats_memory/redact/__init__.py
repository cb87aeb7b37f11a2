"""Replace the secrets in a text by `[redacted:kind]` before it reaches the disk, so that the sentence still reads.

The rules load with the first text, so importing this package is cheap.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from pastchats_memory.model import Attachment, Task, TaskState

if TYPE_CHECKING:
    from pastchats_memory.redact.marks import Redaction

_LONG_WORD = re.compile(r"[A-Za-z0-9]{13}")
"""Longer than the last part of a UUID, which ends the names of most transcripts: most paths have none."""


def redact(text: str) -> "Redaction":
    """Replace every secret in a text by its kind.

    >>> redact("export DB_PASSWORD=hunter2").text
    'export DB_PASSWORD=[redacted:password]'

    Redacting the result again changes nothing.
    """
    return _load_marker()(text)


@lru_cache(maxsize=16)  # a reader hashes the same text several times
def redact_by_rules(text: str) -> str:
    """Return a text without the secrets that it shows by itself, to be hashed: no copy of the hash lets one be guessed.

    It is the same in every memory, unlike what `redact` returns: other texts have no part in it.
    """
    from pastchats_memory.redact.known_secrets import using

    with using(None):
        return redact(text).text


@cache
def _load_marker() -> "Callable[[str], Redaction]":
    from pastchats_memory.redact.marks import mark_secrets  # it loads the rules

    return mark_secrets


def redact_json(value: Any) -> Any:
    """Redact every text in a JSON value. The value of a key like `api_key` is judged by that key."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, Mapping):
        return {_redact_key(str(key)): _redact_behind(str(key), redact_json(inner)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(inner) for inner in value]
    return value


@lru_cache(maxsize=256)
def _redact_key(key: str) -> str:
    """Redact a key, which many values share."""
    return redact(key).text


def redact_path(path: str) -> str:
    """Replace the tokens in a path by their shape alone: a path has no names before its secrets."""
    if not _LONG_WORD.search(path):
        return path
    from pastchats_memory.redact.marks import mark_tokens  # it loads the rules

    return mark_tokens(path)


def redact_split(before: str, after: str) -> tuple[str, str] | None:
    """Replace a secret that begins at the end of one text and ends at the start of the next one.

    Returns both texts, or None if no secret is split between them.
    """
    from pastchats_memory.redact.marks import mark_split  # it loads the rules

    return mark_split(before, after)


def redact_task(task: Task) -> Task:
    """Redact every text of a task and its parts; ids and links change alike, so that they still match."""
    return task._replace(
        native_id=_text(task.native_id),
        conversation_id=None if task.conversation_id is None else _text(task.conversation_id),
        cwd=None if task.cwd is None else redact_path(task.cwd),
        title=_text(task.title),
        description=_text(task.description),
        status_raw=_text(task.status_raw),
        tags=tuple(map(_text, task.tags)),
        links=tuple(link._replace(kind=_text(link.kind), target=_text(link.target)) for link in task.links),
        states=tuple(TaskState(state.status, _text(state.raw), state.at) for state in task.states),
        comments=tuple(
            comment._replace(content=_text(comment.content), author=_text(comment.author)) for comment in task.comments
        ),
        attachments=tuple(map(redact_attachment, task.attachments)),
        metadata=redact_json(task.metadata),
    )


def redact_attachment(attachment: Attachment) -> Attachment:
    """Redact name and text of an attachment; its digest is then that of the redacted text."""
    content = None if attachment.content is None else _text(attachment.content)
    sha256 = attachment.sha256
    if content is not None and content != attachment.content:
        from hashlib import sha256 as hashed  # it brings OpenSSL, which a hook has no use for

        sha256 = hashed(redact_by_rules(attachment.content or "").encode()).hexdigest()
    return attachment._replace(name=_text(attachment.name), content=content, sha256=sha256)


def _text(text: str) -> str:
    return redact(text).text


def _redact_behind(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    label = f'"{key}": "'
    whole = redact(f'{label}{value}"').text
    return whole[len(label) : -1] if whole.startswith(label) else value
