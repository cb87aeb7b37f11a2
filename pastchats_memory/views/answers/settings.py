"""Define the answers of configuration and installation."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pastchats_memory.fields import Count, answer, one_of
from pastchats_memory.views.answers.listing import Listing
from pastchats_memory.views.settings import Setting

CONFIG = Listing(
    "config/1",
    "Output of `config --json`: every setting with its value and origin.",
    Setting,
    {"minItems": 1},
    warnings=Annotated[tuple[str, ...], "Settings of the project's file that were ignored, and why."],
)


class Exclusion(NamedTuple):
    """A pattern that is excluded in the user's own file."""

    pattern: str
    stored: Annotated[Count, "Rows in the memory that match a pattern excluded just now; they stay until forgotten."]


EXCLUDE = Listing(
    "exclude/1", "Output of `exclude --json`: the patterns that are excluded in the user's own file.", Exclusion
)


class FileChange(NamedTuple):
    """A change of a settings file."""

    path: Annotated[str, {"minLength": 1}]
    diff: Annotated[str, {"minLength": 1}, "Unified diff."]
    is_changed: Annotated[bool, "False if the change was only shown."]
    copy: Annotated[str | None, "Path of a copy from before the change; null if there was no file or no change."]


INSTALL = Listing("install/1", "Output of `install --json`.", FileChange)
UNINSTALL = Listing("uninstall/1", "Output of `uninstall --json`.", FileChange)


class SetupStep(NamedTuple):
    """A step of `setup`."""

    step: Annotated[str, one_of("history", "index", "hooks", "skills", "server", "recall", "labels")]
    agent: Annotated[str, "The agent or program; empty for a step of our own."]
    path: Annotated[str | None, "The file or folder of the step; null for none."]
    state: Annotated[str, one_of("found", "planned", "done", "present", "removed", "declined", "refused")]
    detail: Annotated[str, {"minLength": 1}]


@answer("setup/1")
class SetupBody(NamedTuple):
    """Output of `setup --json`."""

    recall: Annotated[str | None, "The block for the newest prompt; null if there is none yet."]
    results: Sequence[SetupStep]
