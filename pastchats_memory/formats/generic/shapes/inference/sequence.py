"""The rows of a table as they were meant in the end: pieces put together, what was corrected or taken back, in the order of being said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.formats.generic.shapes.inference.columns import PIECE, Row, columns_of, last_key
from pastchats_memory.formats.generic.shapes.naming import (
    CURRENT,
    DELETE,
    DELTA,
    EDIT,
    GONE,
    HIDDEN,
    KIND,
    NAMES,
    ORDERS,
    SPEAKER,
    TOOL,
    has,
    words_of,
)
from pastchats_memory.formats.generic.shapes.values import LONGEST_WORD, is_choice, is_prose
from pastchats_memory.text.dates import iso_utc

NEXT = frozenset({"next", "following", "successor", "then", "followed", "nexts", "child", "down"})
PARTS = frozenset({"part", "chunk", "segment", "piece", "fragment", "slice", "frame"})
REPLACED = frozenset({"by", "to", "with"})
"""In the name of a column that says which other row replaced this one."""
SEEN = frozenset({"visible", "shown", "public"})
STATES = frozenset({"status", "state", "visibility", "flag", "flags", "lifecycle", "disposition"})
FEWEST_PIECES = 2
FEWEST_LINKED = 2
OPENING = 20
"""Characters by which the whole of what came in pieces is known."""


def in_the_end(rows: list[Row], texts: Sequence[str]) -> list[Row]:
    """The rows that count, in their order: put together, corrected, without those that were taken back or that nobody saw.

    Args:
        rows: of one list, in the order of the file.
        texts: the columns with what is said, the best first.

    """
    whole = put_together(rows, texts)
    kept = _corrected(whole, texts)
    return [row for row in _latest(kept, texts) if not is_gone(row)]


def kinds_of(rows: Sequence[Row]) -> list[str]:
    """The columns that say of what kind a row is, or what it does."""
    found = {path: [v for v in values if isinstance(v, str)] for path, values in columns_of(rows).items()}
    return [
        path for path, told in found.items() if _tells_changes(told) or (has(last_key(path), KIND) and is_choice(told))
    ]


def _tells_changes(words: list[str]) -> bool:
    """Whether a column has words for adding to what was said, correcting it or taking it back."""
    different = set(words)
    short = all(len(word) <= LONGEST_WORD for word in different)
    return short and any(has(word, DELTA | EDIT | DELETE) for word in different)


def is_gone(row: Row) -> bool:
    """Whether a row says that it was taken back, or that nobody was to see it."""
    for path, value in row.items():
        name = last_key(path)
        words = set(words_of(name))
        if value is True and words & (GONE | HIDDEN):
            return not words & {"by", "un", "not"}
        if value is False and words & SEEN:
            return True
        if isinstance(value, str) and len(value) <= LONGEST_WORD and words & STATES and has(value, GONE):
            return True
        if words & DELETE and "at" in words and isinstance(value, str | int) and iso_utc(value):
            return True
    return False


def is_unseen(row: Row, kinds: Sequence[str]) -> bool:
    """Whether a row is of a kind that nobody is shown: a thought, a call of a tool, what came back."""
    values = [value for path in kinds if isinstance(value := row.get(path), str) and len(value) <= LONGEST_WORD]
    return any(has(value, HIDDEN | TOOL) for value in values)


def _text(row: Row, texts: Sequence[str]) -> str:
    return next((value for path in texts if isinstance(value := row.get(path), str) and value), "")


def streamed_in(rows: Sequence[Row]) -> str | None:
    """The column whose values are pieces of what was said, as kinds or names of columns tell, and prose only when put together."""
    kinds = kinds_of(rows)
    pieces = [row for row in rows if any(has(str(row.get(path)), DELTA) for path in kinds)]
    for path in columns_of(rows):
        told = [text for row in (rows if has(path, DELTA) else pieces) if isinstance(text := row.get(path), str)]
        if path not in kinds and len(told) > FEWEST_PIECES and is_prose("".join(told)) and not all(map(is_prose, told)):
            return path
    return None


def put_together(rows: list[Row], texts: Sequence[str]) -> list[Row]:
    """Pieces of one answer, as they were streamed, as one row each; without pieces of thoughts."""
    pieces, name = _pieces(rows, texts)
    known = set(map(id, pieces))
    kinds = kinds_of(rows)
    gathering = _Gathering(texts, name)
    for row in rows:
        if id(row) not in known:
            gathering.add_other(row)
        elif not is_unseen(row, kinds):
            gathering.add_piece(row)
    return gathering.finished()


def _pieces(rows: list[Row], texts: Sequence[str]) -> tuple[list[Row], str | None]:
    """The rows that are pieces, by their kind, the name of their text or the number of the part; and what pieces of one answer share."""
    kinds = kinds_of(rows)

    def is_piece(row: Row) -> bool:
        told = any(isinstance(value := row.get(path), str) and has(value, DELTA) for path in kinds)
        return (
            bool(_text(row, texts))
            and PIECE not in row
            and (told or any(has(path, DELTA) and row.get(path) for path in texts))
        )

    if pieces := [row for row in rows if is_piece(row)]:
        return pieces, _name_of_whole(pieces, texts, kinds)
    if any(PARTS & set(words_of(last_key(path))) for row in rows for path in row):
        pieces = [row for row in rows if _text(row, texts)]
        name = _name_of_whole(pieces, texts, kinds)
        return (pieces, name) if name else ([], None)
    return [], None


class _Gathering:
    """Rows while their pieces are put together: what is begun gets every further piece of its name."""

    def __init__(self, texts: Sequence[str], name: str | None) -> None:
        self._texts = texts
        self._name = name
        self._made: list[Row] = []
        self._wholes: list[tuple[Row, list[str]]] = []
        self._begun: dict[object, tuple[Row, list[str]]] = {}

    def _whose(self, row: Row) -> object:
        return row.get(self._name) if self._name else None

    def _begin(self, row: Row) -> tuple[Row, list[str]]:
        whole: tuple[Row, list[str]] = (row, [])
        self._wholes.append(whole)
        self._begun[self._whose(row)] = whole
        return whole

    def add_piece(self, row: Row) -> None:
        whole = self._begun.get(self._whose(row))
        if whole is None or _is_by_another(row, whole[0]):
            self._made.append(dict(row))
            whole = self._begin(self._made[-1])
        elif not whole[1]:
            whole[0].update(row)
        whole[1].append(_text(row, self._texts))

    def add_other(self, row: Row) -> None:
        """A row that has all of what was said in pieces, says more about it, announces it, or stands by itself."""
        said, whole = _text(row, self._texts), self._begun.get(self._whose(row))
        if whole and said and "".join(whole[1]).startswith(said[:OPENING]):
            whole[1][:] = [said]
        elif whole and self._name and not said:
            whole[0].update({path: value for path, value in row.items() if path not in whole[0]})
        else:
            self._made.append(dict(row))
            if said:
                self._begun.pop(self._whose(row), None)
            elif not self._name or self._whose(row) is not None:
                self._begin(self._made[-1])

    def finished(self) -> list[Row]:
        for row, said in self._wholes:
            if said:
                _set_text(row, self._texts, "".join(said))
                row[PIECE] = said[0]
        return self._made


def _is_by_another(row: Row, before: Row) -> bool:
    """Whether both rows say who speaks, and not the same."""
    return any(has(last_key(path), SPEAKER) and before.get(path, who) != who for path, who in row.items())


def _set_text(row: Row, texts: Sequence[str], text: str) -> None:
    for path in texts:
        row.pop(path, None)
    row[texts[0]] = text


def _name_of_whole(pieces: list[Row], texts: Sequence[str], kinds: Sequence[str]) -> str | None:
    """The column that pieces of one answer have in common, and those of another one have not."""
    for path, values in columns_of(pieces).items():
        told = [value for value in values if isinstance(value, str | int) and not isinstance(value, bool)]
        repeats = len(set(told)) < len(told)
        if (
            path not in (*texts, *kinds)
            and len(told) == len(pieces)
            and repeats
            and set(words_of(last_key(path))) & NAMES
        ):
            return path
    return None


def _corrected(rows: list[Row], texts: Sequence[str]) -> list[Row]:
    """The rows after each that corrects or takes back another one, or names the one that replaced it, by its id, has done so."""
    kinds, columns = kinds_of(rows), columns_of(rows)
    changed = {path: set(words_of(last_key(path))) for path in columns if has(last_key(path), EDIT)}
    pointing = [path for path, words in changed.items() if not words & REPLACED]
    own = [values for values in columns.values() if len(set(map(str, values))) == len(rows)]
    ids = {str(value) for values in own for value in values if value is not None}
    rows = _without_replaced(rows, [path for path in changed if path not in pointing], ids)
    kept: list[Row] = []
    for row in rows:
        told = [value for path in kinds if isinstance(value := row.get(path), str)]
        edits, deletes = any(has(v, EDIT) for v in told), any(has(v, DELETE) for v in told)
        points = [
            row[path] for path in pointing if isinstance(row.get(path), str | int) and not isinstance(row[path], bool)
        ]
        at = _meant(row, kept, points) if edits or deletes or points else None
        if at is None:
            kept.append(row)
        elif deletes:
            del kept[at]
        elif text := _text(row, texts):
            _set_text(kept[at], texts, text)
            kept[at].pop(PIECE, None)
    return kept


def _without_replaced(rows: list[Row], naming: Sequence[str], ids: set[str]) -> list[Row]:
    """The rows without those that name another one by which they were replaced; with such a one if others than that go on from it."""
    heirs = {at: str(row[path]) for at, row in enumerate(rows) for path in naming if str(row.get(path)) in ids}
    own, before = (_links(rows) if heirs else None) or ([], [])
    followed = {link for mine, link in zip(own, before, strict=True) if mine not in heirs.values()}
    return [row for at, row in enumerate(rows) if at not in heirs or (own and own[at] in followed)]


def _meant(row: Row, kept: list[Row], points: list[object]) -> int | None:
    """The place of the latest row that shares an id with this one."""
    own = points or [
        v for path, v in row.items() if set(words_of(last_key(path))) & (NAMES | EDIT | DELETE) and v is not None
    ]
    ids = {
        str(value)
        for value in own
        if isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) <= LONGEST_WORD
    }
    for at in range(len(kept) - 1, -1, -1):
        named = {
            str(v)
            for path, v in kept[at].items()
            if set(words_of(last_key(path))) & NAMES and isinstance(v, str | int) and not isinstance(v, bool)
        }
        if ids & named and not _shared_by_all(ids & named, kept):
            return at
    return None


def _shared_by_all(ids: set[str], kept: list[Row]) -> bool:
    return all(ids & {str(v) for v in row.values()} for row in kept)


def _latest(rows: list[Row], texts: Sequence[str]) -> list[Row]:
    """Of rows with one id, each of which has the text of the one before and more, the last."""
    for path, values in columns_of(rows).items():
        if (
            not set(words_of(last_key(path))) & NAMES
            or len(set(map(str, values))) in (1, len(values))
            or None in values
        ):
            continue
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(str(row[path]), []).append(row)
        grow = [
            all(_text(after, texts).startswith(_text(before, texts)) for before, after in pairwise(group))
            for group in groups.values()
            if len(group) > 1
        ]
        if grow and all(grow):
            return [group[-1] for group in groups.values()]
    return rows


def order_of(rows: Sequence[Row], around: Row) -> tuple[list[int], frozenset[int]]:
    """The places of the rows in the order in which they were said, and those on branches that were left.

    By links to the one before or behind, else by numbers or times that are all different and do not rise already.
    """
    if links := _links(rows):
        own, before = links
        ids = set(own)
        current = next((str(v) for k, v in around.items() if has(last_key(k), CURRENT) and str(v) in ids), None)
        children: dict[str | None, list[int]] = {}
        for place, link in enumerate(before):
            children.setdefault(link if link in ids else None, []).append(place)
        order: list[int] = []
        stack = list(reversed(children.get(None, [])))
        while stack:
            place = stack.pop()
            order.append(place)
            stack.extend(reversed(children.get(own[place], [])))
        if len(order) == len(rows):
            forks = any(len(group) > 1 for link, group in children.items() if link is not None)
            if forks and current is None:
                current = own[order[-1]]
            left = abandoned_places(list(zip(own, before, strict=True)), current) if forks else frozenset()
            return order, left
    for values in _orders(rows):
        if any(before > after for before, after in pairwise(values)):
            return sorted(range(len(rows)), key=values.__getitem__), frozenset()
        break
    return list(range(len(rows))), frozenset()


def _links(rows: Sequence[Row]) -> tuple[list[str], list[str | None]] | None:
    """Each row's id and that of the row before it, where one column names rows of another."""
    found = {path: names for path, values in columns_of(rows).items() if (names := _names_in(values))}
    unique = {path: ids for path, ids in found.items() if None not in ids and len(set(ids)) == len(ids) > FEWEST_LINKED}
    for ids in unique.values():
        own = [str(name) for name in ids]
        for path, values in found.items():
            if path in unique or _numbers_rows(last_key(path)) or not _is_chain(own, values):
                continue  # a number that begins anew in each conversation names rows of the first
            if NEXT & set(words_of(last_key(path))):
                behind = {value: mine for value, mine in zip(values, own, strict=True) if value}
                return own, [behind.get(mine) for mine in own]
            return own, values
    return None


