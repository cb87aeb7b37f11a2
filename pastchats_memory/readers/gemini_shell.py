"""What the shell tool of Gemini CLI and its forks answers: a header and a footer of named lines around the output."""

from __future__ import annotations

import re

from pastchats_memory.readers.traffic import Output

_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_PLUMBING = re.compile(
    r"^(?:Command: .*|Directory: .*|Exit Code: .*|(?:Error|Signal|Background PIDs|Process Group PGID|Output): \(.*\)|"
    r"Signal: .*|Background PIDs: .*|Process Group PGID: .*)\n?",
    re.MULTILINE,
)


def shell_output(text: str, *, failed: bool) -> Output:
    """The output with its exit code where there is one; the tool itself counts a failed command as a success."""
    code = _EXIT_CODE.search(text)
    if code is None:
        return Output(text, failed=failed)
    words = _PLUMBING.sub("", text).strip()
    return Output(words.removeprefix("Output: "), int(code[1]), failed=failed or code[1] != "0")
