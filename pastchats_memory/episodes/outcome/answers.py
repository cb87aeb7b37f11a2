"""Read the agent's answers: commits, edits, claims, admissions, questions."""

import re
from collections import Counter

from pastchats_memory.episodes import list_recorded
from pastchats_memory.episodes.outcome.episode import (
    MAX_QUOTATION,
    MAX_SCANNED,
    OPENING,
    Episode,
    QuotedLine,
    Step,
    cached,
    quote_line,
    recorded_values,
)
from pastchats_memory.episodes.outcome.patterns import EVIDENCE, EXPRESSIONS, GUARDS, Pattern
from pastchats_memory.text.shell import is_editor

_QUOTED_ARGUMENT = re.compile(r"'[^']*'|\"[^\"]*\"")
"""Text in quotes within a command, such as a commit message."""
DIALOGS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools that wait for the user's word."""
EXIT_KEY = Pattern(r"(?:\s*\^C[^\n]*)+\Z")
"""The key that leaves a program at its prompt."""


@cached
def get_last_answer(episode: Episode) -> tuple[int, str]:
    """Return place and text of the last answer; an empty text without one."""
    answers = episode.answers()
    return answers[-1] if answers else (0, "")


@cached
def is_cut_in_block(episode: Episode) -> bool:
    """Return whether the last answer stops within a code block or an edit.

    SpecStory omits a fence if another one ends the text.
    """
    text = get_last_answer(episode)[1]
    ending = text.rstrip().rpartition("\n")[2]
    if EXPRESSIONS["answers.complete_line"].match(ending) or ending.startswith("```"):
        return False
    fences = Counter(found[1] or found[2] or found[3] for found in EXPRESSIONS["answers.fence"].finditer(text))
    return fences["<"] > fences[">"] or (fences["`"] % 2 == 1 and not fences["<"])


@cached
def is_finished(episode: Episode) -> bool:
    """Return whether the last answer is complete.

    It is incomplete if it is cut, is a raw tool call, announces the next step, or waits for something.
    """
    ending = get_last_answer(episode)[1].rstrip()
    return not (
        not ending
        or is_cut_in_block(episode)
        or ending.endswith((":", "："))
        or EXPRESSIONS["answers.raw_call"].search(ending[-MAX_QUOTATION:])
        or GUARDS["waiting"].search(ending[-OPENING:])
        or announces_step(episode)
    )


def announces_step(episode: Episode) -> bool:
    """Return whether the last answer ends with the agent's next step."""
    return bool(GUARDS["announcement"].search(get_last_answer(episode)[1].rstrip()[-OPENING:]))


@cached
def requests_input(episode: Episode) -> bool:
    """Return whether the last answer requests files, a try or permission."""
    ending = get_last_answer(episode)[1].rstrip()[-2 * OPENING :]
    return bool(GUARDS["request_for_input"].search(ending))


@cached
def awaits_decision(episode: Episode) -> bool:
    """Return whether the agent's last act is a plan or a dialog that waits for the user's word."""
    place = episode.last_place
    tools = (label.partition(" ")[0] for at, label in episode.calls() if at == place)
    last = episode.turns[place]
    refused = last.content.partition("\n")[0] if last.role == "tool" else ""
    return last.kind == "plan" or not DIALOGS.isdisjoint((*tools, refused))


@cached
def list_commit_calls(episode: Episode) -> list[tuple[int, str]]:
    """Return places and labels of calls that commit, push, merge or open a PR."""
    return [(at, label) for at, label in episode.calls() if EXPRESSIONS["answers.commit_command"].search(label)]


