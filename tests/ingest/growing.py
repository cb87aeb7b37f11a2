"""Sessions of so many exchanges, as the programs write them that append to one file: a prompt and its answer, a record a line."""

from __future__ import annotations

SESSION = "5d0f6c1e-7a42-4c59-9b1e-0c4f2a9d7e31"
CWD = "/home/mira/src/courier"


def _at(turn: int, second: int) -> str:
    return f"2026-03-{1 + turn // 480:02d}T{8 + turn // 60 % 8:02d}:{turn % 60:02d}:{second:02d}.123Z"


def _seconds(turn: int, second: int) -> float:
    return 1_772_000_000.5 + 60 * turn + second


def _asks(turn: int) -> str:
    return f"Please fix bug {turn % 7}."


def _says(turn: int) -> str:
    return f"Bug {turn % 7} is fixed."


def _id(turn: int, side: int) -> str:
    return f"00000000-0000-4000-8000-{2 * turn + side:012d}"


def _linked(turn: int, side: int, own: str, above: str) -> dict[str, object]:
    place = 2 * turn + side
    return {own: _id(turn, side), above: _id(0, place - 1) if place else None}


def codex(turn: int) -> list[dict[str, object]]:
    def line(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": _at(turn, 1), "type": kind, "payload": payload}

    asked = [{"type": "input_text", "text": _asks(turn)}]
    answer = [{"type": "output_text", "text": _says(turn)}]
    return [
        *([] if turn else [line("session_meta", id=SESSION, timestamp=_at(0, 0), cwd=CWD, instructions="Be kind. " * 50)]),
        line("turn_context", cwd=CWD, model="gpt-5-codex"),
        line("response_item", type="message", role="user", content=asked),
        line("event_msg", type="user_message", message=_asks(turn)),
        line("response_item", type="message", role="assistant", content=answer),
        line("event_msg", type="agent_message", message=_says(turn)),
    ]  # fmt: skip


def copilot_cli(turn: int) -> list[dict[str, object]]:
    def event(side: int, kind: str, **data: object) -> dict[str, object]:
        return {"type": kind, "data": data, "timestamp": _at(turn, side), **_linked(turn, side, "id", "parentId")}

    start = event(0, "session.start", sessionId=SESSION, context={"cwd": CWD, "branch": "main"})
    messages = [event(0, "user.message", content=_asks(turn)), event(1, "assistant.message", content=_says(turn))]
    return messages if turn else [start | {"id": "start"}, *messages]


def gemini_cli(turn: int) -> list[dict[str, object]]:
    header = {"sessionId": SESSION, "projectHash": "c0ffee" * 10, "startTime": _at(0, 0)}
    asked = {"id": _id(turn, 0), "timestamp": _at(turn, 1), "type": "user", "content": _asks(turn)}
    record = {"id": _id(turn, 1), "timestamp": _at(turn, 2), "type": "gemini", "content": _says(turn)}
    call = {"id": f"call{turn}", "name": "read_file", "args": {"path": "bug.py"}, "status": "success"}
    grown = record | {"toolCalls": [call]}
    return [*([] if turn else [header]), asked, record, grown, {"$set": {"lastUpdated": _at(turn, 3)}}]


def qwen_code(turn: int) -> list[dict[str, object]]:
    def record(side: int, role: str, text: str) -> dict[str, object]:
        message = {"role": role, "parts": [{"text": text}]}
        kind = "user" if role == "user" else "assistant"
        about = {"sessionId": SESSION, "timestamp": _at(turn, side), "type": kind, "cwd": CWD, "message": message}
        return _linked(turn, side, "uuid", "parentUuid") | about

    return [record(0, "user", _asks(turn)), record(1, "model", _says(turn))]


def pi(turn: int) -> list[dict[str, object]]:
    def entry(side: int, role: str, text: str) -> dict[str, object]:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        return {"type": "message", "timestamp": _at(turn, side), "message": message} | _linked(
            turn, side, "id", "parentId"
        )

    header = {"type": "session", "version": 3, "id": SESSION, "timestamp": _at(0, 0), "cwd": CWD}
    messages = [entry(0, "user", _asks(turn)), entry(1, "assistant", _says(turn))]
    return messages if turn else [header, *messages]


def droid(turn: int) -> list[dict[str, object]]:
    def entry(side: int, role: str, text: str) -> dict[str, object]:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        return {"type": "message", "timestamp": _at(turn, side), "message": message} | _linked(
            turn, side, "id", "parentId"
        )

    header = {"type": "session_start", "id": SESSION, "title": "bugs", "version": 2, "cwd": CWD}
    messages = [entry(0, "user", _asks(turn)), entry(1, "assistant", _says(turn))]
    return messages if turn else [header, *messages]


def kiro_cli(turn: int) -> list[dict[str, object]]:
    def record(kind: str, side: int, text: str, **more: object) -> dict[str, object]:
        data = {"message_id": _id(turn, side), "content": [{"kind": "text", "data": text}], **more}
        return {"version": "v1", "kind": kind, "data": data}

    asked = record("Prompt", 0, _asks(turn), meta={"timestamp": _seconds(turn, 0)})
    return [asked, record("AssistantMessage", 1, _says(turn))]


def antigravity(turn: int) -> list[dict[str, object]]:
    def step(side: int, source: str, kind: str, **more: object) -> dict[str, object]:
        place = {"step_index": 4 * turn + side, "created_at": _at(turn, side), "status": "DONE"}
        return {"source": source, "type": kind, **place, **more}

    call = {"name": "run_command", "args": {"CommandLine": '"make test"', "Cwd": f'"{CWD}"'}}
    return [
        step(0, "USER_EXPLICIT", "USER_INPUT", content=f"<USER_REQUEST>\n{_asks(turn)}\n</USER_REQUEST>"),
        step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[call]),
        step(2, "MODEL", "RUN_COMMAND", content="3 failed", exit_code=2),
        step(3, "MODEL", "PLANNER_RESPONSE", content=_says(turn)),
    ]


