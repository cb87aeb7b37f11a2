"""Render values as Markdown. No text from a transcript can leave its quotation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pastchats_memory.model import (
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
from pastchats_memory.text.display import escape_name, format_time, one_line, quote
from pastchats_memory.text.recall_block import RECALL_HEADING

NOTHING = "Nothing found: no earlier conversation or note fits."
TOO_SMALL = "There are memories of this; a budget of {least} would hold one."
CITATION_NOTES = {
    "holds": "",
    "moved": "moved since it was read",
    "changed": "changed since it was read",
    "gone": "the file is gone",
    "unchecked": "not checked",
}
"""Remark on a source by the state of its citation."""
QUERY_WIDTH = 200
"""Most characters of the query in the head of a block."""
PROMPT_WIDTH = 120
"""Most characters of a prompt that stands beside its judgement."""
CLOSELY_RELATED = 0.5
"""Relevance from which a hit is about the query rather than not; recall shows nothing below it."""
RELEVANCE_WORDS = ((0.9, "very close"), (CLOSELY_RELATED, "close"), (0.1, "loosely related"), (0.0, "hardly related"))
"""Words for a relevance, by its lower bound."""
NOTHING_CLOSE = "Nothing closely related. The nearest hits:"
SAME_START = 40
"""Two quotations that share so many first characters show the same answer; one of them is enough."""


# --- citations --------------------------------------------------------------------------------------------------------


def format_citation(hit: Hit) -> str:
    """Write where a hit comes from: `path:line (turn N)`, with N counted from 0.

    A task has no turn: `path:line`, or the remark that it was made by hand.
    """
    if hit.task is not None and not hit.source_path:
        return f"task {escape_name(hit.task.key)}, made by hand"
    line = "" if hit.source_line is None else f":{hit.source_line}"
    path = escape_name(hit.source_path)
    notes = [f"turn {hit.turn_index}"] if hit.task is None else []
    notes += [note] if (note := _note_citation(hit.citation)) else []
    return f"{path}{line}" + (f" ({'; '.join(notes)})" if notes else "")


def _note_citation(citation: Citation | None) -> str:
    return CITATION_NOTES[citation.state if citation else "holds"]


def _render_source(path: str, number: int | None, citation: Citation | None, id_: str) -> str:
    line = f":{number}" if number else ""
    note = f" ({note})" if (note := _note_citation(citation)) else ""
    return f"Source: {escape_name(path)}{line}{note} · id {escape_name(id_)}"


# --- the recall block -------------------------------------------------------------------------------------------------


def render_block(query: str, memories: Sequence[RecallEntry], nothing: str = NOTHING) -> str:
    """Render the recall block; without memories it contains `nothing` instead."""
    head = f"{RECALL_HEADING}\n\nQuery: {one_line(query)[:QUERY_WIDTH]}\n"
    if not memories:
        return f"{head}\n{nothing}\n"
    return head + "".join(render_entry(place, memory) for place, memory in enumerate(memories, start=1))


def render_entry(place: int, memory: RecallEntry) -> str:
    """Render one entry of the block, with the empty line before it.

    The conclusion comes first: a later reversal, the outcome, the answer. Failures follow, and the question is last.
    `place` counts from 1.
    """
    hit = memory.hit
    here = " (this project)" if memory.is_current else ""
    when = format_time((memory.question or hit).timestamp)
    by = f"by {escape_name(hit.author)}" if hit.author else ""
    title = " · ".join(part for part in (escape_name(hit.source_project) + here, by, when) if part)
    lines = ["", f"## {place}. {title}"]
    lines += _render_attempts("Superseded by:", memory.superseded_by)
    if memory.outcome.is_known:
        lines.append(f"Outcome: {render_outcome(memory.outcome)}{_note_evidence(memory)}{_note_commit(memory)}")
    elif memory.commit:
        lines.append(f"Outcome: unknown{_note_commit(memory)}")
    lines += _render_attempts("Worked later:", memory.after)
    if memory.answered:
        lines += ["Answered:" if hit.type != "note" and hit.task is None else "Note:", quote(memory.answered)]
    if memory.done:
        lines += ["Done:", quote("\n".join(map(one_line, memory.done)))]
    failed = [attempt for attempt in memory.before if attempt.outcome != "unknown"]
    lines += _render_attempts("Failed before:", *failed)
    if memory.asked:
        lines += ["Asked:" if hit.task is None else "Task:", quote(memory.asked)]
    lines += _render_attempts("Asked before:", *(one for one in memory.before if one.outcome == "unknown"))
    lines.append(f"Source: {_render_entry_sources(memory)}")
    return "\n".join(lines) + "\n"


def _render_entry_sources(memory: RecallEntry) -> str:
    """Cite the turn that is shown first, and the turn that matched if that is another one."""
    hit = memory.hit
    first = memory.question or hit
    source = f"{format_citation(first)} · id {escape_name(first.id)}"
    if first is hit:
        return source
    is_near = hit.source_path == first.source_path and hit.source_line is not None and not _note_citation(hit.citation)
    matched = f"line {hit.source_line}" if is_near else format_citation(hit)
    return f"{source}; matched: {matched} · id {escape_name(hit.id)}"


def _note_evidence(memory: RecallEntry) -> str:
    """Remark that the line behind the outcome changed or is gone, unless the entry's own source says the same."""
    evidence = memory.outcome.evidence[-1].citation if memory.outcome.evidence else None
    source = memory.hit.citation
    if evidence is None or evidence.state not in ("changed", "gone") or (source and source.state == evidence.state):
        return ""
    return f" · {_note_citation(evidence)}"


