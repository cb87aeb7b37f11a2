"""Print JSON, warnings and tables that fit, on a screen or into a pipe."""

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from typing import TYPE_CHECKING, TextIO

import click
import orjson

from pastchats_memory.text.display import escape_json, one_line
from pastchats_memory.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from pastchats_memory.model import Progress

NARROWEST = 16
"""Least columns in which a text can be read; a narrower table becomes a list."""
_PIECES = LazyPattern(r"\s+|[^\s/\\_-]+[/\\_-]*|[/\\_-]+")


def emit_json(body: Mapping[str, object], *, err: bool = False) -> None:
    """Write one JSON object to stdout or stderr, on a line of its own."""
    echo_json(orjson.dumps(body, option=orjson.OPT_NON_STR_KEYS).decode(), err=err)


def echo_json(text: str, *, err: bool = False) -> None:
    """Write a line of JSON so that it stays JSON in the encoding of the stream, and moves no cursor."""
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "ascii"
    click.echo(escape_json(text, is_ascii_wanted=codecs.lookup(encoding).name != "utf-8"), err=err)


def warn(warnings: Iterable[str]) -> None:
    """Print each warning on stderr."""
    for warning in warnings:
        notify(f"Warning: {one_line(warning)}")


def notify(message: str) -> None:
    """Print a message on stderr, folded to the terminal."""
    click.echo(hanging(message, err=True), err=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a person reads or types there. The stream is None if the shell closed it."""
    is_nul = sys.platform == "win32" and isinstance(getattr(getattr(stream, "buffer", None), "raw", None), FileIO)
    return stream is not None and stream.isatty() and not is_nul  # NUL is a terminal there, too


def width() -> int:
    """Return the columns of the terminal; 100 if there is none."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def table(rows: Sequence[Sequence[object]], headers: Sequence[str], stretch: int | tuple[int, ...]) -> str:
    """Return rows under headers, with the columns `stretch` folded to fit the terminal.

    Where they would get too little, the longest of the others are folded with them, and where that is not enough each row
    takes lines of its own.
    """
    import tabulate

    tabulate.MIN_PADDING = 0  # two more blanks next to each header would leave no room for the text at 80 columns
    stretched = [stretch] if isinstance(stretch, int) else [*stretch]
    cells = [[str(cell) for cell in row] for row in (headers, *rows)]
    longest = [max(_columns(row[column]) for row in cells) for column in range(len(headers))]
    folds = sorted(stretched, key=lambda column: longest[column])
    whole = sorted({*range(len(headers))}.difference(folds), key=lambda column: longest[column])
    room = width() - sum(longest[column] for column in whole) - 2 * (len(headers) - 1)
    least = sum(min(NARROWEST, longest[column]) for column in folds)
    while room < least and whole and longest[whole[-1]] > NARROWEST:
        folds.append(whole.pop())
        room += longest[folds[-1]]
        least += NARROWEST
    if room < least:
        return "\n".join(_record(row, headers, stretched) for row in cells[1:])
    for place, column in enumerate(sorted(folds, key=lambda column: longest[column])):
        columns = min(longest[column], room // (len(folds) - place))
        room -= columns
        # No line of a table begins with what a transcript says, so what is folded in the first column is set in.
        inset = " " if column == 0 and longest[column] > columns else ""
        for row in cells:
            row[column] = f"\n{inset}".join(folded(row[column], columns - len(inset)))
    return tabulate.tabulate(cells[1:], headers=cells[0], tablefmt="simple", disable_numparse=True)


def _record(row: Sequence[str], headers: Sequence[str], stretched: Sequence[int]) -> str:
    """Return one row of a table that is too narrow for columns: short cells after their headers, texts indented below."""
    room = max(NARROWEST, width() - 2)
    named = ""
    for place, (header, cell) in enumerate(zip(headers, row, strict=True)):
        if place not in stretched and cell:
            between = "\n" if _columns(f"{named} · {header} {cell}") > room else " · "
            named += f"{between if named else ''}{header} {cell}"
    first, *rest = folded(named, room)
    below = [line for column in stretched if row[column] for line in folded(row[column], room)]
    return "\n".join([first, *(f"  {line}" for line in (*rest, *below))])


def folded(text: str, columns: int) -> list[str]:
    """Split a text into lines of at most so many columns, between words and after separators of paths."""
    result = []
    for line in text.split("\n"):
        lines = [""]
        for piece in _PIECES.findall(line):
            while _columns(lines[-1]) + _columns(piece.rstrip()) > columns:
                if not lines[-1]:
                    fits = next((end for end in range(columns, 1, -1) if _columns(piece[:end]) <= columns), 1)
                    lines[-1], piece = piece[:fits], piece[fits:]  # noqa: PLW2901 - what is left of it
                lines.append("")
            lines[-1] += piece if lines[-1] else piece.lstrip()
        result += [line.rstrip() for line in lines if line.strip()]
    return result or [""]


def _columns(text: str) -> int:
    """Return the columns of the longest line, or its characters if the width of one is unknown."""
    from wcwidth import wcswidth

    return max(found if (found := wcswidth(line)) >= 0 else len(line) for line in text.split("\n"))


def hanging(text: str, *, under: int | None = None, err: bool = False) -> str:
    """Return the text; on a terminal, fold long lines and indent their continuation.

    The continuation begins at column `under` if given; in a quotation it is quoted too. Sources and quoted commands stay on one
    line, so that they can be copied. Words are not broken at hyphens, since options of commands have them. With `err`, the
    terminal is that of stderr.
    """
    stream = sys.stderr if err else sys.stdout
    if not is_terminal(stream):
        return text
    from wcwidth import wrap

    lines = []
    for line in text.split("\n"):
        if line.lstrip().startswith(("Source: ", "- [", "> $ ")) or _columns(line) <= width():
            lines.append(line)
            continue
        margin = "> " if line.startswith("> ") else " " * (under or len(line) - len(line.lstrip()) + 4)
        lines += wrap(line, width(), subsequent_indent=margin, break_on_hyphens=False) or [""]
    return "\n".join(lines)


def ending(text: str, columns: int) -> str:
    """Return the end of a text, after `…` if something was cut."""
    return text if len(text) <= columns else f"…{text[1 - columns :]}"


@contextmanager
def bar(unit: str, doing: str, stopped: Callable[[], str] | None = None) -> "Iterator[Callable[[Progress], None]]":
    """Show a bar with rate and time left on a terminal, nothing elsewhere, and what is left after Ctrl-C (`stopped`)."""
    try:
        if not is_terminal(sys.stderr):
            yield lambda _: None
            return
        from tqdm import tqdm

        with tqdm(unit=f" {unit}", leave=False, desc=doing, file=sys.stderr) as shown:

            def step(progress: "Progress") -> None:
                shown.total = progress.total
                shown.update(progress.done - shown.n)

            yield step
    except KeyboardInterrupt:
        if stopped is not None:
            notify(f"\nStopped. {stopped()}")
        raise