def _names_in(values: Sequence[object]) -> list[str | None]:
    """The values of a column that may name rows; none of a column with anything else in it."""
    names = [None if value in (None, "") else str(value) for value in values]
    plain = all(value is None or (isinstance(value, str | int) and not isinstance(value, bool)) for value in values)
    return names if plain else []


def _is_chain(own: list[str], values: list[str | None]) -> bool:
    """Whether nearly all values name another row."""
    known = set(own)
    told = [value for value in values if value in known]
    return len(values) - max(1, len(values) // 5) <= len(told) < len(values)


def _numbers_rows(name: str) -> bool:
    """Whether a name is that of a row's number: `turn`, `message_no`, `seq_id`, but not `turn_budget`, of which less is left each time."""
    words = words_of(name)
    return bool(words) and (words[-1] in ORDERS or (words[0] in ORDERS and words[-1] in NAMES))


def _orders(rows: Sequence[Row]) -> list[list[float]]:
    """Columns by which rows can be ordered: their numbers, then their times."""
    numbers, times = [], []
    for path, values in columns_of(rows).items():
        plain: list[float] = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        if _numbers_rows(last_key(path)) and len(plain) == len(values) == len(set(plain)):
            numbers.append(plain)
        moments = [iso_utc(v) for v in values]
        if len(set(moments)) == len(values) > 1 and None not in moments:
            times.append([float(sorted(map(str, moments)).index(str(m))) for m in moments])
    return numbers + times
