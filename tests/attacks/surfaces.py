"""Every place that shows text of a memory, taken from the registries, with arguments to ask it with.

A walk raises KeyError if a registry has an entry that no table here names.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import httpx
from inprocess import Shell
from mcp.server.mcpserver.exceptions import ToolError
from served import chat_endpoint

from pastchats_memory import cli, hooks
from pastchats_memory.config import load
from pastchats_memory.formats.registry import BUILT_IN, load_format
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.http import OpenMemory, make_application
from pastchats_memory.http.chat import Upstream
from pastchats_memory.http.page import FORM_TOKEN, PAGES
from pastchats_memory.http.page.session import Sessions
from pastchats_memory.mcp import make_server

Known = Mapping[str, str]
"""What arguments name: `query`, `turn`, `key`, `other_key`, `conversation`, `project`, `file`, `command`, `text` and `history`."""
Fields = Mapping[str, str]
Shown = tuple[str, str]
"""A name in a registry, and all that it showed."""

NO_VIEWS = (
    "serve",
    "mcp",
    "man",
    "completion",
    "setup",
    "install",
    "uninstall",
    "purge",
    "restore",
    "formats",
    "config",
)
"""Commands that print nothing that is stored, or end a memory. `setup` changes agents."""
COMMAND_TRIES: Mapping[str, tuple[str, ...]] = {
    "index": (". --dry-run",),
    "search": ("{query}", "{query} --mode keyword", "{query} --mode semantic", "{query} --type task", "{query} --project {project}"),
    "recall": ("{query}", "{query} --project {project}"),
    "context": ("{query}",),
    "show": ("{turn}", "t:{key}", "c:1", "a:1", "--conversation {conversation}"),
    "open": ("{turn} --print",),
    "resume": ("{turn}",),
    "where": ("",),
    "handoff": ("", "{turn}"),
    "task add": ("New",),
    "task update": ("{key} --status done",),
    "task comment": ("{key} Hello",),
    "task depend": ("{key} {key}",),
    "task attach": ("{key} copy.db",),
    "task show": ("{key}",),
    "task list": ("--all", "--project {project}"),
    "task recall": ("{query}",),
    "task delete": ("{key} --no",),
    "task export": ("",),
    "task import": ("none.jsonl",),
    "task maintenance reindex": ("",),
    "capture": ("{text}",),
    "ask": ("{query}", "'which tasks are finished?'"),
    "lessons": ("--all", "--project {project}"),
    "log": ("", "--last", "--session {conversation}"),
    "how": ("{query} --all", "{query} --project {project}"),
    "blame": ("{file}",),
    "timeline": ("--since 2026-05-01", "--since 2026-05-01 --project {project}"),
    "digest": ("--since 2026-05-01", "--since 2026-05-01 --project {project}"),
    "judge": ("--all --outcome worked,failed,mixed,unknown", "{turn}", "{turn} worked --because 'It stands nowhere.'", "{turn} --undo"),
    "similar": ("{key}", "{other_key}"),
    "find-duplicates": ("{query}",),
    "duplicates": ("--scan",),
    "check-prior-work": ("{query}",),
    "consult-episodic-memory": ("{query}",),
    "status": ("",),
    "verify": ("",),
    "doctor": ("",),
    "sources": ("",),
    "reindex": ("--outcomes",),
    "redact": ("--rescan --no",),
    "backup": ("copy.db",),
    "sync": ("--status",),
    "team status": ("",),
    "team init": ("",),
    "team try": ("--help",),
    "team share": ("{project}",),
    "team withdraw": ("--all --no",),
    "team push": ("",),
    "team pull": ("",),
    "forget": ("--list", "--query {query}", "{turn}"),
    "exclude": ("--list", "--project nowhere --remove"),
    "prune": ("--before 2030-01-01",),
    "export": ("", "--markdown --query {query}", "--html --conversation {conversation}"),
}  # fmt: skip
SILENT_COMMANDS = frozenset({
    "log", "index", "open", "resume", "task add", "task delete", "task depend", "task attach", "task import", "task maintenance reindex",
    "status", "verify", "doctor", "sources", "reindex", "redact", "backup", "sync", "exclude",
    "team status", "team init", "team try", "team share", "team withdraw", "team push", "team pull",
})  # fmt: skip
"""Commands that print numbers, names and places, and no text of a row."""

PAGE_TRIES: Mapping[str, tuple[Fields, ...]] = {
    "GET /": ({}, {"query": "{query}"}, {"query": "{query}", "mode": "keyword"}, {"query": "{query}", "project": "{project}"}),
    "GET /turn": ({"id": "{turn}"}, {"id": "t:{key}"}, {"id": "c:1"}, {"id": "a:1"}),
    "GET /conversation": ({"id": "{conversation}", "project": "{project}", "turn": "{turn}", "query": "{query}"},),
    "GET /calls": ({"id": "{turn}"}, {"id": "{answer}"}),
    "GET /file": ({"name": "pump.py"},),
    "GET /handoff": ({"id": "{turn}"},),
    "GET /log": ({},),
    "POST /task": ({"key": "{key}", "status": "completed"},),
    "GET /conversation.md": ({"id": "{conversation}"},),
    "GET /conversation.html": ({"id": "{conversation}"},),
    "GET /forget": ({}, {"query": "{query}"}, {"id": "{turn}"}, {"project": "{project}"}),
    "POST /forget": ({"query": "{query}", "total": "0"},),
    "POST /forget/undo": ({"number": "99"},),
    "GET /exclude": ({}, {"project": "{project}"}),
    "POST /exclude": ({"remove": "nowhere"},),
    "GET /judge": ({}, {"project": "{project}"}, {"id": "{turn}"}),
    "POST /judge": ({"id": "{turn}", "verdict": "worked", "because": "It stands nowhere."}, {"id": "{turn}", "undo": "yes"}),
    "GET /capture": ({},),
    "POST /capture": ({"text": "{text}"},),
    "GET /projects": ({},),
    "GET /project": ({"name": "{project}"},),
    "GET /timeline": ({},),
    "GET /lessons": ({}, {"project": "{project}"}),
    "GET /settings": ({},),
    "GET /sources": ({},),
    "GET /task": ({"key": "{key}"}, {"key": "c:1"}, {"key": "a:1"}),
    "GET /tasks": ({}, {"project": "{project}"}),
}  # fmt: skip
SILENT_PAGES = frozenset({
    "POST /forget/undo", "GET /exclude", "POST /exclude", "GET /capture", "GET /projects", "GET /settings", "GET /sources",
    "GET /log",
})  # fmt: skip
"""Pages without text of a row."""

ROUTE_TRIES: Mapping[str, tuple[Fields, ...]] = {
    "/api/v1/search/semantic": ({"query": "{query}"},),
    "/search": ({"query": "{query}"}, {"query": "{query}", "mode": "keyword"}, {"query": "{query}", "project": "{project}"}),
    "/recall": ({"query": "{query}"}, {"query": "{query}", "project": "{project}"}),
    "/lessons": ({}, {"project": "{project}"}),
    "/how": ({"query": "{query}"}, {"query": "{query}", "project": "{project}"}),
    "/context": ({"query": "{query}"},),
    "/items/{id}": ({"id": "{turn}"}, {"id": "t:{key}"}, {"id": "c:1"}, {"id": "a:1"}),
    "/tasks": ({}, {"project": "{project}"}),
    "/tasks/{key}": ({"key": "{key}"},),
    "/healthz": ({},),
    "/openapi.json": ({},),
    "/v1/chat/completions": ({"query": "{query}"},),
    "/v1/models": ({},),
    "/v1/models/{name}": ({"name": "m"},),
}  # fmt: skip
"""Fields of each route; those in braces of its path stand in the path."""
SILENT_ROUTES = frozenset({"/healthz", "/openapi.json", "/v1/models", "/v1/models/{name}"})

TOOL_TRIES: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "search": ({"query": "{query}"}, {"query": "{query}", "project": "{project}"}),
    "recall": ({"query": "{query}"},),
    "read": ({"id": "{turn}"}, {"id": "t:{key}"}, {"id": "c:1"}, {"id": "a:1"}),
    "find_similar": ({"text": "{query}"}, {"taskId": "{key}"}, {"id": "{turn}"}),
    "check_prior_work": ({"query": "{query}"},),
    "consult_episodic_memory": ({"problem_context": "{query}"},),
    "lessons": ({}, {"project": "*"}),
    "how": ({"query": "{query}"}, {"query": "{query}", "project": "*"}),
    "unjudged": ({"project": "*", "outcome": "worked,failed,mixed,unknown"},),
    "status": ({},),
    "judge": ({"id": "{turn}", "outcome": "worked", "because": "It stands nowhere."}, {"id": "{turn}", "outcome": None}),
    "store_turn": ({"role": "user", "content": "Hello."},),
    "index_paths": ({"paths": ["{history}"]},),
}  # fmt: skip
SILENT_TOOLS = frozenset({"status", "store_turn", "index_paths"})

HOOK_TRIES: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "recall": ({"prompt": "{query}"},),
    "warn": ({"tool": "Bash", "arguments": {"command": "{command}"}}, {"tool": "Edit", "arguments": {"file_path": "{file}"}}),
    "cure": ({"tool": "Bash", "arguments": {"command": "{command}"}, "error": 'npm error Missing script: "flood"'},),
    "greet": ({}, {"source": "compact"}),
    "brief": ({"tool": "Agent", "arguments": {"prompt": "{query}"}}, {"tool": "invoke_agent", "arguments": {"prompt": "{query}"}}),
    "index": (),
    "compact": (),
}  # fmt: skip
"""Events by what a hook does with them; it answers none that only asks for an index run."""
SILENT_HOOKS = frozenset({"index", "compact"})


@dataclass(frozen=True)
class ClosingUpstream(Upstream):
    """An upstream whose clients can be closed."""

    clients: list[httpx.AsyncClient] = field(default_factory=list)

    def make_client(self) -> httpx.AsyncClient:
        self.clients.append(Upstream.make_client(self))
        return self.clients[-1]


def fill(value: Any, known: Known) -> Any:
    """Return a value with the names in braces replaced."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda found: known[found[1]], value)
    if isinstance(value, Mapping):
        return {name: fill(one, known) for name, one in value.items()}
    return [fill(one, known) for one in value] if isinstance(value, list) else value


