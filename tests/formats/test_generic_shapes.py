import json
import random
import sysconfig
from pathlib import Path

import pytest
from golden import FIXTURES, key_map, turns

from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.generic import MESSAGES, mapped_format
from pastchats_memory.formats.generic.nested_json import decode_nested_json
from pastchats_memory.formats.generic.roles import split_words
from pastchats_memory.formats.generic.suggestion import is_prose
from pastchats_memory.formats.registry import detect_format

SHAPES = FIXTURES / "messages"
SAMPLE = 200
"""How many files of installed packages are tried."""
ASK, ANSWER = "Why does the kiln stop?", "Its relay opens."


def written(tmp_path, value, name="a.json"):
    path = tmp_path / name
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def read_pairs(path):
    return [(turn.role, turn.content) for turn in turns(MESSAGES, path)]


def test_no_file_of_an_installed_package_is_read_as_a_conversation():
    packages = Path(sysconfig.get_path("purelib"))
    paths = sorted(path for suffix in ("json", "jsonl") for path in packages.rglob(f"*.{suffix}"))
    assert paths
    for path in random.Random(1).sample(paths, min(SAMPLE, len(paths))):  # noqa: S311 - no secret
        try:
            assert detect_format(SourceFile(path)) is None, path
        except NotText:
            continue


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("shape-02-lines.jsonl", {"role": "role", "text": "content"}),
        ("shape-21-prompt-completion.jsonl", {"role": "prompt, completion", "text": "prompt, completion"}),
        ("shape-25-columns.json", {"role": "roles", "text": "texts", "time": "times"}),
        (
            "shape-41-customer-agent-lines.jsonl",
            {"role": "speaker_role", "text": "utterance_text", "conversation": "session"},
        ),
        ("shape-56-column-conversations.jsonl", {"role": "from", "text": "value", "conversation": "id"}),
        ("messages-q9-llm-log.jsonl", {"time": "datetime_utc", "conversation": "conversation_id"}),
    ],
)
def test_a_dry_run_shows_the_keys_for_role_text_time_and_conversation(name, keys):
    reader = mapped_format(key_map(SHAPES / name))
    assert keys.items() <= reader.explain(SourceFile(SHAPES / name)).items()


def test_a_known_format_shows_no_keys():
    source = SourceFile(next((FIXTURES / "codex").glob("*.jsonl")))
    assert detect_format(source).explain is None


def test_a_bot_flag_gives_no_role_to_people_with_names(tmp_path):
    people = [{"text": f"{name} speaks", "sender": {"name": name, "isBot": False}} for name in ("Ada", "Grace") * 2]
    path = written(tmp_path, {"messages": people})
    assert {role for role, _ in read_pairs(path)} == {"ada", "grace"}


def test_exchanges_in_scripts_without_spaces_are_read(tmp_path):
    path = written(tmp_path, [{"question": "なぜ窯は九百度で止まるのですか", "answer": "継電器が開くからです"}])
    assert [role for role, _ in read_pairs(path)] == ["user", "assistant"]


def test_a_key_is_a_conversation_id_only_beside_others_or_with_a_digit(tmp_path):
    talk = [{"role": "user", "content": ASK}, {"role": "assistant", "content": ANSWER}]
    (wrapped,) = {turn.conversation_id for turn in turns(MESSAGES, written(tmp_path, {"dump": {"talk": talk}}))}
    assert len(wrapped) == 64
    named = {turn.conversation_id for turn in turns(MESSAGES, written(tmp_path, {"monday": talk, "friday": talk}))}
    assert named == {"monday", "friday"}
    numbered = {turn.conversation_id for turn in turns(MESSAGES, written(tmp_path, {"id": "x", "chat_7": talk}))}
    assert numbered == {"x/chat_7"}


def test_a_column_of_other_records_does_not_hide_a_dated_conversation(tmp_path):
    sides = [("user", ASK), ("assistant", ANSWER)]
    talk = [{"role": role, "content": text, "ts": 1769850000, "slug": "kilns"} for role, text in sides]
    assert read_pairs(written(tmp_path, talk)) == sides
    undated = [{key: value for key, value in message.items() if key != "ts"} for message in talk]
    assert not MESSAGES.detect(SourceFile(written(tmp_path, undated)))


