"""Check the rules and word lists that are data: every entry works, and none could be deleted.

    python scripts/check_word_lists.py [FILE …]

Without a FILE it checks every file of `CHECKS`. It prints what is wrong with each, and ends with 1 if anything is.
"""

from __future__ import annotations

import random
import re
import string
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pastchats_memory.formats.markdown.dialogue.markers import SPEAKERS, parse_marker
from pastchats_memory.redact import redact, secret_names
from pastchats_memory.redact.commands import GRAMMARS
from pastchats_memory.redact.rule_files import FOLDER, read_patterns
from pastchats_memory.redact.rules import Finder, Rule, ScannedText, Secret, load_rules
from pastchats_memory.redact.secret_names import FOREIGN_NAMES, NAMES, NAMING_PHRASES, NamingPhrase
from pastchats_memory.redact.settings import SETTINGS

ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "d": string.digits,
    "h": "0123456789abcdef",
    "t": string.ascii_uppercase + "234567",
    "l": string.ascii_lowercase,
    "L": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "A": ALNUM,
    "B": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "b": ALNUM + "+/",
    "w": ALNUM + "-_",
}
"""By letter, the characters that a placeholder in an example stands for."""
RULE_FIELDS = {
    "required": {"id", "description", "regex", "keywords", "example", "counter_example"},
    "optional": {"kind", "reach", "token", "rank", "overlap"},
}


def fill_example(example: str) -> str:
    """Replace the placeholders of an example, such as `{A20}`, by random characters.

    The same example always gives the same text.
    """
    draw = random.Random(example)  # noqa: S311 - no secret is made with it # nosec B311
    return re.sub(
        r"\{([a-zA-Z])(\d+)\}", lambda mark: "".join(draw.choices(ALPHABETS[mark[1]], k=int(mark[2]))), example
    )


def find_by_rule(rule: Rule, text: str) -> list[Secret]:
    """Return the secrets that one redaction rule finds in a text."""
    scanned = ScannedText(text, text.lower(), {})
    return [
        secret
        for keyword in rule.keywords
        for secret in rule.find(keyword, scanned, _places(keyword.lower(), scanned.lowered))
    ]


def _places(keyword: str, lowered: str) -> Iterator[int]:
    at = lowered.find(keyword)
    while at >= 0:
        yield at
        at = lowered.find(keyword, at + 1)


def find_overlaps(rule: Rule, example: str) -> list[str]:
    """Return the ids of the other rules that find all of a rule's example."""
    secrets = find_by_rule(rule, example)
    return [
        other.id
        for other in load_rules()
        if other is not rule
        for found in find_by_rule(other, example)
        if any(found.start <= secret.start and secret.end <= found.end for secret in secrets)
    ]


def read_entries(file: str, table: str) -> list[dict[str, Any]]:
    """Return the entries of a table, with their descriptions and examples."""
    entries: list[dict[str, Any]] = tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))[table]
    return entries


def check_redaction_rules() -> Iterator[str]:
    """Report rules that miss their example, find their counter-example, or could be deleted."""
    entries = read_entries("rules.toml", "rules")
    for id_, count in Counter(entry["id"] for entry in entries).items():
        if count > 1:
            yield f"{id_}: {count} rules have this id"
    for entry, rule in zip(entries, load_rules(), strict=True):
        missing, unknown = RULE_FIELDS["required"] - set(entry), set(entry) - set().union(*RULE_FIELDS.values())
        if missing or unknown:
            yield f"{rule.id}: fields are missing {sorted(missing)} or unknown {sorted(unknown)}"
            continue
        yield from _check_rule(rule, fill_example(entry["example"]), entry["counter_example"], entry.get("overlap", ""))


def _check_rule(rule: Rule, example: str, counter_example: str, overlap: str) -> Iterator[str]:
    if not find_by_rule(rule, example) or rule.kind not in redact(example).kinds:
        yield f"{rule.id}: does not find its example"
    if not any(keyword in counter_example for keyword in rule.keywords):
        yield f"{rule.id}: its counter-example has none of its keywords"
    if redact(counter_example).kinds:
        yield f"{rule.id}: its counter-example is redacted"
    overlaps = find_overlaps(rule, example)
    if overlaps and not overlap:
        yield f"{rule.id}: {', '.join(overlaps)} find its example: delete the rule, or give the reason as `overlap`"
    if overlap and not overlaps:
        yield f"{rule.id}: has an `overlap`, but no other rule finds its example"


def find_in_example(find: Finder, keyword: str, text: str) -> list[Secret]:
    """Return the secrets that a finder alone finds at a keyword."""
    scanned = ScannedText(text, text.lower(), {})
    return list(find(scanned, _places(keyword, scanned.lowered)))


def put_keyword(example: str, first: str, keyword: str) -> str:
    """Put another keyword in the place of the first one, in capitals if that has capitals only."""
    at = example.lower().index(first)
    is_upper = example[at : at + len(first)].isupper()
    return example[:at] + (keyword.upper() if is_upper else keyword) + example[at + len(first) :]


