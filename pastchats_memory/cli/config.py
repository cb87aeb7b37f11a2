"""`config`: show every setting and where its value comes from."""

from pastchats_memory import config
from pastchats_memory.cli.asking import CommandResult, give_result
from pastchats_memory.cli.output import table
from pastchats_memory.text.display import one_line
from pastchats_memory.views.answers.settings import CONFIG
from pastchats_memory.views.settings import format_setting, list_settings


@give_result("config")
def command(db: str | None) -> CommandResult:
    """Show every setting with its value and its origin: a flag, a variable, a line of a file, or the default.

    The project's file is the nearest pastchats-memory.toml up to the root of your repository. Your own is
    pastchats-memory/pastchats-memory.toml in your configuration folder.
    """
    effective = config.load(db)
    rows = list_settings(effective)
    cells = [[row.key, one_line(format_setting(row.value)), one_line(row.origin)] for row in rows]
    own = config.own_file()
    return CommandResult(
        lambda: CONFIG.build(rows, effective.warnings),
        lambda: table(cells, ["key", "value", "from"], stretch=1),
        notes=[f"Your own file would be {own}"] if own is not None and not own.exists() else [],
        warnings=effective.warnings,
    )
