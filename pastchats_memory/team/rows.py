"""Turn stored turns and episodes into rows of the team, and rows of others into turns.

A row says what was said, when, in which project, and how it ended. It names no path, host, branch, model, command or id of
the author's computer.

A row of another member is as hostile as any transcript: everything in it is checked before it is used.
"""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import orjson

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.fields import OUTCOMES
from pastchats_memory.model.ids import TEAM, TEAM_DIGITS
from pastchats_memory.redact import redact, redact_json
from pastchats_memory.store.sync import digest_of
from pastchats_memory.store.team import Member, SharedEpisode, TurnVersion
from pastchats_memory.team.server import KEY_CHARS, NAME_CHARS, TEXT_BYTES, Row, digest_name
from pastchats_memory.text.display import one_line
from pastchats_memory.text.encoding import MAX_DEPTH, is_shallow
from pastchats_memory.text.wire import JUDGEMENT, Body, find_wrong_field, is_hex
from pastchats_memory.text.wire import TURN as WIRE_TURN

TURN, EPISODE = "turn", "episode"
SHARED_METADATA = ("format", "branch", "kind", "heading")
"""Keys of metadata that are shared."""
SHOWN_DIGITS = 12
"""Of a conversation, where people see it."""
CUT = "\n[… cut: the rest is in the author's memory]"
AUTHOR_CHARS = 80
_MILLISECONDS = 1000


class Shared(NamedTuple):
    """What all rows of one push have in common."""

    member: Member
    author: str
    model: str
    """Key of the model of the vectors."""


def make_model_key(session: ModelSession) -> str:
    """Return the key of the session's model and version. Raises ModelUnavailable."""
    return digest_name(f"{session.name}\0{session.version}")


def make_row_id(member: Member, kind: str, content_hash: str) -> str:
    """Return the id of a row.

    A content_hash would confirm a guess of a deleted text. So a key that never leaves this memory hides it.
    """
    return hmac.new(member.key, f"{kind}\0{content_hash}".encode(), hashlib.sha256).hexdigest()


def shorten_id(row: str) -> str:
    """Return the id of a row as people see it."""
    return TEAM + row[:TEAM_DIGITS]


def compute_version(digest: bytes, shared: Shared, rules: str) -> str:
    """Return what changes whenever a row has to be written again."""
    return digest_of([digest.hex(), shared.author, shared.model, rules]).hex()


def to_milliseconds(timestamp: str | None) -> int:
    """Return a stored time as a number; 0 for none."""
    return 0 if timestamp is None else int(datetime.fromisoformat(timestamp).timestamp() * _MILLISECONDS)


def cut_text(text: str, most: int = TEXT_BYTES) -> str:
    """Return a text of at most so many UTF-8 bytes, cut visibly."""
    encoded = text.encode()
    if len(encoded) <= most:
        return text
    return encoded[: most - len(CUT.encode())].decode(errors="ignore") + CUT


def redact_body(body: Body) -> Body:
    """Return a turn redacted once more, by the rules of this release, and cut to what a server stores.

    A text that has changed loses its vector, which is a function of the text.
    """
    content = cut_text(redact(body["content"]).text)
    names = {name: redact(body[name]).text for name in ("role", "source_project") if body[name]}
    changed = {
        "content": content,
        "metadata": redact_json({key: body["metadata"][key] for key in SHARED_METADATA if key in body["metadata"]}),
    }
    vector = body["vector"] if content == body["content"] else None
    return {**body, **names, **changed, "vector": vector}


def build_turn_row(shared: Shared, body: Body, version: TurnVersion, digest: str) -> Row:
    """Return the row of a redacted turn with a vector."""
    more = {
        "conversation_id": _name_conversation(shared.member, body["conversation_id"]),
        "turn_index": body["turn_index"],
        "timestamp": body["timestamp"],
        "metadata": body["metadata"],
    }
    return {
        **_build_common_fields(shared, body["source_project"], digest),
        "id": make_row_id(shared.member, TURN, version.content_hash),
        "kind": TURN,
        "role": cut_text(body["role"], NAME_CHARS),
        "outcome": version.outcome,
        "at": to_milliseconds(body["timestamp"]),
        "body": more,
        "text": body["content"],
        "dense": orjson.loads(body["vector"]),
    }


