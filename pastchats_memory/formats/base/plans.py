"""Plans that an agent proposes: in the call of a planning tool, in its result, or in a file that it writes."""

import re

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.tools import fold_tool_name
from pastchats_memory.formats.base.values import first_text, mapping_of, value_of

PLAN_KEYS = ("plan", "planContent", "plan_content", "explanation", "summary")
"""Keys of a planning tool's input that hold the text of the plan, best first."""
PATH_KEYS = ("file_path", "filePath", "path", "absolute_path", "target_file", "filename")
CONTENT_KEYS = ("content", "contents", "file_text", "text")
"""Keys under which tools that write a file pass its path and its text."""

_APPROVED = re.compile(r"^## Approved Plan(?: \([^)\n]{1,60}\))?:\n", re.MULTILINE)
"""The heading above a plan that the client repeats for the model, with the person's changes."""
_SEPARATOR = re.compile(r"[/\\]")
_HIDDEN_FOLDER = re.compile(r"\.[a-z][\w-]*")


def find_plan(name: str, arguments: object, dialect: Dialect = COMMON) -> str:
    """Return the text of the plan in a call, or `""`. The arguments are an object, its JSON text, or raw text."""
    if isinstance(arguments, str) and "plan" not in arguments:
        return ""
    inputs = mapping_of(value_of(arguments))
    if fold_tool_name(name) in dialect.plan_tools:
        return first_text(inputs, PLAN_KEYS)
    return first_text(inputs, CONTENT_KEYS) if is_plan_file(first_text(inputs, PATH_KEYS)) else ""


def find_approved_plan(name: str, result: str, dialect: Dialect = COMMON) -> str:
    """Return the plan that the result of a planning tool repeats, or `""`."""
    if fold_tool_name(name) not in dialect.plan_tools:
        return ""
    found = _APPROVED.search(result)
    return result[found.end() :].strip() if found else ""


def is_plan_file(path: str) -> bool:
    """Return whether an agent keeps a plan in a file, by its path, such as `~/.claude/plans/kiln.md`."""
    *folders, name = _SEPARATOR.split(path)
    is_named = name == "plan.md" or (folders[-1:] == ["plans"] and name.endswith(".md"))
    return is_named and any(map(_HIDDEN_FOLDER.fullmatch, folders[1:]))
