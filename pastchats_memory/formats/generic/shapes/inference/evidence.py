"""Conversations in a JSON value of which no key is known: by what its columns look like, once everything is a table.

A table is one of talk where several kinds of evidence come together: who speaks (by words, by what the document says of
its speakers), turns that alternate, questions that are answered, names of columns and places. None of them alone is enough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pastchats_memory.formats.base.source import Json
from pastchats_memory.formats.generic.shapes.inference.columns import PIECE, Row, columns_of, last_key, row_of
from pastchats_memory.formats.generic.shapes.inference.parties import SUPPOSED, TOLD, Document, sides_of
from pastchats_memory.formats.generic.shapes.inference.references import with_texts
from pastchats_memory.formats.generic.shapes.inference.sequence import (
    SEEN,
    in_the_end,
    is_unseen,
    kinds_of,
    order_of,
    put_together,
    streamed_in,
)
from pastchats_memory.formats.generic.shapes.inference.tables import KEY, Instance, Table, tables_of
from pastchats_memory.formats.generic.shapes.lookalikes import are_entries, is_labelled, is_logged, is_recorded
from pastchats_memory.formats.generic.shapes.naming import (
    DELTA,
    EXAMS,
    HIDDEN,
    KIND,
    NEVER_SPOKEN,
    NOT_A_SPEAKER,
    NOT_SPOKEN,
    OTHER_TALK,
    SIDES,
    SIGNS,
    SPEAKER,
    TALK,
    TEXT,
    has,
    side_of,
    words_of,
)
from pastchats_memory.formats.generic.shapes.values import asks, is_choice, is_prose, may_hold_prose, prose_share
from pastchats_memory.formats.generic.speakers import known_role
from pastchats_memory.text.timestamps import iso_utc

MADE_OF_ROWS = (("#rows",), ("#columns",))
"""Ends of the places of tables whose records are no objects of the document."""
FIRST, SECOND = "#0", "#1"
"""Columns of rows that nothing names."""
SAMPLE = 200
"""Rows of a table by which it is judged."""
FEWEST = 2
ENOUGH = 6
"""Points of evidence that make a table talk."""
MOST_TEXTS = 4
LEAST_PROSE = 0.34
OFTEN = 0.7


@dataclass(frozen=True, slots=True)
class Spoken:
    """One thing that was said."""

    role: str
    text: str
    piece: str
    """Its beginning as the file has it."""
    row: Row
    is_left: bool = False
    """On a branch that was left."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What one list says."""

    spoken: tuple[Spoken, ...]
    around: Json
    role_key: str
    """The column that says who speaks; "" where the names of the columns of texts do."""
    texts: tuple[str, ...]
    is_amended: bool
    """What was said is not just the rows of the list, one after the other."""
    first: int = 0
    """The place, among all, of the talk that this one goes on from; its own where it begins."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table stands: the keys down to it, and those of the plain values around, with `chat` for a program that talks."""

    keys: tuple[str, ...]
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a table: which columns are the texts, and who says each."""

    points: int
    texts: tuple[str, ...]
    speaker: str = ""
    """The column of the words for who speaks; without one the names of the columns say it."""
    sides: tuple[tuple[object, str], ...] = ()
    """Who speaks, for each of the words or columns."""


def talks_of(value: object) -> list[Talk]:
    """All talk in the value, in the order of the file; nothing where too little speaks for any."""
    if not may_hold_prose(value):
        return []
    tables = tables_of(value)
    made = (
        record
        for one in tables
        if one.place[-1:] in MADE_OF_ROWS
        for each in one.instances
        for record in each.records
        if FIRST not in record
    )
    document = Document(value, made)
    found: list[tuple[Reading, Table]] = []
    listed = {one.place for one in tables if any(len(each.records) > 1 for each in one.instances)}
    for table in with_texts(tables):
        reading = reading_of(table, document)
        if reading and not _are_within(reading, table, listed):
            found.append((reading, table))
    if not found:
        return []
    best = max((reading for reading, _ in found), key=lambda reading: reading.points)
    alike = [(r, table) for r, table in found if (r.texts, r.speaker) == (best.texts, best.speaker)]
    return list(_without_repeats(_told(instance, r) for r, table in alike for instance in table.instances))


def reading_of(table: Table, document: Document) -> Reading | None:
    """The way to read the table for which most speaks, or None where that is too little."""
    rows = _sample_of(table)
    texts = _text_columns(rows)
    if not texts:
        return None
    usual = [last_key(path) for path, values in columns_of(rows).items() if values.count(None) * 2 < len(values)]
    beside = {path: values for path, values in columns_of(rows).items() if _is_beside(path, texts)}
    if is_recorded(usual) or is_labelled(beside):
        return None
    doubt = 3 if is_logged(usual) else 0
    place = Place(table.place, (*table.instances[0].around, *(["chat"] if document.has_a_program else [])))
    best = max(
        [
            *_by_speakers(rows, texts, document, place),
            *_by_columns(rows, texts, document, place),
        ],
        key=lambda reading: (reading.points, has(last_key(reading.speaker), SPEAKER)),
        default=None,
    )
    return best if best and best.points >= ENOUGH + doubt else None


def _are_within(reading: Reading, table: Table, listed: set[tuple[str, ...]]) -> bool:
    """Whether both sides of an exchange come from a list in the row, of which each record is an exchange of its own."""
    above = {tuple(path.split(".")[:-1]) for path in reading.texts}
    return not reading.speaker and len(above) == 1 and () not in above and (*table.place, *above.pop()) in listed


def _is_beside(path: str, texts: Sequence[str]) -> bool:
    """Whether a column stands beside a text or around it, and not in an object of something else."""
    return any(text.startswith(path.removesuffix(last_key(path))) for text in texts)


def _sample_of(table: Table) -> list[Row]:
    """Rows to judge the table by: what was streamed is put together, and what contexts repeat as they grow is there once."""
    rows = [row_of(record) for instance in table.instances for record in instance.records[:SAMPLE]][:SAMPLE]
    if pieces := streamed_in(rows):
        texts = [pieces, *_text_columns(rows)]
        rows = [
            row for instance in table.instances for row in put_together([row_of(r) for r in instance.records], texts)
        ][:SAMPLE]
    return list({tuple(row.items()): row for row in rows if row}.values())


def _text_columns(rows: Sequence[Row]) -> list[str]:
    """The columns in which somebody may have said something, those that look most like it first."""
    worth = {}
    for path, values in columns_of(rows).items():
        share = prose_share(values)
        words = set(words_of(last_key(path))) or {path}
        named = bool(words & TEXT) or has(path, DELTA) or side_of(last_key(path)) in SIDES
        told = [value for value in values if isinstance(value, str) and value.strip()]
        if words & NEVER_SPOKEN or not told or path in (KEY, PIECE):
            continue
        if share >= LEAST_PROSE:
            length = sum(map(len, told)) / len(told)
            worth[path] = (not words & NOT_SPOKEN, named, share * len(told) / len(rows), min(length, 400))
    return sorted(worth, key=lambda path: worth[path], reverse=True)[: 2 * MOST_TEXTS]


def _by_speakers(rows: list[Row], texts: list[str], document: Document, place: Place) -> Iterator[Reading]:
    """Readings in which a column has words for who speaks."""
    main = texts[0]
    exclusive = [main]
    for path in texts[1:]:
        if (
            not any(row.get(path) and any(row.get(other) for other in exclusive) for row in rows)
            and len(exclusive) < MOST_TEXTS
        ):
            exclusive.append(path)
    whole = in_the_end(rows, exclusive)
    whole = [whole[at] for at in order_of(whole, {})[0]]
    kinds = kinds_of(whole)
    for path in columns_of(rows):
        words = set(words_of(last_key(path))) | set(words_of(path.split(".")[0]))
        others = [kind for kind in kinds if kind != path]
        said = [
            row for row in whole if _said(row, exclusive) and row.get(path) is not None and not is_unseen(row, others)
        ]
        told, spoken = [row[path] for row in said], [_said(row, exclusive) for row in said]
        if len(set(map(str, told))) < FEWEST or not is_choice(told):
            continue
        sides = sides_of(told, spoken, document, last_key(path), last_key(main))
        speaks = bool(set(words_of(path)) & (SPEAKER | KIND))
        if words & NOT_A_SPEAKER and not speaks:
            continue
        tells = all(isinstance(word, bool) for word in told) or (
            path == FIRST and len(told) == len(rows) and all(map(known_role, map(str, told)))
        )
        points = _points_of_sides(sides, told, is_named=speaks or tells)
        points += _points_of_turns([sides.get(word, (str(word), 0))[0] for word in told], spoken)
        spelled = [word for word in sides if isinstance(word, str)]
        points += _points_of_names(exclusive[0], replace(place, beside=(*place.beside, *spelled)))
        yield Reading(points, tuple(exclusive), path, tuple((word, side) for word, (side, _) in sides.items()))


def _points_of_sides(sides: dict[object, tuple[str, int]], told: list[object], *, is_named: bool) -> int:
    """How far it is known who the speakers are."""
    sure = {side for side, certainty in sides.values() if certainty >= TOLD} & SIDES
    supposed = {side for side, certainty in sides.values() if certainty == SUPPOSED}
    count = 4 if len(sure) == len(SIDES) else 2 if sure and supposed else 1 if len(supposed) == len(SIDES) else 0
    if not {side for side, _ in sides.values()} >= SIDES:
        return -ENOUGH
    of_all = sum(word in sides for word in told) / len(told)
    return (count if of_all >= OFTEN else count - 2) + (1 if is_named else 0)


SHORTEST_TALK = 4
"""Turns below which it says little that they alternate: two or three may be anything."""
MOSTLY, SELDOM = 0.5, 0.2
"""Shares of turns behind which another one goes on."""


def _points_of_turns(sides: list[str], spoken: list[str]) -> int:
    """Turns that alternate, and questions that another one goes on from."""
    changes = [before != after for before, after in pairwise(sides)]
    share = sum(changes) / max(1, len(changes))
    is_long = len(sides) >= SHORTEST_TALK
    points = 2 if is_long and share == 1 else 1 if share >= MOSTLY else 0 if share >= SELDOM else -2
    points -= not is_long
    asked = any(asks(text) and changed for text, changed in zip(spoken, changes, strict=False))
    return points + (1 if asked else -1)


def _points_of_names(text: str, place: Place) -> int:
    points = 1 if has(last_key(text), TEXT | DELTA) else 0
    points += 1 if any(has(key, TALK) for key in (*place.keys, *place.beside)) else 0
    elsewhere = any(has(key, OTHER_TALK) for key in place.keys[-2:])
    return points - (4 if elsewhere else 0) - _points_off(text)


def _points_off(text: str) -> int:
    """For a column that is seldom what was said."""
    return 2 if set(words_of(last_key(text))) & NOT_SPOKEN else 0


def _said(row: Row, texts: Sequence[str]) -> str:
    return next((value.strip() for path in texts if isinstance(value := row.get(path), str) and value.strip()), "")


def _by_columns(rows: list[Row], texts: list[str], document: Document, place: Place) -> Iterator[Reading]:
    """Readings in which the name of a column says who speaks: both sides in a row, or one of them in each."""
    named = {path: side for path in texts if (side := document.side_of_column(path)) in SIDES}
    users = [path for path in named if named[path] == "user"]
    others = [path for path in named if named[path] == "assistant"]
    known = bool(users and others)
    if users or others:
        rest = [path for path in texts if path not in named and _may_be_other(path, (*users, *others), rows)]
        users, others = users or rest[:1], others or rest[:1]
        named |= dict.fromkeys(users, "user") | dict.fromkeys(others, "assistant")
    if not users or not others:
        yield from _by_place(rows, texts, place)
        return
    user, other = users[0], others[0]
    sides = [(bool(row.get(user)), bool(row.get(other))) for row in rows]
    both = sides.count((True, True)) / sum(map(any, sides))
    told = [(named[path], said) for row in rows for path in (user, other) if (said := _said(row, (path,)))]
    if both and are_entries([row.get(KEY) for row in rows]):
        return
    keys = {word for row in rows for path in row for word in words_of(path)}
    is_exam = bool(keys & EXAMS) or "answer_start" in {last_key(path) for row in rows for path in row}
    beside = replace(place, beside=(*place.beside, user, other))
    points = 2 + (known and (1 + (both == 0))) + (bool(keys & SIGNS) or _is_dated(rows)) - 3 * is_exam
    points += _points_of_turns([side for side, _ in told], [text for _, text in told]) + _points_of_names("", beside)
    points -= _points_off(user) + _points_off(other)
    yield Reading(points, (user, other), "", ((user, "user"), (other, "assistant")))


def _may_be_other(path: str, named: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether a column may be of the side that no name tells: its name is that of a text, or it never stands beside the other side."""
    beside = any(row.get(path) and any(row.get(other) for other in named) for row in rows)
    return bool(set(words_of(last_key(path))) & TEXT) or not beside


