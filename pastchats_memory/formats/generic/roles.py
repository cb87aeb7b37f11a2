"""Who speaks in a message of unknown shape: words and keys of roles, in any spelling."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from pastchats_memory.formats.base.source import Json, list_of, mapping_of

SIDES = frozenset({"user", "assistant"})
"""The roles between which a conversation takes place."""
OTHER_SIDE = {"user": "assistant", "assistant": "user"}
LONGEST_NAME = 64
"""Characters of a name that are read."""
LONGEST_WORD = 48
"""Characters of a word for a speaker."""
HIGHEST_SPEAKER_NUMBER = 9
ACTION_KEY, OBSERVATION_KEY = "action", "observation"
"""Keys of OpenHands events in which an agent did something and saw its result."""
MESSAGE_ACTIONS = ("message", "finish")
"""Actions with which an agent speaks."""

_EVENT = re.compile(r"[a-z]{1,20}[/.]message")
_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_LETTERS = re.compile(r"[^a-zA-Z]+")
_SEPARATORS = re.compile(r"[-_ ]")


class Vocabulary:
    """The word lists of `roles.toml`, which documents each of them: tuples where the order counts."""

    role_of_word: Mapping[str, str]
    flags: Mapping[str, str]
    part_roles: Mapping[str, str]
    model_names: tuple[str, ...]
    machine_words: frozenset[str]
    fillers: frozenset[str]
    role_keys: tuple[str, ...]
    role_key_words: frozenset[str]
    not_role_key_words: frozenset[str]
    doubtful_role_keys: frozenset[str]
    kind_words: frozenset[str]
    kind_of_words: frozenset[str]
    name_keys: tuple[str, ...]
    holder_keys: tuple[str, ...]
    about_keys: tuple[str, ...]
    wrapper_keys: frozenset[str]
    speaking_part_keys: tuple[str, ...]
    text_keys: tuple[str, ...]
    text_key_words: frozenset[str]
    not_text_key_words: frozenset[str]
    part_keys: tuple[str, ...]
    text_kind_words: frozenset[str]
    markup_kind_words: frozenset[str]
    hidden_flags: frozenset[str]
    time_keys: tuple[str, ...]
    time_key_words: frozenset[str]
    time_holder_keys: tuple[str, ...]
    own_id_keys: tuple[str, ...]
    conversation_id_keys: tuple[str, ...]
    parent_keys: tuple[str, ...]
    cwd_keys: tuple[str, ...]
    project_keys: tuple[str, ...]
    title_keys: tuple[str, ...]
    current_keys: tuple[str, ...]
    conversation_about_keys: tuple[str, ...]
    container_keys: tuple[str, ...]
    opening_keys: tuple[str, ...]
    request_words: frozenset[str]
    response_words: frozenset[str]
    question_words: frozenset[str]
    answer_words: frozenset[str]
    model_words: frozenset[str]
    plain_words: frozenset[str]
    certain_question_words: frozenset[str]
    exchange_words: frozenset[str]
    exam_keys: frozenset[str]
    side_keys: tuple[str, ...]
    thread_words: frozenset[str]
    step_words: frozenset[str]
    other_document_keys: tuple[str, ...]
    other_document_types: tuple[str, ...]
    other_list_words: frozenset[str]
    record_words: frozenset[str]
    log_words: frozenset[str]
    label_words: frozenset[str]
    interface_roles: frozenset[str]
    suggested_user_words: frozenset[str]
    suggested_assistant_words: frozenset[str]

    def __init__(self, document: Mapping[str, Mapping[str, list[str] | str]]) -> None:
        """Build the lists from parsed TOML of the shape of `roles.toml`.

        Raises KeyError if a list is missing.
        """
        self.role_of_word = {word: role for role, words in document["roles"].items() for word in words}
        self.flags, self.part_roles = _texts(document["flags"]), _texts(document["part_roles"])
        for name, kind in Vocabulary.__annotations__.items():
            if name not in ("role_of_word", "flags", "part_roles"):
                words = document["lists"][name]
                setattr(self, name, frozenset(words) if kind.startswith("frozenset") else tuple(words))


def _texts(table: Mapping[str, list[str] | str]) -> Mapping[str, str]:
    return {key: value for key, value in table.items() if isinstance(value, str)}


@cache
def vocabulary() -> Vocabulary:
    """Return the word lists; the first call reads the file."""
    import tomllib
    from importlib import resources  # brings tempfile and random, which most runs do not need

    text = resources.files(__package__).joinpath("roles.toml").read_text(encoding="utf-8")
    return Vocabulary(tomllib.loads(text))


@lru_cache(maxsize=8192)
def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case and without accents, in their order.

    `userSaid`, `user_said` and `User said` give the same words.
    """
    return tuple(_fold(word) for word in _WORD.findall(_HUMP.sub(" ", name[:LONGEST_NAME])))


def has_word(name: str, words: frozenset[str]) -> bool:
    """Return whether a word of the name is among the words."""
    return not words.isdisjoint(split_words(name))


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


