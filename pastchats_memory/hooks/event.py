"""Parse the event that an agent sends on a hook's stdin."""

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

_SIGNS = r"(?i)error|fail|fatal|denied|refused|reject|missing|no such|not found|unknown|unrecogni|invalid|cannot|unable|exit.?code"
"""Words in the results of failed commands."""


class HookEvent(NamedTuple):
    """The fields of an agent's event that we use."""

    prompt: str = ""
    session: str | None = None
    cwd: str | None = None
    transcript: str | None = None
    tool: str = ""
    """Name of the tool that the agent is about to call."""
    arguments: object = None
    """Its input: an object, or one as JSON text."""
    error: str = ""
    """Its error, where the agent has an event of its own for one."""
    response: object = None
    """Its result: an object or a text."""
    source: str = ""
    """Why a session starts: `startup`, `resume`, `clear` or `compact`."""
    folder: str | None = None
    """Working directory of a hook that another process answers."""

    @property
    def here(self) -> "Path | None":
        """Return the folder whose configuration counts; None for the working directory."""
        from pathlib import Path

        named = self.cwd or self.folder
        return Path(named) if named else None


def parse_event(body: object) -> HookEvent:
    """Parse the event in a JSON body of any shape.

    Missing fields and those of another type are left out.
    """
    if not isinstance(body, dict):
        return HookEvent()

    def text(*keys: str) -> str | None:
        return next((value for key in keys if isinstance(value := body.get(key), str) and value), None)

    roots = body.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
    return HookEvent(
        prompt=text("prompt", "user_prompt", "userPrompt") or "",
        session=text("session_id", "conversation_id", "sessionId"),
        cwd=text("cwd", "workingDirectory") or root,
        transcript=text("transcript_path", "transcriptPath"),
        tool=text("tool_name", "toolName") or "",
        arguments=body.get("tool_input", body.get("toolArgs")),
        error=text("error") or "",
        response=body.get("tool_response", body.get("toolResult")),
        source=text("source") or "",
    )


def reports_error(response: object) -> bool:
    """Check whether a result has a word of an error, or something on the error channel."""
    if isinstance(response, dict):
        return any(reports_error(value) for key, value in response.items() if key != "interrupted")
    return isinstance(response, str) and re.search(_SIGNS, response) is not None
