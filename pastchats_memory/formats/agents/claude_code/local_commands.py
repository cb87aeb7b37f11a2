"""Commands that the client answers itself, such as `/model`: nobody asks the agent anything by them.

The client writes a caveat above such a command, or above a notice instead of it, and its output below it. It writes the name first,
but the message of a command for the agent. Several words are a person's in any case, such as those of `/goal`.
"""

from pastchats_memory.formats.agents.claude_code import records
from pastchats_memory.formats.agents.claude_code.dialect import CAVEAT, OUTPUTS
from pastchats_memory.formats.base.session import text_blocks
from pastchats_memory.formats.base.values import Json, mapping_of, text_of

NAME_FIRST = "<command-name>"
CAVEATS = (CAVEAT, "<local-command-caveat>")
NAMELESS = "."
BEFORE = -1
"""The position of a record before the appended ones."""


class LocalCommands:
    """Find the records of such commands, once every record is added in file order."""

    def __init__(self) -> None:
        self._positions: set[int] = set()
        self.changes_earlier = False
        """Whether an appended record decides otherwise about an earlier command."""
        self._open: int | None = None
        """The position of a command, until the next record shows who answers it."""
        self._has_words = False
        """Whether it has a word, so that without an answer it is the person's."""
        self._caveat = ""
        """The uuid of the caveat directly above the next record, or NAMELESS."""

    def add(self, record: Json, utterance: records.RecordedPrompt, position: int) -> None:
        """Add the next user or assistant record of the file."""
        text = "\n".join(text_blocks(mapping_of(record.get("message")).get("content"))).lstrip()
        is_below = bool(self._caveat) and records.parent_uuid(record) == self._caveat.strip(NAMELESS)
        is_caveat = text.startswith(CAVEATS) and not utterance.is_human
        is_marked = record.get("isMeta") is True or record.get("turnCompanion") is True  # as what a command stands for
        is_expansion = is_marked and record.get("origin") is None and record.get("promptSource") is None
        self._caveat = (text_of(record.get("uuid")) or NAMELESS) if is_caveat else ""
        if record.get("type") == "assistant":
            self._answer(by_client=records.is_synthetic(record))
        elif text.startswith(OUTPUTS):
            self._answer(by_client=True)
        elif utterance.origin == "tool" or utterance.is_interruption or (is_expansion and not is_caveat):
            self._answer(by_client=False)
        else:
            self._answer(by_client=not self._has_words)  # nothing answered the one before
        is_typed = mapping_of(record.get("origin")).get("kind") == "human" or record.get("promptSource") is not None
        if not utterance.is_human or is_typed:
            return
        words = utterance.text.split()[1:] if text.startswith(NAME_FIRST) else []
        is_notice = is_below and not text.startswith("<")
        if is_notice or (text.startswith(NAME_FIRST) and len(words) < records.SEVERAL):
            self._open, self._has_words = position, bool(words)

    def is_local(self, position: int) -> bool:
        """Return whether a person asks the agent nothing in the user record at a position."""
        return position in self._positions or (position == self._open and not self._has_words)

    def snapshot(self) -> Json:
        """Return what a longer file needs, as JSON."""
        return {"is_open": self._open is not None, "has_words": self._has_words, "caveat": self._caveat}

    def restore(self, snapshot: Json) -> None:
        """Restore the snapshot of the shorter file."""
        self._open = BEFORE if snapshot.get("is_open") is True else None
        self._has_words, self._caveat = snapshot.get("has_words") is True, text_of(snapshot.get("caveat"))

    def _answer(self, *, by_client: bool) -> None:
        if self._open is None:
            return
        if by_client:
            self._positions.add(self._open)
        self.changes_earlier |= self._open == BEFORE and by_client is self._has_words
        self._open = None