def _note_commit(memory: RecallEntry) -> str:
    """Name the commit with the edits of the episode, and the one that reverted it."""
    reverted = f", reverted by {escape_name(memory.reverted_by)}" if memory.reverted_by else ""
    return f" · committed {escape_name(memory.commit)}{reverted}" if memory.commit else ""


def _render_attempts(heading: str, *attempts: Attempt | None) -> list[str]:
    shown = [f"{render_attempt(attempt)} · id {escape_name(attempt.id)}" for attempt in attempts if attempt is not None]
    return [heading, *shown] if shown else []


# --- episodes and outcomes --------------------------------------------------------------------------------------------


def render_attempt(attempt: Attempt) -> str:
    """Quote another episode on one line: time, prompt, answer and outcome.

    The marks between them (`:`, `→`, `—`) cannot occur within a quoted part.
    """
    when = format_time(attempt.timestamp)
    outcome = ""
    if attempt.outcome != "unknown":
        outcome = f" — {_describe_outcome(attempt.outcome, attempt.basis, attempt.shown_by)}"
    repeats = not attempt.answered or attempt.shown_by[:SAME_START] == attempt.answered[:SAME_START]
    answered = "" if repeats else f" → {_replace_marks(attempt.answered)}"
    return f"> {when}{': ' if when else ''}{_replace_marks(attempt.asked)}{answered}{outcome}"


def _replace_marks(text: str) -> str:
    return one_line(text).replace(" — ", " – ").replace(" → ", " -> ").replace(" · ", " - ")


def render_attempt_lines(attempt: Attempt) -> tuple[str, str]:
    """Render another episode as its quotation and its source line."""
    source = _render_source(attempt.source_path, attempt.source_line, attempt.citation, attempt.id)
    return render_attempt(attempt), source


def render_outcome(outcome: Outcome) -> str:
    """Render an outcome with its evidence: `worked (12 passed)`, `unknown (said next: Now the same for logout)`."""
    return _describe_outcome(outcome.verdict, outcome.basis, outcome.shown_by)


def _describe_outcome(outcome: str, basis: str, shown_by: str) -> str:
    """Put the quoted line into brackets that it cannot leave."""
    quotation = one_line(shown_by).replace("(", "[").replace(")", "]")
    evidence = ": ".join(filter(None, (basis, quotation)))
    return outcome + (f" ({evidence})" if evidence else "")


def render_lessons(lessons: Sequence[Lesson]) -> str:
    """Render repeated failures and what ended them.

    Each attempt is quoted with its source.
    """
    parts = []
    for place, lesson in enumerate(lessons, start=1):
        attempts = [line for attempt in _drop_repeats(lesson) for line in render_attempt_lines(attempt)]
        heading = f"## {place}. {escape_name(lesson.project)} · failed {lesson.times} times"
        parts.append("\n".join([heading, *attempts, "Ended by:", *render_attempt_lines(lesson.ended_by)]))
    return "\n\n".join(parts) + "\n"


def _drop_repeats(lesson: Lesson) -> list[Attempt]:
    """Drop the evidence of attempts where it is the next prompt, which the lesson shows anyway."""
    prompts = {attempt.asked[:SAME_START] for attempt in (*lesson.attempts, lesson.ended_by)}
    return [one._replace(shown_by="") if one.shown_by[:SAME_START] in prompts else one for one in lesson.attempts]


def render_commands(commands: Sequence[Command]) -> str:
    """Render commands that worked, grouped by episode and in the order in which they ran."""
    runs: dict[tuple[str, str], list[Command]] = {}
    for one in commands:
        runs.setdefault((one.project, one.episode.id), []).append(one)
    parts = []
    for place, ((project, _), run) in enumerate(runs.items(), start=1):
        lines = [f"## {place}. {escape_name(project)}"]
        for times, alike in groupby(run, key=lambda one: one.times):
            lines.append("Worked once:" if times == 1 else f"Worked in {times} episodes:")
            lines += [quote(f"$ {one_line(one.command)}") for one in alike]
        attempt, source = render_attempt_lines(run[0].episode)
        places = _list_run_places(run)
        parts.append("\n".join([*lines, "In:", attempt, source + (f"; run: {places}" if places else "")]))
    return "\n\n".join(parts) + "\n"


