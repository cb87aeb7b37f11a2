"""`recall` and `context`: print what an agent reads before work, or the best items for a question."""

import sys
from typing import Any

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import is_terminal, warn
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.cli.trial import offer_trial
from pastchats_memory.errors import TeamUnavailable
from pastchats_memory.memory import Memory, questions
from pastchats_memory.views.answers.search import build_context, build_recall


@ask_memory("recall", flags=("model",), before=offer_trial)
@ask_for(questions.RECALL)
@options.model
def command(memory: Memory, query: str, budget: int | None, team: bool, **how: Any) -> CommandResult:
    """Print what is worth remembering before the work in QUERY, within a token budget, each entry with its source.

    Searches all projects; your current one wins near ties and is marked. The block is empty if nothing fits.
    """
    budget = memory.budget if budget is None else budget
    if team:
        try:
            memory.team.pull()
        except TeamUnavailable as fault:
            if not memory.team.has_copy:
                raise
            warn([f"{fault.message}; the team's part is from the last `team pull`"])
    block = memory.recall(query, budget, current_project=".", team=team or None, **how)
    notes = []
    if not block.text:
        notes.append(
            f"Warning: a budget of {budget} tokens is too small for any entry; --budget {block.least} is enough"
        )
    if not block.entries and is_terminal(sys.stderr):
        notes.append("`pastchats-memory search` lists what is nearest, whether it fits or not.")
    return CommandResult(
        lambda: build_recall(block, budget, memory.resume_lines(block.hits)),
        lambda: block.text,
        is_found=bool(block.entries),
        notes=notes,
        warnings=block.warnings,
        leads_back=True,
    )


@ask_memory("context")
@ask_for(questions.CONTEXT)
def context(memory: Memory, query: str, budget: int, **how: Any) -> CommandResult:
    """Print the best few items for the question QUERY: excerpts with id, similarity and source.

    For a chat or an agent that answers the question itself: `show ID` prints the full text of an excerpt.
    """
    found = memory.context(query, budget, **how)
    return CommandResult(
        lambda: build_context(found, budget), lambda: found.text, is_found=bool(found.items), warnings=found.warnings
    )
