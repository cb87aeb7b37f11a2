from golden import FIXTURES

from pastchats_memory.ingest.discover import discover_files

GOLDEN = sorted(FIXTURES.rglob("*.expected*"))


def test_every_golden_file_stands_beside_its_input():
    assert GOLDEN
    for path in GOLDEN:
        inputs = [
            other
            for other in path.parent.iterdir()
            if other.stem == path.stem and other not in (path, path.with_suffix(".map"))
        ]
        assert len(inputs) == 1, path


def test_indexing_this_repository_takes_no_golden_file_for_a_conversation():
    found, unreadable = discover_files([FIXTURES])
    paths = {candidate.path for candidate in found}
    assert paths
    assert paths.isdisjoint(GOLDEN)
    assert not unreadable
