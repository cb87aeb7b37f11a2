"""`export`: write every turn and task as JSON Lines."""

from pathlib import Path
from typing import Any

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import echo_json, warn
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import Memory
from pastchats_memory.tasks import TaskMemory
from pastchats_memory.text.display import counted, escape_path
from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.document import (
    Document,
    document_of_conversation,
    document_of_hits,
    render_html_document,
    render_markdown_document,
)


def put_out(what: Memory | TaskMemory, noun: str, file: Path | None, *, force: bool) -> int:
    """Write the lines of all rows, or of all tasks, to FILE or to stdout, and return their number."""
    if file is not None:
        number = what.export_to(file, force=force)
        click.echo(f"Wrote {counted(number, noun)} to {escape_path(utf8(str(file)))}", err=True)
        return number
    number = 0
    for number, line in enumerate(what.export(), start=1):  # noqa: B007 - the count is needed after
        echo_json(line)
    return number


@make_command("export")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--markdown", "form", flag_value="markdown", help="Write a document of Markdown to read or to pass on.")
@click.option(
    "--html", "form", flag_value="html", help="Write one HTML page, which runs no script and fetches nothing."
)
@click.option("--conversation", metavar="ID", help="Of a document: the conversation, by its id or that of a turn.")
@click.option("--query", metavar="QUERY", help="Of a document: the results of this search.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Results of the search.")
@click.option("--force", is_flag=True, help="Replace an existing FILE.")
@options.database
def command(file: Path | None, form: str | None, force: bool, db: str | None, **subject: Any) -> int:
    """Write every turn and task as a line of JSON, to FILE or to stdout; `index FILE` reads the rows back.

    With --markdown or --html, write one conversation or the results of a search instead, as a document.
    Private projects are left out, unless you are in them. Vectors are left out; `index` makes them again.
    """
    options.interrupt_in_order()
    if form is not None or subject["conversation"] is not None or subject["query"] is not None:
        return _export_document(file, form or "markdown", subject, db, force=force)
    with options.open_memory(db) as memory:
        number = put_out(memory, "line", file, force=force)
        turns, tasks = memory.count_hidden()
    if turns or tasks:
        left = f"{counted(turns, 'turn')} and {counted(tasks, 'task')} of private projects left out"
        warn([f"{left}: export from inside them"])
    elif not number:
        warn(["the memory is empty, so there is nothing to export"])
    return DONE if number else NOTHING


def _export_document(file: Path | None, form: str, subject: dict[str, Any], db: str | None, *, force: bool) -> int:
    """Write a conversation or the results of a search as a document, and return the exit code."""
    if (subject["conversation"] is None) == (subject["query"] is None):
        raise UsageFault("name what the document is of", "Give --conversation ID or --query QUERY.")
    with options.open_memory(db) as memory:
        document = _find_document(memory, **subject)
        if document is None:
            click.echo("Nothing found that could be written.", err=True)
            return NOTHING
        lines = render_html_document(document) if form == "html" else render_markdown_document(document)
        if file is None:
            click.echo("\n".join(lines))
        else:
            memory.write_document(lines, file, force=force)
            click.echo(f"Wrote {escape_path(utf8(str(file)))}", err=True)
    return DONE


def _find_document(memory: Memory, conversation: str | None, query: str | None, limit: int) -> Document | None:
    if conversation is not None:
        found = memory.load_conversation(conversation)
        return document_of_conversation(found) if found else None
    hits = memory.search(query or "", limit=limit)
    return document_of_hits(query or "", hits, memory.outcomes_of(hits)) if hits else None
