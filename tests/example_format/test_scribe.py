"""Test the format of scribe with its fixtures."""

from pathlib import Path

from scribe_memory import SCRIBE

from pastchats_memory.formats.testing import check_format

FIXTURES = Path(__file__).with_name("fixtures")


def test_scribe_reads_its_sessions(tmp_path: Path) -> None:
    check_format(SCRIBE, FIXTURES, tmp_path)
