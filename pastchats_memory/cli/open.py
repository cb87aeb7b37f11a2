"""`open` and `resume`: go from a hit to its source, and back into its session."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import is_terminal, notify
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.archives import archive_of, is_archive
from pastchats_memory.files.command_line import join_command
from pastchats_memory.files.processes import run_in_foreground
from pastchats_memory.files.stored_path import other_machine, resolve_path
from pastchats_memory.formats.base.source import SQLITE
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import escape_name, escape_path, one_line, sanitise
from pastchats_memory.views.answers.listing import Listing
from pastchats_memory.views.answers.opening import OPEN, RESUME, Opened

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


@ask_memory(
    "open",
    "pastchats-memory open 12",
    "EDITOR='code --wait' pastchats-memory open 12",
    "pastchats-memory open t:WEB-12 --print",
)
@click.argument("id_", metavar="ID")
@click.option("--print", "only_print", is_flag=True, help="Print the editor's command, and open nothing.")
def command(memory: Memory, id_: str, only_print: bool) -> CommandResult:
    """Open the source of an item at its line, in $VISUAL or $EDITOR.

    Without a terminal it prints the editor's command, as --print does.
    """
    place = memory.find_source(id_)
    if place is None:
        return _explain_missing(id_, OPEN)
    path = resolve_path(place.path)
    if (obstacle := _find_obstacle(path)) is not None:
        notify(f"{escape_path(place.path)} {obstacle}. `pastchats-memory show {escape_name(id_)}` has the text.")
        return CommandResult(lambda: OPEN.build([]), lambda: "", is_found=False)
    line = [] if options.is_json_wanted() and not _editor() else _edit(str(path), place.line)
    return CommandResult(
        lambda: OPEN.build([Opened(place.path, place.line, line)]),
        lambda: sanitise(join_command(line)),
        run=None if only_print or not is_terminal(sys.stdout) else lambda: run_in_foreground(line),
        is_folded=True,
    )


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


def _explain_missing(id_: str, listing: Listing[Any]) -> CommandResult:
    notify(f"There is no item {escape_name(id_)} with a file. Ids stand in the output of search and recall.")
    return CommandResult(lambda: listing.build([]), lambda: "", is_found=False)


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


@ask_memory(
    "resume",
    "pastchats-memory resume 12",
    "pastchats-memory resume 12 --run",
    'eval "$(pastchats-memory resume 12)"',
)
@click.argument("id_", metavar="ID")
@click.option("--run", "run", is_flag=True, help="Start the agent in the session's folder.")
def resume(memory: Memory, id_: str, run: bool) -> CommandResult:
    """Print the agent's own command that resumes the session of an item, or why there is none."""
    found = memory.find_resumption(id_)
    if found is None:
        return _explain_missing(id_, RESUME)
    line = sanitise(join_command(found.command, found.folder))

    def resume_session() -> int:
        click.echo(line, err=True)
        return run_in_foreground(found.command, found.folder)

    return CommandResult(
        lambda: RESUME.build([found]),
        lambda: line,
        is_found=not found.reason,
        nothing=f"It cannot be resumed: {one_line(found.reason)}.",
        run=resume_session if run and not found.reason else None,
        is_folded=True,
    )
