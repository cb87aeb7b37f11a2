"""Spellings of single agents that other formats contain, because exporters copy an agent's transcript."""

import re

from pastchats_memory.formats.base.tools import ToolResult, split_exit_code

CHATGPT_HIDDEN_TYPES = frozenset({
    "user_editable_context", "model_editable_context", "thoughts", "reasoning_recap", "tether_quote", "tether_browsing_display",
})  # fmt: skip
"""Content types of ChatGPT that nobody sees: custom instructions, memory, hidden reasoning, pages that were read."""

_DROID_FAILED = re.compile(r"\AError: Command failed \(exit code: (\d{1,9})\)\n?")
_DROID_EXITED = re.compile(r"\n?\[Process exited with code (\d{1,9})\]\s*\Z")
_GEMINI_UNTRUSTED = re.compile(r"\s*<untrusted_context>\n(.*)\n</untrusted_context>\s*\Z", re.DOTALL)
"""The wrapper of newer versions around text from outside."""
_GEMINI_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_GEMINI_LABELS = re.compile(
    r"""
    ^(?:
        (?:Error|Signal|Background[ ]PIDs|Process[ ]Group[ ]PGID|Output):[ ]\(.*\)
      | (?:Command|Directory|Exit[ ]Code|Signal|Background[ ]PIDs|Process[ ]Group[ ]PGID):[ ].*
    )\n?
    """,
    re.MULTILINE | re.VERBOSE,
)


def parse_droid_output(text: str, *, failed: bool) -> ToolResult:
    """Parse the output of Droid's shell tool, which names the exit code above or below it.

    Example: `Error: Command failed (exit code: 2)` above, or `[Process exited with code 0]` below.
    """
    return split_exit_code(text, _DROID_FAILED if _DROID_FAILED.match(text) else _DROID_EXITED, failed=failed)


def parse_gemini_output(text: str, *, failed: bool) -> ToolResult:
    """Parse the output of the shell tool of Gemini CLI and its forks, between labelled lines.

    The tool itself reports a command that failed as a success, so the exit code decides.
    """
    wrapped = _GEMINI_UNTRUSTED.match(text)
    text = wrapped[1] if wrapped else text
    found = _GEMINI_EXIT_CODE.search(text)
    if found is None and not text.startswith("Output: "):
        return ToolResult(text, failed=failed)
    code = int(found[1]) if found else None
    words = _GEMINI_LABELS.sub("", text).strip()
    return ToolResult(words.removeprefix("Output: "), code, failed=failed or bool(code))
