"""Rows that the tests combine into episodes."""

from __future__ import annotations

from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome

MADE = EpisodeTurn(
    "assistant",
    "answer",
    "The button has an icon now.",
    {"files": ["button.tsx"], "tools": ["Bash git commit -am Icon"]},
)
REQUEST = EpisodeTurn("user", "prompt", "Make the login test pass, it is flaky since Monday.")
GREEN = EpisodeTurn("tool", "result", "$ pytest -q\n............\n12 passed in 0.81s")
RED = EpisodeTurn(
    "tool", "error", "$ pytest -q\nExit code 1\nFAILED tests/test_login.py::test_flaky\n1 failed, 11 passed in 0.90s"
)
LOOKING = EpisodeTurn("assistant", "answer", "The clock is read twice, let me look at it.")
ANSWER = EpisodeTurn(
    "assistant", "answer", "The clock was read twice in that test, which is why it failed at midnight."
)
DONE = EpisodeTurn("assistant", "answer", "Fixed: the clock is read once.", {"tools": ("Edit clock.py",)})
NEXT_REQUEST = "Now do the same for the logout test."


def verdict(*turns: EpisodeTurn, next_message: str = "") -> str:
    return derive_outcome((REQUEST, *turns), next_message).verdict
