"""One record of a Claude Code transcript: what it says of itself, and whose words are in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pastchats_memory.formats.agents.claude_code.dialect import CONTINUED, parse_prompt
from pastchats_memory.formats.base.dialect import UserText
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tags import REMINDERS, without_spans
from pastchats_memory.text.clean import IMAGE

SPOKEN = ("user", "assistant")
SYNTHETIC = "<synthetic>"
NO_TEXT = "(no content)"
COMPACTION = "Your task is to create a detailed summary of the conversation"
ERRAND_LENGTH = 400
UNTYPED = ("isMeta", "turnCompanion", "isVisibleInTranscriptOnly")
"""Marks of a user record that the client wrote by itself: context, the text of a skill, what is only to be looked at."""
TAKEN_IN = (None, "absorbed_mid_turn")
"""Why a prompt left the queue when the agent took it in; the person may also have taken it back."""

Voice = Literal["prompt", "command", "summary", "subagent", "tool", "output", "nobody", "unreadable"]
"""Whose words a user record holds: a person's (two kinds), a summariser's, a parent agent's, a tool's, a shell's that the
person called, a program's not worth keeping, or none that can be read."""


@dataclass(frozen=True, slots=True)
class Said:
    """A user record, understood."""

    voice: Voice
    text: str = ""
    """The words to keep, or with `unreadable` the reason."""
    media: tuple[str, ...] = ()
    """Media types of the images and documents beside the words."""
    interrupted: bool = False
    """The record notes that the person stopped the turn before it."""
    failed: bool = False
    """The shell's output is an error."""

    @property
    def human(self) -> bool:
        """A person typed it."""
        return self.voice in ("prompt", "command")


def said(record: Json) -> Said:
    """What a record of type `user` says."""
    message = record.get("message")
    if not isinstance(message, dict):
        return Said("unreadable", "user record without a message object")
    content = message.get("content")
    if not isinstance(content, str | list | None):
        return Said("unreadable", f"content of a message is a {type(content).__name__}")
    return _voice(record, texts_of(content), content)


def _voice(record: Json, texts: list[str], content: object) -> Said:
    """Whose words they are, by the first rule that fits."""
    parts, text = [parse_prompt(text) for text in texts], "\n\n".join(texts)
    interrupted = any(part.is_interruption for part in parts)
    if "tool_result" in block_types(content):
        return Said("tool", interrupted=interrupted)
    if record.get("isCompactSummary") is True or text.startswith(CONTINUED):
        return Said("summary", text)
    if record.get("isSidechain") is True:
        return Said("subagent", without_spans(text, REMINDERS).strip(), media_of(content), interrupted)
    if any(record.get(mark) is True for mark in UNTYPED) or record.get("promptSource") == "system":
        return Said("nobody", interrupted=interrupted)
    if not from_human(record.get("origin")):
        return Said("nobody", interrupted=interrupted)
    return _typed(parts, media_of(content))


def from_human(origin: object) -> bool:
    """Whether a record's origin, if it names one, is a person."""
    kind = mapping_of(origin).get("kind")
    return kind is None or kind == "human"


def _typed(parts: list[UserText], media: tuple[str, ...]) -> Said:
    interrupted = any(part.is_interruption for part in parts)
    words = "\n\n".join(part.text for part in parts if part.text)
    if words:
        voice: Voice = "command" if any(part.is_command for part in parts) else "prompt"
        return Said(voice, words, media, interrupted)
    printed = "\n".join(part.bash_output for part in parts if part.bash_output)
    if printed:
        return Said("output", printed, failed=any(part.bash_failed for part in parts))
    return Said("prompt", IMAGE, media) if media else Said("nobody", interrupted=interrupted)


def typed_meanwhile(record: Json) -> Said:
    """What a person typed while the agent worked, as a record of another type than `user` has it; nobody's words for all others.

    Until attachments of queued prompts came in, the queue's own record was all that was left of one that the agent took in.
    """
    if record.get("type") == "queue-operation":
        taken = record.get("operation") == "remove" and record.get("reason") in TAKEN_IN
        return _typed([parse_prompt(text) for text in texts_of(record.get("content")) if taken], ())
    return _queued(mapping_of(record.get("attachment")))


def _queued(attachment: Json) -> Said:
    origin, prompt = attachment.get("origin"), attachment.get("prompt")
    human = from_human(origin) if mapping_of(origin) else attachment.get("commandMode") == "prompt"
    if attachment.get("type") != "queued_command" or not human:
        return Said("nobody")
    return _typed([parse_prompt(text) for text in texts_of(prompt)], media_of(prompt))


def texts_of(content: object) -> list[str]:
    """The visible text blocks of a message's content, a string being one."""
    if isinstance(content, str):
        return [content]
    blocks = (mapping_of(block) for block in list_of(content))
    return [text for block in blocks if block.get("type") == "text" and (text := text_of(block.get("text")))]


def block_types(content: object) -> set[str]:
    """Types of the blocks in a message's content."""
    return {text_of(mapping_of(block).get("type")) for block in list_of(content)}


def media_of(content: object) -> tuple[str, ...]:
    """Media types of its images and documents, `image` or `document` where they are not told."""
    blocks = (mapping_of(block) for block in list_of(content))
    return tuple(
        text_of(mapping_of(block.get("source")).get("media_type")) or text_of(block.get("type"))
        for block in blocks
        if block.get("type") in ("image", "document")
    )


def is_synthetic(record: Json) -> bool:
    """Whether an assistant record is the client speaking in the model's place: an API error, or no response asked for."""
    return record.get("isApiErrorMessage") is True or mapping_of(record.get("message")).get("model") == SYNTHETIC


def conversation_of(record: Json, session: str | None, agent: str | None) -> str | None:
    """The conversation a record belongs to: its session, or `<session>/<agent>` for a subagent's.

    Args:
        record: of any type.
        session: the file's own, for records that name none.
        agent: the one after which the file is called, for sidechain records that name none.

    """
    own = text_of(record.get("sessionId")) or session
    if record.get("isSidechain") is not True:
        return own
    name = text_of(record.get("agentId")) or agent
    return f"{own}/{name}" if own and name else own


def is_streamed(record: Json) -> bool:
    """Whether `claude --output-format stream-json` printed the record, which names its session and its subagents otherwise."""
    return "session_id" in record and ("parent_tool_use_id" in record or record.get("subtype") == "init")


def as_kept(value: object) -> object:
    """A record as a transcript has it, for one that was printed; anything else as it is."""
    record = mapping_of(value)
    if not is_streamed(record):
        return value
    agent = text_of(record.get("parent_tool_use_id"))
    return record | {"sessionId": record["session_id"], "isSidechain": bool(agent), "agentId": agent}


def is_errand(told: Said, conversation: str | None) -> bool:
    """Whether a subagent's prompt is one that the client writes for itself: warming up, or summarising for compaction."""
    text = told.text.strip()
    own = text == "Warmup" or COMPACTION in text[:ERRAND_LENGTH] or "/acompact" in (conversation or "")
    return told.voice == "subagent" and own and "/" in (conversation or "")


def parent_of(record: Json) -> str:
    """The uuid of the record before it, across a compaction too; `""` at a root."""
    return text_of(record.get("parentUuid")) or text_of(record.get("logicalParentUuid"))
