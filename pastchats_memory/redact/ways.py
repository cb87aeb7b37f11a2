"""Ways of writing a value behind the name of a secret, and when what is written so is believed to be one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pastchats_memory.redact import believed
from pastchats_memory.redact.detector import Found, Looked

RANK = 2
"""Says less than a shape: a GitHub token in `TOKEN=…` is a GitHub token."""

_QUOTE = r"\\{0,7}[\"'`]"
_RUN = r"[^\s\"'`<>{}()\[\],;|\\]"
_ESCAPED_END = r"(?=\\{0,3}[\"'`])"
LONGEST = 8192
"""Characters of a value: a private key in base64 is one."""

_ASSIGNED = re.compile(
    rf"(?:{_QUOTE})?\]?(?:\s?:\s?&?[A-Za-z][A-Za-z_\[\]|. ]{{0,30}}(?=\s?=[^=])|[ \t](?:string|String)(?=[ \t]?=[^=]))?[ \t]{{0,8}}(?P<sign>=>|<-|:=|\?=|===?|!=|=|\?\?=?|\|\|=?|:|：|是|は|는|은|%3D|%3A)[ \t]{{0,8}}"
    rf"(?:(?:Field|SecretStr|Secret|String|env|config|getenv)\((?:default[ \t]?=[ \t]?)?)?"
    rf"(?:(?:Bearer|Basic|Token|ApiKey|Bot|token|bearer|basic)[ \t]+)?"
    rf"(?:[a-z@$]{{0,2}}(?P<open>{_QUOTE})(?P<quoted>(?:(?!(?P=open))[^\n]){{4,{LONGEST}}}?)(?P=open)|"
    rf"[a-z@$]{{0,2}}{_QUOTE}(?P<broken>[^\"'`\n]{{4,{LONGEST}}}?){_ESCAPED_END}|(?P<bare>(?:\d{{1,20}}\|)?{_RUN}{{4,{LONGEST}}}))"
)
_NEXT_LINE = re.compile(rf"[ \t]*+:[ \t]*+(?:[|>][\-+]?[ \t]*+)?\n[ \t]++[\"']?(?P<bare>{_RUN}{{8,1024}})")
_ARGUMENT = re.compile(
    r"\\{0,7}[\"']\s{0,4},\s{0,40}(?:[\"'](?=\\[\"']))?(?P<open>\\{0,7}[\"'])(?:Bearer |Basic |Token )?(?P<quoted>(?:(?!(?P=open))[^\n\\]){6,1024}?)(?P=open)"
)
_VALUE_BESIDE = re.compile(
    rf"(?:{_QUOTE})?(?:[ \t]?:[ \t]?(?=\{{))?(?:,|\\{{1,7}}n|\s|\{{){{1,40}}(?:(?:{_QUOTE})?(?:type|Type|description|sensitive|Overwrite)(?:{_QUOTE})?[ \t]{{0,8}}[:=][^\n]{{0,80}}\n\s{{0,40}}){{0,3}}(?:{_QUOTE})?(?:value|Value|VALUE|default)(?:{_QUOTE})?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{_QUOTE})?(?P<bare>{_RUN}{{4,{LONGEST}}})"
)
_CALL = re.compile(
    rf"[ \t]?[({{][ \t]{{0,4}}(?P<open>{_QUOTE})(?P<quoted>(?:(?!(?P=open))[^\n]){{6,1024}}?)(?P=open)[ \t]{{0,4}}[)}}]"
)
_REPLACED = re.compile(r"[ \t]{1,40}=[ \t]\"[^\"\n]{0,256}\"[ \t]->[ \t]\"(?P<quoted>[^\"\n]{4,4096})\"")
"""As plans show a change."""
_LATER_IN_BRACKETS = re.compile(
    rf"(?:[ \t][A-Za-z']{{1,20}}){{1,6}}[ \t]\([\"'`*]{{0,3}}(?P<bare>{_RUN}{{12,1024}})[\"'`*]{{0,3}}\)"
)
_BRACKETS = re.compile(rf"[\"'`*]{{0,3}}[ \t]\([\"'`*]{{0,3}}(?P<bare>{_RUN}{{6,1024}})[\"'`*]{{0,3}}\)")
_CELL = re.compile(
    rf"[`*]{{0,3}}[ \t]{{0,40}}\|[ \t]{{0,40}}[`*]{{0,3}}(?P<bare>{_RUN}{{6,1024}})[`*]{{0,3}}[ \t]{{0,40}}(?:\||$)",
    re.MULTILINE,
)
_COMMA = re.compile(rf",(?P<bare>{_RUN}{{12,1024}})(?=,|\r?\n|\Z)")
_ALONE = re.compile(
    r"(?:[\"'`*\])}?]{0,4}(?:[ \t]{0,4}\|[^\n|]{1,60}){0,2}[ \t]{0,4}(?=\r?\n)|[^\n:]{0,80}+:\*{0,2}[ \t]{0,4}(?:\r?\n[ \t]{0,8})?(?=\r?\n))\r?\n(?:```\w{0,12}\r?\n)?"
    rf"[ \t>$]{{0,12}}(?:=>[ \t]{{0,2}})?[\"'`]?(?!\w{{1,40}}=)(?P<bare>{_RUN}{{12,1024}})[\"'`]?[ \t]{{0,4}}(?=\r?\n|\Z)"
)
"""A value that has a line for itself, below its name."""
_TYPED = re.compile(
    r"[\"'\])]{1,4}\)?[ \t]?\.(?:type|send_keys|sendKeys|fill|set_value|setValue|type_text)\(\s{0,4}(?P<open>[\"'])(?P<quoted>(?:(?!(?P=open))[^\n]){4,200}?)(?P=open)"
)
_JOINED = re.compile(rf"{_QUOTE}[ \t]{{0,4}}\+[ \t]{{0,4}}{_QUOTE}(?P<bare>[A-Za-z0-9._~+/=\-]{{16,4096}})")
_CONTENT = re.compile(r"[\"'][ \t]+content=[\"'](?P<bare>[^\s\"'<>]{8,1024})")
_CHANGED = re.compile(
    rf"(?>(?:[ \t]++(?:was|is|has|been|got|changed|reset|rotated|updated)){{0,3}})[ \t]++from[ \t]++"
    rf"(?:{_QUOTE}?(?P<bare>{_RUN}{{6,256}}){_QUOTE}?[ \t]++to\b|\[redacted:[a-z\-]{{1,40}}\]{_QUOTE}?[ \t]++to[ \t]++{_QUOTE}?(?P<bare_new>{_RUN}{{6,256}}))"
)
_PARAMETER_VALUE = re.compile(r"(?P<bare>[^\s\"'`<>&#\\]{16,2048})")
_SESSION_VALUE = re.compile(r"(?P<bare>[^\s\"'`<>&#\\;,]{20,4096})")
_PATH_VALUE = re.compile(
    r"(?:[\w.\-]{1,60}/){0,4}?(?P<bare>(?=[\d_\-]{0,40}[A-Za-z])(?=[A-Za-z_\-]{0,40}\d)[\w\-]{16,128})(?=[/?#\s\"'`)\]>,]|\Z)",
    re.ASCII,
)
_ELEMENT = re.compile(
    r"(?:[\"'](?=[ />])|[\"']?\s[^<>]{0,80}+|</(?:key|t[dh]|dt)>\s{0,40}<(?:string|data|td|dd)[^<>]{0,60}+)?/?>(?:\s{0,40}<[Vv]alue>)?(?P<bare>[^<>\s]{4,1024})</"
)
_FLAG = re.compile(
    rf"[ \t]++(?:(?:--type[ \t=]\S{{1,40}}[ \t]++|--overwrite[ \t]++){{0,3}}(?:--body|--value|-v)[ \t=]++)?(?:(?P<open>{_QUOTE})(?P<quoted>(?:(?!(?P=open))[^\n\s]){{6,1024}}?)(?P=open)|"
    rf"{_QUOTE}?(?P<bare>{_RUN}{{4,1024}}))"
)
_SAID = re.compile(
    r"[\"'`*“”]{0,3}(?:,?[ \t]++(?!is\b|was\b)[A-Za-z0-9()/._'\[\]@\-]{1,40}){0,7}?(?:[ \t]*+[:：]|[ \t]++(?:is|was|to|be|equals|as|now|ist|est|es|lautet|è|é|jest)\b(?:[ \t]*+:|[ \t]++(?=\\))?)(?:[ \t]*+\n{1,2}[ \t]*+|[ \t]++|(?:\\{1,7}n){1,2})"
    r"[\"'`*“„]{0,3}(?P<bare>[^\s\"'`<>\\]{6,1024})"
)
_SCHEME = re.compile(
    rf"(?:{_QUOTE})?[ \t]*+(?:[:=,][ \t]*+)?(?:{_QUOTE})?(?:Bearer|Basic|Token|Digest|Bot|ApiKey|AWS4-HMAC-SHA256|SSWS|Key|GenieKey|Apikey|token|bearer|basic)"
    rf"(?:[ \t]++|%20|\+)(?P<bare>(?:\d{{1,20}}\|)?[A-Za-z0-9._~+/=:\-]{{8,4096}})",
)
_BEARER = re.compile(r"(?P<bare>(?:\d{1,20}\|)?[A-Za-z0-9._~+/=\-]{16,4096})")
_COOKIE = re.compile(
    rf"(?:{_QUOTE})?\s?[:=]\s?(?:{_QUOTE})?(?P<bare>[\w.\-]{{1,40}}=[^\s\"'`\\;,]{{1,1024}}(?:;[ \t]?[\w.\-]{{1,40}}=[^\s\"'`\\;,]{{1,1024}}){{0,20}})"
)
_USER = re.compile(rf"{_QUOTE}?[^\s:\"'`\\%$+]{{1,64}}:(?P<bare>{_RUN}{{4,256}})")


ANY_LETTER = "({}< \t\"'`]:=,|>%\\*?!：是は는은\n"
"""What a name ends at where a value can come."""
_QUOTED = "\"'`\\"


@dataclass(frozen=True, slots=True)
class _Way:
    """One way of writing a value behind its name, and when such a value is believed to be secret."""

    pattern: re.Pattern[str]
    kinds: frozenset[str]
    believes: Callable[[str, str], bool]
    """Of the value and the name's kind."""
    begins: str = ANY_LETTER
    """Of the letters that a name may end at those with which the pattern can begin."""
    may_assign: bool = False
    """Whether it can begin with a blank and `=`, as most names in a program go on."""


