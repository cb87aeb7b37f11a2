"""Show where the memory comes from: the histories on this machine, and what of them was not read."""

from pastchats_memory.config import from_home
from pastchats_memory.http.page.answers import PageRequest, WebPage
from pastchats_memory.ingest.overview import SourceReport, UnreadFile
from pastchats_memory.memory import Memory

SHOWN = 100
"""Files in each list, and lines of a file."""


def show_sources(memory: Memory, _: PageRequest) -> WebPage:
    """Show the histories and other places, files with lines that were not understood, and files that are gone."""
    places, unread = memory.list_sources()
    partly = [file for file in unread if file.lines]
    skipped = [file for file in unread if not file.lines]
    gone = [from_home(path) for place in places for path in place.gone]
    values = {
        "places": places,
        "partly": _shorten_paths(partly[:SHOWN]),
        "partly_count": len(partly),
        "skipped": _shorten_paths(skipped[:SHOWN]),
        "skipped_count": len(skipped),
        "gone": gone[:SHOWN],
        "gone_count": len(gone),
        "lines_shown": SHOWN,
        "count_new": count_new,
        "new": sum(map(count_new, places)),
        "indexed": sum(place.indexed for place in places),
    }
    return WebPage("sources", values)


def count_new(place: SourceReport) -> int:
    """Return the number of files of a place that are there and not indexed."""
    return max(0, place.files - (place.indexed - len(place.gone)))


def _shorten_paths(files: list[UnreadFile]) -> list[UnreadFile]:
    return [file._replace(path=from_home(file.path)) for file in files]