def check_keywords(entries: list[dict[str, Any]], field: str, finders: Mapping[str, Sequence[Finder]]) -> Iterator[str]:
    """Report keywords that miss the example of their entry, and counter-examples that are redacted.

    `field` holds the keywords of an entry. The example has the first one, and each other one is put in its place.
    """
    for entry in entries:
        keywords = entry[field]
        start = "\n" * keywords[0].startswith("\n")  # that keyword stands at the beginning of a line
        example = start + fill_example(entry["example"])
        for keyword in keywords:
            text = put_keyword(example, keywords[0], keyword)
            if not any(find_in_example(find, keyword, text) for find in finders.get(keyword, ())):
                yield f"{keyword!r}: does not find {text!r}"
        counter_example = start + fill_example(entry["counter_example"])
        if not any(keyword in counter_example.lower() for keyword in keywords):
            yield f"{counter_example!r}: has none of the keywords {keywords}"
        if redact(counter_example).kinds:
            yield f"{counter_example!r}: is redacted"


def group_finders(finders: Iterable[tuple[str, Finder]]) -> dict[str, list[Finder]]:
    """Group finders by their keyword."""
    grouped: dict[str, list[Finder]] = {}
    for keyword, find in finders:
        grouped.setdefault(keyword, []).append(find)
    return grouped


def check_commands() -> Iterator[str]:
    """Report grammars of commands that miss their example or find their counter-example."""
    finders = group_finders((grammar.keyword, grammar.find) for grammar in GRAMMARS)
    yield from check_keywords(read_entries("commands.toml", "commands"), "keywords", finders)
    yield from check_patterns("commands.toml")


def check_names() -> Iterator[str]:
    """Report names and phrases that miss their example or find their counter-example."""
    names = group_finders((name.part, name.find) for name in (*NAMES, *FOREIGN_NAMES))
    yield from check_keywords(read_entries("names.toml", "names"), "parts", names)
    foreign = (phrase for phrase in FOREIGN_NAMES if isinstance(phrase, NamingPhrase))
    phrases = group_finders((phrase.words, phrase.find) for phrase in (*NAMING_PHRASES, *foreign))
    yield from check_keywords(read_entries("names.toml", "phrases"), "words", phrases)
    yield from check_patterns("names.toml")


def check_settings() -> Iterator[str]:
    """Report ends of names of settings that miss their example or find their counter-example."""
    finders = group_finders((setting.part, setting.find) for setting in SETTINGS)
    yield from check_keywords(read_entries("settings.toml", "settings"), "parts", finders)
    yield from check_patterns("settings.toml")


def check_forms() -> Iterator[str]:
    """Report forms of writing a value whose example is kept or whose counter-example is redacted."""
    for entry in read_entries("forms.toml", "forms"):
        if redact(fill_example(entry["example"])).kinds.total() != 1:
            yield f"{entry['pattern']}: does not find one secret in its example"
        if redact(entry["counter_example"]).kinds:
            yield f"{entry['pattern']}: its counter-example is redacted"


def check_patterns(file: str) -> Iterator[str]:
    """Report patterns that miss their example or find their counter-example."""
    entries = read_entries(file, "patterns")
    patterns = secret_names.PATTERNS if file == "names.toml" else read_patterns(file)
    for entry in entries:
        pattern = patterns[entry["name"]]
        if not pattern.search(entry["example"]):
            yield f"{entry['name']}: does not find its example"
        if "counter_example" in entry and pattern.search(entry["counter_example"]):
            yield f"{entry['name']}: finds its counter-example"


NOTATIONS = {
    "names": "**{}:**",
    "sections": "**{}:**",
    "letters": "**{}:**",
    "callouts": "> [!{}]",
    "page_labels": "{}:",
    "pictures": "{} How are you?",
}
"""By table of `speakers.toml`, a line in which its words name a speaker."""


def check_speakers() -> Iterator[str]:
    """Report words that name no speaker or two, and exceptions of words that are no names."""
    tables = tomllib.loads(SPEAKERS.read_text(encoding="utf-8"))
    exceptions = tables.pop("not_before_a_colon")["names"]
    for table, roles in tables.items():
        words = [(word, role) for role, some in roles.items() for word in some]
        for word, count in Counter(word for word, _ in words).items():
            if count > 1:
                yield f"{word}: stands {count} times in {table}"
        for word, role in words:
            marker = parse_marker([NOTATIONS[table].format(word)], 0)
            if marker is None or marker.role != role:
                yield f"{word}: does not name the {role} as a word of {table}"
    names = {word for words in tables["names"].values() for word in words}
    yield from (f"{word}: is an exception, but no name" for word in exceptions if word not in names)


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "formats/markdown/dialogue/speakers.toml": check_speakers,
    "redact/rules.toml": check_redaction_rules,
    "redact/commands.toml": check_commands,
    "redact/forms.toml": check_forms,
    "redact/names.toml": check_names,
    "redact/places.toml": partial(check_patterns, "places.toml"),
    "redact/settings.toml": check_settings,
    "redact/values.toml": partial(check_patterns, "values.toml"),
}
"""By data file below the package, the function that reports what is wrong with it."""


def main() -> int:
    """Check the files and print the problems."""
    failed = False
    for file in sys.argv[1:] or CHECKS:
        problems = list(CHECKS[file]())
        print(f"{file}: {len(problems) or 'no'} problems", *problems, sep="\n  ")
        failed = failed or bool(problems)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
