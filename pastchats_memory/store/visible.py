"""Name the rows that a reader may see, by temporary views that every connection has.

A view leaves out rows that are being deleted, and rows of projects that are hidden from the viewer. Readers name the views.
Only modules that write rows name the tables, and `tests/test_architecture.py` lists them.
"""

PENDING_KEY = "going"
"""Key of `embedding_meta`: as JSON the process that deletes, when it did so last, and the ids that are left by kind."""
KINDS = ("turns", "tasks", "comments", "attachments")
HIDDEN_PROJECTS = "hidden_projects"
"""SQL function without arguments that each connection has: the names of the hidden projects, as JSON."""

_LISTS = {
    "hidden": f"SELECT value FROM json_each({HIDDEN_PROJECTS}())",
    **{
        f"pending_{kind}": "SELECT value FROM json_each("
        f"(SELECT value FROM main.embedding_meta WHERE key = '{PENDING_KEY}'), '$.{kind}')"
        for kind in KINDS
    },
}
"""Views of what is invisible: names of projects, and ids of rows by kind. Mostly they are empty."""
HIDDEN_LISTS = tuple(_LISTS)


def _not_in(lists: dict[str, str]) -> str:
    """Return the condition that no column is in its list; while all lists are empty, no row is compared."""
    is_any = " UNION ALL ".join(f"SELECT 1 FROM {name}" for name in lists)
    return f"(NOT EXISTS ({is_any}) OR {' AND '.join(f'{column} NOT IN {name}' for name, column in lists.items())})"


_VISIBLE_TASK = _not_in({"hidden": "project", "pending_tasks": "id"})
_OF_VISIBLE_TASK = f"EXISTS (SELECT 1 FROM main.tasks WHERE id = task_id AND {_VISIBLE_TASK})"
_SHOWN = "(SELECT 1 FROM json_each(evidence_json) e WHERE e.value ->> 1 IN pending_turns)"
_INVISIBLE_SOURCE = """(
  SELECT 1 FROM main.recalled_sources f JOIN main.prompts p ON p.conversation_id = f.source OR p.id = CAST(f.source AS INTEGER)
  WHERE f.recalled_id = recalled.id AND (p.source_project IN hidden OR p.id IN pending_turns))"""
_CONDITIONS = {
    "prompts": _not_in({"hidden": "source_project", "pending_turns": "id"}),
    "tasks": _VISIBLE_TASK,
    "task_comments": f"{_OF_VISIBLE_TASK} AND {_not_in({'pending_comments': 'id'})}",
    "task_attachments": f"{_OF_VISIBLE_TASK} AND {_not_in({'pending_attachments': 'id'})}",
    "task_texts": f"{_OF_VISIBLE_TASK} AND "
    + _not_in({"pending_comments": "ifnull(comment_id, 0)", "pending_attachments": "ifnull(attachment_id, 0)"}),
    "task_links": f"NOT EXISTS (SELECT 1 FROM main.tasks WHERE identity = target AND NOT {_VISIBLE_TASK})",
    "outcomes": f"{_not_in({'hidden': 'source_project', 'pending_turns': 'prompt_id'})} "
    f"AND (NOT EXISTS (SELECT 1 FROM pending_turns) OR NOT EXISTS {_SHOWN})",
    "known_failures": f"{_not_in({'hidden': 'source_project', 'pending_turns': 'prompt_id'})} "
    f"AND {_not_in({'pending_turns': 'ifnull(cure_id, 0)'})}",
    "recalled": "NOT EXISTS (SELECT 1 FROM hidden UNION ALL SELECT 1 FROM pending_turns UNION ALL SELECT 1 FROM pending_tasks) "
    f"OR NOT EXISTS {_INVISIBLE_SOURCE}",
}
"""Condition of each table's visible rows. A link counts with the task that it leads to, an outcome with the turns that it
quotes."""
TABLES = tuple(_CONDITIONS)
"""Tables whose rows may be invisible: `visible_` and the name of one is its view."""
CREATE_VIEWS = "".join(
    [f"CREATE TEMP VIEW {name}(value) AS {statement};\n" for name, statement in _LISTS.items()]
    + [
        f"CREATE TEMP VIEW visible_{table} AS SELECT * FROM main.{table} WHERE {condition};\n"
        for table, condition in _CONDITIONS.items()
    ]
)
