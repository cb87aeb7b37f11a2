"""`task`: tasks by hand, and what they are looked up by."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pastchats_memory.cli import DONE, NOTHING, options, reindex
from pastchats_memory.cli.asking import CommandResult, ask_memory, list_examples, make_command
from pastchats_memory.cli.export import put_out
from pastchats_memory.cli.output import emit_json, is_terminal, notify, table, warn
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.memory import Memory, questions
from pastchats_memory.memory.projects import find_current_project, resolve_project
from pastchats_memory.model import TYPES, StoredTask
from pastchats_memory.tasks.edit import Change
from pastchats_memory.text.dates import parse_time
from pastchats_memory.text.display import counted, escape_name, sanitise
from pastchats_memory.views.answers.search import build_search
from pastchats_memory.views.answers.tasks import TaskBody
from pastchats_memory.views.task_text import make_hit_rows, make_task_rows, render_task
from pastchats_memory.views.to_json import to_json


@click.group("task", epilog=list_examples("task"))
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


def _change(*, title: str | None, due: str | None, **fields: Any) -> Change:
    """Return the change that the arguments of a command describe. Raises UsageFault for a wrong one."""
    return Change(
        title=title,
        description=fields["description"], type=fields["type_"], status=fields["status"], priority=fields["priority"],
        tags=fields["tags"] or None, project=resolve_project(fields["project"]), parent=fields["parent"],
        due=due and parse_time(due, is_end=True, is_ahead=True),
    )  # fmt: skip


def _show_change(task: StoredTask, message: str) -> CommandResult:
    return CommandResult(lambda: to_json(TaskBody(results=[task])), lambda: sanitise(message))


@ask_memory("add", group=command, create=True, check=_change)
@click.argument("title")
@click.option("--key", metavar="KEY", help="Key of the task [default: T-1, T-2, …].")
@click.option("--depends", multiple=True, metavar="KEY", help="A task that it depends on; repeat for several.")
@_fields
def add(memory: Memory, title: str, key: str | None, depends: tuple[str, ...], **fields: Any) -> CommandResult:
    """Add a task; creates the database if there is none."""
    if fields["project"] is None:
        fields["project"] = find_current_project() or ""
    task = memory.tasks.add(_change(title=title, **fields), depends, key)
    return _show_change(task, f"✅ Task created: {task.key}")


@ask_memory("update", group=command, check=_change)
@click.argument("key")
@click.option("--title", metavar="TEXT", help="New title.")
@_fields
def update(memory: Memory, key: str, title: str | None, **fields: Any) -> CommandResult:
    """Change fields of a task; other fields stay. An empty --parent removes the task from its parent."""
    task = memory.tasks.update(key, _change(title=title, **fields))
    return _show_change(task, f"Updated {task.key} ({task.status})")


@ask_memory("comment", group=command)
@click.argument("key")
@click.argument("text")
@click.option("--author", default="", metavar="NAME", help="Author of the comment.")
def comment(memory: Memory, key: str, text: str, author: str) -> CommandResult:
    """Add a comment to a task. The comment can be found by its own words."""
    task = memory.tasks.comment(key, text, author)
    return _show_change(task, f"Commented on {task.key}")


@ask_memory("attach", group=command)
@click.argument("key")
@click.argument("file", type=click.Path(path_type=Path))
def attach(memory: Memory, key: str, file: Path) -> CommandResult:
    """Attach a file to a task. Its text can be found; of a binary file, name, size and hash are stored."""
    task = memory.tasks.attach(key, file)
    binary = " (binary: known by its name alone)" if task.attachments[-1].content is None else ""
    return _show_change(task, f"Attached {file.name} to {task.key}{binary}")


@ask_memory("depend", group=command)
@click.argument("key")
@click.argument("on", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Remove the dependency.")
def depend(memory: Memory, key: str, on: tuple[str, ...], remove: bool) -> CommandResult:
    """Make a task wait for others."""
    task = memory.tasks.depend(key, on, remove=remove)
    return _show_change(task, f"{task.key} {'no longer ' if remove else ''}depends on {', '.join(on)}")


@ask_memory("list", group=command)
@ask_for(questions.TASKS)
@click.option("--all", "is_all", is_flag=True, help="Finished tasks, too.")
def list_(memory: Memory, limit: int, is_all: bool, **how: Any) -> CommandResult:
    """List unfinished tasks, or all with --all, the most urgent first."""
    found = memory.list_tasks(**how, limit=limit + 1, unfinished=not is_all)
    tasks = found[:limit]
    return CommandResult(
        lambda: to_json(TaskBody(results=tasks)),
        lambda: table(make_task_rows(tasks), ["id", "status", "prio", "project", "title"], stretch=4),
        is_found=bool(tasks),
        nothing="No task fits." if is_all else "No unfinished task fits; --all lists the finished ones, too.",
        notes=[f"… and more: these are the first {limit:,}, --limit shows others."] if len(found) > limit else [],
    )


@ask_memory("show", group=command)
@click.argument("key")
def show(memory: Memory, key: str) -> CommandResult:
    """Show a task with its history, links, comments and attachments."""
    task = memory.tasks.get_task(key)
    return _show_change(task, render_task(task))


@make_command("delete", group=command)
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


@ask_memory("recall", group=command)
@ask_for(questions.TASK_SEARCH)
def recall(memory: Memory, query: str, **how: Any) -> CommandResult:
    """Find tasks about QUERY by their text, comments and attachments."""
    hits = memory.search_tasks(query, **how)
    return CommandResult(
        lambda: build_search(hits),
        lambda: table(make_hit_rows(hits), ["ID", "Score", "Status", "Title"], stretch=3),
        is_found=bool(hits),
        nothing="No task has to do with it.",
        warnings=hits.warnings,
    )


@make_command("export", group=command)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Replace an existing FILE.")
@options.database
def export(file: Path | None, force: bool, db: str | None) -> int:
    """Write every task as JSON Lines, to FILE or to stdout. A line holds all that belongs to the task."""
    options.interrupt_in_order()
    with options.open_memory(db) as memory:
        number = put_out(memory.tasks, "task", file, force=force)
        _, unseen = memory.count_hidden()
        if unseen:
            warn([f"{counted(unseen, 'task')} of private projects left out: export from inside them"])
    return DONE if number else NOTHING


def _read_export(context: click.Context, _: click.Parameter, file: Path) -> str:
    """Return the text of an export, or of stdin. Raises UsageFault if it cannot be read."""
    try:
        if context.resilient_parsing:
            return ""
        return sys.stdin.read() if str(file) == "-" else _read(file)
    except OSError as fault:
        raise UsageFault(f"{file}: {fault.strerror}", "Name what `task export` wrote.") from fault
    except UnicodeDecodeError as fault:
        raise UsageFault(f"{file} is no UTF-8 text", "Name what `task export` wrote.") from fault


def _read(file: Path) -> str:
    """Return the text of a file; a pipe into which nobody writes is empty. Raises OSError, UnicodeDecodeError."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if sys.platform != "win32":
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, encoding="utf-8") as stream:
        return stream.read()


@ask_memory("import", group=command, create=True)
@click.argument("text", metavar="FILE", type=click.Path(path_type=Path), callback=_read_export)
def import_(memory: Memory, text: str) -> CommandResult:
    """Read what `task export` wrote. Either all of it is stored or nothing. Known tasks are updated, never doubled.

    A link that would make a task its own ancestor, or wait for itself, is left out.
    """
    done = memory.tasks.import_lines(text.split("\n"))
    circles = f"{counted(done['circles'], 'link')} left out: tasks would be above themselves, or wait for themselves"
    return CommandResult(
        lambda: to_json(TaskBody(**done)),  # type: ignore[arg-type] # the counts of an import
        lambda: ", ".join(f"{number} {what}" for what, number in done.items() if what != "circles"),
        notes=[f"Warning: {circles}"] if done["circles"] else [],
    )
