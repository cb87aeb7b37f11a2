"""Values behind the name of a secret, in every form of writing one: `=`, `:`, a flag, a table cell, a sentence."""

import re
from functools import cache
from typing import NamedTuple

from pastchats_memory.redact import heuristics
from pastchats_memory.redact.heuristics import SecretTest
from pastchats_memory.redact.rule_files import fill_parts, read_patterns, read_rules
from pastchats_memory.redact.rules import ScannedText, Secret

RANK = 2
"""The rank of a secret behind its name: a GitHub token in `TOKEN=…` is a GitHub token."""
LEAST_LENGTH = 4
LEAST_NAME = 8
"""Characters of a value that may also be the end of a name."""
MOST_JUDGED = 256
"""Characters by which a longer value is judged, so that a text of many names in one long value stays linear."""

_RULES = read_rules("forms.toml")
RUN = _RULES["parts"]["run"]
NAME_ENDS = "(){}< \t\"'`[]:=,|>%\\*?!：是为為は는은が\n"
"""Characters at which a name ends where a value can follow."""


class _Form(NamedTuple):
    """One form of writing a value behind a name, as the header of `forms.toml` explains."""

    pattern: str
    kinds: frozenset[str]
    is_secret: SecretTest
    first: str
    may_assign: bool


_FORMS = tuple(
    _Form(
        fill_parts(_RULES["patterns"][entry["pattern"]], _RULES["parts"]),
        frozenset(entry.get("kinds", ("password", "secret", "token", "api-key"))),
        heuristics.SECRET_TESTS[entry["test"]],
        entry.get("first", NAME_ENDS),
        entry.get("may_assign", False),
    )
    for entry in _RULES["forms"]
)
_MARK_OF_KIND = dict.fromkeys(("pass", "pass-of-user", "pass-of-account", "pass-of-change"), "password")  # nosec B105 - names of kinds
"""The kind that stands in the mark, where it differs from the kind of the name."""

_GROUP = re.compile(r"\(\?P[<=]\w+")
_BRACKETED_REST = read_patterns("places.toml")["bracketed_rest"]
_ENCODED_END = re.compile(r"%(?:2[026C7]|3[BbCcEe]|0[AaDd]|7[BbDd])|%2c")
"""Matches the URL form of a blank, quote, bracket, `&`, `,` or `;`, which ends a value in a URL."""
_FOREIGN = re.compile(r"[\u0588-\uffff]")
"""Matches punctuation and letters of scripts that end a value in a sentence."""
_IN_QUERY = re.compile(r"[?&][\w.\-%]{0,80}\Z")
_KEY_END = re.compile(r"\\{0,7}[\"'`]\s?(?:=>|:(?!\w))")
"""Matches behind what is itself a name."""
_CONTINUATIONS = ("(", "[", "...", "…")
"""Follow what is no value: a call, an index, an omission."""


class _JoinedForms:
    """Several forms as one pattern, which matches as the first of them that does."""

    def __init__(self, forms: tuple[_Form, ...]) -> None:
        numbered = (_GROUP.sub(rf"\g<0>_{number}", form.pattern) for number, form in enumerate(forms))
        self.forms = forms
        self.pattern = re.compile("|".join(f"(?:{pattern})" for pattern in numbered), re.VERBOSE)
        self.groups = {number: _Group(name, number, forms) for name, number in self.pattern.groupindex.items()}


_join = cache(_JoinedForms)
"""Compiles a pattern once for all the names that have the same forms."""


class _Group:
    """A group of a joined pattern, in which a value stands."""

    def __init__(self, name: str, number: int, forms: tuple[_Form, ...]) -> None:
        self.number = number
        self.form = int(name.rpartition("_")[2])
        self.is_secret = forms[self.form].is_secret
        self.is_bare = name.startswith("bare")
        """Whether the value stands without quotes."""
        self.sign = f"sign_{self.form}" if "(?P<sign>" in forms[self.form].pattern else ""
        """The group of the sign that assigns the value."""


