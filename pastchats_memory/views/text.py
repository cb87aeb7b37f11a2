"""Render values as Markdown. No text from a transcript can leave its quotation."""

import os
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from pastchats_memory.model import Citation, Hit, Item, TimeRead
from pastchats_memory.model.episodes import Attempt, Command, Lesson, Outcome, PossibleEpisode, RecallEntry, Sheet
from pastchats_memory.text.display import escape_name, escape_path, format_time, one_line, quote
from pastchats_memory.text.groups import group_by_key
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
ONE_LINE = 400
"""Characters of an earlier attempt that is shown on one line."""
_ITEMS = re.compile(r"^[^\S\n]*+(?:[-*+|]|\d+[.)])\s", re.MULTILINE)
PROMPT_WIDTH = 120
"""Most characters of a prompt that stands beside its judgement."""
CLOSELY_RELATED = 0.5
"""Relevance from which a hit is about the query rather than not; recall shows nothing below it."""
RELEVANCE_WORDS = ((0.9, "very close"), (CLOSELY_RELATED, "close"), (0.1, "loosely related"), (0.0, "hardly related"))
"""Words for a relevance, by its lower bound."""
NOTHING_CLOSE = "Nothing closely related. The nearest hits:"
SAME_START = 40
"""Two quotations that share so many first characters show the same answer; one of them is enough."""


def format_citation(hit: Hit) -> str:
    """Write where a hit comes from: `path:line (turn N)` with N from 0; a task has no turn, and may be made by hand."""
    if hit.task is not None and not hit.source_path:
        return f"task {escape_name(hit.task.key)}, made by hand"
    return _render_place(hit, home="", has_turn=hit.task is None)


def note_citation(citation: Citation | None) -> str:
    """Return the remark on a source whose text has moved, changed or gone; empty if it holds."""
    return CITATION_NOTES[citation.state if citation else "holds"]


def _render_source(path: str, number: int | None, citation: Citation | None, id_: str) -> str:
    line = f":{number}" if number else ""
    note = f" ({note})" if (note := note_citation(citation)) else ""
    return f"Source: {escape_name(path)}{line}{note} · id {escape_name(id_)}"


def render_block(query: str, memories: Sequence[RecallEntry], nothing: str = NOTHING) -> str:
    """Render the recall block; without memories it contains `nothing` instead."""
    head = f"{RECALL_HEADING}\n\nQuery: {one_line(query)[:QUERY_WIDTH]}\n"
    if not memories:
        return f"{head}\n{nothing}\n"
    return head + "".join(render_entry(place, memory) for place, memory in enumerate(memories, start=1))


def render_perhaps(episodes: Iterable[PossibleEpisode]) -> str:
    """Render the sentence that nothing fits, and a line for each episode that perhaps does."""
    lines = [
        " · ".join(filter(None, (
            f"Perhaps: {escape_name(one.title)}", escape_name(one.hit.source_project),
            format_time(one.hit.timestamp)[:10], f"id {escape_name(one.hit.id)}",
            f"> {_replace_marks(one.concluded)}" if one.concluded else "",
        )))
        for one in episodes
    ]  # fmt: skip
    return "\n".join([NOTHING, *lines])


VERDICTS = {"mixed": "partly worked", "unknown": ""}
"""Words for an outcome in a heading, unless it is its own word."""


def render_entry(place: int, memory: RecallEntry) -> str:
    """Render one entry, numbered from 1, with the empty line before it: the end of the thread, then how it began."""
    lines = ["", f"## {place}. {_render_title(memory)}"]
    if memory.superseded_by is not None:
        lines.append(f"Superseded by: {_render_attempt_with_id(memory.superseded_by)}")
    if memory.after is not None:
        lines.append(f"Ended later: {_render_attempt_with_id(memory.after)}")
    ending = [*_render_answer(memory), *([render_actions(memory.done)] if memory.done else ())]
    matched = [render_lines(one, memory) for one in memory.before if one.is_match]
    lines += [*matched, *ending] if memory.has_turned else [*ending, *matched]
    lines += [
        render_earlier(one) if _fits_one_line(one.answered) else render_lines(one, memory)
        for one in memory.before
        if not one.is_match
    ]
    if memory.asked and " ".join(memory.asked.split()).rstrip(".") != memory.title:
        lines.append(f"{'Asked' if memory.hit.task is None else 'Task'}: > {_escape_links(one_line(memory.asked))}")
    lines.append(f"Source: {_render_entry_sources(memory)}")
    return "\n".join(lines) + "\n"


