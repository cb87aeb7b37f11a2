"""Show a conversation as it was: turns, folded tool calls, branches, and episodes with their outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from pastchats_memory.episodes import list_recorded
from pastchats_memory.episodes.actions import changed_files
from pastchats_memory.episodes.conversation import PART_TURNS, ConversationPart, EpisodePart
from pastchats_memory.episodes.titles import find_title
from pastchats_memory.http.answers import RequestError
from pastchats_memory.http.page.answers import Download, PageRequest, Redirect, Reply, WebPage, make_url, require
from pastchats_memory.http.page.highlight import SHOWN, mark_html
from pastchats_memory.http.page.words import escape_text
from pastchats_memory.memory import Memory
from pastchats_memory.model import Item
from pastchats_memory.model.ids import leads_to_task, number_of
from pastchats_memory.store.outcomes import Ended, Quotation
from pastchats_memory.store.turns import SubagentTurns
from pastchats_memory.text.display import shorten_line
from pastchats_memory.views.calls import show_call
from pastchats_memory.views.code import render_code
from pastchats_memory.views.document import (
    Document,
    document_of_conversation,
    render_html_document,
    render_markdown_document,
)
from pastchats_memory.views.packet import render_packet
from pastchats_memory.views.page_markdown import render_html

OUTLINE_WIDTH = 70
MOST_COMPARED = 3
"""The last episodes with edits of a part whose lines are looked up in HEAD, each file by a process of git."""
CALL_SIZE, WHOLE_SIZE, TURN_SIZE = 6_000, 400_000, 20_000
"""Characters of each text of a tool call, among others and alone, and of a turn: people paste megabytes."""
BRANCHES = {"abandoned": "An abandoned branch", "sidechain": "A subagent"}


class ShownTurn(NamedTuple):
    """A turn as the page shows it."""

    item: Item
    text: Markup
    is_cited: bool
    """Whether the reader came for it."""
    is_folded: bool
    """Whether it is folded at first: results of tools, and context that a program wrote."""
    subagents: Sequence[SubagentTurns]
    """Those that were started behind it."""
    cut: int
    """Characters that are left out."""


class Group(NamedTuple):
    """Turns of one branch."""

    branch: str
    """What the branch is; empty for the main one."""
    turns: Sequence[ShownTurn]
    is_open: bool


class ShownEpisode(NamedTuple):
    """An episode as the page shows it."""

    part: EpisodePart
    is_continued: bool
    """Whether it begins before this part of the conversation."""
    shown_url: str
    """Address of the words that show the outcome; empty if they stand elsewhere."""
    groups: Sequence[Group]


class OutlineEntry(NamedTuple):
    """An episode in the outline."""

    ended: Ended
    title: str
    url: str
    shown_url: str
    """Address of the words that show the outcome; empty without any."""
    is_here: bool


def show_turn(memory: Memory, request: PageRequest) -> Reply:
    """Lead to a turn in its conversation, or to a task; show a note or `whole` turn.

    Raises RequestError.
    """
    id_ = request.query.get("id", "")
    if leads_to_task(id_):
        return Redirect(make_url("/page/task", key=id_))
    found = memory.show(id_, 0) if number_of(id_) is not None else []
    item, query = require(next(iter(found), None), "turn"), request.query.get("query", "")
    if item.conversation_id is None or "whole" in request.query:
        turn = _show_turn(item, item.id, query, (), (), None if "whole" in request.query else TURN_SIZE)
        return WebPage("note", {"turn": turn, "item": item})
    place = {"id": item.conversation_id, "project": item.project, "part": item.turn_index // PART_TURNS + 1}
    return Redirect(f"{make_url('/page/conversation', **place, turn=id_, query=query)}#turn-{item.id}")


def show_handoff(memory: Memory, request: PageRequest) -> WebPage:
    """Show what another agent needs to go on with a conversation. Raises RequestError."""
    id_ = request.query.get("id", "")
    packet = require(memory.handoff(id_), "conversation", "Or there is nothing in it to hand over.")
    return WebPage("handoff", {"id": id_, "title": packet.title, "text": render_packet(packet)})


def show_calls(memory: Memory, request: PageRequest) -> WebPage:
    """Show the tool calls of a turn, those that changed `file`, or one at length. Raises RequestError, UsageFault."""
    id_ = request.query.get("id", "")
    item = require(next(iter(memory.show(id_, 0)), None), "turn")
    chosen, file = number_of(request.query.get("call", "")), request.query.get("file", "")
    found = memory.read_calls(id_)
    calls = [
        (number, show_call(call, CALL_SIZE if chosen is None else WHOLE_SIZE))
        for number, call in enumerate(found or (), start=1)
        if chosen in (None, number)
        and (not file or (call.edit is not None and any(file in path for path in call.edit.paths)))
    ]
    values = {"item": item, "calls": calls, "is_gone": found is None, "chosen": chosen, "file": file}
    return WebPage("calls", {**values, "labels": list_recorded(item, "tools")})


def show_conversation(memory: Memory, request: PageRequest) -> WebPage:
    """Show a part of a conversation. Raises RequestError."""
    number = number_of(request.query.get("part", "1")) or 1
    found = memory.load_conversation_part(request.query.get("id", ""), number, project=request.query.get("project"))
    part = require(found, "conversation")
    cited, query = number_of(request.query.get("turn", "")), request.query.get("query", "")
    items = [item for one in part.episodes for item in one.episode.turns]
    if not items:
        raise RequestError(404, "not_found", "there is nothing in this part of the conversation")
    first = next((item for item in items if item.role == "user"), items[0])
    given, given_later = memory.count_given(part.id)
    links = {step: _link(part, part.number + step) for step in (-1, 1)}
    subagents = _place_subagents(part, items)
    edited = {one.number: item for one in part.episodes for item in one.episode.turns if any(changed_files(item))}
    shown: dict[int, list[str]] = {}
    for quotation in (one for entry in part.outline if entry.ending.shown_by for one in entry.ending.evidence):
        shown.setdefault(quotation.id, []).append(quotation.text)  # the next message may show how an episode ended
    return WebPage(
        "conversation",
        {
            "conversation": part,
            "title": part.title,
            "agent": str(first.metadata.get("format", "")),
            "since": part.outline[0].timestamp if part.outline else first.timestamp,
            "resume": memory.find_resumption(str(first.id)),
            "given": given,
            "given_later": given_later,
            "episodes": [_show_episode(part, one, cited, query, subagents, shown) for one in part.episodes],
            "kept": {one: memory.count_standing_lines_of(edited[one]) for one in list(edited)[-MOST_COMPARED:]},
            "outline": list(_outline(part)),
            "tasks": memory.tasks.list_of_conversation(part.id),
            "previous": links[-1] if part.number > 1 else None,
            "next": links[1] if part.number < part.parts else None,
        },
    )


def download_markdown(memory: Memory, request: PageRequest) -> Download:
    """Return a whole conversation as Markdown. Raises RequestError."""
    return Download("\n".join(render_markdown_document(_document(memory, request))), "text/markdown", "conversation.md")


def download_html(memory: Memory, request: PageRequest) -> Download:
    """Return a whole conversation as a page that stands alone. Raises RequestError."""
    return Download("\n".join(render_html_document(_document(memory, request))), "text/html", "conversation.html")


def _document(memory: Memory, request: PageRequest) -> Document:
    return document_of_conversation(require(memory.load_conversation(request.query.get("id", "")), "conversation"))


def _link(part: ConversationPart, number: int) -> str:
    return make_url("/page/conversation", id=part.id, project=part.project, part=number if number > 1 else None)


def _outline(part: ConversationPart) -> Iterator[OutlineEntry]:
    here = {one.number for one in part.episodes}
    for number, one in enumerate(part.outline, start=1):
        title = shorten_line(find_title([one.text]) or one.text, OUTLINE_WIDTH)
        url = f"{_link(part, one.ending.first_index // PART_TURNS + 1)}#episode-{number}"
        shown_url = _link_shown(part, one.ending.evidence[-1]) if one.ending.shown_by else ""
        yield OutlineEntry(one, title, url, shown_url, number in here)


def _link_shown(part: ConversationPart, shown: Quotation) -> str:
    return f"{_link(part, shown.turn_index // PART_TURNS + 1)}#shown-{shown.id}"


def _place_subagents(part: ConversationPart, items: Sequence[Item]) -> dict[int, list[SubagentTurns]]:
    """Return the subagents that were started in a part, by the id of the turn behind which they stand."""
    placed: dict[int, list[SubagentTurns]] = {}
    for one in part.subagents:
        before = [item for item in items if (item.timestamp or "") <= (one.started or "")]
        if before[-1:] != items[-1:] or part.number == part.parts:
            place = before[-1] if before else items[0]
            if before or part.number == 1:
                placed.setdefault(place.id, []).append(one)
    return placed


def _show_episode(
    part: ConversationPart, one: EpisodePart, cited: int | None, query: str, subagents: Mapping[int, Sequence[SubagentTurns]],
    shown: Mapping[int, Sequence[str]],
) -> ShownEpisode:  # fmt: skip
    outcome, ended = one.episode.outcome, one.ended
    evidence = ended.ending.evidence if ended else ()
    shown_url = next((_link_shown(part, one) for one in evidence if one.text == outcome.shown_by), "")
    groups = []
    for branch, turns in groupby(one.episode.turns, key=lambda item: str(item.metadata.get("branch", "main"))):
        own = [_show_turn(item, cited, query, shown.get(item.id, ()), subagents.get(item.id, ())) for item in turns]
        is_open = part.parent is not None or any(turn.is_cited or turn.item.id in shown for turn in own)
        groups.append(Group(BRANCHES.get(branch, ""), own, is_open))
    is_continued = ended is not None and ended.ending.first_index < one.episode.turns[0].turn_index
    return ShownEpisode(one, is_continued, shown_url, groups)


def _show_turn(
    item: Item, cited: int | None, query: str, quotations: Sequence[str], subagents: Sequence[SubagentTurns],
    size: int | None = TURN_SIZE,
) -> ShownTurn:  # fmt: skip
    is_cited, content = item.id == cited, item.content[:size]
    printed = f"<pre>{escape_text(content)}</pre>" if item.role == "tool" else render_html(content, render_code)
    marked = mark_html(printed, query if is_cited else "", quotations)
    text = Markup(str(marked).replace(SHOWN, f'{SHOWN[:-1]} id="shown-{item.id}">', 1))  # noqa: S704 - only the id is added # nosec B704
    is_folded = item.role in ("tool", "system") and not is_cited and not quotations
    return ShownTurn(item, text, is_cited, is_folded, subagents, len(item.content) - len(content))
