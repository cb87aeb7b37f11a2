"""Show where the memory comes from: the histories on this machine, and what of them was not read."""

from __future__ import annotations

from pastchats_memory.config import from_home
from pastchats_memory.http.page.answers import Page, PageRequest
from pastchats_memory.ingest.overview import SourceReport, UnreadFile
from pastchats_memory.memory import Memory

SHOWN = 100
"""Files in each list, and lines of a file."""


def show_sources(memory: Memory, _: PageRequest) -> Page:
    """Show the histories and other places, files with lines that were not understood, and files that are gone."""
    places, unread = memory.list_sources()
    partly = [file for file in unread if file.lines]
    skipped = [file for file in unread if not file.lines]
    gone = [from_home(path) for place in places for path in place.gone]
    values = {
        "places": [_shorten_path(place) for place in places],
        "partly": _shorten_paths(partly[:SHOWN]),
        "partly_count": len(partly),
        "skipped": _shorten_paths(skipped[:SHOWN]),
        "skipped_count": len(skipped),
        "gone": gone[:SHOWN],
        "gone_count": len(gone),
        "lines_shown": SHOWN,
        "new": sum(count_new(place) for place in places),
        "indexed": sum(place.indexed for place in places),
    }
    return Page("sources", values)


def count_new(place: SourceReport) -> int:
    """Return the number of files of a place that are there and not indexed."""
    return max(0, place.files - (place.indexed - len(place.gone)))


def _shorten_path(place: SourceReport) -> dict[str, object]:
    megabytes = f"{place.bytes / 1e6:,.1f}"
    return {
        "program": place.program,
        "path": from_home(place.path),
        "files": place.files,
        "megabytes": megabytes,
        "indexed": place.indexed,
        "new": count_new(place),
        "gone": len(place.gone),
        "excluded": place.excluded,
    }


def _shorten_paths(files: list[UnreadFile]) -> list[UnreadFile]:
    return [file._replace(path=from_home(file.path)) for file in files]
