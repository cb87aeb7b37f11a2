"""Label episodes by the answers of a judge, whose words are checked like anybody's."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pastchats_memory.episodes.judge import judge as store_judgement
from pastchats_memory.episodes.judges import Judge, NoAnswer
from pastchats_memory.errors import UsageFault
from pastchats_memory.fields import OUTCOMES
from pastchats_memory.model.episodes import Sheet
from pastchats_memory.redact import redact
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database

MAX_FAULTS = 3
"""Calls without an answer in a row, after which no other is made."""
ANSWER_TOKENS = 40
"""Tokens of an answer with a label and a line, as a plan counts it."""
MAX_REPLY = 20_000
"""Characters of an answer that are searched for a judgement."""


class JudgingPlan(NamedTuple):
    """The calls that a run would make: one for each episode."""

    judge: Judge
    sheets: tuple[Sheet, ...]
    tokens: int
    """Of all questions and answers together, about."""
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class AutoJudged:
    """What a run asked, and what came of it."""

    calls: int = 0
    tokens: int = 0
    """Of questions and answers, as the endpoint reports them, else counted."""
    sheets: list[Sheet] = field(default_factory=list)
    """The labelled episodes."""
    refused: Counter[str] = field(default_factory=Counter)
    """Answers without a label, by the reason."""
    warnings: tuple[str, ...] = ()


def judge_all(
    database: Database,
    sheets: Sequence[Sheet],
    judge: Judge,
    write_question: Callable[[Sheet], str],
    count_tokens: Callable[[str], int],
) -> AutoJudged:
    """Ask a judge about each episode, and store the labels whose words stand in the conversation.

    Args:
        write_question: returns the question about an episode; it is redacted once more.
        count_tokens: counts them where the judge reports none.

    Raises:
        MemoryFault: the judge cannot be used at all; earlier labels stand.
    """
    done = AutoJudged()
    faults = 0
    for sheet in sheets:
        question = redact(write_question(sheet)).text
        done.calls += 1
        try:
            answer = judge.ask(question)
        except NoAnswer as fault:
            done.tokens += count_tokens(question)
            done.refused[fault.message] += 1
            faults += 1
            if faults == MAX_FAULTS:
                done.warnings += (f"stopped after {MAX_FAULTS} calls without an answer",)
                break
            continue
        faults = 0
        done.tokens += (
            answer.tokens if answer.tokens is not None else count_tokens(question) + count_tokens(answer.text)
        )
        _store_answer(database, sheet, answer.text, done)
    return done


def _store_answer(database: Database, sheet: Sheet, text: str, done: AutoJudged) -> None:
    """Store the label of an answer, or count why there is none."""
    found = parse_answer(text)
    if found is None:
        done.refused["no judgement in the answer"] += 1
        return
    items = turns.items(database, [int(sheet.id)])
    if not items:
        done.refused["the episode is gone"] += 1
        return
    try:
        labelled, warnings = store_judgement(database, items[0], *found)
    except UsageFault as fault:  # invented, too short or too long
        done.refused[fault.message] += 1
        return
    done.sheets.append(labelled)
    done.warnings += tuple(one for one in warnings if one not in done.warnings)


def parse_answer(text: str) -> tuple[str, str | None] | None:
    """Return outcome and quotation of an answer: its last JSON object with an outcome; None without one.

    >>> parse_answer('It passed. {"outcome": "worked", "because": "12 passed"}')
    ('worked', '12 passed')
    """
    text = text[:MAX_REPLY]
    decoder = json.JSONDecoder()
    found: tuple[str, str | None] | None = None
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        found = _read_judgement(value) or found
        at = text.find("{", end)
    return found


def _read_judgement(value: object) -> tuple[str, str | None] | None:
    if not isinstance(value, dict):
        return None
    outcome, because = value.get("outcome"), value.get("because")
    if not isinstance(outcome, str) or outcome.strip().lower() not in OUTCOMES:
        return None
    verdict = outcome.strip().lower()
    return verdict, because if isinstance(because, str) and verdict != "unknown" else None
