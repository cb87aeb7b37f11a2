"""Questions that an agent puts to the person by a tool, and how clients write the answers for the model.

Two spellings that several agents share are here: pairs `"question"="answer"`, and JSON by the question's place or id.
"""

import re
from collections.abc import Callable, Collection, Sequence

from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of, value_of

Questions = tuple[tuple[str, str], ...]
"""The questions of one call: the key by which an answer names each, and its words."""
Answers = list[tuple[str, str]]
"""The words of each question, and what the person answered."""
AnswerParser = Callable[[Questions, str], Answers | None]
"""Parse the result of a question tool; None for another spelling."""

UNANSWERED = frozenset({"", "Unanswered", "(No answer provided)"})

_PAIRS = ("User has answered your questions:", "Your questions have been answered:")
_BETWEEN, _NEXT, _END = '"="', ', "', ". You can now continue"
_NOTES_OF_PAIR, _NOTE_OF_JSON = '" user notes: ', "user_note: "
"""Before what the person wrote in addition to a choice."""
_PREVIEW = '" selected preview:'
_SEPARATORS = re.compile(r"[^a-z]")


def is_question_tool(name: str, question_tools: Collection[str]) -> bool:
    """Return whether a tool asks the person. The names have small letters and no separators."""
    return _SEPARATORS.sub("", name.lower()) in question_tools


def parse_questions(inputs: Json) -> Questions:
    """Return the questions in the input of a call of a question tool."""
    questions = objects_of(inputs.get("questions")) or [inputs]
    named = [(question, text_of(question.get("id")) or text_of(question.get("header"))) for question in questions]
    pairs = ((name or str(place), text_of(question.get("question"))) for place, (question, name) in enumerate(named))
    return tuple((key, words) for key, words in pairs if words)


def parse_answers(questions: Questions, text: str, parsers: Sequence[AnswerParser]) -> str:
    """Return each question with its answer below it, by the first parser that knows the spelling; else ""."""
    return join_answers(next((found for parse in parsers if (found := parse(questions, text)) is not None), []))


def join_answers(answers: Answers) -> str:
    """Return each question with its answer below it, without questions that have none."""
    given = ((question, words) for question, answer in answers if (words := answer.strip()) not in UNANSWERED)
    return "\n\n".join(f"{question}\n{words}".strip() for question, words in given)


def parse_pairs(_: Questions, text: str) -> Answers | None:
    """Parse `"question"="answer", …`. Nothing is escaped in it, so a quotation within an answer may end it early."""
    if not text.startswith(_PAIRS):
        return None
    first, *parts = (text.rpartition(_END)[0] or text).split(_BETWEEN)
    question, answers = first.partition('"')[2], list[tuple[str, str]]()
    for place, part in enumerate(parts, 1):
        answer, _sep, following = part.rpartition(_NEXT) if place < len(parts) else (part, "", "")
        chosen, _sep, notes = answer.partition(_NOTES_OF_PAIR)
        chosen = chosen.partition(_PREVIEW)[0].removesuffix('"')
        answers.append((question, f"{chosen}\n{notes}"))
        question = following
    return answers


def parse_json_answers(questions: Questions, text: str) -> Answers | None:
    """Parse `{"answers": {…}}`, whose keys are the questions' keys or places."""
    if not questions or not text.startswith("{"):
        return None
    answers = mapping_of(mapping_of(value_of(text)).get("answers"))
    keys = [(question, (key, str(place))) for place, (key, question) in enumerate(questions)]
    return [(question, next((_words(answers[key]) for key in names if key in answers), "")) for question, names in keys]


def _words(answer: object) -> str:
    chosen = mapping_of(answer).get("answers", answer)
    return text_of(chosen) or "\n".join(text_of(each).removeprefix(_NOTE_OF_JSON) for each in list_of(chosen))
