"""Who says a message of a generic file: keys and words for roles, whatever their spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pastchats_memory.formats.base.source import Json, list_of, mapping_of
from pastchats_memory.formats.generic.shapes.naming import has, words_of
from pastchats_memory.formats.generic.shapes.values import LONGEST_WORD

ROLE_KEYS = ("role", "sender", "from", "author", "speaker", "type")
ROLE_PARTS = frozenset(
    {
        "role",
        "sender",
        "author",
        "speaker",
        "actor",
        "who",
        "talker",
        "persona",
        "participant",
        "interlocutor",
        "poster",
        "writer",
    }
)
"""A key of several words with one of these says who speaks: `speaker_role`, `authorRole`."""
NOT_A_SPEAKER = frozenset({"id", "ids", "uid", "url", "email", "avatar", "count", "mapping", "color", "image"})
DOUBTFUL_KEYS = ("event", "kind", "source", "src", "direction", "by")
"""They say who speaks only if their value is a word for a role."""
KINDS = frozenset({"type", "kind"})
KINDS_OF = frozenset(
    {"message", "msg", "entry", "event", "item", "sender", "from", "chat", "record", "turn", "speaker"}
)
"""A key of words of both is doubtful too: `message_type`."""
NAME_KEYS = ("user", "username", "user_name", "nick", "nickname")
"""A person's name, in a message that has a time; elsewhere these are accounts and credentials."""
FLAGS = {
    "isuser": "user", "fromuser": "user", "iscreatedbyuser": "user", "isme": "user", "fromme": "user", "ishuman": "user",
    "isbot": "assistant", "isai": "assistant", "frombot": "assistant", "isassistant": "assistant",
}  # fmt: skip
"""Keys with true or false, and who speaks when it is true."""
HOLDERS = ("message", "info")
"""Keys under which some programs put the message itself, beside a record of their own."""
ABOUT = ("attrs", "attributes", "meta", "metadata", "properties")
"""Keys under which it may be said who speaks, beside the text."""
SPEAKING_PARTS = ("parts", "fragments")
"""Lists whose items may say by their kind who speaks, where the message itself does not."""
PART_ROLES = {
    "request": "user", "userprompt": "user", "inputtext": "user", "response": "assistant", "outputtext": "assistant",
}  # fmt: skip
DOING, SEEING = "action", "observation"
"""Keys of events in which an agent did something and saw what came of it, among those in which somebody spoke."""
SPOKEN_ACTIONS = ("message", "finish")
MOST_NUMBERS = 10
LONGEST_KEY = 64

_ROLE_WORDS = {
    "user": "user human prompter usermessage humanmessage you me customer visitor outgoing inbound prompt",
    "assistant": (
        "assistant gpt chatgpt bard model ai bot chatbot claude gemini agent llm copilot aimessage assistantmessage modelmessage apimessage "
        "incoming outbound completion machine"
    ),
    "system": "system developer systemmessage",
    "tool": "tool function observation functioncall functionresponse toolcall toolresult toolresponse tooluse toolmessage ipython",
}
ROLE_OF_WORD = {word: role for role, words in _ROLE_WORDS.items() for word in words.split()}
FILLERS = frozenset({
    "message", "messages", "msg", "msgs", "turn", "turns", "utterance", "utterances", "text", "texts", "reply", "replies", "response",
    "responses", "input", "inputs", "said", "says", "uttered", "role", "str", "string", "content", "body", "markdown",
    "output", "outputs", "final", "raw", "original",
})  # fmt: skip
"""Words that stand beside a role in the name of an event or a key: `user_message`, `bot_uttered`."""
_MODEL_NAME = re.compile(
    r"(chatgpt|gpt|claude|gemini|llama|mi[sx]tral|qwen|deepseek|grok|codex)([-_ .0-9]|\Z)|o[134](-|\Z)"
)
_MACHINE = re.compile(r"(?:\A|[^a-zA-Z])(?:AI|[Bb]ot|[Cc]hat[Bb]ot|[Aa]ssistant|GPT|ChatGPT|Copilot)(?:[^a-zA-Z]|\Z)")
"""Such a word within a speaker's name makes it a program's: `AI helper`, `@kiln-bot:home.org`."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who says a message, as its object tells it."""

    role: str
    key: str
    word: str
    certainty: int
    """2 a known word under `role` (or a flag for it), 1 a known word under another key, 0 an unknown word."""


