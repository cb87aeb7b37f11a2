"""Sessions of gptme to turns: `<session>/conversation.jsonl`, a message a line, with `config.toml` beside it.

Calls of tools stand in the answers, as blocks of code named after the tool or as a line with an object; what they gave is said
by the system, as all is that the client tells the model.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, read_session
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.thoughts import without_thoughts
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.text.timestamps import LOCAL, iso_utc

FORMAT = "gptme"
VERSION = 2

LOG = "conversation.jsonl"
ABOUT_IT = ("events.jsonl", "lesson-emissions.jsonl", "model_selection_trace.json")
"""Files beside it that say the same again, or only how it was made."""
CONTEXT = ("pinned", "hide")
"""Set where the client only says where it works."""
INTERRUPTED, DECLINED = "Interrupted by user", "Execution declined by user"

_CALL = re.compile(
    r"""
    ^(?P<fence>`{3,})(?P<tool>shell|bash|sh|ipython|python|save|append|patch|patch_many|morph|tmux|browser|read|vision|gh|todo)
        (?:[ ](?P<subject>[^\n]*))?\n(?P<body>.*?)(?:^(?P=fence)[ ]*$|\Z)
    |^@(?P<name>\w+)\((?P<id>[\w.:-]+)\):\ *(?P<input>\{[^\n]*)""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_SHELLS = frozenset({"shell", "bash", "sh"})
_RAN = re.compile(
    r"(?:Ran (?:allowlisted )?command|Command [^\n:]{1,60}):(?: `[^\n]*`|\n(`{3,})bash\n.*?\n\1)\s*", re.DOTALL
)
_WRAPPED = re.compile(r"^(?:`{3,}\w*|`([^\n]*)`)$", re.MULTILINE)
_CODE = re.compile(r"^(?:Return code:|Process interrupted \(return code:) (-?\d{1,9})\)?\s*\Z", re.MULTILINE)
_FAILED = re.compile(r"Error during execution|Command (?:timed out|killed|interrupted)|Patch failed")
_RAISED = re.compile(r"^Exception during execution", re.MULTILINE)


def recognise(source: SourceFile) -> bool:
    """Whether the file has the name and a line is a message that the client pinned or hides."""
    return source.path.name == LOG and any(
        isinstance(record.get("content"), str) and any(record.get(key) is True for key in CONTEXT)
        for record in source.sample
    )


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no messages."""
    session = _Session(source.path)
    if source.resumed is not None:
        session.waiting.extend(text_of(call) for call in list_of(source.resumed.state.get("waiting")))
    kept: Json = {"waiting": session.waiting}
    yield from read_session(source, session.telling, session.take, kept)


class _Session:
    """The turns of one file in the making."""

    def __init__(self, path: Path) -> None:
        self.telling = SessionBuilder(SessionInfo(path.parent.name or None, _workspace(path.with_name("config.toml"))))
        self.waiting: list[str] = []
        """Ids of calls that nothing has answered yet, the first first."""

    def take(self, item: Record) -> str | None:
        """Add what the message says; the reason why it says nothing that can be read, else None."""
        message = item.value
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            return "no message"
        text = text_of(message["content"])
        at = Position(item.line, iso_utc(text_of(message.get("timestamp")), LOCAL))
        match message.get("role"):
            case "user" if not text.startswith("<system"):
                self.telling.add_prompt(text, at)
            case "assistant":
                self._answered(text, at, text_of(mapping_of(message.get("metadata")).get("model")))
            case "system" if not any(message.get(key) is True for key in CONTEXT):
                self._gave(text, at, text_of(message.get("call_id")))
        return None

    def _answered(self, text: str, at: Position, model: str) -> None:
        self.telling.add_answer(_CALL.sub("", without_thoughts(text)), at, model)
        for found in _CALL.finditer(text):
            call_id = found["id"] or f"{at.line}:{found.start()}"
            self.telling.add_call(call_id, found["tool"] or found["name"], _input(found))
            self.waiting.append(call_id)

    def _gave(self, text: str, at: Position, call_id: str) -> None:
        """What a tool gave, the first that is waited for where it does not say which; else the client's own words."""
        if text in (INTERRUPTED, DECLINED):
            self.telling.queue.flag("interrupted")
        elif self.waiting:
            own_id = call_id if call_id in self.waiting else self.waiting[0]
            self.waiting.remove(own_id)
            self.telling.add_result(own_id, _output(text), at)
        else:
            self.telling.add_turn("system", "prompt", text, at)


def _input(found: re.Match[str]) -> object:
    """What the tool was given: an object as JSON, the lines of the block for a shell, else what stands behind its name."""
    if found["input"]:
        return found["input"]
    if found["tool"] in _SHELLS:
        return {"command": found["body"].strip()}
    subject = (found["subject"] or "").strip()
    return {"path": subject} if subject else {"description": found["body"].strip().partition("\n")[0]}


def _output(text: str) -> ToolResult:
    """What a tool gave, without what the client puts around it."""
    code = _CODE.search(text)
    failed = _FAILED.match(text) or _RAISED.search(text)
    words = _WRAPPED.sub(lambda found: found[1] or "", _RAN.sub("", _CODE.sub("", text), count=1))
    return ToolResult(words.strip(), int(code[1]) if code else None, failed=bool(failed or (code and code[1] != "0")))


def _workspace(config: Path) -> str | None:
    """The folder that the session works in, as its configuration says."""
    try:
        chat = mapping_of(tomllib.loads(read_sibling(config)).get("chat"))
    except tomllib.TOMLDecodeError:
        return None
    return folder_of(chat.get("workspace"))


GPTME = Format(
    name="gptme",
    version=2,
    detect=confident(recognise, 90),
    read=read,
    program="gptme",
    locations=lambda environment: iter([environment.folder("GPTME_LOGS_HOME", environment.data / "gptme" / "logs")]),
    companions=named_after({LOG: ABOUT_IT}),
)
