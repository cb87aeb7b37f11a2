"""What tests, builds, linters and type checks said: the last word counts, not the first.

Runners differ in their words, hardly in what those are: how many failed or passed, that the whole did, with which code it exited.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pastchats_memory.outcome.rows import LONGEST, QUOTED, Episode, Evidence, Pattern, Row, once, quoted
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
"""What says, wherever it stands in the output, that something failed: how many, that the whole did, how it exited."""

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
    |^\W{0,6}(?:PASS(?:ED)?|OK|SUCCESS)\b[^\n]{0,40}$|\.{6,}Passed$|\S\ PASSED\ in\ |^ok\s+\S+\s+[\d.(]\S*
    |\btest\ result:\ ok\.[^\n]{0,40}|^Passed!\ [^\n]{0,60}
    |\b(?:build|compil(?:ed|ation)|tests?|generation|test\ run|type.?check|lint)\b:?\ (?:\w+\ )?
        (?:succe(?:ss(?:ful(?:ly)?)?|eded)|completed?|passed|ok)\b[^\n]{0,20}
    |\bSuccessfully\ (?:built|tagged|ran)\b|\bbuilt\ in\ [\d.]+\ ?m?s\b|^Result:\ PASS\b|^[^\S\n]*+Finished\b[^\n]{0,60}
    |^All\ done!|\bconfiguration\ is\ valid\b|\bBuild\ files\ have\ been\ written\b|\bBuilt\ target\ \S+
    |^\#\d+\ naming\ to\ \S+|^[1-9]\d*\ files?\ (?:already\ formatted|left\ unchanged)|\brated\ at\ 10(?:\.0+)?/10
    |\bDone\ in\ [\d.]+\ ?m?s\b|\b\w*exit(?:ed)?(?:\ with)?(?:\ ?code|_code|\ status)?[\ =:]+0\b"""
)
"""What says that all of it is good."""

_NOISE = Pattern(
    r"""
    \bTraceback\ \(most\ recent|^[^\S\n]*+(?:[\w./-]+:\d[:\d]*\s+)?(?:fatal\ )?error\b[:\ ]|:\ (?:fatal\ )?error:
    |\bnpm\ (?:ERR!|error)|command\ not\ found|No\ such\ file\ or\ directory|\bSyntaxError\b|\bcannot\ use\b
    |^\W{0,4}ERROR\b|^CMake\ Error|^\w*(?:Error|Exception):\ |\bTypeError\b|^Type\ error:|^\w*Error\ while[ ]
    |does\ not\ implement|\bundefined(?:\ reference\b|:\ )|^FAILED\b|^panic:|\bpanicked\ at\b|\bAssertionError\b
    |^\S+\.\w{1,4}:\d+:\d+:\ (?!warning|note|info)|\bUnresolved\ reference\b|\bsymbol\(s\)\ not\ found\b|\b[A-Z]{4,}_FAILED\b|^Killed$|^fatal:[ ]"""
)
"""What a check that passed may have printed on its way: red only where no green line follows."""

_CUT = Pattern(r"\|\s*(?:tail|head|grep|rg|wc|sed|awk|cut|sort|jq)\b|\|\|\s*(?:true|:|echo)|>\s*/dev/null|[^>&]&\s*$")
"""Commands of which silence says nothing."""


