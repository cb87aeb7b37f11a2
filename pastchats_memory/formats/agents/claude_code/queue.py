"""The queue of prompts that a person types while the agent works.

One record adds a prompt, another takes it out. Older versions name the prompt only in the first, and write no other record of a
prompt that reaches the agent in the middle of its turn.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from pastchats_memory.formats.agents.claude_code import records
from pastchats_memory.formats.base.session import text_blocks
from pastchats_memory.formats.base.values import Json, mapping_of

NOWHERE = -1
"""The position of a record before the appended ones."""


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """The record that added a prompt, or that took it out with its text."""

    record: Json
    line: int

    @property
    def content(self) -> object:
        """Return the text, or its blocks."""
        return self.record.get("content")

    @property
    def utterance(self) -> records.RecordedPrompt:
        """Return the text with its origin: a person, or a program that uses the queue too."""
        return records.parse_queue_content(self.record)


class PromptQueue:
    """Pair the operations of the queue, once every record is added in file order."""

    def __init__(self) -> None:
        self.delivered: dict[int, QueuedPrompt] = {}
        """Prompts by the position of the record that passed them to the agent."""
        self.changes_earlier = False
        """Whether an appended record shows that an earlier one passed a prompt to the agent."""
        self._waiting: list[QueuedPrompt] = []
        self._earlier = 0
        """Prompts of the shorter file that wait: they have no row, so their text is kept nowhere."""
        self._dequeues: list[int] = []
        """Positions of records that took out a prompt whose user record is still to come."""

    def add(self, record: Json, position: int, line: int) -> list[QueuedPrompt]:
        """Add the next record of the file, and return the prompts that it shows to have reached the agent."""
        known = len(self.delivered)
        self._pair(record, position, line)
        return list(islice(reversed(self.delivered.values()), len(self.delivered) - known))

    def _pair(self, record: Json, position: int, line: int) -> None:
        content = mapping_of(record.get("message")).get("content")
        match record.get("type"):
            case "queue-operation":
                self._add_operation(record, position, line)
            case "user" if self._dequeues and "tool_result" not in records.block_types(content):
                self._dequeues.pop(0)
                self._take_equal(content) or self._take_oldest()
            case "assistant":
                for earlier in self._dequeues:
                    self._deliver(self._take_oldest(), earlier)
                self._dequeues.clear()

    def snapshot(self) -> Json:
        """Return what a longer file needs, as JSON."""
        return {"waiting": self._earlier + len(self._waiting), "dequeues": len(self._dequeues)}

    def restore(self, snapshot: Json) -> None:
        """Restore the snapshot of the shorter file."""
        self._earlier, dequeues = (int(str(snapshot.get(key) or 0)) for key in ("waiting", "dequeues"))
        self._dequeues = [NOWHERE] * dequeues

    def _add_operation(self, record: Json, position: int, line: int) -> None:
        content, is_delivered = record.get("content"), record.get("reason") in records.DELIVERED
        match record.get("operation"):
            case "enqueue" if text_blocks(content):
                self._waiting.append(QueuedPrompt(record, line))
            case "dequeue" if is_delivered:
                self._dequeues.append(position)
            case "remove":
                named = QueuedPrompt(record, line) if text_blocks(content) else None
                prompt = self._take_equal(content) or named or self._take_oldest()
                if is_delivered:
                    self._deliver(prompt, position)
            case "popAll":  # the person edits them again
                self._waiting.clear()
                self._earlier = 0

    def _take_equal(self, content: object) -> QueuedPrompt | None:
        return self._take(prompt for prompt in self._waiting if prompt.content == content)

    def _take_oldest(self) -> QueuedPrompt | None:
        """Take out the oldest prompt of a person, or else of a program."""
        return self._take(sorted(self._waiting, key=lambda prompt: not prompt.utterance.is_human))

    def _take(self, choices: Iterable[QueuedPrompt]) -> QueuedPrompt | None:
        self.changes_earlier |= self._earlier > 0  # which one it is stands in the earlier records alone
        found = next(iter(choices), None)
        if found is not None:
            self._waiting.remove(found)
        return found

    def _deliver(self, prompt: QueuedPrompt | None, position: int) -> None:
        if prompt is None or not prompt.utterance.is_human:
            return
        if position == NOWHERE:
            self.changes_earlier = True
        self.delivered[position] = prompt
