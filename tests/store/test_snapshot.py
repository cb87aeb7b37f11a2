"""A question sees one state of the memory, whatever another process does to it meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Hit, Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.store.database import open_database


def hits(memory: Memory, command: str) -> Iterable[Hit]:
    return memory.search("fence painted") if command == "search" else memory.recall("fence painted").hits


@pytest.mark.parametrize("command", ["search", "recall"])
@pytest.mark.parametrize("moment", ["prompts_vocabulary", "prompts_fts MATCH", "vector_json", "p.metadata_json"])
def test_a_turn_that_is_deleted_while_it_is_being_found_is_found_whole(
    tmp_path: Path, command: str, moment: str
) -> None:
    path = tmp_path / "memory.db"
    write_messages(tmp_path / "history" / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green."))
    with Memory.open(path) as memory:
        memory.index([tmp_path / "history"])
    deleted = []

    def delete_at_the_moment(_: object, statement: str, __: object) -> bool:
        if moment in statement and not deleted:
            with open_database(path) as other, other.transaction():
                deleted.extend(other.run("DELETE FROM prompts RETURNING id"))
        return True

    database = open_database(path)
    with Memory(database, PackagedEmbedder(1)) as memory:
        memory.search("gate")  # so that the model is loaded
        database.connection.exec_trace = delete_at_the_moment
        found = [hit.content for hit in hits(memory, command)]
        assert len(deleted) == 2
        if moment != "prompts_vocabulary":  # before the first look into the file there is nothing to keep
            assert found[0] == "Is the fence painted?"
        assert list(hits(memory, command)) == []