def list_commands(group: click.Command, *before: str) -> Iterator[str]:
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from list_commands(command, *before, name)
    else:
        yield " ".join(before)


COMMANDS = [name for name in list_commands(cli.program) if name.split()[0] not in NO_VIEWS]


def list_calls(name: str, known: Known) -> Iterator[list[str]]:
    """Yield the arguments of each try of a command."""
    quoted = {key: shlex.quote(value) for key, value in known.items()}
    for words in COMMAND_TRIES[name]:
        yield [*name.split(), *shlex.split(fill(words, quoted))]


def ask_commands(shell: Shell, known: Known, folder: Path) -> Iterator[Shown]:
    for name in COMMANDS:
        for words in list_calls(name, known):
            for form in ([], ["--json"]):
                run = shell(*words, *form, at=folder)
                assert run.status in (0, 1, 2), (words, run.stderr)
                yield name, run.stdout + run.stderr


def ask_hooks(known: Known, folder: Path) -> Iterator[Shown]:
    """Yield the answer to each event of each agent."""
    for name in BUILT_IN:
        format_ = load_format(name)
        for event, action in (format_.hooks.events if format_.hooks else {}).items():
            for fields in HOOK_TRIES[action]:
                received = HookEvent(cwd=str(folder), **fill(fields, known))
                assert format_.hooks is not None
                answer = hooks._answer(format_, format_.hooks, event, received, None, None)  # noqa: SLF001 - `main` ends the process
                yield f"{name} {event} {action}", json.dumps(answer)


