"""`task`: tasks by hand, and what they are looked up by."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pastchats_memory.cli import DONE, NOTHING, options, reindex
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.export import put_out
from pastchats_memory.cli.output import counted, emit_json, hanging, is_terminal, notify, table, warn
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.memory.requests import find_current_project, resolve_project, task_filters
from pastchats_memory.model import OPEN, TYPES, StoredTask
from pastchats_memory.tasks.edit import Change
from pastchats_memory.text.display import escape_name, sanitise
from pastchats_memory.views.answers.search import build_search
from pastchats_memory.views.answers.tasks import TaskBody
from pastchats_memory.views.task_text import make_hit_rows, make_task_rows, render_task
from pastchats_memory.views.to_json import to_json


@click.group(
    "task",
    epilog="""\b
Examples:
  pastchats-memory task add 'Fix the login bug' --priority 1 --tag auth
  pastchats-memory task comment T-1 'The cookie expires too early'
  pastchats-memory task recall 'login'
""",
)
def command() -> None:
    """Add, change, comment, attach, link, list, show, delete, recall, export and import tasks."""


_BY_DEFAULT = {"default_map": {"reindex": {"embeddings": True}}}
command.add_command(click.Group("maintenance", {"reindex": reindex.command}, hidden=True, context_settings=_BY_DEFAULT))


def _fields(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--description", metavar="TEXT", help="Description of the work."),
        click.option("--type", "type_", metavar="TYPE", help=f"One of {', '.join(TYPES)}."),
        click.option("--status", metavar="STATUS", help="pending, in_progress, blocked, … or a synonym such as done."),
        click.option("--priority", metavar="0-4", help="0 critical … 4 lowest; 5 means 4."),
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeat for several."),
        click.option("--project", metavar="NAME", help="`.` is the one you are in."),
        click.option("--parent", metavar="KEY", help="The parent task."),
        click.option("--due", metavar="DAY", help="An ISO date, or such as friday, 3d or 'next week'."),
    ):
        function = option(function)
    return function


def _change(fields: dict[str, Any], **more: Any) -> Change:
    from pastchats_memory.text.dates import parse_time  # a list of tasks needs no dates

    due = fields["due"]
    return Change(
        description=fields["description"], type=fields["type_"], status=fields["status"], priority=fields["priority"],
        tags=fields["tags"] or None, project=resolve_project(fields["project"]), parent=fields["parent"],
        due=due and parse_time(due, is_end=True, is_ahead=True), **more,
    )  # fmt: skip


def _show(task: StoredTask, message: str, *, as_json: bool) -> int:
    if as_json:
        emit_json(to_json(TaskBody(results=[task])))
    else:
        click.echo(hanging(sanitise(message)))
    return DONE


@make_command(
    "add",
    "pastchats-memory task add 'Fix the login bug' --type task --parent T-1 --depends T-2",
    group=command,
)
@click.argument("title")
@click.option("--key", metavar="KEY", help="Key of the task [default: T-1, T-2, …].")
@click.option("--depends", multiple=True, metavar="KEY", help="A task that it depends on; repeat for several.")
@_fields
@options.database
@options.as_json
def add(title: str, key: str | None, depends: tuple[str, ...], db: str | None, as_json: bool, **fields: Any) -> int:
    """Add a task; creates the database if there is none."""
    if fields["project"] is None:
        fields["project"] = find_current_project() or ""
    change = _change(fields, title=title)
    with options.open_memory(db, create=True) as memory:
        task = memory.tasks.add(change, depends, key)
    return _show(task, f"✅ Task created: {task.key}", as_json=as_json)


@make_command(
    "update",
    "pastchats-memory task update T-1 --status done",
    group=command,
)
@click.argument("key")
@click.option("--title", metavar="TEXT", help="New title.")
@_fields
@options.database
@options.as_json
def update(key: str, title: str | None, db: str | None, as_json: bool, **fields: Any) -> int:
    """Change fields of a task; other fields stay. An empty --parent removes the task from its parent."""
    change = _change(fields, title=title)
    with options.open_memory(db) as memory:
        task = memory.tasks.update(key, change)
    return _show(task, f"Updated {task.key} ({task.status})", as_json=as_json)


@make_command(
    "comment",
    "pastchats-memory task comment T-1 'Reproduced with two workers'",
    group=command,
)
@click.argument("key")
@click.argument("text")
@click.option("--author", default="", metavar="NAME", help="Author of the comment.")
@options.database
@options.as_json
def comment(key: str, text: str, author: str, db: str | None, as_json: bool) -> int:
    """Add a comment to a task. The comment can be found by its own words."""
    with options.open_memory(db) as memory:
        task = memory.tasks.comment(key, text, author)
    return _show(task, f"Commented on {task.key}", as_json=as_json)


@make_command(
    "attach",
    "pastchats-memory task attach T-1 build.log",
    group=command,
)
@click.argument("key")
@click.argument("file", type=click.Path(path_type=Path))
@options.database
@options.as_json
def attach(key: str, file: Path, db: str | None, as_json: bool) -> int:
    """Attach a file to a task. Its text can be found; of a binary file, name, size and hash are stored."""
    with options.open_memory(db) as memory:
        task = memory.tasks.attach(key, file)
    binary = " (binary: known by its name alone)" if task.attachments[-1].content is None else ""
    return _show(task, f"Attached {file.name} to {task.key}{binary}", as_json=as_json)


@make_command(
    "depend",
    "pastchats-memory task depend T-3 T-1 T-2",
    group=command,
)
@click.argument("key")
@click.argument("on", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Remove the dependency.")
@options.database
@options.as_json
def depend(key: str, on: tuple[str, ...], remove: bool, db: str | None, as_json: bool) -> int:
    """Make a task wait for others."""
    with options.open_memory(db) as memory:
        task = memory.tasks.depend(key, on, remove=remove)
    return _show(task, f"{task.key} {'no longer ' if remove else ''}depends on {', '.join(on)}", as_json=as_json)


@make_command(
    "list",
    "pastchats-memory task list --status todo,in_progress --project .",
    "pastchats-memory task list --epic EPIC-2 --blocked",
    "pastchats-memory task list --depends-on TREK-45 --all",
    group=command,
)
@options.project
@click.option("--status", metavar="A,B", help="Statuses, synonyms or raw words [default: unfinished tasks].")
@click.option("--all", "is_all", is_flag=True, help="Finished tasks, too.")
@click.option("--priority", metavar="0,1", help="0 critical … 4 lowest.")
@click.option("--type", "type_", type=options.Choice(TYPES), help="Only this type; task includes epics and subtasks.")
@click.option("--epic", metavar="KEY", help="Only parts of this epic, named by key or title.")
@click.option("--no-epic", is_flag=True, help="Only tasks without an epic.")
@click.option("--blocked", is_flag=True, help="Only tasks that are blocked, or wait for an unfinished task.")
@click.option("--depends-on", metavar="KEY", help="Only tasks that wait for this one.")
@options.since
@options.until
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Tasks at most.")
@options.database
@options.as_json
def list_(limit: int, db: str | None, as_json: bool, is_all: bool, no_epic: bool, **how: Any) -> int:
    """List unfinished tasks, or all with --all, the most urgent first."""
    relations = {name: how.pop(name) for name in ("epic", "depends_on", "blocked")}
    filters = task_filters(**how)
    if not (is_all or filters.statuses):
        filters = filters._replace(statuses=(*OPEN, "unknown"))
    with options.open_memory(db) as memory:
        found = memory.tasks.list_tasks(filters, limit + 1, has_epic=not no_epic, **relations)
    tasks = found[:limit]
    if as_json:
        emit_json(to_json(TaskBody(results=tasks)))
    elif tasks:
        click.echo(table(make_task_rows(tasks), ["id", "status", "prio", "project", "title"], stretch=4))
        if len(found) > limit:
            notify(f"… and more: these are the first {limit:,}, --limit shows others.")
    else:
        notify("No task fits." if is_all else "No unfinished task fits; --all lists the finished ones, too.")
    return DONE if tasks else NOTHING


@make_command(
    "show",
    "pastchats-memory task show T-1",
    group=command,
)
@click.argument("key")
@options.database
@options.as_json
def show(key: str, db: str | None, as_json: bool) -> int:
    """Show a task with its history, links, comments and attachments."""
    with options.open_memory(db) as memory:
        task = memory.tasks.get_task(key)
    return _show(task, render_task(task), as_json=as_json)


@make_command(
    "delete",
    "pastchats-memory task delete T-1 --yes",
    "pastchats-memory task delete c:5 --yes",
    group=command,
)
@click.argument("key")
@click.option("--yes/--no", default=None, help="Delete or keep it without asking.")
@options.database
@options.as_json
def delete(key: str, yes: bool | None, db: str | None, as_json: bool) -> int:
    """Delete a task, a comment or an attachment. T-1 deletes all that belongs to the task, c:5 or a:7 only itself."""
    with options.open_memory(db) as memory:
        if memory.tasks.find_item(key) is None:
            raise InputMissing(f"there is no {key}", "See `pastchats-memory task list --all`.")
        if yes is None:
            yes = is_terminal(sys.stdin) and click.confirm(f"Delete {escape_name(key)} for good?", err=True)
        if not yes:
            notify(f"{escape_name(key)} was not deleted; --yes deletes it.")
            return NOTHING
        title = memory.tasks.delete(key)
    if as_json:
        emit_json(to_json(TaskBody(deleted=key)))
    else:
        click.echo(f"Deleted {escape_name(key)} ({escape_name(title)})")
    return DONE


@make_command(
    "recall",
    "pastchats-memory task recall 'retry of webhooks' --status done",
    group=command,
)
@options.query
@click.option("--status", metavar="A,B", help="Statuses, synonyms or raw words.")
@click.option("--priority", metavar="0,1", help="0 critical … 4 lowest.")
@options.project
@options.since
@options.until
@click.option("--limit", type=click.IntRange(1, 250), default=10, show_default=True, help="Tasks at most.")
@options.database
@options.as_json
def recall(
    query_words: tuple[str, ...], query_option: str | None, limit: int, db: str | None, as_json: bool, **how: Any
) -> int:
    """Find tasks about QUERY by their text, comments and attachments."""
    query = options.query_text(query_words, query_option)
    with options.open_memory(db) as memory:
        hits = memory.tasks.recall(query, task_filters(**how, parts=True), limit)
    if as_json:
        emit_json(build_search(hits))
    elif hits:
        click.echo(table(make_hit_rows(hits), ["ID", "Score", "Status", "Title"], stretch=3))
    else:
        click.echo("No task has to do with it.", err=True)
    warn(hits.warnings)
    return DONE if hits else NOTHING


@make_command(
    "export",
    "pastchats-memory task export tasks.jsonl",
    group=command,
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Replace an existing FILE.")
@options.database
def export(file: Path | None, force: bool, db: str | None) -> int:
    """Write every task as JSON Lines, to FILE or to stdout. A line holds all that belongs to the task."""
    options.interrupt_in_order()
    with options.open_memory(db) as memory:
        number = put_out(memory.tasks, "task", file, force=force)
        if unseen := memory.tasks.count_hidden():
            warn([f"{counted(unseen, 'task')} of private projects left out: export from inside them"])
    return DONE if number else NOTHING


def _read(file: Path) -> str:
    """Return the text of a file; a pipe into which nobody writes is empty. Raises OSError, UnicodeDecodeError."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if sys.platform != "win32":
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, encoding="utf-8") as stream:
        return stream.read()


@make_command(
    "import",
    "pastchats-memory task import tasks.jsonl",
    group=command,
)
@click.argument("file", type=click.Path(path_type=Path))
@options.database
@options.as_json
def import_(file: Path, db: str | None, as_json: bool) -> int:
    """Read what `task export` wrote. Either all of it is stored or nothing. Known tasks are updated, never doubled.

    A link that would make a task its own ancestor, or wait for itself, is left out.
    """
    try:
        text = sys.stdin.read() if str(file) == "-" else _read(file)
    except OSError as fault:
        raise UsageFault(f"{file}: {fault.strerror}", "Name what `task export` wrote.") from fault
    except UnicodeDecodeError as fault:
        raise UsageFault(f"{file} is no UTF-8 text", "Name what `task export` wrote.") from fault
    with options.open_memory(db, create=True) as memory:
        done = memory.tasks.import_lines(text.split("\n"))
    if as_json:
        emit_json(to_json(TaskBody(**done)))  # type: ignore[arg-type] # the counts of an import
    else:
        circles = done.pop("circles")
        click.echo(", ".join(f"{number} {what}" for what, number in done.items()))
        if circles:
            warn([f"{counted(circles, 'link')} left out: tasks would be above themselves, or wait for themselves"])
    return DONE
