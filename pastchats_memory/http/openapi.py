"""The description at `/openapi.json`, made of the table that the requests are read by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from pastchats_memory.http.parameters import PAGE, Parameter
from pastchats_memory.http.routes import CONTEXT, Route

ERRORS = {
    400: "The request itself is wrong", 401: "The token is missing or wrong", 403: "A page of another origin asked",
    404: "There is no such thing", 408: "The body came too slowly", 413: "The body is too large",
    421: "The Host header names another machine", 500: "The database is damaged, or there is a bug",
    502: "The chat endpoint failed", 503: "The database or the model is not there", 504: "An answer took too long",
}  # fmt: skip
OF_A_QUESTION = (400, 401, 403, 421, 500, 503, 504)
CHAT = "/v1/chat/completions"
MODELS = "/v1/models"
_TEXT = {"type": "string"}
_NAME = {"name": "name", "in": "path", "required": True, "description": "Of the model.", "schema": _TEXT}
_REFUSED_THERE = {"4XX": {"description": "What the chat endpoint refuses, in its own words"}}
_MESSAGE = {
    "type": "object",
    "properties": {"role": _TEXT, "content": {"type": ["string", "array", "null"], "items": {"type": "object"}}},
    "required": ["role"],
}


def description(routes: Sequence[Route], *, with_token: bool) -> dict[str, Any]:
    """An OpenAPI 3.1 document."""
    paths = {route.path: {"get": _operation(route, with_token=with_token)} for route in routes}
    schemas = {_name(schema): _answer(schema) for route in routes for schema in route.schemas}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "pastchats-memory",
            "version": version("pastchats-memory"),
            "summary": "Recall over the conversations, notes and tasks on this machine",
        },
        "paths": {
            **paths,
            CHAT: {"post": _chat(with_token=with_token)},
            MODELS: {"get": _models("models", "The chat endpoint's list of models", with_token=with_token)},
            f"{MODELS}/{{name}}": {"get": _models("model", "One model", with_token=with_token, parameters=[_NAME])},
        },
        "components": {"schemas": {**schemas, "error": _ERROR}},
    }
    if with_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return document


_ERROR = {
    "type": "object",
    "properties": {
        "schema": {"const": "error/1"},
        "error": {
            "type": "object",
            "properties": {"kind": _TEXT, "message": _TEXT, "hint": _TEXT},
            "required": ["kind", "message", "hint"],
        },
    },
    "required": ["schema", "error"],
}


def _operation(route: Route, *, with_token: bool) -> dict[str, Any]:
    in_path = [] if route.in_path is None else [_parameter(route.in_path, "path")]
    codes = (*OF_A_QUESTION, 404) if in_path or PAGE in route.parameters else OF_A_QUESTION
    answers = [{"$ref": f"#/components/schemas/{_name(schema)}"} for schema in route.schemas]
    return {
        "operationId": "get"
        + "".join(part.title() for part in route.path.replace("{", "by/").replace("}", "").split("/")),
        "summary": route.summary,
        "parameters": in_path + [_parameter(one, "query") for one in route.parameters],
        "responses": {
            "200": {
                "description": route.summary,
                "content": _json(answers[0] if len(answers) == 1 else {"oneOf": answers}),
            },
            **_errors(codes),
        },
        "security": [{"token": []}] if with_token and route.path != "/healthz" else [],
    }


def _parameter(parameter: Parameter, place: str) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": place,
        "required": place == "path" or parameter.required,
        "description": parameter.about,
        "schema": dict(parameter.schema),
    }


def _chat(*, with_token: bool) -> dict[str, Any]:
    asked = {
        "type": "object",
        "properties": {
            "model": _TEXT,
            "messages": {"type": "array", "minItems": 1, "items": _MESSAGE},
            "stream": {"type": ["boolean", "null"]},
        },
        "required": ["messages"],
    }
    answered = {"type": "object", "properties": {"sources": {"type": "array"}}, "required": ["sources"]}
    return {
        "operationId": "chat",
        "summary": "The chat endpoint's answer to the request with context from the memory, and the sources of it",
        "parameters": [_parameter(one, "query") for one in CONTEXT],
        "requestBody": {"required": True, "content": _json(asked)},
        "responses": {
            "200": {
                "description": "The answer, with `sources`; of a stream the last chunk has them",
                "headers": {"X-Memory-Sources": {"description": "Their ids, with commas", "schema": _TEXT}},
                "content": {**_json(answered), "text/event-stream": {}},
            },
            **_REFUSED_THERE,
            **_errors((*OF_A_QUESTION, 404, 408, 413, 502)),
        },
        "security": [{"token": []}] if with_token else [],
    }


def _models(name: str, summary: str, *, with_token: bool, parameters: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "parameters": list(parameters),
        "responses": {
            "200": {"description": summary, "content": _json({"type": "object"})},
            **_REFUSED_THERE,
            **_errors((*OF_A_QUESTION, 404, 502)),
        },
        "security": [{"token": []}] if with_token else [],
    }


def _errors(codes: Iterable[int]) -> dict[str, Any]:
    content = _json({"$ref": "#/components/schemas/error"})
    return {str(code): {"description": ERRORS[code], "content": content} for code in codes}


def _name(schema: str) -> str:
    return schema.partition("/")[0]


def _answer(schema: str) -> dict[str, Any]:
    body: dict[str, Any] = {"type": "object", "properties": {"schema": {"const": schema}}, "required": ["schema"]}
    if schema != "healthz/1":
        body["properties"]["results"] = {"type": "array", "items": {"type": "object"}}
        body["required"].append("results")
    return body


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
