"""Messages in the user's role of Gemini CLI and its forks: the person's text, and text of the client."""

import re
from collections.abc import Iterable
from dataclasses import replace

from pastchats_memory.formats.base.agent_spellings import parse_gemini_output
from pastchats_memory.formats.base.dialect import read_spellings
from pastchats_memory.formats.base.session import Position, SessionBuilder
from pastchats_memory.formats.base.tags import span, without_rim
from pastchats_memory.formats.base.tools import ToolResult, parse_result, text_of_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of

_WORDS = read_spellings(__file__)
CONTEXT = ("session_context", "hook_context")
SUMMARIES = ("state_snapshot", "intent_summary")
"""Tags around the summary of a compression."""
SETTING_UP = "etting up the context for our chat"
"""Words of the text that the client sends before the first prompt."""
CONTINUE = "Please continue."
"""The whole text that the client sends when the model stopped early."""
TRUNCATED = _WORDS["truncated"]
"""Beginnings of text in place of a missing summary."""
ACKNOWLEDGEMENTS = _WORDS["acknowledgements"]
"""Answers that the client writes after the context of the folder and after a summary."""
SHELL_PROMPT, SHELL_PRINTED = "I ran the following shell command:\n```sh\n", "\n```\n\nThis produced the following "
FILES_START, FILES_END = "--- Content from referenced files ---", "--- End of content ---"

_CLIENT = re.compile("|".join(_WORDS["client_texts"]))
"""How text that the client itself sends begins, up to where no person would go on so."""
_FOLDER = re.compile(
    r"(?:working in the (?:following )?director(?:y|ies):|\*\*Workspace Directories:\*\*)\s{0,8}(?:- )?([^\n]{1,1000})"
)


def strip_context(text: str) -> str:
    """Return a person's text without the context of session, hooks and referenced files."""
    text = without_rim(text, (*CONTEXT, *SUMMARIES))
    if _CLIENT.match(text) or text.startswith(TRUNCATED):
        return ""
    before, opened, rest = text.partition(FILES_START)
    _, closed, behind = rest.rpartition(FILES_END)
    text = f"{before}{behind}" if opened and closed else text
    return "" if text.strip() in ("?", "/", CONTINUE) else text.strip()


def find_workspace(text: str) -> str | None:
    """Return the first folder that the client names before the first prompt, or None."""
    found = _FOLDER.search(text) if SETTING_UP in text else None
    return found[1].strip() if found else None


def find_summary(text: str) -> str:
    """Return the summary of a compression, or `""`."""
    opening = text.lstrip()
    return next((span(text, tag).strip() for tag in SUMMARIES if opening.startswith(f"<{tag}>")), "")


def is_compression(text: str) -> bool:
    """Return whether a text replaces compressed messages."""
    return bool(find_summary(text)) or text.startswith(TRUNCATED)


def find_shell_command(text: str) -> tuple[str, str]:
    """Return a command in the client's shell and its output; empty for any other text."""
    command, is_run, rest = text.strip().removeprefix(SHELL_PROMPT).partition(SHELL_PRINTED)
    if not (is_run and text.startswith(SHELL_PROMPT) and rest.endswith("```")):
        return "", ""
    return command.strip(), rest.partition("```\n")[2].strip().removesuffix("```")


def visible_text(content: object) -> str:
    """Return the text of a message, a string or parts, without thoughts, data and calls."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, dict) else list_of(content)
    shown = (part for part in parts if mapping_of(part).get("thought") is not True)
    return "".join(text_of(part) or text_of(mapping_of(part).get("text")) for part in shown)


def add_prompt(builder: SessionBuilder, sent: str, at: Position, pictures: int) -> None:
    """Add a message in the user's role: a prompt, a command, a shell command, or the summary of a compression."""
    builder.add_turn("system", "summary", find_summary(sent), replace(at, native_id=""))
    command, printed = find_shell_command(sent)
    if not command:
        builder.add_typed(strip_context(sent), at, pictures)
    else:
        builder.add_typed_command(command, parse_result(printed), at, "shell")


def join_responses(responses: Iterable[Json], *, failed: bool = False) -> ToolResult:
    """Return the result in the `response` of all parts."""
    responses = list(responses)
    fault = "\n".join(text for response in responses if (text := text_of(response.get("error"))))
    text = fault or "\n".join(text_of_result(response.get("output")) for response in responses)
    return parse_gemini_output(text, failed=failed or bool(fault))
