"""A chat request goes in, the same with what is remembered of its question goes on, and the answer comes back with sources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import orjson
from starlette.responses import Response, StreamingResponse

from pastchats_memory.errors import UsageFault
from pastchats_memory.http.answers import Refused, encoded, error_answer, error_body, json_answer
from pastchats_memory.http.parameters import LONGEST_QUERY
from pastchats_memory.http.routes import excerpt_json
from pastchats_memory.model import RECALL_PREAMBLE, Context
from pastchats_memory.views.text import one_line

LONGEST_LINE = 4 << 20
"""Bytes of an event."""
LONGEST_ANSWER = 64 << 20
"""Bytes."""
LONGEST_COMPLAINT = 300
"""Characters."""
SOURCES = "X-Memory-Sources"
PASSED_BACK = ("content-type", "retry-after", "x-request-id")
MOST_IDS = 40
_DONE = b"[DONE]"


@dataclass(frozen=True, slots=True)
class Upstream:
    """The chat endpoint. Raises UsageFault where its address is none."""

    base: str
    """Such as https://api.openai.com/v1."""
    key: str | None = None
    seconds: float = 300.0
    """Without a byte, after which it is given up."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageFault("the chat endpoint is no URL", "It looks like https://api.openai.com/v1")

    @property
    def host(self) -> str:
        """Whom the chat goes to, without what may be secret of the URL."""
        parts = urlsplit(self.base)
        return f"{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    def client(self) -> httpx.AsyncClient:
        """Keeps its connections; follows no redirection, which would take the key elsewhere."""
        return httpx.AsyncClient(timeout=httpx.Timeout(self.seconds, connect=min(10.0, self.seconds)))

    def fault(self, why: str) -> Refused:
        """502."""
        return Refused(502, "upstream", f"the chat endpoint {self.host} failed: {why}", "Check `chat_endpoint`.")

    def translated(self, fault: httpx.HTTPError) -> Refused:
        """What went wrong on the way, as 504 or 502."""
        if isinstance(fault, httpx.TimeoutException):
            why = f"the chat endpoint {self.host} said nothing for {self.seconds:g} seconds"
            return Refused(504, "upstream", why, "Try again later, or give it longer: `chat_timeout`.")
        return self.fault(type(fault).__name__)


def parsed(body: bytes) -> dict[str, Any]:
    """A chat request. Raises Refused."""
    try:
        chat = orjson.loads(body)
    except orjson.JSONDecodeError as fault:
        raise Refused(400, "usage", f"the body is no JSON: {fault.msg}") from fault
    messages = chat.get("messages") if isinstance(chat, dict) else None
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        hint = '{"model": "…", "messages": [{"role": "user", "content": "…"}]}'
        raise Refused(400, "usage", "the body is no chat request", f"It looks like {hint}")
    if not isinstance(chat.get("stream"), bool | None):
        raise Refused(400, "usage", "stream is true or false")
    if not isinstance(chat.get("model", ""), str):
        raise Refused(400, "usage", "model is a text")
    return dict(chat)


def _is_message(one: object) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("role"), str):
        return False
    content = one.get("content")
    return (
        content is None
        or isinstance(content, str)
        or (isinstance(content, list) and all(isinstance(part, dict) for part in content))
    )


def question_of(chat: Mapping[str, Any]) -> str:
    """The text of the last message that a user wrote, its beginning and end where it is long; empty without one."""
    content = next((one.get("content") for one in reversed(chat["messages"]) if one["role"] == "user"), None)
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    text: str = content or ""
    half = LONGEST_QUERY // 2
    return text if len(text) <= LONGEST_QUERY else f"{text[:half]}\n{text[-half:]}"


def with_context(chat: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The same request, the context before the last user's words.

    It is put there and not into a system message: what was said in old conversations has no more authority than the
    user, models without a system role take it, and what a provider caches of the messages before stays the same.
    """
    if not context.items:
        return dict(chat)
    text = f"{RECALL_PREAMBLE}\n\n{context.text}\n"
    messages = [*chat["messages"]]
    place = max(number for number, one in enumerate(messages) if one["role"] == "user")
    content = messages[place].get("content")
    added = [{"type": "text", "text": text}, *content] if isinstance(content, list) else f"{text}\n{content or ''}"
    messages[place] = {**messages[place], "content": added}
    return {**chat, "messages": messages}


def sources_of(context: Context) -> list[dict[str, Any]]:
    """What was added, by item."""
    return [excerpt_json(item.hit, item.excerpt) for item in context.items]


async def passed_on(
    client: httpx.AsyncClient,
    upstream: Upstream,
    chat: Mapping[str, Any],
    sources: list[dict[str, Any]],
    authorization: str | None,
) -> Response:
    """The endpoint's answer, whole or as it comes, with the sources.

    Args:
        client: of the endpoint.
        upstream: the endpoint.
        chat: the request with its context.
        sources: of the context.
        authorization: the client's own header, which counts where no key is configured.

    Raises:
        Refused: the endpoint failed.
    """
    reply = await _asked(client, upstream, "chat/completions", authorization, encoded(chat))
    back = _passed_back(reply)
    back[SOURCES] = ",".join(quote(one["id"], safe=":") for one in sources[:MOST_IDS])
    if reply.is_success and "text/event-stream" in back.get("content-type", ""):
        return StreamingResponse(_streamed(upstream, reply, sources), headers={**back, "Cache-Control": "no-store"})
    return _answered(upstream, reply, await _whole(upstream, reply), back, {"sources": sources})


