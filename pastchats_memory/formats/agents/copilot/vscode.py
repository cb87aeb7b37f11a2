"""GitHub Copilot Chat sessions of VS Code: a request has the prompt and the parts of the response."""

import re
from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.agents.copilot.cli import CopilotSession, is_of_chat
from pastchats_memory.formats.agents.copilot.dialect import DIALECT
from pastchats_memory.formats.agents.copilot.vscode_log import is_beginning, replay
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.sibling_files import read_sibling_json
from pastchats_memory.formats.base.source import Element, SourceFile
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.model import Unreadable

MARKS = ("responderUsername", "initialLocation", "requesterUsername")
REQUEST = {"requestId", "message", "response"}
SHELLS = ("run_in_terminal", "copilot_runInTerminal")
DEEPEST = 50

_WORKSPACE = re.compile(r"workspace with the following folders?:[ \t]*\n[ \t]*-[ \t]*([^\n]+)")
_EMPTY_FENCE = re.compile(r"(?:(?<!\n\n)\n+)?^```\w*[ \t]*\n\s*^```[ \t]*$\n?", re.MULTILINE)
_EXIT_CODE = re.compile(r"(?:Command exited with code|exit code:?) (-?\d{1,9})", re.IGNORECASE)


def matches(source: SourceFile) -> bool:
    """Return whether a document has marks of VS Code and requests with messages, or the lines are a log or a transcript."""
    if source.shape == "jsonl":
        return any(is_beginning(record) for record in source.sample[:1]) or is_of_chat(source)
    session = mapping_of(source.outline) if source.shape == "json" else {}
    requests = list_of(session.get("requests"))
    keys = (mapping_of(request).keys() for request in requests)
    is_marked = any(mark in session for mark in MARKS) or any(names >= REQUEST for names in keys)
    has_messages = not requests or any(_prompt_of(mapping_of(request)) is not None for request in requests)
    return isinstance(session.get("requests"), list) and is_marked and has_messages


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order, and unreadable requests."""
    if is_of_chat(source):
        yield from CopilotSession.read(source)
        return
    builder: SessionBuilder | None = None
    for position, found in enumerate(_requests(source)):
        if isinstance(found, Unreadable):
            yield found
            continue
        session, value, line = found
        request = mapping_of(value)
        builder = builder or SessionBuilder(_about(session, request, source.path), DIALECT)
        if isinstance(_prompt_of(request), str):
            _add_record(builder, request, line)
        else:
            yield Unreadable(str(source.path), line, "a request without the text of a message")
        yield from builder.queue.pop_complete(position)
    if builder is not None:
        yield from builder.flush()


def _requests(source: SourceFile) -> Iterator[Unreadable | tuple[Json, object, int]]:
    if source.shape == "json":
        session = mapping_of(source.outline)
        for item in source.elements("requests"):
            yield (session, item.value, item.line) if isinstance(item, Element) else item
        return
    for found in replay(source):
        if isinstance(found, Unreadable):
            yield found
            continue
        session, lines = found
        for request in list_of(session.get("requests")):
            yield session, request, lines.get(text_of(mapping_of(request).get("requestId")), 1)


def _about(session: Json, first: Json, path: Path) -> SessionInfo:
    """Return the session's facts; an export without an id has that of its first request."""
    fallback = conversation_hash([("request", text_of(first.get("requestId")) or text_of(_prompt_of(first)))])
    workspace = mapping_of(read_sibling_json(path.parent.parent / "workspace.json"))
    folder = folder_of(workspace.get("folder")) or _folder_from_context(first)
    own_id, metadata = text_of(session.get("sessionId")), {"title": text_of(session.get("customTitle"))}
    return SessionInfo(own_id or fallback, folder, None, session.get("creationDate"), {**metadata})


def _folder_from_context(request: Json) -> str | None:
    """Return the first folder of the workspace from the request's context."""
    metadata = mapping_of(mapping_of(request.get("result")).get("metadata"))
    for part in objects_of(metadata.get("renderedGlobalContext")):
        if found := _WORKSPACE.search(text_of(part.get("text"))):
            return found[1].strip()
    return None


def _prompt_of(request: Json) -> object:
    """Return the prompt: a text in the first versions, later the text of the parsed message."""
    message = request.get("message")
    return message if isinstance(message, str) else mapping_of(message).get("text")


def _add_record(builder: SessionBuilder, request: Json, line: int) -> None:
    undone = request.get("isHidden") is True or request.get("shouldBeRemovedOnSend") is True
    branch, sent = "abandoned" if undone else "main", request.get("timestamp")
    result = mapping_of(request.get("result"))
    at = Position(line, sent, text_of(request.get("requestId")), branch)
    builder.add_prompt(DIALECT.parse_prompt(text_of(_prompt_of(request))).text, at)
    for reply in _replies(list_of(request.get("response"))):
        builder.add_prompt(reply, Position(line, sent, branch=branch))
    took = mapping_of(result.get("timings")).get("totalElapsed")
    done = sent + took if isinstance(sent, int) and isinstance(took, int) else sent
    at = Position(line, done, text_of(request.get("responseId")), branch)
    builder.add_answer(answer_of(list_of(request.get("response"))), at, text_of(request.get("modelId")))
    _tools(builder, request, at)
    fault = mapping_of(result.get("errorDetails"))
    if request.get("isCanceled") is True or fault.get("code") == "canceled":
        builder.queue.flag("interrupted")
    elif fault:
        builder.queue.flag("api_error")


