"""Read sessions of gptme: `<session>/conversation.jsonl`, a message a line.

`config.toml` beside it names the working directory. Tool calls stand in the answers, as code blocks named after the tool or
as a line with an object. Their results are messages in the system's role, as is everything else that the client adds.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import BadRecord, Position, SessionInfo, folder_of
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tags import is_tagged, opening_of, without_thoughts
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, mapping_of, text_of
from pastchats_memory.text.timestamps import LOCAL, iso_utc

LOG = "conversation.jsonl"
DERIVED = ("events.jsonl", "lesson-emissions.jsonl", "model_selection_trace.json")
"""Files beside the log that repeat it or describe how it was made."""
CONTEXT = ("pinned", "hide")
"""Keys that are true in messages with the client's context."""
CLIENT = opening_of(["system[a-z_-]{0,40}"])
"""Tags around what the client says in the user's role."""
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


def detect(source: SourceFile) -> int:
    """Return 90 for a log's file name and a pinned or hidden message, else 0."""
    if source.path.name != LOG:
        return 0
    return CERTAIN if any(isinstance(each.get("content"), str) and _is_context(each) for each in source.sample) else 0


def _is_context(message: Json) -> bool:
    return any(message.get(key) is True for key in CONTEXT)


class _Session(AgentSession):
    record_noun = "a message"

    def session_info(self) -> SessionInfo:
        path = self.source.path
        return SessionInfo(path.parent.name or None, _working_directory(path.with_name("config.toml")))

    def add_record(self, record: Json, line: int) -> None:
        if not isinstance(record.get("content"), str):
            raise BadRecord("no message")
        text = text_of(record["content"])
        at = Position(line, iso_utc(text_of(record.get("timestamp")), LOCAL))
        match record.get("role"):
            case "user" if not is_tagged(text, CLIENT):
                self.builder.add_prompt(text, at)
            case "assistant":
                self._add_answer(text, at, text_of(mapping_of(record.get("metadata")).get("model")))
            case "system" if not _is_context(record):
                call_id = text_of(record.get("call_id"))
                if text in (INTERRUPTED, DECLINED):
                    self.builder.queue.flag("interrupted")
                elif waiting := self.builder.waiting:
                    own_id = call_id if call_id in waiting else waiting[0]
                    self.builder.add_result(own_id, _parse_result(text), at)
                else:
                    self.builder.add_turn("system", "prompt", text, at)

    def _add_answer(self, text: str, at: Position, model: str) -> None:
        self.builder.add_answer(_CALL.sub("", without_thoughts(text)), at, model)
        for found in _CALL.finditer(text):
            call_id = found["id"] or f"{at.line}:{found.start()}"
            self.builder.add_call(call_id, found["tool"] or found["name"], _input_of(found))


def _input_of(found: re.Match[str]) -> object:
    """Return the input of a call: JSON text, a shell's command, or the tool's subject."""
    if found["input"]:
        return found["input"]
    if found["tool"] in _SHELLS:
        return {"command": found["body"].strip()}
    subject = (found["subject"] or "").strip()
    return {"path": subject} if subject else {"description": found["body"].strip().partition("\n")[0]}


def _parse_result(text: str) -> ToolResult:
    code = _CODE.search(text)
    failed = _FAILED.match(text) or _RAISED.search(text)
    words = _WRAPPED.sub(lambda found: found[1] or "", _RAN.sub("", _CODE.sub("", text), count=1))
    return ToolResult(words.strip(), int(code[1]) if code else None, failed=bool(failed or (code and code[1] != "0")))


def _working_directory(config: Path) -> str | None:
    """Return the working directory that a session's configuration names, or None."""
    try:
        chat = mapping_of(tomllib.loads(read_sibling(config)).get("chat"))
    except tomllib.TOMLDecodeError:
        return None
    return folder_of(chat.get("workspace"))


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the folder of the sessions."""
    yield environment.folder("GPTME_LOGS_HOME", environment.local_data("gptme", "gptme/gptme") / "logs")


GPTME = Format(
    "gptme", 3, detect, _Session.read, program="gptme", locations=locations, companions=named_after({LOG: DERIVED})
)
