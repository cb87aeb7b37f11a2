"""Every edge offers every argument of a question, or the table says why it does not."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import anyio
import click
import pytest

from pastchats_memory.cli import program
from pastchats_memory.config import load
from pastchats_memory.http.routes import ROUTES
from pastchats_memory.mcp import make_server
from pastchats_memory.memory import Memory, questions
from pastchats_memory.memory.questions import (
    CONSULTATION,
    CONTEXT,
    DIGEST,
    FEW_BYTES,
    HERE,
    HOW,
    LEFT_OUT,
    LESSONS,
    PRIOR_WORK,
    RECALL,
    SEARCH,
    TASK_SEARCH,
    TASKS,
    TIMELINE,
    UNJUDGED,
    Argument,
    Edge,
    Question,
    list_arguments,
)

QUESTIONS = [one for one in vars(questions).values() if isinstance(one, Question)]
COMMANDS = {
    SEARCH: "search", RECALL: "recall", CONTEXT: "context", HOW: "how", LESSONS: "lessons", UNJUDGED: "judge",
    TIMELINE: "timeline", DIGEST: "digest", TASKS: "task list", TASK_SEARCH: "task recall",
    PRIOR_WORK: "check-prior-work", CONSULTATION: "consult-episodic-memory",
}  # fmt: skip
PATHS = {
    SEARCH: "/search", RECALL: "/recall", CONTEXT: "/context", HOW: "/how", LESSONS: "/lessons", TASKS: "/tasks",
}  # fmt: skip
TOOLS = {
    SEARCH: "search", RECALL: "recall", HOW: "how", LESSONS: "lessons", UNJUDGED: "unjudged",
    PRIOR_WORK: "check_prior_work", CONSULTATION: "consult_episodic_memory",
}  # fmt: skip
OWN_OPTIONS = {
    "--help", "--db", "--json", "--all", "--top-k", "--model", "--explain", "--because", "--undo", "--auto", "--yes",
}  # fmt: skip
"""Options that do not select what a question returns, and `--all`, which replaces the project."""
OWN_NAMES = {"task": "query", "problem_context": "query"}
"""Names that agents know for an argument."""
NOT_OFFERED: Mapping[tuple[Edge, Question], str] = {
    ("http", UNJUDGED): "the page shows them",
    ("http", TIMELINE): "the page shows it",
    ("http", DIGEST): "it is a text for people",
    ("http", TASK_SEARCH): "/search?type=task finds them",
    ("http", PRIOR_WORK): "agents ask it over MCP",
    ("http", CONSULTATION): "agents ask it over MCP",
    ("mcp", CONTEXT): "recall has the excerpts that an agent needs",
    ("mcp", TIMELINE): FEW_BYTES,
    ("mcp", DIGEST): FEW_BYTES,
    ("mcp", TASKS): FEW_BYTES,
    ("mcp", TASK_SEARCH): "search finds them with the type task",
}
"""Questions that an edge does not offer at all, each with the reason."""
WHEN = "the command line takes it as words"
FOR_PROGRAMS: Mapping[Question, Mapping[str, str]] = {
    RECALL: {
        "current_project": "an edge knows it",
        "not_conversation": "a hook knows it",
        "given": "a hook knows them",
        "unasked": "a hook alone answers unasked",
        "count_tokens": "it is a function",
    },
    TIMELINE: {"when": WHEN, "most_episodes": "the page reads fewer than a command"},
    DIGEST: {"when": WHEN},
    TASKS: {"unfinished": "`task list` shows unfinished tasks unless --all or --status is given"},
}
"""Arguments that no edge offers under their name, each with the reason."""


def name_question(question: Question) -> str:
    return question.method


every_question = pytest.mark.parametrize("question", QUESTIONS, ids=name_question)


def find_command(words: str) -> click.Command:
    command: click.Command = program
    for word in words.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return command


def name_option(argument: Argument) -> str:
    if argument.kind is bool and argument.default:
        return f"--no-{argument.name.removeprefix('has_')}"
    return f"--{argument.name.replace('_', '-')}"


@pytest.fixture(scope="module")
def tools() -> dict[str, dict[str, Any]]:
    """The input schemas of all MCP tools."""
    server = make_server(load(), allow_write=True)
    return {tool.name: tool.input_schema for tool in anyio.run(server.list_tools)}


@every_question
def test_a_question_has_every_argument_of_its_method_with_the_same_default(question: Question) -> None:
    _, *parameters = inspect.signature(getattr(Memory, question.method)).parameters.values()
    asked = {one.name: one.default for one in parameters if one.name not in FOR_PROGRAMS.get(question, {})}
    assert asked == {
        one.name: inspect.Parameter.empty if one.is_required else one.default for one in question.arguments
    }


@every_question
def test_the_command_line_offers_every_argument(question: Question) -> None:
    offered = {name for one in find_command(COMMANDS[question]).params for name in one.opts if name.startswith("--")}
    wanted = {name_option(one) for one in list_arguments(question, "cli")}
    assert offered - (OWN_OPTIONS - wanted) == wanted


def test_a_question_of_the_current_project_can_be_asked_of_all() -> None:
    for question in QUESTIONS:
        if HERE in question.arguments:
            assert "--all" in {name for one in find_command(COMMANDS[question]).params for name in one.opts}


@every_question
def test_http_offers_every_argument_but_those_of_the_table(question: Question) -> None:
    if question not in PATHS:
        assert NOT_OFFERED[("http", question)]
        return
    (route,) = (route for route in ROUTES if route.path == PATHS[question])
    assert [one.name for one in route.parameters] == [one.name for one in list_arguments(question, "http")]


@every_question
def test_mcp_offers_every_argument_but_those_of_the_table(question: Question, tools: dict[str, dict[str, Any]]) -> None:
    if question not in TOOLS:
        assert NOT_OFFERED[("mcp", question)]
        return
    offered = {OWN_NAMES.get(name, name) for name in tools[TOOLS[question]]["properties"]}
    assert offered == {one.name for one in list_arguments(question, "mcp")}


def list_reasons() -> Iterator[tuple[str, Question, str]]:
    for (edge, question), names in LEFT_OUT.items():
        yield from ((edge, question, name) for name in names)
    for question, names in FOR_PROGRAMS.items():
        yield from (("method", question, name) for name in names)


def test_the_tables_name_only_arguments_that_exist() -> None:
    for edge, question, name in list_reasons():
        of_people = {one.name for one in question.arguments}
        of_method = set(inspect.signature(getattr(Memory, question.method)).parameters)
        assert name in (of_method - of_people if edge == "method" else of_people), (edge, question.method, name)
