"""Add context to a chat request, forward it to the chat endpoint, and add the sources to the answer."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import orjson
from starlette.responses import Response, StreamingResponse

from pastchats_memory.errors import UsageFault
from pastchats_memory.http.answers import RequestError, answer_error, answer_json, build_error_body, encode
from pastchats_memory.http.routes import LONGEST_QUERY
from pastchats_memory.model.episodes import Context
from pastchats_memory.text.display import one_line
from pastchats_memory.text.recall_block import RECALL_PREAMBLE
from pastchats_memory.views.answers.search import ExcerptView
from pastchats_memory.views.to_json import to_json

LONGEST_LINE = 4 << 20
"""Bytes of an event."""
LONGEST_ANSWER = 64 << 20
"""Bytes."""
LONGEST_COMPLAINT = 300
"""Characters."""
SOURCES_HEADER = "X-Memory-Sources"
RETURNED_HEADERS = ("content-type", "retry-after", "x-request-id")
MAX_IDS = 40
"""Ids in the header of the sources."""

Chat = Mapping[str, Any]
"""A chat request or a chunk of an answer: JSON that other programs define."""
_DONE = b"[DONE]"


@dataclass(frozen=True, slots=True)
class Upstream:
    """The chat endpoint. Raises UsageFault if its address is not a URL."""

    base: str
    """Such as https://api.openai.com/v1."""
    key: str | None = None
    seconds: float = 300.0
    """Longest time without a byte."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageFault("the chat endpoint is no URL", "It looks like https://api.openai.com/v1")

    @property
    def host(self) -> str:
        """Return host and port, without the parts of the URL that may be secret."""
        parts = urlsplit(self.base)
        return f"{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    def make_client(self) -> httpx.AsyncClient:
        """Return a client that keeps its connections and follows no redirection, which would take the key elsewhere."""
        return httpx.AsyncClient(timeout=httpx.Timeout(self.seconds, connect=min(10.0, self.seconds)))

    def make_error(self, why: str) -> RequestError:
        """Return an error with status 502."""
        return RequestError(502, "upstream", f"the chat endpoint {self.host} failed: {why}", "Check `chat_endpoint`.")

    def translate(self, fault: httpx.HTTPError) -> RequestError:
        """Return a fault of the connection as an error with status 504 or 502."""
        if isinstance(fault, httpx.TimeoutException):
            why = f"the chat endpoint {self.host} said nothing for {self.seconds:g} seconds"
            return RequestError(504, "upstream", why, "Try again later, or give it longer: `chat_timeout`.")
        return self.make_error(type(fault).__name__)


def parse_request(body: bytes) -> Chat:
    """Parse a chat request. Raises RequestError."""
    try:
        chat = orjson.loads(body)
    except orjson.JSONDecodeError as fault:
        raise RequestError(400, "usage", f"the body is no JSON: {fault.msg}") from fault
    messages = chat.get("messages") if isinstance(chat, dict) else None
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        hint = '{"model": "…", "messages": [{"role": "user", "content": "…"}]}'
        raise RequestError(400, "usage", "the body is no chat request", f"It looks like {hint}")
    if not isinstance(chat.get("stream"), bool | None):
        raise RequestError(400, "usage", "stream is true or false")
    if not isinstance(chat.get("model", ""), str):
        raise RequestError(400, "usage", "model is a text")
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


def find_question(chat: Chat) -> str:
    """Return the text of the last user message: beginning and end of a long one, empty if there is none."""
    content = next((one.get("content") for one in reversed(chat["messages"]) if one["role"] == "user"), None)
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    text: str = content or ""
    half = LONGEST_QUERY // 2
    return text if len(text) <= LONGEST_QUERY else f"{text[:half]}\n{text[-half:]}"


def add_context(chat: Chat, context: Context) -> Chat:
    """Return the request with the context before the text of the last user message.

    A system message would give old conversations more authority than the user has, and some models have no system
    role. The messages before stay the same, so a provider's cache of them still fits.
    """
    if not context.items:
        return chat
    text = f"{RECALL_PREAMBLE}\n\n{context.text}\n"
    messages = [*chat["messages"]]
    place = max(number for number, one in enumerate(messages) if one["role"] == "user")
    content = messages[place].get("content")
    added = [{"type": "text", "text": text}, *content] if isinstance(content, list) else f"{text}\n{content or ''}"
    messages[place] = {**messages[place], "content": added}
    return {**chat, "messages": messages}


def list_sources(context: Context) -> list[dict[str, Any]]:
    """Return the items of the context."""
    return [to_json(item, ExcerptView) for item in context.items]


async def forward(
    client: httpx.AsyncClient, upstream: Upstream, chat: Chat, sources: list[dict[str, Any]], authorization: str | None
) -> Response:
    """Forward a chat request, and return the endpoint's answer, whole or as a stream, with the sources.

    The client's own `authorization` is used if no key is configured. Raises RequestError if the endpoint failed.
    """
    reply = await _send(client, upstream, "chat/completions", authorization, encode(chat))
    headers = _select_headers(reply)
    headers[SOURCES_HEADER] = ",".join(quote(one["id"], safe=":") for one in sources[:MAX_IDS])
    if reply.is_success and "text/event-stream" in headers.get("content-type", ""):
        return StreamingResponse(_stream(upstream, reply, sources), headers={**headers, "Cache-Control": "no-store"})
    return _answer(upstream, reply, await _read_body(upstream, reply), headers, {"sources": sources})


async def list_models(
    client: httpx.AsyncClient, upstream: Upstream, name: str | None, authorization: str | None
) -> Response:
    """Return the endpoint's list of models, or one model by name. Raises RequestError.

    Chat clients ask for it before they offer a model.
    """
    path = "models" if name is None else f"models/{quote(name, safe='')}"
    reply = await _send(client, upstream, path, authorization)
    return _answer(upstream, reply, await _read_body(upstream, reply), _select_headers(reply), {})


async def _send(
    client: httpx.AsyncClient, upstream: Upstream, path: str, authorization: str | None, body: bytes | None = None
) -> httpx.Response:
    """Send a request, a POST if there is a body. The body of the reply is still to be read."""
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
        raise upstream.translate(fault) from fault


def _select_headers(reply: httpx.Response) -> dict[str, str]:
    return {name: reply.headers[name] for name in RETURNED_HEADERS if name in reply.headers}


def _answer(
    upstream: Upstream, reply: httpx.Response, body: bytes, headers: Mapping[str, str], added: Mapping[str, object]
) -> Response:
    """Return the endpoint's answer with further keys. Refusals pass through, failures become errors."""
    status = reply.status_code
    if status in (401, 403) and upstream.key is not None:
        raise upstream.make_error(f"it refuses the configured key (HTTP {status})")
    if reply.is_client_error:
        return Response(body, status, headers)
    further = {name: value for name, value in headers.items() if name != "content-type"}
    if not reply.is_success:
        return answer_error(
            upstream.make_error(": ".join(filter(None, (f"HTTP {status}", _read_complaint(body))))), further
        )
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as fault:
        raise upstream.make_error("its answer is no JSON") from fault
    if not isinstance(answer, dict):
        raise upstream.make_error("its answer is no JSON object")
    return answer_json({**answer, **added}, status, further)


