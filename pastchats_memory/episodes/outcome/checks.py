"""Read the results of tests, builds, linters and type checks.

A later run supersedes an earlier one.

Runners report similar facts in different words: how many tests failed or passed, the overall result, the exit code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pastchats_memory.episodes.outcome.episode import (
    MAX_QUOTATION,
    MAX_SCANNED,
    Episode,
    EpisodeTurn,
    Pattern,
    QuotedLine,
    cached,
    quote_line,
)
from pastchats_memory.text.shell import NO_SUCH_COMMAND, Family, classify_check

_RED = Pattern(
    r"""
    (?<![\d.,/])[1-9]\d*(?:/\d+)?(?:\ (?!expected|unexpected\ pass)[a-z]{3,}(?:\(s\))?)?
        \ (?:failed|failing|failures?|fails?|errors?)(?:\b|\(s\))(?!\ expected)(?!\ \([^)\n]*\b0\ remaining)
    |(?<![\d.,/])[1-9]\d*\ (?:issues?(?:\ found|:|$)|offenses?\ detected|files?\ would\ be\ reformatted)
    |\b[1-9]\d*\ of\ \d+\ (?:tests\ )?failed\b|\b(?!(\d+)/\1\b)\d+/\d+\ \w+\ passed\b|\b0\ of\ [1-9]\d*\ \w+\ suites
    |\b(?:fail(?:ed|ures?)?|errors?|issues\ found)\b(?:\ ?[:=|]|\ )[\ *]*[1-9]\d*\b(?!:)
    |\bFAILED\ \((?:failures|errors)|^\W{0,6}FAIL(?:URES?|ED)?\b(?!\ [0|]|ED\ \S+::)(?!ED\ *\S+/)
    |(?-i:\S\ FAIL(?:ED)?(?:$|\ in\ |\ ?\*))|\*Test\ Failed\*|^\S[^\n]{0,80}\.{6,}Failed$|^not\ ok\ \d
    |(?<!\d\ )\b(?:builds?|tests?|compilation|lint(?:ing)?|type.?check(?:ing)?|generation|typecheck)\ (?:has\ )?fail
        (?:ed|ure)\b
    |\b(?:did\ NOT|not)\ complete\ successfully|\bConfiguring\ incomplete
    |\bfailed\ to\ (?:compile|solve|build|execute\ goal)\b|\bcould\ not\ compile\b|\bCOMPILATION\ ERROR\b
    |\bmake(?:\[\d+\])?:\ \*\*\*|^ninja:\ build\ stopped|\bELIFECYCLE\b|\bsbt\.TestsFailed|\berror\ TS\d+:
    |^error\[E\d+\]:|\bCode\ style\ issues\ found\b|\bSegmentation\ fault\b|\btimed\ out\ after\b
    |^(?:rc|ret)\ ?[=:]\ ?[1-9]\d{0,2}$
    |\bexit(?:ed)?(?:\ with)?(?:\ ?code|_code|\ status)?[\ =:]+[1-9]\d{0,2}\b|\bexited\ \([1-9]"""
)
"""A failure, wherever it stands in the output: a count, an overall result, an exit code."""

_GREEN = Pattern(
    r"""
    (?<![\d.,/])[1-9]\d*(?:/\d+|\ of\ \d+)?(?:\ [a-z]{3,}(?:\(s\))?)?(?:\ in\ \d+\ \w+)?
        \ (?:passed|passing|pass(?:es)?|successful|succeeded)\b[^\n]{0,40}
    |\b(?:PASS(?:ED)?|succeeded)\b[\ \]:]{1,3}[1-9]\d*\b[^\n]{0,30}
    |(?<![\d.,/])[1-9]\d*\ [^\n]{0,60}?\b(?:0\ (?:failures|failed)|no\ failures)\b[^\n]{0,30}
    |\b(?:Tests\ run|total):\ [1-9][^\n]{0,60}|\bwith\ 0\ failures\b|^[#ℹ]\ fail\ 0$|^\ *0\ fail$
    |\b(?:0|no)\ (?:\w+\ )?(?:errors?|issues|problems|offenses|violations)\b(?:\(s\))?[^\n]{0,40}
    |\bIssues\ found:\ 0\b|\bFound\ \d+\ errors?\ \([^)\n]*\b0\ remaining\)|\ball\ matched\ files\ use\ Prettier
    |\bNo\ fixes\ applied\b|\ball\ (?:\d+\ )?(?:tests?|specs|checks)\ (?:have\ )?(?:passed|successful|succeeded)\b
    |^\W{0,6}(?:PASS(?:ED)?|OK|SUCCESS)\b[^\n]{0,40}$|(?<!\.)\.{6,}Passed$|\S\ PASSED\ in\ |^ok\s+\S+\s+[\d.(]\S*
    |\btest\ result:\ ok\.[^\n]{0,40}|^Passed!\ [^\n]{0,60}
    |\b(?:build|compil(?:ed|ation)|tests?|generation|test\ run|type.?check|lint)\b:?\ (?:\w+\ )?
        (?:succe(?:ss(?:ful(?:ly)?)?|eded)|completed?|passed|ok)\b[^\n]{0,20}
    |\bSuccessfully\ (?:built|tagged|ran)\b|\bbuilt\ in\ [\d.]+\ ?m?s\b|^Result:\ PASS\b|^[^\S\n]*+Finished\b[^\n]{0,60}
    |^All\ done!|\bconfiguration\ is\ valid\b|\bBuild\ files\ have\ been\ written\b|\bBuilt\ target\ \S+
    |^\#\d+\ naming\ to\ \S+|^[1-9]\d*\ files?\ (?:already\ formatted|left\ unchanged)|\brated\ at\ 10(?:\.0+)?/10
    |\bDone\ in\ [\d.]+\ ?m?s\b|\b\w*exit(?:ed)?(?:\ with)?(?:\ ?code|_code|\ status)?[\ =:]+0\b"""
)
"""Overall success."""

_ERROR = Pattern(
    r"""
    \bTraceback\ \(most\ recent|^[^\S\n]*+(?:[\w./-]+:\d[:\d]*\s+)?(?:fatal\ )?error\b[:\ ]|:\ (?:fatal\ )?error:
    |\bnpm\ (?:ERR!|error)|command\ not\ found|No\ such\ file\ or\ directory|\bSyntaxError\b|\bcannot\ use\b
    |^\W{0,4}ERROR\b|^CMake\ Error|^\w*(?:Error|Exception):\ |\bTypeError\b|^Type\ error:|^\w*Error\ while[ ]
    |does\ not\ implement|\bundefined(?:\ reference\b|:\ )|^FAILED\b|^panic:|\bpanicked\ at\b|\bAssertionError\b
    |^\S+\.\w{1,4}:\d+:\d+:\ (?!warning|note|info)|\bUnresolved\ reference\b|\bsymbol\(s\)\ not\ found\b|\b[A-Z]{4,}_FAILED\b|^Killed$|^fatal:[ ]"""
)
"""Errors that a passing check may print on its way. They count unless a line of success follows."""

_FILTERED = Pattern(
    r"\|\s*(?:tail|head|grep|rg|wc|sed|awk|cut|sort|jq)\b|\|\|\s*(?:true|:|echo)|>\s*/dev/null|[^>&]&\s*$"
)
"""Commands whose silence shows nothing."""


_STARTED = Pattern(
    r"""
    \brunning\ in\ (?:the\ )?background\b|\bProcess\ running\ with\ session\ ID\b|\bmoved\ to\ (?:the\ )?background\b"""
)
"""A command that still runs. Its end is recorded elsewhere."""
_IN_BACKGROUND = Pattern(r"[^>&]&\Z|\bnohup\b")
_NO_TESTS = Pattern(
    r"""
    \bNo\ test\ matches\b|\bno\ tests?\ (?:ran|found|to\ run|files|were\ run|collected)\b|\bRan\ 0\ tests\b|\bcollected\ 0\ items\b
    |^[=\ ]*(?:\d+\ (?:deselected|skipped),?\ ?)+\ ?in\ [\d.]+s|\btest\ result:\ ok\.\ 0\ passed;\ 0\ failed"""
)
"""No test ran, unless the output shows another one that did."""
_NEVER_RAN = Pattern(NO_SUCH_COMMAND)
_SOME_TESTS = Pattern(
    r"(?<![\d.])[1-9]\d*\ (?:passed|failed|passing|failing)\b|^ok\s+\S+\s+[\d.(]\S*(?!.*no\ tests)|^---\ (?:PASS|FAIL)|^FAIL\b"
)


_WHERE = Pattern(
    r"""
    (?:
        \bcd|(?-i:(?<!\S)-C)|(?<!\S)--(?:prefix|workspace|package|project|cwd|dir)
        |\b(?:pnpm|turbo|nx|lerna)\b[^;&|]{0,40}?\ --filter
    )[\ =](?P<folder>[^\s;&|]+)"""
)
_OPTION = Pattern(
    r"""(?<!\S)(?:-k|-t|-g|-run|--(?:run|grep|filter|tests?|testNamePattern)|-Dtest)[\ =]['"]?(?P<chosen>[^\s'"]+)"""
)
"""An option that selects tests."""
_TARGET = Pattern(
    r"""
    (?<=\s)(?:
        [\w.-]*/[\w./:\[\]-]+|[\w/.-]+\.\w{1,4}(?:::[\w:\[\]-]+)?|[\w-]+::[\w:-]+
    )(?=\s|\Z)"""
)
"""A path, or the name of a test."""
_FILTER = Pattern(
    r"\b(?:cargo\s+(?:test|t|nextest\s+run)|jest|vitest(?:\s+run)?|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test(?:\s+--)?)\s+(?P<chosen>\w+)(?=\s|\Z)"
)
"""A positional argument that runners match against test names."""
_REDIRECT = Pattern(r">\s*(?P<file>[^\s;&|]+)")
_EXCLUDES = Pattern(r"--\w*(?:deselect|ignore|exclude|skip)\w*|-k[\ =]['\"]?not\b|\bgit\ rm\b")
_FAILED_IN = Pattern(r"^(?:\W{0,4}(?:FAILED|FAIL|ERROR)\s+|test\ (?=\S+\ \.\.\.\ FAILED))(?P<name>[\w./:-]+)")


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
    return _RED.find_last(output)


def find_error(output: str) -> re.Match[str] | None:
    """Return the last error of any program in an output."""
    return _ERROR.find_last(output) or _RED.find_last(output)


def read_check_output(output: str) -> tuple[bool, str] | None:
    """Return whether a check passed, and the line that shows it; None without such a line."""
    if red := _RED.find_last(output):
        return False, quote_line(output, 0, red.start())[0].quotation
    green = _GREEN.find_last(output)
    error = _ERROR.find_last(output)
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
    has_no_tests = family == "test" and _NO_TESTS.search(output) and not _SOME_TESTS.search(output)
    if family is None or has_no_tests or _NEVER_RAN.search(output) or (result is None and _STARTED.search(output)):
        return None
    if result is None and row.kind != "error" and _FILTERED.search(command):
        return None
    if row.kind == "error":
        result = (
            False,
            result[1]
            if result and not result[0]
            else " ".join(output.split("\n", 1)[0].split())[:MAX_QUOTATION] or command,
        )
    green, line = result or (True, " ".join(heading.split())[:MAX_QUOTATION])
    failed = (found["name"].rpartition("/")[2].partition(".")[0] for found in _FAILED_IN.finditer(output))
    return Check(
        place,
        family,
        green,
        (QuotedLine(line, place),),
        _find_scope(command),
        _find_selection(command),
        bool(_EXCLUDES.search(command)),
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
        if _IN_BACKGROUND.search(label.rstrip(") ")) and classify_check(label.partition(" ")[2])
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
    found = _WHERE.find_last(command)
    return found["folder"].rstrip("/").rpartition("/")[2] if found else ""


def _find_selection(command: str) -> frozenset[str]:
    """Return the words that select what runs: paths, test names, options."""
    excluded = {found["folder"] for found in _WHERE.finditer(command)} | {
        found["file"] for found in _REDIRECT.finditer(command)
    }
    chosen = [found[0] for found in _TARGET.finditer(command)]
    chosen += [found["chosen"] for pattern in (_OPTION, _FILTER) for found in pattern.finditer(command)]
    return frozenset(word for word in chosen if not word.endswith(("...", "/", ".")) and word not in excluded)
