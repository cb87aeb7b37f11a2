"""What the shell tool of Factory's Droid answers: what was printed, below or above a line with the exit code."""

from __future__ import annotations

import re

from pastchats_memory.readers.traffic import Output

_FAILED = re.compile(r"\AError: Command failed \(exit code: (\d{1,9})\)\n?")
_EXITED = re.compile(r"\n?\[Process exited with code (\d{1,9})\]\s*\Z")


def executed(text: str, *, failed: bool) -> Output:
    """The output, with its exit code where there is one."""
    found = _FAILED.match(text) or _EXITED.search(text)
    if found is None:
        return Output(text, failed=failed)
    code = int(found[1])
    return Output(text[: found.start()] + text[found.end() :], code, failed=failed or code != 0)
