"""Options and arguments that several commands share."""

import os
import signal
import sys
from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from pastchats_memory.cli.output import hanging, is_terminal, warn
from pastchats_memory.config import Config, load
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.folders import DATABASE_VARIABLE

if TYPE_CHECKING:
    from pastchats_memory.memory import Memory

CLOSE = 0.75
"""Similarity from which on a wrong word is likely a misspelt one."""
NICE = 10
"""Of 19, so that programs in the foreground keep their cores."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

database: Decorator = click.option(
    "--db", "db", metavar="FILE", help=f"Database file [default: ${DATABASE_VARIABLE}, or your data folder]."
)
unused_database: Decorator = click.option(
    "--db", metavar="FILE", expose_value=False, help="Accepted as by every command; this one reads no database."
)
as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
everywhere: Decorator = click.option("--all", "everywhere", is_flag=True, help="All projects.")
yes: Decorator = click.option("--yes", is_flag=True, help="Answer yes to every question.")
_no: Decorator = click.option("--no", is_flag=True, help="Answer no to every question.")


class Choice(click.Choice):  # type: ignore[type-arg]  # no generic type before click 8.2
    """One of some words; the refusal of another names the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word, as click does. Raises click.BadParameter."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as fault:
            from difflib import get_close_matches

            near = [choice for choice in self.choices if choice.startswith(value)] or get_close_matches(
                value, self.choices, n=1, cutoff=CLOSE
            )
            if not near:
                raise
            raise click.BadParameter(f"{fault.message} Did you mean '{near[0]}'?", ctx, param) from None


def yes_or_no(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --yes and --no, which `agree` reads."""
    return yes(_no(command))


def hint_at_all(project: str | None) -> str:
    """Return the end of a message that nothing was found."""
    return "." if project is None else " here; --all looks in every project."


def agree(question: str, plan: Callable[[], str] = str, *, is_always_shown: bool = False) -> bool:
    """Return whether the user agrees to a plan, by --yes or on a terminal; with --json nothing is shown or asked.

    The plan stands above the question. With --yes it is shown only if `is_always_shown`.
    """
    given = click.get_current_context().params
    is_yes, is_quiet = bool(given["yes"]), is_json_wanted()
    if not is_quiet and (is_always_shown or not is_yes) and (text := plan()):
        click.echo(hanging(text))
    may_ask = not is_quiet and not given.get("no") and is_terminal(sys.stdin)
    return is_yes or (may_ask and click.confirm(question, err=True))


def is_json_wanted() -> bool:
    """Return whether the command was called with --json."""
    return bool(click.get_current_context().params["as_json"])


def query(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add QUERY as words or as `--query`. The command receives `query_words` and `query_option`."""
    command = click.option("--query", "query_option", metavar="QUERY", help="The query, same as the argument.")(command)
    return click.argument("query_words", metavar="QUERY", nargs=-1)(command)


def query_text(query_words: tuple[str, ...], query_option: str | None) -> str:
    """Return the one query. Raises UsageFault for none or two."""
    if query_words and query_option is not None:
        raise UsageFault("the query was given twice", "Give it as an argument or as --query.")
    if not query_words and query_option is None:
        command = click.get_current_context().command_path.partition(" ")[2]
        raise UsageFault("there is no query", f"Write one: pastchats-memory {command} 'retry strategy'.")
    return " ".join(query_words) if query_option is None else query_option


def check_model_name(_context: click.Context, _parameter: click.Parameter, model: str | None) -> str | None:
    """Return the name of a model. Raises UsageFault for a blank one, such as that of an unset variable."""
    if model is not None and not model.strip():
        raise UsageFault("--model names no model", "Is the variable that it comes from set?")
    return model


model: Decorator = click.option(
    "--model",
    metavar="MODEL",
    callback=check_model_name,
    help="Embedding model of a new database: a name, a folder, or `packaged`.",
)
threads: Decorator = click.option(
    "--threads", type=click.IntRange(1, 1024), metavar="N", help="Threads of the model [default: one per core]."
)


def be_nice() -> None:
    """Give other programs priority: the model otherwise takes every core."""
    if hasattr(os, "nice") and os.nice(0) < NICE:
        os.nice(NICE - os.nice(0))


def interrupt_in_order() -> Event:
    """Make Ctrl-C raise KeyboardInterrupt from now on, as there is something to tidy up.

    Returns the event that it sets: Python drops what is raised while an object is deleted, so a loop without an end asks it.
    """
    stopping = Event()

    def interrupt(*_: object) -> None:
        stopping.set()
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    return stopping


def open_memory(db: str | None, *, create: bool = False, **flags: object) -> "Memory":
    """Open the memory that flags, environment, files or defaults name, and print notices on stderr.

    Raises StoreFault, UsageFault, ModelUnavailable.
    """
    from pastchats_memory.memory import Memory  # `index` over unchanged files does without

    config: Config = load(db, flags=flags)
    memory = Memory.open(config.database, create=create, config=config, say=lambda notice: warn([notice]))
    warn(memory.notices)
    return memory
