"""The agents that can be hooked: which of their events we answer, and in which form they take context.

Sources: code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks, geminicli.com/docs/hooks/reference,
cursor.com/docs/agent/hooks, docs.github.com/en/copilot/reference/hooks-reference, as of November 2026; Qwen Code's own
bundle, version 0.15.10, which takes what a hook says at a prompt and not at a session's start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

Deed = Literal["recall", "greet", "index"]
"""What we do at an event: recall for the prompt, say at a start what the memory holds, index what was said."""
TIMEOUT_S = 5
"""What an agent is told to wait at most; the hook itself ends after two seconds."""


class Agent(NamedTuple):
    """One agent's dialect."""

    name: str
    events: Mapping[str, Deed]
    """Its own names of the events, in the order in which a session meets them."""
    settings: Callable[[Mapping[str, str]], str]
    """The person's own settings file for hooks, by the environment, which has HOME."""
    entry: Callable[[str], dict[str, Any]]
    """A command line as an entry among its hooks."""
    context: Callable[[str, str], dict[str, Any]]
    """What it reads on stdout at an event to take a context in."""
    begins: Mapping[str, Any] = {}
    """Keys that a settings file has besides hooks."""
    skills: Callable[[Mapping[str, str]], str] | None = None
    """The folder in which it looks for skills."""
    notes: tuple[str, ...] = ()
    """Sentences that the person has to know before our hooks run in it."""
    switches: str = ""
    """The file beside its settings whose `[features]` may switch hooks off."""


def _claude(environment: Mapping[str, str]) -> str:
    return environment.get("CLAUDE_CONFIG_DIR") or f"{environment['HOME']}/.claude"


def _qwen(environment: Mapping[str, str]) -> str:
    return environment.get("QWEN_HOME") or f"{environment['HOME']}/.qwen"


def _group(line: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": line, "timeout": TIMEOUT_S}]}


def _named_group(line: str) -> dict[str, Any]:
    """With the time in ms; versions to which that is seconds wait no longer either, since the hook ends by itself."""
    return {"hooks": [{"type": "command", "name": "pastchats-memory", "command": line, "timeout": TIMEOUT_S * 1000}]}


def _specific_output(event: str, context: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


AGENTS: Mapping[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent(
            "claude-code",
            {"SessionStart": "greet", "UserPromptSubmit": "recall", "PreCompact": "index", "SessionEnd": "index"},
            settings=lambda environment: f"{_claude(environment)}/settings.json",
            entry=_group,
            context=_specific_output,
            skills=lambda environment: f"{_claude(environment)}/skills",
        ),
        Agent(
            "codex",
            {"SessionStart": "greet", "UserPromptSubmit": "recall", "Stop": "index"},
            settings=lambda environment: (
                f"{environment.get('CODEX_HOME') or environment['HOME'] + '/.codex'}/hooks.json"
            ),
            entry=_group,
            context=_specific_output,
            skills=lambda environment: f"{environment['HOME']}/.agents/skills",  # its own it reads for older ones only
            notes=("Codex runs hooks that are new to it once you have trusted them: type /hooks there.",),
            switches="config.toml",
        ),
        Agent(
            "gemini",
            {"SessionStart": "greet", "BeforeAgent": "recall", "PreCompress": "index", "SessionEnd": "index"},
            settings=lambda environment: (
                f"{environment.get('GEMINI_CLI_HOME') or environment['HOME']}/.gemini/settings.json"
            ),
            entry=_named_group,
            context=_specific_output,
        ),
        Agent(
            "qwen",
            {"UserPromptSubmit": "recall", "PreCompact": "index", "SessionEnd": "index"},
            settings=lambda environment: f"{_qwen(environment)}/settings.json",
            entry=_named_group,
            context=_specific_output,
            skills=lambda environment: f"{_qwen(environment)}/skills",
        ),
        Agent(
            "cursor",
            {"sessionStart": "greet", "beforeSubmitPrompt": "recall", "sessionEnd": "index"},
            settings=lambda environment: f"{environment['HOME']}/.cursor/hooks.json",
            entry=lambda line: {"command": line, "timeout": TIMEOUT_S},
            # its page names the field at a session's start only; its bundle of July 2026 lists prompts, too
            context=lambda _event, context: {"continue": True, "additional_context": context},
            begins={"version": 1},
            notes=(
                "Cursor promises to take what a hook says at the start of a session; at prompts its versions of 2026 take it, too.",
                "Where yours does not, let its agent ask: `pastchats-memory mcp` is the memory as a server for it.",
            ),
        ),
        Agent(
            "copilot",
            {"sessionStart": "greet", "userPromptSubmitted": "recall", "sessionEnd": "index"},
            settings=lambda environment: (
                f"{environment.get('COPILOT_HOME') or environment['HOME'] + '/.copilot'}/hooks/pastchats-memory.json"
            ),
            entry=lambda line: {"type": "command", "bash": line, "timeoutSec": TIMEOUT_S},
            context=lambda _event, context: {"additionalContext": context},
            begins={"version": 1},
        ),
    )
}


class Event(NamedTuple):
    """What an agent told us on stdin, as far as we use it."""

    prompt: str = ""
    session: str | None = None
    cwd: str | None = None
    transcript: str | None = None


def event_of(body: object) -> Event:
    """The event in a JSON body of whatever shape; what is missing or of another type is left out."""
    if not isinstance(body, dict):
        return Event()

    def text(*keys: str) -> str | None:
        return next((value for key in keys if isinstance(value := body.get(key), str) and value), None)

    roots = body.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
    return Event(
        prompt=text("prompt", "user_prompt", "userPrompt") or "",
        session=text("session_id", "conversation_id", "sessionId"),
        cwd=text("cwd", "workingDirectory") or root,
        transcript=text("transcript_path", "transcriptPath"),
    )
