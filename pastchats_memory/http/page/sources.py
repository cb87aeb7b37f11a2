"""Show where the memory comes from, what of it was not read, and what is excluded."""

import glob
import os

from pastchats_memory.config import exclusions
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.exclusion import make_pattern
from pastchats_memory.http.page.answers import PageRequest, Redirect, Reply, WebPage
from pastchats_memory.ingest.overview import SourceReport
from pastchats_memory.memory import Memory

SHOWN = 100
"""Files in each list, and lines of a file."""


def show_sources(memory: Memory, _: PageRequest) -> WebPage:
    """Show the histories and other places, files with lines that were not understood, and files that are gone."""
    places, unread = memory.list_sources()
    values = {
        "places": places,
        "partly": [file for file in unread if file.lines],
        "skipped": [file for file in unread if not file.lines],
        "gone": [path for place in places for path in place.gone],
        "shown": SHOWN,
        "count_new": count_new,
        "new": sum(map(count_new, places)),
        "indexed": sum(place.indexed for place in places),
    }
    return WebPage("sources", values)


def count_new(place: SourceReport) -> int:
    """Return the number of files of a place that are there and not indexed."""
    return max(0, place.files - (place.indexed - len(place.gone)))


def show_exclusions(memory: Memory, request: PageRequest) -> WebPage:
    """Show what is excluded. For a named project or path, ask whether to add it, with the number of rows that would stay.

    Raises UsageFault.
    """
    named = {name: request.query[name] for name in ("project", "path") if name in request.query}
    criteria = {"project": named.get("project"), "source": named.get("path")}
    stored = memory.forget(**criteria, dry_run=True).total if named else 0
    return WebPage(
        "exclude", {"patterns": exclusions.excluded(), "named": named, "stored": stored, "criteria": criteria}
    )


def change_exclusions(_: Memory, request: PageRequest) -> Reply:
    """Add a project or a path to the list, or remove a pattern. Raises UsageFault."""
    if "remove" in request.form:
        exclusions.include_again([request.form["remove"]])
    elif "project" in request.form:
        exclusions.exclude([glob.escape(request.form["project"])])
    elif "path" in request.form:
        if not os.path.isabs(os.path.expanduser(request.form["path"])):  # noqa: PTH111, PTH117 - a pattern is no path
            raise UsageFault("the path is not whole", "Begin it with / or ~, since the server has a folder of its own.")
        exclusions.exclude([make_pattern(request.form["path"])])
    else:
        raise UsageFault("nothing is named", "Name a path or a project.")
    return Redirect("/page/exclude")
