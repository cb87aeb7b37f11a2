"""Translate the words of trackers for the status, type and priority of a task into ours."""

import re
from collections.abc import Iterable

_WORDS: dict[str, str] = {
    "pending": "pending todo to_do open opened new backlog ready queued planned draft triage triaged unstarted not_started "
    "proposed accepted approved assigned reopened hooked pinned selected_for_development to_be_done incoming created",
    "in_progress": "in_progress doing started active wip working ongoing current in_development in_dev underway under_way "
    "in_work running progress",
    "blocked": "blocked stuck waiting on_hold hold impeded waiting_for paused stalled",
    "review": "review in_review needs_review reviewing testing in_testing qa in_qa verify to_verify ready_for_review "
    "awaiting_review code_review pr_open",
    "completed": "completed complete done closed finished resolved fixed merged shipped released implemented verified "
    "success succeeded passed x",
    "archived": "archived archive",
    "cancelled": "cancelled canceled cancel wont_fix wontfix won_t_fix wont_do rejected declined dropped abandoned invalid "
    "duplicate not_planned obsolete superseded deleted removed tombstone discarded skipped failed",
    "deferred": "deferred defer postponed later someday icebox icebox_ed snoozed on_ice maybe parked",
    "unknown": "unknown",
}
_STATUS_OF = {word: status for status, words in _WORDS.items() for word in words.split()}

_TYPE_OF = {
    **dict.fromkeys(["epic", "initiative", "milestone", "theme", "project", "convoy", "molecule"], "epic"),
    **dict.fromkeys(["subtask", "sub_task", "substep", "step", "child", "checklist_item"], "subtask"),
}
_PRIORITY_OF = {
    **dict.fromkeys(["critical", "urgent", "blocker", "highest", "p0", "0", "immediate", "asap"], 0),
    **dict.fromkeys(["high", "p1", "1", "important", "major"], 1),
    **dict.fromkeys(["medium", "med", "normal", "moderate", "p2", "2", "default"], 2),
    **dict.fromkeys(["low", "minor", "p3", "3"], 3),
    **dict.fromkeys(["lowest", "trivial", "backlog", "p4", "4", "p5", "5", "optional"], 4),
}
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
