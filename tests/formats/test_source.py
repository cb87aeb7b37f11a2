import codecs
import gc
import gzip
import json
import zipfile

import apsw
import pytest

from pastchats_memory.files import foreign_sqlite
from pastchats_memory.formats.base import source as source_module
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.source import MISSES, NotText, Places, Record, SourceFile
from pastchats_memory.formats.base.values import BadJson, parse_json
from pastchats_memory.formats.registry import all_formats, detect_format
from pastchats_memory.model import Unreadable

LINES = '{"role":"user","content":"é 😀 \u2028 end"}\n{"role":"assistant","content":"ok"}\n'
VALUES = [json.loads(line) for line in LINES.strip().split("\n")]


def source_of(tmp_path, name, raw):
    path = tmp_path / name
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    return SourceFile(path)


def values(source):
    return [item.value for item in source.records() if isinstance(item, Record)]


@pytest.mark.parametrize(
    "raw",
    [
        LINES.encode(),
        codecs.BOM_UTF8 + LINES.encode(),
        LINES.encode("utf-16"),
        codecs.BOM_UTF16_BE + LINES.encode("utf-16-be"),
        LINES.encode("utf-16-le"),
        LINES.encode("utf-16-be"),
        LINES.replace("\n", "\r\n").encode(),
        LINES.encode() + b"\0" * 4096,
        b"\n\n// written by an exporter\n" + LINES.encode(),
        LINES.encode().rstrip(b"\n"),
        LINES.encode() + b'{"role":"user","cont',
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.ndjson"])
def test_lines_are_read_in_any_encoding_and_under_any_name(tmp_path, raw, name):
    source = source_of(tmp_path, name, raw)
    assert source.shape == "jsonl"
    assert list(source.sample) == VALUES
    assert [item for item in source.records() if isinstance(item, Unreadable)] == []
    assert values(source) == VALUES


@pytest.mark.parametrize(
    "raw", [b'[\n {"role": "user"}\n]\n', b'{"role": "user"}\nno JSON\n{"role": "user"}\n', b"[{]\n{]"]
)
def test_no_file_stays_open_until_garbage_is_collected(tmp_path, raw):
    opened = []

    def opening():
        opened.append((tmp_path / "a.json").open("rb"))
        return opened[-1]

    (tmp_path / "a.json").write_bytes(raw)
    gc.disable()
    try:
        for reader in all_formats():
            reader.detect(SourceFile(tmp_path / "a.json", unpacked=opening))
        still_open = [file for file in opened if not file.closed]
    finally:
        gc.enable()
    assert opened
    assert still_open == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt", "a"])
def test_a_document_is_read_in_any_encoding_and_under_any_name(tmp_path, encoding, name):
    source = source_of(tmp_path, name, json.dumps(VALUES, indent=1, ensure_ascii=False).encode(encoding))
    assert source.shape == "json"
    assert source.document == VALUES


@pytest.mark.parametrize(
    ("name", "text", "shape"),
    [
        ("a.md", "[link](x) first", "markdown"),
        ("a.md", "{curly} first", "markdown"),
        ("a.txt", "[2026-01-31] a log", "markdown"),
        ("NOTES", "words", "markdown"),
        ("a.py", "print()", "other"),
        ("a.toml", "[table]\nkey = 1", "other"),
        ("a.log", "[2026-01-31] a log", "other"),
        ("a.json", "", "json"),
        ("a.jsonl", "", "jsonl"),
        ("a.jsonl", "words", "jsonl"),
        ("a.json", '{"a": 1}', "json"),
        ("a.jsonl", '{"a": 1}', "jsonl"),
        ("a.json", '{\n"a": 1\n}', "json"),
        ("a.jsonl", '{\n"a": 1\n}', "json"),
        ("a.jsonl", '{"torn\n{"a": 1}\n', "jsonl"),
        ("a.json", "[1]\n[2]\n", "jsonl"),
    ],
)
def test_the_content_tells_the_shape_and_the_name_only_where_it_does_not(tmp_path, name, text, shape):
    assert source_of(tmp_path, name, text).shape == shape


@pytest.mark.parametrize("text", ["", "\n\n", "[]", "{}", "null", "42", '"text"', "[[[", "}{", "[{]", '[{"role":'])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.md", "a.txt"])
def test_a_file_with_nothing_in_it_is_nobodys(tmp_path, name, text):
    assert detect_format(source_of(tmp_path, name, text)) is None


def zipped(tmp_path):
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as archive:
        archive.writestr("conversations.json", "[]")
    return (tmp_path / "made.zip").read_bytes()


def unknown_database(folder):
    database = apsw.Connection(str(folder / "made.db"))
    database.execute("CREATE TABLE users(id)")
    database.close()
    return (folder / "made.db").read_bytes()


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"\x28\xb5\x2f\xfd rest", "zstd"),
        (gzip.compress(LINES.encode(), mtime=0), "gzip"),
        (zipped, "zip"),
        (b"SQLite format 3\0" + b"\0" * 100, "SQLite"),
        (b"SQLite format 3\0" + b"\xab" * 1000, "cannot be read"),
        (unknown_database, "no known program"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "git lfs pull"),
        (b"BZh91AY", "bzip2"),
        (b"\xfd7zXZ\0\0", "xz"),
        (bytes(range(256)) * 64, "binary"),
        (b"\xff\xd8\xff\xe0" + b"\x91\x82" * 4000, "binary"),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.md"])
def test_binary_content_is_named(tmp_path, raw, what, name):
    with pytest.raises(NotText, match=what):
        detect_format(source_of(tmp_path, name, raw(tmp_path) if callable(raw) else raw))


def test_a_database_that_is_damaged_further_on_is_read_up_to_there(tmp_path):
    path = tmp_path / "damaged.db"
    database = apsw.Connection(str(path))
    database.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text)")
    database.execute("INSERT INTO notes(text) VALUES ('first'), (zeroblob(50000))")
    database.close()
    raw = path.read_bytes()
    path.write_bytes(raw[:12288] + b"\xab" * (len(raw) - 12288))
    source = SourceFile(path)
    assert source.shape == "sqlite"

    def read_notes(database):
        for (text,) in database.rows("notes", ["text"], order=["id"]):
            yield text

    first, fault = source.from_database(read_notes)
    assert first == "first"
    assert (fault.path, fault.line) == (str(path), 0)
    assert "malformed" in fault.reason


