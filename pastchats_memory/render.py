"""Values to Markdown. Whatever a transcript contains, it stays inside its quotation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, time, tzinfo
from itertools import groupby

from pastchats_memory.model import (
    NO_ANSWER,
    RECALL_HEADING,
    Attempt,
    Citation,
    Command,
    Hit,
    Item,
    Lesson,
    Outcome,
    RecallEntry,
    Sheet,
    TimeRead,
)

NOTHING = "Nothing found: no earlier conversation or note fits."
CITATION_NOTES = {
    "holds": "",
    "moved": "moved since it was read",
    "changed": "changed since it was read",
    "gone": "the file is gone",
    "unchecked": "the file has changed, not checked",
}
"""What is said of a source that does not stand as it was read, by its state."""
TOO_SMALL = "There are memories of this; a budget of {least} would hold one."

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, C1
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u061c"  # zero-width, line separators, bidirectional overrides
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufff0-\ufffb"  # soft hyphen, joiners, fillers and annotations
    "\U0001d173-\U0001d17a"  # beams of music
    "\ufe00-\ufe0d\U000e0000-\U000e0fff]"  # tags and variations, by which a text is hidden behind a letter
)
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe0e\ufe0f\ufe20-\ufe2f]"
_PILED = re.compile(f"({_MARK}{{4}}){_MARK}+")
"""More marks and joiners on one letter than any script has: they grow over the lines around, or are a text that nobody sees."""


def sanitised(text: str) -> str:
    """Without characters that move the cursor, reorder text, cover other lines or cannot be seen."""
    text = _CONTROL.sub("", text)
    return text if text.isascii() else _PILED.sub(r"\1", text)


def escaped(written: str) -> str:
    """JSON that says the same, with escapes for what a terminal would obey."""
    return _CONTROL.sub(lambda found: re.sub("....", r"\\u\g<0>", found[0].encode("utf-16-be").hex()), written)


def one_line(text: str) -> str:
    """Sanitised, every run of blanks one blank."""
    return " ".join(sanitised(text).split())


def local_time(timestamp: str | None, zone: tzinfo | None = None) -> str:
    """`2026-01-31 08:15` in the zone (the system's by default), or nothing for no time.

    Exactly midnight there is shown as the day alone: a note or a page that tells only its day is stored as its first
    moment, and a time that nobody wrote down would be made up.
    """
    if timestamp is None:
        return ""
    moment = datetime.fromisoformat(timestamp)
    with suppress(ValueError, OverflowError):  # the zone would push the first or last day out of the calendar
        moment = moment.astimezone(zone)
    return moment.strftime("%Y-%m-%d" if moment.time() == time.min else "%Y-%m-%d %H:%M")


def citation(hit: Hit) -> str:
    """`path:line (turn N)`, with N counted from 0 as `turn_index` is; of a task without the turn, or that it was made by hand."""
    if hit.task is not None and not hit.source_path:
        return f"task {one_line(hit.task.key)}, made by hand"
    line = "" if hit.source_line is None else f":{hit.source_line}"
    path = sanitised(hit.source_path).replace("\n", " ")
    notes = [f"turn {hit.turn_index}"] if hit.task is None else []
    notes += [told] if (told := _note(hit.citation)) else []
    return f"{path}{line}" + (f" ({'; '.join(notes)})" if notes else "")


def _note(cited: Citation | None) -> str:
    return CITATION_NOTES[cited.state if cited else "holds"]


def block_text(query: str, memories: Sequence[RecallEntry], nothing: str = NOTHING) -> str:
    """The recall block as Markdown; with no memories it says `nothing`."""
    head = f"{RECALL_HEADING}\n\nQuery: {one_line(query)[:200]}\n"
    if not memories:
        return f"{head}\n{nothing}\n"
    return head + "".join(entry_text(place, memory) for place, memory in enumerate(memories, start=1))


def entry_text(place: int, memory: RecallEntry) -> str:
    """One entry of the block, with the empty line before it; `place` counts from 1."""
    hit = memory.hit
    here = " (this project)" if memory.is_current else ""
    when = local_time((memory.question or hit).timestamp)
    title = " · ".join(part for part in (one_line(hit.source_project) + here, when) if part)
    lines = ["", f"## {place}. {title}"]
    if memory.outcome.is_told:
        lines.append(f"Outcome: {outcome_text(memory.outcome)}{_lost(memory)}")
    if memory.asked:
        lines += ["Asked:" if hit.task is None else "Task:", quoted(memory.asked)]
    if memory.answered:
        lines += ["Answered:" if hit.type != "note" and hit.task is None else "Note:", quoted(memory.answered)]
    if memory.done:
        lines += ["Done:", quoted("\n".join(map(one_line, memory.done)))]
    lines += _thread_lines(memory)
    lines.append(f"Source: {_sources(memory)}")
    return "\n".join(lines) + "\n"


def _sources(memory: RecallEntry) -> str:
    """Where what is shown first stands, and what matched where that is another turn: one time and place of an episode, whatever is asked."""
    hit = memory.hit
    first = memory.question or hit
    told = f"{citation(first)} · id {one_line(first.id)}"
    if first is hit:
        return told
    is_near = hit.source_path == first.source_path and hit.source_line is not None and not _note(hit.citation)
    return f"{told}; matched: {f'line {hit.source_line}' if is_near else citation(hit)} · id {hit.id}"


def _lost(memory: RecallEntry) -> str:
    """That what shows the outcome no longer stands where it was read, unless the entry's source says the same."""
    shown = memory.outcome.evidence[-1].citation if memory.outcome.evidence else None
    source = memory.hit.citation
    is_said = shown is None or shown.state not in ("changed", "gone") or (source and source.state == shown.state)
    return "" if is_said else f" · {_note(shown)}"


def _thread_lines(memory: RecallEntry) -> list[str]:
    lines: list[str] = []
    for heading, attempts in (
        ("Failed before:", memory.before),
        ("Worked later:", (memory.after,)),
        ("Superseded by:", (memory.superseded_by,)),
    ):
        shown = [attempt for attempt in attempts if attempt is not None]
        lines += [heading, *(f"{attempt_line(attempt)} · id {attempt.id}" for attempt in shown)] if shown else []
    return lines


ASKED_WIDTH = 120
"""Characters of what was asked, where only the outcome is to be told."""
SAME = 40
"""Characters that two quotations of an answer begin with, for one of them to be enough."""


def attempt_line(attempt: Attempt) -> str:
    """Another episode on one line, quoted: when, what was asked, what the answer came to, how it ended, each by marks that nothing quoted has."""
    when = local_time(attempt.timestamp)
    ended = (
        "" if attempt.outcome == "unknown" else f" — {ending_text(attempt.outcome, attempt.basis, attempt.shown_by)}"
    )
    is_said = not attempt.answered or attempt.shown_by[:SAME] == attempt.answered[:SAME]
    answered = "" if is_said else f" → {_unmarked(attempt.answered)}"
    return f"> {when}{': ' if when else ''}{_unmarked(attempt.asked)}{answered}{ended}"


def _unmarked(text: str) -> str:
    return one_line(text).replace(" — ", " – ").replace(" → ", " -> ").replace(" · ", " - ")


def outcome_text(outcome: Outcome) -> str:
    """`worked (12 passed)`, `unknown (said next: Now the same for logout)`."""
    return ending_text(outcome.verdict, outcome.basis, outcome.shown_by)


def ending_text(outcome: str, basis: str, shown_by: str) -> str:
    """How an episode ended, with the line that shows it; what is quoted cannot leave its brackets."""
    quotation = "" if basis == NO_ANSWER else one_line(shown_by).replace("(", "[").replace(")", "]")
    told = ": ".join(filter(None, (basis, quotation)))
    return outcome + (f" ({told})" if told else "")


def quoted(text: str) -> str:
    """Sanitised, every line behind a quotation mark that nothing in it can leave, empty lines left out."""
    return "\n".join(f"> {line}".rstrip() for line in sanitised(text).split("\n") if line.strip())


def hits_text(hits: Sequence[Hit]) -> str:
    """Search results as Markdown, each quoted with its source."""
    return "\n".join(_hit_text(hit) for hit in hits) + "\n"


def _hit_text(hit: Hit) -> str:
    what = hit.role if hit.task is None else f"{hit.type} ({hit.task.status})"
    title = " · ".join(part for part in (one_line(hit.source_project), what, local_time(hit.timestamp)) if part)
    return f"## {hit.rank}. {title}\n{quoted(hit.snippet)}\nSource: {citation(hit)} · id {one_line(hit.id)}"


def item_text(item: Item, content: str) -> str:
    """A stored turn as Markdown, with as much of its content as is given."""
    when = local_time(item.timestamp)
    title = " · ".join(part for part in (one_line(item.role), one_line(item.project), when) if part)
    place = item.places[0] if item.places else None
    line = f":{place.line}" if place and place.line else ""
    told = _note(item.citation)
    turn = f"(turn {item.turn_index}{'; ' if told else ''}{told})"
    return f"{title}\n{quoted(content)}\nSource: {one_line(item.source_path)}{line} {turn} · id {item.id}\n"


def time_text(read: TimeRead) -> str:
    """What was taken for a time and what was made of it, in one line."""
    days = f"{local_time(read.since)[:10] or '…'} to {local_time(read.until)[:10] or '…'}"
    use = "nothing else was searched" if read.is_filter else "what was said then or soon after ranks higher"
    return f"Time: {one_line(read.words)!r} is {days}; {use}."


def lessons_text(lessons: Sequence[Lesson]) -> str:
    """What failed repeatedly, as Markdown; each attempt quoted with its source."""
    parts = []
    for place, lesson in enumerate(lessons, start=1):
        attempts = [line for attempt in _each_said_once(lesson) for line in sourced(attempt)]
        heading = f"## {place}. {one_line(lesson.project)} · failed {lesson.times} times"
        parts.append("\n".join([heading, *attempts, "Ended by:", *sourced(lesson.ended_by)]))
    return "\n\n".join(parts) + "\n"


def _each_said_once(lesson: Lesson) -> list[Attempt]:
    """The attempts, without the line that shows how one ended where that is what was asked next, which stands there anyway."""
    asked = {attempt.asked[:SAME] for attempt in (*lesson.attempts, lesson.ended_by)}
    return [one._replace(shown_by="") if one.shown_by[:SAME] in asked else one for one in lesson.attempts]


def how_text(commands: Sequence[Command]) -> str:
    """Commands that worked, as Markdown: those of one episode together and in order, quoted with it."""
    runs: dict[tuple[str, str], list[Command]] = {}
    for one in commands:
        runs.setdefault((one.project, one.episode.id), []).append(one)
    parts = []
    for place, ((project, _), run) in enumerate(runs.items(), start=1):
        lines = [f"## {place}. {one_line(project)}"]
        for times, alike in groupby(run, key=lambda one: one.times):
            lines.append("Worked once:" if times == 1 else f"Worked in {times} episodes:")
            lines += [quoted(f"$ {one_line(one.command)}") for one in alike]
        asked, source = sourced(run[0].episode)
        places = _places(run)
        parts.append("\n".join([*lines, "In:", asked, source + (f"; run: {places}" if places else "")]))
    return "\n\n".join(parts) + "\n"


def _places(commands: Sequence[Command]) -> str:
    """In which lines the commands of an episode were run, in their order; the file is said where it is another one."""
    file = commands[0].episode.source_path
    lines = (
        f"{'' if one.run.source_path == file else f'{one_line(one.run.source_path)} '}line {one.run.source_line}"
        for one in commands
        if one.run.source_line
    )
    return ", ".join(dict.fromkeys(lines))


def sheets_text(sheets: Sequence[Sheet]) -> str:
    """Episodes for who judges how they ended, as Markdown; everything quoted, with its source."""
    return "\n".join(_sheet_text(place, sheet) for place, sheet in enumerate(sheets, start=1))


def judged_text(sheet: Sheet) -> str:
    """How an episode ended, on two lines: what was asked, quoted, and where, with the outcome."""
    asked = one_line(sheet.asked or sheet.answered)
    asked = quoted(asked if len(asked) <= ASKED_WIDTH else f"{asked[: ASKED_WIDTH - 1]}…")
    was = f"; was {sheet.was}" if sheet.was else ""
    return f"{asked}\nOutcome: {outcome_text(sheet.outcome)}{was} · id {sheet.id}\n"


def _sheet_text(place: int, sheet: Sheet) -> str:
    title = " · ".join(part for part in (one_line(sheet.project), local_time(sheet.timestamp)) if part)
    said = [
        ("Asked:", sheet.asked),
        ("Answered:", sheet.answered),
        ("Done:", "\n".join(map(one_line, sheet.done))),
        *(("Result:", text) for text in sheet.results),
        ("Said next:", sheet.said_next),
    ]
    quotations = [f"{heading}\n{quoted(text)}" for heading, text in said if text.strip()]
    # Of what is unknown the words are quoted below, and whole.
    ended = outcome_text(sheet.outcome) if sheet.outcome.verdict != "unknown" else "unknown"
    source = _source(sheet.source_path, sheet.source_line, sheet.citation, sheet.id)
    return "\n".join([f"## {place}. {title}", f"Outcome: {ended}", *quotations, source]) + "\n"


def sourced(attempt: Attempt) -> tuple[str, str]:
    """Another episode on one line, quoted, and where it is said."""
    return attempt_line(attempt), _source(attempt.source_path, attempt.source_line, attempt.citation, attempt.id)


def _source(path: str, number: int | None, cited: Citation | None, id_: str) -> str:
    line = f":{number}" if number else ""
    told = f" ({told})" if (told := _note(cited)) else ""
    return f"Source: {one_line(path)}{line}{told} · id {id_}"