def test_a_response_that_repeats_the_last_message_adds_none(tmp_path):
    talk = [{"role": "user", "content": ASK}, {"role": "assistant", "content": ANSWER}]
    path = written(tmp_path, {"messages": talk, "response": {"message": talk[1]}})
    assert read_pairs(path) == [("user", ASK), ("assistant", ANSWER)]


def test_request_tags_are_not_the_request(tmp_path):
    answer = {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}
    path = written(tmp_path, {"request_tags": [], "messages": [{"role": "user", "content": ASK}], "response": answer})
    assert read_pairs(path) == [("user", ASK), ("assistant", ANSWER)]


@pytest.mark.parametrize(
    "value",
    [
        [["user"], ["assistant"]],
        {"history": [["user", 1], [2, "x"]]},
        {"roles": ["user", "assistant"], "texts": ["only one"]},
        {"question": ASK, "prompt": ASK, "answer": ANSWER},
        {"user": "ok", "assistant": "ok"},
        {"prompt": " ", "completion": ANSWER},
        {"prompt": [ASK], "completion": [1]},
        {"instruction": " ", "input": ASK, "output": ANSWER},
        {"messages": [{"role": "system", "content": "You are a kiln."}], "response": {"choices": []}},
        {"request": {"url": "https://kiln.example"}, "response": {"role": "assistant", "content": ANSWER}},
        {f"question_{number}": ASK for number in range(50)} | {"answer": ANSWER},
    ],
)
def test_half_an_exchange_is_not_read(value, tmp_path):
    assert not MESSAGES.detect(SourceFile(written(tmp_path, value)))


EXCHANGE = [{"role": "user", "content": ASK}, {"role": "assistant", "content": ANSWER}]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"$schema": "https://kiln.example/chat.json", "messages": EXCHANGE}, id="a talk that names its schema"),
        pytest.param([{**message, "price": 0.01, "votes": 2, "level": "info"} for message in EXCHANGE], id="messages with prices"),
        pytest.param(
            {"request": {"body": {"messages": EXCHANGE[:1]}}, "response": {"body": {"content": ANSWER}}}, id="a request's body"
        ),
        pytest.param(
            [EXCHANGE[0], {"role": "assistant", "content": [
                {"type": "text", "text": "{'rows': 5}", "annotations": {"audience": ["assistant"]}}, {"type": "text", "text": ANSWER},
            ]}],
            id="a part for the program alone",
        ),
    ],
)  # fmt: skip
def test_other_keys_do_not_change_the_messages(value, tmp_path):
    assert read_pairs(written(tmp_path, value)) == [("user", ASK), ("assistant", ANSWER)]


def test_times_of_database_dumps_are_read(tmp_path):
    sent = {"createdAt": {"$date": {"$numberLong": "1738404000000"}}}
    path = tmp_path / "dump.jsonl"
    path.write_text("".join(f"{json.dumps(message | sent)}\n" for message in EXCHANGE), encoding="utf-8")
    assert {turn.timestamp for turn in turns(MESSAGES, path)} == {"2025-02-01T10:00:00.000Z"}


AGAIN, ONCE_MORE = "Who replaces a relay here?", "The caretaker does."
TALK = (("user", ASK), ("assistant", ANSWER), ("user", AGAIN), ("assistant", ONCE_MORE))
"""The conversation that each of these shapes holds."""


