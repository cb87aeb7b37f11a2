"""`completion`: print the script by which a shell completes commands and options."""

import click

from pastchats_memory.cli import COMPLETION_VARIABLE, DONE, options, program
from pastchats_memory.cli.asking import make_command


@make_command("completion")
@options.unused_database
@click.argument("shell", type=options.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script for SHELL: source it in bash, put it on zsh's fpath or in fish's completions."""
    from click.shell_completion import get_completion_class

    completes = get_completion_class(shell)
    if completes is None:  # a click without this shell
        raise click.UsageError(f"{shell} cannot be completed by this version of click")
    click.echo(completes(program, {}, "pastchats-memory", COMPLETION_VARIABLE).source())
    return DONE
