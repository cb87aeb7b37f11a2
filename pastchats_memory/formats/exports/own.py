"""What `export` wrote: turns and tasks as they were stored, a line of JSON each."""

from collections.abc import Iterator

from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import Json, mapping_of, text_of
from pastchats_memory.model import EXPORT, Task, Turn, Unreadable
from pastchats_memory.text.wire import TURN, find_wrong_field, parse_turn


def detect(source: SourceFile) -> int:
    """Return 90 if the first record is a line of an export, else 0."""
    return CERTAIN if source.sample and source.sample[0].get("schema") == EXPORT else 0


def read(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """Yield each turn and each task in the order in which they were stored."""
    for item in source.records():
        if isinstance(item, Unreadable):
            yield item
            continue
        fields = mapping_of(item.value)
        wrong = _wrong(fields)
        if wrong is not None:
            yield Unreadable(str(source.path), item.line, f"no proper {wrong!r}")
        elif fields["kind"] == "turn":
            yield parse_turn(fields, item.line)
        else:
            yield Task(
                native_id=text_of(fields["native_id"]),
                title=text_of(fields["title"]),
                line=item.line,
                cwd=text_of(fields.get("folder")) or None,
                project=text_of(fields.get("project")),
                metadata=mapping_of(fields.get("metadata")),
                exported={key: value for key, value in fields.items() if key not in ("schema", "kind", "folder")},
            )


def _wrong(fields: Json) -> str | None:
    """Return the first key with a wrong value, or None; the store checks the other keys of a task."""
    if fields.get("schema") != EXPORT:
        return "schema"
    match fields.get("kind"):
        case "turn":
            return find_wrong_field(fields, TURN)
        case "task":
            named = ("key", "native_id", "title")
            return next((key for key in named if not text_of(fields.get(key)).strip()), None)
        case _:
            return "kind"


OWN_EXPORT = Format(name="export", version=1, detect=detect, read=read)
