"""Write the plugins of agents, the entry of the MCP registry, wrappers, the manual page and the shell completion.

Name, version, description and the repository's address stand in `pyproject.toml`, and hooks in each agent's format. A test
requires that every file is current.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from pastchats_memory.cli import COMPLETION_VARIABLE, program
from pastchats_memory.cli.man import page
from pastchats_memory.formats.base.hooks import HookDialect
from pastchats_memory.hooks.install import SKILLS, hook_entry, targets

REPOSITORY = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME: str = PROJECT["name"]
ADDRESS: str = PROJECT["urls"]["Repository"]
SHORT_DESCRIPTION = "Recalls what you and your coding agents tried before, what worked and what failed, offline"
"""The registry takes at most 100 characters."""
NAMES = (NAME, "pastchats")
"""The names of the program."""
SHELL_FILES = {
    "bash": "packaging/share/bash-completion/completions/{name}",
    "zsh": "packaging/share/zsh/site-functions/_{name}",
    "fish": "packaging/share/fish/vendor_completions.d/{name}.fish",
}
SERVER = {"command": NAME, "args": ["mcp"]}
ABOUT = {
    "name": NAME,
    "version": PROJECT["version"],
    "description": SHORT_DESCRIPTION,
    "author": {"name": f"{NAME} contributors", "url": ADDRESS},
    "homepage": ADDRESS,
    "repository": ADDRESS,
    "license": PROJECT["license"],
    "keywords": PROJECT["keywords"],
}


def main() -> int:
    """Write every file. Return the exit code."""
    for name, text in render_all().items():
        path = REPOSITORY / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


def render_all() -> dict[str, str]:
    """Return the text of every file by its path in the repository."""
    plugins = {**render_claude_code(), **render_codex(), **render_gemini(), **copy_skills(".")}
    return {**plugins, **render_registry(), **render_wrappers(), **render_shell_files()}


def render_wrappers() -> dict[str, str]:
    """Render the manifests of the npm package, and of the bundle for desktop clients; both run the program by uv.

    https://docs.npmjs.com/cli/configuring-npm/package-json, https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
    """
    shared = {
        key: ABOUT[key] for key in ("name", "version", "description", "author", "homepage", "license", "keywords")
    }
    repository = {"type": "git", "url": ADDRESS}
    npm = {
        **shared,
        "repository": repository,
        "bin": {NAME: "run.js"},
        "files": ["run.js"],
        "engines": {"node": ">=18"},
    }
    run = {"command": "uv", "args": ["tool", "run", f"{NAME}=={PROJECT['version']}", "mcp"]}
    server = {"type": "binary", "entry_point": "uv", "mcp_config": run}
    bundle = {"manifest_version": "0.3", **shared, "repository": repository, "server": server}
    return {"packaging/npm/package.json": to_json(npm), "packaging/mcpb/manifest.json": to_json(bundle)}


def render_claude_code() -> dict[str, str]:
    """Render the marketplace with the plugin of Claude Code.

    https://code.claude.com/docs/en/plugins-reference, https://code.claude.com/docs/en/plugin-marketplaces
    """
    folder = "plugins/claude-code"
    entry = {"name": NAME, "source": f"./{folder}", "description": SHORT_DESCRIPTION}
    marketplace = {
        "name": NAME,
        "owner": {"name": ABOUT["author"]["name"]},
        "metadata": {"description": SHORT_DESCRIPTION, "version": PROJECT["version"]},
        "plugins": [entry],
    }
    return {
        ".claude-plugin/marketplace.json": to_json(marketplace),
        f"{folder}/.claude-plugin/plugin.json": to_json(ABOUT),
        f"{folder}/.mcp.json": to_json({"mcpServers": {NAME: SERVER}}),
        f"{folder}/hooks/hooks.json": render_hooks(targets()["claude-code"]),
        **copy_skills(folder),
    }


def render_codex() -> dict[str, str]:
    """Render the marketplace with the plugin of Codex (https://developers.openai.com/codex/plugins)."""
    folder = "plugins/codex"
    entry = {
        "name": NAME,
        "source": {"source": "local", "path": f"./{folder}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    manifest = {**ABOUT, "skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"}
    return {
        ".agents/plugins/marketplace.json": to_json({"name": NAME, "plugins": [entry]}),
        f"{folder}/.codex-plugin/plugin.json": to_json(manifest),
        f"{folder}/.mcp.json": to_json({"mcpServers": {NAME: SERVER}}),
        f"{folder}/hooks/hooks.json": render_hooks(targets()["codex"]),
        **copy_skills(folder),
    }


def render_gemini() -> dict[str, str]:
    """Render the extension of Gemini CLI (https://geminicli.com/docs/extensions/reference)."""
    folder = "plugins/gemini"
    manifest = {key: ABOUT[key] for key in ("name", "version", "description")} | {"mcpServers": {NAME: SERVER}}
    return {
        f"{folder}/gemini-extension.json": to_json(manifest),
        f"{folder}/hooks/hooks.json": render_hooks(targets()["gemini"]),
        **copy_skills(folder),
    }


def render_registry() -> dict[str, str]:
    """Render the entry of the MCP registry (https://github.com/modelcontextprotocol/registry)."""
    owner = ADDRESS.rsplit("/", 2)[1]
    package = {
        "registryType": "pypi",
        "identifier": NAME,
        "version": PROJECT["version"],
        "runtimeHint": "uvx",
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "transport": {"type": "stdio"},
    }
    server = {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"io.github.{owner}/{NAME}",
        "description": SHORT_DESCRIPTION,
        "repository": {"url": ADDRESS, "source": "github"},
        "version": PROJECT["version"],
        "packages": [package],
    }
    return {"packaging/server.json": to_json(server)}


def render_shell_files() -> dict[str, str]:
    """Render the manual page and the completion of each shell, for both names of the program."""
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    files = {f"packaging/share/man/man1/{NAME}.1": page()}
    files |= {f"packaging/share/man/man1/{other}.1": f".so man1/{NAME}.1\n" for other in NAMES[1:]}
    for completes in (BashComplete, FishComplete, ZshComplete):
        for name in NAMES:
            source = completes(program, {}, name, COMPLETION_VARIABLE).source()
            files[SHELL_FILES[completes.name].format(name=name)] = (
                "\n".join(line.rstrip() for line in source.strip().splitlines()) + "\n"
            )
    return files


def render_hooks(agent: HookDialect) -> str:
    """Render the hooks of an agent as its plugin declares them: the program is found on the PATH."""
    hooks = {event: [hook_entry(agent, event, f"{NAME} hook {agent.name} {event}")] for event in agent.events}
    return to_json({"hooks": hooks})


def copy_skills(folder: str) -> dict[str, str]:
    """Return our skills as files of a plugin."""
    return {
        f"{folder}/skills/{skill.parent.name}/SKILL.md": skill.read_text(encoding="utf-8")
        for skill in sorted(SKILLS.glob("*/SKILL.md"))
    }


def to_json(body: object) -> str:
    """Return a value as a file of JSON."""
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
