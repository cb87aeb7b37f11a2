"""Draw the plots of `docs/benchmarks.md` from the numbers in its own tables, so that no plot contradicts a table.

`make docs` runs it before it builds the site.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1] / "docs"
FOLDER = DOCS / "plots"
WIDTH = 720
LABEL_WIDTH = 250
BAR, GAP = 16, 14
"""Height of a bar, and the space between two groups."""
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.name{font-weight:600}.b0{fill:#0969da}.b1{fill:#8c959f}"
    ".b2{fill:#d0d7de}@media (prefers-color-scheme:dark){text{fill:#e6edf3}.b0{fill:#4493f8}.b1{fill:#6e7681}"
    ".b2{fill:#3d444d}}"
)
_ROW = re.compile(r"^\| (?P<question>[^|]+) \| (?P<number>[^|]+) \| (?P<comparison>[^|]+) \| [^|]+ \|$", re.MULTILINE)
_MEASURES = re.compile(r"^\| ([^|]+) \| 1,982 \| (0\.\d+) \| (0\.\d+) \| (0\.\d+) \|", re.MULTILINE)
"""Rows of the same 1,982 questions: ours, then those of other tools."""
_QUALITY = re.compile(r"best single engine (0\.\d+); textbook RRF (0\.\d+)")
_TURNS = re.compile(r"([\d,]+) turns")
_MS = re.compile(r"(\d+) ms")


class Bar(NamedTuple):
    """One bar."""

    label: str
    value: float


class Group(NamedTuple):
    """Bars that are compared with each other."""

    name: str
    bars: Sequence[Bar]


def read_quality(text: str) -> list[Group]:
    """Return our nDCG@10 on each set beside the best single engine and textbook rank fusion."""
    groups = []
    for row in _ROW.finditer(text):
        if found := _QUALITY.search(row["comparison"]):
            values = (float(row["number"]), float(found[1]), float(found[2]))
            names = ("this search", "best single engine", "textbook RRF")
            bars = [Bar(f"{name} {value:.3f}", value) for name, value in zip(names, values, strict=True)]
            groups.append(Group(row["question"].strip(), bars))
    return groups


def read_times(text: str) -> list[Group]:
    """Return the milliseconds of each question about time that names a number of turns."""
    groups = []
    for row in _ROW.finditer(text):
        number, turns = _MS.fullmatch(row["number"].strip()), _TURNS.search(row["question"])
        if number is None or turns is None:
            continue
        bars = [Bar(f"{number[1]} ms at {turns[1]} turns", float(number[1]))]
        if (more := _MS.search(row["comparison"])) and (others := _TURNS.search(row["comparison"])):
            bars.append(Bar(f"{more[1]} ms at {others[1]} turns", float(more[1])))
        groups.append(Group(row["question"].partition("? (")[0].strip() + "?", bars))
    return groups


def read_measures(text: str) -> list[Group]:
    """Return R@1, R@5 and MRR over the same questions, beside those of other tools."""
    rows = [(row[1].partition(",")[0], row[2], row[3], row[4]) for row in _MEASURES.finditer(text)]
    groups = []
    for place, measure in enumerate(("R@1", "R@5", "MRR"), start=1):
        names = ("this search", *(row[0] for row in rows[1:]))
        bars = [Bar(f"{name} {row[place]}", float(row[place])) for name, row in zip(names, rows, strict=True)]
        groups.append(Group(f"{measure}, sessions of LoCoMo", bars))
    return groups


def draw(title: str, groups: Sequence[Group]) -> str:
    """Return horizontal bars as SVG that fits a light and a dark page."""
    longest = max(bar.value for group in groups for bar in group.bars)
    scale = (WIDTH - LABEL_WIDTH - 20) / longest
    parts, at = [], 8
    for group in groups:
        at += 18
        parts.append(f'<text class="name" x="8" y="{at}">{escape(group.name)}</text>')
        at += 6
        for place, bar in enumerate(group.bars):
            length = max(1.0, bar.value * scale)
            parts.append(f'<text x="8" y="{at + BAR - 4}">{escape(bar.label)}</text>')
            parts.append(
                f'<rect class="b{place}" x="{LABEL_WIDTH}" y="{at}" width="{length:.1f}" height="{BAR - 3}" rx="2"/>'
            )
            at += BAR + 2
        at += GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {at}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title><style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def draw_all(text: str) -> dict[str, str]:
    """Return every plot by the name of its file, from the text of the page."""
    return {
        "quality.svg": draw("nDCG@10 of search, by set", read_quality(text)),
        "measures.svg": draw("LoCoMo beside another tool, by session", read_measures(text)),
        "time.svg": draw("Milliseconds by size of the memory", read_times(text)),
    }


def main() -> None:
    """Write the plots that change."""
    FOLDER.mkdir(exist_ok=True)
    for name, svg in draw_all((DOCS / "benchmarks.md").read_text(encoding="utf-8")).items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != svg:
            path.write_text(svg, encoding="utf-8")
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
