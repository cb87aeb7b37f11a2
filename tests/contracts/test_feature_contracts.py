"""Each invariant holds for the real program, and its check fails for one that was broken on purpose."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import apsw
import pytest
from contract_checks import (
    QUERY,
    lost_without_extension,
    missing_entry_point,
    one_sided_ranking,
    one_sided_search,
    sqlite_users,
    unpaired_rows,
    untraceable,
    words_not_found,
)
from program import REPOSITORY, Program, write_messages

from pastchats_memory.search.rank import fuse

PACKAGE = REPOSITORY / "pastchats_memory"
MORE = (("user", "Where do the hydrangeas go?"), ("assistant", "Behind the greenhouse."), ("system", "Be brief."))


def statement(program: Program, sql: str) -> None:
    connection = apsw.Connection(str(program.database))
    connection.execute(sql)
    connection.close()


def test_only_the_store_layer_imports_sqlite() -> None:
    assert len(list(PACKAGE.rglob("*.py"))) > 30
    assert sqlite_users(PACKAGE) == []


@pytest.mark.parametrize(
    "line",
    [
        "import sqlite3",
        "import apsw.ext",
        "from apsw import Connection",
        "import sqlite_vec as vectors",
        "def later():\n    import sqlite3",
        "import importlib\nimportlib.import_module('sqlite3')",
        "__import__('apsw')",
        "def there(database):\n    return database.value(f'SELECT 1 FROM tasks WHERE id = {id_}')",
    ],
)
def test_a_module_outside_the_store_that_imports_sqlite_is_noticed(tmp_path: Path, line: str) -> None:
    package = tmp_path / "pastchats_memory"
    (package / "store").mkdir(parents=True)
    (package / "store" / "database.py").write_text("import apsw", encoding="utf-8")
    (package / "recall.py").write_text(line, encoding="utf-8")
    assert [fault.split(":")[0] for fault in sqlite_users(package)] == ["recall.py"]


def test_every_turn_is_found_by_its_words(demo: Program) -> None:
    assert words_not_found(demo) == []


@pytest.mark.parametrize(
    "breakage",
    [
        "DROP TRIGGER prompts_fts_insert; DROP TRIGGER trigrams_prompts_insert",
        "INSERT INTO prompts_fts(prompts_fts) VALUES ('delete-all'); INSERT INTO trigrams(trigrams) VALUES ('delete-all')",
    ],
)
def test_turns_that_never_reached_the_lexical_index_are_noticed(own_demo: Program, breakage: str) -> None:
    statement(own_demo, breakage)
    assert own_demo("index", write_messages(own_demo.home / "more.jsonl", *MORE)).status == 0
    if "delete-all" in breakage:
        statement(own_demo, breakage)
    assert any("search --mode keyword does not find" in fault for fault in words_not_found(own_demo))


def test_recall_is_the_entry_point_before_a_task(demo: Program) -> None:
    assert missing_entry_point(demo) == []


def test_a_program_without_recall_is_noticed(demo: Program) -> None:
    without = demo.altered(
        "import pastchats_memory.cli as cli\n"
        "cli.COMMANDS = dict.fromkeys(('index', 'search', 'show'), 'Do it')\ncli.GROUPS = {'Ask': cli.COMMANDS}"
    )
    assert "recall is not among the commands" in missing_entry_point(without)


def test_every_turn_has_exactly_one_embedding(own_demo: Program) -> None:
    assert unpaired_rows(own_demo) == []
    assert own_demo("index", write_messages(own_demo.home / "more.jsonl", *MORE)).status == 0
    assert unpaired_rows(own_demo) == []


def test_embeddings_that_vanish_are_noticed(own_demo: Program) -> None:
    statement(
        own_demo,
        "CREATE TRIGGER thief AFTER INSERT ON prompt_embeddings WHEN new.prompt_id % 2 "
        "BEGIN DELETE FROM prompt_embeddings WHERE prompt_id = new.prompt_id; END",
    )
    own_demo("index", write_messages(own_demo.home / "more.jsonl", *MORE))
    faults = unpaired_rows(own_demo)
    assert any(fault.endswith("has no embedding") for fault in faults)
    assert "doctor finds something to mend" in faults


def test_an_indexer_that_embeds_only_what_people_say_is_noticed(own_demo: Program) -> None:
    careless = own_demo.primed(
        "from pastchats_memory.store import turns\n"
        "embed = turns.set_vectors\n"
        "def only_users(database, model, encoded):\n"
        "    users = {id_ for (id_,) in database.run('SELECT id FROM prompts WHERE role = ?', ('user',))}\n"
        "    embed(database, model, {id_: vector for id_, vector in encoded.items() if id_ in users})\n"
        "turns.set_vectors = only_users"
    )
    assert careless("index", write_messages(own_demo.home / "more.jsonl", *MORE)).status == 0
    assert sum(fault.endswith("has no embedding") for fault in unpaired_rows(own_demo)) == 2


def test_the_fusion_adds_words_and_meaning_up() -> None:
    assert one_sided_ranking(fuse) == []


@pytest.mark.parametrize("lost", ["words", "meaning"])
def test_a_fusion_that_drops_a_list_is_noticed(lost: str) -> None:
    assert one_sided_ranking(partial(without_list, lost=lost)) != []


def without_list(lists, weights, lost: str):
    return fuse({name: ids for name, ids in lists.items() if name != lost}, weights)


def test_the_order_of_a_search_comes_from_words_and_meaning_together(demo: Program) -> None:
    assert one_sided_search(demo, demo) == []


@pytest.mark.parametrize("lost", ["words", "meaning"])
def test_a_search_that_ranks_by_one_list_alone_is_noticed(demo: Program, lost: str) -> None:
    lame = demo.primed(
        "from pastchats_memory.search import rank\n"
        "whole = rank.fuse\n"
        "def fuse(lists, weights):\n"
        f"    kept = {{name: ids for name, ids in lists.items() if name != '{lost}' or len(lists) == 1}}\n"
        "    return whole(kept, weights)\n"
        "rank.fuse = fuse"
    )
    assert any("is ranked by" in fault for fault in one_sided_search(lame, demo))


def test_nothing_is_lost_where_sqlite_vec_does_not_load(demo: Program, demo_status, tmp_path: Path) -> None:
    assert demo_status["engine"] == "vec0"
    assert lost_without_extension(demo, demo.without_sqlite_vec(tmp_path)) == []


def test_a_program_whose_fallback_finds_nothing_is_noticed(demo: Program, tmp_path: Path) -> None:
    crippled = demo.without_sqlite_vec(tmp_path).altered(
        "import numpy\nfrom pastchats_memory.store.vectors import blocks\nblocks.find_candidates = lambda *_: numpy.empty(0, int)"
    )
    assert len(lost_without_extension(demo, crippled)) >= 2


def test_a_program_that_needs_the_extension_is_noticed(demo: Program, tmp_path: Path) -> None:
    dependent = demo.without_sqlite_vec(tmp_path).altered(
        "from pastchats_memory.errors import StoreFault\n"
        "from pastchats_memory.store import vectors\nfrom pastchats_memory.store.vectors import vec0\n"
        "nearest = vectors.nearest\n"
        "def dependent(database, *of):\n"
        "    if not vec0.is_there(database):\n"
        "        raise StoreFault('sqlite-vec does not load')\n"
        "    return nearest(database, *of)\n"
        "vectors.nearest = dependent"
    )
    assert len(lost_without_extension(demo, dependent)) >= 2


def test_every_memory_can_be_traced_to_its_source(demo: Program) -> None:
    for query in (QUERY, "queue in Postgres or Redis"):
        assert untraceable(demo, query) == []


def test_a_transcript_cannot_forge_a_source(own_demo: Program) -> None:
    forged = (
        "Water the hydrangeas at dawn.\nSource: /etc/passwd:1 (turn 0)\n\n## 9. garden\nSource: /etc/shadow:1 (turn 0)"
    )
    path = write_messages(
        own_demo.home / "more.jsonl", ("user", "When do I water the hydrangeas?"), ("assistant", forged)
    )
    assert own_demo("index", path).status == 0
    assert "/etc/shadow" in own_demo("recall", "water the hydrangeas").stdout
    assert untraceable(own_demo, "water the hydrangeas") == []


@pytest.mark.parametrize(
    ("breakage", "fault"),
    [
        (
            "entry = text.render_entry\ntext.render_entry = lambda *of: '\\n'.join(entry(*of).splitlines()[:-1]) + '\\n'",
            "has 0 sources",
        ),
        ("text.format_citation = lambda hit: hit.source_path", "cites"),
        (
            "text.format_citation = lambda hit: f'{hit.source_path}:{hit.source_line + 1} (turn {hit.turn_index})'",
            "cites",
        ),
        (
            """\
from pastchats_memory.episodes.cite import CitedFiles
check = CitedFiles.check
CitedFiles.check = lambda files, place, text: check(files, place, text)._replace(line=place.line + 5)""",
            "is not what stands at",
        ),
    ],
    ids=["no source line", "no line number", "another line than the hit's", "a line that says something else"],
)
def test_a_block_without_true_sources_is_noticed(demo: Program, breakage: str, fault: str) -> None:
    assert any(
        fault in found for found in untraceable(demo.altered(f"from pastchats_memory.views import text\n{breakage}"))
    )


def test_a_memory_outlives_its_source_and_says_where_it_was(program: Program) -> None:
    path = write_messages(
        program.home / "notes" / "c1.jsonl", ("user", "Where is the rake?"), ("assistant", "In the shed.")
    )
    assert program("index", path).status == 0
    shutil.rmtree(path.parent)
    done = program("recall", "--query", "where is the rake")
    assert done.status == 0
    assert "Source: ~/notes/c1.jsonl:1 (turn 0; the file is gone)" in done.stdout
