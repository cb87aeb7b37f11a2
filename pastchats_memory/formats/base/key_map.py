"""A map of keys that the user gives for JSON of unknown shape: `role=speaker,text=body,time=at`.

A map is read literally: an object or a list is a record if it has the named keys, and nothing is guessed. Keys may be
dotted (`text=message.body`), and a number is a place in a list (`role=0,text=1`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pastchats_memory.errors import UsageFault
from pastchats_memory.formats.base.values import Json

FIELDS = ("role", "text", "time", "conversation")
ROLES = ("user", "assistant", "system", "tool", "note")
WORD_PREFIX = "role."
EXAMPLE = "Example: --map role=speaker,text=body,time=at, or --map user=prompt,assistant=answer."
DEEPEST = 8
MOST_NAMED = 12
"""Keys that an error message names."""

MISSING = object()
"""Stands for a value that a record does not have."""


@dataclass(frozen=True, slots=True)
class KeyMap:
    """The keys of one kind of record: for role and text, or for the texts of several roles."""

    role: str = ""
    text: str = ""
    time: str = ""
    conversation: str = ""
    sides: tuple[tuple[str, str], ...] = ()
    """Role and key of each text, for records with a question and its answer."""
    words: tuple[tuple[str, str], ...] = ()
    """A lower-case value of the role key, and the role that it stands for."""

    @classmethod
    def parse(cls, line: str) -> "KeyMap":
        """Parse `role=speaker,text=body,role.bot=assistant`. Raises UsageFault if the line is no valid map."""
        table: dict[str, str] = {}
        for item in line.split(","):
            name, equals, key = item.partition("=")
            if not equals or not name.strip() or not key.strip():
                raise UsageFault(f"--map: `{item.strip()}` is not of the form part=KEY", EXAMPLE)
            if name.strip() in table:
                raise UsageFault(f"--map names {name.strip()} twice", EXAMPLE)
            table[name.strip()] = key.strip()
        return cls.from_table(table, "--map")

    @classmethod
    def from_table(cls, table: Mapping[str, str], origin: str) -> "KeyMap":
        """Build a map from its parts, as the configuration has them.

        The table has a key by part, or a role by `role.WORD`. Messages name the origin, a flag or a configuration's key.
        Raises UsageFault if a part is unknown or missing.
        """
        words = {name.removeprefix(WORD_PREFIX): role for name, role in table.items() if name.startswith(WORD_PREFIX)}
        for name in table:
            if name not in (*FIELDS, *ROLES) and not name.startswith(WORD_PREFIX):
                from difflib import get_close_matches  # seldom needed

                near = get_close_matches(name, (*FIELDS, *ROLES), n=1)
                hint = f"Did you mean `{near[0]}`?" if near else f"Parts: {', '.join((*FIELDS, *ROLES))}, role.WORD."
                raise UsageFault(f"{origin}: unknown part `{name}`", hint)
        for word, role in words.items():
            if role not in ROLES:
                raise UsageFault(f"{origin}: role.{word} must be one of {', '.join(ROLES)}, not `{role}`", EXAMPLE)
        sides = tuple((role, table[role]) for role in table if role in ROLES)
        if sides and ("role" in table or "text" in table or words):
            raise UsageFault(
                f"{origin}: use either role and text, or {' and '.join(role for role, _ in sides)}", EXAMPLE
            )
        if not sides and "text" not in table:
            raise UsageFault(f"{origin}: no key for the text (`text`)", EXAMPLE)
        if not sides and "role" not in table:
            raise UsageFault(f"{origin}: no key for the speaker (`role`)", EXAMPLE)
        listed = tuple((word.lower(), role) for word, role in words.items())
        role, text, time, conversation = (table.get(name, "") for name in FIELDS)
        return cls(role, text, time, conversation, sides, listed)

    def to_table(self) -> dict[str, str]:
        """Return the parts, from which `from_table` builds an equal map."""
        fields = {"role": self.role, "text": self.text, **dict(self.sides), "time": self.time}
        fields |= {"conversation": self.conversation}
        words = {f"{WORD_PREFIX}{word}": role for word, role in self.words}
        return {name: key for name, key in fields.items() if key} | words

    def __str__(self) -> str:
        """Return the value of the option `--map`."""
        return ",".join(f"{name}={key}" for name, key in self.to_table().items())

    @property
    def keys(self) -> list[str]:
        """Return the keys that records must have somewhere."""
        own = (self.role, self.text, self.time, self.conversation)
        return [*filter(None, own), *(key for _, key in self.sides)]

    def list_missing(self, values: object) -> list[str]:
        """List the keys that no object in the values has."""
        missing = self.keys
        for item in walk_objects(values):
            missing = [key for key in missing if look_up(item, key) is MISSING]
            if not missing:
                break
        return missing


def look_up(value: object, path: str) -> object:
    """Return what stands under a dotted path, in which a number is a place in a list; return MISSING for nothing."""
    if isinstance(value, dict):
        if path in value:
            return value[path]
        key, _, rest = path.partition(".")
        return look_up(value[key], rest) if rest and key in value else MISSING
    if isinstance(value, list):
        place, _, rest = path.partition(".")
        if not (place.isascii() and place.isdecimal()) or int(place[:9]) >= len(value):
            return MISSING
        item = value[int(place[:9])]
        return look_up(item, rest) if rest else item
    return MISSING


def walk_objects(value: object, depth: int = 0) -> Iterator[Json | list[object]]:
    """Yield every object and list of a value down to a limited depth, outer ones first."""
    if depth <= DEEPEST and isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from walk_objects(inner, depth + 1)


def list_record_keys(value: object) -> list[str]:
    """List the keys of the objects in a value, the most frequent kind of object first; for an error message."""
    keys: dict[str, None] = {}
    for item in walk_objects(value):
        if isinstance(item, dict) and not all(isinstance(inner, dict | list) for inner in item.values()):
            keys |= dict.fromkeys(item)
        if len(keys) > MOST_NAMED:
            break
    return list(keys)[:MOST_NAMED]
