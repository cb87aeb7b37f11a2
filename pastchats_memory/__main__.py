"""The program, as `pastchats-memory` and as `python -m pastchats_memory`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Answer an agent's event, or whatever else the command line asks; ends the process.

    A hook runs at every prompt: of all that the command line imports it needs nothing.
    """
    os.umask(os.umask(0o077) | 0o077)  # whatever is written here is the person's alone
    if sys.argv[1:2] == ["hook"]:
        from pastchats_memory import hooks

        hooks.main(sys.argv[2:])
    from pastchats_memory import cli

    cli.main()


if __name__ == "__main__":
    main()
