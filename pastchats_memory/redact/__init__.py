"""Replace the secrets in a text by `[redacted:kind]` before it reaches the disk, so that the sentence still reads.

The rules load at the first text, so importing this package is cheap.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pastchats_memory.model import Attachment, Task, TaskState

if TYPE_CHECKING:
    from pastchats_memory.redact.rules import Secret

LONGEST_PIECE = 300
"""Characters of a split secret that are read on either side of the split."""
_RUN_AT_START = re.compile(rf"[A-Za-z0-9_\-./+=~]{{1,{LONGEST_PIECE}}}")
_RUN_AT_END = re.compile(r"[A-Za-z0-9_\-./+=~]+\Z")
_LONG_WORD = re.compile(r"[A-Za-z0-9]{13}")
"""Longer than the last part of a UUID, which ends the names of most transcripts; most paths end here."""
_MARK = re.compile(r"\[redacted:[a-z0-9\-]+\]")
_LETTERS = re.compile(r"[^\W_]{4}")


class Redaction(NamedTuple):
    """A text without its secrets."""

    text: str
    kinds: Counter[str]
    """How many secrets of each kind were replaced."""


def redact(text: str) -> Redaction:
    """Replace every secret in a text by its kind.

    >>> redact("export DB_PASSWORD=hunter2").text
    'export DB_PASSWORD=[redacted:password]'

    Redacting the result again changes nothing. A secret that shows only when its neighbour is gone is replaced too.
    """
    from pastchats_memory.redact.engine import find_secrets  # it loads the rules

    kinds: Counter[str] = Counter()
    every = find_secrets(text)
    secrets = _merge_overlaps(_outside_marks(text, every)) if every else []
    while secrets:
        pieces: list[str] = []
        marks: list[tuple[int, int]] = []
        length = end = 0
        for secret in secrets:
            mark = f"[redacted:{secret.kind}]"
            pieces += (text[end : secret.start], mark)
            length += secret.start - end
            marks.append((length, length + len(mark)))
            length += len(mark)
            end = secret.end
            kinds[secret.kind] += 1
        text = "".join((*pieces, text[end:]))
        near = [
            secret._replace(start=secret.start + start, end=secret.end + start)
            for start, end in _lines_around(text, marks)
            for secret in find_secrets(text[start:end])
        ]
        secrets = _merge_overlaps(_outside_marks(text, near)) if near else []
    return Redaction(text, kinds)


def redact_json(value: Any) -> Any:
    """Redact every text in a JSON value; the value of a key like `api_key` is judged by that key."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, Mapping):
        return {redact(str(key)).text: _redact_behind(str(key), redact_json(inner)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(inner) for inner in value]
    return value


def redact_path(path: str) -> str:
    """Replace the tokens in a path, by their shape alone: a citation names the path and must stay short."""
    if not _LONG_WORD.search(path):
        return path
    from pastchats_memory.redact.engine import find_tokens  # it loads the rules

    pieces, end = [], 0
    for secret in _merge_overlaps(find_tokens(path)):
        pieces += [path[end : secret.start], f"[redacted:{secret.kind}]"]
        end = secret.end
    return "".join((*pieces, path[end:]))


def redact_split(before: str, after: str) -> tuple[str, str] | None:
    """Replace a secret that begins at the end of one text and ends at the start of the next one.

    Returns both texts, or None if no secret is split between them.
    """
    head, tail = _RUN_AT_START.match(after), _RUN_AT_END.search(before, max(0, len(before) - LONGEST_PIECE))
    if head is None or tail is None:
        return None
    from pastchats_memory.redact.engine import find_secrets  # it loads the rules
    from pastchats_memory.redact.rules import TOKEN_MARK

    split = len(tail[0])
    if not TOKEN_MARK.search(head[0]) and any(secret.end == split for secret in find_secrets(tail[0])):
        return None  # the secret ends with the first text, and the next one begins with a word
    for secret in _merge_overlaps(find_secrets(tail[0] + head[0])):
        if secret.start < split < secret.end:
            mark = f"[redacted:{secret.kind}]"
            return before[: tail.start() + secret.start] + mark, mark + after[secret.end - split :]
    return None


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
        attachments=tuple(map(_redact_attachment, task.attachments)),
        metadata=redact_json(task.metadata),
    )


def _redact_attachment(attachment: Attachment) -> Attachment:
    content = None if attachment.content is None else _text(attachment.content)
    return attachment._replace(name=_text(attachment.name), content=content)


def _text(text: str) -> str:
    return redact(text).text


def _redact_behind(key: str, value: Any) -> Any:
    """Redact a text as the value of a JSON key."""
    if not isinstance(value, str):
        return value
    label = f'"{key}": "'
    whole = redact(f'{label}{value}"').text
    return whole[len(label) : -1] if whole.startswith(label) else value


def _lines_around(text: str, marks: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Return where the lines with marks begin and end, touching lines as one."""
    joined: tuple[int, int] | None = None
    for start, end in marks:
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        last = len(text) if last < 0 else last
        if not _LETTERS.search(text, end, last):
            continue  # the text before a secret was searched together with it
        if joined is not None and first <= joined[1]:
            joined = joined[0], last
            continue
        if joined is not None:
            yield joined
        joined = first, last
    if joined is not None:
        yield joined


def _outside_marks(text: str, secrets: list[Secret]) -> list[Secret]:
    """Leave out what overlaps the mark of a replaced secret, so that redacting comes to an end."""
    if not secrets or "[redacted:" not in text:
        return secrets
    marks = [mark.span() for mark in _MARK.finditer(text)]
    outside = []
    for secret in secrets:
        nearest = bisect_left(marks, (secret.end, 0)) - 1  # the last mark that begins before the secret's end
        if nearest < 0 or marks[nearest][1] <= secret.start:
            outside.append(secret)
    return outside


def _merge_overlaps(secrets: Iterable[Secret]) -> list[Secret]:
    """Sort secrets by place and merge those that overlap, under the kind of the lowest rank."""
    merged: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            kind = last.kind if last.rank <= secret.rank else secret.kind
            merged[-1] = last._replace(end=max(last.end, secret.end), kind=kind, rank=min(last.rank, secret.rank))
        else:
            merged.append(secret)
    return merged
