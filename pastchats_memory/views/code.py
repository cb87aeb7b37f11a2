"""Write code, changes and output as HTML with the classes of Pygments, which the page's style colours."""

import re
import tomllib
from difflib import unified_diff
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import Any

from pastchats_memory.text.display import remove_controls

LONGEST_CODE = 6_000
"""Characters that are highlighted; the time of a lexer may grow with the square of a hostile text."""
MOST_LINES = 3_000
"""Lines of both sides whose difference is sought, for the same reason."""
_PLAIN = re.compile(r'<span class="(?:w|p|n|o|nn|nx|err|bp)">([^<]*)</span>')
"""Matches what has no colour of its own."""


def render_code(code: str, language: str) -> str:
    """Return code as HTML, highlighted if the language, or the end of a file's path, is a known one."""
    return _highlight(
        remove_controls(code), _load_languages().get(language.lower().rpartition("/")[2].rpartition(".")[2], "")
    )


@lru_cache(maxsize=256)
def _highlight(code: str, alias: str) -> str:
    if not alias or len(code) > LONGEST_CODE:
        return escape(code)
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter

    return _PLAIN.sub(r"\1", highlight(code, _find_lexer(alias), HtmlFormatter(nowrap=True)).removesuffix("\n"))


@cache
def _load_languages() -> dict[str, str]:
    """Return Pygments' name of each language by the ends of its files and the names that people write."""
    table = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    return {name: alias for alias, names in table.items() for name in names.split()}


@cache
def _find_lexer(alias: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(alias, stripnl=False, ensurenl=False)


def render_change(old: str, new: str) -> str:
    """Return the difference of two texts as HTML."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > MOST_LINES:
        return render_patch("\n".join([*(f"-{line}" for line in before), *(f"+{line}" for line in after)]))
    return render_patch("\n".join([*unified_diff(before, after, n=3, lineterm="")][2:]))


def render_patch(patch: str) -> str:
    """Return a patch as HTML with the class `plus`, `minus` or `at` for each line that is no context."""
    kinds = {"+": "plus", "-": "minus", "@": "at", "*": "at"}
    lines = ((kinds.get(line[:1], ""), escape(line)) for line in remove_controls(patch).split("\n"))
    return "\n".join(f'<span class="{kind}">{line}</span>' if kind else line for kind, line in lines)
