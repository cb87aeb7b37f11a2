"""Find the folders that ours lie in, by https://specifications.freedesktop.org/basedir.

This module imports almost nothing, since each of many hooks at once needs it before its turn.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType

DATABASE_VARIABLE = "PASTCHATS_MEMORY_DB"
"""The variable that names the database file instead of the one in our data folder."""
JUDGING_VARIABLE = "PASTCHATS_MEMORY_JUDGING"
"""The variable in the environment of a judge that we have called: our hooks are silent there."""
FOLDER = "pastchats-memory"
GIVEN_FOLDER = "given"
"""The folder of the notes of what hooks gave to agents, in the folder of the hooks' state."""
FOLDERS: Mapping[str, str] = MappingProxyType(
    {
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
        "XDG_CACHE_HOME": ".cache",
    }
)
"""The variable of each folder, and where it is below the home folder without."""


def find_base_folder(environment: Mapping[str, str], variable: str) -> str | None:
    """Return the folder that a variable names, or its default; None without a home folder.

    A relative folder in the variable is ignored, as the specification asks.
    """
    named = environment.get(variable, "")
    if os.path.isabs(named):  # noqa: PTH117 - pathlib takes longer to import than all of this
        return named
    home = os.path.expanduser("~")  # noqa: PTH111 - as above
    return None if home == "~" else os.path.join(home, FOLDERS[variable])  # noqa: PTH118 - as above


def find_state_folder(environment: Mapping[str, str]) -> str | None:
    """Return the folder of logs and of what hooks remember; None without a home folder."""
    base = find_base_folder(environment, "XDG_STATE_HOME")
    return base and os.path.join(base, FOLDER)  # noqa: PTH118 - as above


def name_state(database: str | None) -> str | None:
    """Return the path of the folder of the hooks' state; without a home folder it lies beside a database that is named."""
    if found := find_state_folder(os.environ):
        return found
    named = database or os.environ.get(DATABASE_VARIABLE)
    return os.path.abspath(f"{named}-hooks") if named else None  # noqa: PTH100 - resolve() would follow links
