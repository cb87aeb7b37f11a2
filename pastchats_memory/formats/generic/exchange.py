"""Exchanges: the question of a user and the answer of an assistant in one object."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from pastchats_memory.formats.base.values import Json, mapping_of, parse_json, text_of
from pastchats_memory.formats.generic.message import GenericMessage, build_message, merge_held, parse_message
from pastchats_memory.formats.generic.roles import Speaker, has_word, known, split_words

FEWEST_WORDS = 3
"""Words of a text that somebody may have said."""
MOST_SIDE_KEYS = 8
"""Keys of an object that is one side of an exchange."""
DEEPEST_SIDE = 4
MOST_EXCHANGE_KEYS = 40
"""Keys of an exchange; an object with more is a table of translations or codes (`ME`, `AI`)."""
SIDE_TIME_KEYS = ("timestamp", "created_at", "createdAt", "time", "date")
SHARED_ID_KEYS = ("id", "uuid", "_id")
"""Keys of an id that is the exchange's, not that of one of its sides."""

_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def parse_item(item: object, *, is_exchange: bool = False) -> tuple[GenericMessage, ...]:
    """Parse an item of a list: a message, an exchange (a short one if others are: `is_exchange`), or nothing."""
    fields = mapping_of(item)
    message = parse_message(fields) if fields else None
    exchange = parse_exchange(fields, is_exchange=is_exchange) if not (message and message.speaker.certainty) else ()
    return exchange or ((message,) if message else ())


def parse_exchange(fields: Json, *, is_exchange: bool = False) -> tuple[GenericMessage, ...]:
    """Parse both messages of an exchange such as `{"prompt": …, "completion": …}`; return nothing for other objects.

    Two lists of texts give as many exchanges. Short texts may be an exchange only if other objects are (`is_exchange`).
    """
    asks, answers = _side_keys(fields)
    if not asks or len(answers) != 1:
        return ()
    question, answer = _side_texts(fields[asks[0]], fields[answers[0]])
    if isinstance(question, list) and isinstance(answer, list):
        return _pair_lists(question, answer)
    if not isinstance(question, str) or not isinstance(answer, str):
        return ()
    if not is_exchange and not _is_speech(fields, asks[0], answers[0], (count_words(question), count_words(answer))):
        return ()
    whole = "\n\n".join(text for key in asks if (text := text_of(_text_in(fields[key])).strip()))
    rest = {key: value for key, value in fields.items() if key not in (*asks, *answers, *SHARED_ID_KEYS)}
    user = _build_side(rest | _side_time(fields[asks[0]]), "user", " and ".join(asks), asks[0], whole)
    assistant = _build_side(rest | _side_time(fields[answers[0]]), "assistant", answers[0], answers[0], answer)
    return tuple(message for message in (user, assistant) if message.text)


def _build_side(fields: Json, role: str, key: str, text_key: str, text: str) -> GenericMessage:
    merged = merge_held({**fields, "role": role, "content": text})
    message = build_message(merged, Speaker(role, "role", role, 2), "content", [text])
    return replace(message, speaker=Speaker(role, key, role, 2), text_key=text_key)


def _side_time(side: object) -> Json:
    return {key: value for key, value in mapping_of(side).items() if key in SIDE_TIME_KEYS}


def _side_texts(ask: object, answer: object) -> tuple[object, object]:
    """Return the texts of both sides.

    One of two objects may have no text, as that of an agent that called a tool. Without a question there is nothing.
    """
    texts = (_text_in(ask), _text_in(answer))
    if isinstance(ask, dict) and isinstance(answer, dict):
        return text_of(texts[0]), text_of(texts[1])
    return texts if not isinstance(texts[0], str) or texts[0].strip() else (None, None)


def _text_in(value: object, depth: int = 0) -> object:
    """Return the text of a side that is a small object, or such an object in JSON; return any other value unchanged."""
    if isinstance(value, str) and value.startswith("{"):
        inner = parse_json(value)
        return text if isinstance(inner, dict) and isinstance(text := _text_in(inner), str) else value
    if not isinstance(value, dict) or len(value) > MOST_SIDE_KEYS or depth > DEEPEST_SIDE:
        return value
    for key in known("side_keys"):
        if isinstance(text := value.get(key), str):
            return text
    held = [inner for key, inner in value.items() if isinstance(inner, dict | str) and _may_hold(key, len(value))]
    return next((text for inner in held if isinstance(text := _text_in(inner, depth + 1), str)), value)


