"""The picker: a small full-screen search, for a person who types `pastchats-memory` alone."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from prompt_toolkit import Application
from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.layout.containers import AnyContainer
from prompt_toolkit.styles import Style
from wcwidth import wrap

from pastchats_memory.cli.options import open_memory
from pastchats_memory.errors import MemoryFault
from pastchats_memory.fields import OUTCOMES
from pastchats_memory.memory import Memory
from pastchats_memory.model import Hit, Item
from pastchats_memory.text.display import escape_name, format_time, one_line, sanitise
from pastchats_memory.text.truncate import keep_head
from pastchats_memory.views.task_text import render_task

LIMIT = 50
"""Results of a search."""
NEIGHBOURS = 3
"""Turns shown on each side of the selected one."""
WAIT_S = 0.08
"""Seconds after the last key before the search."""
PAGE = 10
"""Lines that PageUp and PageDown scroll."""
NARROW = 100
"""Columns below which the conversation stands under the results."""
SHOWN = 8000
"""Characters of the chosen turn."""
LINES_BEFORE = 6
"""Lines of the turns before the chosen one that stay in sight."""
BRIEF_LINES, BRIEF = 6, 600
"""Lines and characters of the turns around it."""
HELP = "Esc leave · Enter open · ↑ ↓ · Tab list: r resume, c copy · F2 project, F3 agent, F4 outcome"
STYLE = Style.from_dict({
    "chosen": "reverse", "faint": "ansibrightblack", "head": "bold", "status": "reverse", "mine": "bold ansigreen",
    "worked": "ansigreen", "failed": "ansired", "mixed": "ansiyellow", "stopped": "ansiblue",
})  # fmt: skip
FILTER = re.compile(r'\b(project|agent|outcome):(?:"([^"]*)"|(\S*)) ?')
"""A filter within the query, such as `agent:codex` or `project:"kiln works"`."""
UNITS = (("y", 365 * 86400), ("w", 7 * 86400), ("d", 86400), ("h", 3600), ("m", 60))


class Picker:
    """The state of the screen: the query, its results, the chosen one, and its conversation."""

    def __init__(self, memory: Memory) -> None:
        """Start with the newest sessions of an open memory."""
        self._memory = memory
        self._hits: Sequence[Hit] = ()
        self._titles: Mapping[str, str] = {}
        self._outcomes: Mapping[str, str] = {}
        self._chosen = 0
        self._scroll = 0
        self._preview: StyleAndTextTuples = []
        self._status = HELP
        self._query = Buffer(multiline=False, on_text_changed=lambda _: self._search_soon())
        self._list = FormattedTextControl(
            self._render_list, focusable=True, get_cursor_position=lambda: Point(0, self._chosen)
        )
        self._pending = self._searched = 0
        """Numbers of the last change of the query, and of the one whose results are shown."""
        self.application: Application[list[str] | None] = Application(
            Layout(self._arrange(), focused_element=self._query),
            key_bindings=self._bind_keys(),
            style=STYLE,
            full_screen=True,
        )

    def run(self) -> list[str] | None:
        """Return the arguments of the command that was chosen, such as `open 12`; None if the user left."""
        return self.application.run(pre_run=self._search_soon)

    # Layout

    def _arrange(self) -> AnyContainer:
        """Return the screen: query, results beside the conversation or above it, and a line of help."""

        def results() -> Window:
            return Window(self._list, wrap_lines=False, always_hide_cursor=True)

        def conversation() -> Window:
            control = FormattedTextControl(lambda: self._preview)
            return Window(control, wrap_lines=False, get_vertical_scroll=lambda _: self._scroll)

        is_narrow = Condition(lambda: get_app().output.get_size().columns < NARROW)
        wide = VSplit([results(), Window(width=1, char="│", style="class:faint"), conversation()], padding=1)
        narrow = HSplit([results(), Window(height=1, char="─", style="class:faint"), conversation()])
        prompt = Window(FormattedTextControl([("class:head", "search: ")]), width=8)
        status = FormattedTextControl(lambda: [("class:status", f" {self._status} ")])
        return HSplit([
            VSplit([prompt, Window(BufferControl(self._query))], height=1),
            Window(height=1, char="─", style="class:faint"),
            ConditionalContainer(wide, ~is_narrow),
            ConditionalContainer(narrow, is_narrow),
            Window(status, height=1, style="class:status"),
        ])  # fmt: skip

    def _render_list(self) -> StyleAndTextTuples:
        lines: StyleAndTextTuples = []
        for place, hit in enumerate(self._hits):
            style = "class:chosen" if place == self._chosen else ""
            outcome = self._outcomes.get(hit.id, "")
            outcome = "" if outcome == "unknown" else outcome
            lines.append((style or "class:faint", f"{describe_age(hit.timestamp):>4} "))
            lines.append((style or f"class:{outcome or 'faint'}", f"{outcome:7} "))
            agent = "task" if hit.task is not None else str(hit.metadata.get("format", ""))
            lines.append((style or "class:faint", f"{escape_name(agent)[:11]:11} "))
            lines.append((style, escape_name(self._titles[hit.id])))
            lines.append((style or "class:faint", f" · {escape_name(hit.source_project)}\n"))
        if not self._hits:
            lines.append(("class:faint", "Nothing found." if self._query.text.strip() else "Nothing is indexed yet."))
        return lines

    # Keys

    def _bind_keys(self) -> KeyBindings:
        keys, on_list = KeyBindings(), has_focus(self._list)
        everywhere: dict[str, Callable[[KeyPressEvent], object]] = {
            "escape": lambda event: event.app.exit(),
            "c-c": lambda event: event.app.exit(),
            "enter": lambda event: self._leave(event, "open"),
            "down": lambda _: self._choose(self._chosen + 1),
            "up": lambda _: self._choose(self._chosen - 1),
            "pagedown": lambda _: self._scroll_by(PAGE),
            "pageup": lambda _: self._scroll_by(-PAGE),
            "f2": lambda _: self._cycle("project", [one.project for one in self._memory.list_projects()]),
            "f3": lambda _: self._cycle("agent", self._memory.list_formats()),
            "f4": lambda _: self._cycle("outcome", OUTCOMES),
            "tab": lambda event: event.app.layout.focus(self._query if on_list() else self._list),
        }
        in_list: dict[str, Callable[[KeyPressEvent], object]] = {
            "r": lambda event: self._leave(event, "resume", "--run"),
            "c": self._copy,
            "j": everywhere["down"],
            "k": everywhere["up"],
            "/": everywhere["tab"],
        }
        for name, action in everywhere.items():
            keys.add(name, eager=name == "escape")(action)
        for name, action in in_list.items():
            keys.add(name, filter=on_list)(action)
        return keys

    def _leave(self, event: KeyPressEvent, *command: str) -> None:
        self._search_now()
        if self._hits:
            event.app.exit(result=[command[0], self._hits[self._chosen].id, *command[1:]])

    def _copy(self, event: KeyPressEvent) -> None:
        """Copy the text of the chosen result by the terminal's own clipboard (OSC 52), which also works over SSH."""
        self._search_now()
        if self._hits:
            text = sanitise(self._hits[self._chosen].content)
            event.app.output.write_raw(f"\x1b]52;c;{b64encode(text.encode()).decode()}\x07")
            event.app.output.flush()
            self._status = f"Copied {self._hits[self._chosen].id}"

    def _scroll_by(self, lines: int) -> None:
        self._scroll = max(0, self._scroll + lines)

    # Content

    def _cycle(self, name: str, values: Iterable[str]) -> None:
        """Put the next value of a filter into the query; after the last one, none."""
        choices = ["", *values]
        now = _read_filters(self._query.text).get(name, "")
        following = choices[(choices.index(now) + 1 if now in choices else 0) % len(choices)]
        others = "".join(found[0] for found in FILTER.finditer(self._query.text) if found[1] != name)
        value = f'"{following}"' if " " in following else following
        own = f"{name}:{value} " if following else ""
        self._query.text = f"{others}{own}{FILTER.sub('', self._query.text)}"
        self._query.cursor_position = len(self._query.text)

    def _search_soon(self) -> None:
        loop = self.application.loop
        self._pending += 1
        number = self._pending
        if loop is not None:
            loop.call_later(WAIT_S, lambda: self._search_now() if number == self._pending else None)

    def _search_now(self) -> None:
        """Search if the user has typed since the last search: a key acts on what is typed."""
        if self._searched == self._pending:
            return
        self._searched = self._pending
        try:
            self._find(FILTER.sub("", self._query.text).strip(), **_read_filters(self._query.text))
            self._choose(0)
        except MemoryFault as fault:  # it ends the picker, not only this call of the event loop
            self.application.exit(exception=fault)
            return
        self._status = HELP
        self.application.invalidate()

    def _find(self, text: str, project: str = "", agent: str = "", outcome: str = "") -> None:
        """Load the best hit of each conversation, or the newest conversations."""
        memory = self._memory
        outcome = outcome if outcome in OUTCOMES else ""  # it may be half typed
        if text:
            found = memory.search(
                text, limit=LIMIT, project=project or None, format=agent or None, outcome=outcome or None
            )
            hits, self._titles = list(found), memory.name_hits(found)
        else:
            hits = memory.list_recent(LIMIT, project=project or None, format=agent or None)
            titles = memory.name_conversations((hit.source_project, hit.conversation_id or "") for hit in hits)
            self._titles = {hit.id: titles[hit.source_project, hit.conversation_id or ""] for hit in hits}
        self._outcomes = memory.outcomes_of(hits, or_before=not text)
        if outcome and not text:
            hits = [hit for hit in hits if self._outcomes.get(hit.id) == outcome]
        best = {hit.conversation_id or hit.id: hit for hit in reversed(hits)}
        self._hits = [hit for hit in hits if best[hit.conversation_id or hit.id] is hit]

    def _choose(self, place: int) -> None:
        self._chosen = min(max(0, place), max(0, len(self._hits) - 1))
        self._scroll = 0
        self._preview = self._load_preview(self._hits[self._chosen]) if self._hits else []

    def _load_preview(self, hit: Hit) -> StyleAndTextTuples:
        columns = self.application.output.get_size().columns
        width = columns - 1 if columns < NARROW else columns // 2 - 2
        if hit.task is not None:
            return [("", _wrap(_shorten(render_task(hit.task)), width))]
        shown: StyleAndTextTuples = []
        for item in self._memory.show(hit.id, NEIGHBOURS):
            if is_chosen := str(item.id) == hit.id:
                self._scroll = max(0, sum(part[1].count("\n") for part in shown) - LINES_BEFORE)
            shown += [(part[0], _wrap(part[1], width)) for part in _render_turn(item, is_chosen=is_chosen)]
        return shown


