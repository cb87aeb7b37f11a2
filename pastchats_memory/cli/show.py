"""`show`: print an item in full, with its neighbours."""

import click

from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import hanging, notify
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import Memory
from pastchats_memory.model.episodes import ShownItem
from pastchats_memory.model.ids import canonical_id, leads_to_task
from pastchats_memory.text.display import escape_name, one_line
from pastchats_memory.text.stored_text import LEFT_OUT, LEFT_OUT_KEY
from pastchats_memory.views.answers.search import SHOW
from pastchats_memory.views.terminal import list_items
from pastchats_memory.views.to_json import to_json


def _check(*, id_: str | None, conversation: str | None, **_: object) -> None:
    if (id_ is None) == (conversation is None):
        raise UsageFault("name one item or one conversation", "As ID, or as --conversation ID.")


@ask_memory("show", check=_check)
@click.argument("id_", metavar="ID", required=False)
@click.option("--conversation", metavar="ID", help="Print a whole conversation, named by its id or that of a turn.")
@click.option(
    "--neighbours", type=click.IntRange(0, 100), default=2, show_default=True, help="Turns to show on each side."
)
def command(memory: Memory, id_: str | None, conversation: str | None, neighbours: int) -> CommandResult:
    """Print the full text of an item with its neighbours in the conversation; for t:KEY, c:5 or a:7 the task (JSON: task/1)."""
    if id_ is None:
        from pastchats_memory.views.document import document_of_conversation, render_markdown_document

        found = memory.load_conversation(conversation or "")
        episodes = found.episodes if found else ()
        return CommandResult(
            lambda: SHOW.build([ShownItem(turn, one.outcome) for one in episodes for turn in one.turns]),
            lambda: "\n".join(render_markdown_document(document_of_conversation(found))) if found else "",
            is_found=bool(found),
            nothing=f"There is no conversation {escape_name(conversation or '')}. `search --json` shows their ids.",
        )
    if leads_to_task(id_):
        return _show_task(memory, id_)
    shown = memory.show_with_outcomes(id_, neighbours, whole=True)
    for one in shown:
        item = one.item
        if one.is_asked and LEFT_OUT_KEY in item.metadata and LEFT_OUT in item.content:
            notify(f"The rest of the text is gone: {one_line(item.source_path)} no longer has it.")
    return CommandResult(
        lambda: SHOW.build(shown),
        lambda: hanging(list_items(shown), under=4),
        is_found=bool(shown),
        nothing=_explain_missing(canonical_id(id_)),
        is_folded=True,
    )


def _explain_missing(id_: str) -> str:
    return f"There is no item {escape_name(id_)}. Ids stand in the output of search and recall."


def _show_task(memory: Memory, id_: str) -> CommandResult:
    from pastchats_memory.views.answers.tasks import TaskBody, build_shown_task
    from pastchats_memory.views.task_text import render_attached, render_task

    found = memory.tasks.find_item(id_)
    if found is None:
        notify(_explain_missing(id_))
        return CommandResult(lambda: to_json(TaskBody()), lambda: "", is_found=False)
    task, attached = found
    return CommandResult(
        lambda: build_shown_task(task, attached),
        lambda: hanging(render_task(task)) + render_attached(attached),
        is_folded=True,
    )
