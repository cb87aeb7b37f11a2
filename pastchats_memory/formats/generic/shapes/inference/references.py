"""Tables whose records name what is said by an id under which it stands in another table, as stores with parts of their own keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pastchats_memory.formats.base.source import Json
from pastchats_memory.formats.generic.shapes.inference.columns import MADE, Row, columns_of, last_key, row_of
from pastchats_memory.formats.generic.shapes.inference.tables import STORE, Instance, Table
from pastchats_memory.formats.generic.shapes.values import is_word, prose_share

SAMPLE = 200
"""Records of a table by which it is judged whether anything is said in it."""
HELD = MADE + "→"
"""Behind the name of an id: all that stands under it."""


def with_texts(tables: Sequence[Table]) -> list[Table]:
    """The tables; each in which nothing is said, and whose records all name a record in which something is, with that record's fields."""
    rows = [
        [row_of(record) for each in table.instances for record in each.records[:SAMPLE]][:SAMPLE] for table in tables
    ]
    talking = [any(prose_share(values) > 0 for values in columns_of(some).values()) for some in rows]
    stores = [by_id for table, speaks in zip(tables, talking, strict=True) if speaks for by_id in _by_id(table)]
    return [
        table if speaks else _resolved(table, some, stores)
        for table, some, speaks in zip(tables, rows, talking, strict=True)
        if table.place[-1:] != (STORE,)
    ]


def _by_id(table: Table) -> list[dict[str, Json]]:
    """The records of a table by each column of which every one has a value of its own."""
    records = [record for each in table.instances for record in each.records]
    found = []
    for values in columns_of(records).values():
        ids = [str(value) for value in values if is_word(value)]
        if len(ids) == len(set(ids)) == len(records) > 1:
            found.append(dict(zip(ids, records, strict=True)))
    return found


def _resolved(table: Table, rows: Sequence[Row], stores: Sequence[dict[str, Json]]) -> Table:
    for path, values in columns_of(rows).items():
        names = [str(value) for value in values if is_word(value)]
        if not len(names) == len(set(names)) == len(rows) > 1:
            continue
        if store := next((by_id for by_id in stores if all(name in by_id for name in names)), None):
            return replace(table, instances=[_with_held(each, path, store) for each in table.instances])
    return table


def _with_held(instance: Instance, path: str, store: dict[str, Json]) -> Instance:
    name = last_key(path) + HELD
    named = [(record, store.get(str(row_of(record).get(path)))) for record in instance.records]
    return replace(instance, records=[{**record, name: held} if held else record for record, held in named])
