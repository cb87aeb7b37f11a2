"""What the person sends a second time: the same prompt, or the output of a program, pasted, with the error in it."""

from __future__ import annotations

import re
from itertools import islice

from pastchats_memory.outcome.answers import asks_back, ends_asking, last_answer
from pastchats_memory.outcome.checks import red_line
from pastchats_memory.outcome.rows import LONGEST, OPENING, Episode, Evidence, Pattern, once, quoted
from pastchats_memory.outcome.said import FEW_WORDS, TRIES, opening, words_of
from pastchats_memory.text.shell import find_instruction

SAME_WORDS = 0.95
"""Share of words in common above which a prompt was sent again, with a slip mended."""
MOST_ADDED = 0.6
"""The same where it was sent again with something added."""
TELLING = 20
"""Characters from which on a line of an error is that error and no other."""
TELLING_WORDS = 8
"""Words below which a prompt that points at something ("can you check this cell?") may point at something else when it comes again."""
MOST_COMMANDS = 20
"""Pasted commands that are looked at."""

_WORD = re.compile(r"[^\W_]+")
_REFERRED = re.compile(r"(?:@\S+(?: |\Z))+")
"""Files alone: what stands in them may be something else by now, such as what a terminal shows."""
_POINTS = Pattern(r"\b(?:this|these|here)\b")
_ERROR_LINE = Pattern(
    r"""
    ^(?!.*\b(?:throw|raise|return|new|console|print\w*|echo|except|catch)\b)[\ \t>│|⨯✖×]*(?:\S{1,40}\ ){0,3}?(?:
        [\w.]{0,60}(?:Error|Exception)|(?:fatal|internal|compile|runtime|syntax|build|test|execution)?\ ?error|fatal
        |panic|failed|uncaught\ \w+
    )\ ?(?:\[[^\]\n]{0,40}\]|\([^)\n]{0,40}\))?(?::\ ?|=).{3,}$
    |^[\ \t>│|=]*(?:
        npm\ (?:ERR!|error)|ERROR\b|error\ TS\d+|error\[E\d+\]|Traceback\ \(|Uncaught\ \w+|FAILED\ |fatal:
    )
    |^\W*\w+_(?:mismatch|error|denied|failed|invalid|exceeded|missing|not_found)\b.{0,80}
    |^.{0,60}\b(?:
        flag\ provided\ but\ not\ defined|unrecognized\ arguments?
        |(?:unknown|invalid|unrecognized|no\ such)\ (?:flag|option|argument|command|subcommand|switch)
    )\b.{0,80}
    |\bFile\ "[^"\n]{1,200}",\ line\ \d+
    |^.{0,80}\b(?:
        command\ not\ found|No\ such\ file\ or\ directory|exit\ code\ [1-9]\d*|Permission\ denied|Module\ not\ found
        |Cannot\ find\ module
    )\b"""
)
_VARIES = re.compile(r"\d+")
_BEFORE_NAME = re.compile(r"\A.*?(?=\b[\w.]{0,60}(?:error|exception)\b)")
_GENERAL = Pattern(
    r"\bexit(?:ed\ with)?\ (?:code|status)\b|\bcomplete\ log\b|\bcommand\ failed\b|\btest(?:s|\ suites?)?\ failed\b"
)
"""What stands in the output of a run whatever went wrong in it."""
_ASKS_TO_SEE = Pattern(r"\b(?:paste|share|provide|send|show\ me|post)\b|请提供|пришл|добавьте")
_BRINGS = Pattern(r"\s*/(?:add|read|read-only)\b")
_PASTED_COMMAND = re.compile(r"^.{0,120}?[$%❯\]#] +(?P<command>[\w./-]{2,}[^\n]{0,80})", re.MULTILINE)
_TERMINAL = Pattern(
    r"""
    ^(?:\[[^\]\n]{5,80}\]|.{0,80}[$%❯])[ ]
    |^(?:
        Run\ |Traceback|\s*File\ \"|npm\ |\d+s$|Error\b|ERROR\b|error\b|\S*(?:Error|Exception):|>\ \S+@|Uncaught
        |\s*at\ \S+\ \(
    )""",
    cased=True,
)


