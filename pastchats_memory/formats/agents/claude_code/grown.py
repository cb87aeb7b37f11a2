"""What a grown Claude Code transcript needs of its earlier lines, as small JSON.

Only recent records are remembered. A line that refers further back (a late result, a rewritten prompt, a new title, a copy
of the history) changes earlier turns, so the whole file is read again.
"""

from collections import deque
from collections.abc import Iterable

from pastchats_memory.formats.agents.claude_code.records import parent_uuid, parse_attachment, parse_user_record
from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume, digest
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of
from pastchats_memory.text.timestamps import iso_utc

RECENT_WORDS = 64
"""How many typed prompts are remembered."""


class Tail:
    """The last records of a transcript."""

    def __init__(self, state: Json | None = None) -> None:
        """Start empty, or with the JSON of the shorter file."""
        snapshot = state or {}
        self.places: deque[list[object]] = deque(map(list_of, list_of(snapshot.get("places"))), RECENT)
        """Of each record its uuid, the one above it, and what it is: `human`, `message`, `aside` or `link`."""
        self.messages: deque[object] = deque(list_of(snapshot.get("messages")), RECENT)
        """Conversation and id of the answers."""
        self.words: deque[object] = deque(list_of(snapshot.get("words")), RECENT_WORDS)
        """Of prompts, typed or queued, what `digest` gives."""
        self.last_human = text_of(snapshot.get("last_human"))
        """When the last of them was typed."""

    def snapshot_json(self, abandoned: set[int]) -> Json:
        """Return the records as JSON, with those that were abandoned."""
        lost = [place[0] for place in self.places if hash(place[0]) in abandoned]
        lists = {"places": list(self.places), "messages": list(self.messages), "words": list(self.words), "lost": lost}
        return lists | {"last_human": self.last_human}


def check_appended_records(records: Iterable[Json], tail: Json, pending: set[str]) -> None:
    """Raise CannotResume unless records refer to those in `tail` (JSON of a `Tail`) or to `pending` answers' ids."""
    abandoned = set(list_of(tail.get("lost")))
    known = {list_of(place)[0] for place in list_of(tail.get("places"))}
    answered = {text_of(list_of(message)[1]) for message in list_of(tail.get("messages"))} - pending
    words, last_human = set(list_of(tail.get("words"))), text_of(tail.get("last_human"))
    for record in records:
        uuid, above = text_of(record.get("uuid")), parent_uuid(record)
        if uuid in known or (above and (above not in known or above in abandoned)):
            raise CannotResume(f"{uuid or above} belongs to lines long before")
        if uuid:
            known.add(uuid)
        if record.get("type") == "assistant" and text_of(mapping_of(record.get("message")).get("id")) in answered:
            raise CannotResume("an answer that was told grows")
        utterance = parse_user_record(record) if record.get("type") == "user" else parse_attachment(record)
        is_earlier = (iso_utc(record.get("timestamp")) or "") <= last_human
        if utterance.is_human and (is_earlier or digest(utterance.text) in words):
            raise CannotResume("a prompt that was told before")