def _render_title(memory: RecallEntry) -> str:
    """Name title, project, time and outcome of an entry, and what it took the place of."""
    here = " (this project)" if memory.is_current else ""
    verdict = memory.outcome.verdict if memory.hit.type != "note" and memory.hit.task is None else "unknown"
    parts = [
        escape_name(memory.title),
        escape_name(memory.hit.source_project) + here,
        name_author(memory.hit),
        format_time(memory.first.timestamp),
        VERDICTS.get(verdict, verdict),
        f"supersedes {escape_name(memory.supersedes)}" if memory.supersedes else "",
    ]
    return " · ".join(filter(None, parts)) + _note_commit(memory)


def _render_answer(memory: RecallEntry) -> list[str]:
    """Render how the thread ended, and the line that shows the outcome."""
    if memory.hit.type == "note" or memory.hit.task is not None:
        return ["Note:", quote(memory.answered)] if memory.answered else []
    outcome = memory.outcome
    lines = ["Ended:", quote(memory.answered)] if memory.answered else []
    if not lines and not memory.is_left_out and outcome.verdict in ("stopped", "unknown") and not memory.done:
        lines = ["Unanswered"]
    shown = "; ".join(_replace_marks(one.quotation) for one in outcome.evidence)
    if outcome.verdict == "unknown":  # what the user said next
        basis = f"{outcome.signal}: " if outcome.signal and outcome.signal != "unanswered" else ""
        return [
            *lines,
            *([f"Said next: {basis}> {shown}"] if shown else [f"Shown by: {outcome.signal}"] if basis else []),
        ]
    label = f"Shown by: {outcome.basis}" if outcome.basis else "Shown by"
    return [*lines, *([f"{label}: > {shown}{_note_evidence(memory)}"] if shown else [label] if outcome.basis else [])]


def render_actions(done: Sequence[str]) -> str:
    """Render actions on one line: changed files, then commands."""
    shown = [escape_path(one_line(action).replace(" · ", " - ")) for action in done]
    commands = [line.removeprefix("$ ") for line in shown if line.startswith("$ ")]
    files = [line for line in shown if not line.startswith("$ ")]
    parts = (("Changed", ", ", files), ("Ran", "; ", commands))
    return " · ".join(f"{label}: {mark.join(all_)}" for label, mark, all_ in parts if all_)


def render_lines(attempt: Attempt, memory: RecallEntry) -> str:
    """Render the lines of an earlier attempt, then the user's next words or what shows its outcome."""
    verdict, quoted = _describe_attempt(attempt)
    label = ", ".join(filter(None, ("About this" if memory.has_turned and attempt.is_match else "Before it", verdict)))
    follows = f"\n— then {quoted}" if quoted else ""
    return f"{label} · id {escape_name(attempt.id)}:\n{quote(attempt.answered)}{follows}"


def _fits_one_line(answered: str) -> bool:
    """Check whether an answer is short and has no list or table."""
    return len(answered) <= ONE_LINE and not _ITEMS.search(answered)


def render_earlier(attempt: Attempt) -> str:
    """Render an earlier attempt on one line: what was done, the user's words about it, or what shows its outcome."""
    done = _replace_marks(attempt.answered or attempt.asked)
    about = ", ".join(filter(None, _describe_attempt(attempt)))
    return f"Before it: > {done}{f' — {about}' if about else ''} · id {escape_name(attempt.id)}"


def _describe_attempt(attempt: Attempt) -> tuple[str, str]:
    """Return how an attempt ended, and the quoted words that say so; each may be empty."""
    words = attempt.reply or attempt.shown_by
    who = "the user: " if attempt.reply else ""
    quoted = "" if not words else f'{who}"{_replace_marks(words).replace(chr(34), chr(39))}"'
    return VERDICTS.get(attempt.outcome, attempt.outcome), quoted


