"""`man` and `completion`: print the manual page, and the scripts by which shells complete commands."""

import re

import click

from pastchats_memory import __version__
from pastchats_memory.cli import COMPLETION_VARIABLE, DONE, options, program
from pastchats_memory.cli.asking import make_command


@make_command("man")
@options.unused_database
def command() -> int:
    """Print the manual page; `pastchats-memory man | man -l -` displays it."""
    click.echo(page(), nl=False)
    return DONE


def page() -> str:
    """Return the manual page. Its macros are those of man(7), https://man7.org/linux/man-pages/man7/man.7.html."""
    context = click.Context(program, info_name="pastchats-memory", **program.context_settings)
    summary, _, rest = _plain(program.help).partition("\n")
    parts = [
        f'.TH PASTCHATS-MEMORY 1 "" "pastchats-memory {__version__}" "User Commands"\n',
        f".SH NAME\npastchats-memory \\- {_roff(summary.rstrip('.'))}\n",
        ".SH SYNOPSIS\n.B pastchats-memory\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n",
        f".SH DESCRIPTION\n.nf\n{_roff(rest.strip())}\n.fi\n",
        ".SH COMMANDS\n",
    ]
    for name in program.list_commands(context):
        found = program.get_command(context, name)
        if found is not None:
            parts.append(_command(found, click.Context(found, context, name)))
    parts.append(
        ".SH EXIT STATUS\n0 found or done, 1 nothing found, 2 an error that is explained, 70 a bug, 130 interrupted.\n"
    )
    return "".join(parts)


def _command(about: click.Command, context: click.Context) -> str:
    usage = " ".join(about.collect_usage_pieces(context))
    parts = [f".SS {_roff(about.name or '')}\n.B {_roff(f'{context.command_path} {usage}')}\n.PP\n"]
    parts += [f"{_roff(' '.join(text.split()))}\n.PP\n" for text in _plain(about.help).split("\n\n")]
    records = (parameter.get_help_record(context) for parameter in about.get_params(context))
    parts += [f".TP\n.B {_roff(record[0])}\n{_roff(record[1])}\n" for record in records if record is not None]
    if about.epilog:
        parts.append(f".PP\n.nf\n{_roff(_plain(about.epilog).strip())}\n.fi\n")
    return "".join(parts)


def _plain(help_: str | None) -> str:
    r"""Return a help text without click's mark `\b` for lines that must not be wrapped."""
    return re.sub(r"\x08\n?", "", help_ or "").strip()


def _roff(text: str) -> str:
    """Return text escaped for roff: backslashes and hyphens literal, no line that begins like a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", escaped)
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)


@make_command("completion")
@options.unused_database
@click.argument("shell", type=options.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script for SHELL: source it in bash, put it on zsh's fpath or in fish's completions."""
    from click.shell_completion import get_completion_class

    completes = get_completion_class(shell)
    if completes is None:  # a click without this shell
        raise click.UsageError(f"{shell} cannot be completed by this version of click")
    click.echo(completes(program, {}, "pastchats-memory", COMPLETION_VARIABLE).source())
    return DONE
