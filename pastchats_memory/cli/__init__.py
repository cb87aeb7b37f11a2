"""The command line: parse, one call of `Memory`, render, exit code."""

from __future__ import annotations

import errno
import importlib
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import StringIO, TextIOWrapper
from types import TracebackType
from typing import Any, Protocol, TextIO

import click
import orjson

from pastchats_memory.config import DATABASE_VARIABLE, Config, load
from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.memory import Memory
from pastchats_memory.model import utf8
from pastchats_memory.render import escaped, sanitised

DONE, NOTHING, EXPLAINED, BUG, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit codes: found or done; nothing found; an error that is explained; a bug; interrupted."""

COMMANDS = {
    "index": "Bring conversations and notes into the memory",
    "search": "Ranked turns, notes and tasks",
    "recall": "The block to read before work starts",
    "context": "The best few excerpts within a token budget",
    "show": "An item whole, with its neighbours",
    "task": "Add, change, list and link tasks",
    "capture": "A thought becomes a task, or a comment on one",
    "ask": "Plain questions: 'what is blocked?'",
    "lessons": "What failed more than once, and what ended it",
    "how": "The commands that worked here before",
    "judge": "Say how an episode ended, where no rule can",
    "similar": "The five tasks nearest to a task",
    "find-duplicates": "The five tasks nearest to a text",
    "duplicates": "Clusters of tasks that are alike",
    "check-prior-work": "Done, in progress, failed, superseded or new?",
    "consult-episodic-memory": "How similar problems were solved",
    "status": "What the memory holds, and how it answers",
    "verify": "Whether what is cited still stands there",
    "doctor": "Check the database; recover what is left of a damaged one",
    "sources": "The histories that programs keep here",
    "config": "Every setting, and who said it",
    "reindex": "Embed anew, also with another model",
    "redact": "Take secrets out of what is stored",
    "backup": "Copy the memory into a file",
    "restore": "Put a backup in the memory's place",
    "forget": "Delete what you choose, and keep it away",
    "exclude": "Keep files, folders or projects out",
    "prune": "Delete and keep away what is older",
    "purge": "Delete the whole memory",
    "export": "Every turn and task as JSON Lines",
    "mcp": "Answer agents over MCP",
    "serve": "Answer over HTTP",
    "install": "Hooks: recall before each prompt",
    "uninstall": "Take those hooks out again",
    "completion": "Completion for bash, zsh or fish",
    "man": "The manual page",
}
"""Every command, in the order in which a newcomer needs them, and what the list of all says of it: short enough for 80 columns."""

COMPLETION_VARIABLE = "_PASTCHATS_MEMORY_COMPLETE"
"""Set by the scripts of `completion` when a shell asks what could come next."""

TOGETHER = {
    "prune": ("forget", "prune"),
    "purge": ("forget", "purge"),
    "backup": ("backup", "backup"),
    "restore": ("backup", "restore"),
    "install": ("install", "install"),
    "uninstall": ("install", "uninstall"),
    "similar": ("similar", "similar"),
    "find-duplicates": ("similar", "find_duplicates"),
    "duplicates": ("similar", "duplicates"),
    "check-prior-work": ("prior_work", "check"),
    "consult-episodic-memory": ("prior_work", "consult"),
}
"""Commands that share a module, and what they are called in it."""


class LazyGroup(click.Group):
    """Commands by name, each in a module of its own that is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """In the order of COMMANDS."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The list of all, without importing one of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command, or None for click to say that there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, name = TOGETHER.get(cmd_name, (cmd_name.replace("-", "_"), "command"))
        command: click.Command = getattr(importlib.import_module(f"pastchats_memory.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but for a name that is nearly one it says which; click compares with commands that are made."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"No such command '{args[0]}'. Did you mean '{near[0]}'?", ctx) from None


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Every command has examples in its own help: pastchats-memory search --help",
)
@click.version_option(package_name="pastchats-memory", prog_name="pastchats-memory")
def program() -> None:
    """Recall what was tried before, what worked and what failed, from conversations already on your disk.

    \b
    Start with:
      pastchats-memory index ~/.claude/projects
      pastchats-memory search 'retry strategy'
      pastchats-memory recall 'build webhook retries'
    """


def main() -> None:
    """Run the program and leave the process with one of the exit codes."""
    _leave(_complete() if COMPLETION_VARIABLE in os.environ else _run(sys.argv[1:]))


def _complete() -> int:
    from click.shell_completion import shell_complete

    return shell_complete(program, {}, "pastchats-memory", COMPLETION_VARIABLE, os.environ[COMPLETION_VARIABLE])


def _run(arguments: list[str]) -> int:
    sys.excepthook = _report_bug
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # None where the shell closed it
            stream.reconfigure(errors="backslashreplace")
    try:
        with program.make_context("pastchats-memory", arguments) as context:
            code: int = program.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as ending:
        code = ending.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = _end_line()
    except MemoryFault as fault:
        code = _explain(fault, as_json="--json" in arguments)
    except click.ClickException as fault:
        code = _explain_usage(fault, as_json="--json" in arguments)
    except OSError as fault:
        if fault.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        _forget_stdout()
        gone_quietly = fault.errno == errno.EPIPE
        code = DONE if gone_quietly else _explain(MemoryFault(f"the result: {fault.strerror}"), as_json=False)
    return code


def _leave(code: int) -> None:
    """End the process at once: the database is closed, and a library that is still being loaded must not be taken down."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.flush()
    os._exit(code)


