"""Claude Code's task files: `~/.claude/todos/<session>-agent-<agent>.json` and `~/.claude/tasks/<list>/<n>.json`."""

from collections.abc import Iterator

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.source import Places, SourceFile
from pastchats_memory.formats.base.tasks import word_of
from pastchats_memory.formats.base.todo_lists import entry_of, task_of_list, task_of_todo
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of
from pastchats_memory.model import Task, Unreadable

STATES = frozenset({"pending", "in_progress", "completed", "cancelled"})
"""States of a todo, also in OpenCode's lists: a comment or a mail has other words."""
LIST_KEYS = ("blocks", "blockedBy", "activeForm")


def matches(source: SourceFile) -> bool:
    """Return whether the document is a list of todos, or one task in the folder of lists."""
    if source.shape != "json":
        return False
    document = source.outline
    if isinstance(document, list):
        return bool(document) and all(_is_todo(mapping_of(todo)) for todo in document)
    fields = mapping_of(document)
    named = all(text_of(fields.get(key)) for key in ("id", "subject", "status"))
    return named and any(key in fields for key in LIST_KEYS)


def _is_todo(fields: Json) -> bool:
    has_more = any(key in fields for key in ("activeForm", "priority", "id")) and "role" not in fields
    return has_more and bool(text_of(fields.get("content"))) and text_of(fields.get("status")) in STATES


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Yield the tasks; the file's or the folder's name has the session."""
    places = Places(source.text)
    if isinstance(source.document, list):
        session = source.path.stem.partition("-agent-")[0]
        for todo in list_of(source.document):
            entry = entry_of(mapping_of(todo))
            if entry is not None:
                yield task_of_todo(entry, session, line=places.line(entry.text))
        return
    fields = mapping_of(source.document)
    if text_of(fields.get("status")) != "deleted":
        yield task_of_list(fields, source.path.parent.name, word_of(fields.get("id")), line=1)


CLAUDE_TASKS = Format("claude-tasks", 2, confident(matches, 90), read, kinds=frozenset({"tasks"}))
