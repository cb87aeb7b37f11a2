"""Describe the server as an OpenAPI 3.1 document: requests from the routes, answers from the views."""

from collections.abc import Iterable, Sequence
from typing import Any

from pastchats_memory import __version__
from pastchats_memory.http.routes import CHAT_CONTEXT, NON_BLANK, OPEN_PATHS, Parameter, Route
from pastchats_memory.views.answers.errors import ErrorBody
from pastchats_memory.views.answers.registry import ANSWERS
from pastchats_memory.views.answers.search import ExcerptView
from pastchats_memory.views.json_schema import SchemaWriter

ERRORS = {
    400: "The request itself is wrong", 401: "The token is missing or wrong", 403: "A page of another origin asked",
    404: "There is no such thing", 408: "The body came too slowly", 413: "The body is too large",
    415: "The body is not declared as JSON",
    421: "The Host header names another machine", 500: "The database is damaged, or there is a bug",
    502: "The chat endpoint failed", 503: "The database or the model is not there", 504: "An answer took too long",
}  # fmt: skip
COMMON_ERRORS = (400, 401, 403, 421, 500, 503, 504)
NAMING = frozenset({"page", "epic", "depends_on"})
"""Parameters that may name something that is not there."""
CHAT = "/v1/chat/completions"
MODELS = "/v1/models"

Part = dict[str, Any]
"""A part of the document, which is JSON of the shape that OpenAPI defines."""

_SECURITY: list[Part] = [{"token": []}, {"bearer": []}]
_TEXT = {"type": "string"}
_BLANK = {"type": "string", "pattern": rf"^(?![\s\S]*{NON_BLANK})", "description": "Counts as absent."}
_NAME = {"name": "name", "in": "path", "required": True, "description": "Name of the model.", "schema": _TEXT}
_ENDPOINT_ERRORS = {"4XX": {"description": "A refusal of the chat endpoint, in its own words"}}
_MESSAGE = {
    "type": "object",
    "properties": {"role": _TEXT, "content": {"type": ["string", "array", "null"], "items": {"type": "object"}}},
    "required": ["role"],
}


def describe(routes: Sequence[Route]) -> Part:
    """Return the OpenAPI document of the routes and of the chat endpoint behind the server."""
    return _Description().describe(routes)


class _Description:
    """Builds the document; the schemas of all answers are collected on the way."""

    def __init__(self) -> None:
        self._schemas = SchemaWriter("#/components/schemas/")

    def describe(self, routes: Sequence[Route]) -> Part:
        paths = {
            **{route.path: {"get": self._describe_operation(route)} for route in routes},
            CHAT: {"post": self._describe_chat()},
            MODELS: {"get": self._describe_models("models", "The chat endpoint's list of models")},
            f"{MODELS}/{{name}}": {"get": self._describe_models("model", "One model", parameters=[_NAME])},
        }
        components: Part = {
            "schemas": dict(sorted(self._schemas.definitions.items())),
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "X-Memory-Token"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        }
        info = {
            "title": "pastchats-memory",
            "version": __version__,
            "summary": "Recall over the conversations, notes and tasks on this machine",
        }
        return {"openapi": "3.1.0", "info": info, "paths": paths, "components": components}

    def _describe_operation(self, route: Route) -> Part:
        in_path = [] if route.in_path is None else [_describe_parameter(route.in_path, "path")]
        can_miss = in_path or not NAMING.isdisjoint(parameter.name for parameter in route.parameters)
        codes = (*COMMON_ERRORS, 404) if can_miss else COMMON_ERRORS
        answers = [self._schemas.write(ANSWERS[name]) for name in route.schemas]
        content = _wrap_json(answers[0] if len(answers) == 1 else {"oneOf": answers})
        return {
            "operationId": "get"
            + "".join(part.title() for part in route.path.replace("{", "by/").replace("}", "").split("/")),
            "summary": route.summary,
            "parameters": in_path + [_describe_parameter(one, "query") for one in route.parameters],
            "responses": {"200": {"description": route.summary, "content": content}, **self._describe_errors(codes)},
            "security": [] if route.path in OPEN_PATHS else _SECURITY,
        }

    def _describe_chat(self) -> Part:
        request = {
            "type": "object",
            "properties": {
                "model": _TEXT,
                "messages": {"type": "array", "minItems": 1, "items": _MESSAGE},
                "stream": {"type": ["boolean", "null"]},
            },
            "required": ["messages"],
        }
        sources = self._schemas.write(list[ExcerptView])
        answer = {"type": "object", "properties": {"sources": sources}, "required": ["sources"]}
        return {
            "operationId": "chat",
            "summary": "The chat endpoint's answer to the request with context from the memory, and the sources of it",
            "parameters": [_describe_parameter(one, "query") for one in CHAT_CONTEXT],
            "requestBody": {"required": True, "content": _wrap_json(request)},
            "responses": {
                "200": {
                    "description": "The answer with `sources`; in a stream the last chunk has them",
                    "headers": {
                        "X-Memory-Sources": {"description": "Ids of the sources, separated by commas", "schema": _TEXT}
                    },
                    "content": {**_wrap_json(answer), "text/event-stream": {}},
                },
                **_ENDPOINT_ERRORS,
                **self._describe_errors((*COMMON_ERRORS, 404, 408, 413, 415, 502)),
            },
            "security": _SECURITY,
        }

    def _describe_models(self, name: str, summary: str, *, parameters: Sequence[Part] = ()) -> Part:
        return {
            "operationId": name,
            "summary": summary,
            "parameters": list(parameters),
            "responses": {
                "200": {"description": summary, "content": _wrap_json({"type": "object"})},
                **_ENDPOINT_ERRORS,
                **self._describe_errors((*COMMON_ERRORS, 404, 502)),
            },
            "security": _SECURITY,
        }

    def _describe_errors(self, codes: Iterable[int]) -> Part:
        content = _wrap_json(self._schemas.write(ErrorBody))
        return {str(code): {"description": ERRORS[code], "content": content} for code in codes}


def _describe_parameter(parameter: Parameter, place: str) -> Part:
    is_required = place == "path" or parameter.required
    return {
        "name": parameter.name,
        "in": place,
        "required": is_required,
        "description": parameter.description,
        "schema": dict(parameter.schema) if is_required else {"anyOf": [dict(parameter.schema), _BLANK]},
    }


def _wrap_json(schema: Part) -> Part:
    return {"application/json": {"schema": schema}}
