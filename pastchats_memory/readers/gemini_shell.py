"""What the shell tool of Gemini CLI and its forks answers: a header and a footer of named lines around the output."""

from __future__ import annotations

import re

from pastchats_memory.readers.traffic import Output

_UNTRUSTED = re.compile(r"\s*<untrusted_context>\n(.*)\n</untrusted_context>\s*\Z", re.DOTALL)
"""What newer versions put around what came from outside."""
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_PLUMBING = re.compile(
    r"^(?:Command: .*|Directory: .*|Exit Code: .*|(?:Error|Signal|Background PIDs|Process Group PGID|Output): \(.*\)|"
    r"Signal: .*|Background PIDs: .*|Process Group PGID: .*)\n?",
    re.MULTILINE,
)


def shell_output(text: str, *, failed: bool) -> Output:
    """The output with its exit code where there is one; the tool itself counts a failed command as a success."""
    wrapped = _UNTRUSTED.match(text)
    text = wrapped[1] if wrapped else text
    found = _EXIT_CODE.search(text)
    if found is None and not text.startswith("Output: "):
        return Output(text, failed=failed)
    code = int(found[1]) if found else None
    words = _PLUMBING.sub("", text).strip()
    return Output(words.removeprefix("Output: "), code, failed=failed or bool(code))
