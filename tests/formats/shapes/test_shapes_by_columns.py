"""Conversations that are known by their columns alone, and what merely looks like one."""

import json

import pytest
from golden import turns
from talked import PAIRS, TALK, each, written

from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.generic.messages import MESSAGES
from pastchats_memory.formats.generic.shapes.inference.evidence import talks_of


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"turns": each(lambda mine, text: {"incoming": not mine, "payload": text})}, id="a direction as a flag"),
        pytest.param({"sms": each(lambda mine, text: {"direction": "inbound" if mine else "outbound", "body": text})},
                     id="a direction as whoever runs the service sees it"),
        pytest.param({"chat": each(lambda mine, text: {"icon": "🧑" if mine else "🤖", "text": text})}, id="pictures"),
        pytest.param({"export": "\n".join(f"12.05.26, 10:00 - {'Rosa' if role == 'user' else 'Bread AI'}: {text}" for role, text in TALK)},
                     id="a page with dates"),
        pytest.param({"captions": each(lambda mine, text: f"<v {'Caller' if mine else 'Agent'}>{text}</v>")}, id="captions"),
        pytest.param({"chat": each(lambda mine, text: {"side": "right" if mine else "left", "text": text})}, id="sides of a screen"),
        pytest.param({"échanges": [{"demande": a, "réponse": b, "heure": "10:00"} for a, b in PAIRS]}, id="pairs in French"),
        pytest.param({"steps": each(lambda mine, text: {"human" if mine else "machine": text})}, id="a key a side"),
        pytest.param({"talk": [item for mine, text in each(lambda *said: said) for item in ("visitor" if mine else "bot", text)]}, id="turns in a list"),
        pytest.param({f"{'user' if n % 2 == 0 else 'bot'}_{n // 2 + 1}": text for n, (_, text) in enumerate(TALK)}, id="numbered keys"),
        pytest.param({"log": {"user_turns": [{"n": 0, "t": PAIRS[0][0]}, {"n": 2, "t": PAIRS[1][0]}],
                              "bot_turns": [{"n": 1, "t": PAIRS[0][1]}, {"n": 3, "t": PAIRS[1][1]}]}}, id="two lists with numbers"),
        pytest.param({"history": [PAIRS[0]], "prompt": PAIRS[1][0], "response": PAIRS[1][1]}, id="what was said before, and the last"),
        pytest.param({"by_day": {"2026-05-01": each(lambda mine, text: {"party": "guest" if mine else "butler", "words": text})}}, id="by day"),
        pytest.param({"id": "x", "at": {"who": "client", "body": TALK[0][1], "next": {"who": "advisor", "body": TALK[1][1], "next": {
            "who": "client", "body": TALK[2][1], "next": {"who": "advisor", "body": TALK[3][1]}}}}}, id="each within the one before"),
    ],
)  # fmt: skip
def test_a_shape_is_known_by_its_columns(value, tmp_path):
    path = written(tmp_path, value)
    assert [(turn.role, turn.content) for turn in turns(MESSAGES, path)] == list(TALK)
    assert {"role", "text"} <= MESSAGES.explain(SourceFile(path)).keys()


def test_a_speaker_with_a_long_name_is_heard_too(tmp_path):
    narrator = "The voice that tells what happens in the bakery"
    scene = [
        (side, f"{text} {place}")
        for place, side in enumerate(("kundin", "berater", narrator) * 3)
        for text in [TALK[0][1]]
    ]
    path = written(tmp_path, {"sitzung": [{"sprecher": who, "worte": text} for who, text in scene]})
    assert [turn.content for turn in turns(MESSAGES, path)] == [text for _, text in scene]


def streamed(tmp_path, exchanges, pieces=4):
    """JSONL of questions, and answers that come in pieces."""
    steps = []
    for place in range(exchanges):
        steps.append({"ev": "heard", "by": "caller", "n": 2 * place, "words": f"What comes after loaf number {place}?"})
        part = {"ev": "delta", "by": "desk", "n": 2 * place + 1}
        steps += [part | {"words": f"Then take loaf {place}, slice {n} out. "} for n in range(pieces)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps(step)}\n" for step in steps), encoding="utf-8")
    return path


def test_it_says_which_columns_of_lines_that_belong_together_it_took(tmp_path):
    assert MESSAGES.explain(SourceFile(streamed(tmp_path, 2))) == {"role": "by", "text": "words"}


def test_what_is_said_in_thousands_of_pieces_is_heard_to_its_end(tmp_path):
    said = turns(MESSAGES, streamed(tmp_path, 30, pieces=40))
    assert [turn.role for turn in said] == ["user", "assistant"] * 30
    assert said[-1].content.endswith("Then take loaf 29, slice 39 out.")


@pytest.mark.parametrize(
    "value",
    [
        each(lambda mine, text: {"lang": "en" if mine else "de", "text": text}),
        each(lambda mine, text: {"valid": mine, "description": text}),
        each(lambda mine, text: {"to": "customer" if mine else "agent", "body": text}),
        each(lambda mine, text: {"source": "client" if mine else "server", "msg": text}),
        {"alerts": each(lambda mine, text: {"source": "client" if mine else "agent", "message": text})},
        each(lambda mine, text: {"author": "ada" if mine else "dependabot[bot]", "sha": "x", "message": text}),
        {"bot": "x", "sampleUtterances": [text for _, text in TALK]},
        each(lambda mine, text: {"rating": 5 if mine else 1, "text": text}),
        {"slides": each(lambda _, text: {"title": "x", "content": text})},
    ],
)
def test_one_kind_of_evidence_is_not_enough(value, tmp_path):
    assert talks_of(value) == []
    assert not MESSAGES.detect(SourceFile(written(tmp_path, value)))
