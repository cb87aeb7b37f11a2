"""Exchanges: both sides in one object, as `{"prompt": …, "completion": …}` has them, or two lists in it."""

from __future__ import annotations

from functools import lru_cache

from pastchats_memory.formats.base.source import Json, mapping_of, parse_json, text_of
from pastchats_memory.formats.generic.shapes.naming import SIGNS, has, words_of
from pastchats_memory.formats.generic.shapes.values import FEWEST_WORDS, words_in
from pastchats_memory.formats.generic.speakers import FILLERS

ASKS = frozenset(
    {"prompt", "question", "query", "instruction", "q", "request", "user", "human", "customer", "visitor", "me"}
)
ANSWERS = frozenset(
    {
        "completion",
        "response",
        "answer",
        "output",
        "a",
        "reply",
        "fulfillment",
        "assistant",
        "ai",
        "bot",
        "chatbot",
        "gpt",
        "chatgpt",
    }
)
MODELS = frozenset({"model", "agent", "llm", "claude", "gemini"})
"""Alone these name a model; `model_response` is what it said."""
PLAIN = frozenset({"query", "question", "q", "a", "answer", "request", "response", "reply", "input", "output"})
"""Words that are used of other things too: pairs of them must look like speech, and tell when or by what they were said."""
ASKED = frozenset({"question", "q"})
EXAM_KEYS = frozenset({"options", "choices", "distractors", "incorrect_answers", "answer_start", "difficulty"})
SIDE_KEYS = ("text", "content", "value", "message", "body")
MOST_BESIDE = 8
DEEPEST_SIDE = 4
MOST_KEYS = 40
"""An object with more is a table of translations or of codes (`ME`, `AI`), not an exchange."""

IN_TURN = ("user", "assistant")
WHEN = ("timestamp", "created_at", "createdAt", "time", "date")


def sides_of(fields: Json) -> list[Json]:
    """Both sides of an exchange that one object holds, as `{"prompt": …, "completion": …}` does."""
    asks, answers = _sides(fields)
    if not asks or len(answers) != 1 or _is_of_a_set(fields, {*asks, *answers}):
        return []
    question, answer = _texts_of(fields[asks[0]], fields[answers[0]])
    if isinstance(question, list) and isinstance(answer, list):
        return _alternating(question, answer)
    if not isinstance(question, str) or not isinstance(answer, str):
        return []
    doubtful = _words_of(asks[0]) & PLAIN and _words_of(answers[0]) & PLAIN
    if words_in(question) + words_in(answer) < FEWEST_WORDS or (
        doubtful and not _is_speech(fields, asks[0], question, answer)
    ):
        return []
    # an id is the exchange's, not that of one of its sides
    rest = {key: value for key, value in fields.items() if key not in (*asks, *answers, "id", "uuid", "_id")}
    whole = "\n\n".join(text for key in asks if (text := text_of(_text_in(fields[key])).strip()))
    said_when = [
        {key: side[key] for key in WHEN if key in side}
        for side in map(mapping_of, map(fields.get, (asks[0], answers[0])))
    ]
    return [
        {**rest, **said_when[0], "role": "user", "content": whole, TAKEN: (" and ".join(asks), asks[0])},
        {**rest, **said_when[1], "role": "assistant", "content": answer, TAKEN: (answers[0], answers[0])},
    ]


def _is_of_a_set(fields: Json, sides: set[str]) -> bool:
    """Whether the object is a task of an exam, or the words of an interface: all else in it are sentences too."""
    beside = [value for key, value in fields.items() if key not in sides]
    are_words = len(beside) > 1 and all(isinstance(text, str) and words_in(text) >= FEWEST_WORDS for text in beside)
    return are_words or bool(EXAM_KEYS & fields.keys())


def _texts_of(ask: object, answer: object) -> tuple[object, object]:
    """The texts of both sides. Of two objects one may have none, as that of an agent that called a tool; nothing without a question."""
    texts = (_text_in(ask), _text_in(answer))
    if isinstance(ask, dict) and isinstance(answer, dict):
        return text_of(texts[0]), text_of(texts[1])
    return texts if not isinstance(texts[0], str) or texts[0].strip() else (None, None)


