"""`open` and `resume`: go from a hit to its source, and back into its session."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path, PurePath

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import emit_json, is_terminal, notify
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.archives import archive_of, is_archive
from pastchats_memory.files.command_line import join_command
from pastchats_memory.files.processes import run_in_foreground
from pastchats_memory.files.stored_path import other_machine, resolve_path
from pastchats_memory.formats.base.source import SQLITE
from pastchats_memory.text.display import escape_name, escape_path, one_line, sanitise
from pastchats_memory.views.answers.sources import OPEN, RESUME, Opened

PLUS = r"n?vim?|gvim|view|nano|pico|emacs(client)?|micro|kak|joe|jed|ne|mcedit|gedit|kate|mg|ex|vis|amp"
GOTO = r"code(-insiders)?|codium|vscodium|cursor|windsurf|kiro|trae|positron"
COLON = r"hx|helix|zed|zeditor|subl|sublime_text|lapce|fresh"
LINE = r"idea|pycharm|webstorm|goland|clion|phpstorm|rubymine|rider|rustrover|studio|fleet|xed|textmate|mate"
EDITORS: tuple[tuple[str, Callable[[str, int], list[str]]], ...] = (
    (PLUS, lambda path, line: [f"+{line}", path]),
    (GOTO, lambda path, line: ["--goto", f"{path}:{line}"]),
    (COLON, lambda path, line: [f"{path}:{line}"]),
    (LINE, lambda path, line: ["--line", str(line), path]),
    (r"notepad\+\+", lambda path, line: [f"-n{line}", path]),
)
"""How each family of editors, by the name of its program, is told the line. Other editors get the file alone."""


@make_command(
    "open",
    "pastchats-memory open 12",
    "EDITOR='code --wait' pastchats-memory open 12",
    "pastchats-memory open t:WEB-12 --print",
)
@click.argument("id_", metavar="ID")
@click.option("--print", "only_print", is_flag=True, help="Print the editor's command, and open nothing.")
@options.database
@options.as_json
def command(id_: str, only_print: bool, db: str | None, as_json: bool) -> int:
    """Open the source of an item at its line, in $VISUAL or $EDITOR.

    Without a terminal it prints the editor's command, as --print does.
    """
    with options.open_memory(db) as memory:
        place = memory.find_source(id_)
    if place is None:
        _explain_missing(id_)
        if as_json:
            emit_json(OPEN.build([]))
        return NOTHING
    path = resolve_path(place.path)
    if (obstacle := _find_obstacle(path)) is not None:
        text = f"{escape_path(place.path)} {obstacle}. `pastchats-memory show {escape_name(id_)}` has the text."
        click.echo(text, err=True)
        if as_json:
            emit_json(OPEN.build([]))
        return NOTHING
    line = [] if as_json and not _editor() else _edit(str(path), place.line)
    if as_json:
        emit_json(OPEN.build([Opened(place.path, place.line, line)]))
    elif only_print or not is_terminal(sys.stdout):
        click.echo(sanitise(join_command(line)))
    else:
        return run_in_foreground(line)
    return DONE


def _find_obstacle(path: Path) -> str | None:
    """Return why an editor cannot show a source; None if it can."""
    if archive_of(path) is not None or is_archive(str(path)):
        return "is in an archive"
    try:
        with path.open("rb") as file:
            return "is a database" if file.read(len(SQLITE)) == SQLITE else None
    except OSError as fault:
        if host := other_machine(str(path)):
            return f"lies on the machine {escape_name(host)}"
        return "is gone" if isinstance(fault, FileNotFoundError) else f"cannot be read ({fault.strerror})"


def _explain_missing(id_: str) -> None:
    notify(f"There is no item {escape_name(id_)} with a file. Ids stand in the output of search and recall.")


def _editor() -> list[str]:
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")


def _edit(path: str, line: int) -> list[str]:
    """Return the command that opens a file at a line. Raises UsageFault without an editor."""
    editor = _editor()
    if not editor:
        where = sanitise(f"{path}:{line}")
        raise UsageFault(f"no editor is set; the source is {where}", "Set one: export EDITOR=nano")
    name = PurePath(editor[0]).name.lower().removesuffix(".exe").removesuffix(".cmd")
    arguments = next((how for pattern, how in EDITORS if re.fullmatch(pattern, name)), lambda path, _: [path])
    return [*editor, *arguments(os.path.abspath(path), max(line, 1))]  # noqa: PTH100 - no option can begin with a slash


@make_command(
    "resume",
    "pastchats-memory resume 12",
    "pastchats-memory resume 12 --run",
    'eval "$(pastchats-memory resume 12)"',
)
@click.argument("id_", metavar="ID")
@click.option("--run", "run", is_flag=True, help="Start the agent in the session's folder.")
@options.database
@options.as_json
def resume(id_: str, run: bool, db: str | None, as_json: bool) -> int:
    """Print the agent's own command that resumes the session of an item, or why there is none."""
    with options.open_memory(db) as memory:
        found = memory.find_resumption(id_)
    if found is None:
        _explain_missing(id_)
        if as_json:
            emit_json(RESUME.build([]))
        return NOTHING
    if as_json:
        emit_json(RESUME.build([found]))
    elif found.reason:
        notify(f"It cannot be resumed: {one_line(found.reason)}.")
    elif run:
        click.echo(sanitise(join_command(found.command, found.folder)), err=True)
        return run_in_foreground(found.command, found.folder)
    else:
        click.echo(sanitise(join_command(found.command, found.folder)))
    return NOTHING if found.reason else DONE
