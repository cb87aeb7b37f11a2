"""Find every stored text that contains given words: in contents, in metadata, and in the names of files and projects."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from pastchats_memory.model import NO_FILTERS
from pastchats_memory.store import fulltext
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.visible import KINDS
from pastchats_memory.store.word_rows import quote
from pastchats_memory.text.words import FUNCTION_WORDS, words

OWN_KEYS = frozenset({"format", "branch", "kind", "flags", "ts_source"})
"""Keys of metadata whose values are words of this program."""
NAME_KEYS = frozenset({"native_id", "model", "git_branch", "cwd"})
"""Keys of metadata whose values are names. A search finds them, but a row is not chosen for a name."""
TEXTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "turns": ("prompts", ("content", "metadata_json")),
    "tasks": ("tasks", ("title", "description", "native_id", "key", "status_raw", "tags_json", "metadata_json")),
    "comments": ("task_comments", ("content", "author")),
    "attachments": ("task_attachments", ("name", "content")),
}
"""Table and columns of the text of a row, by kind."""
PREFIXES = {"turns": "", "tasks": "t:", "comments": "c:", "attachments": "a:"}
WITHOUT_NAMES = frozenset({
    "task_texts", "prompt_embeddings", "task_embeddings", "next_vectors", "outcomes", "outcomes_due", "replies", "middles", "embedding_meta",
    "live_events", "judgements", "known_failures", "recalled", "recalled_sources",
})  # fmt: skip
"""Tables that repeat texts of other tables, or have none."""
OWN_WORDS = frozenset({"resume", "role", "type", "status", "kind", "recipe", "format", "model", "outcome"})
"""Columns with words of this program, and the checkpoints that `clear_checkpoints` clears."""
MAX_RARE_WORDS = 50
MAX_LOOKED_UP = 500
"""Most words that are looked up; the longest ones, since these are seldom common."""
MAX_OTHER_ROWS = 3
"""Most rows that stay and have a rare word."""
LEAST_LETTERS = 4

Ids = dict[str, list[int]]
"""Ids of rows by kind, as in TEXTS."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that still has words of a forgotten text."""

    place: str
    """An id, such as `12` or `t:KEY`; else the table and column, such as `sources.path`."""
    words: tuple[str, ...]
    names: int = 0
    """Number of names in the column; 0 for a row with an id, which can be forgotten."""


class WordSearch:
    """Looks for words, and for one phrase, in texts."""

    def __init__(self, wanted: Sequence[str], phrase: str = "") -> None:
        self.words = tuple(wanted)
        self.phrase = _fold(phrase)
        self._folded = {word: _fold(word) for word in wanted}
        self._whole = {word: re.compile(rf"(?<![^\W_]){re.escape(_fold(word))}(?![^\W_])") for word in wanted}

    def find_whole(self, text: str) -> set[str]:
        """Return the words that occur as words of the text; all of them if the phrase occurs."""
        folded = _fold(text)
        if self.phrase and self.phrase in folded:
            return {*self.words, self.phrase}
        return {word for word in self._parts(folded) if self._whole[word].search(folded)}

    def find_parts(self, text: str) -> set[str]:
        """Return the words that occur in the text; long words also as parts of other words."""
        folded = _fold(text)
        return {word for word in self._parts(folded) if len(word) > LEAST_LETTERS or self._whole[word].search(folded)}

    def _parts(self, folded: str) -> set[str]:
        return {word for word, part in self._folded.items() if part in folded}


def _fold(text: str) -> str:
    folded = text.casefold()
    return folded if unicodedata.is_normalized("NFKC", folded) else unicodedata.normalize("NFKC", folded)


def find_rows(database: Database, search: WordSearch) -> Ids:
    """Return the rows that contain all the words, or the phrase.

    Words of contents are compared as the full-text index compares them, other words letter by letter.
    """
    indexed = {word: _indexed_rows(database, word) for word in search.words}
    wanted = {*search.words} or {search.phrase}
    found: Ids = {kind: [] for kind in KINDS}
    for kind in KINDS:
        for id_, texts in _texts(database, kind, OWN_KEYS | NAME_KEYS):
            missing = wanted.difference(*map(search.find_whole, texts))
            if all(word in indexed and id_ in indexed[word][kind] for word in missing):
                found[kind].append(id_)
    return found


def _indexed_rows(database: Database, word: str) -> dict[str, set[int]]:
    ids = fulltext.find_phrase(database, word, NO_FILTERS).tolist()
    rows = database.run(
        f"SELECT task_id, comment_id, attachment_id FROM visible_task_texts WHERE id IN {LISTED}", (bind_list(ids),)
    )
    return {
        "turns": set(ids),
        "tasks": {task for task, comment, attachment in rows if comment is None and attachment is None},
        "comments": {comment for _, comment, _ in rows if comment is not None},
        "attachments": {attachment for _, _, attachment in rows if attachment is not None},
    }