def kimi(turn: int) -> list[dict[str, object]]:
    def event(side: int, kind: str, **more: object) -> dict[str, object]:
        return {"type": kind, "time": int(1000 * _seconds(turn, side)), **more}

    def piece(text: str) -> dict[str, object]:
        part = {"type": "content.part", "part": {"type": "text", "text": text}}
        return event(1, "context.append_loop_event", event=part)

    asked, answer = [{"type": "text", "text": _asks(turn)}], _says(turn)
    return [
        event(0, "turn.prompt", input=asked, origin={"kind": "user"}),
        event(0, "context.append_message", message={"role": "user", "content": asked, "origin": {"kind": "user"}}),
        piece(answer[:5]),
        piece(answer[5:]),
    ]


def grok(turn: int) -> list[dict[str, object]]:
    def update(side: int, what: str, **more: object) -> dict[str, object]:
        params = {"sessionId": SESSION, "update": {"sessionUpdate": what, **more}}
        return {"timestamp": int(_seconds(turn, side)), "method": "session/update", "params": params}

    def chunks(side: int, what: str, text: str) -> list[dict[str, object]]:
        return [update(side, what, content={"type": "text", "text": part}) for part in ("\n", text[:5], text[5:])]

    call = {"toolCallId": f"t{turn}", "kind": "execute"}
    return [
        *chunks(0, "user_message_chunk", _asks(turn)),
        update(1, "tool_call", title="`make test`", status="pending", **call),
        update(2, "tool_call_update", status="failed", rawOutput="3 failed", **call),
        *chunks(3, "agent_message_chunk", _says(turn)),
    ]


def agent_log(turn: int) -> list[dict[str, object]]:
    call = {"id": f"t{turn}", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make test"}'}}
    return [
        {"role": "user", "content": _asks(turn), "timestamp": _at(turn, 0)},
        {"role": "assistant", "content": "", "tool_calls": [call], "timestamp": _at(turn, 1)},
        {
            "role": "tool",
            "tool_call_id": f"t{turn}",
            "content": "stdout: 3 failed\nreturncode: 2",
            "timestamp": _at(turn, 2),
        },
        {"role": "assistant", "content": _says(turn), "timestamp": _at(turn, 3)},
    ]


def openhands(turn: int) -> list[dict[str, object]]:
    def event(side: int, source: str, text: str) -> dict[str, object]:
        message = {"content": [{"type": "text", "text": text}]}
        about = {"id": _id(turn, side), "timestamp": _at(turn, side), "source": source, "kind": "MessageEvent"}
        return about | {"llm_message": message}

    return [event(0, "user", _asks(turn)), event(1, "agent", _says(turn))]


def goose(turn: int) -> list[dict[str, object]]:
    def message(side: int, role: str, text: str) -> dict[str, object]:
        return {"role": role, "created": int(_seconds(turn, side)), "content": [{"type": "text", "text": text}]}

    header = {"working_dir": CWD, "description": "bugs", "message_count": 2}
    messages = [message(0, "user", _asks(turn)), message(1, "assistant", _says(turn))]
    return messages if turn else [header, *messages]


def cursor(turn: int) -> list[dict[str, object]]:
    def message(role: str, text: str) -> dict[str, object]:
        return {"role": role, "message": {"content": [{"type": "text", "text": text}]}}

    return [message("user", f"<user_query>\n{_asks(turn)}\n</user_query>"), message("assistant", _says(turn))]


def prompt_history(turn: int) -> list[dict[str, object]]:
    return [{"display": _asks(turn), "pastedContents": {}, "timestamp": int(_seconds(turn, 0) * 1000), "project": CWD}]


def openai_messages(turn: int) -> list[dict[str, object]]:
    messages = [{"role": "user", "content": _asks(turn)}, {"role": "assistant", "content": _says(turn)}]
    return [{"messages": messages, "id": f"set{turn % 9}"}]


def sharegpt(turn: int) -> list[dict[str, object]]:
    messages = [{"from": "human", "value": _asks(turn)}, {"from": "gpt", "value": _says(turn)}]
    return [{"id": f"set{turn % 9}", "conversations": messages}]


FORMATS = (
    codex,
    copilot_cli,
    gemini_cli,
    qwen_code,
    pi,
    droid,
    kiro_cli,
    antigravity,
    kimi,
    grok,
    agent_log,
    openhands,
    goose,
    cursor,
    prompt_history,
    openai_messages,
    sharegpt,
)


def named(made: object) -> str:
    """The format's name."""
    return str(getattr(made, "__name__", made)).replace("_", "-")