def _may_hold(key: str, keys: int) -> bool:
    """Return whether the text of a side may stand below this one of its keys."""
    return key in known("side_keys") or (keys == 1 and (is_question_key(key) or is_answer_key(key)))


@lru_cache(maxsize=4096)
def is_question_key(key: str) -> bool:
    """Return whether the key names the user's side of an exchange."""
    return bool(_words_of(key)) and _words_of(key) <= known("question_words")


@lru_cache(maxsize=4096)
def is_answer_key(key: str) -> bool:
    """Return whether the key names the assistant's side of an exchange."""
    words = _words_of(key)
    answers, models = words & known("answer_words"), words & known("model_words")
    return words == answers | models and bool(answers or (models and len(split_words(key)) > 1))


def _words_of(key: str) -> frozenset[str]:
    words = frozenset(split_words(key))
    return (words - known("fillers")) or words


def _side_keys(fields: Json) -> tuple[list[str], list[str]]:
    """Return the keys of both sides; an instruction may have an input beside it."""
    if len(fields) > MOST_EXCHANGE_KEYS or not known("not_exchange_keys").isdisjoint(fields):
        return [], []
    asks = [key for key in fields if is_question_key(key)]
    answers = [key for key, value in fields.items() if value is not None and is_answer_key(key)]
    if "instruction" in asks:
        asks = ["instruction", "input"] if "input" in fields else ["instruction"]
    elif not asks and "input" in fields:
        asks = ["input"]
    if not answers and len(asks) == 1 and "utterance" in split_words(asks[0]):
        answers = [key for key in fields if {"system", "utterance"} <= set(split_words(key))]
    return (asks, answers) if len(asks) == 1 or asks == ["instruction", "input"] else ([], [])


def _is_speech(fields: Json, ask: str, answer: str, counts: tuple[int, int]) -> bool:
    """Return whether texts of so many words were said.

    Keys with other uses, such as `input` and `output`, name sentences, and a key shows that they were said: a time, a
    model, or the word `question`.
    """
    plain = known("plain_words")
    if not (_words_of(ask) & plain and _words_of(answer) & plain):
        return sum(counts) >= FEWEST_WORDS
    inner = (value for value in fields.values() if isinstance(value, dict) and len(value) <= MOST_SIDE_KEYS)
    has_sign = any(has_word(key, "exchange_words") for one in (fields, *inner) for key in one)
    return min(counts) >= FEWEST_WORDS and (has_sign or bool(_words_of(ask) & known("certain_question_words")))


def may_be_exchange(fields: Json) -> bool:
    """Return quickly, by the keys alone, whether `parse_exchange` could find an exchange."""
    has_question = any(is_question_key(key) or key == "input" for key in fields)
    return has_question and any(is_answer_key(key) or "utterance" in key for key in fields)


def _pair_lists(asks: list[object], answers: list[object]) -> tuple[GenericMessage, ...]:
    """Return the messages of two lists of texts: the first of each, then the second of each."""
    texts = [text for pair in zip(asks, answers, strict=False) for text in pair] + asks[len(answers) :]
    if not answers or len(asks) - len(answers) not in (0, 1) or not all(isinstance(text, str) for text in texts):
        return ()
    roles = ("user", "assistant")
    messages = (_build_side({}, roles[n % 2], "role", "content", text_of(text)) for n, text in enumerate(texts))
    return tuple(message for message in messages if message.text)


def are_exchanges(messages: Iterable[GenericMessage]) -> bool:
    """Return whether the keys of the texts name the speakers, as in exchanges."""
    return all(message.speaker.key and message.speaker.key == message.text_key for message in messages)


def count_words(text: str) -> int:
    """Count words roughly; two characters of a script without spaces are one."""
    return max(len(text.split()), len(_WITHOUT_SPACES.findall(text)) // 2)
