"""What the assistant did, and says of itself: commits, edits, claims and admissions."""

from __future__ import annotations

import re

from pastchats_memory.outcome.rows import LONGEST, OPENING, QUOTED, Episode, Evidence, listed, quoted

_COMMITTED = re.compile(
    r"^\[[\w./-]+ (?:\(root-commit\) )?[0-9a-f]{7,40}\]|\b(?:committed|pushed|merged)\b[^\n]{0,30}`?[0-9a-f]{7,40}\b|\bcommit(?:ted)? `[0-9a-f]{7,40}`|\b(?:PR|pull request) (?:created|opened)\b",
    re.IGNORECASE | re.MULTILINE,
)
_PARTICIPLE = (
    r"(?:done|fixed|updated|written|recorded|locked\ in|committed|moved|added|removed|created|implemented|finished|completed?|applied|captured|resolved|renamed"
    r"|deleted|dropped|gone|ready|in\ place|set\ up|succe(?:ss\w*|eded)|pass(?:es|ed|ing)?|clean|green|corrected|pinned\ it\ down|noted|verified|validated|saved|pushed|merged|refactored|migrated|replaced|converted|installed)"
)
_CLAIM = re.compile(
    rf"""^\W*(?:(?:great|perfect|excellent|ok|okay|all\ right)\W+)?(?:(?!you\b|to\b|not\b)[\w§"'`./:*-]+\s){{0,4}}?\W*{_PARTICIPLE}\b(?!\?)
    |\b(?:is|are|were|been|was)\s(?:now\s|all\s|both\s|successfully\s)?{_PARTICIPLE}\b|\bI(?:'ve|\ have)\s(?:now\s)?(?:\w+ed|built|written)\b
    |^\W*(?:it|the\ \w+|that)\ (?:now\ )?works\b|^\W*已|^\W*(?:готово|исправлено|сделано|hecho|listo|fertig|erledigt|c'est\ fait|terminé|pronto|完了|完成)""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_UNFINISHED = re.compile(r"\bstill (?:waiting|running|pending|working)\b|\bwaiting (?:on|for)\b", re.IGNORECASE)
ASKS_FOR_MORE = re.compile(
    r"\b(?:please|could you|can you|once you|need you to) (?:add|provide|share|paste|check|show|upload)\b|which (?:files|directories)|добавьте|пришл[её]те",
    re.IGNORECASE,
)
_ADMITTED = re.compile(
    r"\bI(?:'m| am| was)? (?:could(?:n't| not)|can(?:'t|not)|unable to|not able to|wasn't able to|failed to)\b|\bI (?:have not|haven't) been able\b"
    r"|\bmy mistake\b[^.\n]*\bnot\b|\bне (?:удалось|смог)|\bkonnte nicht\b|\bno pude\b|\bje n'ai pas pu\b|无法完成|できませんでした",
    re.IGNORECASE,
)
_EDIT = re.compile(r"^<{5,9} SEARCH$|^Applied edit to .+", re.MULTILINE)
_EDITED = re.compile(r"^>{5,9} REPLACE\b|^Applied edit to ", re.MULTILINE)


def is_finished(episode: Episode) -> bool:
    """Whether the last answer is an end: neither an announcement of the next step nor a wait."""
    answers = episode.answers()
    ending = answers[-1][1].rstrip() if answers else ":"
    return not ending.endswith((":", "：")) and not _UNFINISHED.search(ending[-OPENING:])


def committed(episode: Episode) -> tuple[Evidence, ...]:
    """The last answer, or the output of a command, names the commit or the pull request that was made."""
    for place, text in episode.answers()[-1:]:
        if commits := listed(episode.turns[place], "commits"):
            return (Evidence(f"commit {', '.join(sorted(commits))}"[:QUOTED], place),)
        if found := _COMMITTED.search(text[:LONGEST]):
            return quoted(text, place, found.start())
    return ()


def edit_made(episode: Episode) -> tuple[Evidence, ...]:
    """An edit stands in the last answer, and nothing says that it failed to apply."""
    answers = episode.answers()
    if not answers:
        return ()
    place, text = answers[-1]
    found = _EDIT.search(text) if _EDITED.search(text) else None
    return quoted(text, place, found.start()) if found and place == len(episode.turns) - 1 else ()


def worked_on(episode: Episode) -> bool:
    """Whether tools were used, as far as the client tells."""
    return any(turn.role == "tool" or turn.metadata.get("tools") for turn in episode.turns)


def claimed(episode: Episode) -> tuple[Evidence, ...]:
    """The last answer begins by saying that it is done, after steps that are in sight."""
    answers = episode.answers()
    if not (answers and is_finished(episode) and (len(answers) > 1 or worked_on(episode))):
        return ()
    place, text = answers[-1]
    found = _CLAIM.search(text[:OPENING]) if not ASKS_FOR_MORE.search(text[-OPENING:]) else None
    return quoted(text, place, found.start()) if found else ()


def admitted(episode: Episode) -> tuple[Evidence, ...]:
    """The last answer says in its first sentences that it could not be done."""
    answers = episode.answers()
    found = _ADMITTED.search(answers[-1][1][:OPENING]) if answers else None
    return quoted(answers[-1][1], answers[-1][0], found.start()) if found else ()
