"""To the screen and into pipes: JSON, warnings, tables that fit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import click
import orjson


def emit_json(body: dict[str, Any]) -> None:
    """One JSON object on stdout, a line of its own."""
    click.echo(orjson.dumps(body, option=orjson.OPT_NON_STR_KEYS))


def warn(warnings: Iterable[str]) -> None:
    """Each on stderr."""
    for warning in warnings:
        click.echo(f"Warning: {warning}", err=True)


def width() -> int:
    """Columns of the terminal; 100 where there is none."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def table(rows: Sequence[Sequence[object]], headers: Sequence[str], stretch: int) -> str:
    """Rows under headers, the column `stretch` wrapped so that the whole fits the terminal."""
    import tabulate

    columns, _ = _measures()
    tabulate.MIN_PADDING = 0  # two blanks more beside each header would leave no room for the text at 80 columns
    others = [
        max(columns(str(row[column])) for row in (headers, *rows))
        for column in range(len(headers))
        if column != stretch
    ]
    room = max(20, width() - sum(others) - 2 * len(others))
    most: list[int | None] = [None] * len(headers)
    most[stretch] = room
    return tabulate.tabulate(
        # tabulate turns a wrapped cell that says "False" into bool("False"), which is true; a blank, which it drops, forbids that
        [[f"{cell} " if column == stretch else str(cell) for column, cell in enumerate(row)] for row in rows],
        headers=headers,
        tablefmt="simple",
        maxcolwidths=most,
        disable_numparse=True,
    )


def hanging(text: str) -> str:
    """The text as it is; on a terminal each line that is too long broken between words, its rest further in."""
    if not sys.stdout.isatty():
        return text
    _, wrap = _measures()
    lines = []
    for line in text.split("\n"):
        margin = " " * (len(line) - len(line.lstrip()) + 4)
        lines += wrap(line, width(), subsequent_indent=margin) or [""]
    return "\n".join(lines)


def _measures() -> tuple[Callable[[str], int], Callable[..., list[str]]]:
    """What tells how many columns a text takes, and what wraps one by them; tabulate asks wcwidth by itself.

    A checkout that was brought up to date and not installed anew goes on by characters.
    """
    try:
        from wcwidth import wcswidth, wrap
    except ImportError:
        from textwrap import wrap as by_characters

        return len, by_characters
    return wcswidth, wrap


def ending(text: str, columns: int) -> str:
    """The end of a text, with `…` before it where something was left out."""
    return text if len(text) <= columns else f"…{text[1 - columns :]}"


def counted(number: int, noun: str) -> str:
    """`1 turn`, `1,200 turns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class Step(Protocol):
    """How far something is, in steps of its own."""

    @property
    def done(self) -> int:
        """Steps."""

    @property
    def total(self) -> int:
        """Steps."""


@contextmanager
def bar(unit: str, doing: str) -> Iterator[Callable[[Step], None]]:
    """A bar with rate and time left on a terminal, silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(unit=f" {unit}", leave=False, desc=doing, file=sys.stderr) as shown:

        def step(progress: Step) -> None:
            shown.total = progress.total
            shown.update(progress.done - shown.n)

        yield step