def _read_complaint(body: bytes) -> str:
    """Return the endpoint's own error message on one line; empty if its form is not a usual one."""
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    while isinstance(message, dict):
        message = next((message[key] for key in ("error", "message", "detail") if message.get(key)), None)
    return one_line(message)[:LONGEST_COMPLAINT] if isinstance(message, str) else ""


async def _read_body(upstream: Upstream, reply: httpx.Response) -> bytes:
    body = bytearray()
    try:
        async for part in reply.aiter_bytes():
            body += part
            if len(body) > LONGEST_ANSWER:
                raise upstream.make_error(f"its answer is longer than {LONGEST_ANSWER:,} bytes")
    except httpx.HTTPError as fault:
        raise upstream.translate(fault) from fault
    finally:
        await reply.aclose()
    return bytes(body)


async def _stream(upstream: Upstream, reply: httpx.Response, sources: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    """Yield the events as they arrive, with a chunk of the sources before the last.

    A broken stream ends in an error.
    """
    has_sources = False
    first: Chat = {}
    try:
        async for line in _read_lines(upstream, reply):
            data = line[5:].strip() if line.startswith(b"data:") else b""
            if data == _DONE and not has_sources:
                has_sources = True
                yield _make_chunk(first, sources)
            elif data and not first:
                first = _read_common_fields(data)
            yield line
        if not has_sources:
            yield _make_chunk(first, sources)
    except httpx.HTTPError as fault:
        yield _make_event(build_error_body(upstream.translate(fault)))
    except RequestError as error:
        yield _make_event(build_error_body(error))
    finally:
        await reply.aclose()


async def _read_lines(upstream: Upstream, reply: httpx.Response) -> AsyncIterator[bytes]:
    rest = b""
    async for part in reply.aiter_bytes():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line + b"\n"
        if len(rest) > LONGEST_LINE:
            raise upstream.make_error(f"an event is longer than {LONGEST_LINE:,} bytes")
    if rest:
        yield rest + b"\n\n"


def _read_common_fields(data: bytes) -> Chat:
    try:
        chunk = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return (
        {name: chunk[name] for name in ("id", "created", "model") if name in chunk} if isinstance(chunk, dict) else {}
    )


def _make_chunk(common: Chat, sources: list[dict[str, Any]]) -> bytes:
    choices = [{"index": 0, "delta": {}, "finish_reason": None}]
    return _make_event({**common, "object": "chat.completion.chunk", "choices": choices, "sources": sources})


def _make_event(body: Mapping[str, object]) -> bytes:
    return b"data: " + encode(body) + b"\n\n"
