"""Write the generated parts of the documentation.

`make docs` runs it before it builds the site. The generated parts are the command reference, the table of formats, the table of
promises, the list of decisions, and the output below each command in the README and in `docs/`.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import click

from pastchats_memory.cli import COMMANDS, GROUPS, program
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.registry import BUILT_IN, VERIFIED, load_format, locations_of
from pastchats_memory.http.routes import ROUTES
from pastchats_memory.memory import Memory

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
DEMO = REPOSITORY / "fixtures" / "demo"
MODIFIED = 1_780_000_000
"""Time of every copied file, in seconds since 1970."""
PROGRAM = Path(sys.executable).with_name("pastchats-memory")
HELP_WIDTH = 92
"""Characters of a line of help, so that it fits a page without scrolling."""
MEASURED = re.compile(r"\d+\.\d (?:s\b|[KM]i?B\b)")
"""Times and sizes, which differ between two runs. A page whose other text is equal stays as it is."""
ELISION = "…"
"""A line of shown output that stands for any number of lines."""

PROMISE_AREAS = {
    "secrets": "Secrets are removed before they are stored",
    "permissions": "Files are readable by you alone",
    "network": "Nothing leaves your machine",
    "forgetting": "Forgotten text is gone",
    "privacy": "Excluded files are not read, and private projects stay private",
    "durability": "Stored data survives",
    "evidence": "Evidence can be checked",
    "text": "Hostile text does no harm",
    "files": "Hostile files do no harm",
    "clients": "Hostile clients do no harm",
    "configuration": "A cloned repository cannot take over",
}
"""Headings of the tables of promises, by the first argument of the marker `promise`."""


class Promise(NamedTuple):
    """One promise to the user, and the test that proves it."""

    area: str
    text: str
    test: str
    """As pytest names it, such as `tests/cli/test_permissions.py::test_…`."""


def main() -> int:
    """Write every generated part. Return the exit code."""
    for name, render in REGIONS.items():
        page = DOCS / f"{name}.md"
        page.write_text(replace_region(page.read_text(encoding="utf-8"), render()), encoding="utf-8")
    for page in list_example_pages():
        with tempfile.TemporaryDirectory(prefix="pastchats-memory-docs-") as folder:
            text = page.read_text(encoding="utf-8")
            if "\n```console\n" in text:
                shell = DemoShell(Path(folder), has_memory=not begins_empty(text))
                filled = fill_examples(text, shell.run)
                if MEASURED.sub("", filled) != MEASURED.sub("", text):
                    page.write_text(filled, encoding="utf-8")
    return 0


def list_example_pages() -> list[Path]:
    """List the hand-written pages whose examples are run, the README first."""
    return [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))]


def replace_region(text: str, generated: str) -> str:
    """Replace the text between the two marks of a page.

    Raises ValueError if the page has no marks.
    """
    pattern = re.compile(r"(<!-- generated -->\n).*(<!-- end of generated -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError("the page has no generated part")
    return pattern.sub(lambda found: f"{found[1]}\n{generated}\n{found[2]}", text)


def render_commands() -> str:
    """Render the reference of every command from its help."""
    rows = []
    for title, commands in GROUPS.items():
        rows += [f"| **{title}** | |", *(f"| [`{name}`](#{name}) | {summary} |" for name, summary in commands.items())]
    parts = ["\n".join(["| Command | What it does |", "|---|---|", *rows])]
    context = click.Context(program, info_name="pastchats-memory", **program.context_settings)
    for name in COMMANDS:
        parts += render_command(find_command(program, name, context), name, context, level=2)
    return "\n\n".join([*parts, ""])


def render_command(command: click.Command, name: str, parent: click.Context, level: int) -> Iterator[str]:
    """Render the help of a command and of its subcommands as Markdown blocks."""
    context = click.Context(
        command, info_name=name, parent=parent, max_content_width=HELP_WIDTH, terminal_width=HELP_WIDTH
    )
    path = context.command_path.removeprefix("pastchats-memory ")
    yield f"{'#' * level} {path}"
    yield f"```text\n{command.get_help(context).strip()}\n```"
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            if not (found := find_command(command, below, context)).hidden:
                yield from render_command(found, below, context, level + 1)


def find_command(group: click.Group, name: str, context: click.Context) -> click.Command:
    """Return a command of a group. Raises KeyError."""
    command = group.get_command(context, name)
    if command is None:
        raise KeyError(name)
    return command


class PatternPath(type(Path())):  # type: ignore[misc]
    """A path whose `glob` returns the pattern itself, for folders that exist on no machine."""

    def glob(self, pattern: str) -> Iterator[PatternPath]:
        """Return the path with the pattern as its last parts."""
        yield self / pattern


def render_formats() -> str:
    """Render the tables of formats and of their usual places."""
    formats = sorted(map(load_format, BUILT_IN), key=lambda format_: format_.name)
    environment = Environment({}, PatternPath("~"), "linux")
    rows, places = [], []
    for format_ in formats:
        module = import_module(f"pastchats_memory.formats.{BUILT_IN[format_.name].partition(':')[0]}")
        rows.append(
            f"| `{format_.name}` | {format_.program or '–'} | {describe_files(module)} | {format_.version} "
            f"| {VERIFIED.get(format_.name) or format_.verified or '–'} | `{find_readme(module)}` |"
        )
        paths = merge_editors(map(str, locations_of(format_, environment)))
        if paths:
            places.append(f"| `{format_.name}` | {', '.join(f'`{path}`' for path in paths)} |")
    return "\n".join(
        [
            "| Format | Program | Files | Version | Last verified | Details |",
            "|---|---|---|--:|---|---|",
            *rows,
            "",
            "| Format | Usual places on Linux |",
            "|---|---|",
            *places,
            "",
        ]
    )


def describe_files(module: ModuleType) -> str:
    """Return the first line of a format's module as a table cell, without the verb "Read"."""
    summary = summarize_docstring(module.__doc__)
    noun = summary.removeprefix("Read ")
    return summary if noun == summary else noun[:1].upper() + noun[1:]


