"""Offer to index a part of the histories to a person who asks a memory that does not exist yet."""

import sys

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.output import hanging, is_terminal, notify
from pastchats_memory.config import from_home, load
from pastchats_memory.text.display import counted

TURNS = 500


def offer_trial(db: str | None) -> None:
    """Index about the newest 500 turns if there is no database, and if somebody at a terminal agrees."""
    config = load(db)
    if config.database.exists() or not all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        return
    from pastchats_memory.cli.index import index_with_progress
    from pastchats_memory.memory.indexing import find_readable_histories, survey_histories

    histories = find_readable_histories(config)
    survey = survey_histories(config, histories)
    is_large = survey.turns > TURNS
    part = (
        f"the newest {TURNS} of about {survey.turns:,} turns" if is_large else f"about {counted(survey.turns, 'turn')}"
    )
    programs = ", ".join(dict.fromkeys(one.program for one in histories))
    question = f"There is no memory yet. Index {part} of {programs} into {from_home(str(config.database))}? It changes nothing else."
    if not survey.files or not click.confirm(hanging(question, err=True), default=True, err=True):
        return
    newest = round(survey.bytes * TURNS / survey.turns) if is_large else None
    with options.open_memory(db, create=True) as memory:
        index_with_progress(memory, [str(one.path) for one in histories], None, {"newest_bytes": newest})
    notify(
        "`pastchats-memory setup` indexes the rest and connects your agents; `pastchats-memory purge` deletes the memory.\n"
    )
