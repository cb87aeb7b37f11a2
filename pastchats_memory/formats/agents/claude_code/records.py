"""One record of a Claude Code transcript: its facts, and the origin of its text."""

import re
from dataclasses import dataclass
from html import unescape
from typing import Literal

from pastchats_memory.formats.agents.claude_code.dialect import parse_prompt
from pastchats_memory.formats.base.dialect import UserText
from pastchats_memory.formats.base.session import text_blocks, texts_of
from pastchats_memory.formats.base.tags import REMINDERS, is_tagged, opening_of, span, split_tags, without_spans
from pastchats_memory.formats.base.tools import cut_middle
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of
from pastchats_memory.text.clean import IMAGE

ROLES = ("user", "assistant")
SYNTHETIC = "<synthetic>"
NO_TEXT = "(no content)"
COMPACTION = "Your task is to create a detailed summary of the conversation"
INTERNAL_PROMPT_LENGTH = 400
CLIENT_MARKS = ("isMeta", "turnCompanion", "isVisibleInTranscriptOnly", "isSynthetic")
"""Marks of a user record of the client: context, a skill's text, text that is only displayed or made up."""
PROGRAM_MARKS = {"promptSource": "system", "turnOrigin": "scheduled", "queuePriority": "later"}
"""Marks of a prompt that a program sent: the client, a schedule, a loop."""
CHANNEL = "channel"
"""The origin of a message from outside, which a person or a program sent."""
OTHER_AGENTS = ("peer", "coordinator")
"""The origins of a message that another session or agent sent."""
PLAN = "planContent"
"""The key of a plan that the client repeats as the first prompt of a fresh session."""
UNCLASSIFIED = "unclassified"
"""An origin that says nothing."""
PROMPT = "prompt"
"""The mode of a queued text that is no command of the client and no notice of a task."""
SEVERAL = 2
"""How many words a command of the client has at most: its name, and a setting."""
DELIVERED = (None, "absorbed_mid_turn")
"""Reasons why a prompt left the queue for the agent; the person may also have removed it."""
NOTIFICATION, FORK = "<task-notification>", "<fork-boilerplate>"
AGENT = 'Agent "'
"""The beginning of a summary of an agent's task. Its result is the last answer in the agent's own transcript."""
FAILED = ("failed", "killed", "stopped")
DIRECTIVE = "Your directive:"
_TEAMMATE, _SESSION = opening_of(["teammate-message"]), opening_of(["cross-session-message"])

Origin = Literal[
    "prompt", "command", "plan", "summary", "subagent", "fork", "tool", "output", "task", "nobody", "unreadable"
]
"""The origin of a user record's text: a person (two kinds), an approved plan, a summary, another agent or session (two kinds),
a tool, a shell command of the person, a task in the background, the client (`nobody`), or unreadable."""


@dataclass(frozen=True, slots=True)
class RecordedPrompt:
    """The text of a user record, and its origin."""

    origin: Origin
    text: str = ""
    """The text, or with `unreadable` the reason."""
    media: tuple[str, ...] = ()
    """Media types of the images and documents."""
    is_interruption: bool = False
    """Whether the record says that the person stopped the turn before it."""
    failed: bool = False
    """Whether the shell's output or the task's result is an error."""
    author: str = ""
    """The author of a message that came through a channel."""
    channel: str = ""
    """That channel."""

    @property
    def is_human(self) -> bool:
        """Return whether a person typed the text."""
        return self.origin in ("prompt", "command")


def parse_user_record(record: Json) -> RecordedPrompt:
    """Parse a record of type `user`."""
    message = record.get("message")
    if not isinstance(message, dict):
        return RecordedPrompt("unreadable", "user record without a message object")
    content = message.get("content")
    if not isinstance(content, str | list | None):
        return RecordedPrompt("unreadable", f"content of a message is a {type(content).__name__}")
    return _classify(record, text_blocks(content), content)


