"""Damages the fixtures of each format, every place once and then by chance for minutes, and keeps what a reader did not live through in fixtures/fuzz.

Usage: python tests/formats/fuzz_readers.py [--minutes 2] [--first-five 10] [FORMAT...]
"""

import argparse
import hashlib
import shutil
import sys
import tempfile
import time
from pathlib import Path

from demands import FIRST_FIVE, read_by, read_by_everyone
from golden import FIXTURES, inputs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import made
from mutations import changed_everywhere, damaged

from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import all_formats

ROUND = 500
"""Examples between two looks at the clock."""
LARGEST_SWEPT = 20_000
"""Bytes of a fixture that is changed at every place: what a larger one has, it has many times."""


def sweep(reader, folder):
    """How many files were read with one value changed, and the fault and the file that the reader did not live through, or None."""
    read = 0
    for path in inputs(reader.name):
        last = folder / path.name
        for raw in changed_everywhere(path) if path.stat().st_size <= LARGEST_SWEPT else ():
            last.write_bytes(raw)
            read += 1
            try:
                read_by(SourceFile(made(last)), reader)
            except Exception as fault:  # noqa: BLE001 - whatever a reader raises is what is looked for
                return read, fault, last
    return read, None, None


def fuzz(reader, minutes, folder):
    """How many damaged files were read, and the fault and the smallest file that a reader did not live through, or None."""
    read, last = 0, None

    @settings(max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def live_through(data):
        nonlocal read, last
        path = data.draw(st.sampled_from(inputs(reader.name)))
        last = folder / path.name
        last.write_bytes(data.draw(damaged(path)))
        if path.suffix != ".sql" and data.draw(st.booleans()):  # a database comes out as bytes, no more as its SQL
            last.write_bytes(data.draw(damaged(last)))
        read += 1
        read_by_everyone(last, reader)

    end = time.monotonic() + minutes * 60
    while time.monotonic() < end:
        try:
            live_through()
        except Exception as fault:  # noqa: BLE001 - whatever a reader raises is what is looked for
            return read, fault, last
    return read, None, None


def keep(reader, last):
    """Where the smallest file that a reader did not live through is kept as a fixture."""
    digest = hashlib.sha256(last.read_bytes()).hexdigest()[:12]
    return shutil.copy(last, FIXTURES / "fuzz" / f"{reader.name}-{digest}{last.suffix}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*")
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--first-five", type=float, default=10)
    wanted = parser.parse_args()
    failed = False
    for reader in all_formats():
        if wanted.formats and reader.name not in wanted.formats:
            continue
        minutes = wanted.first_five if reader.name in FIRST_FIVE else wanted.minutes
        with tempfile.TemporaryDirectory() as folder:
            swept, fault, last = sweep(reader, Path(folder))
            read, fault, last = (0, fault, last) if last else fuzz(reader, minutes, Path(folder))
            outcome = f"{fault!r}, kept as {keep(reader, last)}" if last else "nothing found"
        failed |= last is not None
        print(
            f"{reader.name}: {swept} files changed in one place, {read} damaged ones in up to {minutes:g} minutes, {outcome}",
            flush=True,
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
