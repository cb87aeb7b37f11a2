"""Codex's own spellings: wrappers around prompts, tools, and commands that never ran."""

from __future__ import annotations

import re

import orjson

from pastchats_memory.formats.base.dialect import COMMON, Dialect, UserText
from pastchats_memory.formats.base.source import list_of, mapping_of, text_of
from pastchats_memory.formats.base.tags import span

INJECTED = (
    "<environment_context>", "# AGENTS.md instructions", "<user_instructions>", "<INSTRUCTIONS>",
    "<permissions instructions>", "<collaboration_mode>", "<multi_agent_mode>", "<skills_instructions>", "<skill>",
    "<app-context>", "<recommended_plugins>", "<turn_aborted>", "<user_action>", "<subagent_notification>",
    "<user_shell_command>", "<hook_prompt ", "<goal_context>", "<extension_context>", "<additional_context", "<internal_model_context",
    "<apps_instructions>", "<plugins_instructions>", "<scratchpad_instructions>", "<personality_spec>", "<model_switch>",
    "<context_window", "<rollout_budget>", "<token_budget>", "<tools>", "<realtime_conversation>",
    "Warning: The maximum number of unified exec processes", "Warning: apply_patch was requested via ",
)  # fmt: skip
"""Beginnings of text that Codex itself sends in the user's role."""

REQUEST = "## My request for Codex:"
SHELL = "<user_shell_command>"
REPLY = "<send_user_message_question_reply>"
"""The tag around the person's answers to the agent's questions, as JSON."""

_PICTURE = re.compile(r"\A\s*(?:<(?:image|audio)(?: name=[^\n>]{0,4000})?>|</(?:image|audio)>)\s*\Z")
"""A part before or after a picture."""


def strip_context(text: str) -> str:
    """Return a person's text without the context that an IDE put before it and the tags of pictures."""
    text = _PICTURE.sub("", text).strip()
    if text.startswith(REPLY):
        return _parse_reply(text.removeprefix(REPLY).removesuffix(REPLY.replace("<", "</")))
    if text.startswith("#"):
        before, mark, request = text.partition(f"\n{REQUEST}")
        return request.strip() if mark and before else text.removeprefix(REQUEST).strip()
    return text


def parse_shell(text: str) -> tuple[str, str]:
    """Return a shell command of the person and its output; empty for any other text."""
    text = text.strip()
    return (span(text, "command").strip(), span(text, "result").strip()) if text.startswith(SHELL) else ("", "")


def _parse_reply(text: str) -> str:
    try:
        replies = list_of(orjson.loads(text))
    except orjson.JSONDecodeError:
        return text.strip()
    return "\n".join(answer for reply in replies if (answer := text_of(mapping_of(reply).get("answer")).strip()))


def is_injected(text: str) -> bool:
    """Return whether Codex itself wrote a text, by its first words."""
    return text.lstrip().startswith(INJECTED)


def parse_prompt(text: str) -> UserText:
    """Return nothing of a text that Codex itself wrote, and all of any other."""
    return UserText() if is_injected(text) else UserText(text)


DIALECT = COMMON | Dialect(
    prompts=(parse_prompt,),
    polling=("write_stdin",),
    never_ran=("exec_command failed", "failed in sandbox", "execution error", "apply_patch verification failed"),
)
