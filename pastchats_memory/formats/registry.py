"""Every format, and the one that reads a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pastchats_memory.formats.agents.agent_log import AGENT_LOG
from pastchats_memory.formats.agents.aider import AIDER
from pastchats_memory.formats.agents.amazon_q import AMAZON_Q, KIRO_CLI
from pastchats_memory.formats.agents.amp import AMP
from pastchats_memory.formats.agents.antigravity import ANTIGRAVITY
from pastchats_memory.formats.agents.claude_code import CLAUDE_CODE
from pastchats_memory.formats.agents.claude_code.tasks import CLAUDE_TASKS
from pastchats_memory.formats.agents.cline import CLINE
from pastchats_memory.formats.agents.codex import CODEX
from pastchats_memory.formats.agents.codex.exec_log import CODEX_EXEC
from pastchats_memory.formats.agents.continue_dev import CONTINUE_DEV
from pastchats_memory.formats.agents.copilot.cli import COPILOT_CLI, COPILOT_SHARE
from pastchats_memory.formats.agents.copilot.vscode import VSCODE_COPILOT
from pastchats_memory.formats.agents.crush import CRUSH
from pastchats_memory.formats.agents.cursor import CURSOR, CURSOR_IDE
from pastchats_memory.formats.agents.droid import DROID
from pastchats_memory.formats.agents.gemini import GEMINI_CLI
from pastchats_memory.formats.agents.gemini.qwen import QWEN_CODE
from pastchats_memory.formats.agents.goose import GOOSE
from pastchats_memory.formats.agents.gptme import GPTME
from pastchats_memory.formats.agents.grok import GROK
from pastchats_memory.formats.agents.hermes import HERMES
from pastchats_memory.formats.agents.kimi import KIMI
from pastchats_memory.formats.agents.opencode import OPENCODE
from pastchats_memory.formats.agents.openhands import OPENHANDS
from pastchats_memory.formats.agents.pi import PI
from pastchats_memory.formats.agents.prompt_history import PROMPT_HISTORY
from pastchats_memory.formats.agents.vibe import VIBE
from pastchats_memory.formats.agents.zed import ZED
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.source import NotText, Source
from pastchats_memory.formats.exports.chatgpt import CHATGPT
from pastchats_memory.formats.exports.claude_ai import CLAUDE_AI
from pastchats_memory.formats.exports.librechat import LIBRECHAT
from pastchats_memory.formats.exports.llm import LLM_LOGS
from pastchats_memory.formats.exports.lm_studio import LM_STUDIO
from pastchats_memory.formats.exports.open_webui import OPEN_WEBUI
from pastchats_memory.formats.exports.openai_messages import OPENAI_MESSAGES
from pastchats_memory.formats.exports.own import OWN_EXPORT
from pastchats_memory.formats.exports.sharegpt import SHAREGPT
from pastchats_memory.formats.generic import messages
from pastchats_memory.formats.generic.messages import MESSAGES
from pastchats_memory.formats.markdown.dialogue import DIALOGUE
from pastchats_memory.formats.markdown.notes import NOTES
from pastchats_memory.formats.markdown.perplexity import PERPLEXITY
from pastchats_memory.formats.markdown.specstory import SPECSTORY
from pastchats_memory.formats.markdown.terminal import SCROLLBACK
from pastchats_memory.formats.tasks.beads import BEADS
from pastchats_memory.formats.tasks.checklist import CHECKLIST
from pastchats_memory.formats.tasks.github_issues import GITHUB_ISSUES
from pastchats_memory.formats.tasks.issue_files import ISSUE_FILES
from pastchats_memory.formats.tasks.taskmaster import TASKMASTER

FORMATS: tuple[Format, ...] = (
    OWN_EXPORT,
    CLAUDE_CODE,
    CODEX,
    CODEX_EXEC,
    OPENCODE,
    CRUSH,
    HERMES,
    CURSOR_IDE,
    LLM_LOGS,
    ZED,
    CLAUDE_AI,
    OPEN_WEBUI,
    LIBRECHAT,
    LM_STUDIO,
    OPENAI_MESSAGES,
    SHAREGPT,
    GEMINI_CLI,
    QWEN_CODE,
    COPILOT_CLI,
    KIRO_CLI,
    ANTIGRAVITY,
    KIMI,
    GROK,
    OPENHANDS,
    VIBE,
    DROID,
    PI,
    GOOSE,
    GPTME,
    CURSOR,
    CLINE,
    CONTINUE_DEV,
    VSCODE_COPILOT,
    AMP,
    CHATGPT,
    AIDER,
    SPECSTORY,
    AMAZON_Q,
    COPILOT_SHARE,
    PROMPT_HISTORY,
    BEADS,
    TASKMASTER,
    GITHUB_ISSUES,
    CLAUDE_TASKS,
    DIALOGUE,
    PERPLEXITY,
    ISSUE_FILES,
    CHECKLIST,
    AGENT_LOG,
    MESSAGES,
    SCROLLBACK,
    NOTES,
)
"""The built-in formats."""

NO_KEYS: Mapping[str, str] = MappingProxyType({})


def keys_taken(format_: Format, source: Source) -> Mapping[str, str]:
    """Return which keys a file of an unknown shape has for role, text, time and conversation; none for known formats.

    Raises OSError.
    """
    return messages.explain(source) if format_ is MESSAGES else NO_KEYS


def detect_format(source: Source) -> Format | None:
    """Return the most confident format, or None; a format that is certain ends the search. Raises NotText, OSError."""
    best, confidence = None, 0
    for format_ in FORMATS:
        if source.shape == "sqlite" and not format_.is_specific:
            continue
        found = format_.detect(source)
        if found >= CERTAIN:
            return format_
        if found > confidence:
            best, confidence = format_, found
    if best is None and source.shape == "sqlite":
        raise NotText("an SQLite database in which no known program keeps conversations")
    return best


# Where programs keep the conversations that people have with them, by platform and by the variables that they honour.


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What default places depend on."""

    variables: Mapping[str, str]
    home: Path
    platform: str
    """As `sys.platform` has it."""

    def named(self, variable: str, default: Path) -> Path:
        """The folder that a variable names, else the default."""
        value = self.variables.get(variable)
        return Path(value).expanduser() if value else default

    @property
    def data(self) -> Path:
        """XDG's folder for data (https://specifications.freedesktop.org/basedir)."""
        return self.named("XDG_DATA_HOME", self.home / ".local" / "share")

    @property
    def configuration(self) -> Path:
        """XDG's folder for configuration."""
        return self.named("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def programs(self) -> Path:
        """Where desktop programs keep their files."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.named("APPDATA", self.home / "AppData" / "Roaming")
        return self.configuration

    @property
    def editors(self) -> Iterator[Path]:
        """The folders of VS Code and its kin for a person's own files."""
        for name in ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"):
            yield self.programs / name / "User"
        yield self.home / ".vscode-server" / "data" / "User"


@dataclass(frozen=True, slots=True)
class History:
    """A program's history on this machine."""

    program: str
    path: Path


def histories(around: Surroundings) -> list[History]:
    """Every history that there is in a default place, in the order of the table."""
    found: dict[Path, History] = {}
    for program, places in PLACES.items():
        for path in places(around):
            if path.exists():
                found.setdefault(path, History(program, path))
    return list(found.values())


def _claude(around: Surroundings) -> Iterator[Path]:
    named = around.variables.get("CLAUDE_CONFIG_DIR", "")
    folders = [Path(name.strip()).expanduser() for name in named.split(",") if name.strip()]
    for folder in folders or [around.home / ".claude", around.configuration / "claude"]:
        yield from (folder / name for name in ("projects", "todos", "tasks", "history.jsonl"))


def _codex(around: Surroundings) -> Iterator[Path]:
    # not its history.jsonl: of what is typed there nothing tells the folder, so nobody could keep a project out
    folder = around.named("CODEX_HOME", around.home / ".codex")
    yield from (folder / name for name in ("sessions", "archived_sessions"))


def _extensions(around: Surroundings) -> Iterator[Path]:
    for editor in around.editors:
        for extension in ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"):
            yield editor / "globalStorage" / extension / "tasks"
    data = around.named("CLINE_DATA_DIR", around.named("CLINE_DIR", around.home / ".cline") / "data")
    yield around.named("CLINE_SESSION_DATA_DIR", data / "sessions")


def _copilot_chat(around: Surroundings) -> Iterator[Path]:
    for editor in around.editors:
        yield from sorted(editor.glob("workspaceStorage/*/chatSessions"))
        yield from (editor / "globalStorage" / name for name in ("emptyWindowChatSessions", "transferredChatSessions"))
        yield editor / "globalStorage" / "github.copilot-chat" / "conversations.json"


def _copilot_cli(around: Surroundings) -> Iterator[Path]:
    folder = around.named("COPILOT_HOME", around.home / ".copilot")
    yield from (folder / name for name in ("session-state", "history-session-state"))


def _cursor(around: Surroundings) -> Iterator[Path]:
    yield from sorted((around.home / ".cursor" / "projects").glob("*/agent-transcripts"))
    yield around.home / ".cursor" / "chats"
    user = around.programs / "Cursor" / "User"
    yield user / "globalStorage" / "state.vscdb"
    yield from sorted(user.glob("workspaceStorage/*/state.vscdb"))


def _gemini(around: Surroundings) -> Iterator[Path]:
    home = around.named("GEMINI_CLI_HOME", around.home)
    yield home / ".gemini" / "tmp"
    yield home / ".cache" / ".gemini" / "tmp"  # inside the sandbox of macOS


def _goose(around: Surroundings) -> Iterator[Path]:
    root = around.variables.get("GOOSE_PATH_ROOT")
    if root:
        yield Path(root).expanduser() / "data" / "sessions"
        return
    yield around.data / "goose" / "sessions"
    yield around.programs / "Block" / "goose" / "sessions"
    yield around.programs / "Block" / "goose" / "data" / "sessions"
    yield around.home / ".goose" / "sessions"


def _amp(around: Surroundings) -> Iterator[Path]:
    yield around.named("AMP_DATA_DIR", around.data / "amp") / "threads"
    yield from (editor / "globalStorage" / "sourcegraph.amp" for editor in around.editors)


def _zed(around: Surroundings) -> Iterator[Path]:
    data = around.named("FLATPAK_XDG_DATA_HOME", around.data) / "zed"
    if around.platform == "darwin":
        data = around.programs / "Zed"
    if around.platform == "win32":
        data = around.named("LOCALAPPDATA", around.home / "AppData" / "Local") / "Zed"
    yield data / "threads" / "threads.db"
    yield data / "conversations"


def _amazon_q(around: Surroundings) -> Iterator[Path]:
    for folder in (around.data, around.programs):
        yield from (folder / name / "data.sqlite3" for name in ("amazon-q", "kiro-cli"))
    yield around.home / ".kiro" / "sessions" / "cli"


def _llm(around: Surroundings) -> Iterator[Path]:
    yield around.named("LLM_USER_PATH", around.programs / "io.datasette.llm") / "logs.db"


def _crush(around: Surroundings) -> Iterator[Path]:
    """The databases of the projects in which Crush says that it was used; it keeps one in each of them."""
    listed = around.named("CRUSH_GLOBAL_DATA", around.data / "crush") / "projects.json"
    try:
        told = json.loads(listed.read_bytes())
    except (OSError, ValueError):
        return
    projects = told.get("projects") if isinstance(told, dict) else None
    for project in projects if isinstance(projects, list) else ():
        match project:
            case {"path": str(path), "data_dir": str(folder)}:
                yield Path(path, folder, "crush.db")


def _kimi(around: Surroundings) -> Iterator[Path]:
    yield around.named("KIMI_CODE_HOME", around.home / ".kimi-code") / "sessions"
    yield around.home / ".kimi" / "sessions"


def _openclaw(around: Surroundings) -> Iterator[Path]:
    folder = around.named("OPENCLAW_STATE_DIR", around.home / ".openclaw")
    yield from sorted(folder.glob("agents/*/sessions"))


def _vibe(around: Surroundings) -> Iterator[Path]:
    folder = around.named("VIBE_HOME", around.home / ".vibe") / "logs" / "session"
    yield folder / "unified"
    yield from sorted(folder.glob("session_*"))  # before the third version


def _below_home(*names: str) -> Callable[[Surroundings], Iterator[Path]]:
    return lambda around: (around.home / name for name in names)


PLACES: Mapping[str, Callable[[Surroundings], Iterator[Path]]] = {
    "Claude Code": _claude,
    "Codex": _codex,
    "Gemini CLI": _gemini,
    "OpenCode, Kilo CLI": lambda around: iter([around.data / "opencode", around.data / "kilo"]),
    "Cline, Roo Code, Kilo Code": _extensions,
    "Continue": lambda around: iter([around.named("CONTINUE_GLOBAL_DIR", around.home / ".continue") / "sessions"]),
    "Copilot Chat": _copilot_chat,
    "Copilot CLI": _copilot_cli,
    "Cursor": _cursor,
    "Goose": _goose,
    "Amp": _amp,
    "Zed": _zed,
    "Qwen Code": _below_home(".qwen/projects", ".qwen/tmp"),
    "Factory Droid": _below_home(".factory/sessions"),
    "pi": _below_home(".pi/agent/sessions"),
    "OpenClaw": _openclaw,
    "Amazon Q, Kiro CLI": _amazon_q,
    "Antigravity": _below_home(
        *(f".gemini/{name}/brain" for name in ("antigravity-cli", "antigravity", "antigravity-ide"))
    ),
    "Grok Build": lambda around: iter([around.named("GROK_HOME", around.home / ".grok") / "sessions"]),
    "Kimi": _kimi,
    "Hermes": lambda around: iter([around.named("HERMES_HOME", around.home / ".hermes") / "state.db"]),
    "Augment": _below_home(".augment/sessions"),
    "OpenHands": _below_home(".openhands/conversations"),
    "Mistral Vibe": _vibe,
    "Crush": _crush,
    "llm": _llm,
    "gptme": lambda around: iter([around.named("GPTME_LOGS_HOME", around.data / "gptme" / "logs")]),
    "LM Studio": _below_home(".lmstudio/conversations", ".cache/lm-studio/conversations"),
}
"""By program, from what its sources say of where it writes."""
