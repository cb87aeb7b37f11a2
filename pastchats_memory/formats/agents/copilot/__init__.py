"""GitHub Copilot: the command line, its shared sessions, and the chat in VS Code and Visual Studio.

The reader is imported with the first file: a hook needs only what is here.
"""

from pastchats_memory.formats.base.companions import read_elsewhere
from pastchats_memory.formats.base.format import CERTAIN, Format, confident, deferred, load
from pastchats_memory.formats.base.hooks import TIMEOUT_S, HookDialect, server_entry, settings_path

HOOKS = HookDialect(
    name="copilot",
    events={
        "sessionStart": "greet",
        "userPromptSubmitted": "recall",
        "preToolUse": "warn",
        "postToolUseFailure": "cure",  # https://github.com/github/copilot-sdk/pull/1421
        "sessionEnd": "index",
    },
    settings=settings_path("COPILOT_HOME", "/.copilot", "hooks/pastchats-memory.json"),
    entry=lambda line: {"type": "command", "bash": line, "powershell": f"& {line}", "timeoutSec": TIMEOUT_S},
    context=lambda _event, context: {"additionalContext": context},
    begins={"version": 1},
    servers=settings_path("COPILOT_HOME", "/.copilot", "mcp-config.json"),
    server=lambda command: {"type": "local", **server_entry(command), "tools": ["*"]},
)

COPILOT_CLI = Format(
    name="copilot-cli",
    version=8,
    detect=deferred("agents.copilot.cli:detect"),
    read=deferred("agents.copilot.cli:CopilotSession.read"),
    program="Copilot CLI",
    hooks=HOOKS,
    dialect=lambda: load("agents.copilot.dialect:DIALECT"),
    # https://github.com/github/copilot-cli/issues/3458
    resume=lambda session: ["copilot", f"--resume={session.conversation_id}"],
)

COPILOT_SHARE = Format(
    name="copilot-share",
    version=4,
    detect=confident(deferred("agents.copilot.share:matches_share"), CERTAIN),
    read=deferred("agents.copilot.share:SharedSession.read"),
    fidelity=1,
)

VSCODE_COPILOT = Format(
    name="vscode-copilot-chat",
    version=13,
    detect=confident(deferred("agents.copilot.vscode:matches"), CERTAIN),
    read=deferred("agents.copilot.vscode:read"),
    program="Copilot Chat",
    dialect=lambda: load("agents.copilot.dialect:DIALECT"),
    companions=read_elsewhere(
        "GitHub.copilot-chat/transcripts", "../../chatSessions/{}.json", "../../chatSessions/{}.jsonl"
    ),
)

VISUAL_STUDIO_COPILOT = Format(
    name="visual-studio-copilot",
    version=1,
    detect=deferred("agents.copilot.traces:detect"),
    read=deferred("agents.copilot.traces:Traces.read"),
    program="Copilot in Visual Studio",
    dialect=lambda: load("agents.copilot.dialect:DIALECT"),
)
