"""Choose the query for a prompt: the user's own words, without pastes and without text of programs."""

import re
from typing import TYPE_CHECKING

from pastchats_memory.text.instruction import parse_template
from pastchats_memory.text.pasted import split_paste
from pastchats_memory.text.recall_block import strip_recall_blocks
from pastchats_memory.text.topics import is_resuming, measure_topic

if TYPE_CHECKING:
    from pastchats_memory.formats.base.format import Format

LONGEST_QUERY = 1200
"""Characters; the model reads some 250 tokens, and a task is named at the start or at the end of a prompt."""
LONGEST_GO_ON = 60
"""Characters of a prompt that only says to go on."""
LEAST_TOPIC = 0.5
"""Topic that a prompt has to name; one that only steers the work needs no recall."""
WHOLE_SENTENCE = 7
"""Words of a prompt that is recognised if it was typed before, whatever it names."""

_OWN_WORDS = re.compile(r"</?(?:user_query|user-query|user_message|user_input|user_request|channel)(?: [^<>]{0,200})?>")
"""Tags that a client puts around the user's own words."""
_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w:.-]*)(?:\s+(?P<words>\S.*))?\Z", re.DOTALL)
"""A slash command; a path has a second slash."""
_SHELL = re.compile(r"!(?!\[)[^\n]*\Z")
"""A command for the shell on one line; `![` begins an image."""
_WHERE = re.compile(
    r"\W*(?:where (?:were|did) we(?: (?:stop|leave off|left off))?|wo (?:waren|sind) wir(?: stehen ?geblieben)?|où en étions[- ]nous"
    r"|dónde (?:estábamos|nos quedamos))\W*",
    re.IGNORECASE,
)
"""Questions that ask where the work stopped."""
_TAGGED = re.compile(r"<(?P<tag>[a-z][a-z_-]{2,40})(?: [^<>]{0,200})?>.*?(?:</(?P=tag)>|\Z)", re.DOTALL)


def strip_wrappers(prompt: str, format_: "Format") -> str:
    """Return what the user typed, without what the agent's client adds to it; nothing for a command of the client."""
    text = prompt.strip()
    if format_.dialect is None or (text[:1].isalnum() and "<" not in text):
        return text
    dialect = format_.dialect()
    text = dialect.parse_prompt(text).text.strip()
    command = _COMMAND.match(text)
    return "" if command and command["name"].lower() in dialect.commands else text


def goes_on(prompt: str) -> bool:
    """Check whether a prompt only says to go on."""
    return len(prompt) <= LONGEST_GO_ON and (is_resuming(prompt) or _WHERE.fullmatch(prompt) is not None)


def query_for(prompt: str) -> str | None:
    """Return what to recall for a prompt.

    There is no query for a prompt without a topic, a bare command of the client or the shell, or a paste alone.
    """
    text = find_own_words(prompt)
    return text if measure_topic(text) >= LEAST_TOPIC else None


def find_own_words(prompt: str) -> str:
    """Return the user's own words in a prompt, on one line; empty for a bare command, a paste or a template alone."""
    text = strip_recall_blocks(prompt)
    typed = parse_template(text)
    text = _OWN_WORDS.sub(" ", text if typed is None else typed).strip()
    if _SHELL.match(text):
        return ""
    if command := _COMMAND.match(text):
        if command["words"] is None:
            return ""
        text = f"{command['name']} {command['words']}"  # a project's own command, or the name of a folder
    text = " ".join(" ".join(split_paste(_TAGGED.sub(" ", text))).split())
    if len(text) > LONGEST_QUERY:
        text = f"{text[: LONGEST_QUERY * 2 // 3]} {text[-LONGEST_QUERY // 3 :]}"
    return text


def is_worth_asking(prompt: str) -> bool:
    """Return whether a prompt has a topic, or is a sentence that hardly anybody types twice by chance."""
    text = find_own_words(prompt)
    return len(text.split()) >= WHOLE_SENTENCE or measure_topic(text) >= LEAST_TOPIC
