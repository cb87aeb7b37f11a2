"""Values behind the name of a secret, in every form of writing one: `=`, `:`, a flag, a table cell, a sentence."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from pastchats_memory.redact import heuristics
from pastchats_memory.redact.heuristics import Judgement
from pastchats_memory.redact.rules import ScannedText, Secret

RANK = 2
"""The rank of a secret behind its name: a GitHub token in `TOKEN=…` is a GitHub token."""
LONGEST = 8192
"""Characters of a value: it may be a private key in base64."""
LEAST_LENGTH = 4
MOST_JUDGED = 256
"""Characters by which a longer value is judged, so that a text of many names in one long value stays linear."""

# The patterns below are verbose ones. Each has the value in one of its groups `quoted`, `broken` and `bare`.

_QUOTE = r"\\{0,7}[\"'`]"
RUN = r"[!\#-&*+\-./0-:=?@A-Z\^_a-z~]"
"""Matches a character of a value without quotes."""
_LETTER = r"[^\W\x00-\x7f\u0588-\U0010ffff]"
"""Matches a letter of Latin, Greek, Cyrillic or Armenian beyond ASCII; letters of other scripts end a value."""
_BARE = rf"(?: {RUN}{{4,{LONGEST}}}+ (?!{_LETTER}) | (?> (?: {RUN} | {_LETTER} ){{6,64}} ) )"
_MARKUP = r"(?: [*_]{1,3} | (?: </?[a-z]{1,10}> [ \t]? ){1,3} )"
"""Matches the markup of Markdown or HTML around a label."""
_ASSIGNED = rf"""
    (?:{_QUOTE})? [\])]? (?:\.value)?
    (?:  # a type, as in `password: &str =`
        \s?:\s?[&*?\[\]]{{0,3}}[A-Za-z][A-Za-z0-9_\[\]|. ]{{0,30}} (?=\s?=[^=])
      | [ \t](?: As[ \t] )? (?:string|String) (?=[ \t]?=[^=])
      | [ \t](?i:n?varchar2?)\(\w{{1,5}}\) (?=[ \t]?:?=[^=])
      | \[\d{{0,4}}\] (?=[ \t]?=[^=])
      | \s{{0,4}}\n\s{{0,40}} (?=:[ \t]?[\"'])
    )?
    [ \t]{{0,40}}
    (?P<sign>
        => | <- | (?<=[ \t]) -{{1,2}}> (?=[ \t]) | → | ⇒ | := | \?= | ===? | != | = | \?\?=? | \|\|=? | \?: | \|[ \t]?default\( | ::(?=[ \t]) | : | [是为為]?： | 是 | 为 | 為 | は | 는 | 은 | が | %3D | %3A | \.{{4,40}}(?=[ ])
    )
    [ \t]{{0,8}} (?: \\\n[ \t]{{0,8}} )?
    (?:  # a call around the value
        (?: new[ ]\w{{1,30}} | Field | SecretStr | Secret | String | env | config | getenv | (?i: md5 | sha1 | sha2 | crypt | password | encrypt ) )
        \( (?:default[ \t]?=[ \t]?)?
      | \[\]byte\(
      | (?: \[\] )? \{{ [ \t]? (?: [\"'] \w{{1,40}} [\"'] [ \t]? : [ \t]? )? (?=[\"'])
      | \[ [ \t]? (?=[\"'])
      | <<[\-~]?\w{{1,20}} \n \s{{0,40}}
      | \(? \s{{0,4}}\n\s{{0,40}} (?=[\"'])
      | (?: !{{1,2}}[\w\-]{{1,40}} | &\w{{1,20}} ) [ \t]
      | string\(\d{{1,4}}\) [ \t]
    )?
    (?: (?:Bearer|Basic|Token|ApiKey|Bot|token|bearer|basic) [ \t]+ )?
    (?:
        [a-zN@$]{{0,2}} (?P<open> \"{{3}} | '{{3}} | {_QUOTE} ) (?P<quoted> (?: (?!(?P=open)) [^\n] ){{4,{LONGEST}}}? ) (?P=open)
      | [a-z@$]{{0,2}} {_QUOTE} (?P<broken> [^\"'`\n]{{4,{LONGEST}}}? ) (?= \\{{0,3}}[\"'`] )
      | (?P<bare> (?: [\da-f\-]{{1,36}}\| )? {_BARE} )
    )
"""
_LABEL = rf"""
    (?:
        (?: {_MARKUP} | [\"'`] )? [ \t]? [:：=] [ \t]? {_MARKUP}
      | {_MARKUP} [ \t]? [:：=]
      | {_MARKUP}
      | [ \t]{{1,2}} <(?:code|kbd|b|strong|tt|em|pre|samp)>
    )
    \s{{0,4}} (?: {_MARKUP} | [\"'`] ){{0,2}}
    (?P<bare> {_BARE} )
"""
_COMPUTED = rf"""
    [\])]? [ \t]?
    (?:
        [:=] [ \t]? (?: new[ ] )? [\w.:]{{1,60}} (?: \(\)\. \w{{1,20}} )? \(
      | \( [ \t]? [\w.]{{1,40}} (?: \(\) )? \. \w{{1,20}} \(
      | = [ \t]? [(\[]? {_QUOTE} [^\"'\n]{{1,64}} {_QUOTE} , [ \t]?
      | = [ \t]? [\w.()\[\]\"']{{1,60}} [ \t] (?: or | \|\| | \?\? ) [ \t]
      | \(\) [^\n{{}}:]{{0,40}} [:{{]{{1,2}} \s{{0,40}} return [ \t]
      | [ \t] \{{ [ ] get; [^{{}}\n]{{0,20}} \}} [ ] = [ ]
    )
    [bfr]? (?P<open>{_QUOTE}) (?P<quoted> (?: (?!(?P=open)) [^\s] ){{4,255}}? ) (?P=open)
"""
_NEXT_LINE = rf"""
    [ \t]*+ : [ \t]*+ (?: [|>][\-+]?[ \t]*+ )? \n
    [ \t]++ (?:-[ ])? [\"']? (?P<bare> {RUN}{{8,1024}} )
"""
_ARGUMENT = r"""
    (?: \\{0,7}[\"'] )? \]? \\{0,7}[\"'] \s{0,4} (?: , | (?:with|to)[ ] ) \s{0,40} (?: [\"'](?=\\[\"']) )?
    (?P<open> \\{0,7}[\"'] ) (?: Bearer[ ] | Basic[ ] | Token[ ] )?
    (?P<quoted> (?: (?!(?P=open)) [^\n\\] ){6,1024}? ) (?P=open)
"""
_COMPARED = r"""
    ,[ ] [a-z]? (?P<open> [\"'] ) (?P<quoted> (?: (?!(?P=open)) [^\s\\] ){4,255} ) (?P=open)
"""
_LATER_COLON = rf"""
    (?: [ \t]++ [^\s:]{{1,60}}+ ){{1,10}}? : [ \t]++ [\"'`*]{{0,3}} (?P<bare> {RUN}{{8,256}} ) (?= [\"'`*]{{0,3}} [.,;)]? (?: \s | \Z | \\n ) )
"""
_VALUE_KEY = rf"""
    (?:{_QUOTE})? (?: [ \t]?:[ \t]?(?=[{{\n]) )?
    (?: , | \\{{1,7}}n | \s | \{{ ){{1,40}}
    (?:  # fields between the name and the value
        (?:{_QUOTE})? (?!value|default) [A-Za-z_]{{1,20}} (?:{_QUOTE})?
        [ \t]{{0,8}} [:=] [^\n,{{}}]{{0,80}} [\n,] \s{{0,40}}
    ){{0,3}}
    (?:{_QUOTE})? (?:value|Value|VALUE|default|content|ParameterValue|SecretString|secretString|val) (?:{_QUOTE})?
    [ \t]{{0,4}} [:=] [ \t]{{0,4}} (?:{_QUOTE})? (?P<bare> {RUN}{{4,{LONGEST}}} )
"""
_CALL = rf"""
    [ \t]? [({{] [ \t]{{0,4}} (?: \w{{1,20}} [ \t]? = [ \t]? )?
    (?P<open>{_QUOTE}) (?: \{{noop\}} )? (?P<quoted> (?: (?!(?P=open)) [^\n] ){{6,1024}}? ) (?P=open)
    [ \t]{{0,4}} [)}}]
"""
_PLANNED_CHANGE = r"""
    [ \t]{1,40}=[ \t]\"[^\"\n]{0,256}\" [ \t]->[ \t] \"(?P<quoted>[^\"\n]{4,4096})\"
"""
_LATER_BRACKETS = rf"""
    (?> (?: [ \t][A-Za-z']{{1,20}}+ ){{1,6}} )
    [ \t]\( [\"'`*]{{0,3}} (?P<bare> {RUN}{{12,1024}} ) [\"'`*]{{0,3}} \)
"""
_BRACKETS = rf"""
    [\"'`*]{{0,3}} [ \t]\( [\"'`*]{{0,3}} (?P<bare> {RUN}{{6,1024}} ) [\"'`*]{{0,3}} \)
"""
_CELL = rf"""
    [`*]{{0,3}} [ \t]{{0,40}} \| [ \t]{{0,40}}
    [`*]{{0,3}} (?P<bare> {RUN}{{6,1024}} ) [`*]{{0,3}} [ \t]{{0,40}} (?m: \| | $ )
"""
_COMMA = r"""
    ,(?P<bare> [\w.~+/\-]{12,1024}={0,2} )(?= , | \r?\n | \Z )
"""
_OWN_LINE = rf"""
    (?:  # the end of the name's line
        [\"'`*\])}}?]{{0,4}} (?: [ \t]{{0,4}}\|[^\n|]{{1,60}} ){{0,2}} [ \t]{{0,4}} (?=\r?\n)
      | [^\n:]{{0,80}}+ : \*{{0,2}} [ \t]{{0,4}} (?: \r?\n[ \t]{{0,8}} )? (?=\r?\n)
    )
    \r?\n (?: [ \t]{{0,8}}\r?\n )? (?: ```\w{{0,12}}\r?\n )?
    [ \t>$]{{0,12}} (?: =>[ \t]{{0,2}} | A:[ ] )? [\"'`]? (?!\w{{1,40}}=)
    (?P<bare> {RUN}{{6,1024}} ) [\"'`]? [ \t]{{0,4}} (?= \r?\n | \Z )
"""
_TYPED_IN = r"""
    [\"'\])]{1,4} [ \t]? \.(?:type|send_keys|sendKeys|fill|set_value|setValue|type_text|typeText|val|toBe|toEqual|equals?|default|perform\((?:type|replace)Text)\( \s{0,4}
    (?P<open>[\"']) (?P<quoted> (?: (?!(?P=open)) [^\n] ){4,200}? ) (?P=open)
"""
_CONCATENATED = rf"""
    {_QUOTE} [ \t]{{0,4}} \+ [ \t]{{0,4}} {_QUOTE} (?P<bare> [A-Za-z0-9._~+/=\-]{{16,4096}} )
"""
_CHANGED = rf"""
    (?> (?: [ \t]++ (?:was|is|has|been|got|changed|reset|rotated|updated) ){{0,3}} )
    [ \t]++ from [ \t]++
    (?:
        {_QUOTE}? (?P<bare> {RUN}{{6,256}} ) {_QUOTE}? [ \t]++ to\b
      | \[redacted:[a-z\-]{{1,40}}\] {_QUOTE}? [ \t]++ to [ \t]++ {_QUOTE}? (?P<bare_new> {RUN}{{6,256}} )
    )
"""
_PARAMETER = r"(?P<bare> [\w.~+/=%:\-]{16,2048} (?![!(]) )"
_SESSION = r"(?P<bare> [^\s\"'`<>&\#\\;,]{20,4096} )"
_PATH_PART = r"""
    (?: [\w.\-]{1,60}/ ){0,4}?
    (?P<bare> (?=[\d_\-]{0,40}[A-Za-z]) (?=[A-Za-z_\-]{0,40}\d) [\w\-]{16,128} )
    (?= [/?\#\s\"'`)\]>,] | \Z )
"""
_ELEMENT = r"""
    (?:
        [\"'](?=[ />])
      | [\"']?\s[^<>]{0,80}+
      | </(?:key|t[dh]|dt)> \s{0,40} <(?:string|data|td|dd)[^<>]{0,60}+
    )?
    /?> (?: \s{0,40}<[Vv]alue> | <!\[CDATA\[ )? (?P<bare> [^<>\s]{4,1024}? ) (?: \]\]> )? </
"""
_FLAG = rf"""
    [ \t]++ (?: \\\n[ \t]* )?
    (?: (?: --type[ \t=]\S{{1,40}}[ \t]++ | --overwrite[ \t]++ ){{0,3}} (?:--body|--value|-v)[ \t=]++ )? (?!--)
    (?:
        (?P<open>{_QUOTE}) (?P<quoted> (?: (?!(?P=open)) [^\n\s] ){{6,1024}}? ) (?P=open)
      | {_QUOTE}? (?P<bare> {RUN}{{4,1024}} )
    )
"""
_HERE_STRING = rf"""
    (?: [ \t]{{1,4}} [\w.\-]{{1,40}} ){{0,2}} [ \t]{{1,4}} <<< [ \t]{{0,4}} (?:{_QUOTE})? (?P<bare> {RUN}{{6,1024}} )
"""
_SENTENCE = r"""
    [\"'`*“”]{0,3} (?: 's(?=[ \t]been[ \t]) )?
    (?: ,? [ \t]++ (?! is\b | was\b ) (?> (?: [\w()/.'\[\]@\-] | :(?=\S) ){1,40} ) ){0,7}?
    (?:
        [ \t]*+ [:：]
      | \?(?=[ ])
      | [ \t]++ (?: [—–→⇒] | -{1,2}>? | => )
      | 's\b
      | [ \t]++ (?: typed | entered | used? | tried | try ) (?=[ \t]++[\"'`*“])
      | [ \t]++
        (?:
            (?: is | was | been | be ) [ ] (?: set | changed | reset | updated | rotated | now ) (?: [ ]to )?
          | is|was|are|to|be|equals|as|now|ist|war|est|este|es|er|son|lautet|è|é|jest|je|là|är
        )\b
        (?: [ \t]*+: | [ \t]++(?=\\) )?
    )
    (?: [ \t]*+ (?:\n```\w{0,12})? \n{1,2}[ \t]*+ | [ \t]++ | (?:\\{1,7}n){1,2} )
    [\"'`*“„]{0,3} (?P<bare> [^\s\"'`<>\\]{6,1024} )
"""
_SCHEME = rf"""
    (?:{_QUOTE})? [ \t]*+ (?: [:=,][ \t]*+ )? (?:{_QUOTE})?
    (?:
        Bearer | Basic | Token | Digest | Bot | ApiKey | AWS4-HMAC-SHA256 | SSWS | Key | GenieKey | Apikey
      | token | bearer | basic
    )
    (?: [ \t]++ | %20 | \+ ) (?P<bare> (?:\d{{1,20}}\|)? [A-Za-z0-9._~+/=:\-]{{8,4096}} )
"""
_CREDENTIALS = r"(?P<bare> (?:\d{1,20}\|)? [A-Za-z0-9._~+/=\-]{16,4096} )"
_COOKIE = rf"""
    (?:{_QUOTE})? \s?[:=]\s? (?:{_QUOTE})?
    (?P<bare> [\w.\-]{{1,40}}=[^\s\"'`\\;,]{{1,1024}} (?: ;[ \t]? [\w.\-]{{1,40}}=[^\s\"'`\\;,]{{1,1024}} ){{0,20}} )
"""
_WORD = rf"[\"'`]?(?P<bare> {RUN}{{4,256}} )"
_USER = rf"""
    [\"'`*]{{0,3}} [ \t]{{0,2}} (?: [:=→⇒] | -> | are | is ) \s{{1,4}} {_QUOTE}? [^\s:/,|\"'`]{{1,64}} {_QUOTE}?
    [ ]? [/:|,] [ ]? {_QUOTE}? (?P<bare> {RUN}{{6,256}} )
"""
_USER = rf"{_QUOTE}? [^\s:\"'`\\%$+]{{1,64}} : {_QUOTE}? (?P<bare> {RUN}{{4,256}} )"

NAME_ENDS = "(){}< \t\"'`[]:=,|>%\\*?!：是为為は는은が\n"
"""Characters at which a name ends where a value can follow."""
_QUOTES = "\"'`\\"
_BEFORE_SIGN = _QUOTES + "[)] \t\n:=!?|：是为為は는은が%"


class _Form(NamedTuple):
    """One form of writing a value behind a name."""

    pattern: str
    kinds: frozenset[str]
    """The kinds of names behind which the form is tried."""
    is_secret: Judgement
    first: str = NAME_ENDS
    """The characters of `NAME_ENDS` with which the pattern can begin."""
    may_assign: bool = False
    """Whether the pattern can begin with a blank and `=`, which follow most names in programs."""


_ANY = frozenset({"password", "secret", "token", "api-key"})
_FORMS: tuple[_Form, ...] = (
    _Form(
        _SCHEME,
        _ANY | {"authorization", "auth"},
        heuristics.is_header_secret,
        _QUOTES + " \t:=,",
        may_assign=True,
    ),
    _Form(_CREDENTIALS, frozenset({"authorization"}), heuristics.is_header_secret),
    _Form(_CONCATENATED, frozenset({"authorization"}), heuristics.is_header_secret, _QUOTES),
    _Form(_COOKIE, frozenset({"authorization"}), heuristics.has_secret_cookie, _QUOTES + " \t\n:=", may_assign=True),
    _Form(_ASSIGNED, _ANY | {"authorization"}, heuristics.is_assigned_secret, _BEFORE_SIGN, may_assign=True),
    _Form(_ASSIGNED, frozenset({"auth"}), heuristics.is_header_secret, _BEFORE_SIGN, may_assign=True),
    _Form(_LABEL, _ANY, heuristics.is_assigned_secret, "*<:： "),
    _Form(_PARAMETER, frozenset({"url-token"}), heuristics.is_random_secret),
    _Form(_SESSION, frozenset({"session"}), heuristics.is_session_id),
    _Form(_PATH_PART, frozenset({"webhook"}), heuristics.is_random_secret),
    _Form(_NEXT_LINE, _ANY, heuristics.is_secret_in_prose, " \t:"),
    _Form(_COMPUTED, _ANY, heuristics.is_mixed_secret, " =:()]", may_assign=True),
    _Form(_VALUE_KEY, _ANY, heuristics.is_assigned_secret, _QUOTES + ":, \t\n"),
    _Form(_CELL, _ANY, heuristics.is_secret_in_cell, "`* \t|"),
    _Form(_ARGUMENT, _ANY | {"authorization"}, heuristics.is_assigned_secret, _QUOTES + "]"),
    _Form(_COMPARED, _ANY, heuristics.is_mixed_secret, ","),
    _Form(_LATER_COLON, _ANY, heuristics.is_secret_behind_words, " \t"),
    _Form(_ELEMENT, _ANY, heuristics.is_assigned_secret, "\"' \t\n><"),
    _Form(_ELEMENT, frozenset({"pass"}), heuristics.is_mixed_secret, ">"),
    _Form(_CALL, _ANY, heuristics.is_assigned_secret, " \t({"),
    _Form(_PLANNED_CHANGE, _ANY, heuristics.is_assigned_secret, " \t", may_assign=True),
    _Form(_LATER_BRACKETS, _ANY, heuristics.is_secret_in_later_brackets, " \t"),
    _Form(_TYPED_IN, _ANY, heuristics.is_assigned_secret, "\"'])"),
    _Form(_CHANGED, _ANY, heuristics.is_secret_in_prose, " \t"),
    _Form(_COMMA, _ANY, heuristics.is_random_secret, ","),
    _Form(_OWN_LINE, _ANY, heuristics.is_secret_on_own_line, may_assign=True),
    _Form(_BRACKETS, _ANY, heuristics.is_secret_in_brackets, "\"'`* \t"),
    _Form(_ASSIGNED, frozenset({"pass"}), heuristics.is_mixed_secret, _BEFORE_SIGN, may_assign=True),
    _Form(_LABEL, frozenset({"pass"}), heuristics.is_mixed_secret, "*<:："),
    _Form(_WORD, frozenset({"pass-of-user"}), heuristics.is_mixed_secret),
    _Form(_USER, frozenset({"basic-auth"}), heuristics.is_user_password),
    _Form(_FLAG, _ANY, heuristics.is_secret_in_prose, " \t"),
    _Form(_HERE_STRING, _ANY, heuristics.is_secret_in_prose, " \t"),
    _Form(_SENTENCE, _ANY, heuristics.is_secret_in_prose),
    _Form(_ASSIGNED, frozenset({"key"}), heuristics.is_unnamed_key, _BEFORE_SIGN, may_assign=True),
    _Form(_ARGUMENT, frozenset({"key"}), heuristics.is_unnamed_key, _QUOTES),
    _Form(_FLAG, frozenset({"key"}), heuristics.is_unnamed_key, " \t"),
    _Form(_SENTENCE, frozenset({"key"}), heuristics.is_unnamed_key),
)
"""In the order in which they are tried; `tests/redact/test_assignments.py` shows that each finds what no other finds."""
_MARK_OF_KIND = dict.fromkeys(("pass", "pass-of-user"), "password")  # nosec B105 - names of kinds
"""The kind that stands in the mark, where it differs from the kind of the name."""

_GROUP = re.compile(r"\(\?P[<=]\w+")
_BRACKETED_REST = r"""
    (?:
        [()\[\]{}]++ [^\s\"'`<>.,;:|\\()\[\]{}]{2,} [^\s\"'`<>,;|\\]*+
    )+
    (?= \s | \Z | \\n | \\?\" )
"""
"""Matches the rest of a generated password that has brackets in it; no program goes on like this."""
_ENCODED_END = re.compile(r"%(?:2[026C7]|3[BbCcEe]|0[AaDd]|7[BbDd])|%2c")
"""Matches the URL form of a blank, quote, bracket, `&`, `,` or `;`, which ends a value in a URL."""
_FOREIGN = re.compile(r"[\u0588-\uffff]")
"""Matches punctuation and letters of scripts that end a value in a sentence."""
_IN_QUERY = re.compile(r"[?&][\w.\-%]{0,80}\Z")
_CONTINUATIONS = ("(", "[", "...", "…")
"""Follow what is no value: a call, an index, an omission."""


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a verbose pattern that few texts need."""
    return re.compile(pattern, re.VERBOSE)


class _JoinedForms:
    """Several forms as one pattern, which matches as the first of them that does."""

    def __init__(self, forms: tuple[_Form, ...]) -> None:
        numbered = (_GROUP.sub(rf"\g<0>_{number}", form.pattern) for number, form in enumerate(forms))
        self.forms = forms
        self.pattern = re.compile("|".join(f"(?:{pattern})" for pattern in numbered), re.VERBOSE)
        self.groups = {number: _Group(name, number, forms) for name, number in self.pattern.groupindex.items()}


@cache
def _join(forms: tuple[_Form, ...]) -> _JoinedForms:
    """Compile a pattern once for all the names that have the same forms."""
    return _JoinedForms(forms)


class _Group:
    """A group of a joined pattern, in which a value stands."""

    def __init__(self, name: str, number: int, forms: tuple[_Form, ...]) -> None:
        self.number = number
        self.form = int(name.rpartition("_")[2])
        self.is_secret = forms[self.form].is_secret
        self.is_bare = name.startswith("bare")
        """Whether the value stands without quotes."""
        self.sign = f"sign_{self.form}" if forms[self.form].pattern is _ASSIGNED else ""
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
        rest = _compile(_BRACKETED_REST).match(text, end)
        value, end = (text[start : rest.end()], rest.end()) if rest else (value, end)
    if (
        text.startswith(_CONTINUATIONS, end)
        or len(value) < LEAST_LENGTH
        or not (value.isascii() or (kind == "password" and heuristics.has_letters_and_digits(value)))
        or "[redacted:" in value
    ):
        return None
    if scanned.known_ends.get(start, 0) >= end or _is_secret(scanned, found, value, group, kind):
        return Secret(start, end, _MARK_OF_KIND.get(kind, kind), RANK)
    return None


def _is_secret(scanned: ScannedText, found: re.Match[str], value: str, group: _Group, kind: str) -> bool:
    at, value = found.start(), value[:MOST_JUDGED]
    is_upper = group.sign and scanned.text[at - 1 : at].isupper() and scanned.text[at - 4 : at].isupper()
    if is_upper and found[group.sign] == "=":
        return heuristics.is_environment_secret(value, kind)
    return group.is_secret(value, kind)