_BRACKETED = re.compile(r"(?:[()\[\]{}]++[^\s\"'`<>.,;:|\\()\[\]{}]{2,}[^\s\"'`<>,;|\\]*+)+(?=\s|\Z|\\n|\\?\")")
"""The rest of a value with brackets in it, as generators of passwords make them; no program goes on so."""
_ENCODED_END = re.compile(r"%(?:2[026C7]|3[BbCcEe]|0[AaDd]|7[BbDd])|%2c")
"""A blank, quote, bracket, `&`, `,` or `;` as URLs write it, which ends a value that stands in one."""
_FOREIGN = re.compile(r"[\u2010-\u2e7f\u3000-\uffef]")
"""Punctuation and letters of scripts without blanks, which end a value that stands in a sentence."""
_IN_URL = re.compile(r"[?&][\w.\-%]{0,80}\Z")
LEAST_LENGTH = 4
_ANY = frozenset({"password", "secret", "token", "api-key"})
_WAYS: tuple[_Way, ...] = (
    _Way(
        _SCHEME,
        frozenset({"authorization", "token", "api-key", "auth"}),
        believed.shown_in_header,
        _QUOTED + " \t:=,",
        may_assign=True,
    ),
    _Way(_BEARER, frozenset({"authorization"}), believed.shown_in_header),
    _Way(_JOINED, frozenset({"authorization"}), believed.shown_in_header, _QUOTED),
    _Way(_COOKIE, frozenset({"authorization"}), believed.of_cookie, _QUOTED + " \t\n:=", may_assign=True),
    _Way(_ASSIGNED, _ANY | {"authorization"}, believed.assigned, _QUOTED + "] \t\n:=!?|：是は는은%", may_assign=True),
    _Way(_ASSIGNED, frozenset({"auth"}), believed.shown_in_header, _QUOTED + "] \t\n:=!?|：是は는은%", may_assign=True),
    _Way(_PARAMETER_VALUE, frozenset({"url-token"}), believed.in_a_cell),
    _Way(_SESSION_VALUE, frozenset({"session"}), believed.of_session),
    _Way(_PATH_VALUE, frozenset({"webhook"}), believed.in_a_cell),
    _Way(_NEXT_LINE, _ANY, believed.said, " \t:"),
    _Way(_VALUE_BESIDE, _ANY, believed.assigned, _QUOTED + ", \t\n"),
    _Way(_CELL, _ANY, believed.in_a_cell, "`* \t|"),
    _Way(_ARGUMENT, _ANY | {"authorization"}, believed.assigned, _QUOTED),
    _Way(_ELEMENT, _ANY, believed.assigned, "\"' \t\n><"),
    _Way(_CALL, _ANY, believed.assigned, " \t({"),
    _Way(_REPLACED, _ANY, believed.assigned, " \t", may_assign=True),
    _Way(_LATER_IN_BRACKETS, _ANY, believed.later_in_brackets, " \t"),
    _Way(_TYPED, _ANY, believed.assigned, "\"']"),
    _Way(_CHANGED, _ANY, believed.said, " \t"),
    _Way(_CONTENT, _ANY, believed.in_a_cell, "\"'"),
    _Way(_COMMA, _ANY, believed.in_a_cell, ","),
    _Way(_ALONE, _ANY, believed.alone, may_assign=True),
    _Way(_BRACKETS, _ANY, believed.in_brackets, "\"'`* \t"),
    _Way(
        _ASSIGNED, frozenset({"spoken-password"}), believed.mixed, _QUOTED + "] \t\n:=!?|：是は는은%", may_assign=True
    ),
    _Way(_USER, frozenset({"basic-auth"}), believed.of_user),
    _Way(_FLAG, _ANY, believed.said, " \t"),
    _Way(_SAID, _ANY, believed.said),
    _Way(_ASSIGNED, frozenset({"key"}), believed.of_any_key, _QUOTED + "] \t\n:=!?|：是は는은%", may_assign=True),
    _Way(_ARGUMENT, frozenset({"key"}), believed.of_any_key, _QUOTED),
    _Way(_FLAG, frozenset({"key"}), believed.of_any_key, " \t"),
    _Way(_SAID, frozenset({"key"}), believed.of_any_key),
)


