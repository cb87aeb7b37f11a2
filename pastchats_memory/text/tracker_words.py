"""Translate the words of trackers for the status, type and priority of a task into ours."""

import re
from collections.abc import Iterable

from pastchats_memory.text.data_file import read_words


def _read_table(kind: str) -> dict[str, str]:
    """Return our word for each word of a tracker."""
    lists = (name.split() + words.split() for name, words in read_words(__file__, "tracker_words.txt").items())
    return {word: ours for of, ours, *words in lists if of == kind for word in words}


_STATUS_OF, _TYPE_OF = _read_table("status"), _read_table("type")
_PRIORITY_OF = {word: int(number) for word, number in _read_table("priority").items()}
PRIORITIES = ("critical", "high", "medium", "low", "lowest")
"""Names of the priorities 0 to 4."""


def folded(word: str) -> str:
    """Return the word in the form of the tables: lower case, other characters than letters and digits as one `_`."""
    return re.sub(r"[\W_]+", "_", word.strip().lower()).strip("_")


def status_of(raw: str) -> str:
    """Return one of STATUSES for any tracker's word; `unknown` is that of a word in no table."""
    return _STATUS_OF.get(folded(raw), "unknown")


def is_status(word: str) -> bool:
    """Return whether the word is one of ours or a known synonym."""
    return folded(word) in _STATUS_OF


def type_of(raw: str, *, has_parent: bool = False) -> str:
    """Return one of TYPES for any tracker's word.

    A bug is a task. A task with a parent and without a word is a subtask.
    """
    return _TYPE_OF.get(folded(raw)) or ("subtask" if has_parent and folded(raw) in ("", "task") else "task")


def priority_of(raw: object) -> int | None:
    """Return 0 (critical) to 4 (lowest) for a number, a name or `P1`, or None for anything else."""
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        return None
    return _PRIORITY_OF.get(folded(str(raw)))


def wanted_statuses(words: Iterable[str]) -> tuple[str, ...]:
    """Return the statuses that `--status` names: ours and their synonyms as ours, raw words as `=word`, folded."""
    folded_words = (folded(word) for word in words)
    return tuple(dict.fromkeys(_STATUS_OF.get(word, f"={word}") for word in folded_words if word))
