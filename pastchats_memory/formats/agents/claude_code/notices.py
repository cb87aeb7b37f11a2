"""Texts of the client in the user's place that hold what stands nowhere else: a task's result, a fork's directive."""

from html import unescape

from pastchats_memory.formats.base.tags import is_tagged, opening_of, span, split_tags
from pastchats_memory.formats.base.tools import cut_middle

NOTIFICATION, FORK = "<task-notification>", "<fork-boilerplate>"
AGENT = 'Agent "'
"""The beginning of a summary of an agent's task. Its result is the last answer in the agent's own transcript."""
FAILED = ("failed", "killed", "stopped")
DIRECTIVE = "Your directive:"
_TEAMMATE, _SESSION = opening_of(["teammate-message"]), opening_of(["cross-session-message"])


def parse_task_result(text: str) -> tuple[str, bool] | None:
    """Return the result in a notification, and whether its task failed; None without one, and for an agent's task."""
    summary, result = (unescape(span(text, tag)).strip() for tag in ("summary", "result"))
    if not text.startswith(NOTIFICATION) or not result or summary.startswith(AGENT):
        return None
    return f"{summary}\n{cut_middle(result)}".strip(), span(text, "status").strip() in FAILED


def parse_messages(text: str, *, of_team: bool) -> str:
    """Return what other agents of a team, or other sessions, ask in a text that consists of their messages, else ""."""
    opening = _TEAMMATE if of_team else _SESSION
    return "\n\n".join(split_tags(text, opening)[0]).strip() if is_tagged(text, opening) else ""


def parse_directive(text: str) -> str:
    """Return what a fork of an agent is asked to do, below the client's instructions; "" for other texts."""
    _, is_fork, rest = text.partition(FORK)
    inside, closed, below = rest.partition(FORK.replace("<", "</"))
    if not is_fork:
        return ""
    return (span(text, "fork-directive") or (below if closed else inside)).strip().removeprefix(DIRECTIVE).strip()