_STARTED = Pattern(
    r"""
    \brunning\ in\ (?:the\ )?background\b|\bProcess\ running\ with\ session\ ID\b|\bmoved\ to\ (?:the\ )?background\b"""
)
"""A command that goes on: how it ended is told elsewhere."""
_IN_BACKGROUND = Pattern(r"[^>&]&\Z|\bnohup\b")
_RAN_NONE = Pattern(
    r"""
    \bNo\ test\ matches\b|\bno\ tests?\ (?:ran|found|to\ run|files|were\ run|collected)\b|\bRan\ 0\ tests\b|\bcollected\ 0\ items\b
    |^[=\ ]*(?:\d+\ (?:deselected|skipped),?\ ?)+\ ?in\ [\d.]+s|\btest\ result:\ ok\.\ 0\ passed;\ 0\ failed"""
)
"""Nothing was tried, unless something else in the output was."""
_NEVER_RAN = Pattern(NO_SUCH_COMMAND)
_TRIED = Pattern(
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
"""What an option says is to be tried."""
_CHOICE = Pattern(
    r"""
    (?<=\s)(?:
        [\w.-]*/[\w./:\[\]-]+|[\w/.-]+\.\w{1,4}(?:::[\w:\[\]-]+)?|[\w-]+::[\w:-]+
    )(?=\s|\Z)"""
)
"""A path, or the name of a test."""
_FILTER = Pattern(
    r"\b(?:cargo\s+(?:test|t|nextest\s+run)|jest|vitest(?:\s+run)?|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test(?:\s+--)?)\s+(?P<chosen>\w+)(?=\s|\Z)"
)
"""What runners take for a part of the names that are to be tried."""
_INTO = Pattern(r">\s*(?P<file>[^\s;&|]+)")
_LEFT_OUT = Pattern(r"--\w*(?:deselect|ignore|exclude|skip)\w*|-k[\ =]['\"]?not\b|\bgit\ rm\b")
_FAILED_IN = Pattern(r"^(?:\W{0,4}(?:FAILED|FAIL|ERROR)\s+|test\ (?=\S+\ \.\.\.\ FAILED))(?P<name>[\w./:-]+)")


@dataclass(frozen=True, slots=True)
class Check:
    """A run of a test, a linter or a build."""

    place: int
    family: Family
    passed: bool
    evidence: tuple[Evidence]
    scope: str
    """The folder or the package in which it ran; empty where the command does not say."""
    selected: frozenset[str]
    """Words of the command that choose what is tried."""
    leaves_out: bool
    """Whether the command leaves something out by its name."""
    failed: frozenset[str]
    """Names of what failed."""


def red_line(output: str) -> re.Match[str] | None:
    """The last place where an output says that something failed."""
    return _RED.last(output)


def noise_in(output: str) -> re.Match[str] | None:
    """The last place where an output tells of an error of any program."""
    return _NOISE.last(output) or _RED.last(output)


def passed(output: str) -> tuple[bool, str] | None:
    """Whether what a check printed is green, and the line that says so; None where no line says anything."""
    if red := _RED.last(output):
        return False, quoted(output, 0, red.start())[0].quotation
    green = _GREEN.last(output)
    noise = _NOISE.last(output)
    if noise and not (green and green.start() > noise.start()):
        return False, quoted(output, 0, noise.start())[0].quotation
    return (True, _plain(green[0])[:QUOTED]) if green else None


def _plain(line: str) -> str:
    """On one line, without a bracket at its end that was opened before it."""
    text = " ".join(line.split())
    return text.rstrip(")]") if text.count("(") < text.count(")") or text.count("[") < text.count("]") else text


def _check(place: int, row: Row) -> Check | None:
    heading, _, output = row.content.partition("\n")
    command = heading.removeprefix("$ ")
    family = classify_check(command if heading.startswith("$ ") else "", output)
    said = passed(output[-LONGEST:])
    ran_none = family == "test" and _RAN_NONE.search(output) and not _TRIED.search(output)
    if family is None or ran_none or _NEVER_RAN.search(output) or (said is None and _STARTED.search(output)):
        return None
    if said is None and row.kind != "error" and _CUT.search(command):
        return None
    if row.kind == "error":
        said = (
            False,
            said[1] if said and not said[0] else " ".join(output.split("\n", 1)[0].split())[:QUOTED] or command,
        )
    green, line = said or (True, " ".join(heading.split())[:QUOTED])
    failed = (found["name"].rpartition("/")[2].partition(".")[0] for found in _FAILED_IN.all(output))
    return Check(
        place,
        family,
        green,
        (Evidence(line, place),),
        _scope(command),
        _selected(command),
        bool(_LEFT_OUT.search(command)),
        frozenset(failed),
    )


@once
def last_checks(episode: Episode) -> list[Check]:
    """The runs that no later one stands for, the latest first."""
    standing: list[Check] = []
    for place, row in episode.traffic():
        check = _check(place, row)
        if check and not any(_stands_for(later, check) for later in standing):
            standing.append(check)
    return standing


def is_awaited(episode: Episode) -> bool:
    """Whether a check was begun in the background and nothing tells how it ended."""
    begun = [
        step
        for step, label in episode.steps()
        if _IN_BACKGROUND.search(label.rstrip(") ")) and classify_check(label.partition(" ")[2])
    ]
    return bool(begun) and not any(episode.step_of(check.place) >= begun[-1] for check in last_checks(episode))


def is_narrowed(episode: Episode, check: Check) -> bool:
    """Whether what the check tried was tried again only in part, or elsewhere."""
    return any(later.family == check.family and later.place > check.place for later in last_checks(episode))


def _stands_for(later: Check, earlier: Check) -> bool:
    """Whether the later run tells of all that the earlier one tried: of the same place, and with what failed in it."""
    if later.family != earlier.family:
        return False
    if later.scope and earlier.scope and later.scope != earlier.scope:
        return False
    if earlier.passed:
        return True
    if later.leaves_out and not earlier.leaves_out:
        return False
    narrower = later.selected - earlier.selected
    return not narrower or all(any(name in word or word in name for word in narrower) for name in earlier.failed)


def _scope(command: str) -> str:
    """The last part of the folder, or the package, in which a command runs; empty where it does not say."""
    found = _WHERE.last(command)
    return found["folder"].rstrip("/").rpartition("/")[2] if found else ""


def _selected(command: str) -> frozenset[str]:
    """The words of a command that choose what is tried: paths, names of tests, what follows an option for that."""
    elsewhere = {found["folder"] for found in _WHERE.all(command)} | {found["file"] for found in _INTO.all(command)}
    chosen = [found[0] for found in _CHOICE.all(command)]
    chosen += [found["chosen"] for pattern in (_OPTION, _FILTER) for found in pattern.all(command)]
    return frozenset(word for word in chosen if not word.endswith(("...", "/", ".")) and word not in elsewhere)
