"""Export and import of tasks: all or nothing, and every field is checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pastchats_memory import Memory
from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.memory.requests import task_filters
from pastchats_memory.model import STATUSES
from pastchats_memory.tasks.edit import Change


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "m.db") as opened:
        yield opened


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(
    lambda text: text.strip()
)
FIELDS = st.fixed_dictionaries(
    {"title": WORDS},
    optional={"description": WORDS, "status": st.sampled_from(STATUSES), "priority": st.sampled_from("01234"),
              "tags": st.lists(WORDS, max_size=3), "type": st.sampled_from(["epic", "task", "subtask"])},
)  # fmt: skip


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(FIELDS, st.lists(WORDS, max_size=2)), min_size=1, max_size=4))
def test_an_imported_export_is_the_same(tmp_path_factory: pytest.TempPathFactory, tasks: list) -> None:
    folder = tmp_path_factory.mktemp("exchange")
    with Memory.open(folder / "one.db") as one, Memory.open(folder / "two.db") as two:
        keys = []
        for fields, comments in tasks:
            keys.append(one.tasks.add(Change(**fields), keys[-1:]).key)
            for comment in comments:
                one.tasks.comment(keys[-1], comment, "ada")
        (folder / "note.txt").write_text("as it was", encoding="utf-8")
        one.tasks.attach(keys[0], folder / "note.txt")
        one.tasks.update(keys[-1], Change(status="done"))
        exported = list(one.tasks.export())
        assert two.tasks.import_lines(exported)["added"] == len(tasks)
        assert list(two.tasks.export()) == exported
        two.tasks.import_lines(exported)
        assert list(two.tasks.export()) == exported


def test_links_that_close_a_circle_are_left_out_and_counted(memory: Memory) -> None:
    one, two = memory.tasks.add(Change(title="Dig")).key, memory.tasks.add(Change(title="Pour")).key
    memory.tasks.update(two, Change(parent=one))
    memory.tasks.depend(two, [one])
    bodies = [json.loads(line) for line in memory.tasks.export()]
    back = [{**link, "target": bodies[1]["identity"], "name": two} for link in bodies[1]["links"]]
    lines = [json.dumps(body) for body in ({**bodies[0], "links": back}, bodies[1])]
    memory.tasks.delete(one)
    memory.tasks.delete(two)
    assert memory.tasks.import_lines(lines)["circles"] == 2
    assert [memory.tasks.get_task(key).parent for key in (one, two)] == [two, None]


@pytest.mark.parametrize("line", ["{broken", "[]", "{}", '{"key": 1}'])
def test_an_import_with_a_bad_line_changes_nothing(memory: Memory, line: str) -> None:
    memory.tasks.add(Change(title="Paint the fence"))
    good = next(iter(memory.tasks.export()))
    memory.tasks.delete("T-1")
    with pytest.raises(MemoryFault):
        memory.tasks.import_lines([good, line])
    assert memory.tasks.list_tasks(task_filters()) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", "\x1b[31mred"),
        ("type", "saga"),
        ("title", 5),
        ("tags", [None]),
        ("priority", 99),
        ("created_at", "some day"),
        ("links", [{"kind": "parent"}]),
        ("comments", [{"content": "Ok"}]),
        ("conversations", None),
    ],
)
def test_an_import_with_a_bad_field_is_refused_by_name(memory: Memory, field: str, value: object) -> None:
    memory.tasks.add(Change(title="Paint the fence"))
    body = json.loads(next(iter(memory.tasks.export())))
    memory.tasks.delete("T-1")
    with pytest.raises(UsageFault, match=f"line 1 of the import has no proper '{field}'"):
        memory.tasks.import_lines([json.dumps(body | {field: value})])
    assert memory.tasks.list_tasks(task_filters()) == []
