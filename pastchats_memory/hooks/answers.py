"""Recall for a prompt, if it needs it.

Most prompts get nothing, so what writes a block is imported only for the others. Every function raises MemoryFault if the
database or the configuration cannot be read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pastchats_memory.config import Config, load
from pastchats_memory.files.project import project_at
from pastchats_memory.hooks.prompt import find_own_words, is_worth_asking, query_for
from pastchats_memory.hooks.state import find_state
from pastchats_memory.recall.earlier_prompt import is_typed
from pastchats_memory.recall.word_evidence import measure_words
from pastchats_memory.store.copy_path import copy_path
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.recall_block import RECALL_HEADING, RECALL_PREAMBLE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pastchats_memory.hooks.block import OpenMemory
    from pastchats_memory.hooks.event import HookEvent
    from pastchats_memory.model.episodes import RecallBlock


def recall(event: HookEvent, database: str | None, open_memory: OpenMemory | None = None) -> str | None:
    """Return the block for the event's prompt; None if it needs none or nothing fits."""
    state = find_state(database) if event.session else None
    block = find_block(event, database, state, open_memory)
    if block is None or not block.entries:
        return None
    from pastchats_memory.hooks.block import give

    return give(block, state, event.session)


def brief_subagent(
    event: HookEvent, database: str | None, open_memory: OpenMemory | None = None
) -> Mapping[str, Any] | None:
    """Return the arguments of a call with a block behind its prompt; None if it has one, needs none, or nothing fits.

    A subagent has no other way to the memory: few ever ask one. It knows nothing of what its session was given, so the same
    memory may go to both.
    """
    try:
        arguments = json.loads(event.arguments) if isinstance(event.arguments, str) else event.arguments
    except (ValueError, RecursionError):
        return None
    prompt = arguments.get("prompt") if isinstance(arguments, dict) else None
    if not isinstance(arguments, dict) or not isinstance(prompt, str) or RECALL_HEADING in prompt:
        return None
    block = find_block(event._replace(prompt=prompt), database, open_memory=open_memory)
    return {**arguments, "prompt": f"{prompt}\n\n{RECALL_PREAMBLE}\n{block.text}"} if block and block.entries else None


def find_block(
    event: HookEvent, database: str | None, state: Path | None = None, open_memory: OpenMemory | None = None
) -> RecallBlock | None:
    """Return the block for the event's prompt; None if there is nothing to say.

    Words decide if they can. Only otherwise are NumPy and the model imported.

    Args:
        event: the prompt, with folder and session.
        database: the file; None for the configured one.
        state: the folder that tells what the session has already; None for nothing.
        open_memory: opens the memory for a search; None to open it for one question.
    """
    if not is_worth_asking(event.prompt):
        return None
    config = load(database, here=event.here)
    project = utf8(project_at(event.cwd)) if event.cwd else None
    with open_database(config.database, create=False, vec0=False) as opened, opened.snapshot():
        if project is not None and (repeated := _find_repeated(opened, event, project, state)):
            return repeated
        query = query_for(event.prompt)
        if query is None:
            return None
        query = utf8(query)
        evidence = measure_words(opened, query, project)
        is_known = evidence is None or evidence.may_answer
        if not is_known and not _may_team_answer(opened, config, query, project):
            return None
        from pastchats_memory.hooks import block

        request = block.make_request(event, query, project, state)
        found = block.find_by_words(opened, evidence, request) if evidence and is_known else None
        if found is not None and not _may_team_answer(opened, config, query, project):
            return found
    return block.find_by_search(request, config, open_memory)


def _find_repeated(database: Database, event: HookEvent, project: str, state: Path | None) -> RecallBlock | None:
    """Return the block of the newest turn of the project with the same words; None if there is none."""
    if not is_typed(database, text := utf8(find_own_words(event.prompt)), project):
        return None
    from pastchats_memory.hooks import block

    return block.find_repeated(database, block.make_request(event, text, project, state))


def _may_team_answer(database: Database, config: Config, query: str, project: str | None) -> bool:
    """Check whether the copy of a team's memory has a row with enough of a prompt's names."""
    path = copy_path(database.path)
    if not config.team or not config.team_endpoint or not path.is_file():
        return False
    with open_database(path, create=False, vec0=False) as copy:
        evidence = measure_words(copy, query, project)
    return evidence is None or evidence.may_answer
