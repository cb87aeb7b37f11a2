"""Store which message refutes which earlier episode. Derived: messages by their conversation, targets at the end of a run."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.outcomes import Due

IN_SPAN = "p.source_project = ? AND p.conversation_id = ? AND p.turn_index BETWEEN ? AND ?"


class Refutation(NamedTuple):
    """A message that says of an earlier episode that it did not help."""

    question_id: int
    """Id of the turn that asks, of the earlier episode."""
    turn_id: int
    """Id of the message."""
    text: str
    """The message."""


def replace(database: Database, one: Due, first_index: int, messages: Collection[int]) -> None:
    """Replace the refuting messages of a conversation from an index on; their targets are still to be found.

    Call it inside a transaction.
    """
    known = {id_ for (id_,) in database.run(
        f"SELECT r.turn_id FROM refutations r JOIN visible_prompts p ON p.id = r.turn_id WHERE {IN_SPAN}",
        (one.project, one.conversation_id, first_index, 1 << 62),
    )}  # fmt: skip
    database.run_many("DELETE FROM refutations WHERE turn_id = ?", [(id_,) for id_ in known - {*messages}])
    database.run_many("INSERT INTO refutations(turn_id) VALUES (?)", [(id_,) for id_ in messages if id_ not in known])


def forget_targets(database: Database) -> None:
    """Look for every target anew, inside the caller's transaction."""
    database.run("UPDATE refutations SET prompt_id = NULL, is_sought = 1")


def list_sought(database: Database, most: int) -> list[int]:
    """Return messages whose target is still to be found, the oldest first."""
    return database.column("SELECT turn_id FROM refutations WHERE is_sought LIMIT ?", (most,))


def set_target(database: Database, message: int, question_id: int | None) -> None:
    """Store the episode that a message refutes, None if there is none. Its conversation is due.

    Call it inside a transaction.
    """
    database.run("UPDATE refutations SET prompt_id = ?, is_sought = 0 WHERE turn_id = ?", (question_id, message))


def of_conversation(database: Database, project: str, conversation_id: str) -> dict[int, Refutation]:
    """Return what refutes the episodes of a conversation, by the id of the turn that asks; the first message counts."""
    rows = database.run(
        "SELECT r.prompt_id, r.turn_id, m.content FROM refutations r JOIN visible_prompts p ON p.id = r.prompt_id "
        "JOIN visible_prompts m ON m.id = r.turn_id WHERE p.source_project = ? AND p.conversation_id = ? "
        "ORDER BY m.timestamp DESC, m.id DESC",
        (project, conversation_id),
    )
    return {row[0]: Refutation(*row) for row in rows}


def find_refuting(database: Database, questions: Iterable[int]) -> list[int]:
    """Return the messages that refute one of the episodes, given by the turns that ask."""
    return database.column(f"SELECT turn_id FROM refutations WHERE prompt_id IN {LISTED}", (bind_list(questions),))


def find_refuted(database: Database, messages: Iterable[int]) -> list[int]:
    """Return the turns that ask of the episodes that one of the messages refutes."""
    return database.column(
        f"SELECT prompt_id FROM refutations WHERE prompt_id IS NOT NULL AND turn_id IN {LISTED}", (bind_list(messages),)
    )
