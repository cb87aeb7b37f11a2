"""Draw the moving picture of the README: the same question with and without memory, from the sample history.

    python scripts/draw_recall.py

Every line of it is quoted from `fixtures/demo`: on the left the first session about the problem, on the right what recall
says about it afterwards.
"""

from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path
from textwrap import wrap

from pastchats_memory import Memory

ROOT = Path(__file__).parents[1]
HISTORY = ROOT / "fixtures" / "demo" / "history" / "codex" / "2026" / "02" / "17"
PICTURE = ROOT / "docs" / "images" / "recall.svg"
QUESTION = "flaky login test"
WIDTH, COLUMN, LINE = 960, 62, 17
MOST_LINES = 3
"""Lines of one text at most."""
STEP_S, PAUSE_S = 1.2, 4
STYLE = """
  text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2430 }
  .head { font-weight: bold } .user { fill: #0b5cad } .bad { fill: #b3261e } .good { fill: #1b6e3c }
  .card { fill: #fff; stroke: #c9ced6 }
"""


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(make_picture(), encoding="utf-8")


def make_picture() -> str:
    """Return the picture, from a memory of the sample history."""
    with tempfile.TemporaryDirectory() as scratch, Memory.open(Path(scratch) / "memory.db") as memory:
        memory.index([HISTORY])
        block = memory.recall(QUESTION, outcome="worked", limit=1)
        first = memory.show(str(block.hits[0].id), 50)
    entry = block.entries[0]
    turns = [(one.role, one.content) for one in first if one.role in ("user", "assistant")]
    before = [
        (f"{'you' if role == 'user' else 'agent'}: ", text, "user" if role == "user" else "")
        for role, text in turns[:6]
    ]
    after = [
        ("you: ", turns[0][1], "user"),
        ("memory: ", f"{entry.title} · {entry.outcome.verdict}", "good"),
        ("ended: ", entry.answered or "", "good"),
        *(("before it: ", one.answered, "bad") for one in entry.before[-2:]),
    ]
    return draw([("Without memory: the first session", before), ("With memory: the next one", after)])


def draw(columns: list[tuple[str, list[tuple[str, str, str]]]]) -> str:
    """Return the SVG; the lines of both columns appear one after the other, and all of them for whoever wants no motion."""
    parts, lowest = [], 0
    length = max(len(texts) for _, texts in columns) * STEP_S + PAUSE_S
    for place, (title, texts) in enumerate(columns):
        x, y = 20 + place * WIDTH // 2, 40
        parts.append(f'<text class="head" x="{x}" y="{y}">{escape(title)}</text>')
        for number, (speaker, text, style) in enumerate(texts):
            y += LINE // 2
            lines = wrap(speaker + " ".join(text.split()), COLUMN)
            lines = [*lines[:MOST_LINES], *(["…"] if len(lines) > MOST_LINES else [])]
            spans = ""
            for line in lines:
                y += LINE
                spans += f'<tspan x="{x}" y="{y}">{escape(line)}</tspan>'
            begin = number * STEP_S / length
            motion = (
                f'<animate attributeName="opacity" dur="{length:g}s" repeatCount="indefinite" calcMode="discrete" '
                f'values="0;1" keyTimes="0;{begin:.3f}"/>'
                if number
                else ""
            )
            parts.append(f'<text class="{style}">{spans}{motion}</text>')
        lowest = max(lowest, y)
    height = lowest + 24
    cards = "".join(
        f'<rect class="card" x="{8 + place * WIDTH // 2}" y="12" width="{WIDTH // 2 - 16}" height="{height - 20}" rx="8"/>'
        for place in range(len(columns))
    )
    label = "The same question with and without memory"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">\n'
        f"<style>{STYLE}</style>\n{cards}\n" + "\n".join(parts) + "\n</svg>\n"
    )


if __name__ == "__main__":
    main()
