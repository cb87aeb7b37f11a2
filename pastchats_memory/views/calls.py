"""Describe a tool call for people: its change, text or input, and its output, as HTML."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

import orjson

from pastchats_memory.episodes.recorded_edits import IS_PATCH, REPLACED
from pastchats_memory.model import RecordedCall
from pastchats_memory.redact import redact
from pastchats_memory.text.truncate import keep_head
from pastchats_memory.views.code import render_change, render_code, render_patch

_WRITTEN = re.compile(r"new|replace|after|updated|content|contents|text|file_text", re.IGNORECASE)
"""In names of arguments that hold the text after a change."""
_INSIDE = r"((?:(?!^[<-]{7} ?SEARCH).)*?)"
_BLOCKS = re.compile(
    rf"[<-]{{7}} ?SEARCH[^\n]*\n{_INSIDE}^={{7}}\n{_INSIDE}^[>+]{{7}} ?REPLACE", re.DOTALL | re.MULTILINE
)

SHORTEST_TIME = 0.1
"""Seconds that are shown."""


class CallPart(NamedTuple):
    """A part of a call."""

    title: str
    kind: str
    """`diff`, `code` or `output`."""
    html: str
    cut: int
    """Characters that are left out."""


class ShownCall(NamedTuple):
    """A call as a page shows it."""

    label: str
    facts: tuple[str, ...]
    """Exit code, time, lines added and removed."""
    has_failed: bool
    parts: tuple[CallPart, ...]


def show_call(call: RecordedCall, longest: int) -> ShownCall:
    """Return a call without secrets, with at most so many characters of each text."""
    parts = [*_show_input(call, longest), *_show_text("Output", "output", call.output.strip("\n"), "", longest)]
    return ShownCall(call.label, tuple(_list_facts(call, parts)), call.has_failed, tuple(parts))


def _list_facts(call: RecordedCall, parts: list[CallPart]) -> Iterator[str]:
    added, removed = (sum(part.html.count(f'class="{kind}"') for part in parts) for kind in ("plus", "minus"))
    if added or removed:
        yield f"+{added} −{removed}"
    if call.exit_code is not None:
        yield f"exit {call.exit_code}"
    elif call.has_failed:
        yield "failed"
    if call.began and call.ended:
        seconds = (datetime.fromisoformat(call.ended) - datetime.fromisoformat(call.began)).total_seconds()
        if seconds >= SHORTEST_TIME:
            yield f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.0f} min"  # noqa: PLR2004 - a minute


def _show_input(call: RecordedCall, longest: int) -> Iterator[CallPart]:
    paths = call.edit.paths if call.edit is not None else ()
    changes = list(_find_changes(call.arguments)) if call.edit is not None else []
    for old, new in changes:
        if old is None and IS_PATCH.search(new) is None:
            yield from _show_text(", ".join(paths), "code", new, paths[0], longest)
        elif old is None:
            yield from _show_text("", "diff", new, "", longest)
        else:
            shown, cut = _clean(old, longest), _clean(new, longest)
            yield CallPart(", ".join(paths), "diff", render_change(shown[0], cut[0]), shown[1] + cut[1])
    if call.command and not changes:
        yield from _show_text("Command", "code", call.command, "bash", longest)
    elif not changes and call.arguments:
        given = call.arguments
        if not isinstance(given, str):
            given = orjson.dumps(given, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str).decode()
        yield from _show_text("Input", "code", given, "json", longest)


def _show_text(title: str, kind: str, text: str, language: str, longest: int) -> Iterator[CallPart]:
    shown, cut = _clean(text, longest)
    if shown:
        yield CallPart(title, kind, render_patch(shown) if kind == "diff" else render_code(shown, language), cut)


def _clean(text: str, longest: int) -> tuple[str, int]:
    """Return a text without secrets, and the number of characters that were cut."""
    return keep_head(redact(keep_head(text, 2 * longest)).text, longest), max(0, len(text) - longest)


def _find_changes(value: object) -> Iterator[tuple[str | None, str]]:
    """Yield each text of an edit with the one that it replaces; a patch or a new file replaces none."""
    if isinstance(value, str):
        yield from _BLOCKS.findall(value) or ([(None, value)] if IS_PATCH.search(value) else [])
    elif isinstance(value, dict):
        texts = {str(key): one for key, one in value.items() if isinstance(one, str)}
        old = next((text for key, text in texts.items() if REPLACED.search(key)), None)
        new = next((text for key, text in texts.items() if _WRITTEN.search(key) and not REPLACED.search(key)), None)
        patches = [change for text in texts.values() for change in _find_changes(text)]
        if patches:
            yield from patches
        elif new is not None:
            yield old, new
        else:
            for inner in value.values():
                yield from _find_changes(inner) if not isinstance(inner, str) else ()
    elif isinstance(value, list):
        for inner in value:
            yield from _find_changes(inner)