def _render_attempt_with_id(attempt: Attempt) -> str:
    return f"{render_attempt(attempt)} · id {escape_name(attempt.id)}"


def _render_entry_sources(memory: RecallEntry) -> str:
    """Cite the turn that asks, and the turn that matched if that is another one and there is room."""
    hit = memory.hit
    first = memory.question or hit
    home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - Path.home() raises for a user without one
    is_task = first.task is not None
    source = format_citation(first) if is_task else _render_place(first, home=home, has_turn=not memory.is_short)
    is_resumable = not first.author and first.conversation_id is not None and not is_task and first.type != "note"
    resume = f" · resume {escape_name(first.id)}" if is_resumable else ""
    if resume and memory.no_resume:
        resume = f" · no resume: {escape_name(memory.no_resume)}"
    matched = ""
    if first is not hit and not memory.is_short:
        is_near = (
            hit.source_path == first.source_path and hit.source_line is not None and not note_citation(hit.citation)
        )
        place = f"line {hit.source_line}" if is_near else _render_place(hit, home=home, has_turn=True)
        matched = f"; matched: {place} · id {escape_name(hit.id)}"
    return f"{source} · id {escape_name(first.id)}{matched}{resume}"


def _render_place(hit: Hit, *, home: str, has_turn: bool) -> str:
    """Write where a turn stands as `path:line (turn N)`, with a given home folder as `~`."""
    path = hit.source_path
    short = f"~{path[len(home) :]}" if home and path.startswith((f"{home}/", f"{home}{os.sep}")) else path
    notes = "; ".join(filter(None, (f"turn {hit.turn_index}" if has_turn else "", note_citation(hit.citation))))
    line = "" if hit.source_line is None else f":{hit.source_line}"
    return escape_name(short) + line + (f" ({notes})" if notes else "")


def _note_evidence(memory: RecallEntry) -> str:
    """Remark that the line behind the outcome changed or is gone, unless the entry's own source says the same."""
    evidence = memory.outcome.evidence[-1].citation if memory.outcome.evidence else None
    source = memory.hit.citation
    if evidence is None or evidence.state not in ("changed", "gone") or (source and source.state == evidence.state):
        return ""
    return f" ({note_citation(evidence)})"


def _note_commit(memory: RecallEntry) -> str:
    """Name the commit with the edits of the episode, the one that reverted it, and how many lines are still there."""
    reverted = f", reverted by {escape_name(memory.reverted_by)}" if memory.reverted_by else ""
    standing = f" · {memory.standing}" if memory.standing else ""
    return (f" · committed {escape_name(memory.commit)}{reverted}" if memory.commit else "") + standing


def render_attempt(attempt: Attempt) -> str:
    """Quote another episode on one line: time, prompt, answer and outcome.

    The marks between them (`:`, `→`, `—`) cannot occur within a quoted part.
    """
    when = format_time(attempt.timestamp)
    outcome = ""
    if attempt.outcome != "unknown":
        outcome = f" — {_describe_outcome(attempt.outcome, attempt.basis, attempt.shown_by)}"
    is_repeated = not attempt.answered or attempt.shown_by[:SAME_START] == attempt.answered[:SAME_START]
    answer = "" if is_repeated else f" → {_replace_marks(attempt.answered)}"
    return f"> {when}{': ' if when else ''}{_replace_marks(attempt.asked)}{answer}{outcome}"


def _replace_marks(text: str) -> str:
    """Return a quotation for a line that `→`, `—` or an id may follow; the dot of a product stays."""
    return _escape_links(one_line(text).replace(" — ", " – ").replace(" → ", " -> ").replace(" · id ", " - id "))


def _escape_links(line: str) -> str:
    """Return a line whose quotation does not begin it, without links and pictures of Markdown."""
    return line.replace("](", "]\\(")


def render_attempt_lines(attempt: Attempt) -> tuple[str, str]:
    """Render another episode as its quotation and its source line."""
    source = _render_source(attempt.source_path, attempt.source_line, attempt.citation, attempt.id)
    return render_attempt(attempt), source


