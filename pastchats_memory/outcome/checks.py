"""What tests, builds, linters and type checks said: the last word counts, not the first.

Runners differ in their words, hardly in what those are: how many failed or passed, that the whole did, with which code it exited.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pastchats_memory.commands import Family, check_of
from pastchats_memory.outcome.rows import LONGEST, QUOTED, Episode, Evidence, Pattern, Row, once, quoted

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
    |\bSuccessfully\ (?:built|tagged|ran)\b|\bbuilt\ in\ [\d.]+\ ?m?s\b|^Result:\ PASS\b|^\s*Finished\b[^\n]{0,60}
    |^All\ done!|\bconfiguration\ is\ valid\b|\bBuild\ files\ have\ been\ written\b|\bBuilt\ target\ \S+
    |^\#\d+\ naming\ to\ \S+|^[1-9]\d*\ files?\ (?:already\ formatted|left\ unchanged)|\brated\ at\ 10(?:\.0+)?/10
    |\bDone\ in\ [\d.]+\ ?m?s\b|\b\w*exit(?:ed)?(?:\ with)?(?:\ ?code|_code|\ status)?[\ =:]+0\b"""
)
"""What says that all of it is good."""

_NOISE = Pattern(
    r"""
    \bTraceback\ \(most\ recent|^\s*(?:[\w./-]+:\d[:\d]*\s+)?(?:fatal\ )?error\b[:\ ]|:\ (?:fatal\ )?error:
    |\bnpm\ (?:ERR!|error)|command\ not\ found|No\ such\ file\ or\ directory|\bSyntaxError\b|\bcannot\ use\b
    |^\W{0,4}ERROR\b|^CMake\ Error|^\w*(?:Error|Exception):\ |\bTypeError\b|^Type\ error:|^\w*Error\ while[ ]
    |does\ not\ implement|\bundefined(?:\ reference\b|:\ )|^FAILED\b|^panic:|\bpanicked\ at\b|\bAssertionError\b
    |^\S+:\d+:\d+:\ [A-Z]+\d+\b|\bUnresolved\ reference\b|\bsymbol\(s\)\ not\ found\b|^fatal:[ ]"""
)
"""What a check that passed may have printed on its way: red only where no green line follows."""

_CUT = Pattern(r"\|\s*(?:tail|head|grep|rg|wc|sed|awk|cut|sort|jq)\b|\|\|\s*(?:true|:|echo)|>\s*/dev/null|[^>&]&\s*$")
"""Commands of which silence says nothing."""


@dataclass(frozen=True, slots=True)
class Check:
    """A run of a test, a linter or a build."""

    place: int
    family: Family
    passed: bool
    evidence: tuple[Evidence]


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
    return (True, " ".join(green[0].split())[:QUOTED]) if green else None


def _check(place: int, row: Row) -> Check | None:
    heading, _, output = row.content.partition("\n")
    command = heading.removeprefix("$ ")
    family = check_of(command)
    if not heading.startswith("$ ") or family is None:
        return None
    said = passed(output[-LONGEST:])
    if said is None and row.kind != "error" and _CUT.search(command):
        return None
    if row.kind == "error":
        said = (
            False,
            said[1] if said and not said[0] else " ".join(output.split("\n", 1)[0].split())[:QUOTED] or command,
        )
    green, line = said or (True, " ".join(heading.split())[:QUOTED])
    return Check(place, family, green, (Evidence(line, place),))


@once
def last_checks(episode: Episode) -> list[Check]:
    """The last run of each family, the latest first."""
    found: dict[Family, Check] = {}
    for place, row in episode.traffic():
        check = _check(place, row)
        if check:
            found.setdefault(check.family, check)
    return list(found.values())