def speaker_of(fields: Json, *, dated: bool = False, named_by: str = "") -> Speaker | None:
    """Known words before flags before unknown words; the object itself before one that it holds.

    Args:
        fields: the object that may be a message.
        dated: it has a time, so that a mere name may be its author's.
        named_by: a doubtful key that is known to say who speaks, since it does so beside it.

    """
    if done := _done(fields):
        return done
    named = [(key, word) for key in _role_keys(fields) if (word := _word(fields.get(key)) or _number(fields, key))]
    held = [speaker for key in HOLDERS if isinstance(inner := fields.get(key), dict) and (speaker := speaker_of(inner))]
    known = [
        Speaker(role, key, word, 2 if key == "role" or isinstance(fields[key], dict) else 1)
        for key, word in named
        if (role := known_role(word) or _role_of_name(key, word))
    ]
    best = [speaker for speaker in (*known, *held) if speaker.certainty > 1] or known
    if best:
        return best[0]
    if flagged := _flagged(fields) or _of_parts(fields):
        return flagged
    beside = [inner for key in ABOUT if isinstance(inner := fields.get(key), dict)]
    held += [speaker for inner in beside if (speaker := speaker_of(inner)) and speaker.certainty]
    if held:
        return held[0]
    if len(fields) == 1 and (role := known_role(key := next(iter(fields)))):
        return Speaker(role, "", key, 1)
    unknown = [
        (key, word)
        for key, word in named
        if key == named_by or not (key == "author" or is_doubtful_key(key)) or isinstance(fields[key], dict)
    ]
    return next((Speaker(word.lower(), key, word, 0) for key, word in unknown if dated or key not in NAME_KEYS), None)


def kind_of(part: Json) -> str:
    """The kind of a part of a message, under whichever key; "" for one that does not say."""
    kinds = (part.get(key) for key in ("type", "content_type", "kind", "part_kind"))
    return next((kind for kind in kinds if isinstance(kind, str) and kind), "")


def _of_parts(fields: Json) -> Speaker | None:
    """Who speaks by the parts of what is said: a request's are a person's, a response's an assistant's."""
    key = next((key for key in SPEAKING_PARTS if isinstance(fields.get(key), list)), None)
    if key is None:
        return None
    kinds = [kind_of(fields), *(kind_of(part) for part in list_of(fields[key]) if isinstance(part, dict))]
    roles = (PART_ROLES.get(re.sub(r"[-_ ]", "", kind.lower())) for kind in kinds)
    role = next(filter(None, roles), None)
    return Speaker(role, f"{key}.type", role, 1) if role else None


def _done(fields: Json) -> Speaker | None:
    """An agent's deed, which says nothing, or what it saw, which is a tool's; None for an event in which somebody speaks."""
    seen, done = fields.get(SEEING), fields.get(DOING)
    if isinstance(seen, str) and isinstance(fields.get("extras"), dict):
        return Speaker("tool", SEEING, seen, 1)
    if isinstance(done, str) and isinstance(fields.get("args"), dict) and done not in SPOKEN_ACTIONS:
        return Speaker("tool", DOING, done, 1)
    return None


@lru_cache(maxsize=4096)
def is_role_key(key: str) -> bool:
    """Whether the key says by its name who speaks."""
    return (key in ROLE_KEYS and key != "type") or (has(key, ROLE_PARTS) and not has(key, NOT_A_SPEAKER))


@lru_cache(maxsize=4096)
def is_doubtful_key(key: str) -> bool:
    """Whether the key says who speaks only if its value is a word for a role."""
    return key == "type" or key in DOUBTFUL_KEYS or (has(key, KINDS) and has(key, KINDS_OF))


def hints_at_speakers(fields: Json) -> bool:
    """Whether `speaker_of` could find one, judged quickly: most objects of most files have nothing of the kind."""
    if "lc" in fields or (len(fields) == 1 and known_role(next(iter(fields))[:LONGEST_KEY])):
        return True
    return any(_hints(key, value) for key, value in fields.items()) or _of_parts(fields) is not None