def find_mentions(database: Database, search: WordSearch, covered: Mapping[str, Collection[int]]) -> list[Mention]:
    """Return the places with any of the words, but not the covered rows."""
    mentions = []
    for kind in KINDS:
        chosen = set(covered[kind])
        for id_, texts in _texts(database, kind, OWN_KEYS):
            if id_ not in chosen and (found := set().union(*map(search.find_parts, texts))):
                key = "SELECT key FROM visible_tasks WHERE id = ?"
                shown = database.value(key, (id_,)) if kind == "tasks" else id_
                mentions.append(Mention(f"{PREFIXES[kind]}{shown}", tuple(sorted(found))))
    return mentions + [
        one for name, column in _name_columns(database) if (one := _find_names(database, search, name, column))
    ]


def _find_names(database: Database, search: WordSearch, table: str, column: str) -> Mention | None:
    names = database.rows(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL")
    found = [parts for (name,) in names if (parts := search.find_parts(str(name)))]
    return Mention(f"{table}.{column}", tuple(sorted(set().union(*found))), len(found)) if found else None


def clear_checkpoints(database: Database, search: WordSearch) -> None:
    """Clear the reading states with any of the words, inside the caller's transaction; their files are read again."""
    states = database.run("SELECT id, resume FROM sources WHERE resume IS NOT NULL")
    found = [(id_,) for id_, resume in states if search.find_parts(resume)]
    database.run_many("UPDATE sources SET resume = NULL WHERE id = ?", found)


def find_rare_words(database: Database, chosen: Mapping[str, Collection[int]]) -> list[str]:
    """Return the words of the chosen rows that at most MAX_OTHER_ROWS others have, the rarest first."""
    texts = [
        text
        for kind in KINDS
        for id_, of_row in _texts(database, kind, OWN_KEYS | NAME_KEYS, chosen[kind])
        for text in of_row
    ]
    rare: list[tuple[int, str]] = []
    most = sum(map(len, chosen.values())) + MAX_OTHER_ROWS
    long_words = sorted(words(" ".join(texts)), key=len, reverse=True)[:MAX_LOOKED_UP]
    for word in long_words:
        if len(word) < LEAST_LETTERS or word in FUNCTION_WORDS or _is_common(database, word, most):
            continue
        rows = _indexed_rows(database, word)
        others = sum(len(rows[kind].difference(chosen[kind])) for kind in KINDS)
        if others <= MAX_OTHER_ROWS:
            rare.append((others, word))
    return [word for _, word in sorted(rare)[:MAX_RARE_WORDS]]


def _is_common(database: Database, word: str, most: int) -> bool:
    """Return whether a full-text index has a word in more than `most` rows."""
    return any(
        len(database.run(f"SELECT 1 FROM {index} WHERE {index} MATCH ? LIMIT ?", (quote(word), most + 1))) > most
        for index in ("prompts_fts", "task_texts_fts")
    )


def _texts(
    database: Database, kind: str, without: Collection[str], ids: Collection[int] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the id and all the texts of each row of a kind, or of the named ones; `without` some keys of metadata."""
    table, columns = TEXTS[kind]
    where = "" if ids is None else f"WHERE id IN {LISTED}"
    for id_, *values in database.rows(
        f"SELECT id, {', '.join(columns)} FROM visible_{table} {where}", () if ids is None else (bind_list(ids),)
    ):
        pairs = zip(columns, values, strict=True)
        yield id_, [text for column, value in pairs if value for text in _parse_column(column, value, without)]


def _parse_column(column: str, value: str, without: Collection[str]) -> Iterator[str]:
    if not column.endswith("_json"):
        yield value
        return
    parsed = orjson.loads(value)
    shown = [one for key, one in parsed.items() if key not in without] if isinstance(parsed, dict) else parsed
    yield from _flatten(shown)


def _flatten(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value; keys are texts, too, since a file may have chosen them."""
    if isinstance(value, list):
        for one in value:
            yield from _flatten(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _flatten(one)
    elif value is not None:
        yield str(value)


def _name_columns(database: Database) -> list[tuple[str, str]]:
    """Return table and column of every other text in a table that is not derived."""
    own = {(table, column) for table, columns in TEXTS.values() for column in columns}
    return [
        (table, column)
        for table, column in database.run(
            "SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c "
            "WHERE t.schema = 'main' AND t.type = 'table' AND c.type = 'TEXT' AND t.name NOT LIKE 'sqlite%' ORDER BY 1, 2"
        )
        if (table, column) not in own
        and table not in WITHOUT_NAMES
        and column not in OWN_WORDS
        and not column.endswith("hash")
    ]