def _text_in(value: object, depth: int = 0) -> object:
    """The text of a side that is an object with little else, or is such an object as JSON, else the value."""
    if isinstance(value, str) and value.startswith("{"):
        inner = parse_json(value)
        return text if isinstance(inner, dict) and isinstance(text := _text_in(inner), str) else value
    if not isinstance(value, dict) or len(value) > MOST_BESIDE or depth > DEEPEST_SIDE:
        return value
    for key in SIDE_KEYS:
        if isinstance(text := value.get(key), str):
            return text
    held = [inner for key, inner in value.items() if isinstance(inner, dict | str) and _may_hold(key, len(value))]
    texts = (text for inner in held if isinstance(text := _text_in(inner, depth + 1), str))
    return next(texts, value)


def _may_hold(key: str, beside: int) -> bool:
    """Whether a side's text may stand deeper, below this key."""
    return key in SIDE_KEYS or (beside == 1 and (asks_in(key) or answers_in(key)))


TAKEN = "\0taken"
"""Under this key, which no file can have, stands which keys were taken for role and text."""


@lru_cache(maxsize=4096)
def asks_in(key: str) -> bool:
    """Whether a key names what a person said in an exchange."""
    return bool(_words_of(key)) and _words_of(key) <= ASKS


@lru_cache(maxsize=4096)
def answers_in(key: str) -> bool:
    """Whether a key names what was answered."""
    words = _words_of(key)
    return words <= ANSWERS | MODELS and bool(words & ANSWERS or (words & MODELS and len(words_of(key)) > 1))


def _words_of(key: str) -> frozenset[str]:
    words = frozenset(words_of(key))
    return (words - FILLERS) or words


def _sides(fields: Json) -> tuple[list[str], list[str]]:
    """The keys of the two sides; an instruction may have an input beside it."""
    if len(fields) > MOST_KEYS:
        return [], []
    asks = [key for key in fields if asks_in(key)]
    answers = [key for key, value in fields.items() if value is not None and answers_in(key)]
    if "instruction" in asks:
        asks = ["instruction", "input"] if "input" in fields else ["instruction"]
    elif not asks and "input" in fields:
        asks = ["input"]
    if not answers and len(asks) == 1 and "utterance" in words_of(asks[0]):
        answers = [key for key in fields if {"system", "utterance"} <= set(words_of(key))]
    return (asks, answers) if len(asks) == 1 or asks == ["instruction", "input"] else ([], [])


def _is_speech(fields: Json, ask: str, question: str, answer: str) -> bool:
    spoken = words_in(question) >= FEWEST_WORDS and words_in(answer) >= FEWEST_WORDS
    told = [fields, *(value for value in fields.values() if isinstance(value, dict) and len(value) <= MOST_BESIDE)]
    signed = any(has(key, SIGNS) for held in told for key in held)
    return spoken and (signed or bool(_words_of(ask) & ASKED))


def _alternating(asks: list[object], answers: list[object]) -> list[Json]:
    """Two lists, one a side: the first of each, then the second of each."""
    texts = [text for pair in zip(asks, answers, strict=False) for text in pair] + asks[len(answers) :]
    if not answers or len(asks) - len(answers) not in (0, 1) or not all(isinstance(text, str) for text in texts):
        return []
    return [{"role": IN_TURN[place % 2], "content": text} for place, text in enumerate(texts)]


def hints_at_exchanges(fields: Json) -> bool:
    """Whether `sides_of` could find any, judged quickly."""
    asks = answers = False
    for key, value in fields.items():
        if isinstance(value, str) or isinstance(_text_in(value), str):
            asks, answers = asks or asks_in(key) or key == "input", answers or answers_in(key) or "utterance" in key
        elif isinstance(value, list):
            asks, answers = asks or asks_in(key), answers or answers_in(key)
    return asks and answers