def _is_dated(rows: Sequence[Row]) -> bool:
    return any(all(map(iso_utc, values)) for values in columns_of(rows).values())


def _by_place(rows: list[Row], texts: list[str], place: Place) -> Iterator[Reading]:
    """Pairs of texts of which only the place says who speaks, in a list that is named a talk or asks somewhere within one."""
    if set(texts) != {FIRST, SECOND} or any(len(row) > len(texts) for row in rows):
        return
    near = place.keys if any(asks(row.get(path)) for row in rows for path in texts) else place.keys[-2:]
    if any(has(key, TALK | SEEN) or side_of(key) == "assistant" for key in near):
        yield Reading(ENOUGH + 1, (FIRST, SECOND), "", ((FIRST, "user"), (SECOND, "assistant")))


def _told(instance: Instance, reading: Reading) -> Talk:
    """What one list says by the reading of its table."""
    found = [row for record in instance.records if (row := row_of(record))]
    rows = in_the_end(found, reading.texts)
    kinds = [path for path in kinds_of(rows) if path != reading.speaker]
    thinking = {word for row in rows if isinstance(word := row.get(reading.speaker), str) and has(word, HIDDEN)}
    order, left = order_of(rows, row_of(instance.around))
    sides = dict(reading.sides)
    spoken: list[Spoken] = []
    unseen = 0
    for at in order:
        row = rows[at]
        if reading.speaker and (is_unseen(row, kinds) or row.get(reading.speaker) in thinking):
            unseen += bool(_said(row, reading.texts))
            continue
        if reading.speaker:
            word = row.get(reading.speaker)
            pairs = (
                [(sides.get(word, str(word).strip().lower()), _said(row, reading.texts))] if word is not None else []
            )
        else:
            pairs = [(sides[path], _said(row, (path,))) for path in reading.texts]
        for role, text in pairs:
            if text and role:
                spoken.append(Spoken(role, text, str(row.get(PIECE) or text), row, at in left))
    beside = list(_beside(instance, {one.text for one in spoken}))
    is_amended = (
        bool(beside or left or instance.is_joined) or len(rows) < len(found) or order != sorted(order) or unseen > 0
    )
    return Talk((*spoken, *beside), instance.around, reading.speaker, reading.texts, is_amended)