def _wrap(text: str, columns: int) -> str:
    return "\n".join(piece for line in text.split("\n") for piece in (wrap(line, columns) or [""]))


def _render_turn(item: Item, *, is_chosen: bool) -> StyleAndTextTuples:
    """Return a turn with its speaker and time; of the others, and of what tools print, the first lines."""
    facts = " · ".join(filter(None, (escape_name(item.role), format_time(item.timestamp), f"id {item.id}")))
    mark = "▶ " if is_chosen else "  "
    style = "class:mine" if is_chosen else "class:head"
    brief = "\n".join(item.content[:BRIEF].strip().split("\n")[:BRIEF_LINES])
    end = "" if brief == item.content.strip() else " …"
    text = _shorten(item.content) if is_chosen else f"{sanitise(brief)}{end}"
    if item.role == "tool" and item.content.lstrip()[:1] in ("{", "["):
        text = f"({len(item.content):,} characters of data)"
    called = item.metadata.get("tools")
    calls = [f"⚙ {one_line(str(call))[:BRIEF]}\n" for call in (called if isinstance(called, list) else ())]
    return [(style, f"{mark}{facts}\n"), ("", f"{text}\n"), ("class:faint", "".join(calls)), ("", "\n")]


def _shorten(text: str) -> str:
    """Return what is shown of a text; every key would otherwise lay out megabytes."""
    return sanitise(text if len(text) <= SHOWN else f"{keep_head(text, SHOWN)}…")


def _read_filters(query: str) -> dict[str, str]:
    return {found[1]: found[2] or found[3] or "" for found in FILTER.finditer(query)}


def describe_age(timestamp: str | None, now: datetime | None = None) -> str:
    """Return how old a time is in its greatest unit, such as `3d`; empty for none."""
    if timestamp is None:
        return ""
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(timestamp)).total_seconds()
    return next((f"{int(seconds // size)}{unit}" for unit, size in UNITS if seconds >= size), "now")


def pick() -> list[str]:
    """Let the user search, and return the arguments of the command that they chose; empty if they left.

    Raises MemoryFault.
    """
    with open_memory(None) as memory:
        return Picker(memory).run() or []
