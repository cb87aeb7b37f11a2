"""`context`: print the best few items for a question, within a token budget."""

from typing import Any

from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.memory import Memory, questions
from pastchats_memory.views.answers.search import build_context


@ask_memory("context")
@ask_for(questions.CONTEXT)
def command(memory: Memory, query: str, budget: int, **how: Any) -> CommandResult:
    """Print the best few items for the question QUERY: excerpts with id, similarity and source.

    For a chat or an agent that answers the question itself: `show ID` prints the full text of an excerpt.
    """
    context = memory.context(query, budget, **how)
    return CommandResult(
        lambda: build_context(context, budget),
        lambda: context.text,
        is_found=bool(context.items),
        warnings=context.warnings,
    )