def _hints(key: str, value: object) -> bool:
    if isinstance(value, str):
        told = is_role_key(key) or key in NAME_KEYS
        return len(value) <= LONGEST_WORD and (told or (is_doubtful_key(key) and known_role(value) is not None))
    if isinstance(value, bool):
        return _plain(key) in FLAGS
    if isinstance(value, int):
        return "speaker" in words_of(key)
    return isinstance(value, dict | list) and (is_role_key(key.removesuffix("s")) or key in DOUBTFUL_KEYS)


def _role_of_name(key: str, word: str) -> str | None:
    """The role in a name, as `support_agent` or `Kiln bot` has it."""
    if not is_role_key(key) and key not in NAME_KEYS:
        return None
    last = words_of(word)[-1:]
    spelled = last and " " not in word and not word.startswith("@") and ROLE_OF_WORD.get(last[0])
    return spelled or ("assistant" if key != "role" and _MACHINE.search(word) else None)


def _number(fields: Json, key: str) -> str | None:
    """Who speaks where speakers are numbered."""
    value = fields.get(key)
    numbered = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_NUMBERS
    return str(value) if numbered and "speaker" in words_of(key) else None


def _role_keys(fields: Json) -> list[str]:
    """Keys that may say who speaks, the surest first."""
    listed = [key for key in ROLE_KEYS if key in fields]
    spelled = [key for key in fields if key not in ROLE_KEYS and is_role_key(key)]
    doubtful = [key for key in fields if key not in (*listed, *spelled) and is_doubtful_key(key)]
    return [*listed, *spelled, *doubtful, *(key for key in NAME_KEYS if key in fields)]


def _flagged(fields: Json) -> Speaker | None:
    for key, flag in fields.items():
        if isinstance(flag, bool) and (role := FLAGS.get(_plain(key))):
            said_by = role if flag else "assistant" if role == "user" else "user"
            return Speaker(said_by, key, said_by, 2)
    return None


def _plain(key: str) -> str:
    return key.replace("_", "").lower()


@lru_cache(maxsize=4096)
def known_role(word: str) -> str | None:
    """The role for a word of the table, a model's name, or such a word with another beside it: `user_message`."""
    plain = word.strip().lower()
    role = ROLE_OF_WORD.get(re.sub(r"[-_ ]", "", plain)) or ("assistant" if _MODEL_NAME.match(plain) else None)
    words = set(words_of(word))
    if role is None and len(rest := words - FILLERS) == 1 and len(words) > 1 and " " not in plain:
        return ROLE_OF_WORD.get(rest.pop())
    return role


def _word(value: object, depth: int = 0) -> str | None:
    """The word for who speaks: a text, or in an object a known role, a flag's, else a name."""
    if isinstance(value, dict) and depth <= 1:
        words = [
            word
            for key in ("role", "type", "kind", "label", "Label", "__typename")
            if isinstance(word := value.get(key), str) and known_role(word)
        ]
        flagged = _flagged(value)
        if flagged and flagged.role == "user" and FLAGS[_plain(flagged.key)] == "assistant":
            flagged = None  # one of several people, of whom the name says more
        names = [value.get(key) for key in ("role", "name", "displayName", "display_name", "username")]
        value = next((word for word in (*words, flagged and flagged.word, *names) if word), None) or _word(
            mapping_of(value.get("user")), depth + 1
        )
    return value.strip() if isinstance(value, str) and 0 < len(value.strip()) <= LONGEST_WORD else None


def roles_of_names(speakers: Iterable[Speaker]) -> dict[str, str]:
    """What the one unknown name is in a conversation with somebody known: a person beside a program, or the other way round."""
    told = list(speakers)
    known = {speaker.role for speaker in told if speaker.certainty} & {"user", "assistant"}
    unknown = {speaker.role for speaker in told if not speaker.certainty}
    other = {"user": "assistant", "assistant": "user"}
    return {unknown.pop(): other[known.pop()]} if len(known) == len(unknown) == 1 else {}
