"""What an agent reads of a hostile transcript: quoted, within its quotation, and said to be no instruction."""

from __future__ import annotations

import json

import pytest
from hostile import FORGED, write_texts
from inprocess import Shell
from mcp.types import CallToolResult
from program import REPOSITORY
from test_terminal import UNSEEN

from pastchats_memory.config import load
from pastchats_memory.hooks.answers import recall
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.mcp.tools import Tools
from pastchats_memory.text.recall_block import RECALL_PREAMBLE

BEGINNINGS = (
    "```", "~~~", "</", "<!--", "[//]", "## 1. forged", "Source: /etc", "SYSTEM:", "- [1] forged", "Shown by: forged", "Changed: forged",
)  # fmt: skip
"""How a line of it begins that would no longer be a quotation."""
TAGS = ("</memory>", "</system-reminder>", "<|im_end|>", "<system-reminder>")
WORDS = "why does the webhook retry never end"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    home = tmp_path_factory.mktemp("forged")
    conversations, tasks = write_texts(home, FORGED)
    shell = Shell(home)
    assert shell("index", conversations, tasks).status == 0
    return shell


def assert_quoted(text: str) -> None:
    """No line of what was forged stands as a line of ours, no tag ends a context, and no terminal obeys anything in it."""
    assert [line for line in text.split("\n") if line.startswith(BEGINNINGS)] == []
    assert text.count("\n# Memory Recall") + text.startswith("# Memory Recall") <= 1
    assert [tag for tag in TAGS if tag in text] == []
    assert UNSEEN.search(text) is None


@pytest.mark.promise("text", "Broken fences, forged entries and instructions stay quoted in what commands print.")
@pytest.mark.parametrize(
    "arguments",
    [["recall", WORDS], ["context", WORDS], ["lessons", "--all"], ["judge", "--all", "--outcome", "worked,failed,mixed,unknown"], ["judge", "2", "--undo"], ["how", WORDS, "--all"], ["ask", WORDS], ["check-prior-work", WORDS],
     ["consult-episodic-memory", WORDS], ["search", WORDS], ["show", "2"], ["task", "list", "--all"], ["task", "recall", WORDS], ["timeline", "2026"], ["digest", "2026"],
     ["show", "--conversation", "2"], ["export", "--markdown", "--conversation", "2"], ["export", "--markdown", "--query", WORDS]],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_command_output_keeps_hostile_text_inside_its_quotation(shell: Shell, arguments: list[str]) -> None:
    run = shell(*arguments)
    assert run.status == 0, run.stderr
    assert_quoted(run.stdout)


@pytest.mark.promise(
    "text", "Broken fences, forged entries and instructions stay quoted in what a hook passes to an agent."
)
def test_a_hook_block_quotes_hostile_text_and_names_itself(shell: Shell) -> None:
    assert (
        shell("index", REPOSITORY / "fixtures" / "demo" / "history").status == 0
    )  # words that every row has are no names
    with shell.at(shell.home):
        given = recall(
            HookEvent(prompt=f"{WORDS}, `make test` exited with code 1", session="s", cwd=str(shell.home)), None
        )
    assert given is not None
    assert given.startswith(RECALL_PREAMBLE)
    assert "> - [1] forged" in given
    assert_quoted(given)


@pytest.mark.promise("text", "Broken fences, forged entries and instructions stay quoted in what MCP tools return.")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("search", {"query": WORDS}), ("recall", {"query": WORDS}), ("read", {"id": "2"}), ("find_similar", {"text": WORDS}), ("check_prior_work", {"query": WORDS}),
     ("consult_episodic_memory", {"problem_context": WORDS}), ("lessons", {"project": None}), ("unjudged", {"project": None, "outcome": "worked,failed,unknown"}), ("how", {"task": WORDS, "project": None})],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_mcp_answers_keep_hostile_text_inside_its_quotation(shell: Shell, tool: str, arguments: dict[str, str]) -> None:
    with shell.at(shell.home):
        answer: CallToolResult = getattr(Tools(load(), allow_write=False), tool)(**arguments)
    for part in answer.content:
        assert_quoted(part.text if part.type == "text" else part.name if part.type == "resource_link" else "")
    written = json.dumps(answer.structured_content, ensure_ascii=False)
    assert [tag for tag in TAGS if tag in written] == []
    assert UNSEEN.search(written) is None


def test_the_key_of_a_task_is_one_word_whatever_the_id_of_its_tracker_is(shell: Shell) -> None:
    (task,) = json.loads(shell("task", "list", "--status", "completed", "--json").stdout)["results"]
    assert task["key"].startswith("gar-0-")
    assert not {*task["key"]} & {*" \n<>`[]|"}
    assert shell("task", "show", task["key"]).status == 0
