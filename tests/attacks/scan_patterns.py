"""Every regular expression of the package against texts that are made from it so as to hold it up.

    python tests/attacks/scan_patterns.py [--longest N] [--only redact]

Patterns are found in the modules themselves and, where a function has one, in their source. From the parsed pattern a text is
made for each of its repeats: what leads to it, the repeated part over and over, and an end that fits nothing; and the same with
what leads to it repeated as well, which holds up a search that begins anew everywhere. Each is used as the package uses
it. A pattern takes too long if a text four times as long takes more than nine times as long, twice in a row.
Ends with 1, and says which texts, when there is one.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import re
import signal
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pastchats_memory

PACKAGE = Path(pastchats_memory.__file__).parent
USES = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")
INLINE = {*USES, "compile"}
MOST_GROWTH = 9.0
"""Times as long for a text four times as long: 4 where time grows as the text does, 16 where it grows as its square."""
NOTHING = 0.04
"""Seconds below which a growth is not asked for; clocks of the processor may tick every hundredth of a second."""
AGAIN = 6
"""Times that the shorter text is taken, whose time is less than the clock can tell."""
TICK = 0.01
MOST = 1.5
"""Seconds after which nobody waits any longer."""
LONGEST = 20_000
"""Characters of the longest text."""
SHORT = {
    "redact.marks:_RUN_AT_END",
    "episodes.outcome.answers:_ANNOUNCEMENT.compiled",
    "episodes.outcome.feedback:_DOUBT.compiled",
    "episodes.outcome.feedback:_HOWEVER.compiled",
    "episodes.outcome.feedback:_MISMATCH.compiled",
    "episodes.outcome.feedback:_PRAISE.compiled",
    "episodes.outcome.feedback:_UNDO.compiled",
    "episodes.outcome.requests:_INQUIRES.compiled",
    "text.shell:_FAILURE.compiled",
    "text.topics:_SENTENCE_END.compiled",
}
"""Patterns that are only asked of some hundred characters, as their callers say."""
ATTACKS = 400
"""Texts a pattern, at most."""
HELD_UP_ONCE = (
    ("[", " "),
    ("", "1"),
    ("", " "),
    ("", "/*"),
    ("", "-"),
    ("", "\n"),
    ("", "x"),
    ("cwd:a", " "),
    ("", "<user_query>"),
    ("", "<!--"),
    ("a", "0"),
    ("## A", " "),
    ('a="', "_"),
    ("<|im_start|>", "a"),
    ("a.", "a"),
    (" is", " "),
)
"""Start and repeated part of texts that held up a pattern of this package once. Every pattern is tried with them."""
KNOWN_SLOW = {
    r"(?:a+)+b": "a",
    r"\s*\n?\s*x": "\n",
    r"<!--.*?-->": "<!--a",
    r"(?:_|a_)+\d": "_",
    r"(\w+\s?)*:": "a",
}
"""Patterns that the scan must find slow, and what is repeated to show it."""


@dataclass(frozen=True)
class Used:
    """A pattern, where it stands, and how it is used."""

    where: str
    pattern: re.Pattern[str]
    uses: tuple[str, ...]


@dataclass(frozen=True)
class Slow:
    """A use of a pattern that takes longer than its text is long."""

    where: str
    use: str
    attack: tuple[str, str, str]
    growth: float
    seconds: float


# --- which there are --------------------------------------------------------------------------------------------------


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages([str(PACKAGE)], "pastchats_memory."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def found_patterns() -> list[Used]:
    """Every pattern over texts, each once, the module that has it first."""
    seen: dict[tuple[str, int], Used] = {}
    everywhere = list(modules())
    trees = {
        module.__name__: ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")) for module in everywhere
    }
    users = imported(trees)
    of_module = {name: uses_of([tree]) for name, tree in trees.items()}
    for module in everywhere:
        uses: defaultdict[str, set[str]] = defaultdict(set)
        for user in (module.__name__, *users[module.__name__]):
            for name, how_used in of_module[user].items():
                uses[name] |= how_used
        short = module.__name__.removeprefix("pastchats_memory.")
        unnamed = uses_of([trees[module.__name__]], named=False)
        for name, value in (*vars(module).items(), *late(module)):
            for path, pattern in within(value, name):
                if isinstance(pattern.pattern, str):
                    how = uses[name] or unnamed.get(path.rpartition(".")[2]) or unnamed.get("pattern") or {"match"}
                    seen.setdefault(
                        (pattern.pattern, pattern.flags), Used(f"{short}:{path}", pattern, tuple(sorted(how)))
                    )
        for line, use, pattern in inline(trees[module.__name__]):
            seen.setdefault((pattern.pattern, pattern.flags), Used(f"{short}:{line}", pattern, (use,)))
    return [used for used in seen.values() if used.where not in SHORT]


def late(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Return what a module of `redact` compiles at the first text: its rules, and the forms of a value."""
    if module.__name__ == "pastchats_memory.redact.rules":
        yield from ((rule.id, rule) for rule in module.load_rules())
    if module.__name__ == "pastchats_memory.redact.assignments":
        for number, form in enumerate(module._FORMS):  # noqa: SLF001 - all of its patterns
            yield f"_FORMS[{number}]", re.compile(form.pattern, re.VERBOSE)