def find_readme(module: ModuleType) -> str:
    """Return the path of the README nearest to the module of a format. It lies below the folder of formats or `fixtures/`."""
    folder = REPOSITORY / "pastchats_memory" / "formats"
    for parent in Path(module.__file__ or "").parents:
        if parent == folder:
            break
        if (parent / "README.md").exists():
            return (parent / "README.md").relative_to(folder).as_posix()
    return "fixtures/README.md"


def merge_editors(paths: Iterable[str]) -> list[str]:
    """Merge paths that differ only in the editor whose `User` folder they lie in, and write `EDITOR` for it."""
    listed = list(paths)
    inside = Counter(path.rpartition("/User/")[2] for path in listed)
    return list(
        dict.fromkeys(
            f"EDITOR/User/{end}" if inside[end := path.rpartition("/User/")[2]] > 1 else path for path in listed
        )
    )


def summarize_docstring(docstring: str | None) -> str:
    """Return the first line of a docstring as a table cell."""
    return (docstring or "").partition("\n")[0].replace("|", "\\|")


def list_promises() -> list[Promise]:
    """List the promises that tests are marked with, in the order of areas and files."""
    found = list(chain.from_iterable(map(read_promises, sorted((REPOSITORY / "tests").rglob("test_*.py")))))
    return sorted(found, key=lambda promise: list(PROMISE_AREAS).index(promise.area))


def read_promises(file: Path) -> Iterator[Promise]:
    """Read the markers `promise(area, text)` of a test module.

    Raises ValueError for an unknown area.
    """
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            match decorator:
                case ast.Call(
                    func=ast.Attribute(attr="promise"), args=[ast.Constant(str(area)), ast.Constant(str(text))]
                ):
                    if area not in PROMISE_AREAS:
                        raise ValueError(f"{file.name}: no area of promises is called {area!r}")
                    yield Promise(
                        area, text, f"{file.as_posix().removeprefix(f'{REPOSITORY.as_posix()}/')}::{node.name}"
                    )