def each(of):
    return [of(role == "user", text) for role, text in TALK]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(
            {"log": each(lambda mine, text: {"who": "me" if mine else "helper_bot", "said": text})}, id="a program's name"
        ),
        pytest.param(
            each(lambda mine, text: {"at": 5, "utterance": {"speaker": "customer" if mine else "agent", "transcript": text}}),
            id="a message within a record",
        ),
        pytest.param(
            each(lambda mine, text: {
                "lc": 1, "id": ["langchain", "HumanMessage" if mine else "AIMessage"], "kwargs": {"content": text},
            }),
            id="langchain's dumps",
        ),
        pytest.param(
            each(lambda mine, text: {"Role": {"Label": "user" if mine else "assistant"}, "Items": [{"Text": text}]}),
            id="semantic kernel",
        ),
        pytest.param(
            each(lambda mine, text: {
                "author": {"is_human": mine},
                "candidates": [{"candidate_id": "a", "raw_content": "A draft."}, {"candidate_id": "b", "raw_content": text}],
                "primary_candidate_id": "b",
            }),
            id="drafts of an answer",
        ),
        pytest.param(
            [{"input": {"text": ASK}, "output": {"text": ANSWER}, "at": "2026-05-01"},
             {"input": {"text": AGAIN}, "output": {"text": ONCE_MORE}, "at": "2026-05-02"}],
            id="sides that are objects",
        ),
        pytest.param(
            {"thread": {"edges": each(lambda mine, text: {"node": {"author": {"__typename": "User" if mine else "Bot"}, "body": text}})}},
            id="a graph's answer",
        ),
        pytest.param(
            {"children": each(lambda mine, text: {"attrs": {"speaker": "user" if mine else "assistant"}, "text": text})}, id="attributes"
        ),
        pytest.param(
            each(lambda mine, text: {"sender_role": "end_user" if mine else "support_agent", "message": {"plain": text}}),
            id="two words for a role",
        ),
        pytest.param(
            [{"user_query": ASK, "model_output": ANSWER}, {"user_query": AGAIN, "model_output": ONCE_MORE}], id="two words for a side"
        ),
        pytest.param(
            [{"turns": [{"request": {"message": ask, "timestamp": 5}, "response": {"message": answer}}
                        for ask, answer in ((ASK, ANSWER), (AGAIN, ONCE_MORE))]}],
            id="early copilot",
        ),
        pytest.param({"day": [{"me": ASK, "bot": ANSWER}, {"me": AGAIN, "bot": ONCE_MORE}]}, id="me and the bot"),
        pytest.param(
            [{"request": {"messages": [{"role": "user", "content": ask}]}, "response": {"content": [{"type": "text", "text": answer}]}}
             for ask, answer in ((ASK, ANSWER), (AGAIN, ONCE_MORE))],
            id="a response that does not say whose it is",
        ),
    ],
)  # fmt: skip
def test_known_keys_are_found_in_many_shapes(value, tmp_path):
    path = written(tmp_path, value)
    assert read_pairs(path) == list(TALK)
    if isinstance(value, list) and isinstance(value[0], dict):
        lines = tmp_path / "a.jsonl"
        lines.write_text("".join(json.dumps(item) + "\n" for item in value), encoding="utf-8")
        assert read_pairs(lines) == list(TALK)


@pytest.mark.parametrize(
    "value",
    [
        each(lambda mine, text: {"sender": "Ada" if mine else "bot", "text": text}),
        each(lambda mine, text: {"author": {"name": "Ada" if mine else "Kim", "isBot": not mine}, "content": text}),
    ],
)
def test_a_name_beside_a_known_role_gets_a_role_by_a_map_alone(value, tmp_path):
    assert {role for role, _ in read_pairs(written(tmp_path, value))} == {"ada", "assistant"}


@pytest.mark.parametrize(
    "value",
    [
        [["speaker", "volts"], ["Assistant"]],
        [["speaker", 5, 5, 5], ["Human", ASK, "", ""], ["Assistant", ANSWER, "", ""]],
        [["speaker", "speaker", "a", "b"], ["Human", ASK, "", ""], ["Assistant", ANSWER, "", ""]],
        [{"speaker": 40, "text": ASK}, {"speaker": True, "text": ANSWER}] * 2,
        [{"lc": 1, "kwargs": {"temperature": 0}}],
        [{"user": "ada", "candidates": ["x"]}, {"role": "ada", "items": []}],
        {"type": "object", "properties": {}, "examples": EXCHANGE},
        {
            "changes": [
                {"user": name, "text": f"{name} {ANSWER}", "time": 1738404000 + n}
                for n, name in enumerate(("ada", "eve") * 3)
            ]
        },
        [{"question": ASK, "answer": ANSWER, "choices": [ANSWER, "It is too cold."]}],
        {f"C{number}": "A country" for number in range(50)}
        | {"ME": "Republic of Montenegro", "AI": "Anguilla in the West"},
    ],
)
def test_files_with_only_the_words_of_a_conversation_are_left(value, tmp_path):
    assert not MESSAGES.detect(SourceFile(written(tmp_path, value)))


