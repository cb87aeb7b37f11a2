"""Episodes that were written for the rules, each as a transcript of one of five programs, read by its reader.

`written/*.txt` has an episode after each line `=== program label`, a step a line:

    U words          the person           A words      the assistant
    $ command        a command            E file       an edit          W file     a new file        R file     a look at it
    | text           more of the line above, of a command its output                    ? code     its exit code
    T task=state; …  a list of what is to be done
    C commit         the client commits   X            the person stops it              XR file    an edit is refused
    XA text          an error of the client            N words    what the person says next

Programs: claude-code, codex, aider, opencode, chat.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from episodes import HERE, Episode, changes_of, episodes_of

from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Task, Turn

FOLDER = HERE / "written"
AT_HOME = "/home/p/app"


@dataclass
class Step:
    """A line of an episode with those that belong to it."""

    tag: str
    words: str
    more: list[str] = field(default_factory=list)
    code: int = 0

    @property
    def text(self) -> str:
        """Words on several lines."""
        return "\n".join([self.words, *self.more])

    @property
    def output(self) -> str:
        """Return the output of a command."""
        return "\n".join(self.more)


@dataclass(frozen=True)
class Written:
    """An episode as it was written."""

    place: str
    """File and number, such as `second 12`."""
    program: str
    label: str
    steps: tuple[Step, ...]


def written(name: str) -> Iterator[Written]:
    """Parse the episodes of a file."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    for number, block in enumerate(f"\n{text}".split("\n=== ")[1:], start=1):
        heading, *lines = block.splitlines()
        program, label = heading.split()
        steps: list[Step] = []
        for line in lines:
            tag, _, words = line.partition(" ")
            if tag == "|":
                steps[-1].more.append(words)
            elif tag == "?":
                steps[-1].code = int(words)
            else:
                steps.append(Step(tag, words))
        yield Written(f"{name} {number}", program, label, tuple(steps))


def episode_of(one: Written, folder: Path) -> Episode:
    """Write a transcript into the folder and return its first episode."""
    name, write = PROGRAMS[one.program]
    path = folder / one.place.replace(" ", "-") / name
    path.parent.mkdir()
    path.write_text(write(one.steps), encoding="utf-8")
    source = SourceFile(path)
    reader = detect_format(source)
    rows = list(reader.read(source)) if reader else []
    turns = [row for row in rows if isinstance(row, Turn)]
    planned = changes_of([row for row in rows if isinstance(row, Task)])
    found = next(episodes_of(one.place, turns, planned), None)
    if found:
        return found
    visible = [turn for turn in turns if turn.role != "user" or turn is turns[0]]
    return Episode(one.place, tuple(visible), "\n".join(turn.content for turn in turns[1:] if turn.role == "user"))


def todos_in(text: str) -> list[dict[str, str]]:
    """`Write it=completed; Test it=pending` as an agent's tool gets it."""
    named = (part.strip().partition("=") for part in text.split(";"))
    return [{"content": name, "status": state, "activeForm": name} for name, _, state in named]


def _clock(number: int) -> str:
    return f"2026-03-01T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z"


