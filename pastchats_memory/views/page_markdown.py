"""Turn Markdown of transcripts into what a reader may open: HTML without scripts, or Markdown without pictures."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt

from pastchats_memory.text.display import remove_controls, sanitise

_WEB = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_FETCHES = re.compile(r"(?:(?<!\\)(\\+))?<(?=[A-Za-z/!?])|!\[")
"""What begins raw HTML or a picture, by which a viewer may fetch an address; with the backslashes before it."""

_BLOCK_MARKS = re.compile(r"(?:^|(?<=\s))(?:#{1,6}|[-*+>]|```\w*|\d+\.)\s+|(?:^|(?<=\s))\|(?:\s*:?-+:?\s*\|)*")
"""What begins a heading, an item, a quotation, code or a cell, where the lines of a text were joined."""
_LINKS = re.compile(r"</?a\b[^>]*>")
LONGEST_LINE = 2_000
LONGEST_MARKDOWN = 50_000
"""Characters. The time of the parser grows with the square of a run of brackets."""


@cache
def _parser(render_code: Callable[[str, str], str] | None = None) -> MarkdownIt:
    highlight = None if render_code is None else lambda code, language, _: render_code(code, language)
    options = {"html": False, "breaks": True, "highlight": highlight}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    parser.disable(["image", "html_block", "html_inline"])
    parser.add_render_rule("link_open", _render_link)
    # An address without a scheme would open a file, of any host, on a page that is a file.
    parser.validateLink = lambda address: _WEB.match(address) is not None  # type: ignore[assignment,method-assign] # as its documentation asks
    return parser


@cache
def _block_parser() -> MarkdownIt:
    """Return a parser that finds blocks of code, and leaves the text within paragraphs alone."""
    return MarkdownIt("commonmark", {"html": False}).disable(["html_block", "inline"])


def _render_link(self: Any, tokens: Sequence[Any], place: int, options: Any, env: Any) -> str:
    tokens[place].attrSet("rel", "noopener noreferrer nofollow")
    rendered: str = self.renderToken(tokens, place, options, env)
    return rendered


def render_html(text: str, render_code: Callable[[str, str], str] | None = None) -> str:
    """Render the Markdown of a transcript as HTML: no raw HTML, no pictures, no scripts in links.

    A text of more than LONGEST_MARKDOWN characters is shown as it is. `render_code` writes a block of code of a language as HTML.
    """
    text = remove_controls(text)
    if len(text) > LONGEST_MARKDOWN:
        return f"<pre>{escape(text)}</pre>"
    rendered: str = _parser(render_code).render(text)
    return rendered


def render_line(text: str) -> str:
    """Render one line of Markdown as HTML within a link: without marks of blocks, and with links as their words."""
    line = _BLOCK_MARKS.sub("", remove_controls(text))
    return _LINKS.sub("", _parser().renderInline(line[:LONGEST_LINE]))


def quote_markdown(text: str) -> str:
    """Quote a text as Markdown whose paragraphs and code stay as they are.

    No text can leave its quotation, and none makes a viewer fetch something.
    """
    lines = [f"> {line}".rstrip() for line in sanitise(text).split("\n")]
    # Where code begins depends on the quotation around it: a tab is narrower there.
    code = {
        line
        for token in _block_parser().parse("\n".join(lines))
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
    return "\n".join(line if place in code else _FETCHES.sub(_escape, line) for place, line in enumerate(lines))


def quote_output(text: str) -> str:
    """Quote what a program printed, as a block of code that the text cannot end."""
    text = sanitise(text)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return "\n".join(f"> {line}".rstrip() for line in (fence, *text.split("\n"), fence))


def _escape(found: re.Match[str]) -> str:
    """Return what was found with a backslash before its last character, unless it has one that counts."""
    is_escaped = len(found[1] or "") % 2 == 1
    return found[0] if is_escaped else f"{found[0][:-1]}\\{found[0][-1]}"
