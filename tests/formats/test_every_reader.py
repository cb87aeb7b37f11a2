"""What holds for each format; a new one is tested by its line in `FORMATS` and its fixtures."""

import re

import pytest
from demands import quirks_of, read_by_everyone
from golden import FIXTURES, expected, inputs, plain, rows, shared
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import made
from mutations import damaged

from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.registry import all_formats, detect_format
from pastchats_memory.model import Turn

PAIRS = [(reader, path) for reader in all_formats() if reader.is_specific for path in inputs(reader.name)]
READMES = (FIXTURES / "README.md", *(FIXTURES.parent / "pastchats_memory" / "formats").rglob("README.md"))
ROW = re.compile(r"^\| ([a-z-]+-q\d+) \| (.+) \|$", re.MULTILINE)
FUZZED = sorted((FIXTURES / "fuzz").glob("[!.]*"))


def by_name(value):
    return getattr(value, "FORMAT", None) or value.name


@pytest.mark.parametrize(("reader", "path"), PAIRS, ids=by_name)
def test_a_file_goes_to_its_reader_and_gives_the_turns_that_a_person_saw(reader, path):
    found = rows(reader, path)
    assert [plain(row) for row in found] == expected(path)
    assert detect_format(SourceFile(made(path))) is reader
    results = [row.native_id for row in found if isinstance(row, Turn) and row.role == "tool" and row.native_id]
    assert len(set(results)) == len(results), "two results of tools have one identity"


def test_every_quirk_has_a_fixture_and_every_fixture_of_a_quirk_is_in_the_table():
    listed = [quirk for page in READMES for quirk, _ in ROW.findall(page.read_text(encoding="utf-8"))]
    assert len(set(listed)) == len(listed)
    shown = set().union(*(quirks_of(reader.name) for reader in all_formats()))
    assert set(listed) == shown


@pytest.mark.parametrize("path", FUZZED, ids=lambda path: path.name)
def test_inputs_that_the_fuzzer_found_are_read(path):
    read_by_everyone(path)


@pytest.mark.parametrize("reader", all_formats(), ids=by_name)
def test_no_accident_to_a_file_raises(reader, tmp_path):
    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def live_through(data):
        path = data.draw(st.sampled_from(inputs(reader.name)))
        target = tmp_path / path.name
        target.write_bytes(data.draw(damaged(path)))
        read_by_everyone(target, reader)

    live_through()


def test_no_two_formats_are_equally_confident_about_a_real_file():
    folder = shared("transcripts")
    for path in filter(lambda path: path.is_file(), folder.rglob("*")):
        try:
            source = SourceFile(path)
            confidences = sorted(reader.detect(source) for reader in all_formats())
        except NotText:
            continue
        assert confidences[-1] == 0 or confidences[-2] < confidences[-1], path
