"""Read the whole text of a turn from its source, if only a part of it is stored."""

import os

from pastchats_memory.files.archives import archive_of, open_member
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.ingest.detect import BY_FORMAT
from pastchats_memory.ingest.read import clean
from pastchats_memory.model import Item, Turn
from pastchats_memory.redact import redact
from pastchats_memory.text.stored_text import LONGEST_TEXT, limit_text, name_media


def read_whole_text(item: Item) -> str | None:
    """Return the whole text, redacted and without embedded media; None if no source has it any more."""
    format_ = BY_FORMAT.get(str(item.metadata.get("format")))
    for place in item.places if format_ is not None else ():
        path = resolve_path(place.path)
        try:
            archive = archive_of(path)
            unpacked = None if archive is None else open_member(archive, os.path.relpath(path, archive))
            for found in format_.read(SourceFile(path, named=True, unpacked=unpacked)) if format_ else ():
                if isinstance(found, Turn) and (text := _matching_text(found, item)) is not None:
                    return text
        except (NotText, OSError):  # it went away, or is another file now
            continue
    return None


def _matching_text(found: Turn, item: Item) -> str | None:
    if len(found.content) <= LONGEST_TEXT or (turn := clean(found)) is None:
        return None
    text = name_media(turn.content)
    return redact(text).text if redact(limit_text(text)[0]).text == item.content else None