async def models(
    client: httpx.AsyncClient, upstream: Upstream, name: str | None, authorization: str | None
) -> Response:
    """What the endpoint says of its models, which clients ask before they offer any; of one, by its name. Raises Refused."""
    path = "models" if name is None else f"models/{quote(name, safe='')}"
    reply = await _asked(client, upstream, path, authorization)
    return _answered(upstream, reply, await _whole(upstream, reply), _passed_back(reply), {})


async def _asked(
    client: httpx.AsyncClient, upstream: Upstream, path: str, authorization: str | None, body: bytes | None = None
) -> httpx.Response:
    """Its status and headers, while the rest is still to come; a POST where there is a body."""
    headers = {"User-Agent": "pastchats-memory"} | ({} if body is None else {"Content-Type": "application/json"})
    if upstream.key is not None:
        headers["Authorization"] = f"Bearer {upstream.key}"
    elif authorization is not None:
        headers["Authorization"] = authorization
    url = f"{upstream.base.rstrip('/')}/{path}"
    try:
        request = client.build_request("GET" if body is None else "POST", url, content=body, headers=headers)
        return await client.send(request, stream=True)
    except httpx.HTTPError as fault:
        raise upstream.translated(fault) from fault


def _passed_back(reply: httpx.Response) -> dict[str, str]:
    return {name: reply.headers[name] for name in PASSED_BACK if name in reply.headers}


def _answered(
    upstream: Upstream, reply: httpx.Response, body: bytes, back: Mapping[str, str], added: Mapping[str, Any]
) -> Response:
    status = reply.status_code
    if status in (401, 403) and upstream.key is not None:
        raise upstream.fault(f"it refuses the configured key (HTTP {status})")
    if reply.is_client_error:
        return Response(body, status, back)
    further = {name: value for name, value in back.items() if name != "content-type"}
    if not reply.is_success:
        return error_answer(upstream.fault(": ".join(filter(None, (f"HTTP {status}", _complaint(body))))), further)
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as fault:
        raise upstream.fault("its answer is no JSON") from fault
    if not isinstance(answer, dict):
        raise upstream.fault("its answer is no JSON object")
    return json_answer({**answer, **added}, status, further)


def _complaint(body: bytes) -> str:
    """What an endpoint says of its own fault, on one line; empty where that is said in no usual way."""
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    while isinstance(said, dict):
        said = next((said[key] for key in ("error", "message", "detail") if said.get(key)), None)
    return one_line(said)[:LONGEST_COMPLAINT] if isinstance(said, str) else ""


async def _whole(upstream: Upstream, reply: httpx.Response) -> bytes:
    body = bytearray()
    try:
        async for part in reply.aiter_bytes():
            body += part
            if len(body) > LONGEST_ANSWER:
                raise upstream.fault(f"its answer is longer than {LONGEST_ANSWER:,} bytes")
    except httpx.HTTPError as fault:
        raise upstream.translated(fault) from fault
    finally:
        await reply.aclose()
    return bytes(body)


async def _streamed(upstream: Upstream, reply: httpx.Response, sources: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    """The events as they come, and before the last one a chunk with the sources; a stream that breaks ends in an error."""
    told = False
    first: dict[str, Any] = {}
    try:
        async for line in _lines(upstream, reply):
            data = line[5:].strip() if line.startswith(b"data:") else b""
            if data == _DONE and not told:
                told = True
                yield _chunk(first, sources)
            elif data and not first:
                first = _about(data)
            yield line
        if not told:
            yield _chunk(first, sources)
    except httpx.HTTPError as fault:
        yield _event(error_body(upstream.translated(fault)))
    except Refused as refused:
        yield _event(error_body(refused))
    finally:
        await reply.aclose()


async def _lines(upstream: Upstream, reply: httpx.Response) -> AsyncIterator[bytes]:
    rest = b""
    async for part in reply.aiter_bytes():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line + b"\n"
        if len(rest) > LONGEST_LINE:
            raise upstream.fault(f"an event is longer than {LONGEST_LINE:,} bytes")
    if rest:
        yield rest + b"\n\n"


def _about(data: bytes) -> dict[str, Any]:
    """What all chunks of a stream say of themselves."""
    try:
        chunk = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return (
        {name: chunk[name] for name in ("id", "created", "model") if name in chunk} if isinstance(chunk, dict) else {}
    )


def _chunk(about: Mapping[str, Any], sources: list[dict[str, Any]]) -> bytes:
    choices = [{"index": 0, "delta": {}, "finish_reason": None}]
    return _event({**about, "object": "chat.completion.chunk", "choices": choices, "sources": sources})


def _event(body: Mapping[str, Any]) -> bytes:
    return b"data: " + encoded(body) + b"\n\n"