def interleave(names, roles="uaauuaua"):
    """Return two interleaved conversations of four messages each, with a name or with other keys for each message."""
    words = {"u": "user", "a": "assistant"}
    return [
        {"role": words[role], "content": f"{ASK} {place}", **(name if isinstance(name, dict) else {"at": name})}
        for place, (name, role) in enumerate(zip(names, roles, strict=True))
    ]


def conversations(tmp_path, value):
    return len({turn.conversation_id for turn in turns(MESSAGES, written(tmp_path, value))})


def test_interleaved_conversations_are_separated_by_a_thread_key(tmp_path):
    assert conversations(tmp_path, interleave("xyxyyxxy", "uuaauuaa")) == 1
    rooms = interleave([{"room": name} for name in "xxxxyyyy"], "uauauaua")
    assert conversations(tmp_path, rooms) == 2
    opened = [*interleave([{"room": name} for name in "xxxxyyyyz"], "uauauauau")]
    assert conversations(tmp_path, opened) == 3
    path = written(tmp_path, {"id": "desk", "messages": rooms})
    assert {turn.conversation_id for turn in turns(MESSAGES, path)} == {"desk/x", "desk/y"}
    assert MESSAGES.explain(SourceFile(path))["conversation"] == "room"


@pytest.mark.parametrize(
    "names",
    [
        pytest.param("xxxxyyyy", id="a column that changes once"),
        pytest.param("xyxyxyxy", id="sides under another name"),
        pytest.param("xxyyxxyy", id="exchanges of two"),
        pytest.param("xyyxxyxy", id="a mood that changes now and then"),
        pytest.param([{"turn": place // 2} for place in range(8)], id="the numbers of exchanges"),
        pytest.param([{"call": str(place // 2)} for place in range(8)], id="calls of two messages"),
        pytest.param([{"room": "x"}] * 7 + [{}], id="one without a room"),
        pytest.param([{"room": "xy"[place % 2]} for place in range(8)], id="a room for each side"),
    ],
)
def test_other_columns_do_not_separate_conversations(names, tmp_path):
    assert conversations(tmp_path, interleave(names, "uauauaua")) == 1


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        (("1", "10", "2", "9"), "0231"),
        (("m10", "m11", "m8", "m9"), "2301"),
        (("3", "2", "1", "0"), "3210"),
        (("0", "100", "20", "30"), "0231"),
        (("841", "7", "93", "20"), "0123"),
        (("1", "01", "2", "3"), "0123"),
        (("a1", "b0", "c3", "d2"), "0123"),
        (("first", "second", "third", "last"), "0123"),
    ],
)
def test_a_map_with_numbers_as_keys_is_read_in_their_order(keys, order, tmp_path):
    talk = {key: {"role": role, "content": text} for key, (role, text) in zip(keys, TALK, strict=True)}
    assert read_pairs(written(tmp_path, {"log": talk})) == [TALK[int(place)] for place in order]


def test_a_short_exchange_is_read_beside_longer_ones(tmp_path):
    exchanges = [{"question": ASK, "answer": "Its relay opens early."}, {"question": "Always?", "answer": "Yes."}]
    assert len(read_pairs(written(tmp_path, exchanges))) == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("userSaid", ("user", "said")),
        ("HTTPReply_text2", ("http", "reply", "text")),
        ("Réponse du modèle", ("reponse", "du", "modele")),
        ("話者", ("話者",)),
    ],
)
def test_names_are_split_into_words_in_any_spelling(name, words):
    assert split_words(name) == words


def test_prose_differs_from_codes_and_numbers():
    assert is_prose("Feed it twice a day.")
    assert is_prose("三日間餌をやってください")
    for text in ("yes", "now(a b, c d)", "{a b c}", "12 34 56 78", 5):
        assert not is_prose(text)


def test_text_that_only_begins_like_base64_stays_text():
    assert decode_nested_json("eyJ not base64, but long enough") == "eyJ not base64, but long enough"


def test_nested_json_is_decoded_down_to_a_limited_depth():
    value = "[1]"
    for _ in range(5):
        value = json.dumps([value, " " * 24])
    assert decode_nested_json(value) != value
