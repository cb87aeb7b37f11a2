"""What is no word to the index is found all the same: parts of identifiers and paths, scripts without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.search.pipeline import ENGLISH_ONLY
from pastchats_memory.text.identifiers import (
    find_compounds,
    find_subword,
    is_spaceless,
    ngrams,
    split_identifiers,
    subword_text,
)

MESSAGES = (
    ("user", "我们怎么重试失败的webhook请求？"),
    ("assistant", "重试采用指数退避加随机抖动,最多五次。"),
    ("user", "数据库迁移为什么锁住了整个表"),
    ("assistant", "因为没有使用CREATE INDEX CONCURRENTLY，表被锁住。请分批迁移。"),
    ("user", "ログインのタイムアウトを直したい"),
    ("assistant", "セッションの有効期限を30分に設定しました。認証エラーはE11000xではありません。"),
    ("user", "จะตั้งค่าการเชื่อมต่อฐานข้อมูลอย่างไร"),
    ("assistant", "ตั้งค่า timeout เป็น 30 วินาที"),
    ("user", "데이터베이스를 어떻게 백업하나요"),
    ("assistant", "백업은 매일 새벽에 실행됩니다. 데이터베이스가 잠기지 않습니다."),
    ("user", "what does getUserById do in pastchats_memory/ingest/turns.py?"),
    ("assistant", "It calls fetch_user_by_id and raises E11000duplicate when the key is twice there."),
    ("user", "the individual laws of management"),
    ("assistant", "Use MAX_IN_FLIGHT=20 and parseHTTPHeader for a webhook."),
    ("user", "bisect says that a3f41c9e0dbb broke it"),
    ("assistant", "Then revert it in config/origins.ts."),
)
FOUND = {
    "重试": {1, 2},
    "重": {1, 2},
    "怎么重试请求": {1, 2},
    "迁移": {3, 4},
    "表": {3, 4},
    "退避 抖动": {2},
    "タイムアウト": {5},
    "認証エラー": {6},
    "ตั้งค่า": {7, 8},
    "ฐานข้อมูล": {7},
    "데이터베이스": {9, 10},
    "getUserBy": {11},
    "userbyid": {11},
    "serByI": {11},
    "ingest/turns": {11},
    "fetchUserById": {12},
    "get_user_by_id": {11, 12},
    "11000": {6, 12},
    "HTTPHeader": {14},
    "41c9e0d": {15},
    "config/orig": {16},
    "webhook 请求": {1, 14},
    "concurrently": {4},
    "E11000 認証": {6, 12},
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("pieces")
    with Memory.open(folder / "memory.db") as opened:
        opened.index([write_messages(folder / "chat.jsonl", *MESSAGES)])
        yield opened


@pytest.mark.parametrize("query", FOUND)
def test_a_subword_finds_every_row_that_has_it(memory: Memory, query: str) -> None:
    assert {int(hit.id) for hit in memory.search(query, mode="keyword")} >= FOUND[query]


@pytest.mark.parametrize("query", FOUND)
def test_a_row_with_the_subword_comes_first_in_every_mode(memory: Memory, query: str) -> None:
    for mode in ("keyword", "hybrid"):
        assert int(memory.search(query, mode=mode)[0].id) in FOUND[query]


@pytest.mark.parametrize("query", ["重试", "タイムアウト", "데이터베이스", "getUserBy", "41c9e0d", "11000"])
def test_recall_quotes_a_row_with_the_subword(memory: Memory, query: str) -> None:
    entries = memory.recall(query).text.partition("\n## ")[2]
    assert query.casefold() in entries.casefold()


@pytest.mark.parametrize("query", ["div", "aws", "登录超时", "ฝน", "XyzzyFrobnicator", "🎉"])
def test_an_unknown_word_is_not_found_inside_other_words(memory: Memory, query: str) -> None:
    assert memory.search(query, mode="keyword") == []


def test_a_script_unknown_to_the_model_is_searched_by_characters_with_a_warning(memory: Memory) -> None:
    hits = memory.search("重试")
    assert [int(hit.id) for hit in hits] == [1, 2]
    assert ENGLISH_ONLY in hits.warnings
    assert memory.search("webhook retries").warnings == ()
    assert len(memory.search("重试", mode="semantic", limit=50)) == len(MESSAGES)
    assert len(memory.search("天气", limit=50)) == len(MESSAGES)  # which leads nowhere else


@pytest.mark.parametrize(
    "query",
    ["로그인 테스트가 왜 실패하나요", "почему падает тест", "لماذا يفشل الاختبار", "登录测试", "γιατί αποτυγχάνει"],
)
def test_a_question_in_another_script_is_answered_with_a_model_that_would_fit(memory: Memory, query: str) -> None:
    assert memory.search(query).warnings.count(ENGLISH_ONLY) == 1
    assert ENGLISH_ONLY in memory.recall(query).warnings
    assert ENGLISH_ONLY not in memory.search(query, mode="keyword").warnings


@pytest.mark.parametrize(
    ("query", "other", "same"),
    [
        ("ошибка входа в систему", "Мы работали над задачей", "ошибка входа в систему после обновления"),
        ("登录错误", "可以", "修复登录错误"),
        ("로그인 오류", "계속", "로그인 오류 수정"),
        ("σφάλμα σύνδεσης", "συνέχισε τώρα", "διόρθωσε το σφάλμα σύνδεσης"),
    ],
)
def test_texts_in_a_script_unknown_to_the_model_are_relevant_only_by_their_words(
    tmp_path, query: str, other: str, same: str
) -> None:
    with Memory.open(tmp_path / "memory.db") as opened:
        opened.index([write_messages(tmp_path / "others.jsonl", ("user", other))])
        assert (opened.search(query)[0].relevance or 0) < 0.5
        assert opened.recall(query).entries == ()
        opened.index([write_messages(tmp_path / "same.jsonl", ("user", same))])
        assert [entry.hit.content for entry in opened.recall(query).entries] == [same]


def test_a_name_in_another_script_finds_text_about_it(tmp_path) -> None:
    asked = ("user", "Why do I get ERR_CONNECTION_REFUSED in playwright?")
    with Memory.open(tmp_path / "memory.db") as opened:
        opened.index([write_messages(tmp_path / "a.jsonl", asked, ("assistant", "The port is wrong."))])
        opened.index([write_messages(tmp_path / "b.jsonl", ("user", "Мы работали над задачей"))])
        (entry,) = opened.recall("Почему при запуске возникает ошибка ERR_CONNECTION_REFUSED").entries
    assert "ERR_CONNECTION_REFUSED" in entry.hit.content


@pytest.mark.parametrize(
    "query",
    [
        "why does the café fail?",
        "Überprüfung der Anmeldung",
        "tại sao kiểm thử thất bại",
        "→ retry 🎉",
        "the parameter μ=3",
    ],
)
def test_latin_letters_are_not_another_script(memory: Memory, query: str) -> None:
    assert ENGLISH_ONLY not in memory.search(query).warnings


def test_an_excerpt_is_cut_around_the_subword(tmp_path) -> None:
    filler = "无关的内容。" * 200
    english = "Nothing of this matters at all. " * 100
    with Memory.open(tmp_path / "memory.db") as opened:
        messages = (
            ("user", f"{filler}怎么重试失败的请求{filler}"),
            ("user", f"{english}see getUserById there. {english}"),
        )
        opened.index([write_messages(tmp_path / "chat.jsonl", *messages)])
        assert "重试" in opened.search("重试")[0].snippet
        assert "getUserById" in opened.search("userBy")[0].snippet


def test_rows_of_a_project_are_found_by_subwords_alone(memory: Memory) -> None:
    assert memory.search("重试", mode="keyword", project="another") == []
    assert {int(hit.id) for hit in memory.search("重试", mode="keyword", role="assistant")} == {2}


def test_a_pasted_log_in_any_script_is_answered(memory: Memory) -> None:
    assert memory.search("重试失败的请求" * 3000, mode="keyword")
    assert memory.search(" ".join(f"getUserBy{number}Again" for number in range(3000)), mode="keyword")[0].id == "12"


# --- what a question's pieces are -------------------------------------------------------------------------------------


def test_ngrams_are_pairs_or_triples_by_script() -> None:
    assert ngrams("重试策略 and 日, 重试") == ["*重试*", "*试策*", "*策略*", "*日*"]
    assert ngrams("ตั้งค่า") == ["*ตั้*", "*ั้ง*", "*้งค*", "*งค่*", "*ค่า*"]
    assert ngrams("plain words, naïve café") == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserById", {"getuserbyid": ("get", "user", "by", "id")}),
        ("parseHTTPHeader", {"parsehttpheader": ("parse", "http", "header")}),
        ("E11000", {"e11000": ("e", "11000")}),
        ("next_attempt_at and plain Words", {}),
    ],
)
def test_an_identifier_is_split_into_its_parts(text: str, parts: dict[str, tuple[str, ...]]) -> None:
    assert split_identifiers(text) == parts


def test_compounds_are_words_joined_by_marks() -> None:
    assert find_compounds("see ingest/turns.py, next_attempt_at; don't: a - b") == [
        "ingest/turns.py",
        "next_attempt_at",
    ]


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("individual", False),
        ("a div", True),
        ("innerDiv", True),
        ("x2div", True),
        ("重div", True),
        ("INDIV", False),
    ],
)
def test_a_short_subword_must_begin_where_a_part_of_a_word_begins(text: str, *, stands: bool) -> None:
    assert bool(list(find_subword(text, "div"))) is stands


def test_the_script_of_a_question_is_that_of_most_letters() -> None:
    assert is_spaceless("重试 a")
    assert not is_spaceless("retry the webhook (重试)")
    assert not is_spaceless("…")


@given(st.text(max_size=40))
def test_a_subword_is_found_in_its_own_text(text: str) -> None:
    assert all(subword_text(gram) is not None for gram in ngrams(text))
    for gram in ngrams(text):
        assert list(find_subword(text, gram[1:-1]))
