"""What a message of Gemini's, in parts, comes to in a session of Gemini CLI and its forks: prompts, commands, answers of tools."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pastchats_memory.readers.fields import Json, text_of
from pastchats_memory.readers.gemini_shell import shell_output
from pastchats_memory.readers.gemini_words import command_in, shell_in, summary_in, typed
from pastchats_memory.readers.injected import BUILT_INS
from pastchats_memory.readers.telling import At, Telling
from pastchats_memory.readers.traffic import Output, output_of, text_in


def say_prompt(telling: Telling, sent: str, at: At, pictures: int) -> None:
    """Tell what the person typed of a text in the user's role: words, a command, one for the shell; the summary of a compression."""
    telling.say("system", "summary", summary_in(sent), replace(at, native_id=""))
    command, printed = shell_in(sent)
    text = f"! {command}" if command else typed(sent)
    name = command_in(text)
    if name.lower() not in BUILT_INS:
        telling.prompt(text, at, pictures, kind="command" if command or name else "prompt")
    if command:
        telling.call(at.native_id, "shell", {"command": command})
        telling.result(at.native_id, output_of(printed), at)


def answered(responses: Iterable[Json], *, failed: bool = False) -> Output:
    """What the `response` of each part that answers a call says together."""
    told = list(responses)
    fault = "\n".join(text for response in told if (text := text_of(response.get("error"))))
    text = fault or "\n".join(text_in(response.get("output")) for response in told)
    return shell_output(text, failed=failed or bool(fault))
