"""Cursor: transcripts of its agent, and the state of its editor.

The reader is imported with the first file: a hook needs only what is here.
"""

from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import CERTAIN, Format, confident, deferred, resume_with
from pastchats_memory.formats.base.hooks import TIMEOUT_S, HookDialect

HOOKS = HookDialect(
    name="cursor",
    events={"sessionStart": "greet", "beforeSubmitPrompt": "recall", "sessionEnd": "index"},
    settings=lambda environment: f"{environment['HOME']}/.cursor/hooks.json",
    entry=lambda line: {"command": line, "timeout": TIMEOUT_S},
    # its page names the field at a session's start only; its bundle of July 2026 lists prompts, too
    context=lambda _event, context: {"continue": True, "additional_context": context},
    begins={"version": 1},
    servers=lambda environment: f"{environment['HOME']}/.cursor/mcp.json",
    notes=(
        "Cursor promises to take what a hook says at the start of a session; at prompts its versions of 2026 take it, too.",
        "Where yours does not, let its agent ask: `pastchats-memory mcp` is the memory as a server for it.",
    ),
)

CURSOR = Format(
    name="cursor",
    version=10,
    detect=confident(deferred("agents.cursor.transcript:matches"), CERTAIN),
    read=deferred("agents.cursor.transcript:read"),
    program="Cursor",
    companions=ending_in("/.cursor/projects", "", "agent-tools", "terminals", "mcps"),
    hooks=HOOKS,
    resume=resume_with("cursor-agent", "--resume"),  # https://github.com/coder/registry/issues/747
)

CURSOR_IDE = Format(
    name="cursor-ide",
    version=6,
    detect=confident(deferred("agents.cursor.editor:matches_editor"), CERTAIN),
    read=deferred("agents.cursor.editor:read_editor"),
)