def within(value: object, path: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns in a value, however deep, with the way to each."""
    if isinstance(value, re.Pattern):
        yield path, value
    elif depth < 5:
        inner: Iterable[tuple[str, object]] = ()
        if isinstance(value, Mapping):
            inner = ((f"{path}[{key!r}]", one) for key, one in value.items())
        elif isinstance(value, list | tuple | set | frozenset):
            inner = ((f"{path}[{place}]", one) for place, one in enumerate(value))
        elif not isinstance(value, type | ModuleType):
            held = {name: one for kind in reversed(type(value).__mro__) for name, one in vars(kind).items()}
            late = [name for name, one in held.items() if isinstance(one, cached_property)]
            names = [field.name for field in fields(value)] + late if is_dataclass(value) else late
            inner = ((f"{path}.{name}", getattr(value, name)) for name in names)
        for way, one in inner:
            yield from within(one, way, depth + 1)


def uses_of(trees: Iterable[ast.Module], *, named: bool = True) -> dict[str, set[str]]:
    """By name of a pattern the methods that are called of it; with `named` off, of the fields and variables that hold one."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for tree in trees:
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or node.attr not in USES:
                continue
            of = node.value
            name = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
            if (
                name.isupper()
                or name.lstrip("_").isupper()
                or (not named and name in {"pattern", "one", "after", "before", "signal", "rule", "way"})
            ):
                found[name].add(node.attr)
    return found


def imported(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """By module those that import something from it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                found[node.module].add(name)
    return found


def inline(tree: ast.Module) -> Iterator[tuple[int, str, re.Pattern[str]]]:
    """Patterns that stand as literals in calls of `re`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=str(use)), args=[ast.Constant(value=str(pattern)), *_]
            ) if use in INLINE - {"compile"}:
                yield node.lineno, use, re.compile(pattern)


# --- what holds one up ------------------------------------------------------------------------------------------------

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    sre: Any = importlib.import_module("re._parser")
    constants: Any = importlib.import_module("re._constants")

REPEATS = {constants.MAX_REPEAT, constants.MIN_REPEAT, getattr(constants, "POSSESSIVE_REPEAT", None)}
MANY = 40
"""A repeat that may come as often can be held up."""
SAMPLES = "aA0_-. \n\t/\"'\\|=:,;<>[](){}#*+!?&%$@~^`x7Zé"
CATEGORIES = {
    constants.CATEGORY_SPACE: str.isspace,
    constants.CATEGORY_NOT_SPACE: lambda one: not one.isspace(),
    constants.CATEGORY_DIGIT: str.isdigit,
    constants.CATEGORY_NOT_DIGIT: lambda one: not one.isdigit(),
    constants.CATEGORY_WORD: lambda one: one.isalnum() or one == "_",
    constants.CATEGORY_NOT_WORD: lambda one: not (one.isalnum() or one == "_"),
}


def fits(item: tuple[Any, Any], one: str) -> bool:
    """Whether a set's item has the character."""
    kind, value = item
    if kind is constants.LITERAL:
        return chr(value) == one
    if kind is constants.RANGE:
        return value[0] <= ord(one) <= value[1]
    return kind is constants.CATEGORY and bool(CATEGORIES[value](one))


def of_set(items: list[tuple[Any, Any]]) -> list[str]:
    """Characters that a set has, unlike ones first."""
    negated = bool(items) and items[0][0] is constants.NEGATE
    rest = items[1:] if negated else items
    own = [chr(text) for kind, text in rest if kind is constants.LITERAL]
    own += [chr(text[0]) for kind, text in rest if kind is constants.RANGE]
    candidates = dict.fromkeys((*SAMPLES, *([] if negated else own)))
    return [one for one in candidates if any(fits(item, one) for item in rest) != negated] or ["\x01"]


def samples(parsed: Any, most: int = 3) -> list[str]:
    """Some short texts that the parsed part fits, as far as lookarounds are left out."""
    made = [""]
    for item in parsed:
        endings = list(dict.fromkeys(islice(of_item(item, most), most)))
        made = [before + after for after in endings for before in made][: most * 2] if endings else made
    return made[: most * 2]


def of_item(item: tuple[Any, Any], most: int) -> Iterator[str]:
    kind, text = item
    if kind in REPEATS:
        least, _, body = text
        yield from (one * max(1, min(least, 300)) for one in samples(body, most))
        yield from [""] * (least == 0)
    elif kind is constants.BRANCH:
        for branch in text[1]:
            yield from samples(branch, 1)
    elif kind is constants.SUBPATTERN:
        yield from samples(text[3], most)
    elif kind is constants.ATOMIC_GROUP:
        yield from samples(text, most)
    else:
        yield from letters(kind, text)