def _end_line() -> int:
    """On a terminal, what stands behind `^C` or a question without an answer; the exit code of an interruption."""
    if is_terminal(sys.stderr):
        click.echo(err=True)
    return INTERRUPTED


def _explain(fault: MemoryFault, *, as_json: bool) -> int:
    from pastchats_memory.render import (  # a name of a file, or what was typed, stands in what is said
        escaped,
        sanitised,
    )

    if as_json:
        import orjson

        about = {"kind": fault.kind, "message": utf8(fault.message), "hint": fault.hint}
        body = {"schema": "error/1", "error": about}
        click.echo(escaped(orjson.dumps(body).decode()), err=True)
    else:
        said = f"Error: {fault.message}" + (f"\n{fault.hint}" if fault.hint else "")
        click.echo(hanging(sanitised(said), err=True), err=True)
    return EXPLAINED


def _explain_usage(fault: click.ClickException, *, as_json: bool) -> int:
    if as_json:
        hint = "See `pastchats-memory --help`."
        if isinstance(fault, click.UsageError) and fault.ctx is not None:
            hint = f"See `{fault.ctx.command_path} --help`."
        return _explain(UsageFault(fault.format_message(), hint), as_json=True)
    from pastchats_memory.render import sanitised

    said = StringIO()
    fault.show(said)
    click.echo(sanitised(said.getvalue()), nl=False, err=True)
    return EXPLAINED


def _forget_stdout() -> None:
    """Whoever read us is gone: what is still in the buffer must not raise again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    traceback.print_exception(kind, fault, trace)
    _leave(BUG)


# To the screen and into pipes: JSON, warnings, tables that fit.

NARROWEST = 16
"""Columns in which a text can still be read: a table that leaves it fewer is none."""
_PIECES = re.compile(r"\s+|[^\s/\\_-]+[/\\_-]*|[/\\_-]+")


def emit_json(body: dict[str, Any]) -> None:
    """One JSON object on stdout, a line of its own."""
    click.echo(escaped(orjson.dumps(body, option=orjson.OPT_NON_STR_KEYS).decode()))


def warn(warnings: Iterable[str]) -> None:
    """Each on stderr."""
    for warning in warnings:
        click.echo(hanging(f"Warning: {sanitised(warning)}", err=True), err=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads there, or types; the stream is None where the shell closed it."""
    return stream is not None and stream.isatty()


