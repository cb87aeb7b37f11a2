"""Show every setting and where its value comes from."""

from pastchats_memory.config import exclusions, from_home, own_file
from pastchats_memory.http.page.answers import PageRequest, WebPage
from pastchats_memory.memory import Memory
from pastchats_memory.views.settings import DEFAULT, format_setting, list_settings


def show_settings(memory: Memory, _: PageRequest) -> WebPage:
    """Show the settings that somebody made, then the defaults."""
    rows = [
        {"key": row.key, "value": format_setting(row.value), "origin": from_home(row.origin)}
        for row in list_settings(memory.config)
    ]
    own = own_file()
    values = {
        "made": [row for row in rows if row["origin"] != DEFAULT],
        "defaults": [row for row in rows if row["origin"] == DEFAULT],
        "own_file": "" if own is None else from_home(str(own)),
        "is_own_file_there": own is not None and own.exists(),
        "warnings": memory.config.warnings,
        "excluded": len(exclusions.excluded()),
    }
    return WebPage("settings", values)
