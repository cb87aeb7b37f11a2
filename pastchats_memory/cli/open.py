"""`open` and `resume`: go from a hit to its source, and back into its session."""

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import is_terminal, notify
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.archives import archive_of, is_archive
from pastchats_memory.files.command_line import join_command
from pastchats_memory.files.processes import run_in_foreground
from pastchats_memory.files.stored_path import other_machine, resolve_path
from pastchats_memory.formats.base.source import SQLITE
from pastchats_memory.memory import Memory
from pastchats_memory.model.ids import canonical_id, leads_to_task
from pastchats_memory.text.display import escape_name, escape_path, one_line, remove_controls, sanitise
from pastchats_memory.views.answers.listing import Listing
from pastchats_memory.views.answers.opening import OPEN, RESUME, Opened
from pastchats_memory.views.task_text import render_task

PLUS = r"less|more|most|n?vim?|gvim|view|nano|pico|emacs(client)?|micro|kak|joe|jed|ne|mcedit|gedit|kate|mg|ex|vis|amp"
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
WAITING = re.compile(rf"{GOTO}|zed|zeditor|subl|sublime_text|gedit|mate|{LINE}")
"""Editors that return at once unless they are told to wait; a conversation lies in a file only while it is read."""
PAGERS = ("less", "more")
MAX_TEXT = 32 << 20
"""Bytes of a source that are shown without an editor."""
TEXT_SUFFIXES = frozenset({".md", ".markdown", ".txt", ".log", ".org", ".rst"})


@ask_memory("open")
@click.argument("id_", metavar="ID")
@click.option("--print", "only_print", is_flag=True, help="Print the editor's command, and open nothing.")
def command(memory: Memory, id_: str, only_print: bool) -> CommandResult:
    """Show the conversation of an item at that turn, in $VISUAL, $EDITOR or $PAGER.

    A source that is a text itself, such as a note, is opened at its line. Without a terminal the command prints what
    opens the source in your editor, as --print does.
    """
    place = memory.find_source(id_)
    if place is None:
        return _explain_missing(id_, OPEN)
    path = resolve_path(place.path)
    if is_terminal(sys.stdout) and not (only_print or options.is_json_wanted()):
        return CommandResult(dict, str, run=_prepare_reading(memory, id_, path, place.line))
    if (obstacle := _find_obstacle(path)) is not None:
        notify(f"{escape_path(place.path)} {obstacle}. `pastchats-memory show {escape_name(id_)}` has the text.")
        return CommandResult(lambda: OPEN.build([]), lambda: "", is_found=False)
    line = [] if options.is_json_wanted() and not _editor() else _edit(str(path), place.line)
    return CommandResult(
        lambda: OPEN.build([Opened(place.path, place.line, line)]), lambda: sanitise(join_command(line)), is_folded=True
    )


def _prepare_reading(memory: Memory, id_: str, path: Path, line: int) -> Callable[[], int]:
    """Return what shows a source that is a text, or the conversation of an item."""
    text = _read_text(path)
    if text and _editor():
        return lambda: run_in_foreground(_edit(str(path), line))
    if text:
        return lambda: _show_text(path.name, text, line)
    text, place = _render_conversation(memory, id_)
    return lambda: _show_text(f"{path.name}.md", text, place)


def _read_text(path: Path) -> str:
    """Return a source that people can read as it is; nothing for records, archives and databases."""
    if _find_obstacle(path) is not None:
        return ""
    text = path.read_bytes()[:MAX_TEXT].decode(errors="replace")
    is_text = path.suffix.lower() in TEXT_SUFFIXES or text.lstrip()[:1] not in ("{", "[")
    return remove_controls(text) if is_text else ""


def _render_conversation(memory: Memory, id_: str) -> tuple[str, int]:
    """Return the conversation of an item as Markdown, and the line of its turn; a task as `task show` prints it."""
    from pastchats_memory.views.document import document_of_conversation, render_markdown_document

    if leads_to_task(id_):
        found = memory.tasks.find_item(id_)
        return (render_task(found[0]) if found else ""), 1
    conversation = memory.load_conversation(id_)
    if conversation is None:
        return "\n".join(item.content for item in memory.show(id_, 0)), 1
    lines = list(render_markdown_document(document_of_conversation(conversation)))
    head = re.compile(rf"\*\*.* · id {re.escape(canonical_id(id_))}(?: ·|\Z)")
    return "\n".join(lines), next((place for place, line in enumerate(lines, 1) if head.match(line)), 1)


def _show_text(name: str, text: str, line: int) -> int:
    """Show a text at a line in the editor or the pager, from a file that is there only meanwhile."""
    pager = shlex.split(os.environ.get("PAGER") or "") or [*filter(shutil.which, PAGERS)][:1]
    program = _editor() or pager
    if not program:
        click.echo(text)
        return DONE
    with tempfile.TemporaryDirectory(prefix="pastchats-memory-") as folder:
        file = Path(folder) / name
        file.write_text(f"{text}\n", encoding="utf-8")
        return run_in_foreground(_point_at(program, str(file), line, is_waiting=True))


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
        raise UsageFault(f"no editor is set; the source is {sanitise(f'{path}:{line}')}", "Set one: export EDITOR=nano")
    return _point_at(editor, path, line)


def _point_at(editor: Sequence[str], path: str, line: int, *, is_waiting: bool = False) -> list[str]:
    """Return the command with which an editor or a pager shows a file at a line."""
    name = PurePath(editor[0]).name.lower().removesuffix(".exe").removesuffix(".cmd")
    arguments = next((how for pattern, how in EDITORS if re.fullmatch(pattern, name)), lambda path, _: [path])
    wait = ["--wait"] if is_waiting and WAITING.fullmatch(name) else []
    return [*editor, *wait, *arguments(os.path.abspath(path), max(line, 1))]  # noqa: PTH100 - no option can begin with a slash


@ask_memory("resume")
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