def _list_run_places(commands: Sequence[Command]) -> str:
    """List the lines where an episode's commands ran, in order.

    A file is named if it is not the episode's own.
    """
    file = commands[0].episode.source_path
    lines = (
        f"{'' if one.run.source_path == file else f'{escape_name(one.run.source_path)} '}line {one.run.source_line}"
        for one in commands
        if one.run.source_line
    )
    return ", ".join(dict.fromkeys(lines))


def render_sheets(sheets: Sequence[Sheet]) -> str:
    """Render episodes for a reader who judges their outcome.

    All text is quoted, with its source.
    """
    return "\n".join(_render_sheet(place, sheet) for place, sheet in enumerate(sheets, start=1))


def _render_sheet(place: int, sheet: Sheet) -> str:
    title = " · ".join(part for part in (escape_name(sheet.project), format_time(sheet.timestamp)) if part)
    texts = [
        ("Asked:", sheet.asked),
        ("Answered:", sheet.answered),
        ("Done:", "\n".join(map(one_line, sheet.done))),
        *(("Result:", text) for text in sheet.results),
        ("Said next:", sheet.said_next),
    ]
    quotations = [f"{heading}\n{quote(text)}" for heading, text in texts if text.strip()]
    # The evidence of an unknown outcome is the user's next words, which are quoted in full below.
    outcome = render_outcome(sheet.outcome) if sheet.outcome.verdict != "unknown" else "unknown"
    source = _render_source(sheet.source_path, sheet.source_line, sheet.citation, sheet.id)
    return "\n".join([f"## {place}. {title}", f"Outcome: {outcome}", *quotations, source]) + "\n"


def render_judgement(sheet: Sheet) -> str:
    """Render the outcome of one episode on two lines: the quoted prompt, then outcome and id."""
    prompt = one_line(sheet.asked or sheet.answered)
    prompt = quote(prompt if len(prompt) <= PROMPT_WIDTH else f"{prompt[: PROMPT_WIDTH - 1]}…")
    was = f"; was {sheet.was}" if sheet.was else ""
    return f"{prompt}\nOutcome: {render_outcome(sheet.outcome)}{was} · id {escape_name(sheet.id)}\n"


# --- search results and items -----------------------------------------------------------------------------------------


def render_hits(hits: Sequence[Hit]) -> str:
    """Render search results, each quoted with its source; if none is close, say so first."""
    first = "" if has_close_hit(hits) else f"{NOTHING_CLOSE}\n"
    return first + "\n".join(_render_hit(hit) for hit in hits) + "\n"


def _render_hit(hit: Hit) -> str:
    kind = escape_name(hit.role) if hit.task is None else f"{hit.type} ({hit.task.status})"
    by = f"by {escape_name(hit.author)}" if hit.author else ""
    facts = (escape_name(hit.source_project), kind, by, format_time(hit.timestamp), describe_relevance(hit.relevance))
    title = " · ".join(filter(None, facts))
    return f"## {hit.rank}. {title}\n{quote(hit.snippet)}\nSource: {format_citation(hit)} · id {escape_name(hit.id)}"


def describe_relevance(relevance: float | None) -> str:
    """Return words for a relevance; empty without a query vector."""
    if relevance is None:
        return ""
    return next(words for least, words in RELEVANCE_WORDS if relevance >= least)


def has_close_hit(hits: Sequence[Hit]) -> bool:
    """Check whether a hit is closely related to the query, as far as that is known."""
    known = [hit.relevance for hit in hits if hit.relevance is not None]
    return not known or max(known) >= CLOSELY_RELATED


def render_item(item: Item, content: str) -> str:
    """Render a stored turn with the given part of its content."""
    when = format_time(item.timestamp)
    by = f"by {escape_name(item.author)}" if item.author else ""
    title = " · ".join(part for part in (escape_name(item.role), escape_name(item.project), by, when) if part)
    place = item.places[0] if item.places else None
    line = f":{place.line}" if place and place.line else ""
    note = _note_citation(item.citation)
    turn = f"(turn {item.turn_index}{'; ' if note else ''}{note})"
    return f"{title}\n{quote(content)}\nSource: {escape_name(item.source_path)}{line} {turn} · id {item.shown_id}\n"


def render_time_read(read: TimeRead) -> str:
    """Render the time that a query was found to name, and its effect, on one line."""
    days = f"{format_time(read.since)[:10] or '…'} to {format_time(read.until)[:10] or '…'}"
    use = "nothing else was searched" if read.is_filter else "what was said then or soon after ranks higher"
    return f"Time: {escape_name(read.words)!r} is {days}; {use}."
