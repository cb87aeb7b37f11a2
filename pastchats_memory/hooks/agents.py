"""The agents that can be hooked: which of their events we answer, and in which form they take context.

Sources: code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks, geminicli.com/docs/hooks/reference,
cursor.com/docs/agent/hooks, docs.github.com/en/copilot/reference/hooks-reference, as of November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Deed = Literal["recall", "greet", "index"]
"""What we do at an event: recall for the prompt, say at a start what the memory holds, index what was said."""


class Agent(NamedTuple):
    """One agent's dialect."""

    name: str
    events: Mapping[str, Deed]
    """Its own names of the events, in the order in which a session meets them."""

    def answer(self, event: str, context: str) -> dict[str, Any]:
        """What the agent reads on stdout to take a context in."""
        if self.name == "cursor":
            # its page names the field at a session's start only; its bundle of July 2026 lists prompts, too
            return {"continue": True, "additional_context": context}
        if self.name == "copilot":
            return {"additionalContext": context}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


AGENTS: Mapping[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent(
            "claude-code",
            {"SessionStart": "greet", "UserPromptSubmit": "recall", "PreCompact": "index", "SessionEnd": "index"},
        ),
        Agent("codex", {"SessionStart": "greet", "UserPromptSubmit": "recall", "Stop": "index"}),
        Agent(
            "gemini", {"SessionStart": "greet", "BeforeAgent": "recall", "PreCompress": "index", "SessionEnd": "index"}
        ),
        Agent("cursor", {"sessionStart": "greet", "beforeSubmitPrompt": "recall", "sessionEnd": "index"}),
        Agent("copilot", {"sessionStart": "greet", "userPromptSubmitted": "recall", "sessionEnd": "index"}),
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