def _replies(pieces: list[object]) -> Iterator[str]:
    """Return the person's answers to the agent's questions, each below its question."""
    for piece in map(mapping_of, pieces):
        chosen = mapping_of(piece.get("data"))
        questions = map(mapping_of, list_of(piece.get("questions")) if piece.get("kind") == "questionCarousel" else [])
        pairs = ((_words(each.get("message")) or _words(each.get("title")), each.get("id")) for each in questions)
        given = ((words, chosen.get(text_of(own_id))) for words, own_id in pairs)
        if replies := [f"{question}\n{reply}".strip() for question, value in given if (reply := _chosen(value))]:
            yield "\n\n".join(replies)


def _chosen(value: object) -> str:
    """Return an answer: typed, chosen, or both."""
    fields = mapping_of(value)
    several = value if isinstance(value, list) else [value]
    for key in ("selectedValues", "selectedValue", "freeformValue"):
        given = fields.get(key)
        several = [*several, *(given if isinstance(given, list) else [given])]
    return ", ".join(word for each in several if (word := text_of(each).strip()))


def answer_of(pieces: list[object]) -> str:
    """Return the text of a response: references stay in the sentence, tools divide it."""
    text, apart = "", False
    for piece in map(mapping_of, pieces):
        kind, value = piece.get("kind"), piece.get("value")
        words = ""
        if kind is None or text_of(kind).startswith("markdown"):
            words = _words(value) or _words(piece.get("content"))
        elif kind == "inlineReference":
            words = _name_of(piece.get("inlineReference"), piece.get("name"))
        elif kind != "codeblockUri":
            apart = True
        if words:
            text = f"{text.rstrip()}\n\n{words}" if apart and text.strip() else text + words
            apart = False
    return _EMPTY_FENCE.sub("\n", text).strip()


def _words(value: object) -> str:
    return text_of(value) or text_of(mapping_of(value).get("value"))


def _name_of(reference: object, name: object) -> str:
    target = mapping_of(reference)
    place = mapping_of(target.get("uri")) or mapping_of(mapping_of(target.get("location")).get("uri")) or target
    path = text_of(place.get("external")) or text_of(place.get("path")) or text_of(place.get("fsPath"))
    shown = text_of(name) or text_of(target.get("name")) or re.split(r"[/\\]", folder_of(path) or "")[-1]
    return f"`{shown}`" if shown else ""


def _tools(builder: SessionBuilder, request: Json, at: Position) -> None:
    """Add calls and results, in the form of the model or else of the screen."""
    metadata = mapping_of(mapping_of(request.get("result")).get("metadata"))
    answers = mapping_of(metadata.get("toolCallResults"))
    rounds = objects_of(metadata.get("toolCallRounds"))
    calls = [mapping_of(call) for round_ in rounds for call in list_of(round_.get("toolCalls"))]
    for call in calls:
        call_id = text_of(call.get("id"))
        builder.add_call(call_id, text_of(call.get("name")), call.get("arguments"))
        text = _text_in(mapping_of(answers.get(call_id)).get("content"), 0)
        builder.add_result(call_id, _output(text, of_shell=call.get("name") in SHELLS), at)
    if calls:
        return
    for piece in objects_of(request.get("response")):
        if piece.get("kind") == "toolInvocationSerialized":
            _add_shown_call(builder, piece, at)


def _add_shown_call(builder: SessionBuilder, piece: Json, at: Position) -> None:
    call_id, details = text_of(piece.get("toolCallId")), mapping_of(piece.get("resultDetails"))
    data = mapping_of(piece.get("toolSpecificData"))
    command = text_of(data.get("command")) or text_of(mapping_of(data.get("commandLine")).get("original"))
    description = _words(piece.get("pastTenseMessage")) or _words(piece.get("invocationMessage"))
    builder.add_call(call_id, text_of(piece.get("toolId")), {"command": command, "description": description})
    text = _text_in(details.get("output"), 0)
    builder.add_result(call_id, ToolResult(text, failed=details.get("isError") is True), at)


def _output(text: str, *, of_shell: bool) -> ToolResult:
    """Return a result: a terminal prints the exit code; otherwise only the first word shows a failure."""
    code = _EXIT_CODE.search(text[-400:]) if of_shell else None
    number = int(code[1]) if code else None
    return ToolResult(text, number, failed=bool(number) or text.startswith(("ERROR", "Error:")))


def _text_in(value: object, depth: int) -> str:
    """Return the text of a tool result, whose parts may be trees with `text` at the leaves."""
    if isinstance(value, str):
        return value
    if depth > DEEPEST:
        return ""
    if isinstance(value, list):
        return "".join(_text_in(part, depth + 1) for part in value)
    node = mapping_of(value)
    inner = (node.get(key) for key in ("value", "text", "node", "children") if key in node)
    return "".join(_text_in(part, depth + 1) for part in inner)
