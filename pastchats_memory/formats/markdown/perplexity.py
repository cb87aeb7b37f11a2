"""Perplexity's threads that were exported as Markdown: `# question`, the answer, and below `⁂` the addresses of its sources.

A rule of hyphens parts a question from the answer above it; the rules within answers are of asterisks. Nobody's name stands
anywhere, and no time.
"""

import re
from collections.abc import Iterator, Sequence

from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.markdown import find_line, front_matter
from pastchats_memory.formats.base.markdown_dialogue import MarkdownDialogue, Section
from pastchats_memory.formats.base.source import SourceFile

CONFIDENCE = 70

_LOGO = re.compile(r"<img src=\"https://[\w.]{1,40}perplexity\.ai/[^\"\n]{0,200}\"[^<>\n]{0,200}/>\s*\Z")
_SOURCES = re.compile(r"<div [^<>\n]{1,80}>⁂</div>\s*\Z")
_SOURCE_NUMBER = re.compile(r"\[\^\d{1,4}_\d{1,4}\]")
"""The number of a source, which begins with the number of the answer."""
_UNSEEN = re.compile(r"<span style=\"display:none\">[^<>\n]*</span>")
_QUESTION = "# "


def detect(source: SourceFile) -> int:
    """Return 70 if the logo stands above, or an answer has numbered sources below the sign of three asterisks; else 0."""
    if source.shape != "markdown":
        return 0
    lines = source.text.split("\n")
    first = _first(lines)
    if first == len(lines):
        return 0
    has_logo = _LOGO.match(lines[first]) is not None
    is_thread = lines[first].startswith(_QUESTION) and "⁂" in source.text and any(map(_SOURCES.match, lines))
    is_answered = is_thread and _SOURCE_NUMBER.search(source.text) is not None
    return CONFIDENCE if has_logo or is_answered else 0


def _first(lines: Sequence[str]) -> int:
    """Return the place of the first line with text below the front matter."""
    return find_line(lines, str.strip, front_matter(lines).lines)


class _Thread(MarkdownDialogue[Section]):
    """The questions and answers of a thread, without the numbers of sources."""

    def sections(self) -> Iterator[Section]:
        lines = self.lines
        start, above = _first(lines), "---"
        start += any(map(_LOGO.match, lines[start : start + 1]))
        begun = start
        for place in range(start, len(lines)):
            line = lines[place]
            if begun == place and not line.strip():
                begun += 1
            if line.startswith(_QUESTION) and not self.code[place] and above == "---":
                yield Section("assistant", begun + 1, _answer(lines[begun:place]))
                yield Section("user", place + 1, line.removeprefix(_QUESTION).strip())
                begun = place + 1
            above = line.strip() or above
        yield Section("assistant", begun + 1, _answer(lines[begun:]))


def _answer(lines: Sequence[str]) -> str:
    """Return the text of an answer up to its sources."""
    text = _UNSEEN.sub("", "\n".join(lines[: find_line(lines, _SOURCES.match)]))
    return _SOURCE_NUMBER.sub("", text).strip().removesuffix("---").rstrip()


PERPLEXITY = Format("perplexity", 2, detect, _Thread.read, service="perplexity", is_specific=False)