def render_promises() -> str:
    """Render one table for each area of promises."""
    promises = list_promises()
    lines = []
    for area, heading in PROMISE_AREAS.items():
        rows = [
            f"| {promise.text} | `{promise.test.removeprefix('tests/')}` |"
            for promise in promises
            if promise.area == area
        ]
        lines += [f"### {heading}", "", "| Promise | Test, below `tests/` |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def render_http_paths() -> str:
    """Render the table of the server's paths, with the names of their parameters."""
    rows = []
    for route in ROUTES:
        names = [f"`{parameter.name}`" for parameter in route.parameters]
        rows.append(f"| `GET {route.path}` | {route.summary} | {', '.join(names) or '–'} |")
    return "\n".join(["| Path | Answer | Parameters |", "|---|---|---|", *rows, ""])


def render_methods() -> str:
    """Render the table of the public methods of `Memory`, from the first lines of their docstrings."""
    methods = {name: getattr(Memory, name) for name in dir(Memory) if not name.startswith("_")}
    rows = [
        f"| `{name}` | {summarize_docstring(inspect.getdoc(value))} |"
        for name, value in methods.items()
        if inspect.getdoc(value)
    ]
    return "\n".join(["| Name | What it does |", "|---|---|", *rows, ""])


def render_decisions() -> str:
    """Render the list of decisions from their headings."""
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    titles = {page: page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in pages}
    return "\n".join([*(f"- [{title}]({page.name})" for page, title in titles.items()), ""])


REGIONS: dict[str, Callable[[], str]] = {
    "cli": render_commands,
    "formats": render_formats,
    "privacy": render_promises,
    "http": render_http_paths,
    "python": render_methods,
    "decisions/index": render_decisions,
}
"""Pages in `docs/` with a generated part, without `.md`."""


def fill_examples(text: str, run: Callable[[str], str]) -> str:
    """Run the commands of a page in order and put their output below them.

    A line of a `console` block that begins with `$ pastchats-memory` is run; other programs are not. Output is filled in only if
    the page shows some. A line `…` keeps its place: as many lines are shown before and after it as now.
    """
    return re.sub(r"(?<=\n```console\n).*?(?=\n```)", lambda block: fill_block(block[0], run), text, flags=re.DOTALL)


def fill_block(block: str, run: Callable[[str], str]) -> str:
    """Run the commands of one block and return the block with their present output."""
    filled = []
    for command, _, shown in (
        part.partition("\n") for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE) if part
    ):
        line = command.removeprefix("$ ")
        printed = run(line) if line.startswith("pastchats-memory") else shown
        gap = "\n" * (len(shown) - len(shown.rstrip("\n")))
        filled.append(
            f"{command}\n{elide(printed.rstrip(), shown.rstrip())}{gap}" if shown.strip() else f"{command}\n{shown}"
        )
    return "".join(filled).removesuffix("\n" if not block.endswith("\n") else "")


def elide(printed: str, shown: str) -> str:
    """Cut printed output where the page has a line `…`."""
    lines, wanted = printed.split("\n"), shown.split("\n")
    if ELISION not in wanted:
        return printed
    before = wanted.index(ELISION)
    after = len(wanted) - before - 1
    return "\n".join([*lines[:before], ELISION, *lines[len(lines) - after :]])


class DemoShell:
    """Run commands of the program in a home folder of its own."""

    def __init__(self, home: Path, *, has_memory: bool) -> None:
        """Fill the home folder, and index the demo history unless the page begins with an empty memory."""
        self.home = home
        fill_home(home)
        if has_memory:
            self.run("pastchats-memory index fixtures/demo/history")
            self.run("pastchats-memory index fixtures/demo/exports --project chatgpt")

    def run(self, line: str) -> str:
        """Run one command line and return what it prints on stdout, with paths as a reader of the page has them."""
        _, *arguments = shlex.split(line, comments=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PASTCHATS_MEMORY_DB": str(self.home / "memory.db"),
            "COLUMNS": "100",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        done = subprocess.run(  # noqa: S603 - commands of our own pages, without a shell
            [PROGRAM, *arguments],
            cwd=self.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{line}\n{done.stderr}")
        return shorten_paths(done.stdout, self.home)


def fill_home(home: Path) -> None:
    """Put the demo history into a home folder: as this repository has it, and where two agents keep theirs."""
    copy_history(DEMO, home / "fixtures" / "demo")
    copy_history(DEMO / "history" / "claude", home / ".claude" / "projects")
    copy_history(DEMO / "history" / "codex", home / ".codex" / "sessions")


def copy_history(source: Path, folder: Path) -> None:
    """Copy files as equally old, so that `index` reads them by name, in whatever order a clone has written them."""
    shutil.copytree(source, folder)
    for file in folder.rglob("*"):
        os.utime(file, (MODIFIED, MODIFIED))


def begins_empty(page: str) -> bool:
    """Report whether the examples of a page begin without a memory, by its first line."""
    return page.startswith("<!-- examples begin without a memory -->\n")


def shorten_paths(text: str, *homes: Path) -> str:
    """Replace the folders of the demo, and the place of the program, by the names that a reader knows."""
    text = text.replace(str(PROGRAM), PROGRAM.name)
    for home in homes:
        text = (
            text.replace(f"{home}/demo", "fixtures/demo")
            .replace(f"{home}/fixtures", "fixtures")
            .replace(str(home), "~")
            .replace("~/fixtures", "fixtures")
        )
    return text


if __name__ == "__main__":
    sys.exit(main())