def test_a_long_line_is_read_and_a_longer_one_is_reported(tmp_path, monkeypatch):
    long = json.dumps({"role": "user", "content": "x" * 2_000_000})
    source = source_of(tmp_path, "a.jsonl", f"{LINES}{long}\n{LINES}")
    assert len(values(source)) == 5
    monkeypatch.setattr(source_module, "LONGEST_LINE", 1 << 20)
    found = list(source.records())
    assert [(item.line, item.reason) for item in found if isinstance(item, Unreadable)] == [
        (3, "line of more than 1 MiB")
    ]
    assert [item.line for item in found] == [1, 2, 3, 4, 5]


def test_a_bad_line_is_reported_with_its_number(tmp_path):
    source = source_of(tmp_path, "a.jsonl", LINES + "{bad}\n" + LINES)
    assert [item.line for item in source.records() if isinstance(item, Unreadable)] == [3]


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "{" * 100_000])
def test_brackets_nested_a_hundred_thousand_deep_are_no_json(text):
    assert isinstance(parse_json(text), BadJson)


def test_lone_surrogates_control_characters_and_nan_are_let_through():
    assert parse_json('"\\ud83d"') == "\ud83d"
    assert parse_json('"a\tb"') == "a\tb"
    assert isinstance(parse_json("NaN"), float)


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("slash", ["/", "\\/"])
def test_the_line_of_a_string_is_found_whatever_its_escapes(ascii_only, slash):
    words = ["café", "a/b", 'quote " end', "twice", "twice", "café", "😀 " * 40, "\ttab\\"]
    text = json.dumps(words, indent=0, ensure_ascii=ascii_only).replace("/", slash)
    places = Places(text)
    assert [places.line(word) for word in words] == [2, 3, 4, 5, 6, 7, 8, 9]
    assert [places.line(word) for word in ("nowhere", "café")] == [9, 2]


def test_strings_that_cannot_be_found_are_given_up_after_a_while():
    places = Places("x\n" * 100_000 + '"last"')
    for number in range(MISSES * 50):
        places.line(f"nowhere {number}")
    assert places.line("last") == 1


def test_a_document_of_more_than_may_be_held_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(source_module, "LARGEST_TEXT", 8)
    assert source_of(tmp_path, "short.md", "12345678").text == "12345678"
    with pytest.raises(OSError, match="split it first"):
        _ = source_of(tmp_path, "long.md", "123456789").text


def test_an_over_long_database_value_is_reported_after_the_rows(tmp_path, monkeypatch):
    path = tmp_path / "history.db"
    owner = apsw.Connection(str(path))
    owner.execute("CREATE TABLE notes(text)")
    owner.executemany("INSERT INTO notes VALUES (?)", [("long " * 100,), ("short",)])
    owner.close()
    monkeypatch.setattr(foreign_sqlite, "LONGEST_VALUE", 100)
    *rows, fault = SourceFile(path).from_database(lambda database: database.rows("notes", ["text"], order=["text"]))
    assert ("short",) in rows
    assert isinstance(fault, Unreadable)


def test_text_beside_a_session_that_cannot_be_read_is_none(tmp_path):
    (tmp_path / "root").write_text("/srv/garden", encoding="utf-8")
    assert read_sibling(tmp_path / "root") == "/srv/garden"
    assert read_sibling(tmp_path / "none") == ""
    assert read_sibling(tmp_path / ("longer than names may be" * 20)) == ""


@pytest.mark.parametrize("encoding", ["cp1252", "gb18030", "cp932"])
def test_lines_and_text_of_an_older_encoding_are_those_of_utf_8(tmp_path, encoding):
    words = {"cp1252": "Größe über alles", "gb18030": "我们要降低增益", "cp932": "ゲインが高い"}[encoding]
    path = tmp_path / "a.jsonl"
    path.write_bytes((json.dumps({"text": words}, ensure_ascii=False) + "\n").encode(encoding))
    assert [item.value for item in SourceFile(path).records()] == [{"text": words}]