@cached
def find_commit(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a commit, push, merge or pull request that succeeded."""
    place, text = get_last_answer(episode)
    if any(row.kind == "error" and not EXIT_KEY.match(row.content) for at, row in episode.tool_results() if at > place):
        return ()
    if hashes := recorded_values(episode.turns[place], "commits"):
        return (QuotedLine(f"Commit {min(hashes)}"[:MAX_QUOTATION], place),)
    if not is_finished(episode):
        return ()
    if found := _find_asserted(EXPRESSIONS["answers.commit_report"], text[:MAX_SCANNED]):
        return quote_line(text, place, found.start())
    return find_commit_call(episode)


def find_commit_call(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find the last commit command, unless it failed or the answer only proposed it."""
    calls = list_commit_calls(episode)
    errors = [(at, row.content[:MAX_SCANNED]) for at, row in episode.tool_results() if row.kind == "error"]
    failed = [at for at, content in errors if EXPRESSIONS["answers.commit_command"].search(content)]
    if not calls or any(at >= calls[-1][0] or episode.find_step(at)[0] == calls[-1][0] for at in failed):
        return ()
    place, label = calls[-1]
    tool, _, command = label.partition(" ")
    # An answer that spells the command out only proposed it. The user ran it later, with unknown success.
    is_proposal = command and command in episode.turns[place].content
    return () if is_proposal else quote_line(command or tool, place)


@cached
def find_own_revert(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find the command with which the agent undid its work without a request."""
    steps = [(step, label, _QUOTED_ARGUMENT.sub("_", label)) for step, label in episode.steps()]
    reverts = [
        one
        for one in steps
        if (found := EXPRESSIONS["answers.revert_command"].search(one[2]))
        and not EXPRESSIONS["answers.restore_command"].search(one[2])
        and _reverts_edit(episode, found)
    ]
    if not reverts or GUARDS["undo_request"].search(episode.request):
        return ()
    step, label, _ = reverts[-1]
    later = [bare for at, _, bare in steps if at > step]
    if any(
        is_edit(bare)
        or EXPRESSIONS["answers.restore_command"].search(bare)
        or EXPRESSIONS["answers.commit_command"].search(bare)
        for bare in later
    ):
        return ()
    return quote_line(label.partition(" ")[2] or label, step[0])


def _reverts_edit(episode: Episode, found: re.Match[str]) -> bool:
    """Return whether the command reverts an edited file, or all files."""
    path = found["path"]
    name = (path or "").rstrip("/").rpartition("/")[2]
    return path in (None, ".") or any(name in label for _, label in list_edits(episode))


def is_edit(label: str) -> bool:
    """Return whether the call changes a file of the work; a plan is none."""
    return is_editor(label.partition(" ")[0]) and not EXPRESSIONS["answers.plan_file"].search(label)


@cached
def list_edits(episode: Episode) -> list[tuple[Step, str]]:
    """Return the client's edits in order, with tool or file; an interrupted edit does not count."""
    edits = []
    for at, turn in enumerate(episode.turns):
        calls = list_recorded(turn, "tools")
        stopped = len(calls) - 1 if "interrupted" in recorded_values(turn, "flags") else -1
        edits += [((at, number), label) for number, label in enumerate(calls) if is_edit(label) and number != stopped]
        if turn.role == "assistant":
            edits += [((at, len(calls)), f"Applied edit to {name}") for name in sorted(recorded_values(turn, "files"))]
    return edits


@cached
def find_final_edit(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an edit in a complete last answer, or the last edit by a tool."""
    place, text = get_last_answer(episode)
    if not text or place != episode.last_place or not is_finished(episode) or requests_input(episode):
        return ()
    if found := EXPRESSIONS["answers.applied_edit"].search(text):
        return quote_line(text, place, found.end() - 1)
    return find_last_edit(episode)


def find_last_edit(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find the client's last edit, unless something fails after it."""
    edits = list_edits(episode)
    failures = (at for at, row in episode.tool_results() if row.kind == "error" and not episode.is_repaired(at))
    if not edits or any(episode.find_step(at) > edits[-1][0] for at in failures):
        return ()
    return quote_line(edits[-1][1], edits[-1][0][0])


@cached
def has_tool_use(episode: Episode) -> bool:
    """Return whether the client recorded any tool use."""
    return any(turn.role == "tool" or turn.metadata.get("tools") for turn in episode.turns)


def _find_asserted(pattern: Pattern, text: str) -> re.Match[str] | None:
    """Return the first match without a negation or condition in its clause."""
    for found in pattern.finditer(text):
        clause = max(text.rfind(mark, 0, found.end() - 1) for mark in (". ", "\n", "; ", "! ", ", "))
        if not GUARDS["negation"].search(text[clause + 1 : found.end()]):
            return found
    return None


@cached
def find_claim(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a claim of success at the start of the last answer, after visible steps."""
    place, text = get_last_answer(episode)
    if not (is_finished(episode) and (len(episode.answers()) > 1 or has_tool_use(episode))) or requests_input(episode):
        return ()
    found = _find_asserted(EVIDENCE["claim"], text[: 2 * OPENING])
    return quote_line(text, place, found.start()) if found else ()


@cached
def find_any_claim(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a claim of success in any answer, the last answer first."""
    for place, text in reversed(episode.answers()):
        if found := _find_asserted(EVIDENCE["claim"], text[: 2 * OPENING]):
            return quote_line(text, place, found.start())
    return ()


@cached
def ends_with_question(episode: Episode) -> bool:
    """Return whether the last answer ends with a question other than a polite offer."""
    ending = get_last_answer(episode)[1].rstrip("*_`) \n")
    return ending.endswith(("?", "？", "吗", "呢")) and not EVIDENCE["offer_of_more"].search(ending[-OPENING:])


@cached
def find_admission(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an admission of failure in the first sentences of the last answer."""
    place, text = get_last_answer(episode)
    found = EVIDENCE["admission"].search(text[:OPENING])
    return quote_line(text, place, found.start()) if found else ()


def find_remaining_work(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a mention of remaining work or failures in the last answer."""
    place, text = get_last_answer(episode)
    ending = text[-8 * OPENING :]
    found = EVIDENCE["remaining_work"].search(ending)
    return quote_line(ending, place, found.start()) if found else ()