class Assignments:
    """The forms in which a value can follow one kind of name at one character.

    Most names have no value behind them. One pattern for all forms rules that out faster than each of them.
    """

    def __init__(self, kind: str, forms: tuple[_Form, ...]) -> None:
        self._kind = kind
        self._forms = forms

    def find_value(self, scanned: ScannedText, at: int) -> Secret | None:
        """Return the value that begins behind a name, if it is a secret."""
        done, secret = self._try(_join(self._forms), scanned, at)
        while secret is None and done < len(self._forms):  # all forms together show only the first that matches
            _, secret = self._try(_join(self._forms[done : done + 1]), scanned, at)
            done += 1
        return secret

    def _try(self, joined: _JoinedForms, scanned: ScannedText, at: int) -> tuple[int, Secret | None]:
        """Return how many forms are done with, and the value."""
        found = joined.pattern.match(scanned.text, at)
        if found is None:
            return len(joined.forms), None
        group = joined.groups[found.lastindex or 0]
        return group.form + 1, _read_value(scanned, found, group, self._kind)


SPACED_EQUALS, ANYTHING = " =", "any character"


def assignments_by_character(kind: str) -> dict[str, Assignments]:
    """Return the assignments of a kind by the character at which the name ends.

    `SPACED_EQUALS` and `ANYTHING` are keys of it as well.
    """
    of_kind = [form for form in _FORMS if kind in form.kinds]
    forms = {character: tuple(form for form in of_kind if character in form.first) for character in NAME_ENDS}
    forms[SPACED_EQUALS] = tuple(form for form in forms[" "] if form.may_assign)
    forms[ANYTHING] = tuple(of_kind)
    return {key: Assignments(kind, some) for key, some in forms.items() if some}


def _read_value(scanned: ScannedText, found: re.Match[str], group: _Group, kind: str) -> Secret | None:
    text, is_bare = scanned.text, group.is_bare
    start, end = found.span(group.number)
    value = text[start:end]
    if "&" in value and _IN_QUERY.search(text, max(0, found.start() - 80), found.start()):
        value = value[: value.index("&")]
    if is_bare and not value.isascii():
        value = _FOREIGN.split(value, 1)[0]
    if "%" in value:
        value = _ENCODED_END.split(value, 1)[0]
    value = value.rstrip(".,;:?*\\)}" if is_bare else "\\")
    end = start + len(value)
    if is_bare and group.sign and text[end : end + 1] in "()[]{}":
        rest = _BRACKETED_REST.match(text, end)
        value, end = (text[start : rest.end()], rest.end()) if rest else (value, end)
    if (
        text.startswith(_CONTINUATIONS, end)
        or (text.startswith("->", end - 1) and text[end + 1 : end + 2].isalpha())
        or is_end_of_name(scanned, value, found.start())
        or (not is_bare and _KEY_END.match(text, end))
        or len(value) < LEAST_LENGTH
        or (
            not value.isascii()
            and (kind != "password" or _FOREIGN.search(value) or not heuristics.has_letters_and_digits(value))
        )
        or "[redacted:" in value
    ):
        return None
    if scanned.known_ends.get(start, 0) >= end or _is_secret(scanned, found, value, group, kind):
        return Secret(start, heuristics.find_quoted_end(text, start, end), _MARK_OF_KIND.get(kind, kind), RANK)
    return None


def is_end_of_name(scanned: ScannedText, value: str, at: int) -> bool:
    """Return whether a name that ends at a place ends in its value, as in `unicode_pwd = "unicode_pwd"`."""
    return len(value) >= LEAST_NAME and scanned.lowered.endswith(value.lower(), 0, at)


def _is_secret(scanned: ScannedText, found: re.Match[str], value: str, group: _Group, kind: str) -> bool:
    at, value = found.start(), value[:MOST_JUDGED]
    is_upper = group.sign and scanned.text[at - 1 : at].isupper() and scanned.text[at - 4 : at].isupper()
    if is_upper and found[group.sign] == "=":
        return heuristics.is_environment_secret(value, kind)
    return group.is_secret(value, kind)
