"""The user's own words in a prompt that a template or a schedule wrote around them."""

from __future__ import annotations

import pytest

from pastchats_memory.text.instruction import find_instruction, parse_template

SCHEDULED = "This is an automated run of a scheduled task. Nobody is there."
STEPS = "You **MUST** consider the user input.\n\n## Outline\n\n1. Load the template.\n```sh\nmake plan\n```"


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        (f"\n## User Input\n\n```text\nLine the flue with clay.\n```\n\n{STEPS}", "Line the flue with clay."),
        (f"## User Input\n\n```text\n\n```\n\n{STEPS}", ""),
        (f"Base directory for this skill: /srv/skills/plan\n\n{STEPS}\n\nARGUMENTS: the flue of the kiln", "the flue of the kiln"),
        (f"<scheduled-task name='draft'>\n{SCHEDULED}\n\nRead the draught.\n</scheduled-task>", "Read the draught."),
        ("<scheduled-task>Read the draught.</scheduled-task>", "Read the draught."),
        ("Automation: Draught\nAutomation ID: draught\nLast run: never\n\nRead the draught of the kiln.", "Read the draught of the kiln."),
        ("Instructions are comments (marked with █):\n1: x = 1\n█2: # lower the limit, AI!", "2: # lower the limit, AI!"),
        ("## 用户输入\n\n```text\n检查烟道\n```\n\n## 概述\n\n帮助用户。", "检查烟道"),
        ("## The error\n\n```text\nDraught: 0 Pa\n```\n\nWhy does the flue smoke?", None),
        ("Document the section `## User Input` of our templates.", None),
        ("The heading ## User Input is missing.\n\nAdd it.", None),
        ("Why does the flue smoke?", None),
    ],
)  # fmt: skip
def test_the_words_in_a_template_are_found(prompt: str, words: str | None) -> None:
    assert parse_template(prompt) == words
    assert find_instruction(prompt) == (words or prompt)
