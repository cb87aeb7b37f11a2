"""What tests, builds, linters and commands said: the last word counts, not the first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.outcome.answers import claimed, is_finished
from pastchats_memory.outcome.rows import LONGEST, QUOTED, Episode, Evidence, Row, last_of, listed, quoted

_CHECK = re.compile(
    r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|playwright|cypress|rspec|phpunit|ctest|go (?:test|build|vet)|cargo|mvnw?|gradlew?"
    r"|tsc|eslint|biome|ruff|flake8|mypy|pyright|pylint|golangci-lint|knip|make|ninja|xcodebuild|dotnet (?:test|build)"
    r"|(?:npm|pnpm|yarn|bun|deno)(?: run)? (?:t|test|build|lint|check|typecheck)|swift (?:test|build)|pre-commit)\b"
)
_RED = re.compile(
    r"(?<![\d.])[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?\b(?! fixed)|issues?:)|^FAIL(?:ED)?\b|\bFAILED \S+::|\berror TS\d+|^error(?:\[\w+\])?:"
    r"|\bBUILD (?:FAILED|FAILURE)\b|\bTraceback \(most recent|\btest result: FAILED|npm (?:ERR!|error)|\bexit(?: code|_code)?[ =:]+[1-9]|make(?:\[\d+\])?: \*\*\*"
    r"|^--- FAIL|: error:|\bcannot use\b|\bFailures: [1-9]|\bfailures=[1-9]|command not found|\bSyntaxError\b|does not implement",
    re.IGNORECASE | re.MULTILINE,
)
_GREEN = re.compile(
    r"(?<![\d.])[1-9]\d* (?:tests? )?(?:passed|passing)\b[^\n]{0,30}|\b(?:all )?tests? passed\b|^OK\b[^\n]{0,20}|^ok\s+\S+\s+[\d.(]\S*|\btest result: ok[^\n]{0,40}"
    r"|\bBUILD SUCCESS(?:FUL)?\b|\bAll checks passed\b|\bSuccess: no issues[^\n]{0,40}|\b(?:0|no) (?:errors|issues|problems)\b|\bcompiled successfully\b"
    r"|\b\w*exit(?: code)?[ =:]+0\b|\bFinished\b[^\n]{0,40}|\bbuilt in [\d.]+m?s|✓ built",
    re.IGNORECASE | re.MULTILINE,
)


def checks(episode: Episode) -> Iterator[tuple[int, bool, tuple[Evidence]]]:
    """Place, whether it was green, and the line that says so, of every test, build or lint run, the last first."""
    for place, row in episode.traffic():
        heading, _, output = row.content.partition("\n")
        if not heading.startswith("$ ") or not (row.kind == "result" or _CHECK.search(heading)):
            continue
        output = output[-LONGEST:]
        red = last_of(_RED, output)
        green = last_of(_GREEN, output)
        if row.kind == "error" or red:
            yield place, False, quoted(output, place, red.start() if red else 0)
        elif green:
            yield place, True, (Evidence(" ".join(green[0].split())[:QUOTED], place),)
        else:
            yield place, True, quoted(heading, place)


def check_passed(episode: Episode) -> tuple[Evidence, ...]:
    """The last test, build or lint run was green."""
    last = next(checks(episode), None)
    return last[2] if last is not None and last[1] and is_finished(episode) else ()


def check_failed(episode: Episode) -> tuple[Evidence, ...]:
    """The last one was red, and nobody says that it was seen to afterwards."""
    last = next(checks(episode), None)
    return last[2] if last is not None and not last[1] and not claimed(episode) else ()


_INTERRUPTED = re.compile(
    r"\[Request interrupted|KeyboardInterrupt|\binterrupted by (?:the )?user\b|^API Error|rate limit(?:ed)? (?:reached|exceeded)",
    re.MULTILINE,
)


def _cut_short(turn: Row) -> bool:
    """Whether an answer was stopped while tools were at work; at the next prompt the same key only leaves the program."""
    stopped = bool({"interrupted", "api_error"} & listed(turn, "flags"))
    return stopped and turn.role == "assistant" and bool(listed(turn, "tools"))


def broke_off(episode: Episode) -> tuple[Evidence, ...]:
    """The episode ends in an interruption or in an error that nobody answered."""
    place = len(episode.turns) - 1
    last = episode.turns[place]
    if _cut_short(last) and not claimed(episode):
        return quoted(last.content, place, len(last.content.rstrip()) - 1)
    found = last_of(_INTERRUPTED, last.content[-LONGEST:]) if last.role != "user" and len(episode.turns) > 1 else None
    if last.role == "tool" and last.kind == "error":
        return quoted(last.content, place, max(0, len(last.content.rstrip()) - 1 - QUOTED // 2))
    return quoted(last.content[-LONGEST:], place, found.start()) if found and len(last.content) < LONGEST else ()
