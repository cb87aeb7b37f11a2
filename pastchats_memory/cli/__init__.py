"""The command line: parse, one call of `Memory`, render, exit code."""

import errno
import importlib
import os
import re
import sys
from contextlib import suppress
from io import StringIO, TextIOWrapper
from types import TracebackType

import click

from pastchats_memory import __version__
from pastchats_memory.errors import DatabaseMissing, LibraryBroken, MemoryFault, UsageFault
from pastchats_memory.text.data_file import read_text
from pastchats_memory.text.display import one_line, sanitise
from pastchats_memory.text.encoding import utf8

DONE, NOTHING, EXPLAINED, BUG, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit codes: found or done; nothing found; an explained error; a bug; interrupted."""

COMMANDS_FILE = "commands.txt"


def _read_commands() -> tuple[dict[str, dict[str, str]], dict[str, tuple[str, str]], dict[str, list[str]]]:
    """Return the summaries of the commands by group, the module and function of each, and the examples for its help."""
    groups: dict[str, dict[str, str]] = {}
    places: dict[str, tuple[str, str]] = {}
    examples: dict[str, list[str]] = {}
    name = ""
    for line in read_text(__file__, COMMANDS_FILE).splitlines():
        if line.startswith("  "):
            examples[name].append(line.strip())
        elif line.startswith("== "):
            group = groups[line.strip("= ")] = {}
        elif line and not line.startswith("#"):
            head, _, summary = line.partition(":")
            name, _, module = head.partition(" in ")
            examples[name] = []
            if summary:
                group[name] = summary.strip()
                function = name.replace("-", "_")
                places[name] = (module, function) if module else (function, "command")
    return groups, places, examples


GROUPS, PLACES, EXAMPLES = _read_commands()
"""What `commands.txt` says. Each summary with its command fits 80 columns."""
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

RANGE = re.compile(r"is not in the range ([\d.]+)<=x<=([\d.]*\d)")
LEAST = re.compile(r"is not in the range x>=([\d.]*\d)")
"""What click writes about a number outside a range, or below its start."""

COMPLETION_VARIABLE = "_PASTCHATS_MEMORY_COMPLETE"
"""Set by the completion scripts when a shell asks for candidates."""

ALIASES = {"semantic-search": "search", "tasks": "task"}
"""Names that users know from other tools."""


OTHER_WORDS = {
    "init": "setup", "start": "setup", "begin": "setup", "configure": "setup",
    "ingest": "index", "scan": "index", "add": "index", "import": "index",
    "find": "search", "query": "search", "grep": "search", "remember": "recall", "ask-memory": "recall",
    "list": "sources", "ls": "sources", "histories": "sources", "stats": "status", "info": "status",
    "delete": "forget", "remove": "forget", "rm": "forget", "server": "serve", "web": "serve", "hooks": "install",
    "connect": "setup", "repair": "doctor", "check": "doctor", "history": "timeline",
}  # fmt: skip
"""What newcomers type, and the command that does it; these are no aliases, so that each thing keeps one name."""
NOT_COMMANDS = {
    "help": "Write pastchats-memory --help, or the same after a command.",
    "version": "Write pastchats-memory --version.",
    "update": "Use what installed it, such as: uv tool upgrade pastchats-memory",
    "upgrade": "Use what installed it, such as: uv tool upgrade pastchats-memory",
}
"""Words that no command has, and what to write instead."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of COMMANDS."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of all commands without importing one."""
        longest = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{longest}}", summary) for name, summary in commands.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Return the command; None if there is none, which click reports."""
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS:
            return None
        module, name = PLACES[cmd_name]
        command: click.Command = getattr(importlib.import_module(f"pastchats_memory.cli.{module}"), name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, and say where an option belongs that stands before the command."""
        args = ["task", "list"] if args == ["tasks"] else args
        given = list(args)  # click empties the list
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as fault:
            if fault.option_name in ("-v", "-V"):
                raise click.UsageError(
                    f"No such option '{fault.option_name}'. Did you mean '--version'?", ctx
                ) from None
            command = next((argument for argument in given if argument in COMMANDS), None)
            if command is None and fault.possibilities:
                raise
            command = command or "COMMAND"
            hint = f"Options follow the command: pastchats-memory {command} {fault.option_name} ..."
            raise click.UsageError(f"No such option '{fault.option_name}' before a command. {hint}", ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve as click does, and suggest the nearest name. Click itself would import every command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from difflib import get_close_matches

            word = args[0].lower()
            near = OTHER_WORDS.get(word) or next(iter(get_close_matches(word, COMMANDS, n=1)), None)
            if word in NOT_COMMANDS:
                hint = NOT_COMMANDS[word]
            elif near is not None:
                hint = f"Did you mean '{near}'?"
            elif os.path.exists(args[0]):  # noqa: PTH110 - a string is at hand
                hint = f"To index it: pastchats-memory index {args[0]}"
            else:
                hint = "`pastchats-memory --help` lists the commands; to ask something: pastchats-memory recall 'your task'"
            raise click.UsageError(f"No such command '{args[0]}'. {hint}", ctx) from None


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Every command has examples in its own help: pastchats-memory search --help",
)
@click.version_option(__version__, prog_name="pastchats-memory")
def program() -> None:
    """Recall what was tried before, what worked and what failed, from conversations already on your disk.

    \b
    Start with:
      pastchats-memory setup
      pastchats-memory index ~/.claude/projects
      pastchats-memory search 'retry strategy'
      pastchats-memory recall 'build webhook retries'
      pastchats-memory    # search on the full screen
    """


def main() -> None:
    """Run the program, and end the process with an exit code."""
    _leave(_complete() if COMPLETION_VARIABLE in os.environ else _run(sys.argv[1:]))


def _complete() -> int:
    from click.shell_completion import shell_complete

    return shell_complete(program, {}, "pastchats-memory", COMPLETION_VARIABLE, os.environ[COMPLETION_VARIABLE])


def set_encoding(stream: TextIOWrapper, system: str) -> None:
    """Let a stream take any text, in UTF-8 on Windows: agents do not read the code page that Python gives a pipe there."""
    is_code_page = system == "win32" and "PYTHONIOENCODING" not in os.environ
    stream.reconfigure(encoding="utf-8" if is_code_page else None, errors="backslashreplace")


def _run(arguments: list[str]) -> int:
    sys.excepthook = _report_bug
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # None where the shell closed it
            set_encoding(stream, sys.platform)
    try:
        arguments = arguments or _pick()
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
    except ImportError as fault:
        code = _explain_import(fault, as_json="--json" in arguments)
    except (OSError, MemoryError) as fault:
        code = _explain_environment(fault, as_json="--json" in arguments)
    return code


def _pick() -> list[str]:
    """Return the command that the user picks on a full screen; nothing, which prints the help, if that is not possible.

    Raises click.exceptions.Exit if they leave, MemoryFault.
    """
    from pastchats_memory.cli.output import is_terminal

    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return []
    try:
        from pastchats_memory.cli.picker import pick
    except ModuleNotFoundError:
        click.echo(
            "To search on a full screen, in a clone (it is not on PyPI yet): pip install '.[picker]'\n", err=True
        )
        return []
    try:
        arguments = pick()
    except DatabaseMissing:
        return []
    if not arguments:
        raise click.exceptions.Exit(DONE)
    return arguments


def _explain_import(fault: ImportError, *, as_json: bool) -> int:
    """Explain that a library cannot be imported, and return the exit code. Raises it again if the module is ours."""
    import traceback

    importing = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(fault.__traceback__)]
    library = fault.name or next(name for name in reversed(importing) if not name.startswith("importlib"))
    library = library.partition(".")[0]
    if library == __package__.partition(".")[0]:
        raise fault
    reason = utf8(str(fault)).strip().partition("\n")[0]
    message = f"the library {library} cannot be imported: {reason}"
    return _explain(LibraryBroken(message, "Reinstall pastchats-memory with its libraries."), as_json=as_json)


def _explain_environment(fault: OSError | MemoryError, *, as_json: bool) -> int:
    """Explain an error of the system, and return the exit code. Raises it again if it is a bug."""
    if isinstance(fault, MemoryError):
        fault = OSError(errno.ENOMEM, "")
    if fault.errno == errno.EPIPE:
        _discard_stdout()
        return DONE
    from pastchats_memory.files.faults import explain_os_error

    explained = explain_os_error(fault, utf8(str(fault.filename or "the result")))
    if explained is None:
        raise fault
    if fault.filename is None:
        _discard_stdout()
    return _explain(explained, as_json=as_json)


def _leave(code: int) -> None:
    """End the process at once.

    The database is closed by now. A normal end would tear down libraries that another thread is still loading.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.flush()
    os._exit(code)


def _end_line() -> int:
    """End the line that shows `^C` or a question on a terminal, and return the exit code of an interruption."""
    from pastchats_memory.cli.output import is_terminal

    if is_terminal(sys.stderr):
        click.echo(err=True)
    return INTERRUPTED


def _explain(fault: MemoryFault, *, as_json: bool) -> int:
    if as_json:
        from pastchats_memory.cli.output import emit_json
        from pastchats_memory.views.answers.errors import build_error

        emit_json(build_error(fault.kind, utf8(fault.message), utf8(fault.hint)), err=True)
    else:
        from pastchats_memory.cli.output import hanging

        text = f"Error: {one_line(fault.message)}" + (f"\n{fault.hint}" if fault.hint else "")
        click.echo(hanging(sanitise(text), err=True), err=True)
    return EXPLAINED


def _explain_usage(fault: click.ClickException, *, as_json: bool) -> int:
    if as_json:
        hint = "See `pastchats-memory --help`."
        if isinstance(fault, click.UsageError) and fault.ctx is not None:
            hint = f"See `{fault.ctx.command_path} --help`."
        return _explain(UsageFault(_in_plain_words(fault.format_message()), hint), as_json=True)

    from pastchats_memory.cli.output import hanging

    message = StringIO()
    fault.show(message)
    click.echo(hanging(sanitise(_in_plain_words(message.getvalue().rstrip())), err=True), err=True)
    return EXPLAINED


def _in_plain_words(message: str) -> str:
    """Return click's message with the names of its types replaced."""
    message = message.replace("is not a valid integer range", "is not a whole number")
    message = message.replace("is not a valid float range", "is not a number")
    return LEAST.sub(r"is less than \1", RANGE.sub(r"is not a number from \1 to \2", message))


def _discard_stdout() -> None:
    """Redirect stdout to nowhere. Its reader is gone, and flushing the rest would raise again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    import traceback

    traceback.print_exception(kind, fault, trace)
    _leave(BUG)
