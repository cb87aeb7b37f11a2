"""Name every published answer; `contracts/schemas` has a file for each."""

from collections.abc import Mapping
from functools import reduce
from importlib import import_module
from operator import or_
from pkgutil import iter_modules
from typing import Annotated, Any

from pastchats_memory.episodes.cite import Verified
from pastchats_memory.fields import list_answers
from pastchats_memory.store.recalled import RecalledLog
from pastchats_memory.sync.report import SyncReport
from pastchats_memory.text.wire import ExportedTaskView, ExportedTurnView
from pastchats_memory.views import answers

WHOLE_VALUES = (Verified, RecalledLog, SyncReport, ExportedTurnView, ExportedTaskView)
"""Values that are answers themselves, in modules that no other answer needs."""
TITLES = {
    "export/1": "A line of the output of `export`.",
    "forget/1": "Output of `forget --json`: what would be forgotten, what was forgotten, or the list of what is forgotten.",
    "index/1": "Output of `index --json`, also with --dry-run.",
    "prune/1": "Output of `prune --json`: what would be forgotten, or what was forgotten.",
    "team/1": "Output of `team try`, `init`, `share`, `push`, `pull`, `withdraw` and `status` with --json.",
}
"""Titles of the answers that have several classes."""


def _load_answers() -> dict[str, Any]:
    """Return the class of each answer, or the union of its classes, by the id of its schema."""
    for module in iter_modules(answers.__path__):
        if module.name != "registry":
            import_module(f"{answers.__name__}.{module.name}")
    return {
        schema: classes[0] if len(classes) == 1 else Annotated[reduce(or_, classes), TITLES[schema]]
        for schema, classes in list_answers().items()
    }


ANSWERS: Mapping[str, Any] = _load_answers()
"""The class of each answer, by the id of its schema."""