def width() -> int:
    """Columns of the terminal; 100 where there is none."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def table(rows: Sequence[Sequence[object]], headers: Sequence[str], stretch: int | tuple[int, ...]) -> str:
    """Rows under headers, the column or columns `stretch` folded so that the whole fits the terminal, whose width they share.

    Where they would get too little, the longest of the others are folded with them, and where that is not enough each row
    takes lines of its own.
    """
    import tabulate

    tabulate.MIN_PADDING = 0  # two blanks more beside each header would leave no room for the text at 80 columns
    told = [stretch] if isinstance(stretch, int) else [*stretch]
    cells = [[str(cell) for cell in row] for row in (headers, *rows)]
    longest = [max(_columns(row[column]) for row in cells) for column in range(len(headers))]
    folds = sorted(told, key=lambda column: longest[column])
    whole = sorted({*range(len(headers))}.difference(folds), key=lambda column: longest[column])
    room = width() - sum(longest[column] for column in whole) - 2 * (len(headers) - 1)
    least = sum(min(NARROWEST, longest[column]) for column in folds)
    while room < least and whole and longest[whole[-1]] > NARROWEST:
        folds.append(whole.pop())
        room += longest[folds[-1]]
        least += NARROWEST
    if room < least:
        return "\n".join(_record(row, headers, told) for row in cells[1:])
    for place, column in enumerate(sorted(folds, key=lambda column: longest[column])):
        columns = min(longest[column], room // (len(folds) - place))
        room -= columns
        # No line of a table begins with what a transcript says, so what is folded in the first column is set in.
        inset = " " if column == 0 and longest[column] > columns else ""
        for row in cells:
            row[column] = f"\n{inset}".join(folded(row[column], columns - len(inset)))
    return tabulate.tabulate(cells[1:], headers=cells[0], tablefmt="simple", disable_numparse=True)


def _record(row: Sequence[str], headers: Sequence[str], told: Sequence[int]) -> str:
    """One row of a table that is too narrow for columns: its short cells behind their headers, the texts below, set in."""
    room = max(NARROWEST, width() - 2)
    named = ""
    for place, (header, cell) in enumerate(zip(headers, row, strict=True)):
        if place not in told and cell:
            between = "\n" if _columns(f"{named} · {header} {cell}") > room else " · "
            named += f"{between if named else ''}{header} {cell}"
    first, *rest = folded(named, room)
    below = [line for column in told if row[column] for line in folded(row[column], room)]
    return "\n".join([first, *(f"  {line}" for line in (*rest, *below))])


def folded(text: str, columns: int) -> list[str]:
    """Lines of at most so many columns, broken between words and behind the separators of paths, within a word only at need."""
    told = []
    for line in text.split("\n"):
        lines = [""]
        for piece in _PIECES.findall(line):
            while _columns(lines[-1]) + _columns(piece.rstrip()) > columns:
                if not lines[-1]:
                    fits = next((end for end in range(columns, 1, -1) if _columns(piece[:end]) <= columns), 1)
                    lines[-1], piece = piece[:fits], piece[fits:]  # noqa: PLW2901 - what is left of it
                lines.append("")
            lines[-1] += piece if lines[-1] else piece.lstrip()
        told += [line.rstrip() for line in lines if line.strip()]
    return told or [""]


def _columns(text: str) -> int:
    """Of the longest line; of one with a character that nothing is known of, its characters."""
    from wcwidth import wcswidth

    return max(found if (found := wcswidth(line)) >= 0 else len(line) for line in text.split("\n"))


def hanging(text: str, *, under: int | None = None, err: bool = False) -> str:
    """The text as it is; on a terminal (of errors, if `err`) each line that is too long broken between words, its rest further in.

    The rest begins `under` a column, if one is given; that of a quotation is quoted, too. Sources and quoted commands stay
    whole, so that they can be copied; words are not broken at hyphens, since options of commands have them.
    """
    stream = sys.stderr if err else sys.stdout
    if not is_terminal(stream):
        return text
    from wcwidth import wrap

    lines = []
    for line in text.split("\n"):
        if line.startswith(("Source: ", "- [", "> $ ")) or _columns(line) <= width():
            lines.append(line)
            continue
        margin = "> " if line.startswith("> ") else " " * (under or len(line) - len(line.lstrip()) + 4)
        lines += wrap(line, width(), subsequent_indent=margin, break_on_hyphens=False) or [""]
    return "\n".join(lines)


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
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(unit=f" {unit}", leave=False, desc=doing, file=sys.stderr) as shown:

        def step(progress: Step) -> None:
            shown.total = progress.total
            shown.update(progress.done - shown.n)

        yield step


# Options and arguments that several commands share, each written once.

NICE = 10
"""Of 19: what runs in the foreground keeps its cores."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