def render_outcome(outcome: Outcome) -> str:
    """Render an outcome with its evidence: `worked (12 passed)`, `unknown (said next: Now the same for logout)`."""
    return _describe_outcome(outcome.verdict, outcome.basis, outcome.shown_by)


def _describe_outcome(outcome: str, basis: str, shown_by: str) -> str:
    """Put the quoted line behind the outcome, into brackets that it cannot leave."""
    quotation = one_line(shown_by).replace("(", "[").replace(")", "]")
    evidence = ": ".join(filter(None, (basis, quotation)))
    return f"{outcome} ({evidence})" if evidence else outcome


def render_lessons(lessons: Sequence[Lesson]) -> str:
    """Render repeated failures and what ended them. Each attempt is quoted with its source."""
    parts = []
    for place, lesson in enumerate(lessons, start=1):
        prompts = {attempt.asked[:SAME_START] for attempt in (*lesson.attempts, lesson.ended_by)}
        # The lesson shows the next prompt anyway, so that it is no evidence.
        attempts = [
            line
            for one in lesson.attempts
            for line in render_attempt_lines(one._replace(shown_by="") if one.shown_by[:SAME_START] in prompts else one)
        ]
        heading = f"## {place}. {escape_name(lesson.project)} · failed {lesson.times} times"
        parts.append("\n".join([heading, *attempts, "Ended by:", *render_attempt_lines(lesson.ended_by)]))
    return "\n\n".join(parts) + "\n"


def render_commands(commands: Sequence[Command]) -> str:
    """Render commands that worked, grouped by episode and in the order in which they ran."""
    runs = group_by_key(((one.project, one.episode.id), one) for one in commands)
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
    """List the lines where an episode's commands ran, in order. A file is named if it is not the episode's own."""
    file = commands[0].episode.source_path
    lines = (
        f"{'' if one.run.source_path == file else f'{escape_name(one.run.source_path)} '}line {one.run.source_line}"
        for one in commands
        if one.run.source_line
    )
    return ", ".join(dict.fromkeys(lines))


def render_sheets(sheets: Sequence[Sheet]) -> str:
    """Render episodes for a reader who judges their outcome. All text is quoted, with its source."""
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


def render_hits(hits: Sequence[Hit]) -> str:
    """Render search results, each quoted with its source; if none is close, say so first."""
    first = "" if has_close_hit(hits) else f"{NOTHING_CLOSE}\n"
    return first + "\n".join(_render_hit(hit) for hit in hits) + "\n"


def _render_hit(hit: Hit) -> str:
    kind = escape_name(hit.role) if hit.task is None else f"{hit.type} ({hit.task.status})"
    by = name_author(hit)
    facts = (escape_name(hit.source_project), kind, by, format_time(hit.timestamp), describe_relevance(hit.relevance))
    title = " · ".join(filter(None, facts))
    mark = f"Superseded by: id {escape_name(hit.replaced_by)}\n" if hit.replaced_by else ""
    source = f"Source: {format_citation(hit)} · id {escape_name(hit.id)}"
    return f"## {hit.rank}. {title}\n{quote(hit.snippet)}\n{mark}{source}"


def name_author(shown: Hit | Item) -> str:
    """Return who shared a turn with the team; empty for the user's own."""
    return f"by {escape_name(shown.author)}" if shown.author else ""


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
    by = name_author(item)
    title = " · ".join(part for part in (escape_name(item.role), escape_name(item.project), by, when) if part)
    line = f":{item.source_line}" if item.source_line else ""
    note = note_citation(item.citation)
    turn = f"(turn {item.turn_index}{'; ' if note else ''}{note})"
    return f"{title}\n{quote(content)}\nSource: {escape_name(item.source_path)}{line} {turn} · id {escape_name(item.shown_id)}\n"


def render_time_read(read: TimeRead) -> str:
    """Render the time that a query was found to name, and its effect, on one line."""
    days = f"{format_time(read.since)[:10] or '…'} to {format_time(read.until)[:10] or '…'}"
    use = "nothing else was searched" if read.is_filter else "what was said then or soon after ranks higher"
    return f"Time: {escape_name(read.words)!r} is {days}; {use}."