def _beside(instance: Instance, already: set[str]) -> Iterator[Spoken]:
    """What was asked and answered beside a list that has what was said before."""
    said = {
        side: [
            text.strip()
            for path, text in instance.holder.items()
            if isinstance(text, str)
            and is_prose(text)
            and side_of(path) == side
            and not set(words_of(path)) & NOT_SPOKEN
        ]
        for side in ("user", "assistant")
    }
    if all(len(texts) == 1 for texts in said.values()):
        yield from (Spoken(side, text, text, {}) for side, (text,) in said.items() if text not in already)


def _without_repeats(talks: Iterator[Talk]) -> Iterator[Talk]:
    """Each talk without what an earlier one says from its beginning to its end, as contexts grow."""
    ended: dict[int, dict[tuple[tuple[str, str], ...], int]] = defaultdict(dict)
    """What was said, by its length: only what is as long as an earlier talk is compared. And with which talk that began."""
    count = 0
    for talk in talks:
        path = [place for place, one in enumerate(talk.spoken) if not one.is_left]
        said = tuple((talk.spoken[place].role, talk.spoken[place].text) for place in path)
        known = next((end for end in sorted(ended, reverse=True) if said[:end] in ended[end]), 0)
        first = ended[known][said[:known]] if known else count
        ended[len(said)].setdefault(said, first)
        if fresh := talk.spoken[path[known - 1] + 1 :] if known else talk.spoken:
            yield replace(talk, spoken=fresh, first=first)
            count += 1
