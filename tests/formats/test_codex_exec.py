"""Which texts are logs of `codex exec`, and which only hold one."""

from __future__ import annotations

import pytest

from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format

LOG = "OpenAI Codex v0.104.0\n--------\nworkdir: /home/ada/kiln\n--------\nuser\nIs it hot?\ncodex\nNo.\n"


@pytest.mark.parametrize(
    ("above", "format_name"),
    [
        ("", "codex-exec"),
        ("It is cold.\n" * 40, "codex-exec"),
        ("# oven (82s)\n\nIt is cold.\n\n---\nSTDERR:\n", "codex-exec"),
        ("**User:** Say it again.\n\n**Assistant:** It printed this:\n\n", "markdown"),
        ("### User\n\nSay it again.\n\n### Assistant\n\nIt printed this:\n\n", "markdown"),
        ("# aider chat started at 2026-01-31 08:15:00\n\n", "aider"),
        ("# Logs\n\n## Of the kiln\n\n", None),
        ("It prints:\n\n```\n", None),
    ],
)
def test_a_log_begins_near_the_top_of_a_file_that_is_no_document_and_no_conversation(tmp_path, above, format_name):
    file = tmp_path / "run.md"
    file.write_text(above + LOG)
    reader = detect_format(SourceFile(file))
    assert (reader.name if reader else None) == format_name
