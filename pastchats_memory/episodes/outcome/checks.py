"""Read the results of tests, builds, linters and type checks; a later run supersedes.

Runners report similar facts in different words: how many tests failed or passed, the overall result, the exit code.
"""

import re
from dataclasses import dataclass

from pastchats_memory.episodes.outcome.episode import (
    MAX_QUOTATION,
    MAX_SCANNED,
    Episode,
    EpisodeTurn,
    QuotedLine,
    cached,
    quote_line,
)
from pastchats_memory.episodes.outcome.patterns import EXPRESSIONS, Pattern
from pastchats_memory.model import REFUSED
from pastchats_memory.text.shell import NO_SUCH_COMMAND, Family, classify_check

_NEVER_RAN = Pattern(NO_SUCH_COMMAND)


@dataclass(frozen=True, slots=True)
class Check:
    """One run of a test, a linter or a build."""

    place: int
    family: Family
    passed: bool
    evidence: tuple[QuotedLine]
    scope: str
    """Folder or package of the run; empty if the command names none."""
    selected: frozenset[str]
    """Words of the command that select what runs."""
    has_exclusions: bool
    """Whether the command excludes something by name."""
    failed: frozenset[str]
    """Names of failed tests."""


def find_failure(output: str) -> re.Match[str] | None:
    """Return the last report of a failure in an output."""
    return EXPRESSIONS["checks.red"].find_last(output)


def find_error(output: str) -> re.Match[str] | None:
    """Return the last error of any program in an output."""
    return EXPRESSIONS["checks.error"].find_last(output) or EXPRESSIONS["checks.red"].find_last(output)


def read_check_output(output: str) -> tuple[bool, str] | None:
    """Return whether a check passed, and the line that shows it; None without such a line."""
    if red := EXPRESSIONS["checks.red"].find_last(output):
        return False, quote_line(output, 0, red.start())[0].quotation
    green = EXPRESSIONS["checks.green"].find_last(output)
    error = EXPRESSIONS["checks.error"].find_last(output)
    if error and not (green and green.start() > error.start()):
        return False, quote_line(output, 0, error.start())[0].quotation
    return (True, _trim_brackets(green[0])[:MAX_QUOTATION]) if green else None


def _trim_brackets(line: str) -> str:
    """Return the text on one line, without an unmatched closing bracket."""
    text = " ".join(line.split())
    return text.rstrip(")]") if text.count("(") < text.count(")") or text.count("[") < text.count("]") else text


def _read_check(place: int, row: EpisodeTurn) -> Check | None:
    heading, _, output = row.content.partition("\n")
    command = heading.removeprefix("$ ")
    family = classify_check(command if heading.startswith("$ ") else "", output)
    result = read_check_output(output[-MAX_SCANNED:])
    has_no_tests = (
        family == "test"
        and EXPRESSIONS["checks.no_tests"].search(output)
        and not EXPRESSIONS["checks.some_tests"].search(output)
    )
    if (
        family is None
        or row.content.endswith(REFUSED)
        or has_no_tests
        or _NEVER_RAN.search(output)
        or (EXPRESSIONS["checks.not_allowed"].search(output) and not EXPRESSIONS["checks.some_tests"].search(output))
        or (result is None and EXPRESSIONS["checks.started"].search(output))
    ):
        return None
    if result is None and row.kind != "error" and EXPRESSIONS["checks.filtered"].search(command):
        return None
    if row.kind == "error":
        result = (
            False,
            result[1]
            if result and not result[0]
            else " ".join(output.split("\n", 1)[0].split())[:MAX_QUOTATION] or command,
        )
    green, line = result or (True, " ".join(heading.split())[:MAX_QUOTATION])
    failed = (
        found["name"].rpartition("/")[2].partition(".")[0] for found in EXPRESSIONS["checks.failed_in"].finditer(output)
    )
    return Check(
        place,
        family,
        green,
        (QuotedLine(line, place),),
        _find_scope(command),
        _find_selection(command),
        bool(EXPRESSIONS["checks.excludes"].search(command)),
        frozenset(failed),
    )


@cached
def standing_checks(episode: Episode) -> list[Check]:
    """Return the runs that no later run supersedes, the latest first."""
    standing: list[Check] = []
    for place, row in episode.tool_results():
        check = _read_check(place, row)
        if check and not any(_supersedes(later, check) for later in standing):
            standing.append(check)
    return standing


def has_running_check(episode: Episode) -> bool:
    """Return whether a check was started in the background and has no result."""
    started = [
        step
        for step, label in episode.steps()
        if EXPRESSIONS["checks.in_background"].search(label.rstrip(") ")) and classify_check(label.partition(" ")[2])
    ]
    return bool(started) and not any(
        episode.find_step(check.place) >= started[-1] for check in standing_checks(episode)
    )


def is_partly_rerun(episode: Episode, check: Check) -> bool:
    """Return whether the check ran again only in part, or elsewhere."""
    return any(later.family == check.family and later.place > check.place for later in standing_checks(episode))


def _supersedes(later: Check, earlier: Check) -> bool:
    """Return whether the later run covers the same place and all earlier failures."""
    if later.family != earlier.family:
        return False
    if later.scope and earlier.scope and later.scope != earlier.scope:
        return False
    if earlier.passed:
        return True
    if later.has_exclusions and not earlier.has_exclusions:
        return False
    narrower = later.selected - earlier.selected
    return not narrower or all(any(name in word or word in name for word in narrower) for name in earlier.failed)


def _find_scope(command: str) -> str:
    """Return the last part of a command's folder, or its package; "" if it names none."""
    found = EXPRESSIONS["checks.where"].find_last(command)
    return found["folder"].rstrip("/").rpartition("/")[2] if found else ""


def _find_selection(command: str) -> frozenset[str]:
    """Return the words that select what runs: paths, test names, options."""
    excluded = {found["folder"] for found in EXPRESSIONS["checks.where"].finditer(command)} | {
        found["file"] for found in EXPRESSIONS["checks.redirect"].finditer(command)
    }
    chosen = [found[0] for found in EXPRESSIONS["checks.target"].finditer(command)]
    chosen += [
        found["chosen"]
        for pattern in (EXPRESSIONS["checks.option"], EXPRESSIONS["checks.filter"])
        for found in pattern.finditer(command)
    ]
    return frozenset(word for word in chosen if not word.endswith(("...", "/", ".")) and word not in excluded)