def _classify(record: Json, texts: list[str], content: object) -> RecordedPrompt:
    parts, text = _parse_texts(record, content), "\n\n".join(texts)
    is_interruption = any(part.is_interruption for part in parts)
    if record.get("isSidechain") is True and (directive := _parse_directive(text)):
        return RecordedPrompt("fork", directive)
    if "tool_result" in block_types(content):
        return RecordedPrompt("tool", is_interruption=is_interruption)
    if record.get("isCompactSummary") is True or any(part.is_summary for part in parts):
        return RecordedPrompt("summary", text)
    if record.get("isSidechain") is True:
        return RecordedPrompt("subagent", without_spans(text, REMINDERS).strip(), media_of(content), is_interruption)
    if made := _parse_plan_or_result(record, parts, text):
        return made
    from_client = RecordedPrompt("nobody", is_interruption=is_interruption)
    return from_client if _is_from_client(record, parts) else _merge_prompts(parts, media_of(content))


def parse_team_record(record: Json) -> str:
    """Return what other agents of a team ask in a user record, else ""."""
    content = mapping_of(record.get("message")).get("content")
    return _parse_messages(texts_of(content), _TEAMMATE) if record.get("type") == "user" else ""


def _parse_plan_or_result(record: Json, parts: list[UserText], text: str) -> RecordedPrompt | None:
    """Return the plan that the client repeats, another session's message, or a task's result without a person's words."""
    if plan := text_of(record.get(PLAN)).strip():
        return RecordedPrompt("plan", plan)
    kind = mapping_of(record.get("origin")).get("kind")
    if sent := "" if kind == "human" else _parse_messages(text, _SESSION) or text * (kind in OTHER_AGENTS):
        return RecordedPrompt("subagent", sent)
    result = None if any(part.text for part in parts) else _parse_task_result(text)
    return RecordedPrompt("task", result[0], failed=result[1]) if result else None


def _parse_task_result(text: str) -> tuple[str, bool] | None:
    """Return the result in a notification, and whether its task failed; None without one, and for an agent's task."""
    summary, result = (unescape(span(text, tag)).strip() for tag in ("summary", "result"))
    if not text.startswith(NOTIFICATION) or not result or summary.startswith(AGENT):
        return None
    return f"{summary}\n{cut_middle(result)}".strip(), span(text, "status").strip() in FAILED


def _parse_messages(text: str, opening: re.Pattern[str]) -> str:
    """Return what other agents of a team, or other sessions, ask in a text that consists of their tags, else ""."""
    return "\n\n".join(split_tags(text, opening)[0]).strip() if is_tagged(text, opening) else ""


def _parse_directive(text: str) -> str:
    """Return what a fork of an agent is asked to do, below the client's instructions; "" for other texts."""
    _, is_fork, rest = text.partition(FORK)
    inside, closed, below = rest.partition(FORK.replace("<", "</"))
    if not is_fork:
        return ""
    return (span(text, "fork-directive") or (below if closed else inside)).strip().removeprefix(DIRECTIVE).strip()


def _parse_texts(record: Json, content: object) -> list[UserText]:
    """Parse each text block. The record may say that a person typed it."""
    kind, source = mapping_of(record.get("origin")).get("kind"), record.get("promptSource")
    is_typed = kind == "human" or (kind in (None, UNCLASSIFIED) and source not in (None, PROGRAM_MARKS["promptSource"]))
    return [parse_prompt(text, is_typed=is_typed) for text in text_blocks(content)]


def _is_from_client(record: Json, parts: list[UserText]) -> bool:
    """Return whether a record has the mark of a client (which also tags messages of a channel) or another program."""
    kind = mapping_of(record.get("origin")).get("kind")
    if any(part.channel for part in parts) or kind == CHANNEL:
        return False
    is_marked = any(record.get(mark) is True for mark in CLIENT_MARKS)
    is_scheduled = "scheduledTaskId" in record or any(record.get(key) == value for key, value in PROGRAM_MARKS.items())
    return is_marked or is_scheduled or kind not in (None, "human", UNCLASSIFIED)


def _merge_prompts(parts: list[UserText], media: tuple[str, ...]) -> RecordedPrompt:
    is_interruption = any(part.is_interruption for part in parts)
    words = "\n\n".join(part.text for part in parts if part.text)
    if words:
        origin: Origin = "command" if any(part.is_command for part in parts) else "prompt"
        author = next((part.author for part in parts if part.author), "")
        channel = next((part.channel for part in parts if part.channel), "")
        return RecordedPrompt(origin, words, media, is_interruption, author=author, channel=channel)
    printed = "\n".join(part.bash_output for part in parts if part.bash_output)
    if printed:
        return RecordedPrompt("output", printed, failed=any(part.bash_failed for part in parts))
    if media:
        return RecordedPrompt("prompt", IMAGE, media)
    return RecordedPrompt("nobody", is_interruption=is_interruption)