def letters(kind: Any, value: Any) -> Iterable[str]:
    if kind is constants.LITERAL:
        return (chr(value),)
    if kind is constants.NOT_LITERAL:
        return (one for one in SAMPLES if one != chr(value))
    if kind is constants.IN:
        return of_set(value)
    return "a 0" if kind is constants.ANY else ("",)


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """What leads to a repeat, what is repeated, and what fits nothing, for every repeat."""
    seen = set()
    for before, body in repeats(sre.parse(pattern.pattern, pattern.flags), [""]):
        pumps = list(dict.fromkeys(samples(body, 6)))
        pumps += [one + other for one in pumps[:3] for other in pumps[:3] if one != other]
        for lead in before[:2]:
            for pump in filter(None, pumps):
                for attack in (
                    (lead, pump, "\x00"),
                    ("", lead + pump, "\x00"),
                    (lead, pump, ""),
                    (lead, pump, " \x00"),
                ):
                    if attack not in seen:
                        seen.add(attack)
                        yield attack


def repeats(parsed: Any, before: list[str]) -> Iterator[tuple[list[str], Any]]:
    """Every repeat that may come often, with what leads to it."""
    for item in parsed:
        kind, text = item
        if kind in REPEATS:
            _, most, body = text
            if most is constants.MAXREPEAT or most >= MANY:
                yield before, body
            yield from repeats(body, before)
        elif kind is constants.BRANCH:
            for branch in text[1]:
                yield from repeats(branch, before)
        elif kind is constants.SUBPATTERN:
            yield from repeats(text[3], before)
        elif kind is constants.ATOMIC_GROUP:
            yield from repeats(text, before)
        elif kind in (constants.ASSERT, constants.ASSERT_NOT):
            yield from repeats(text[1], before)
        endings = list(dict.fromkeys(islice(of_item(item, 2), 2))) or [""]
        before = [start + ending for ending in endings for start in before][:4]


# --- how long it takes ------------------------------------------------------------------------------------------------


class TooLong(Exception):
    """Nobody waits that long."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TooLong


def seconds(do: Callable[[], object]) -> float:
    """Of the processor, `MOST` where it takes longer."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST)
    start = time.process_time()
    try:
        do()
    except TooLong:
        return MOST
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - start


def done(pattern: re.Pattern[str], use: str, text: str) -> Callable[[], object]:
    """The use over the text, to its end."""
    if use in ("sub", "subn"):
        return lambda: pattern.sub("", text)
    if use == "finditer":
        return lambda: sum(1 for _ in pattern.finditer(text))
    return lambda: getattr(pattern, use)(text)


def text_of(attack: tuple[str, str, str], length: int) -> str:
    lead, pump, end = attack
    return lead + pump * max(1, length // len(pump)) + end


def growth(time_of: Callable[[str], float], attack: tuple[str, str, str], longest: int) -> tuple[float, float]:
    """How many times as long the longest text takes as one a quarter as long, and how long; 0 where it takes no time."""
    length = longest // 64
    while length <= longest:
        took = time_of(text_of(attack, length))
        if took >= MOST:
            return float("inf"), took
        if took > NOTHING:
            quarter = text_of(attack, length // 4)
            shorter = sum(time_of(quarter) for _ in range(AGAIN)) / AGAIN
            longer = min(took, time_of(text_of(attack, length)))
            if longer > NOTHING and longer / max(shorter, TICK / AGAIN) > MOST_GROWTH:
                return longer / max(shorter, TICK / AGAIN), longer
        if took > MOST / 4:
            break
        length *= 4
    return 0.0, 0.0


def slow_uses(used: Used, longest: int, most: int = ATTACKS) -> Iterator[Slow]:
    """The first text that holds up each use of a pattern."""
    for use in used.uses:
        made = islice(attacks(used.pattern), most)
        for attack in (*((start, pump, "\x00") for start, pump in HELD_UP_ONCE), *made):
            grown, took = growth(lambda text, use=use: seconds(done(used.pattern, use, text)), attack, longest)
            if grown:
                yield Slow(used.where, use, attack, grown, took)
                break


def main() -> int:
    """Scan and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--longest", type=int, default=LONGEST)
    parser.add_argument("--only", default="", help="patterns whose place begins so")
    options = parser.parse_args()
    found = [used for used in found_patterns() if used.where.startswith(options.only)]
    if not found:
        parser.error(f"no pattern stands at a place that begins with {options.only!r}, such as outcome.faults")
    for pattern in KNOWN_SLOW:
        if not list(slow_uses(Used("known", re.compile(pattern, re.DOTALL), ("search",)), options.longest)):
            sys.exit(f"the scan does not notice that {pattern} is slow")
    held_up = 0
    for used in found:
        for slow in slow_uses(used, options.longest):
            held_up += 1
            print(
                f"{slow.where} {slow.use} {slow.growth:.0f} times as long, {slow.seconds:.2f} s: {slow.attack!r}",
                flush=True,
            )
    print(f"{len(found)} patterns, {held_up} uses held up")
    return 1 if held_up else 0


if __name__ == "__main__":
    sys.exit(main())
