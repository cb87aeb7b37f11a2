"""Codex's own spellings: wrappers around prompts, tools, and commands that never ran."""

import json
import re
from collections.abc import Iterator

from pastchats_memory.formats.base.dialect import COMMON, Dialect, UserText, read_spellings
from pastchats_memory.formats.base.questions import join_answers
from pastchats_memory.formats.base.tags import is_tagged, opening_of, span, spans, without_rim, without_spans
from pastchats_memory.formats.base.values import objects_of, text_of, value_of

_WORDS = read_spellings(__file__)
WRAPPERS = ("system_instruction",)
"""Tags around what an app that runs Codex says beside the person's words."""
AMBIENT = "in-app-browser-context"
"""The tag around what the app adds about its browser."""
SHELL = "<user_shell_command>"
REPLY = "<send_user_message_question_reply>"
"""The tag around the person's answers to the agent's questions, as JSON."""

_AUTOMATED = opening_of(_WORDS["automated_tags"])
"""The tags around text that a program sends as if a person had typed it."""
_INJECTED = opening_of([*_WORDS["injected_tags"], *_WORDS["automated_tags"]])
"""The tags around text that Codex itself sends in the user's role."""
_SAYS = re.compile("|".join(_WORDS["injected"]))
"""How other such text begins, up to where no person would go on so."""
_REQUEST = re.compile(r"^##[ \t]+My request(?:[ \t]+for[ \t]+Codex)?:[ \t]*$", re.MULTILINE)
"""The mark above a person's words, if an app put context before them."""
_CONTEXT = re.compile(r"#[ \t][^\n]{1,200}:[ \t]*\n")
"""The heading of such a context, such as `# Files mentioned by the user:`."""
FILES = "# Files mentioned by the user:"
_FILE = re.compile(r"^##[ \t]+([^\n]{1,300}?): [^\n]+$", re.MULTILINE)
PLAN = "proposed_plan"
"""The tag around a plan in an answer."""
_PICTURE = re.compile(r"\A\s*(?:<(?:image|audio)(?: name=[^\n>]{0,4000})?>|</(?:image|audio)>)\s*\Z")
"""A part before or after a picture."""
SCRIPT = "exec"
"""The tool that runs a script, whose calls of other tools are in its source."""
_CALL = re.compile(r"\btools\.(\w{1,60})\(\s*")


def strip_context(text: str) -> str:
    """Return a person's text without the context that an IDE put before it and the tags of pictures."""
    text = without_rim(_PICTURE.sub("", text), WRAPPERS).strip()
    if text.startswith((f"{REPLY}\n", f"{REPLY}[")):
        return _parse_reply(text.removeprefix(REPLY).removesuffix(REPLY.replace("<", "</")))
    if text.startswith("<realtime_delegation>"):
        return span(text, "input").strip() or text
    rest = _strip_ambient(text)
    mark = _REQUEST.search(rest)
    if mark and rest.startswith("#") and (mark.start() == 0 or _CONTEXT.match(rest) or "Codex" in mark[0]):
        return strip_context(rest[mark.end() :])
    return rest


def find_files(text: str) -> list[str]:
    """Return the names of the files that a person attached, from the context before the words."""
    rest = _strip_ambient(text.strip())
    mark = _REQUEST.search(rest)
    return _FILE.findall(rest[: mark.start()]) if mark and rest.startswith(FILES) else []


def _strip_ambient(text: str) -> str:
    """Return a text without what the app wrote about its browser before it."""
    while text.startswith(f"<{AMBIENT}") and (end := text.find(f"</{AMBIENT}>")) >= 0:
        text = text[end + len(f"</{AMBIENT}>") :].lstrip()
    return text


def split_plan(text: str) -> tuple[str, str]:
    """Return an answer without the plan that it proposes, and the plan."""
    plans = list(filter(None, spans(text, PLAN)))
    return (without_spans(text, (PLAN,)).strip(), "\n\n".join(plans)) if plans else (text, "")


def parse_shell(text: str) -> tuple[str, str]:
    """Return a shell command of the person and its output; empty for any other text."""
    text = text.strip()
    return (span(text, "command").strip(), span(text, "result").strip()) if text.startswith(SHELL) else ("", "")


def find_calls(script: str) -> Iterator[tuple[str, object]]:
    """Yield name and arguments of each tool call in a script, if the arguments are literals."""
    for call in _CALL.finditer(script):
        try:
            arguments, _ = json.JSONDecoder().raw_decode(script, call.end())
        except (ValueError, RecursionError):
            continue
        yield call[1], arguments


def _parse_reply(text: str) -> str:
    replies = value_of(text)
    if isinstance(replies, str):
        return text.strip()
    return join_answers([(text_of(one.get("question")), text_of(one.get("answer"))) for one in objects_of(replies)])


def is_injected(text: str) -> bool:
    """Return whether Codex itself wrote a text: tags alone, or a text that begins like one of its own."""
    return is_tagged(text, _INJECTED) or _SAYS.match(text.lstrip()) is not None


def is_automated(text: str) -> bool:
    """Return whether a program sent a text as if a person had typed it."""
    return is_tagged(text, _AUTOMATED)


def parse_prompt(text: str) -> UserText:
    """Return nothing of a text that Codex itself wrote, and all of any other."""
    return UserText() if is_injected(text) else UserText(text)


DIALECT = COMMON | Dialect(prompts=(parse_prompt,), polling=("write_stdin",), never_ran=_WORDS["never_ran"])
