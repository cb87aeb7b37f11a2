"""`install` and `uninstall`: change an agent's settings so that it calls our hooks."""

from __future__ import annotations

import sys

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, is_terminal, notify
from pastchats_memory.config import state_folder
from pastchats_memory.hooks.install import TARGETS, SettingsChange, advice, plan_install, plan_uninstall, write
from pastchats_memory.text.display import sanitise
from pastchats_memory.views.answers.settings import INSTALL, UNINSTALL, FileChange


@click.command(
    "install",
    epilog=f"""\b
Targets: {", ".join(TARGETS)}

\b
Examples:
  pastchats-memory install claude-code
  pastchats-memory install codex --print
  pastchats-memory install claude-code --diff
  pastchats-memory install gemini --yes
""",
)
@click.argument("target", metavar="TARGET", type=options.Choice(TARGETS))
@click.option("--print", "only_print", is_flag=True, help="Show the diff and change nothing.")
@click.option("--diff", "show_diff", is_flag=True, help="Show the diff of each file, not a line.")
@options.yes
@options.no
@options.database
@options.as_json
def install(target: str, only_print: bool, show_diff: bool, yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Add hooks to a coding agent: recall before each prompt, index after each session.

    Lists the files that change, keeps a copy of each original next to it, and leaves everything else in it alone.
    `pastchats-memory uninstall TARGET` removes exactly the hooks. At a terminal it asks first. Without a terminal and
    without --yes nothing is changed, exit code 1.
    """
    changes = plan_install(target, db, state_folder())
    if not changes and not as_json:
        click.echo(f"{target} has our hooks already.", err=True)
    answer = False if no or only_print else yes or None
    code = apply_changes("install", target, changes, answer=answer, show_diff=show_diff or only_print, as_json=as_json)
    if code == DONE and not as_json:
        text = (
            f"Its next sessions recall before each prompt; `pastchats-memory uninstall {target}` takes this out again."
        )
        notify(text)
    if not as_json and (code == DONE or not changes):
        for sentence in advice(target):
            notify(sentence)
    return DONE if only_print or not changes else code


def apply_changes(
    verb: str, target: str, changes: list[SettingsChange], *, answer: bool | None, show_diff: bool, as_json: bool
) -> int:
    """Show the changes, make them if the answer is yes, and return the exit code.

    The answer None asks at a terminal, and is no elsewhere.
    """
    if not as_json:
        for change in changes:
            click.echo(sanitise(change.diff) if show_diff else f"{hanging(sanitise(change.summary))}\n", nl=False)
    if answer is None:
        asks = bool(changes) and is_terminal(sys.stdin) and not as_json
        answer = asks and click.confirm("Make these changes?", err=True)
    copies = write(target, changes, state_folder(), is_install=verb == "install") if answer and changes else {}
    if as_json:
        results = [FileChange(str(one.path), one.diff, answer, copies.get(one.path)) for one in changes]
        emit_json((INSTALL if verb == "install" else UNINSTALL).build(results))
    elif changes:
        for copy in copies.values():
            notify(f"The file as it was: {copy}")
        if not answer:
            click.echo("Nothing was changed; --yes makes the changes.", err=True)
    return DONE if answer and changes else NOTHING


@click.command(
    "uninstall",
    epilog=f"""\b
Targets: {", ".join(TARGETS)}

\b
Examples:
  pastchats-memory uninstall claude-code
  pastchats-memory uninstall codex --yes
""",
)
@click.argument("target", metavar="TARGET", type=options.Choice(TARGETS))
@click.option("--diff", "show_diff", is_flag=True, help="Show the diff of each file, not a line.")
@options.yes
@options.no
@options.database
@options.as_json
def uninstall(target: str, show_diff: bool, yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Remove from an agent's settings what `install` added, and nothing else.

    The memory itself stays as it is. At a terminal it asks first. Without a terminal and without --yes nothing is
    changed, exit code 1.
    """
    del db  # every command takes --db; hooks of any database are removed
    changes = plan_uninstall(target, state_folder())
    if not changes and not as_json:
        click.echo(f"{target} has no hooks of ours.", err=True)
    answer = False if no else yes or None
    return apply_changes("uninstall", target, changes, answer=answer, show_diff=show_diff, as_json=as_json)