def find_speaker(fields: Json, *, is_dated: bool = False, role_key: str = "") -> Speaker | None:
    """Find the speaker that an object names, or None.

    Known words win over flags, and flags over unknown words. The object itself wins over an object in it.

    Args:
        fields: the object that may be a message.
        is_dated: it has a time, so a person's name may be the author's.
        role_key: a doubtful key that names speakers in other objects of the list.
    """
    if agent := _find_agent(fields):
        return agent
    lists = vocabulary()
    words = [
        (key, word) for key in _list_role_keys(fields) if (word := _read_word(fields[key]) or _number(fields, key))
    ]
    inner = [
        speaker
        for key in lists.holder_keys
        if isinstance(held := fields.get(key), dict) and (speaker := find_speaker(held))
    ]
    known = [
        Speaker(role, key, word, 2 if _is_certain(fields, key, word, role) else 1)
        for key, word in words
        if (role := role_of(word) or _role_of_name(key, word))
    ]
    if best := [speaker for speaker in (*known, *inner) if speaker.certainty > 1] or known:
        return best[0]
    if flagged := _find_flag(fields) or _find_speaker_of_parts(fields):
        return flagged
    about = [held for key in lists.about_keys if isinstance(held := fields.get(key), dict)]
    inner += [speaker for held in about if (speaker := find_speaker(held)) and speaker.certainty]
    if inner:
        return inner[0]
    if len(fields) == 1 and (role := role_of(key := next(iter(fields)))):
        return Speaker(role, "", key, 1)
    return next(
        (
            Speaker(word.lower(), key, word, 0)
            for key, word in words
            if _names_unknown(fields, key, role_key, is_dated=is_dated)
        ),
        None,
    )


def _is_certain(fields: Json, key: str, word: str, role: str) -> bool:
    is_role = key == "role" or isinstance(fields[key], dict)
    return is_role or (key == "type" and _EVENT.fullmatch(word) is not None and _holds_role(fields, role))


def _holds_role(event: Json, role: str) -> bool:
    """Return whether an object in an event, or a message in that object, has the role."""
    lists = vocabulary()
    held = [inner for key in lists.wrapper_keys if isinstance(inner := event.get(key), dict)]
    held += [inner for outer in held for key in lists.holder_keys if isinstance(inner := outer.get(key), dict)]
    return any(isinstance(word := inner.get("role"), str) and role_of(word) == role for inner in held)


def _names_unknown(fields: Json, key: str, role_key: str, *, is_dated: bool) -> bool:
    """Return whether a key may name a speaker with an unknown word."""
    is_doubtful = key == "author" or is_doubtful_key(key)
    is_certain = key == role_key or isinstance(fields[key], dict) or not is_doubtful
    return is_certain and (is_dated or key not in vocabulary().name_keys)


def may_name_speaker(fields: Json) -> bool:
    """Return quickly whether `find_speaker` could find one.

    Most objects of most files name none.
    """
    if "lc" in fields or (len(fields) == 1 and role_of(next(iter(fields))[:LONGEST_NAME])):
        return True
    return any(_may_be_role(key, value) for key, value in fields.items()) or _find_speaker_of_parts(fields) is not None


def _may_be_role(key: str, value: object) -> bool:
    lists = vocabulary()
    if isinstance(value, str):
        is_named = is_role_key(key) or key in lists.name_keys
        return len(value) <= LONGEST_WORD and (is_named or (is_doubtful_key(key) and role_of(value) is not None))
    if isinstance(value, bool):
        return _join(key) in lists.flags
    if isinstance(value, int):
        return "speaker" in split_words(key)
    return isinstance(value, dict | list) and (is_role_key(key.removesuffix("s")) or key in lists.doubtful_role_keys)


@lru_cache(maxsize=4096)
def is_role_key(key: str) -> bool:
    """Return whether the key names the speaker, whatever its value."""
    lists = vocabulary()
    if key in lists.role_keys and key != "type":
        return True
    return has_word(key, lists.role_key_words) and not has_word(key, lists.not_role_key_words)


@lru_cache(maxsize=4096)
def is_doubtful_key(key: str) -> bool:
    """Return whether the key names the speaker only if its value is a word for a role."""
    lists = vocabulary()
    if key == "type" or key in lists.doubtful_role_keys:
        return True
    return has_word(key, lists.kind_words) and has_word(key, lists.kind_of_words)


@lru_cache(maxsize=4096)
def role_of(word: str) -> str | None:
    """Return the role for a known word, a model's name, or a known word beside fillers: `user_message`."""
    lists = vocabulary()
    lowered = word.strip().lower()
    if role := lists.role_of_word.get(_SEPARATORS.sub("", lowered)):
        return role
    if _is_model_name(lowered):
        return "assistant"
    words = set(split_words(word))
    rest = words - lists.fillers
    if len(rest) == 1 and len(words) > 1 and " " not in lowered:
        return lists.role_of_word.get(rest.pop())
    return None


