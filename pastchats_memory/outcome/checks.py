"""What tests, builds, linters and type checks said: the last word counts, not the first.

Formats of pytest, unittest, tox, jest, vitest, mocha, node:test, bun, deno, playwright, cypress, karma, go, cargo, nextest, maven,
gradle, rspec, minitest, phpunit, pest, dotnet, ctest, swift, xcodebuild, exunit, flutter, prove, tsc, eslint, biome, prettier,
ruff, flake8, mypy, pyright, pylint, rubocop, golangci-lint, make, ninja, npm, webpack, vite, and exit codes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pastchats_memory.outcome.rows import LONGEST, QUOTED, Episode, Evidence, Pattern, Row, once, quoted

Family = Literal["test", "lint", "build"]

_FAMILIES: tuple[tuple[Family, Pattern], ...] = (
    (
        "test",
        Pattern(
            r"""\b(?:pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|ava|karma|playwright|cypress|rspec|phpunit|pest|ctest|nextest|minitest|bats|prove|doctest)\b
            |\b(?:npm|pnpm|yarn|bun|deno|go|cargo|mix|rake|swift|dotnet|flutter|zig|bazel|make|just|mvnw?|gradlew?|sbt|lein|xcodebuild|node)\b
            [^\n;&|]{0,60}?(?<![\w/.])-{0,2}(?:tests?|t|spec|verify)\b|\bmanage\.py\ test\b"""
        ),
    ),
    (
        "lint",
        Pattern(
            r"""\b(?:tsc|vue-tsc|svelte-check|eslint|biome|oxlint|prettier|dprint|ruff|flake8|mypy|pyright|basedpyright|pylint|black|isort|golangci-lint|staticcheck
            |knip|rubocop|shellcheck|phpstan|clippy|ktlint|swiftlint|pre-commit|lefthook)\b|\bgo\ vet\b|\bcargo\ (?:check|clippy|fmt)\b
            |\b(?:npm|pnpm|yarn|bun|deno|make|just)\b[^\n;&|]{0,40}?\b(?:lint|check|typecheck|type-check|types|format)\b"""
        ),
    ),
    (
        "build",
        Pattern(
            r"""\b(?:make|ninja|cmake|xcodebuild|mvnw?|gradlew?|bazel|webpack|rollup|goreleaser)\b|\b(?:go|cargo|swift|dotnet|zig|vite|next|flutter|docker|tsup|hugo)\ build\b
            |\b(?:npm|pnpm|yarn|bun|just)\b[^\n;&|]{0,40}?\b(?:build|compile)\b|\b(?:gcc|g\+\+|clang|javac|rustc)\b"""
        ),
    ),
)
"""What a command checks, the first that fits."""

_RED = Pattern(
    r"""(?<![\d.,])[1-9]\d*\ (?:tests?\ |specs?\ |examples?\ |suites?\ |assertions?\ )?(?:failed|failing|failures?|fail)\b(?!\ expected)
    |^=+\ (?:\d+\ \w+,\ )*[1-9]\d*\ errors?\b|(?<![\d.,])[1-9]\d*\ errors?\ in\ [\d.]+s|^FAILED\ \((?:failures|errors)|\b(?:Failures|Errors|Failed):\ *[1-9]
    |\bTests:\ .*\b[1-9]\d*\ failed|^[#ℹ]\ fail\ [1-9]|^[1-9]\d*\ fail$|\b[1-9]\d*\ of\ \d+\ (?:tests\ )?failed\b|\b[1-9]\d*\ tests?\ failed\ out\ of
    |^\ ?FAIL(?:$|\t|:\ |\ +\S+\.\w)|^-{3}\ FAIL:|\[(?:build|setup)\ failed\]|\btest\ result:\ FAILED|^(?:FAILURES|ERRORS)!$|(?<!\d\ )\btests?\ failed\b|\bSome\ tests\ failed\b|^Result:\ FAIL\b|^not\ ok\ \d|\*Test\ Failed\*|^\S[^\n]{0,80}\.{6,}Failed$
    |\bBUILD\ (?:FAILED|FAILURE)\b|^Build\ FAILED|\bbuild\ failed\b|\bcould\ not\ compile\b|\bFailed\ to\ compile\b|\bcompiled\ with\ [1-9]\d*\ errors?\b
    |\bmake(?:\[\d+\])?:\ \*\*\*|^ninja:\ build\ stopped|\bELIFECYCLE\b|\berror\ Command\ failed\ with\ exit\ code
    |\bFound\ [1-9]\d*\ errors?\b(?![^\n]*\b0\ remaining)|(?<![\d.,])[1-9]\d*\ errors?,\ \d+\ warn|\([1-9]\d*\ errors?,|\berror\ TS\d+:|^[1-9]\d*\ issues?(?::|$)|(?<![\d.,])[1-9]\d*\ offenses?\ detected
    |\bCode\ style\ issues\ found\b|^[1-9]\d*\ files?\ would\ be\ reformatted|^error\[E\d+\]:
    |\bexit(?:\ ?code|_code|ed\ with(?:\ code)?|\ status)?[\ =:]+[1-9]\d{0,2}\b|\bexited\ \([1-9]"""
)
"""What says, wherever it stands in the output, that something failed."""

_GREEN = Pattern(
    r"""(?<![\d.,])[1-9]\d*\ (?:tests?\ |specs?\ )?(?:passed|passing)\b[^\n]{0,40}|^OK\b[^\n]{0,40}$|^ok\s+\S+\s+[\d.(]\S*|^PASS$|\btest\ result:\ ok\.[^\n]{0,40}
    |\bTests\ run:\ [1-9][^\n]{0,60}|\b[1-9]\d*\ (?:examples?|runs?|tests),\ [^\n]{0,60}\b0\ failures\b[^\n]{0,30}|\b100%\ tests\ passed[^\n]{0,40}|\bwith\ 0\ failures\b|^[#ℹ]\ fail\ 0$|^\ *0\ fail$
    |\ball\ (?:\d+\ )?(?:tests?|specs|checks)\ (?:have\ )?(?:passed|successful|succeeded)\b|\bTEST\ SUCCEEDED\b|^Result:\ PASS\b|^Passed!\ [^\n]{0,60}|^ok\ \|\ \d+\ passed
    |\bBUILD\ SUCCE(?:SS(?:FUL)?|EDED)\b[^\n]{0,20}|^Build\ (?:succeeded|complete)\b|\bcompiled\ successfully\b|^\s*Finished\b[^\n]{0,60}|\ball\ tests\ passed\b|^Test\ passed\.$|\bbuilt\ in\ [\d.]+\ ?m?s\b|\bSuccessfully\ (?:built|tagged)\b
    |\bSuccess:\ no\ issues[^\n]{0,40}|\b(?:0|no)\ (?:errors|issues|problems|offenses|violations)\b[^\n]{0,40}|\ball\ matched\ files\ use\ Prettier|\bNo\ fixes\ applied\b|\brated\ at\ 10(?:\.0+)?/10
    |\bFound\ \d+\ errors?\ \([^)\n]*\b0\ remaining\)|^[1-9]\d*\ files?\ (?:already\ formatted|left\ unchanged)|\b\w*exit(?:\ ?code|_code)?[\ =:]+0\b"""
)

_NOISE = Pattern(
    r"""\bTraceback\ \(most\ recent|^\s*(?:[\w./-]+:\d+[:\d]*\s+)?(?:fatal\ )?error\b[:\ ]|:\ (?:fatal\ )?error:|\bnpm\ (?:ERR!|error)|command\ not\ found|No\ such\ file\ or\ directory|\bSyntaxError\b|\bcannot\ use\b
    |^\w*(?:Error|Exception):\ |does\ not\ implement|\bundefined\ reference\b|^FAILED\b|^panic:|\bAssertionError\b|^\S+:\d+:\d+:\ [A-Z]+\d+\b"""
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


def family_of(command: str) -> Family | None:
    """What a shell command checks, None for one that checks nothing."""
    return next((family for family, pattern in _FAMILIES if pattern.search(command)), None)


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
    family = family_of(command)
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