database: Decorator = click.option(
    "--db", "db", metavar="FILE", help=f"Database file [default: ${DATABASE_VARIABLE}, or your data folder]."
)
as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
project: Decorator = click.option("--project", metavar="NAME", help="Only this project; `.` is the one you are in.")
since: Decorator = click.option("--since", metavar="WHEN", help="Only from this ISO date or time on, inclusive.")
until: Decorator = click.option("--until", metavar="WHEN", help="Only up to this ISO date or time, inclusive.")

outcome: Decorator = click.option(
    "--outcome", metavar="A,B", help="Only what ended so: worked, failed, mixed, unknown."
)
yes: Decorator = click.option("--yes", is_flag=True, help="Do it without asking.")
no: Decorator = click.option("--no", is_flag=True, help="Answer no to what would be asked.")


def query(command: Callable[..., Any]) -> Callable[..., Any]:
    """QUERY as words of the line, or the same as `--query`; the command receives `query_words` and `query_option`."""
    command = click.option("--query", "query_option", metavar="QUERY", help="The query, same as the argument.")(command)
    return click.argument("query_words", metavar="QUERY", nargs=-1)(command)


def query_text(query_words: tuple[str, ...], query_option: str | None) -> str:
    """The one query. Raises UsageFault for none or two."""
    if query_words and query_option is not None:
        raise UsageFault("the query was given twice", "Give it as an argument or as --query.")
    if not query_words and query_option is None:
        command = click.get_current_context().command_path.partition(" ")[2]
        raise UsageFault("there is no query", f"Say what to look for: pastchats-memory {command} 'retry strategy'.")
    return " ".join(query_words) if query_option is None else query_option


def named(_context: click.Context, _parameter: click.Parameter, model: str | None) -> str | None:
    """A model's name that is not blank, as that of an unset variable is. Raises UsageFault."""
    if model is not None and not model.strip():
        raise UsageFault("--model names no model", "Is the variable that it was taken from set?")
    return model


model: Decorator = click.option(
    "--model",
    metavar="MODEL",
    callback=named,
    help="Embedding model of a new database: a name, a folder, or `packaged`.",
)
threads: Decorator = click.option(
    "--threads", type=click.IntRange(1, 1024), metavar="N", help="Threads of the model [default: one a core]."
)


def be_nice() -> None:
    """Let other programs go first: the model takes every core that nobody else wants."""
    if hasattr(os, "nice") and os.nice(0) < NICE:
        os.nice(NICE - os.nice(0))


def interrupt_in_order() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt: there is something to tidy up."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def configuration() -> Config:
    """What counts, where no database is opened; what is ignored of it is said on stderr. Raises UsageFault."""
    config = load()
    warn(config.warnings)
    return config


def open_memory(db: str | None, *, create: bool = False, **flags: object) -> Memory:
    """The memory that the flags, the environment, the files or the defaults name; what they say in vain is said on stderr.

    Raises StoreFault, UsageFault, ModelUnavailable.
    """
    config: Config = load(db, flags=flags)
    memory = Memory.open(config.database, create=create, config=config)
    warn(memory.notices)
    return memory
