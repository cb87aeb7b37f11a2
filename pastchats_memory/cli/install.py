"""`install` and `uninstall`: change an agent's settings so that it calls our hooks."""

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, give_result
from pastchats_memory.cli.output import hanging
from pastchats_memory.config import state_folder
from pastchats_memory.hooks.install import SettingsChange, advice, plan_install, plan_uninstall, targets, write
from pastchats_memory.text.display import sanitise
from pastchats_memory.views.answers.listing import Listing
from pastchats_memory.views.answers.settings import INSTALL, UNINSTALL, FileChange

TARGETS = tuple(targets())
LIST_OF_TARGETS = f"\b\nTargets: {', '.join(TARGETS)}"
target_argument = click.argument("target", metavar="TARGET", type=options.Choice(TARGETS))
diff_option = click.option("--diff", "show_diff", is_flag=True, help="Show the diff of each file, not a line.")


@give_result("install", above=LIST_OF_TARGETS)
@target_argument
@click.option("--print", "only_print", is_flag=True, help="Show the diff and change nothing.")
@diff_option
@options.yes_or_no
def command(db: str | None, target: str, only_print: bool, show_diff: bool) -> CommandResult:
    """Add hooks to a coding agent: recall before each prompt, index after each session.

    Lists the files that change, keeps a copy of each original next to it, and leaves everything else in it alone.
    `pastchats-memory uninstall TARGET` removes exactly the hooks. At a terminal it asks first. Without a terminal and
    without --yes nothing is changed, exit code 1.
    """
    changes = plan_install(target, db, state_folder())
    result = _apply(target, changes, INSTALL, show_diff=show_diff or only_print, only_print=only_print)
    notes = [*result.notes]
    if not changes:
        notes.append(f"{target} has our hooks already.")
    elif result.is_found:
        undo = f"`pastchats-memory uninstall {target}` takes this out again."
        notes.append(f"Its next sessions recall before each prompt; {undo}")
    if result.is_found or not changes:
        notes += advice(target)
    return result._replace(notes=notes, is_found=result.is_found or only_print or not changes)


@give_result("uninstall", above=LIST_OF_TARGETS)
@target_argument
@diff_option
@options.yes_or_no
def uninstall(_: str | None, target: str, show_diff: bool) -> CommandResult:
    """Remove from an agent's settings what `install` added, and nothing else.

    The memory itself stays as it is. At a terminal it asks first. Without a terminal and without --yes nothing is
    changed, exit code 1.
    """
    result = _apply(target, plan_uninstall(target, state_folder()), UNINSTALL, show_diff=show_diff)
    return result._replace(notes=result.notes or [f"{target} has no hooks of ours."])


def _apply(
    target: str,
    changes: list[SettingsChange],
    listing: Listing[FileChange],
    *,
    show_diff: bool,
    only_print: bool = False,
) -> CommandResult:
    if not options.is_json_wanted():
        for change in changes:
            click.echo(sanitise(change.diff) if show_diff else f"{hanging(sanitise(change.summary))}\n", nl=False)
    agreed = bool(changes) and not only_print and options.agree("Make these changes?")
    copies = write(target, changes, state_folder(), is_install=listing is INSTALL) if agreed else {}
    notes = [f"The file as it was: {copy}" for copy in copies.values()]
    if changes and not agreed:
        notes.append("Nothing was changed; --yes makes the changes.")
    return CommandResult(
        lambda: listing.build([FileChange(str(one.path), one.diff, agreed, copies.get(one.path)) for one in changes]),
        lambda: "",
        is_found=agreed,
        notes=notes,
    )