def parse_queue_content(record: Json) -> RecordedPrompt:
    """Parse the prompt in an operation of the queue. A background task has no mode of a prompt there, or is JSON."""
    is_prompt = record.get("commandMode", record.get("mode", PROMPT)) == PROMPT
    is_task = text_of(record.get("content")).startswith('{"task_id":')
    parts = _parse_texts(record, record.get("content")) if is_prompt and not is_task else []
    return RecordedPrompt("nobody") if _is_from_client(record, parts) else _merge_prompts(parts, ())


def parse_attachment(record: Json) -> RecordedPrompt:
    """Parse a prompt that was typed while the agent worked; the origin of other attachments is `nobody`.

    A plan that the client repeats after a compaction has the origin `plan`, and a result that arrived then `task`.
    """
    attachment = mapping_of(record.get("attachment"))
    has_origin = mapping_of(attachment.get("origin")).get("kind") not in (None, UNCLASSIFIED)
    is_prompt = has_origin or attachment.get("humanTurn") is True or attachment.get("commandMode") == PROMPT
    parts = _parse_texts(attachment, attachment.get("prompt"))
    text = texts_of(attachment.get("prompt"))
    if made := _parse_plan_or_result(attachment, parts, text):
        return made
    if attachment.get("type") != "queued_command" or not is_prompt or _is_from_client(attachment, parts):
        return RecordedPrompt("nobody")
    return _merge_prompts(parts, media_of(attachment.get("prompt")))


def parse_local_command(record: Json) -> RecordedPrompt:
    """Parse a system record of a command that the client answers itself: several words are a person's, as of `/goal`."""
    utterance = _merge_prompts(_parse_texts(record, record.get("content")), ())
    is_prompt = record.get("subtype") == "local_command" and utterance.origin == "prompt"
    return utterance if is_prompt and len(utterance.text.split()) > SEVERAL else RecordedPrompt("nobody")


def block_types(content: object) -> set[str]:
    """Return the types of the blocks in a message's content."""
    return {text_of(block.get("type")) for block in objects_of(content)}


def media_of(content: object) -> tuple[str, ...]:
    """Return the media types of images and documents; without one, `image` or `document`."""
    media = (block for block in objects_of(content) if block.get("type") in ("image", "document"))
    return tuple(text_of(mapping_of(one.get("source")).get("media_type")) or text_of(one["type"]) for one in media)


def is_synthetic(record: Json) -> bool:
    """Return whether the client wrote an assistant record itself, such as an API error."""
    return record.get("isApiErrorMessage") is True or mapping_of(record.get("message")).get("model") == SYNTHETIC


def conversation_of(record: Json, session: str | None, agent: str | None) -> str | None:
    """Return a record's session, or `<session>/<agent>` for a subagent's; those of the file where it has none."""
    own = text_of(record.get("sessionId")) or session
    if record.get("isSidechain") is not True:
        return own
    name = text_of(record.get("agentId")) or agent
    return f"{own}/{name}" if own and name else own


def is_streamed(record: Json) -> bool:
    """Return whether `claude --output-format stream-json` printed a record, by its keys."""
    return "session_id" in record and ("parent_tool_use_id" in record or record.get("subtype") == "init")


def to_transcript_record(value: object) -> object:
    """Return a printed record in the form of a transcript; any other value unchanged."""
    record = mapping_of(value)
    if not is_streamed(record):
        return value
    agent = text_of(record.get("parent_tool_use_id"))
    return record | {"sessionId": record["session_id"], "isSidechain": bool(agent), "agentId": agent}


def is_internal_conversation(utterance: RecordedPrompt, conversation: str | None) -> bool:
    """Return whether a subagent's prompt starts a conversation of the client with itself: warm-up, or compaction."""
    text = utterance.text.strip()
    own = text == "Warmup" or COMPACTION in text[:INTERNAL_PROMPT_LENGTH] or "/acompact" in (conversation or "")
    return utterance.origin == "subagent" and own and "/" in (conversation or "")


def parent_uuid(record: Json) -> str:
    """Return the uuid of the record before, also across a compaction; `""` at a root."""
    return text_of(record.get("parentUuid")) or text_of(record.get("logicalParentUuid"))
