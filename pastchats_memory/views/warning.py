"""Render the warning before an action that failed before, within a fixed number of bytes."""

from pastchats_memory.episodes.known_failures import KnownFailure
from pastchats_memory.text.display import escape_name, format_time, one_line
from pastchats_memory.text.encoding import count_bytes
from pastchats_memory.text.recall_block import WARNING_PREFIX

MAX_BYTES = 300
MAX_CURE, MAX_PLACE = 90, 48
"""Bytes of the cure, and of the place; the error gets what is left."""
MIN_ERROR = 12
"""Bytes; less of an error tells nothing."""
_CURES = {
    "refused": "The user's words",
    "undone": "The user's words",
    "instead": "This worked instead",
    "after": "It worked after",
}
_CUT = "…"


def render_warning(known: KnownFailure) -> str:
    """Return the warning on one line: how often it failed, with which error, what cured it, and where that stands."""
    verb = {"refused": "was refused", "undone": "was undone"}.get(known.kind, "failed")
    times = {1: "once", 2: "twice"}.get(known.times, f"{known.times} times")
    day = format_time(known.when)[:10]
    start = f"{WARNING_PREFIX} {verb} here {times}{f', last on {day}' if day else ''}"
    end = f". {_CURES[known.kind]}: `{_shorten(_unquote(known.cure), MAX_CURE)}`"
    place = f"{known.path}:{known.line}" if known.line else known.path
    end += f" · {_shorten_start(escape_name(place), MAX_PLACE)} · id {known.turn}" if place else f" · id {known.turn}"
    room = MAX_BYTES - count_bytes(f"{start}: ``{end}")
    error = "" if not known.error or room < MIN_ERROR else _shorten(_unquote(known.error), room)
    return f"{start}: `{error}`{end}" if error else start + end


def _unquote(text: str) -> str:
    return one_line(text).replace("`", "'")


def _shorten(text: str, width: int) -> str:
    """Return the text, or its start, in at most `width` bytes."""
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= width else raw[: width - count_bytes(_CUT)].decode("utf-8", "ignore").rstrip() + _CUT


def _shorten_start(text: str, width: int) -> str:
    """Return the text, or its end, in at most `width` bytes."""
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= width else _CUT + raw[count_bytes(_CUT) - width :].decode("utf-8", "ignore")