def roles_of_names(speakers: Iterable[Speaker]) -> dict[str, str]:
    """Return the role of the one unknown name in a conversation with one known side: the other side."""
    listed = list(speakers)
    known = {speaker.role for speaker in listed if speaker.certainty} & SIDES
    unknown = {speaker.role for speaker in listed if not speaker.certainty}
    return {unknown.pop(): OTHER_SIDE[known.pop()]} if len(known) == len(unknown) == 1 else {}


def kind_of(part: Json) -> str:
    """Return the kind of a part of a message, or ""."""
    kinds = (part.get(key) for key in ("type", "content_type", "kind", "part_kind"))
    return next((kind for kind in kinds if isinstance(kind, str) and kind), "")


def _is_model_name(lowered: str) -> bool:
    for name in vocabulary().model_names:
        if lowered.startswith(name):
            after = lowered[len(name) : len(name) + 1]
            if not after or after in "-_ ." or (after.isdigit() and not name[-1].isdigit()):
                return True
    return False


def _find_speaker_of_parts(fields: Json) -> Speaker | None:
    """Find the speaker by the kind of the message's parts: a request's is the user, a response's the assistant."""
    lists = vocabulary()
    key = next((key for key in lists.speaking_part_keys if isinstance(fields.get(key), list)), None)
    if key is None:
        return None
    kinds = [kind_of(fields), *(kind_of(part) for part in list_of(fields[key]) if isinstance(part, dict))]
    roles = (lists.part_roles.get(_SEPARATORS.sub("", kind.lower())) for kind in kinds)
    role = next(filter(None, roles), None)
    return Speaker(role, f"{key}.type", role, 1) if role else None


def _find_agent(fields: Json) -> Speaker | None:
    """Find the tool in an OpenHands event with an action or its result.

    Return None for an event in which somebody speaks.
    """
    observation, action = fields.get(OBSERVATION_KEY), fields.get(ACTION_KEY)
    if isinstance(observation, str) and isinstance(fields.get("extras"), dict):
        return Speaker("tool", OBSERVATION_KEY, observation, 1)
    if isinstance(action, str) and isinstance(fields.get("args"), dict) and action not in MESSAGE_ACTIONS:
        return Speaker("tool", ACTION_KEY, action, 1)
    return None


def _role_of_name(key: str, word: str) -> str | None:
    """Return the role in a speaker's name: `support_agent`, `Kiln bot`."""
    lists = vocabulary()
    if not is_role_key(key) and key not in lists.name_keys:
        return None
    last = split_words(word)[-1:]
    if last and " " not in word and not word.startswith("@") and (role := lists.role_of_word.get(last[0])):
        return role
    is_machine = key != "role" and not lists.machine_words.isdisjoint(_NOT_LETTERS.split(word))
    return "assistant" if is_machine else None


def _number(fields: Json, key: str) -> str | None:
    """Return the number of a numbered speaker."""
    value = fields.get(key)
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST_SPEAKER_NUMBER
    return str(value) if is_number and "speaker" in split_words(key) else None


def _list_role_keys(fields: Json) -> list[str]:
    """List the keys that may name the speaker, the most certain first."""
    lists = vocabulary()
    listed = [key for key in lists.role_keys if key in fields]
    named = [key for key in fields if key not in lists.role_keys and is_role_key(key)]
    doubtful = [key for key in fields if key not in (*listed, *named) and is_doubtful_key(key)]
    return [*listed, *named, *doubtful, *(key for key in lists.name_keys if key in fields)]


def _find_flag(fields: Json) -> Speaker | None:
    flags = vocabulary().flags
    for key, flag in fields.items():
        if isinstance(flag, bool) and (role := flags.get(_join(key))):
            role = role if flag else OTHER_SIDE[role]
            return Speaker(role, key, role, 2)
    return None


def _join(key: str) -> str:
    return key.replace("_", "").lower()


def _read_word(value: object, depth: int = 0) -> str | None:
    """Return the word for the speaker: the text, or in an object a known role, a flag's role, or a name."""
    if isinstance(value, dict) and depth <= 1:
        value = _word_in(value) or _read_word(mapping_of(value.get("user")), depth + 1)
    return value.strip() if isinstance(value, str) and 0 < len(value.strip()) <= LONGEST_WORD else None


def _word_in(author: Json) -> str | None:
    for key in ("role", "type", "kind", "label", "Label", "__typename"):
        if isinstance(word := author.get(key), str) and role_of(word):
            return word
    flagged = _find_flag(author)
    # `isBot: false` says only that this is one of several people, whom the name tells apart
    if flagged and not (flagged.role == "user" and vocabulary().flags[_join(flagged.key)] == "assistant"):
        return flagged.word
    names = (author.get(key) for key in ("role", "name", "displayName", "display_name", "username"))
    name = next(filter(None, names), None)
    return name if isinstance(name, str) else None
