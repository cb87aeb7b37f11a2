"""Render a conversation, or the results of a search, as a document of Markdown or HTML that stands alone."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import NamedTuple

from pastchats_memory.episodes.conversation import StoredConversation, StoredEpisode
from pastchats_memory.model import Hit, Item
from pastchats_memory.search.hits import cited_place
from pastchats_memory.text.data_file import read_text
from pastchats_memory.text.display import counted, escape_name, format_time, one_line, remove_controls
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.views.page_markdown import quote_markdown, quote_output, render_html
from pastchats_memory.views.text import format_citation, note_citation, render_outcome

TITLE_WIDTH = 100
"""Characters."""
STYLE = "\n" + read_text(__file__, "document.css")
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    + b64encode(sha256(STYLE.encode()).digest()).decode()
    + "'"
)
"""Content security policy of an HTML document: its own style, and nothing else."""


class DocumentPart(NamedTuple):
    """A turn, or a result of a search."""

    role: str
    facts: tuple[str, ...]
    """Time, id, branch."""
    text: str
    calls: tuple[str, ...]
    """Labels of tool calls."""
    source: str
    is_aside: bool
    """Whether it is folded or set apart: results of tools, branches that were left."""


class DocumentSection(NamedTuple):
    """An episode, or one result."""

    title: str
    verdict: str
    """Empty without an outcome."""
    outcome: str
    """The outcome with its evidence."""
    done: tuple[str, ...]
    parts: tuple[DocumentPart, ...]


class Document(NamedTuple):
    """A page."""

    title: str
    facts: tuple[str, ...]
    sections: tuple[DocumentSection, ...]


def document_of_conversation(conversation: StoredConversation) -> Document:
    """Return a conversation as a document with a section for each episode."""
    items = [item for episode in conversation.episodes for item in episode.turns]
    first = next((item for item in items if item.role == "user"), items[0])
    times = [format_time(item.timestamp) for item in items if item.timestamp]
    span = f"{times[0]} to {times[-1]}" if times else ""
    agent = str(first.metadata.get("format", ""))
    facts = (f"Project {conversation.project}", agent, span, f"Conversation {conversation.id}")
    sections = tuple(
        _section_of_episode(number, episode) for number, episode in enumerate(conversation.episodes, start=1)
    )
    return Document(conversation.title, tuple(filter(None, facts)), sections)


def _section_of_episode(number: int, episode: StoredEpisode) -> DocumentSection:
    is_known = episode.outcome.is_known
    return DocumentSection(
        f"Episode {number}: {episode.title}" if episode.title else f"Episode {number}",
        episode.outcome.verdict if is_known else "",
        render_outcome(episode.outcome) if is_known else "",
        episode.done,
        tuple(_part_of_turn(item) for item in episode.turns),
    )


def _part_of_turn(item: Item) -> DocumentPart:
    tools, branch = item.metadata.get("tools"), str(item.metadata.get("branch", "main"))
    line = f":{item.source_line}" if item.source_line else ""
    note = note_citation(item.citation)
    facts = (format_time(item.timestamp), f"id {item.id}", "" if branch == "main" else branch)
    return DocumentPart(
        item.role,
        tuple(filter(None, facts)),
        item.content,
        tuple(map(str, tools if isinstance(tools, list) else ())),
        f"{cited_place(item).path}{line}" + (f" ({note})" if note else ""),
        item.role == "tool" or branch != "main",
    )


def document_of_hits(query: str, hits: Sequence[Hit], outcomes: Mapping[str, str]) -> Document:
    """Return the results of a search as a document with a section for each."""
    sections = tuple(
        DocumentSection(
            f"{hit.rank}. {hit.source_project}",
            outcomes.get(hit.id, ""),
            outcomes.get(hit.id, ""),
            (),
            (DocumentPart(hit.role, facts, hit.content, (), format_citation(hit), is_aside=False),),
        )
        for hit in hits
        for facts in [tuple(filter(None, (format_time(hit.timestamp), f"id {hit.id}")))]
    )
    title = one_line(excerpt(query, {}, TITLE_WIDTH)) or "Conversation"
    return Document(title, (counted(len(sections), "result"),), sections)


def render_markdown_document(document: Document) -> Iterator[str]:
    """Yield the lines of a document as Markdown; all text of transcripts is quoted."""
    yield f"# {escape_name(document.title)}"
    yield ""
    yield " · ".join(map(escape_name, document.facts))
    for section in document.sections:
        yield ""
        yield f"## {escape_name(section.title)}"
        if section.outcome:
            yield from ("", f"Outcome: {escape_name(section.outcome)}")
        if section.done:
            yield from ("", "Done:", *(f"- {escape_name(line)}" for line in section.done))
        for part in section.parts:
            yield ""
            yield f"**{escape_name(part.role)}** · {' · '.join(map(escape_name, part.facts))}"
            yield ""
            yield from (quote_output if part.role == "tool" else quote_markdown)(part.text).split("\n")
            if part.calls:
                yield from ("", *(f"- {escape_name(call)}" for call in part.calls))
            if part.source:
                yield from ("", f"Source: {escape_name(part.source)}")


def render_html_document(document: Document) -> Iterator[str]:
    """Yield the lines of a document as one HTML page, which runs no script and fetches nothing."""
    title = _escape(document.title)
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">'
    yield f"<title>{title}</title><style>{STYLE}</style></head><body>"
    yield f"<header><h1>{title}</h1>{_paragraph('facts', document.facts)}</header><main>"
    for number, section in enumerate(document.sections, start=1):
        yield f'<section id="section-{number}"><h2>{_escape(section.title)}</h2>'
        if section.outcome:
            verdict = _escape(section.verdict)
            yield f'<p class="outcome {verdict}">Outcome: {_escape(section.outcome)}</p>'
        if section.done:
            yield _list(section.done)
        for part in section.parts:
            yield from _render_part(part)
        yield "</section>"
    yield "</main></body></html>"


def _render_part(part: DocumentPart) -> Iterator[str]:
    head = f"<b>{_escape(part.role)}</b> · {' · '.join(map(_escape, part.facts))}"
    kind = "turn user" if part.role == "user" else "turn aside" if part.is_aside else "turn"
    yield f'<article class="{kind}">'
    yield f'<details><summary class="head">{head}</summary>' if part.is_aside else f'<p class="head">{head}</p>'
    printed = f"<pre>{escape(remove_controls(part.text))}</pre>"
    yield f'<div class="text">{printed if part.role == "tool" else render_html(part.text)}</div>'
    if part.calls:
        yield f'<details><summary class="head">Tool calls</summary>{_list(part.calls)}</details>'
    if part.source:
        yield _paragraph("source", [part.source])
    yield ("</details>" if part.is_aside else "") + "</article>"


def _paragraph(kind: str, facts: Iterable[str]) -> str:
    return f'<p class="{kind}">{" · ".join(map(_escape, facts))}</p>'


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li><code>{_escape(line)}</code></li>' for line in lines)}</ul>"


def _escape(text: str) -> str:
    return escape(one_line(text), quote=True)