async def ask_tools(known: Known) -> AsyncIterator[Shown]:
    server = make_server(load(), allow_write=True)
    for tool in await server.list_tools():
        for arguments in TOOL_TRIES[tool.name]:
            try:
                result = await server.call_tool(tool.name, fill(arguments, known))
                yield tool.name, result.model_dump_json()
            except ToolError as fault:
                yield tool.name, str(fault)


async def ask_pages(known: Known) -> AsyncIterator[Shown]:
    links: list[str] = []
    sessions = Sessions("http://127.0.0.1", 80, links.append)
    sessions.report_link("")
    memory = OpenMemory(load(), print)
    app = make_application(memory, lambda: None, None, sessions)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", follow_redirects=True) as client:
        form = (await client.get(links[0].removeprefix(": "))).text + (await client.get("/page/capture")).text
        found = re.search(rf'name="{FORM_TOKEN}" value="(\w+)"', form)
        assert found is not None
        for page in PAGES:
            name = f"{'POST' if page.is_form else 'GET'} {page.path}"
            path = page.path if page.path == "/" else f"/page{page.path}"
            for fields in PAGE_TRIES[name]:
                given = fill(fields, known)
                if page.is_form:
                    answer = await client.post(path, data={**given, FORM_TOKEN: found[1]})
                else:
                    answer = await client.get(path, params=given)
                assert answer.status_code != 401, name
                yield name, answer.text
    await memory.close()


async def ask_routes(known: Known) -> AsyncIterator[Shown]:
    """Yield the answers of all routes that the server describes, and what it sends to the chat endpoint."""
    memory = OpenMemory(load(), print)
    with chat_endpoint() as endpoint:
        upstream = ClosingUpstream(endpoint.url)
        app = make_application(memory, lambda: "sesame", upstream, Sessions("http://localhost", 80, print))
        transport, token = httpx.ASGITransport(app), {"X-Memory-Token": "sesame"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=token) as client:
            described = (await client.get("/openapi.json")).json()["paths"]
            for path, operations in described.items():
                for fields in ROUTE_TRIES[path]:
                    given = fill(fields, known)
                    url = path.format(**given)
                    rest = {name: value for name, value in given.items() if f"{{{name}}}" not in path}
                    if "post" in operations:
                        asked = {"messages": [{"role": "user", "content": rest["query"]}]}
                        answer = await client.post(url, json=asked)
                    else:
                        answer = await client.get(url, params=rest)
                    yield path, answer.text + json.dumps([one["body"] for one in endpoint.seen])
                    endpoint.seen.clear()
        for one in upstream.clients:
            await one.aclose()
    await memory.close()
