"""Show tasks as a board with a column for each status, show a task with its history, and write one down."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from pastchats_memory.errors import UsageFault
from pastchats_memory.http.answers import RequestError
from pastchats_memory.http.page.answers import PageRequest, Redirect, Reply, WebPage, make_url, require
from pastchats_memory.memory import Memory
from pastchats_memory.model import OPEN, RESOLVED, STATUSES, TYPES, StoredTask
from pastchats_memory.model.ids import leads_to_task
from pastchats_memory.tasks import BoardColumn
from pastchats_memory.tasks.capture import CaptureDecision
from pastchats_memory.tasks.edit import Change
from pastchats_memory.tasks.similarity import SimilarTask

SHOWN = 20
"""Tasks in a column of the board."""
LISTED = 300
"""Tasks in the column of a board that shows one status."""
ALWAYS_SHOWN = (*OPEN, "completed")
"""Statuses whose columns stay on the board when they are empty."""


def show_board(memory: Memory, request: PageRequest) -> WebPage:
    """Show the board; `project`, `type` and `status` restrict it."""
    chosen = {name: request.query[name] for name in ("project", "type", "status") if name in request.query}
    if chosen.get("type", TYPES[0]) not in TYPES or chosen.get("status", STATUSES[0]) not in STATUSES:
        hint = f"Types are {', '.join(TYPES)}; statuses are {', '.join(STATUSES)}."
        raise RequestError(400, "usage", "there is no such type or status", hint)
    is_one = "status" in chosen
    values = {
        "columns": _arrange(memory.load_board(**chosen, limit=LISTED if is_one else SHOWN), has_all=not is_one),
        "address": urlencode(chosen),
        "open": OPEN,
        "chosen": chosen,
        "projects": memory.tasks.list_projects(),
        "types": TYPES,
        "statuses": STATUSES,
    }
    return WebPage("tasks", values)


def _arrange(columns: Sequence[BoardColumn], *, has_all: bool) -> list[BoardColumn]:
    """Return a board without earlier copies, since an agent writes its list down again in each session.

    A board that `has_all` shows the empty columns of open and completed work: a card may go there.
    """
    newest: dict[tuple[str, str], StoredTask] = {}
    for task in sorted((task for column in columns for task in column.tasks), key=lambda one: one.timestamp or ""):
        newest[(task.project, task.title.casefold().strip() or task.key)] = task
    keys = {task.key for task in newest.values()}
    board = {status: BoardColumn(status, 0, ()) for status in ALWAYS_SHOWN} if has_all and columns else {}
    for column in columns:
        if tasks := tuple(task for task in column.tasks if task.key in keys):
            total = column.total - len(column.tasks) + len(tasks)
            board[column.status] = column._replace(tasks=tasks, total=total)
    return [board[status] for status in STATUSES if status in board]


def change_status(memory: Memory, request: PageRequest) -> Redirect:
    """Give a task the status of the form, and go back to the board or the task. Raises UsageFault."""
    key, status = request.form.get("key", ""), request.form.get("status", "")
    if status not in STATUSES:
        raise UsageFault("there is no such status", f"Statuses are {', '.join(STATUSES)}.")
    memory.tasks.update(key, Change(status=status))
    board = request.form.get("board", "")
    return Redirect(f"/page/tasks{board}" if board.startswith("?") else make_url("/page/task", key=key))


def show_task(memory: Memory, request: PageRequest) -> WebPage:
    """Show the task of `key`, which is a key, or the id of a task, a comment or an attachment."""
    key = request.query.get("key", "")
    found = memory.tasks.find_item(key if leads_to_task(key) else f"t:{key}") if key else None
    task, opened = require(found, "task", "It may have been forgotten. See the board.")
    values = {
        "task": task,
        "own_word": _own_word(task.status, task.status_raw),
        "history": [one._replace(raw=_own_word(one.status, one.raw)) for one in task.states],
        "done": sum(part.status in RESOLVED for part in task.parts),
        "links": [(name_link(link.kind), link.target) for link in task.links],
        "titles": memory.name_conversations((task.project, one) for one in task.conversations),
        "opened": opened,
        "statuses": STATUSES,
    }
    return WebPage("task", values)


def name_link(kind: str) -> str:
    """Write the kind of a link, such as `Depends on`."""
    names: Mapping[str, str] = {"depends": "Depends on", "related": "Related to", "duplicates": "Duplicate of"}
    return names.get(kind, kind.replace("_", " ").replace("-", " ").capitalize())


def _own_word(status: str, raw: str) -> str:
    return "" if raw.strip().lower().replace(" ", "_") in ("", status) else raw


def show_capture(_: Memory, request: PageRequest) -> WebPage:
    """Show the form that writes down a task."""
    return WebPage("capture", {"text": request.query.get("text", ""), "project": request.query.get("project", "")})


def capture(memory: Memory, request: PageRequest) -> Reply:
    """Store the text; ask first if a similar task exists that the reader has not seen yet.

    Raises UsageFault.
    """
    text, project = request.form.get("text", ""), request.form.get("project", "")
    seen, wish = request.form.get("similar"), request.form.get("decision")

    def decide(similar: SimilarTask) -> CaptureDecision:
        if similar.task.key != seen:
            return "nothing"
        return "comment" if wish == "comment" else "create" if wish == "create" else "nothing"

    captured = memory.tasks.capture(text, project, decide)
    if captured.outcome == "found":
        return WebPage("capture_similar", {"text": text, "project": project, "similar": captured.similar})
    return Redirect(make_url("/page/task", key=captured.task.key))
