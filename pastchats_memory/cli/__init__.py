"""The command line: parse, one call of `Memory`, render, exit code."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from contextlib import suppress
from io import StringIO, TextIOWrapper
from types import TracebackType

import click

from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.model import utf8
from pastchats_memory.text.display import escape_controls, sanitise

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
    from pastchats_memory.cli.output import is_terminal

    if is_terminal(sys.stderr):
        click.echo(err=True)
    return INTERRUPTED


def _explain(fault: MemoryFault, *, as_json: bool) -> int:

    if as_json:
        import orjson

        from pastchats_memory.views.build import build_error

        body = build_error(fault.kind, utf8(fault.message), fault.hint)
        click.echo(escape_controls(orjson.dumps(body).decode()), err=True)
    else:
        said = f"Error: {fault.message}" + (f"\n{fault.hint}" if fault.hint else "")
        from pastchats_memory.cli.output import hanging

        click.echo(hanging(sanitise(said), err=True), err=True)
    return EXPLAINED


def _explain_usage(fault: click.ClickException, *, as_json: bool) -> int:
    if as_json:
        hint = "See `pastchats-memory --help`."
        if isinstance(fault, click.UsageError) and fault.ctx is not None:
            hint = f"See `{fault.ctx.command_path} --help`."
        return _explain(UsageFault(fault.format_message(), hint), as_json=True)

    said = StringIO()
    fault.show(said)
    click.echo(sanitise(said.getvalue()), nl=False, err=True)
    return EXPLAINED


def _forget_stdout() -> None:
    """Whoever read us is gone: what is still in the buffer must not raise again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    traceback.print_exception(kind, fault, trace)
    _leave(BUG)