@once
def is_paste(episode: Episode) -> bool:
    """Whether what was said begins as the output of a program does."""
    return bool(_TERMINAL.match(opening(episode)))


def asked_again(episode: Episode) -> tuple[Evidence, ...]:
    """The same prompt was sent once more, or the same error; not with the files that the answer asked for, nor a command that tries what was done."""
    if asks_back(episode) and _BRINGS.match(episode.following):
        return ()
    words = words_of(episode.following)
    said = (turn.content for turn in episode.turns if turn.role == "user")
    prompts = [find_instruction(prompt) for prompt in said if not TRIES.match(prompt)]
    for text in filter(None, (words, find_instruction(episode.following))):
        if any(_same(prompt, text) for prompt in prompts):
            return quoted(text, len(episode.turns))
    return _erred_again(episode)


def _erred_again(episode: Episode) -> tuple[Evidence, ...]:
    """A line of an error that was asked about is sent once more, and not because the answer wants to see it."""
    if ends_asking(episode) or _ASKS_TO_SEE.search(last_answer(episode)[1][-2 * OPENING :]):
        return ()
    asked = set(_errors(episode.asked).values())
    places = [place for place, line in _errors(episode.following).items() if line in asked]
    return quoted(episode.following, len(episode.turns), places[0]) if places else ()


def _errors(text: str) -> dict[int, str]:
    """Lines that tell one error from others, by where they begin, without numbers, which vary from run to run."""
    lines = {}
    for found in _ERROR_LINE.all(text[:LONGEST]):
        begin = text.rfind("\n", 0, found.end()) + 1
        line = " ".join(text[begin : begin + OPENING].partition("\n")[0].lower().split())
        line = _VARIES.sub("0", _BEFORE_NAME.sub("", line))
        if len(line) >= TELLING and not _GENERAL.search(line):
            lines[begin] = line
    return lines


def _same(first: str, second: str) -> bool:
    """Equal, or one with something added to the other; where a word stands for another one, something else was asked."""
    one, other = (" ".join(text[:LONGEST].split()) for text in (first, second))
    if _REFERRED.fullmatch(one) or (min(len(one.split()), len(other.split())) < TELLING_WORDS and _POINTS.search(one)):
        return False
    if one == other and (first.startswith("/") or len(one.split()) >= FEW_WORDS):
        return True
    words, others = (frozenset(word.rstrip("s") for word in _WORD.findall(text.lower())) for text in (one, other))
    shared, least, most = len(words & others), min(len(words), len(others)), max(len(words), len(others))
    added = shared == least and shared > MOST_ADDED * most
    return least >= FEW_WORDS and (added or shared > SAME_WORDS * len(words | others))


@once
def pasted_error(episode: Episode) -> tuple[Evidence, ...]:
    """The line of an error in what the person pasted, near its beginning or in the output of a program."""
    text = episode.following[: LONGEST if is_paste(episode) else 3 * OPENING]
    found = _ERROR_LINE.search(text) or (red_line(text) if is_paste(episode) else None)
    return quoted(text, len(episode.turns), found.start()) if found else ()


def advice_erred(episode: Episode) -> tuple[Evidence, ...]:
    """The person pastes what a command printed that was recommended to them, with an error in it."""
    text = episode.following[:LONGEST]
    error = _ERROR_LINE.search(text)
    said = "\n".join(answer for _, answer in episode.answers())[-4 * LONGEST :]
    pasted = (found["command"].strip() for found in islice(_PASTED_COMMAND.finditer(text), MOST_COMMANDS))
    is_advised = any(_is_named(command, said) for command in pasted if " " in command or "/" in command)
    return quoted(text, len(episode.turns), error.start()) if error and is_advised else ()


def _is_named(command: str, said: str) -> bool:
    """Whether the command stands in what was said, and not inside another word."""
    return bool(re.search(rf"(?<![\w/@.-]){re.escape(command)}(?![\w/-])", said))
