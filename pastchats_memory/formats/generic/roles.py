"""Who speaks in a message of unknown shape: words and keys of roles, in any spelling."""

import re
import unicodedata
from collections.abc import KeysView, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from pastchats_memory.formats.base.values import Json, list_of, mapping_of

SIDES = frozenset({"user", "assistant"})
"""The roles between which a conversation takes place."""
OTHER_SIDE = {"user": "assistant", "assistant": "user"}
LONGEST_NAME = 64
"""Characters of a name that are read."""
LONGEST_WORD = 48
"""Characters of a word for a speaker."""
KIND_KEYS = ("role", "type", "kind", "label", "Label", "__typename")
"""Keys of the word in an object that describes a speaker."""

_EVENT = re.compile(r"[a-z]{1,20}[/.]message")
_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"[-_ ]")


@dataclass(frozen=True, slots=True)
class RoleVocabulary:
    """The words of `roles.toml`, which documents each list."""

    roles: Mapping[str, str]
    """The role of each word."""
    flags: Mapping[str, str]
    part_roles: Mapping[str, str]
    lists: Mapping[str, KeysView[str]]
    """Words in their order, by the name of the list."""

    @classmethod
    def from_toml(cls, document: Mapping[str, Mapping[str, list[str]]]) -> "RoleVocabulary":
        """Build the vocabulary from parsed TOML of the shape of `roles.toml`."""
        sections = (document[name].items() for name in ("roles", "flags", "part_roles"))
        roles, flags, part_roles = ({word: role for role, words in each for word in words} for each in sections)
        lists = {name: dict.fromkeys(words).keys() for name, words in document["lists"].items()}
        return cls(roles, flags, part_roles, lists)


@cache
def vocabulary() -> RoleVocabulary:
    """Return the words; the first call reads the file."""
    import tomllib
    from importlib import resources  # brings tempfile and random, which most runs do not need

    text = resources.files(__package__).joinpath("roles.toml").read_text(encoding="utf-8")
    return RoleVocabulary.from_toml(tomllib.loads(text))


def known(name: str) -> KeysView[str]:
    """Return the words of a list in their order."""
    return vocabulary().lists[name]


@lru_cache(maxsize=8192)
def split_words(name: str) -> tuple[str, ...]:
    """Return a name's words in small letters without accents, the same for `userSaid`, `user_said`, `User said`."""
    return tuple(_fold(word) for word in _WORD.findall(_HUMP.sub(" ", name[:LONGEST_NAME])))


@lru_cache(maxsize=8192)
def has_word(name: str, list_name: str) -> bool:
    """Return whether a word of the name is in the list."""
    return not known(list_name).isdisjoint(split_words(name))


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFKD", text.casefold().replace("ı", "i"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


@dataclass(frozen=True, slots=True)
class Speaker:
    """The speaker of a message, as its object names them."""

    role: str
    key: str
    """The key of the word; "" if the word itself is the key of the text."""
    word: str
    certainty: int
    """2 for a known word under `role` or a flag, 1 for a known word under another key, 0 for an unknown word.

    An event such as `user/message` counts as certain if it holds a message of that role.
    """

    @property
    def is_event(self) -> bool:
        """Return whether an event's name and the message in it name the same speaker."""
        return self.key == "type" and self.certainty > 1


def find_speaker(fields: Json) -> Speaker | None:
    """Find an object's speaker: known words win over flags, these over other words, and it over the objects in it."""
    words = [(key, word) for key in _list_role_keys(fields) if (word := _read_word(fields[key]))]
    known_words = ((key, word, role) for key, word in words if (role := _role_under(key, word)))
    named = [
        Speaker(role, key, word, 2 if _is_certain(fields, key, word, role) else 1) for key, word, role in known_words
    ]
    held = _find_speakers_below(fields, "holder_keys")
    if best := [speaker for speaker in (*named, *held) if speaker.certainty > 1] or named:
        return best[0]
    if flagged := _find_flag(fields) or _find_speaker_of_parts(fields):
        return flagged
    if held := held or [speaker for speaker in _find_speakers_below(fields, "about_keys") if speaker.certainty]:
        return held[0]
    if len(fields) == 1 and (role := role_of(key := next(iter(fields)))):
        return Speaker(role, "", key, 1)
    unknown = ((key, word) for key, word in words if is_role_key(key) or isinstance(fields[key], dict))
    return next((Speaker(word.lower(), key, word, 0) for key, word in unknown), None)


def may_name_speaker(fields: Json) -> bool:
    """Return quickly whether `find_speaker` could find a speaker in the object itself."""
    if "lc" in fields or (len(fields) == 1 and role_of(next(iter(fields))[:LONGEST_NAME])):
        return True
    return any(_may_be_word(key, value) for key, value in fields.items()) or _find_speaker_of_parts(fields) is not None


def _may_be_word(key: str, value: object) -> bool:
    if isinstance(value, str) and len(value) <= LONGEST_WORD:
        return is_role_key(key) or (is_doubtful_key(key) and role_of(value) is not None)
    if isinstance(value, bool):
        return key.replace("_", "").lower() in vocabulary().flags
    return isinstance(value, dict) and (is_role_key(key) or is_doubtful_key(key))


