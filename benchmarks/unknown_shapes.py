"""How many files below folders of ordinary project files are taken for conversations: `python benchmarks/unknown_shapes.py FOLDER...`.

Without a folder: the packages of the running Python. What is taken is named, to be judged by eye; none of it should be
anything but messages.
"""

import sys
import sysconfig
import time
from pathlib import Path

from pastchats_memory.formats.messages import MESSAGES

from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.model import Turn

SUFFIXES = {".json", ".jsonl", ".ndjson", ".ipynb", ".geojson", ".webmanifest", ".har"}


def main() -> None:
    folders = sys.argv[1:] or [sysconfig.get_path("purelib")]
    paths = [path for folder in folders for path in Path(folder).rglob("*") if path.suffix.lower() in SUFFIXES]
    start, size, taken = time.perf_counter(), 0, 0
    for path in filter(Path.is_file, paths):
        source = SourceFile(path)
        size += path.stat().st_size
        try:
            is_taken = MESSAGES.detect(source)
        except NotText:
            continue
        if is_taken:
            taken += 1
            opening = [
                f"{turn.role}: {turn.content[:40]!r}" for turn in MESSAGES.read(source) if isinstance(turn, Turn)
            ]
            print(path, *opening[:3], sep="\n    ")
    seconds = time.perf_counter() - start
    print(f"{len(paths):,} files, {size / 1e6:,.0f} MB in {seconds:.0f} s: {taken} taken for conversations")


if __name__ == "__main__":
    main()
