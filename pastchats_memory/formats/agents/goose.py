"""Read sessions of Goose: a header, then a message a line; since 1.10 a database."""

from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.files.foreign_sqlite import ForeignDatabase, Value
from pastchats_memory.formats.base import session
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.format import CERTAIN, TABLE_LAYOUT, Format, resume_with
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.sqlite_sessions import has_tables
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, parse_json, text_of, value_of
from pastchats_memory.model import Unreadable

CALLS = ("toolRequest", "frontendToolRequest")
TOOLS = (*CALLS, "toolResponse")
BY_PROGRAMS = ("scheduled", "sub_agent", "hidden")
"""Types of sessions in which no person took part."""
TABLES = {"sessions": frozenset({"id", "working_dir"}), "messages": frozenset({"session_id", "role", "content_json"})}
EXPORTED = "conversation"
"""The key of an exported session's messages."""


def detect(source: SourceFile) -> int:
    """Return 90 for a session's header or a tool block, 70 for the database, else 0."""
    if source.shape == "sqlite":
        return TABLE_LAYOUT if has_tables(source, TABLES) else 0
    if source.shape == "json":
        document = mapping_of(source.outline)
        return CERTAIN if _is_header(document) and isinstance(document.get(EXPORTED), list) else 0
    dated = (block for record in source.sample if "created" in record for block in _blocks_of(record))
    has_tools = any(block.get("type") in TOOLS for block in dated)
    return CERTAIN if has_tools or any(map(_is_header, source.sample)) else 0


def _is_header(record: Json) -> bool:
    has_mark = any(key in record for key in ("message_count", "description", EXPORTED))
    return isinstance(record.get("working_dir"), str) and has_mark and "role" not in record


def read(source: SourceFile) -> Iterator[session.Row]:
    """Yield the turns in file order, and the lines that are no messages."""
    if source.shape == "sqlite":
        return source.from_database(lambda database: _read_database(database, str(source.path)))
    return _Session.read(source)


class _Session(AgentSession):
    """A session as lines, or as an exported document, whose own keys are those of a header."""

    record_noun = ""
    list_keys = (EXPORTED,)

    def start(self) -> None:
        if self.source.shape == "json":
            _take_header(self.builder.info, mapping_of(self.source.outline))

    def add_record(self, record: Json, line: int) -> None:
        _add_record(self.builder, record, line)


def _read_database(database: ForeignDatabase, path: str) -> Iterator[session.Row]:
    columns = ("id", "description", "name", "working_dir", "session_type")
    for own_id, description, name, folder, kind in database.rows("sessions", columns, order=("created_at", "id")):
        if kind not in BY_PROGRAMS:
            title = text_of(description) or text_of(name)
            builder = session.SessionBuilder(
                session.SessionInfo(str(own_id), session.folder_of(folder), metadata={"title": title})
            )
            for record in _stored_messages(database, own_id):
                try:
                    _add_record(builder, record, 1)
                except session.BadRecord as fault:
                    yield Unreadable(path, 0, f"session {own_id!s}: {fault}")
            yield from builder.flush()


def _stored_messages(database: ForeignDatabase, session_id: Value) -> Iterator[Json]:
    """Yield the messages of a session in the form of a line of the older files."""
    columns = ("role", "content_json", "created_timestamp", "message_id", "metadata_json")
    where = {"session_id": session_id}
    for role, content, created, own_id, metadata in database.rows("messages", columns, where=where, order=("id",)):
        fields = {"role": role, "content": content, "created": created, "id": own_id}
        yield fields | {"metadata": parse_json(text_of(metadata))}


def _take_header(info: session.SessionInfo, record: Json) -> None:
    info.conversation_id = text_of(record.get("id")) or info.conversation_id
    info.cwd = session.folder_of(record.get("working_dir"))
    info.metadata["title"] = text_of(record.get("name")) or text_of(record.get("description"))


def _add_record(builder: session.SessionBuilder, record: Json, line: int) -> None:
    """Apply a header, or add the turns of a message. Raises BadRecord."""
    if _is_header(record):
        _take_header(builder.info, record)
        return
    if record.get("role") not in ("user", "assistant"):
        raise session.BadRecord("neither a session nor a message")
    blocks = _blocks_of(record)
    if not blocks and _content_of(record) != []:
        raise session.BadRecord("content is neither text nor a list of blocks")
    if mapping_of(record.get("metadata")).get("userVisible") is not False:
        _add_message(builder, record, blocks, session.Position(line, record.get("created"), text_of(record.get("id"))))


def _add_message(builder: session.SessionBuilder, record: Json, blocks: list[Json], at: session.Position) -> None:
    shown = [block for block in blocks if _is_shown(block)]
    if record.get("role") == "assistant":
        builder.add_answer(session.texts_of(shown), at)
    elif not any(block.get("type") == "toolResponse" for block in blocks):
        builder.add_content(shown, at)
    forms = [mapping_of(block.get("data")) for block in blocks if block.get("type") == "actionRequired"]
    if replies := list(map(_form_text, forms)):
        builder.add_prompt("\n\n".join(filter(None, replies)), at, kind="answer")
    for block in blocks:
        call_id = text_of(block.get("id"))
        if block.get("type") in CALLS:
            call = mapping_of(mapping_of(block.get("toolCall")).get("value"))
            builder.add_call(call_id, text_of(call.get("name")), call.get("arguments"))
        elif block.get("type") == "toolResponse":
            result = mapping_of(block.get("toolResult"))
            value = result.get("value")
            failed = result.get("status") == "error" or mapping_of(value).get("isError") is True
            text = _result_text(value) or text_of(result.get("error"))
            builder.add_result(call_id, ToolResult(text, failed=failed), at)


def _form_text(action: Json) -> str:
    """Return what the person filled into a tool's form, a field a line."""
    data = action.get("user_data", action.get("userData"))
    filled = ((key, value) for key, value in mapping_of(data).items() if isinstance(value, str | int | float))
    return "\n".join(f"{key}: {value}" for key, value in filled)


def _result_text(value: object) -> str:
    """Return the text of a result: the person's copy, if the model has another."""
    parts = objects_of(mapping_of(value).get("content") or value)
    return text_of_result([part for part in parts if _is_shown(part)]) or text_of_result(value)


def _is_shown(block: Json) -> bool:
    """Return whether a block is meant for the person, as one without an audience is."""
    audience = mapping_of(block.get("annotations")).get("audience")
    return not isinstance(audience, list) or "user" in audience


def _content_of(record: Json) -> object:
    """Return the content of a message; some versions encode its list as JSON text."""
    content = record.get("content", record.get("content_json"))
    return value_of(content) if isinstance(content, str) and content.startswith("[") else content


def _blocks_of(record: Json) -> list[Json]:
    content = _content_of(record)
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in list_of(content) if isinstance(block, dict)]


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the folders of the sessions, of this version and of earlier ones."""
    root = environment.variables.get("GOOSE_PATH_ROOT")
    if root:
        yield Path(root).expanduser() / "data" / "sessions"
        return
    yield environment.data / "goose" / "sessions"
    yield environment.programs / "Block" / "goose" / "sessions"
    yield environment.programs / "Block" / "goose" / "data" / "sessions"
    yield environment.home / ".goose" / "sessions"


GOOSE = Format(
    name="goose",
    version=10,
    detect=detect,
    read=read,
    program="Goose",
    locations=locations,
    # https://block.github.io/goose/docs/guides/goose-cli-commands
    resume=resume_with("goose", "session", "--resume", "--session-id"),
)
