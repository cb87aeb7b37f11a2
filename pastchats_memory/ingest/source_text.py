"""Read the whole text of a turn from its source, if only a part of it is stored."""

from pastchats_memory.episodes.recorded_edits import read_source
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.formats.base.source import NotText
from pastchats_memory.model import Item, Turn
from pastchats_memory.redact import redact
from pastchats_memory.text.clean import clean_own_words
from pastchats_memory.text.stored_text import LONGEST_TEXT, limit_text, name_media


def read_whole_text(item: Item) -> str | None:
    """Return the whole text, redacted and without embedded media; None if no source has it any more."""
    for place in item.places:
        try:
            for found in read_source(str(item.metadata.get("format")), resolve_path(place.path)):
                if (text := _matching_text(found, item)) is not None:
                    return text
        except (NotText, OSError, UsageFault):  # it went away, or is another file now, or nothing reads it here
            continue
    return None


def _matching_text(found: Turn, item: Item) -> str | None:
    if len(found.content) <= LONGEST_TEXT or (turn := clean_own_words(found)) is None:
        return None
    text = name_media(turn.content)
    return redact(text).text if redact(limit_text(text)[0]).text == item.content else None