def _find_speakers_below(fields: Json, list_name: str) -> list[Speaker]:
    inner = [held for key in known(list_name) if isinstance(held := fields.get(key), dict)]
    return [speaker for held in inner if (speaker := find_speaker(held))]


def _is_certain(fields: Json, key: str, word: str, role: str) -> bool:
    is_role = key == "role" or isinstance(fields[key], dict)
    return is_role or (key == "type" and _EVENT.fullmatch(word) is not None and _holds_role(fields, role))


def _holds_role(event: Json, role: str) -> bool:
    """Return whether an object in an event, or a message in that object, has the role."""
    held = [inner for key in known("wrapper_keys") if isinstance(inner := event.get(key), dict)]
    held += [inner for outer in held for key in known("holder_keys") if isinstance(inner := outer.get(key), dict)]
    return any(isinstance(word := inner.get("role"), str) and role_of(word) == role for inner in held)


@lru_cache(maxsize=4096)
def is_role_key(key: str) -> bool:
    """Return whether the key names the speaker, whatever its value."""
    is_named = has_word(key, "role_key_words") and not has_word(key, "not_role_key_words")
    return is_named or key in known("role_keys")


@lru_cache(maxsize=4096)
def is_doubtful_key(key: str) -> bool:
    """Return whether the key names the speaker only if its value is a word for a role."""
    is_kind = has_word(key, "kind_words") and has_word(key, "kind_of_words")
    return is_kind or key == "type" or key in known("doubtful_role_keys")


@lru_cache(maxsize=4096)
def role_of(word: str) -> str | None:
    """Return the role for a known word, a model's name, or a known word beside fillers: `user_message`."""
    roles = vocabulary().roles
    lowered = word.strip().lower()
    if role := roles.get(_SEPARATORS.sub("", lowered)):
        return role
    if _is_model_name(lowered):
        return "assistant"
    words = set(split_words(word))
    rest = words - known("fillers")
    return roles.get(rest.pop()) if len(rest) == 1 and len(words) > 1 and " " not in lowered else None


def _role_under(key: str, word: str) -> str | None:
    """Return the role of a word; under a key for speakers also of a name that ends with it, such as `support_agent`."""
    if role := role_of(word):
        return role
    words = split_words(word)
    is_name = bool(words) and " " not in word and is_role_key(key)
    return vocabulary().roles.get(words[-1]) if is_name else None


def kind_of(part: Json) -> str:
    """Return the kind of a part of a message, or ""."""
    kinds = (part.get(key) for key in ("type", "content_type", "kind", "part_kind"))
    return next((kind for kind in kinds if isinstance(kind, str) and kind), "")


def _is_model_name(lowered: str) -> bool:
    for name in known("model_names"):
        if lowered.startswith(name):
            after = lowered[len(name) : len(name) + 1]
            if not after or after in "-_ ." or (after.isdigit() and not name[-1].isdigit()):
                return True
    return False


def _find_speaker_of_parts(fields: Json) -> Speaker | None:
    """Find the speaker by the kind of the message's parts: a request's is the user, a response's the assistant."""
    key = next((key for key in known("speaking_part_keys") if isinstance(fields.get(key), list)), None)
    if key is None:
        return None
    kinds = [kind_of(fields), *(kind_of(mapping_of(part)) for part in list_of(fields[key]))]
    roles = (vocabulary().part_roles.get(_SEPARATORS.sub("", kind.lower())) for kind in kinds)
    role = next(filter(None, roles), None)
    return Speaker(role, f"{key}.type", role, 1) if role else None


def _list_role_keys(fields: Json) -> list[str]:
    """List the keys that may name the speaker, the most certain first."""
    listed = [key for key in known("role_keys") if key in fields]
    named = [key for key in fields if key not in listed and is_role_key(key)]
    return [*listed, *named, *(key for key in fields if key not in (*listed, *named) and is_doubtful_key(key))]


def _find_flag(fields: Json) -> Speaker | None:
    flags = vocabulary().flags
    for key, flag in fields.items():
        if isinstance(flag, bool) and (role := flags.get(key.replace("_", "").lower())):
            role = role if flag else OTHER_SIDE[role]
            return Speaker(role, key, role, 2)
    return None


def _read_word(value: object, depth: int = 0) -> str | None:
    """Return the word for the speaker: the text, or in an object a known role, a flag's role, a name, or a kind."""
    if isinstance(value, dict) and depth <= 1:
        value = _word_in(value) or _read_word(mapping_of(value.get("user")), depth + 1)
    return value.strip() if isinstance(value, str) and 0 < len(value.strip()) <= LONGEST_WORD else None


def _word_in(author: Json) -> str | None:
    kinds = [word for key in KIND_KEYS if isinstance(word := author.get(key), str) and word]
    if role := next((word for word in kinds if role_of(word)), None):
        return role
    flagged = _find_flag(author)
    # `isBot: false` says only that this is one of several people, whom the name tells apart
    if flagged and not (flagged.role == "user" and "bot" in flagged.key.lower()):
        return flagged.word
    names = (author.get(key) for key in ("role", "name", "displayName", "display_name", "username"))
    return next((name for name in names if isinstance(name, str) and name), next(iter(kinds), None))
