"""`timeline` and `digest`: show what was worked on in a span of time."""

from typing import Any

import click

from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.memory import Memory, questions
from pastchats_memory.views.answers.history import DigestBody
from pastchats_memory.views.history import render_digest, render_timeline
from pastchats_memory.views.to_json import to_json

when = click.argument("when", metavar="[WHEN]", nargs=-1)
NOTHING_FOUND = "No conversation is known of that time."


@ask_memory("timeline")
@when
@ask_for(questions.TIMELINE)
def command(memory: Memory, when: tuple[str, ...], **how: Any) -> CommandResult:
    """List the conversations of a time by day and project, with first prompt and outcome, as Markdown.

    WHEN is today, yesterday, 7d, 'last week', 2026-02, 2026-02-17 or 2026-02-01..2026-02-17; the last 7 days by default.
    """
    found = memory.timeline(" ".join(when) or None, **how)
    return CommandResult(
        lambda: to_json(found),
        lambda: render_timeline(found),
        is_found=bool(found.days),
        nothing=NOTHING_FOUND,
        notes=[f"… and {found.more:,} older; --limit or another time shows them"] if found.more else [],
        warnings=found.warnings,
    )


@ask_memory("digest")
@when
@ask_for(questions.DIGEST)
def digest(memory: Memory, when: tuple[str, ...], **how: Any) -> CommandResult:
    """Write a page of Markdown: what was worked on, what worked, what failed or is open, and what was decided.

    Every line has its source. No language model is used. Tokens that agents reported come last. WHEN is as for `timeline`.
    """
    found = memory.digest(" ".join(when) or None, **how)
    return CommandResult(
        lambda: to_json(found, DigestBody),
        lambda: render_digest(found),
        is_found=bool(found.lines),
        nothing=NOTHING_FOUND,
        warnings=found.warnings,
    )