def build_episode_row(
    shared: Shared, project: str, episode: SharedEpisode, judgement: Body | None, vector: Sequence[int], digest: str
) -> Row:
    """Return the row of an episode: its question and last answer, its outcome, and the judgement if there is one."""
    text = redact(f"{episode.question}\n\n{episode.answer}".strip()).text
    return {
        **_build_common_fields(shared, redact(project).text, digest),
        "id": make_row_id(shared.member, EPISODE, episode.content_hash),
        "kind": EPISODE,
        "role": "user",
        "outcome": episode.outcome,
        "at": to_milliseconds(episode.timestamp),
        "body": {
            "turn": make_row_id(shared.member, TURN, episode.content_hash),
            "conversation_id": _name_conversation(shared.member, episode.conversation_id),
            "judgement": judgement and _name_judged(shared.member, judgement),
        },
        "text": cut_text(text),
        "dense": list(vector),
    }


def _build_common_fields(shared: Shared, project: str, digest: str) -> Row:
    return {
        "member": shared.member.id,
        "author": cut_text(shared.author, NAME_CHARS),
        "project": cut_text(project, NAME_CHARS),
        "model": shared.model,
        "digest": digest,
    }


def _name_conversation(member: Member, conversation: str | None) -> str | None:
    return conversation and make_row_id(member, "conversation", conversation)


def _name_judged(member: Member, judgement: Body) -> Body:
    """Return a judgement with the ids of rows in place of content_hashes."""
    shown = judgement["shown_in"]
    return {
        "verdict": judgement["verdict"],
        "shown_in": shown and make_row_id(member, TURN, shown),
        "shown_from": judgement["shown_from"],
        "shown_length": judgement["shown_length"],
        "judged_at": judgement["judged_at"],
        "read": sorted(make_row_id(member, TURN, one) for one in judgement["read"]),
    }


# Rows of others


class Received(NamedTuple):
    """A checked row of another member."""

    id: str
    kind: str
    author: str
    member: str
    project: str
    role: str
    outcome: str
    path: str
    digest: str
    text: str
    vector: list[float]
    model: str
    body: Body
    score: float = 0.0
    lexical_rank: int | None = None
    semantic_rank: int | None = None


def read_row(row: Row) -> Received | None:
    """Return a row whose fields have the right types, or None."""
    body = row.get("body")
    texts = [row.get(name) for name in ("author", "member", "project", "role", "text", "model", "kind")]
    is_proper = (
        is_hex(row.get("id"))
        and is_hex(row.get("digest"), 2 * KEY_CHARS)
        and all(isinstance(text, str) for text in texts)
        and row["kind"] in (TURN, EPISODE)
        and row.get("outcome") in OUTCOMES
        and isinstance(body, dict)
        and is_shallow(body, MAX_DEPTH)
    )
    if not is_proper or not isinstance(body, dict):
        return None
    author = one_line(row["author"]).strip()[:AUTHOR_CHARS] or "unnamed"
    conversation = body.get("conversation_id")
    place = [row["project"], *([conversation[:SHOWN_DIGITS]] if isinstance(conversation, str) else [])]
    path = one_line(TEAM + ":".join(place))  # made here: a path of the author's would name a file of the reader's
    vector = [float(one) for one in row["dense"]]
    names = (row["project"], row["role"], row["outcome"], path, row["digest"], row["text"])
    ranked = {name: row[name] for name in ("score", "lexical_rank", "semantic_rank") if name in row}
    return Received(row["id"], row["kind"], author, row["member"], *names, vector, row["model"], body, **ranked)


def build_body(row: Received) -> Body | None:
    """Return a turn of another member as `export` writes it, with its vector; None if a field is wrong."""
    body: Body = {
        "role": row.role,
        "content": row.text,
        "source_path": row.path,
        "source_project": row.project,
        "conversation_id": row.body.get("conversation_id"),
        "turn_index": row.body.get("turn_index"),
        "timestamp": row.body.get("timestamp"),
        "content_hash": row.id,
        "echo_hash": None,
        "metadata": row.body.get("metadata"),
        "places": [],
        "folder": None,
        "is_private": False,
        "vector": orjson.dumps([int(one) if one.is_integer() else one for one in row.vector]).decode(),
    }
    return body if find_wrong_field(body, WIRE_TURN) is None else None


def build_judgement(row: Received) -> Body | None:
    """Return the judgement of an episode as `sync` applies it; a withdrawal if there is none, and None if it is malformed."""
    judgement = row.body.get("judgement")
    if judgement is None:
        return {"is_withdrawn": True}
    is_proper = isinstance(judgement, dict) and find_wrong_field(judgement, JUDGEMENT) is None
    return {**judgement, "is_withdrawn": False} if is_proper else None
