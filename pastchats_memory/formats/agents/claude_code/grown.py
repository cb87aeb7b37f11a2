"""What a grown Claude Code transcript needs of its earlier lines, as small JSON.

Only recent records are remembered. A line that refers further back (a late result, a rewritten prompt, a new title, a copy
of the history) changes earlier turns, so the whole file is read again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

from pastchats_memory.formats.agents.claude_code.records import parent_uuid, parse_attachment, parse_user_record
from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume, digest
from pastchats_memory.formats.base.values import Json, list_of, text_of
from pastchats_memory.text.timestamps import iso_utc

RECENT_WORDS = 64
"""How many typed prompts are remembered."""
KINDS = ("human", "message", "aside", "link")


def key_of(name: str) -> int:
    """Return a number of 48 bits for a name, equal in every process; 0 for an empty one."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big") if name else 0


class Tail:
    """The last records of a transcript."""

    def __init__(self, state: Json | None = None) -> None:
        """Start empty, or with the JSON of the shorter file."""
        snapshot = state or {}
        self.places: deque[tuple[int, int, str]] = deque(_unpack(map(text_of, list_of(snapshot.get("places")))), RECENT)
        """Of each record the key of its uuid and of the one above it, and what it is, one of KINDS."""
        self.messages: deque[object] = deque(list_of(snapshot.get("messages")), RECENT)
        """Keys of the answers."""
        self.words: deque[object] = deque(list_of(snapshot.get("words")), RECENT_WORDS)
        """Of prompts, typed or queued, what `digest` gives."""
        self.last_human = text_of(snapshot.get("last_human"))
        """When the last of them was typed."""

    def snapshot_json(self, abandoned: set[int]) -> Json:
        """Return the records as JSON, with those that were abandoned."""
        lost = [key for key, _, _ in self.places if key in abandoned]
        return {
            "places": list(_pack(self.places)),
            "messages": list(self.messages),
            "words": list(self.words),
            "lost": lost,
            "last_human": self.last_human,
        }


def _pack(places: Iterable[tuple[int, int, str]]) -> Iterator[str]:
    """Yield each place in a few characters; the record above is named unless it is the one before."""
    before = 0
    for key, above, kind in places:
        yield f"{key:012x}{KINDS.index(kind)}" + ("" if above == before else f"{above:x}")
        before = key


def _unpack(packed: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    before = 0
    for place in packed:
        key = int(place[:12], 16)
        yield key, int(place[13:], 16) if place[13:] else before, KINDS[int(place[12])]
        before = key


def check_appended_records(
    records: Iterable[Json], tail: Tail, lost: set[object], pending: set[int], answer_of: Callable[[Json], int]
) -> None:
    """Raise CannotResume unless appended records refer to recent ones only.

    `lost` has the keys of abandoned records, `pending` those of answers that may still grow. `answer_of` returns the key
    of the answer that a record belongs to.
    """
    known = {key for key, _, _ in tail.places}
    answered, words, last_human = set(tail.messages) - pending, set(tail.words), tail.last_human
    for record in records:
        uuid, above = key_of(text_of(record.get("uuid"))), key_of(parent_uuid(record))
        if (uuid and uuid in known) or (above and (above not in known or above in lost)):
            raise CannotResume("a record belongs to lines long before")
        if uuid:
            known.add(uuid)
        if answer_of(record) in answered:
            raise CannotResume("an answer that was told grows")
        utterance = parse_user_record(record) if record.get("type") == "user" else parse_attachment(record)
        is_earlier = (iso_utc(record.get("timestamp")) or "") <= last_human
        if utterance.is_human and (is_earlier or digest(utterance.text) in words):
            raise CannotResume("a prompt that was told before")