def _lines(records: list[dict[str, object]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def claude_code(steps: tuple[Step, ...]) -> str:  # noqa: C901 - a case for each tag, no more than that
    """Format a session of Claude Code, a record a line."""
    records: list[dict[str, object]] = []

    def add(kind: str, content: object, **more: object) -> None:
        number = len(records)
        message = {"id": f"m{number}", "role": kind, "model": "claude-sonnet-4-5", "content": content}
        common = {"type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
        session = {"sessionId": "s", "cwd": AT_HOME, "version": "2.0.1", "isSidechain": False}
        records.append(common | session | {"timestamp": _clock(number * 7), "message": message} | more)

    def use(name: str, subject: Mapping[str, object], answer: str, *, failed: bool = False) -> None:
        call = f"t{len(records)}"
        add("assistant", [{"type": "tool_use", "id": call, "name": name, "input": subject}])
        add("user", [{"type": "tool_result", "tool_use_id": call, "content": answer, "is_error": failed}])

    for step in steps:
        file = {"file_path": f"{AT_HOME}/{step.words}"}
        match step.tag:
            case "U" | "N":
                add("user", step.text)
            case "A":
                add("assistant", [{"type": "text", "text": step.text}])
            case "$":
                answer = f"Exit code {step.code}\n{step.output}" if step.code else step.output
                use("Bash", {"command": step.words}, answer, failed=bool(step.code))
            case "E":
                use("Edit", file | {"old_string": "a", "new_string": "b"}, "The file has been updated.")
            case "W":
                use("Write", file | {"content": "a"}, f"File created successfully at: {step.words}")
            case "R":
                use("Read", file, "     1→a")
            case "T":
                use("TodoWrite", {"todos": todos_in(step.words)}, "Todos have been modified successfully.")
            case "X":
                add("user", [{"type": "text", "text": "[Request interrupted by user]"}])
            case "XR":
                use("Edit", file, "The user doesn't want to proceed with this tool use.", failed=True)
                add("user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}])
            case "XA":
                add("assistant", [{"type": "text", "text": step.text}], isApiErrorMessage=True)
            case _:
                raise ValueError(step)
    return _lines(records)


def codex(steps: tuple[Step, ...]) -> str:
    """Format a rollout of Codex."""
    meta = {"id": "019cabb7-e893-7e40-ad43-000000000001", "cwd": AT_HOME, "originator": "codex_cli_rs", "source": "cli"}
    records: list[dict[str, object]] = [{"timestamp": _clock(0), "type": "session_meta", "payload": meta}]

    def add(kind: str, **payload: object) -> None:
        records.append({"timestamp": _clock(len(records) * 5), "type": kind, "payload": payload})

    def answer(call: str, kind: str, output: str, code: int) -> None:
        result = json.dumps({"output": f"{output}\n", "metadata": {"exit_code": code, "duration_seconds": 1.1}})
        add("response_item", type=kind, call_id=call, output=result)

    for step in steps:
        call = f"c{len(records)}"
        match step.tag:
            case "U" | "N":
                add("response_item", type="message", role="user", content=[{"type": "input_text", "text": step.text}])
                add("event_msg", type="user_message", message=step.text)
            case "A":
                blocks = [{"type": "output_text", "text": step.text}]
                add("event_msg", type="agent_message", message=step.text)
                add("response_item", type="message", role="assistant", content=blocks)
            case "$":
                command = json.dumps({"command": ["bash", "-lc", step.words]})
                add("response_item", type="function_call", name="shell", arguments=command, call_id=call)
                answer(call, "function_call_output", step.output, step.code)
            case "E" | "W":
                patch = (
                    f"*** Begin Patch\n*** {'Update' if step.tag == 'E' else 'Add'} File: {step.words}\n*** End Patch"
                )
                add("response_item", type="custom_tool_call", call_id=call, name="apply_patch", input=patch)
                answer(call, "custom_tool_call_output", f"Success. Updated the following files:\nM {step.words}", 0)
            case "X":
                add("event_msg", type="turn_aborted", reason="interrupted")
            case "XA":
                add("event_msg", type="error", message=step.text)
            case _:
                raise ValueError(step)
    return _lines(records)


def aider(steps: tuple[Step, ...]) -> str:
    """Aider's history of a chat."""
    lines = ["", "# aider chat started at 2026-03-01 10:11:12", "", "> Aider v0.86.1", "> Model: gpt-5", ""]
    for step in steps:
        match step.tag:
            case "U" | "N":
                lines += [*(f"#### {line}" for line in step.text.split("\n")), ""]
            case "A":
                lines += [step.text, "", "> Tokens: 3.2k sent, 250 received. Cost: $0.01 message, $0.03 session.", ""]
            case "E" | "W":
                lines += [f"> Applied edit to {step.words}"]
            case "C":
                lines += [f"> Commit {step.words}", ""]
            case "XA":
                lines += [f"> {step.words}", ""]
            case _:
                raise ValueError(step)
    return "\n".join(lines) + "\n"


def opencode(steps: tuple[Step, ...]) -> str:
    """Format a session as OpenCode exports it."""
    messages: list[dict[str, object]] = []

    def add(role: str, part: dict[str, object] | None, **more: object) -> None:
        number = len(messages)
        own = {"id": f"msg_{number:03d}", "sessionID": "ses_1", "role": role}
        time = {"created": 1_770_000_000_000 + number * 5000}
        parts = [part | {"id": f"prt_{number:03d}", "messageID": own["id"]}] if part else []
        messages.append({"info": own | {"time": time, "modelID": "gpt-5"} | more, "parts": parts})

    def use(tool: str, given: dict[str, str], output: str, code: int = 0) -> None:
        state = {"status": "completed", "input": given, "output": output, "metadata": {"exit": code}}
        add("assistant", {"type": "tool", "tool": tool, "state": state})

    for step in steps:
        match step.tag:
            case "U" | "N":
                add("user", {"type": "text", "text": step.text})
            case "A":
                add("assistant", {"type": "text", "text": step.text})
            case "$":
                use("bash", {"command": step.words}, step.output, step.code)
            case "E" | "W":
                use("edit" if step.tag == "E" else "write", {"filePath": f"{AT_HOME}/{step.words}"}, "Done.")
            case "X":
                add("assistant", None, error={"name": "MessageAbortedError", "data": {}})
            case "XA":
                add("assistant", None, error={"name": "APIError", "data": {"message": step.text}})
            case _:
                raise ValueError(step)
    info = {
        "id": "ses_1",
        "title": "t",
        "directory": AT_HOME,
        "version": "1.0.0",
        "time": {"created": 1_770_000_000_000},
    }
    return json.dumps({"info": info, "messages": messages}, indent=1)


def chat(steps: tuple[Step, ...]) -> str:
    """Format a dialogue in Markdown."""
    return "# Chat\n\n" + "".join(
        f"## {'User' if step.tag in 'UN' else 'Assistant'}\n\n{step.text}\n\n" for step in steps
    )


PROGRAMS: dict[str, tuple[str, Callable[[tuple[Step, ...]], str]]] = {
    "claude-code": ("session.jsonl", claude_code),
    "codex": ("rollout-2026-03-01T10-00-00-019cabb7-e893-7e40-ad43-000000000001.jsonl", codex),
    "aider": (".aider.chat.history.md", aider),
    "opencode": ("ses_1.json", opencode),
    "chat": ("chat.md", chat),
}
"""Name of the file and what it says."""
SETS = ("first", "second", "third", "fourth", "fifth", "sixth")
