"""Gemini CLI, and Qwen Code, which derives from it.

The reader is imported with the first file: a hook needs only what is here.
"""

from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import CERTAIN, Format, confident, deferred, load, resume_with
from pastchats_memory.formats.base.hooks import HookDialect, named_group, settings_path

_SETTINGS = settings_path("GEMINI_CLI_HOME", "", ".gemini/settings.json")
_QWEN_SETTINGS = settings_path("QWEN_HOME", "/.qwen", "settings.json")

HOOKS = HookDialect(
    name="gemini",
    events={
        "SessionStart": "greet",
        "BeforeAgent": "recall",
        "BeforeTool": "brief",
        "AfterTool": "cure",  # https://geminicli.com/docs/hooks/reference
        "PreCompress": "compact",
        "SessionEnd": "index",
    },
    settings=_SETTINGS,
    entry=named_group,
    runners="run_shell_command",
    subagents=("invoke_agent",),  # agent-tool.js of gemini-cli-core 0.61.0
    input_key="tool_input",  # it is merged into the call's own
    servers=_SETTINGS,
)

QWEN_HOOKS = HookDialect(
    name="qwen",
    events={
        "UserPromptSubmit": "recall",
        "PreToolUse": "warn",
        "PostToolUse": "cure",
        "PostToolUseFailure": "cure",
        "PreCompact": "compact",
        "SessionEnd": "index",
    },
    settings=_QWEN_SETTINGS,
    entry=named_group,
    tools="run_shell_command|edit|write_file",
    runners="run_shell_command",
    servers=_QWEN_SETTINGS,
    skills=settings_path("QWEN_HOME", "/.qwen", "skills"),
)

GEMINI_CLI = Format(
    name="gemini-cli",
    version=11,
    detect=confident(deferred("agents.gemini.reader:matches"), CERTAIN),
    read=deferred("agents.gemini.reader:read"),
    program="Gemini CLI",
    # the second folder is that of the sandbox of macOS
    companions=ending_in(".gemini/tmp", "", "tool-outputs", "tool_outputs"),
    hooks=HOOKS,
    dialect=lambda: load("agents.gemini.dialect:DIALECT"),
    resume=resume_with("gemini", "--resume"),  # https://geminicli.com/docs/cli/session-management
)

QWEN_CODE = Format(
    name="qwen-code",
    version=8,
    detect=deferred("agents.gemini.qwen:detect"),
    read=deferred("agents.gemini.qwen:QwenSession.read"),
    program="Qwen Code",
    hooks=QWEN_HOOKS,
    dialect=lambda: load("agents.gemini.dialect:DIALECT"),
    resume=resume_with("qwen", "--resume"),  # https://www.mintlify.com/QwenLM/qwen-code/cli/options/resume
)
