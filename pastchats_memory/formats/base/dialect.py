"""How agents spell what all of them have: tools, results of tools, and text in the user's place.

The base holds the mechanism and the spellings that several agents share. Each agent adds its own spellings in its own
module, and hands its dialect to the SessionBuilder. `registry.any_dialect` unites all for files of an unknown agent.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import orjson

from pastchats_memory.formats.base.questions import AnswerParser, parse_json_answers, parse_pairs

LONGEST_SETTING = 3
"""Words of a setting behind a command, as in `/plugin marketplace add x`; more are a person's."""

_COMMAND = re.compile(r"/([a-zA-Z][\w:.-]{0,60})(?=\s|\Z)")
"""A command; a path has another slash."""


@dataclass(frozen=True, slots=True)
class UserText:
    """What a person typed of a text in the user's role, without what programs put there."""

    text: str = ""
    """The person's words; `/x args` and `! command` for commands; empty if a program wrote all of it."""
    is_command: bool = False
    """The text is a command without words for the model."""
    bash_output: str = ""
    """The output of a `!` command of the person."""
    bash_failed: bool = False
    """The `!` command wrote to its error channel only."""
    is_interruption: bool = False
    """The text is the client's note that the person stopped the turn before."""
    is_summary: bool = False
    """The text is the client's summary of an earlier conversation."""
    author: str = ""
    """The author of a message that came through a channel."""
    channel: str = ""
    """That channel."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Spellings of one agent, or of several: `COMMON | Dialect(noise=…)`."""

    commands: frozenset[str] = frozenset()
    """Commands, without their slash and in small letters, that steer the client and ask the model nothing."""
    prompts: tuple[Callable[[str], UserText], ...] = ()
    """Each takes one client's wrappers off a text in the user's role."""
    todo_tools: frozenset[str] = frozenset()
    """Tools whose call replaces the whole todo list; names as `model.folded` writes them."""
    plan_tools: frozenset[str] = frozenset()
    """Tools that propose a plan; names as `model.folded` writes them."""
    question_tools: frozenset[str] = frozenset()
    """Tools that ask the person; names in small letters without separators."""
    answers: tuple[AnswerParser, ...] = ()
    """Each parses the result of such a tool, or returns None for another spelling."""
    editors: tuple[str, ...] = ()
    """Endings of names of tools whose `command` names an action on a file, and is not for a shell."""
    whole_editors: frozenset[str] = frozenset()
    """Whole names of such tools."""
    polling: tuple[str, ...] = ()
    """Beginnings of calls that read the output of a command in the background."""
    never_ran: tuple[str, ...] = ()
    """Beginnings of results, without an exit code, of a command that could not be started."""
    noise: tuple[str, ...] = ()
    """Beginnings of errors between agent and client that are not worth a row."""
    refused: tuple[str, ...] = ()
    """Beginnings of results of calls that the person refused."""
    reasons: tuple[str, ...] = ()
    """Phrases in such a result after which it quotes why the person refused."""
    reason_notes: tuple[str, ...] = ()
    """Beginnings of the client's own note to the agent behind that reason."""

    def __or__(self, other: "Dialect") -> "Dialect":
        """Return the spellings of both; those of `self` are tried first."""
        return Dialect(*(_union(getattr(self, each.name), getattr(other, each.name)) for each in fields(self)))

    def parse_command(self, name: str, words: str = "") -> UserText:
        """Return what a person typed as `/name words`.

        A command with words is a prompt. A command that only steers the client is nothing, with a setting at most.
        """
        name, words = name.strip().lstrip("/"), words.strip()
        if not name or (name.lower() in self.commands and len(words.split()) <= LONGEST_SETTING):
            return UserText()
        return UserText(f"/{name} {words}".strip(), is_command=not words)

    def parse_typed(self, text: str) -> UserText:
        """Return what a person typed at a prompt that takes commands, such as `/deploy staging`."""
        found = _COMMAND.match(text)
        if found is None:
            return UserText(text)
        command = self.parse_command(found[1], text[found.end() :])
        return replace(command, text=text) if command.text else command

    def parse_prompt(self, text: str) -> UserText:
        """Return what the person typed of a text in the user's role, without the wrappers of each client in turn."""
        typed = UserText(text)
        for parse in self.prompts:
            typed = parse(typed.text)
            if not typed.text or typed.is_command or typed.is_summary or typed.channel:
                break
        return typed


def _union(first: Any, second: Any) -> Any:
    return tuple(dict.fromkeys((*first, *second))) if isinstance(first, tuple) else first | second


def read_spellings(module: str) -> dict[str, tuple[str, ...]]:
    """Return the word lists of `spellings.json` beside a module (`__file__`).

    They are JSON, since a hook reads them at a prompt, and the import of a parser for TOML takes longer than the rest.
    """
    lists = orjson.loads(Path(module).with_name("spellings.json").read_bytes())
    return {name: tuple(words) for name, words in lists.items()}


def read_dialect(module: str, **own: Any) -> Dialect:
    """Return the dialect of the lists beside a module that have the names of fields, with further fields."""
    words = read_spellings(module)
    known = ((each.name, tuple if each.default == () else frozenset) for each in fields(Dialect))
    lists: dict[str, Any] = {name: kind(words[name]) for name, kind in known if name in words}
    return Dialect(**lists, **own)


COMMON = read_dialect(__file__, answers=(parse_pairs, parse_json_answers), noise=("EISDIR",))
"""Spellings that more than one agent has."""