class _Joined:
    """Some ways as one pattern, which fits where the first of them does that fits."""

    def __init__(self, ways: tuple[_Way, ...]) -> None:
        grouped = [_GROUP.sub(rf"\g<0>_{number}", way.pattern.pattern) for number, way in enumerate(ways)]
        flags = ["m" if way.pattern.flags & re.MULTILINE else "" for way in ways]
        self.pattern = re.compile("|".join(f"(?{flag}:{one})" for flag, one in zip(flags, grouped, strict=True)))
        self.of_group = {number: _Group(name, number, ways) for name, number in self.pattern.groupindex.items()}


class _Group:
    """What is known of a value by the group of a joined pattern that it stands in."""

    def __init__(self, name: str, number: int, ways: tuple[_Way, ...]) -> None:
        self.number = number
        self.way = int(name.rpartition("_")[2])
        self.believes = ways[self.way].believes
        self.is_bare = name.startswith("bare")
        """Without quotes around it."""
        self.sign = f"sign_{self.way}" if ways[self.way].pattern is _ASSIGNED else ""
        """The group of what it is assigned by."""


_GROUP = re.compile(r"\(\?P[<=]\w+")


class Ways:
    """Those in which a value of one kind may be written behind one letter, in the order in which they are tried.

    Behind most names none fits, which one pattern for all of them says sooner than each.
    """

    def __init__(self, kind: str, ways: tuple[_Way, ...]) -> None:
        self._kind = kind
        self._ways = ways
        self._from: list[_Joined | None] = [None] * len(ways)
        """By its number a way and those that come after it, made when they are asked for."""

    def value(self, looked: Looked, at: int) -> Found | None:
        """The value that is written from a place on, if it is believed to be secret."""
        first = 0
        while first < len(self._ways):
            joined = self._from[first]
            if joined is None:
                joined = self._from[first] = _Joined(self._ways[first:])
            fits = joined.pattern.match(looked.text, at)
            if fits is None:
                return None
            group = joined.of_group[fits.lastindex or 0]
            found = _believed(looked, fits, group, self._kind)
            if found is not None:
                return found
            first += group.way + 1
        return None


