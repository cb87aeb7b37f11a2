"""What a question names: another task, a subject, a project, tags."""

from __future__ import annotations

import re
from dataclasses import replace

from pastchats_memory.questions import times
from pastchats_memory.questions.draft import Draft
from pastchats_memory.questions.phrases import (
    KEY,
    NO_TAGS,
    NO_TASK,
    RELATION_PATTERNS,
    TAG_PHRASES,
    TAIL,
    any_of,
)

_ABOUT = re.compile(
    r"(?:about|regarding|concerning|related to|to do with|mention(?:s|ing)?|involv(?:es|ing)|on the topic of|around)\s+(.+)"
)
_IN = re.compile(r"\b(?:in|for|of|from) ['\"]?([\w./-]+)['\"]?")


def relation(draft: Draft) -> None:
    """Another task, to which those that are asked for stand in a relation."""
    for name, pattern in RELATION_PATTERNS:
        found = re.search(pattern, draft.text)
        if found and not NO_TASK.fullmatch(found["of"]):
            of, tail = _named(found["of"])
            draft.note(relation=name, of=draft.as_written(of))
            before = draft.text[: found.start()]
            if name == "part_of":
                inside = re.search(r"\b(?:part of|belongs? to|under|falls? under)\b", found[0])
                before += found[0][: inside.start()] if inside else ""
            draft.text = f"{before} | {tail}"
            return


def _named(of: str) -> tuple[str, str]:
    """The other task as it is named, and what the question goes on to say of those that are asked for."""
    key = KEY.match(of)
    if key:
        return key["key"], of[key.end() :]
    name = TAIL.sub("", of)
    return re.sub(r"\A(?:the )?(?:task|issue|ticket) ", "", name), of[len(name) :]


def about(draft: Draft) -> None:
    """The subject, up to where a project or a time is named, which other steps read."""
    found = _ABOUT.search(draft.text)
    if found is None:
        return
    inner = replace(draft, text=found[1])
    for step in (project, times.time, times.overdue):
        step(inner)
    cut = inner.text.split("|")[0].strip(" ,")
    cut = re.sub(r"\b(?:that|which|and) (?:is|are|was|were)\b.*", "", cut).strip()
    if cut:
        draft.note(concept=draft.as_written(cut))
        draft.text = draft.text.replace(found[0], found[0].replace(cut, "|", 1).partition(" ")[2], 1)


def project(draft: Draft) -> None:
    """A project by its name, alone where there is such; `.` for the one that the person stands in."""
    found = draft.take(r"\b(?:in|for|of|from) (?:the )?project ['\"]?([\w./-]+)['\"]?") or draft.take(
        r"\b(?:in|for|of|from) (?:the )?['\"]?([\w./-]+)['\"]? project\b"
    )
    if found and found[1] not in ("this", "my", "our"):
        draft.note(project=draft.as_written(found[1]))
    elif found:
        draft.note(project=".")
    elif bare := next((one for one in _IN.finditer(draft.text) if one[1] in draft.projects), None):
        draft.text = f"{draft.text[: bare.start()]} | {draft.text[bare.end() :]}"
        draft.note(project=draft.projects[bare[1]])


def tags(draft: Draft) -> None:
    """Tags, and kinds of tasks that trackers have as tags."""
    named = []
    while found := draft.take(
        r"(?:\b(?:tagged|labell?ed)(?: as| with)?|\bwith (?:the )?(?:tag|label)|\btag|\blabel) ['\"]?#?([\w/-]+)['\"]?|(?<!\S)#([a-z][\w/-]*)"
    ):
        named.append(found[1] or found[2])
        while further := re.search(r"\| *(?:,|and|&) *#?([\w/-]+)(?= *(?:,|and\b|&|\Z))", draft.text):
            if further[1] in NO_TAGS:
                break
            named.append(further[1])
            draft.text = f"{draft.text[: further.start()]}|{draft.text[further.end() :]}"
    for phrases, tag in TAG_PHRASES.items():
        if draft.take(any_of(phrases)):
            named.append(tag)
    if named:
        draft.note(tags=tuple(dict.fromkeys(named)))
