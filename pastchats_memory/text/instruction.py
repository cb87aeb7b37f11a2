"""Find what a person typed in a prompt that a template, a schedule or a program wrote around it. Pure."""

import re

from pastchats_memory.text.lazy_pattern import LazyPattern

_MARK = "(marked with █)"
"""What aider writes above instructions that it made of comments in files."""
_MARKED = LazyPattern(r"^█(.*)", re.MULTILINE)
_INPUT = LazyPattern(
    r"^\#{1,4}\ *User\ [Ii]nput:?[^\S\n]*\n\s*(?P<fence>```|~~~)\w*[^\S\n]*\n(?P<words>.*?)(?:^(?P=fence)|\Z)",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
    ("User Input", "User input"),
)
"""The section in which templates of commands put the user's words."""
_FIRST_INPUT = LazyPattern(
    r"\A\s*\#{1,4}\ [^\n]{2,30}\n\s*```text[^\S\n]*\n(?P<words>[^`]*)```\s+\#{1,4}\ ", re.VERBOSE, ("```text",)
)
"""The same section at the start, whatever the language of its heading."""
_ARGUMENTS = LazyPattern(r"\n\nARGUMENTS:(?P<words>.*)\Z", re.DOTALL, ("\n\nARGUMENTS:",))
"""What clients append to the text of a command or a skill that has no place for the user's words."""
_SCHEDULED = LazyPattern(
    r"\A\s*<scheduled-task\b[^>]{0,400}>\s*(?:This\ is\ an\ automated\ run\b.*?\n[^\S\n]*\n)?(?P<words>.*?)(?:</scheduled-task>|\Z)",
    re.VERBOSE | re.DOTALL,
    ("<scheduled-task",),
)
_AUTOMATION = LazyPattern(
    r"\AAutomation: [^\n]*\n(?:[A-Z][\w ]{1,30}: [^\n]*\n)+(?P<words>.*)", re.DOTALL, ("Automation: ",)
)
_TEMPLATES = (_INPUT, _FIRST_INPUT, _ARGUMENTS, _SCHEDULED, _AUTOMATION)


def find_instruction(prompt: str) -> str:
    """Return the user's own words in a prompt; all of it if it is no template, or one without words."""
    return parse_template(prompt) or prompt


def parse_template(prompt: str) -> str | None:
    """Return the user's words in a filled template, which may be empty; None if the prompt is none.

    >>> parse_template("## User Input\\n\\n```text\\nLine the flue.\\n```\\n\\nFollow these steps.")
    'Line the flue.'
    """
    if _MARK in prompt[:300]:
        return "\n".join(_MARKED.findall(prompt)).strip() or None
    found = next(filter(None, (template.search(prompt) for template in _TEMPLATES)), None)
    return found["words"].strip() if found else None
