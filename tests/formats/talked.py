"""One conversation, for shapes of every kind to hold."""

import json

TALK = (
    ("user", "My dough stays flat. What is wrong with it?"),
    ("assistant", "The starter is not active yet. Feed it twice a day."),
    ("user", "For how many days should I do that?"),
    ("assistant", "Three days are enough if the kitchen is warm."),
)


def each(of):
    return [of(role == "user", text) for role, text in TALK]


PAIRS = [(TALK[0][1], TALK[1][1]), (TALK[2][1], TALK[3][1])]
"""Its questions with their answers."""


def written(tmp_path, value):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path
