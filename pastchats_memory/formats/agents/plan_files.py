"""Read plans that agents keep as Markdown files, such as `~/.claude/plans/<name>.md` or `.cursor/plans/<name>.plan.md`."""

from collections.abc import Iterator

from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.markdown import front_matter
from pastchats_memory.formats.base.plans import is_plan_file
from pastchats_memory.formats.base.source import MARKDOWN_SUFFIXES, SourceFile
from pastchats_memory.formats.base.values import text_of
from pastchats_memory.model import Turn
from pastchats_memory.text.timestamps import date_in_path, iso_utc

BELOW_CHECKLISTS = 58
"""The confidence in a file `plan.md`, which may be a list of tasks."""


def detect(source: SourceFile) -> int:
    """Return 90 for Markdown in an agent's folder of plans, 58 for another `plan.md` of an agent, else 0."""
    is_markdown = source.shape == "markdown" and source.path.suffix.lower() in MARKDOWN_SUFFIXES
    if not is_markdown or not source.head.strip() or not is_plan_file(source.path.as_posix()):
        return 0
    return CERTAIN if source.path.parent.name == "plans" else BELOW_CHECKLISTS


def read(source: SourceFile) -> Iterator[Turn]:
    """Yield the plan as one turn. A file names no session, so the plan's own name stands for it."""
    lines = source.text.split("\n")
    front = front_matter(lines)
    body = "\n".join(lines[front.lines :]).strip()
    first = next((place for place, line in enumerate(lines[front.lines :], front.lines) if line.strip()), 0)
    title = text_of(front.fields.get("name")) or text_of(front.fields.get("title"))
    content = "\n\n".join(part for part in (text_of(front.fields.get("overview")), body) if part)
    if not content:
        return
    name = source.path.stem if source.path.parent.name == "plans" else source.path.parent.name
    time, place = iso_utc(front.fields.get("created")) or date_in_path(source.path), (first + 1, len(lines))
    yield Turn("assistant", content, *place, name, time, kind="plan", metadata={"title": title} if title else {})


PLAN_FILES = Format("plan-files", 1, detect, read, kinds=frozenset({"notes"}))
