"""Convert messages of OpenCode 2 to those of OpenCode 1: each has a type, with text and calls in one list.

Types and fields are those of `session-message.ts` in OpenCode's schema.
"""

from pastchats_memory.formats.agents.opencode.session import ABORTED, MESSAGE_PREFIX, Lines, StoredMessage, first_line
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of

SPEAKERS = {"user": "user", "shell": "user", "skill": "user", "assistant": "assistant", "compaction": "assistant"}
"""The role of each type of message. Other types have no text, such as a change of model or folder."""
_BEGUN, _DONE = "<shell ", "</shell>"


def parse_v2_message(value: object, line_of: Lines = first_line) -> StoredMessage | None:
    """Return the message of an object with id and type, without parts if it has no text; else None.

    Its record keeps `type`: such messages are in order already, and a queued prompt has an early id.
    """
    data = mapping_of(value)
    kind = text_of(data.get("type"))
    if not text_of(data.get("id")).startswith(MESSAGE_PREFIX) or not kind:
        return None
    error = text_of(mapping_of(data.get("error")).get("type"))
    info: Json = {
        "id": data.get("id"),
        "type": kind,
        "role": SPEAKERS.get(kind),
        "time": data.get("time"),
        "agent": data.get("agent"),
        "modelID": mapping_of(data.get("model")).get("id"),
        "summary": kind == "compaction",
        "error": {"name": ABORTED if error == "aborted" else error},
    }
    return StoredMessage(info, _parts(kind, data), line_of)


def _parts(kind: str, data: Json) -> list[Json]:
    parts: list[Json] = []
    match kind:
        case "user":
            files = objects_of(data.get("files"))
            shown = ({"type": "file", "mime": file.get("mime"), "filename": file.get("name")} for file in files)
            parts = [_text(data.get("text")), *shown]
        case "assistant":
            parts = [_content(part) for part in objects_of(data.get("content")) if not _is_torn(part)]
        case "shell":
            command = text_of(data.get("command"))
            output = text_of(mapping_of(data.get("output")).get("output"))
            parts = [_text(f"! {command}") | {"command": command}, _shell_call(command, output, data)]
        case "skill":
            parts = [_text(f"/{text_of(data.get('name'))}") | {"command": data.get("name")}]
        case "synthetic":
            # the result of a command in the background; one of the person has its own message
            text, command = text_of(data.get("text")), text_of(data.get("description"))
            output = text.partition(f'"{command}">\n')[2].rstrip().removesuffix(_DONE).rstrip()
            if text.startswith(_BEGUN):
                parts = [_shell_call(command, output, mapping_of(data.get("metadata")))]
        case "compaction":
            parts = [_text(data.get("summary"))]
    return parts


def _text(text: object) -> Json:
    return {"type": "text", "text": text}


def _is_torn(part: Json) -> bool:
    """Return whether a call is incomplete, and was never made."""
    return part.get("type") == "tool" and not isinstance(mapping_of(part.get("state")).get("input"), dict)


def _content(part: Json) -> Json:
    """Return a part unchanged, or a tool call in the form of version 1."""
    if part.get("type") != "tool":
        return part
    state, time = mapping_of(part.get("state")), mapping_of(part.get("time"))
    metadata = mapping_of(state.get("metadata") or state.get("structured"))
    error = text_of(mapping_of(state.get("error")).get("message"))
    command = text_of(mapping_of(state.get("input")).get("command"))
    data: Json = {
        "status": "error" if metadata.get("timeout") is True else state.get("status"),
        "input": state.get("input"),
        "error": "" if error == f"Unable to execute command: {command}" else error,
        "output": "\n\n".join(text_of(mapping_of(block).get("text")) for block in list_of(state.get("content"))),
        "metadata": metadata,
        "time": {"start": time.get("created"), "end": time.get("completed")},
    }
    return {"type": "tool", "id": part.get("id"), "tool": part.get("name"), "state": data}


def _shell_call(command: str, output: str, ended: Json) -> Json:
    state: Json = {"status": "completed", "input": {"command": command}, "output": output, "metadata": ended}
    return {"type": "tool", "tool": "shell", "state": state}
