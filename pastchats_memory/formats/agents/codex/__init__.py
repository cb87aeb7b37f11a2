"""Codex: rollouts and printed logs.

The reader is imported with the first file: a hook needs only what is here.
"""

from pastchats_memory.formats.base.format import CERTAIN, Format, confident, deferred, load, resume_with
from pastchats_memory.formats.base.hooks import HookDialect, HookSwitch, settings_path

HOOKS = HookDialect(
    name="codex",
    events={
        "SessionStart": "greet",
        "UserPromptSubmit": "recall",
        "PreToolUse": "warn",
        "PostToolUse": "cure",
        "Stop": "index",
    },
    settings=settings_path("CODEX_HOME", "/.codex", "hooks.json"),
    tools="Bash|apply_patch",  # its names, in https://github.com/openai/codex/pull/20692
    runners="Bash",
    skills=lambda environment: f"{environment['HOME']}/.agents/skills",  # its own it reads for older ones only
    notes=("Codex runs hooks that are new to it once you have trusted them: type /hooks there.",),
    switch=HookSwitch("config.toml", "features", ("hooks", "codex_hooks")),
    servers=settings_path("CODEX_HOME", "/.codex", "config.toml"),
)

CODEX = Format(
    name="codex",
    version=13,
    detect=confident(deferred("agents.codex.reader:matches"), CERTAIN),
    read=deferred("agents.codex.reader:read"),
    program="Codex",
    # not its history.jsonl, which has no working directory: nobody could exclude a project
    hooks=HOOKS,
    dialect=lambda: load("agents.codex.dialect:DIALECT"),
    resume=resume_with("codex", "resume"),  # `codex resume --help`, from 0.39 on
    packed=".zst",  # of sessions that were not used for a while
)
