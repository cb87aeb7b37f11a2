"""OpenCode's own spellings of errors between agent and client."""

from __future__ import annotations

from pastchats_memory.formats.base.dialect import COMMON, Dialect

DIALECT = COMMON | Dialect(
    noise=(
        "oldString not found in content", "Tool execution aborted", "Tool execution interrupted", "Could not find oldString in",
        "No changes to apply: oldString", "The user rejected permission to use", "The user has specified a rule which prevents",
        "The user dismissed this question",
    ),
    refusals=("tool call with the following feedback:",),
)  # fmt: skip
