"""Options of the questions that `memory.questions` declares."""

import functools
from collections.abc import Callable
from typing import Any

import click

from pastchats_memory.cli import options
from pastchats_memory.memory import Memory, questions


def check_filter(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return the value of a filter. Raises UsageFault, before a database is opened or made."""
    if value is not None and not context.resilient_parsing:
        Memory.check_filters(**{str(parameter.name): value})
    return value


def make_option(argument: questions.Argument, *other_flags: str) -> options.Decorator:
    """Return the option of an argument."""
    flag = f"--{argument.name.replace('_', '-')}"
    if argument.kind is bool:
        if argument.default:
            flag = f"--no-{argument.name.removeprefix('has_')}"
        return click.option(
            flag,
            argument.name,
            is_flag=True,
            flag_value=not argument.default,
            default=argument.default,
            help=argument.help,
        )
    kind: Any = options.Choice(argument.choices) if argument.choices else argument.kind
    if argument.kind is int:
        kind = click.IntRange(int(argument.least), None if argument.most is None else int(argument.most))
    elif argument.kind is float:
        kind = click.FloatRange(argument.least, argument.most)
    return click.option(
        flag,
        *other_flags,
        argument.name,
        callback=check_filter if argument.name in questions.FILTERS else None,
        type=kind,
        default=argument.default,
        show_default=argument.default is not None,
        metavar=argument.shown,
        help=argument.help,
    )


project: options.Decorator = make_option(questions.PROJECT)
since: options.Decorator = make_option(questions.SINCE)
until: options.Decorator = make_option(questions.UNTIL)


def ask_for(question: questions.Question, **other_flags: str) -> options.Decorator:
    """Return a decorator that adds the arguments of a question, QUERY as words or as `--query`.

    A project that is the current one by default has `--all` beside it. `other_flags` are second names of options.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for argument in reversed(questions.list_arguments(question, "cli")):
            if argument == questions.QUERY:
                command = options.query(command)
            elif argument == questions.HERE:
                command = _project_or_all(command)
            else:
                command = make_option(argument, *filter(None, [other_flags.get(argument.name)]))(command)
        return command

    return add


def _project_or_all(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--project` and `--all`; the command receives the project, or None for all."""

    @functools.wraps(command)
    def run(*given: Any, project: str | None, everywhere: bool, **further: Any) -> Any:
        return command(*given, project=None if everywhere else project or ".", **further)

    return project(options.everywhere(run))
