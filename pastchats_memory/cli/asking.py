"""The shape of a command: parse, one call of `Memory`, JSON or text, warnings, exit code."""

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from pastchats_memory.cli import DONE, EXAMPLES, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, is_terminal, notify, warn

if TYPE_CHECKING:
    from pastchats_memory.memory import Memory
    from pastchats_memory.views.answers.listing import Listing

Row = TypeVar("Row")
WAYS_BACK = "\n`open ID` shows the conversation there, `resume ID` continues its session."


class CommandResult(NamedTuple):
    """The result of a command, with its two forms; only one of them is made."""

    body: Callable[[], Mapping[str, object]]
    """Returns the JSON."""
    text: Callable[[], str]
    is_found: bool = True
    """Whether the exit code is 0."""
    nothing: str = ""
    """The message that replaces the text if nothing was found; empty to print the text."""
    notes: Sequence[str] = ()
    """Messages below the text."""
    warnings: Sequence[str] = ()
    is_folded: bool = False
    """Whether the text fits the terminal already."""
    leads_back: bool = False
    """Whether the commands are named that lead from a result back to the work."""
    run: Callable[[], int] | None = None
    """Runs another program in place of the text, once the database is closed, and returns its exit code."""


def list_found(
    answer: "Listing[Row]", found: Sequence[Row], text: Callable[[], str], nothing: str, warnings: Sequence[str] = ()
) -> CommandResult:
    """Return the result of a command that lists what it finds."""
    return CommandResult(lambda: answer.build(found, warnings), text, bool(found), nothing, warnings=warnings)


def make_command(
    name: str, *, above: str = "", group: click.Group | None = None
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return click's decorator of a command with examples below its help, and a text above the examples."""
    owner, full_name = (click, name) if group is None else (group, f"{group.name} {name}")
    return owner.command(name, epilog=f"{above}\n\n{list_examples(full_name)}".strip("\n"))


def list_examples(name: str) -> str:
    """Return the examples of a command as click prints them below its help."""
    examples = EXAMPLES[name]
    return "\n".join(["\b", "Examples:" if len(examples) > 1 else "Example:", *(f"  {line}" for line in examples)])


def ask_memory(
    name: str,
    *,
    create: bool = False,
    create_for: str = "",
    flags: Sequence[str] = (),
    check: Callable[..., object] | None = None,
    before: Callable[[str | None], None] | None = None,
    **further: Any,
) -> Callable[[Callable[..., CommandResult]], click.Command]:
    """Return a decorator that makes a function of an open memory a command with `--db` and `--json`.

    Args:
        name: of the command.
        create: create a missing database.
        create_for: name of an option that needs none.
        flags: names of options that are settings of the configuration.
        check: gets the arguments before the database is opened or made, and raises UsageFault for wrong ones.
        before: gets the value of `--db` before the database is opened.
        further: what `make_command` takes.
    """

    def open_for(db: str | None, given: dict[str, Any]) -> "Memory":
        settings = {flag: given.pop(flag) for flag in flags}
        if check is not None:
            check(**given)
        if before is not None:
            before(db)
        return options.open_memory(db, create=create or given.get(create_for, False), **settings)

    return _give_result(open_for, name, **further)


def give_result(name: str, **further: Any) -> Callable[[Callable[..., CommandResult]], click.Command]:
    """Return a decorator that makes a function of the value of `--db` a command with `--db` and `--json`."""
    return _give_result(lambda db, _: nullcontext(db), name, **further)


def _give_result(
    enter: Callable[[str | None, dict[str, Any]], AbstractContextManager[object]], name: str, **further: Any
) -> Callable[[Callable[..., CommandResult]], click.Command]:
    def decorate(find: Callable[..., CommandResult]) -> click.Command:
        @functools.wraps(find)
        def run(*, db: str | None, as_json: bool, **given: Any) -> int:
            if "query_words" in given:
                given["query"] = options.query_text(given.pop("query_words"), given.pop("query_option"))
            for answer in ("yes", "no"):  # `options.agree` reads them
                given.pop(answer, None)
            with enter(db, given) as source:
                result = find(source, **given)
                is_replaced = bool(result.nothing) and not result.is_found  # by a message
                printed = result.body() if as_json else "" if is_replaced else result.text()
            return _print(result, printed)

        own = vars(run).pop("__click_params__", [])
        options.database(options.as_json(run))
        run.__click_params__ += own  # type: ignore[attr-defined] # click's list, the last option first
        return make_command(name, **further)(run)

    return decorate


def _print(result: CommandResult, printed: Mapping[str, object] | str) -> int:
    if not isinstance(printed, str):
        emit_json(printed)
    elif result.run is not None:
        return result.run()
    else:
        text = printed if result.is_folded else hanging(printed)
        if text:
            click.echo(text, nl=not text.endswith("\n"))
        elif result.nothing:
            notify(result.nothing)
        for note in result.notes:
            notify(note)
        if result.leads_back and result.is_found and is_terminal(sys.stdout):
            notify(WAYS_BACK)
    warn(result.warnings)
    return DONE if result.is_found else NOTHING