def ways_by_letter(kind: str) -> dict[str, Ways]:
    """Those of a kind, by the letter at which the name ends, by `ASSIGNS` and by `ANYTHING`."""
    of_kind = [way for way in _WAYS if kind in way.kinds]
    begins = {letter: tuple(way for way in of_kind if letter in way.begins) for letter in ANY_LETTER}
    begins[ASSIGNS] = tuple(way for way in begins[" "] if way.may_assign)
    begins[ANYTHING] = tuple(of_kind)
    return {start: Ways(kind, ways) for start, ways in begins.items() if ways}


ASSIGNS, ANYTHING = " =", "any letter"


def _believed(looked: Looked, fits: re.Match[str], group: _Group, kind: str) -> Found | None:
    text, is_bare = looked.text, group.is_bare
    start, end = fits.span(group.number)
    value = text[start:end]
    if "&" in value and _IN_URL.search(text, max(0, fits.start() - 80), fits.start()):
        value = value[: value.index("&")]
    if is_bare and not value.isascii():
        value = _FOREIGN.split(value, 1)[0]
    if "%" in value:
        value = _ENCODED_END.split(value, 1)[0]
    value = value.rstrip(".,;:?*\\)" if is_bare else "\\")
    end = start + len(value)
    if is_bare and group.sign and text[end : end + 1] in "()[]{}" and (longer := _BRACKETED.match(text, end)):
        value, end = text[start : longer.end()], longer.end()
    if (
        text.startswith(_GOES_ON, end)
        or len(value) < LEAST_LENGTH
        or not value.isascii()
        or "[redacted:" in value
        or (looked.shapes.get(start, 0) < end and not _is_believed(looked, fits, value, group, kind))
    ):
        return None  # where a shape was found, nobody needs to ask what the value looks like
    return Found(start, end, kind.removeprefix("spoken-"), RANK)


_GOES_ON = ("(", "[", "...", "…")
"""Behind what is no value: a call, a place in a list, what was left out."""


def _is_believed(looked: Looked, fits: re.Match[str], value: str, group: _Group, kind: str) -> bool:
    at = fits.start()
    is_shouted = group.sign and looked.text[at - 1 : at].isupper() and looked.text[at - 4 : at].isupper()
    if is_shouted and fits[group.sign] == "=":
        return believed.of_environment(value, kind)
    return group.believes(value, kind)
