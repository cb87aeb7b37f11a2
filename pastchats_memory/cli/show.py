"""`show`: print an item in full, with its neighbours."""

from __future__ import annotations

import click

from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import hanging, notify
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import Memory
from pastchats_memory.model import Item, Outcome, canonical_id, leads_to_task
from pastchats_memory.text.display import escape_name, escape_path, format_time, one_line, sanitise
from pastchats_memory.text.stored_text import LEFT_OUT, LEFT_OUT_KEY
from pastchats_memory.views.answers.search import build_show
from pastchats_memory.views.text import CITATION_NOTES, render_outcome
from pastchats_memory.views.to_json import to_json


@ask_memory(
    "show",
    "pastchats-memory show 12",
    "pastchats-memory show 12 --neighbours 5",
    "pastchats-memory show --conversation 12",
    "pastchats-memory show 12 --json | jq -r '.results[] | select(.is_asked).content'",
)
@click.argument("id_", metavar="ID", required=False)
@click.option("--conversation", metavar="ID", help="Print a whole conversation, named by its id or that of a turn.")
@click.option(
    "--neighbours", type=click.IntRange(0, 100), default=2, show_default=True, help="Turns to show on each side."
)
def command(memory: Memory, id_: str | None, conversation: str | None, neighbours: int) -> CommandResult:
    """Print the full text of an item with its neighbours in the conversation; for t:KEY, c:5 or a:7 the task (JSON: task/1)."""
    if conversation is not None and id_ is None:
        return _show_conversation(memory, conversation)
    if id_ is None or conversation is not None:
        raise UsageFault("name one item or one conversation", "As ID, or as --conversation ID.")
    if leads_to_task(id_):
        return _show_task(memory, id_)
    shown = [(item, memory.outcome(item)) for item in memory.show(id_, neighbours, whole=True)]
    id_ = canonical_id(id_)
    for item, _ in shown:
        if item.shown_id == id_ and LEFT_OUT_KEY in item.metadata and LEFT_OUT in item.content:
            notify(f"The rest of the text is gone: {one_line(item.source_path)} no longer has it.")
    return CommandResult(
        lambda: build_show(shown, id_),
        lambda: "\n".join(_text(item, outcome, is_selected=item.shown_id == id_) for item, outcome in shown) + "\n",
        is_found=bool(shown),
        nothing=_explain_missing(id_),
        is_folded=True,
    )


def _explain_missing(id_: str) -> str:
    return f"There is no item {escape_name(id_)}. Ids stand in the output of search and recall."


def _show_conversation(memory: Memory, id_: str) -> CommandResult:
    from pastchats_memory.views.document import document_of_conversation, render_markdown_document

    found = memory.load_conversation(id_)
    episodes = found.episodes if found else ()
    return CommandResult(
        lambda: build_show([(turn, one.outcome) for one in episodes for turn in one.turns], ""),
        lambda: "\n".join(render_markdown_document(document_of_conversation(found))) if found else "",
        is_found=bool(found),
        nothing=f"There is no conversation {escape_name(id_)}. `search --json` shows their ids.",
    )


def _show_task(memory: Memory, id_: str) -> CommandResult:
    from pastchats_memory.views.answers.tasks import TaskBody, build_shown_task
    from pastchats_memory.views.task_text import render_attached, render_task

    found = memory.tasks.find_item(id_)
    if found is None:
        notify(_explain_missing(id_))
        return CommandResult(lambda: to_json(TaskBody()), lambda: "", is_found=False)
    task, attached = found
    own_text = f"\n\n{render_attached(attached)}" if attached is not None and attached.content is not None else ""
    return CommandResult(
        lambda: build_shown_task(task, attached), lambda: hanging(render_task(task)) + own_text, is_folded=True
    )


def _text(item: Item, outcome: Outcome, *, is_selected: bool) -> str:
    mark = "▶" if is_selected else " "
    when = format_time(item.timestamp)
    head = f"{mark} {item.shown_id} · {escape_name(item.role)} · {escape_name(item.project)}" + (
        f" · {when}" if when else ""
    )
    note = CITATION_NOTES[item.citation.state if item.citation else "holds"]
    notes = [f"turn {item.turn_index}{'; ' if note else ''}{note}", *[f"turn {item.turn_index}"] * len(item.places)]
    places = "".join(
        f"\n  Source: {escape_path(place.path)}:{place.line} ({note})"
        for place, note in zip(item.places, notes, strict=False)
    )
    if is_selected and outcome.is_known:
        places += f"\n  Outcome: {render_outcome(outcome)}"
    body = "\n".join(f"    {line}" for line in sanitise(item.content).split("\n"))
    return f"{head}{places if is_selected else ''}\n{body}\n"
