"""Who a speaker is, where records only have a name or a code of him: by legends, lists of participants, and what is said around."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pastchats_memory.formats.base.source import Json, list_of, mapping_of
from pastchats_memory.formats.generic.shapes.naming import (
    ASSISTANT,
    HIDDEN,
    KIND,
    LETTERS,
    NAMES,
    PERSPECTIVE,
    SIDES,
    has,
    letter_side,
    side_of,
    side_of_path,
    words_of,
)
from pastchats_memory.formats.generic.shapes.values import LONGEST_WORD, asks
from pastchats_memory.formats.generic.speakers import known_role

OTHER = {"user": "assistant", "assistant": "user"}
ENGINES = frozenset({"model", "llm", "engine", "temperature"})
PEOPLE = frozenset({"phone", "email", "age", "birthday", "telephone"})
ABBREVIATED: Mapping[str, str] = {
    "user": "user", "human": "user", "customer": "user", "client": "user", "visitor": "user", "caller": "user", "person": "user",
    "assistant": "assistant", "agent": "assistant", "model": "assistant", "advisor": "assistant", "system": "system", "tool": "tool",
}  # fmt: skip
SHORT = (3, 4)
"""Letters of an abbreviation; two are too few to tell one word from others."""
BESIDE: Mapping[str, str] = {"s": "system", "t": "tool"}
"""Letters for those who speak beside a user and an assistant."""
DEEPEST = 6
LONGEST_CODE = 2
"""Letters of what is no name."""
MOST_FACTS = 20_000
LONGEST_NAME = 4
"""Words of what names a speaker, and is no sentence about him."""
LARGEST_ENTRY = 7
"""Fields of an object that is about one speaker."""
CERTAIN, TOLD, SUPPOSED = 3, 2, 1
"""How sure it is who somebody is: by his own name, by what the document says of him, by who else there is."""


class Document:
    """What a document says of those who speak in it."""

    def __init__(self, value: object, made: Iterable[Json] = ()) -> None:
        """As the value tells it, and what records that were made of it do, such as rows whose columns are named beside them."""
        self._top = mapping_of(value)
        self._objects = [*_objects(value, "", 0, [MOST_FACTS]), *(("", record) for record in made)]

    @property
    def has_a_program(self) -> bool:
        """Whether its uppermost keys, or the words under them, tell of a program that talks."""
        words = [*self._top, *(word for word in self._top.values() if isinstance(word, str))]
        return any(has(word, ASSISTANT) for word in words if len(word) <= LONGEST_WORD)

    def told(self, code: str, but: str) -> str | None:
        """The side of the one who has this code, by a legend, his entry among the participants, or a key that names him.

        Args:
            code: the word or number for the speaker.
            but: the name under which records have their text: they say nothing of who he is.

        """
        # a reference says less than the entry that it refers to
        named = sorted(self._naming.get(code.lower(), ()), key=lambda one: -len(_facts(one[1])))
        return next(
            (side for key, told in named if but not in told for side in _told_by(code.lower(), key, told)), None
        )

    def side_of_column(self, path: str) -> str | None:
        """The side that the name of a column is of: by its words, as a letter, or as the name of one who is told of."""
        key = path.rpartition(".")[2]
        return side_of_path(path) or letter_side(key) or self.told(key, key)

    @cached_property
    def _naming(self) -> dict[str, list[tuple[str, Json]]]:
        """The objects that have a word for a key or a value, by that word."""
        found: dict[str, list[tuple[str, Json]]] = {}
        for key, told in self._objects:
            words = dict.fromkeys((*told, *(str(value) for value in told.values() if isinstance(value, str | int))))
            for word in words:
                if len(word) <= LONGEST_WORD:
                    found.setdefault(word.lower(), []).append((key, told))
        return found

    def listed(self, place: int, most: int) -> str | None:
        """The side of a speaker that is a number: his place in a list of words or of participants, or among the words of an object."""
        for _, told in self._objects:
            words: list[object] = [word for word in told.values() if isinstance(word, str) and _side_of_entry(word)]
            for items in (*map(list_of, told.values()), words):
                shift = 1 if len(items) == most else 0
                sides = [_side_of_entry(item) for item in items]
                if len(items) in (most, most + 1) and set(sides) >= SIDES and 0 <= place - shift < len(items):
                    return sides[place - shift]
        return None


def sides_of(
    words: Sequence[object], texts: Sequence[object], document: Document, key: str, text_key: str
) -> dict[object, tuple[str, int]]:
    """For each different word for a speaker the role, and how certain it is; no role for one of whom nothing is known.

    Args:
        words: who says each text; the word may be a flag or a number.
        texts: what is said, for telling who asks.
        document: all that may tell of them.
        key: the name of the column of the words.
        text_key: that of the texts.

    """
    different = list(dict.fromkeys(word for word in words if word is not None))
    common = set(words_of(str(different[0]))).intersection(*(words_of(str(word)) for word in different))
    names = {word: " ".join(part for part in words_of(str(word)) if part not in common) for word in different}
    sides = {word: side for word in different if (side := _side(word, names, document, (key, text_key)))}
    short = {word: (told, TOLD) for word in different if word not in sides and (told := _abbreviated(str(word)))}
    if {role for role, _ in (sides | short).values()} >= SIDES:
        sides |= short
    if [role for role, _ in sides.values()].count("user") > 1:  # what instructs beside a person is no other one
        sides |= {word: ("system", TOLD) for word in sides if "instruction" in words_of(str(word))}
    sides = sides or _by_letters(different)
    unknown = [word for word in different if word not in sides and not has(str(word), HIDDEN)]
    known = {role for role, _ in sides.values()} & SIDES
    if "assistant" not in known or (not unknown and "user" not in known):
        # a system that goes on speaking is the program; beside one, as a developer, the person
        role = "user" if "assistant" in known else "assistant"
        sides |= {
            word: (role, SUPPOSED) for word, (side, _) in sides.items() if side == "system" and words.count(word) > 1
        }
    known = {role for role, _ in sides.values()} & SIDES
    if len(unknown) == 1 and len(known) == 1:
        sides[unknown[0]] = (OTHER[next(iter(known))], SUPPOSED)
    elif len(different) == len(SIDES) and (not sides or (len(known) == 1 and len(sides) == len(SIDES))):
        sides = _by_letters(different) or _by_manner(different, words, texts)
    return sides


def _side(
    word: object, names: Mapping[object, str], document: Document, keys: tuple[str, str]
) -> tuple[str, int] | None:
    """The side of one of several words; `names` has for each what it does not have in common with the others."""
    if isinstance(word, bool) or (names.keys() <= {0, 1} and side_of(keys[0]) in SIDES):
        flagged = known_role(keys[0]) or side_of(keys[0])
        return ((flagged if word else OTHER[flagged]), CERTAIN) if flagged in SIDES else None
    if isinstance(word, int):
        numbers = [number for number in names if isinstance(number, int)]
        side = document.told(str(word), keys[1]) or document.listed(word, max(numbers))
        return (side, TOLD) if side else None
    name = str(word)
    if name.lower() in PERSPECTIVE:  # whose, is not said by the word
        side = document.told(name, keys[1])
        return (side, TOLD) if side else None
    if side := _addressed(name):
        return side, CERTAIN
    said = names[word] or name
    if side := known_role(name) or (side_of(said) if len(name) > 1 and len(words_of(said)) <= LONGEST_NAME else None):
        return side, CERTAIN
    side = document.told(name, keys[1])
    return (side, TOLD) if side else None


def _addressed(name: str) -> str | None:
    """The side from which something goes, by where it comes from or else where it goes to: `from_user`, `to_user`, `bot to user`."""
    words = words_of(name)
    before, after = (words[: words.index("to")], words[words.index("to") + 1 :]) if "to" in words else (words, ())
    if not after and words[:1] != ("from",):
        return None
    side, receiver = side_of(" ".join(before)), side_of(" ".join(after))
    return side if side in SIDES else OTHER.get(receiver or "")


def _abbreviated(word: str) -> str | None:
    """The side of the one role whose letters, the first of them and others in their order, the word has: `USR`, `asst`, `CST`."""
    if not SHORT[0] <= len(word) <= SHORT[1] or not word.isalpha():
        return None
    found = {
        side for name, side in ABBREVIATED.items() if name[0] == word[0].lower() and _leaves_out(word.lower(), name)
    }
    return found.pop() if len(found) == 1 else None


def _leaves_out(short: str, name: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in short)


def _by_letters(different: list[object]) -> dict[object, tuple[str, int]]:
    found = {word: BESIDE.get(str(word).lower()) or LETTERS.get(str(word).lower()) for word in different}
    seen = SUPPOSED if any(str(word).lower() in PERSPECTIVE for word in different) else TOLD
    known = {word: (side, seen) for word, side in found.items() if side}
    are_sides = sorted(side for side, _ in known.values() if side in SIDES) == sorted(SIDES)
    return known if are_sides and len(known) == len(different) else {}


def _by_manner(
    different: list[object], words: Sequence[object], texts: Sequence[object]
) -> dict[object, tuple[str, int]]:
    """Of two codes of which nothing is known the person is the one of whom more is true: begins, says less at a time, asks more."""
    codes = [str(word).lower() for word in different]
    if not all(len(code) <= LONGEST_CODE or code in PERSPECTIVE or code.isdigit() for code in codes):
        return {}
    first, second = ([str(text) for word, text in zip(words, texts, strict=True) if word == one] for one in different)
    asked = [sum(map(asks, said)) for said in (first, second)]
    length = [sum(map(len, said)) / len(said) for said in (first, second)]
    for_first = 1 + (length[0] < length[1]) - (length[0] > length[1]) + (asked[0] > asked[1]) - (asked[0] < asked[1])
    person = different[for_first < 0]
    return {word: ("user" if word == person else "assistant", 0) for word in different}


def _objects(value: object, key: str, depth: int, left: list[int]) -> Iterator[tuple[str, Json]]:
    left[0] -= 1
    if depth > DEEPEST or left[0] < 0:
        return
    if isinstance(value, dict):
        yield key, value
        for name, inner in value.items():
            yield from _objects(inner, name, depth + 1, left)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item, key, depth + 1, left)


def _told_by(code: str, key: str, told: Json) -> Iterator[str]:
    """The sides that one object gives to a code: as a legend, as a participant's entry, or under a key that names a side."""
    for name, value in told.items():
        if name.lower() == code and (side := _side_of_entry(value)):
            yield side
        elif isinstance(value, str | int) and str(value).lower() == code:
            if (side := side_of(name)) in SIDES and (len(words_of(name)) == 1 or not has(name, KIND)):
                yield str(side)
            elif side := _side_of_entry(_facts(told) if has(name, NAMES) else told, besides=name) or (
                _plain_side(key) if len(told) <= LARGEST_ENTRY else None
            ):
                yield side


