"""Cline and related extensions: Roo Code, Kilo Code, and the command line's agent.

A task is a folder with two files of one conversation. `ui_messages.json` has times, and separates prompts from tool
results, so it is read first. `api_conversation_history.json` is read only if it is alone.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from pastchats_memory.formats.agents.cline.export import Export, is_export
from pastchats_memory.formats.agents.cline.model_messages import CWD, DIALECT, ModelMessages, is_api_message, is_tagged
from pastchats_memory.formats.agents.cline.screen import ScreenMessages, is_ui_message
from pastchats_memory.formats.base.format import CERTAIN, Companions, Format, confident
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import Row, SessionBuilder, SessionInfo, read_items
from pastchats_memory.formats.base.sibling_files import is_sibling, read_sibling_json
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import list_of, mapping_of, text_of

UI_NAMES, API_NAME = ("ui_messages.json", "claude_messages.json"), "api_conversation_history.json"
NAMES = (*UI_NAMES, API_NAME)
FOCUS_CHAIN = "focus_chain_taskid_"
"""The beginning of the name of a copy of the task's last checklist."""
SESSION = ".messages.json"
"""The end of the name of a session of the command line's agent; `<id>.json` next to it has the folder."""
CWD_KEYS = ("cwd", "workspace", "workspace_root", "cwdOnTaskInitialization", "workspaceDirPath")

_NUMBER = re.compile(r"\d{13}")
"""The id of a task that is the time of its start in milliseconds."""


def matches(source: SourceFile) -> bool:
    """Return whether the messages are those of Cline's screen, or those for the model with Cline's tags."""
    if source.shape == "markdown":
        return is_export(source)
    messages = [value for value in map(mapping_of, _opening(source)) if is_api_message(value)]
    is_named = source.path.name == API_NAME or source.path.name.endswith(SESSION)
    return _is_ui(source) or (is_named and bool(messages)) or any(map(is_tagged, messages))


def _is_ui(source: SourceFile) -> bool:
    return any(is_ui_message(mapping_of(value)) for value in _opening(source))


def _opening(source: SourceFile) -> list[object]:
    """Return the first items of a file of any shape."""
    if source.shape == "jsonl":
        return list(source.sample)
    document = source.outline if source.shape == "json" else None
    return list_of(document) or list_of(mapping_of(document).get("messages"))


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order; nothing if the file next to it is read instead."""
    if source.shape == "markdown":
        yield from Export.read(source)
        return
    path, is_screen = source.path, _is_ui(source)
    siblings = filter(is_sibling, map(path.with_name, UI_NAMES))
    if not is_screen and path.name == API_NAME and any(_is_ui(SourceFile(sibling)) for sibling in siblings):
        return
    task = path.parent.name if path.name in NAMES else path.name.removesuffix(SESSION).removesuffix(path.suffix)
    cwd = _folder_from_records(path, task) or _folder_from_context(source) or _folder_from_sibling(path)
    started = task if _NUMBER.fullmatch(task) else None
    builder = SessionBuilder(SessionInfo(task, cwd, started=started), DIALECT)
    messages = ScreenMessages(builder) if is_screen else ModelMessages(builder)
    below = () if isinstance(source.outline, list) else ("messages",)
    items = source.records() if source.shape == "jsonl" else source.elements(*below)
    yield from read_items(source, builder, items, lambda item, _: messages.add_message(item.value, item.line))
    messages.end()
    yield from builder.flush()


def _folder_from_records(path: Path, task: str) -> str | None:
    """Return the working directory from the task's record, or from the list of all tasks two folders up."""
    if path.name.endswith(SESSION):
        return _folder_in([read_sibling_json(path.with_name(f"{task}.json"))])
    if path.name not in NAMES:
        return None
    own = read_sibling_json(path.with_name("history_item.json"))
    listed = list_of(read_sibling_json(path.parent.parent.parent / "state" / "taskHistory.json"))
    index = mapping_of(read_sibling_json(path.parent.parent / "_index.json"))
    entries = [own, *listed, *list_of(index.get("entries")), index.get(task)]
    ours = [entry for entry in map(mapping_of, entries) if entry is mapping_of(own) or entry.get("id") == task]
    return _folder_in(ours)


def _folder_in(records: Iterable[object]) -> str | None:
    text = (text_of(record.get(key)) for record in map(mapping_of, records) for key in CWD_KEYS)
    return next(filter(None, text), None)


def _folder_from_context(source: SourceFile) -> str | None:
    """Return the working directory from the context in the first messages."""
    for text in _texts(list_of(_opening(source)), 0):
        if "# Current W" in text and (found := CWD.search(text)):
            return found[1]
    return None


def _folder_from_sibling(path: Path) -> str | None:
    sibling = path.with_name(API_NAME)
    return _folder_from_context(SourceFile(sibling)) if path.name in UI_NAMES and is_sibling(sibling) else None


def _texts(values: list[object], depth: int) -> Iterator[str]:
    """Yield the texts of messages and their blocks, including tool results."""
    for value in values:
        fields = mapping_of(value)
        yield text_of(value) or text_of(fields.get("text"))
        content = fields.get("content")
        if depth < 3:  # noqa: PLR2004 - a message, its blocks, and the blocks of a tool's answer
            yield from _texts(content if isinstance(content, list) else [content], depth + 1)


def hidden_in(_folder: str, names: Collection[str]) -> Collection[str]:
    """Return the lists of a task's steps, which are read with the task."""
    return [name for name in names if name.startswith(FOCUS_CHAIN)] if any(name in NAMES for name in names) else ()


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the command line's sessions."""
    data = environment.folder("CLINE_DATA_DIR", environment.folder("CLINE_DIR", environment.home / ".cline") / "data")
    yield environment.folder("CLINE_SESSION_DATA_DIR", data / "sessions")


CLINE = Format(
    name="cline",
    version=13,
    detect=confident(matches, CERTAIN),
    read=read,
    program="Cline, Roo Code, Kilo Code",
    locations=locations,
    companions=Companions(hidden_in=hidden_in),
)
