"""Questions that an agent puts to the person midway, through a tool made for that, and what the person answered.

Each client words the answers for its model in a way of its own: JSON by a question's place or id (Gemini CLI, Codex), pairs of
`"question"="answer"` (Claude Code, OpenCode), a line a heading (Qwen Code), the choice alone (GitHub Copilot CLI).
"""

from __future__ import annotations

import re

import orjson

from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of

Asked = tuple[tuple[str, str], ...]
"""Each question of a call: what its answer is told by, and its words."""

TOOLS = frozenset({"askuserquestion", "askuser", "requestuserinput", "question", "askquestion", "askquestions"})
"""Names of such tools, without what the clients put between the words."""
OPENINGS = ("User has answered your questions:", "Your questions have been answered:")
"""Before pairs of questions and answers, which tell themselves what was asked."""
BETWEEN, NEXT, END = '"="', ', "', ". You can now continue"
NOTES, NOTED = '" user notes: ', "user_note: "
"""Before what the person wrote beside a choice, in pairs and in JSON."""
PREVIEW = '" selected preview:'
LISTED = "User has provided the following answers:"
CHOSEN = ("User selected:", "User responded:", "The user responded:")
SENT_BACK, STORED = "Plan rejected. User feedback:", "\n\nThe plan is stored at:"
"""Around what a person had to say of a plan, in Gemini CLI."""
UNANSWERED = frozenset({"", "Unanswered", "(No answer provided)"})

_LINE = re.compile(r"^\*\*([^*\n]{1,200})\*\*: ", re.MULTILINE)
_BETWEEN_WORDS = re.compile(r"[^a-z]")


def asks(name: str) -> bool:
    """Whether a tool puts questions to the person."""
    return _BETWEEN_WORDS.sub("", name.lower()) in TOOLS


def questions_of(name: str, inputs: Json) -> Asked:
    """The questions that a call asks; none of another tool's."""
    if not asks(name):
        return ()
    questions = [mapping_of(question) for question in list_of(inputs.get("questions"))] or [inputs]
    return tuple(
        (
            text_of(question.get("id")) or text_of(question.get("header")) or str(place),
            text_of(question.get("question")),
        )
        for place, question in enumerate(questions)
        if text_of(question.get("question"))
    )


def answers_in(asked: Asked, text: str) -> str:
    """What the person answered, each answer below its question; `""` where that is not what the text says."""
    if text.startswith(OPENINGS):
        return "\n\n".join(_shown(_from_pairs(text)))
    if text.startswith(SENT_BACK):
        return text.removeprefix(SENT_BACK).partition(STORED)[0].strip()
    if not asked:
        return ""
    if text.startswith("{"):
        return "\n\n".join(_shown(_from_json(asked, text)))
    if text.startswith(LISTED):
        return "\n\n".join(_shown(_from_lines(asked, text)))
    chosen = next((text[len(opening) :] for opening in CHOSEN if text.startswith(opening)), "")
    return "\n\n".join(_shown([(asked[0][1], chosen)]))


def _shown(told: list[tuple[str, str]]) -> list[str]:
    return [f"{question}\n{answer.strip()}" for question, answer in told if answer.strip() not in UNANSWERED]


def _from_pairs(text: str) -> list[tuple[str, str]]:
    """Of `"question"="answer", "question"="answer"`; nothing in it is escaped, so a quotation within may end a part too early."""
    first, *stretches = (text.rpartition(END)[0] or text).split(BETWEEN)
    question, told = first.partition('"')[2], list[tuple[str, str]]()
    for place, stretch in enumerate(stretches, 1):
        answer, _, following = stretch.rpartition(NEXT) if place < len(stretches) else (stretch, "", "")
        chosen, _, noted = answer.partition(NOTES)
        chosen = chosen.partition(PREVIEW)[0].removesuffix('"')
        told.append((question, f"{chosen}\n{noted}"))
        question = following
    return told


def _from_json(asked: Asked, text: str) -> list[tuple[str, str]]:
    try:
        answers = mapping_of(mapping_of(orjson.loads(text)).get("answers"))
    except orjson.JSONDecodeError:
        return []
    keys = [(question, (key, str(place))) for place, (key, question) in enumerate(asked)]
    return [(question, next((_words(answers[key]) for key in names if key in answers), "")) for question, names in keys]


def _words(answer: object) -> str:
    chosen = mapping_of(answer).get("answers", answer)
    return text_of(chosen) or "\n".join(text_of(each).removeprefix(NOTED) for each in list_of(chosen))


def _from_lines(asked: Asked, text: str) -> list[tuple[str, str]]:
    _, *parts = _LINE.split(text)
    questions = dict(asked)
    return [(questions.get(heading, heading), answer) for heading, answer in zip(parts[::2], parts[1::2], strict=True)]