def _facts(entry: Json) -> Json:
    """An entry with what stands in the objects within it."""
    return {key: value for held in (*entry.values(), entry) for key, value in mapping_of(held).items()}


def _plain_side(key: str) -> str | None:
    side = side_of(key)
    return side if side in SIDES else None


def _side_of_entry(entry: object, besides: str = "") -> str | None:
    """The side that a legend's word or a participant's entry tells."""
    if isinstance(entry, str):
        return known_role(entry) or side_of(entry) if len(entry) <= LONGEST_WORD else None
    fields = {key: value for key, value in mapping_of(entry).items() if key != besides}
    if not fields or any(isinstance(value, str) and len(value) > 4 * LONGEST_WORD for value in fields.values()):
        return None
    for key, value in fields.items():
        is_flag = isinstance(value, bool) or (value in (0, 1) and words_of(key)[:1] == ("is",))
        if is_flag and (side := side_of(key)) in SIDES:
            return side if value else OTHER[str(side)]
    kinds = [
        value
        for key, value in fields.items()
        if isinstance(value, str) and len(value) <= LONGEST_WORD and (has(key, KIND) or "role" in words_of(key))
    ]
    rest = [
        value
        for key, value in fields.items()
        if isinstance(value, str) and value not in kinds and len(value) <= LONGEST_WORD
    ]
    told = next((side for value in (*kinds, *rest) if (side := known_role(value) or side_of(value)) in SIDES), None)
    if told:
        return told
    names = {word for key in fields for word in words_of(key)}
    return "assistant" if names & ENGINES else "user" if names & PEOPLE and "name" in names else None
