"""What stands in the user's place in sessions of Gemini CLI and its forks: a person's words, and what the program sends itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pastchats_memory.formats.base.agent_spellings import parse_gemini_output
from pastchats_memory.formats.base.dialect import COMMON
from pastchats_memory.formats.base.session import Position, SessionBuilder
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tags import span, without_rim
from pastchats_memory.formats.base.tools import ToolResult, parse_result, text_of_result

CONTEXT = ("session_context", "hook_context")
SUMMARIES = ("state_snapshot", "intent_summary")
"""Tags around what a compression puts in the place of the messages before."""
SENT = (
    "This is the Gemini CLI. We are setting up the context for our chat.", "This is the Qwen Code. We are setting up the context for our chat.",
    "Here is the user's editor context as a JSON object", "Here is a summary of changes in the user's editor context",
    "System: Please continue.", "System: Potential loop detected",
)  # fmt: skip
"""Beginnings of what the program sends by itself."""
GO_ON = "Please continue."
"""All of what it sends when the model stopped before the end."""
TRUNCATED = (
    "System Note: Prior conversation history was truncated",
    "[System Note: Prior conversation history was truncated",
)
"""What stands in a summary's place where none was made."""
TAKEN_NOTES = ("Got it. Thanks for the context!", "Got it. Thanks for the additional context!")
"""What is put in the model's mouth behind what it was told of the folder, and behind a summary."""
RAN = "I ran the following shell command:\n```sh\n"
OPENED, CLOSED = "--- Content from referenced files ---", "--- End of content ---"

_COMMAND = re.compile(r"/([a-zA-Z][\w:-]*)(?=\s|\Z)")


def strip_context(text: str) -> str:
    """What the person typed of a text in the user's role: without context of the session, hooks and referenced files."""
    text = without_rim(text, (*CONTEXT, *SUMMARIES))
    if text.startswith((*SENT, *TRUNCATED)):
        return ""
    before, opened, rest = text.partition(OPENED)
    text = f"{before}{rest.partition(CLOSED)[2]}" if opened else text
    return "" if text.strip() in ("?", "/", GO_ON) else text.strip()


def find_summary(text: str) -> str:
    """What a compression made of the messages before; `""` where the text is none."""
    opening = text.lstrip()
    return next((span(text, tag).strip() for tag in SUMMARIES if opening.startswith(f"<{tag}>")), "")


def is_compression(text: str) -> bool:
    """Whether messages were compressed and this stands in their place."""
    return bool(find_summary(text)) or text.startswith(TRUNCATED)


def find_command(text: str) -> str:
    """The name of the command that was typed; `""` where none was."""
    found = _COMMAND.match(text)
    return found[1] if found else ""


def find_shell_command(text: str) -> tuple[str, str]:
    """A command that the person ran in the client's shell, and what it printed; empty for any other text."""
    if not text.startswith(RAN):
        return "", ""
    command, _, rest = text.removeprefix(RAN).partition("\n```\n")
    return command.strip(), rest.partition("```\n")[2].strip().removesuffix("```")


def visible_text(content: object) -> str:
    """The words of a message: a string, a part, or parts of which those with thoughts, data and calls are left out."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, dict) else list_of(content)
    shown = (part if isinstance(part, str) else _shown(mapping_of(part)) for part in parts)
    return "".join(shown)


def _shown(part: Json) -> str:
    return "" if part.get("thought") is True else text_of(part.get("text"))


# What a message of Gemini's, in parts, comes to in a session of Gemini CLI and its forks: prompts, commands, answers of tools.


def add_prompt(builder: SessionBuilder, sent: str, at: Position, pictures: int) -> None:
    """Tell what the person typed of a text in the user's role: words, a command, one for the shell; the summary of a compression."""
    builder.add_turn("system", "summary", find_summary(sent), replace(at, native_id=""))
    command, printed = find_shell_command(sent)
    text = f"! {command}" if command else strip_context(sent)
    name = find_command(text)
    if name.lower() not in COMMON.commands:
        builder.add_prompt(text, at, pictures, kind="command" if command or name else "prompt")
    if command:
        builder.add_call(at.native_id, "shell", {"command": command})
        builder.add_result(at.native_id, parse_result(printed), at)


def join_responses(responses: Iterable[Json], *, failed: bool = False) -> ToolResult:
    """What the `response` of each part that answers a call says together."""
    told = list(responses)
    fault = "\n".join(text for response in told if (text := text_of(response.get("error"))))
    text = fault or "\n".join(text_of_result(response.get("output")) for response in told)
    return parse_gemini_output(text, failed=failed or bool(fault))
