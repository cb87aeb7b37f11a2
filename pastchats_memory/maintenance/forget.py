"""Choose rows to forget, preview them, delete them for good, and keep them from being indexed again."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pastchats_memory.errors import UsageFault
from pastchats_memory.fields import Count
from pastchats_memory.model import Filters
from pastchats_memory.model.ids import ATTACHMENT, COMMENT, TASK, number_of
from pastchats_memory.store import deletion, mentions, task_rows, tombstones
from pastchats_memory.store.database import Database
from pastchats_memory.store.deletion import ChosenRows, PreviewRow, RowCriteria
from pastchats_memory.store.mentions import Ids, Mention, WordSearch
from pastchats_memory.store.tombstones import Forgetting
from pastchats_memory.text.words import FUNCTION_WORDS, words

MAX_PREVIEW_ROWS = 1000
MAX_SEARCHED_ROWS = 64
"""Most chosen rows whose rare words are looked for elsewhere. Many rows have words in common with all others."""
MAX_LISTED_IDS = 50
"""Ids of one run that `forget --list` can show."""
TASK_PARTS = {COMMENT: "comments", ATTACHMENT: "attachments"}


@dataclass(frozen=True, slots=True)
class Selector:
    """Criteria of the rows to forget; a row must meet all that are given."""

    ids: tuple[str, ...] = ()
    """`12`, `t:KEY`, `c:5`, `a:7`."""
    conversation: str | None = None
    sources: tuple[str, ...] = ()
    """Path of a file or folder, as typed and as indexed."""
    query: str | None = None
    """Rows that contain all of its words, or exactly this text, in their text or in their metadata."""
    before: str | None = None
    """Turns older than this time, as `prompts.timestamp` has it; later index runs leave them out as well."""
    filters: Filters = field(default_factory=Filters)
    """Project and time."""

    def __post_init__(self) -> None:
        """Check that there is a criterion. Raises UsageFault."""
        criteria = (
            self.conversation,
            self.query,
            self.before,
            self.filters.project,
            self.filters.since,
            self.filters.until,
        )
        if not (self.ids or self.sources or any(criterion is not None for criterion in criteria)):
            raise UsageFault(
                "nothing says what to forget",
                "Use --id, --conversation, --source, --project, --since, --until or --query; `purge` deletes everything.",
            )
        if self.query is not None and not self.query.strip():
            raise UsageFault("the query is empty", "Give words that the rows to forget contain.")

    def to_json(self) -> dict[str, Any]:
        """Return the criteria that `forget --list` shows.

        The words of a query are left out, since they are to be forgotten.
        """
        criteria = {
            "ids": list(self.ids[:MAX_LISTED_IDS]),
            "conversation": self.conversation,
            "source": self.sources[-1] if self.sources else None,
            "project": self.filters.project,
            "since": self.filters.since,
            "until": self.filters.until,
            "before": self.before,
        }
        given = {name: value for name, value in criteria.items() if value}
        return given | ({} if self.query is None else {"query": None})


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """Number of rows that a selector chooses, and whether they were forgotten."""

    turns: Count
    tasks: Count
    comments: Annotated[Count, "Comments of tasks that stay."]
    attachments: Annotated[Count, "Attachments of tasks that stay."]
    private: Annotated[Count, "Rows of private projects, which stay because they may not be seen from here."]
    mentions: tuple[Mention, ...] = ()
    """Places that stay and contain a word of the query, or a rare word of the chosen rows; most words first."""
    missing: tuple[str, ...] = ()
    """Preview only: ids that name nothing."""
    rows: tuple[PreviewRow, ...] = ()
    """Preview only: the first MAX_PREVIEW_ROWS rows, the latest first."""
    forgetting: Forgetting | None = None
    """Record of the run; None for a preview."""
    rewrite_s: float = 0.0
    """Seconds in which SQLite wrote the file anew, since copies were left in it."""

    @property
    def total(self) -> int:
        """Number of rows of all kinds."""
        return self.turns + self.tasks + self.comments + self.attachments

    def __bool__(self) -> bool:
        """Return whether any row is chosen."""
        return self.total > 0


def preview_forget(database: Database, selector: Selector, hidden: Collection[str] = ()) -> ForgetResult:
    """Return the rows that `forget` would delete, without the text of hidden projects; change nothing.

    Raises UsageFault if an id is malformed.
    """
    with database.snapshot():
        matches = _find_matches(database, selector)
        reach = deletion.choose_rows(database, _build_choice(database, selector, matches))
        rows = deletion.preview_rows(database, reach, MAX_PREVIEW_ROWS)
        result = _count_rows(reach, _count_private(database, selector, matches, reach))
        return replace(
            result,
            mentions=_find_mentions(database, _find_sought_words(database, selector, reach), reach),
            missing=tuple(id_ for id_ in selector.ids if not _names_row(database.hide(()), id_, reach)),
            rows=tuple(replace(row, content="") if row.project in hidden else row for row in rows),
        )


def _names_row(database: Database, id_: str, reach: ChosenRows) -> bool:
    """Return whether an id names a row, of those to be deleted or of others."""
    named = _build_choice(database, Selector((id_,)), None)
    is_chosen = any(not set(ids).isdisjoint((named.ids or {})[kind]) for kind, ids in reach.by_kind().items())
    return is_chosen or bool(deletion.choose_rows(database, named))


def _count_rows(reach: ChosenRows, private: int) -> ForgetResult:
    return ForgetResult(
        len(reach.turns), len(reach.tasks), len(reach.comments), len(reach.attachments), private=private
    )


def _count_private(database: Database, selector: Selector, matches: Ids | None, reach: ChosenRows) -> int:
    """Return how many more rows the selector would choose if no project were hidden."""
    if not database.hidden:
        return 0
    database = database.hide(())
    all_rows = deletion.choose_rows(database, _build_choice(database, selector, matches))
    return sum(all_rows.counts().values()) - sum(reach.counts().values())


def forget(database: Database, selector: Selector) -> ForgetResult:
    """Delete the chosen rows with everything derived from them; tombstones keep them from being indexed again.

    One transaction marks the rows as deleted and writes their tombstones. Many rows are then deleted in steps, so that
    other processes can write meanwhile; last, their remains in the file are overwritten. If the process ends early, the
    next opening of the database does the rest.

    Raises UsageFault for a malformed id, and StoreFault if nothing is forgotten. DeletionUnfinished says that the text is
    still in the file; the next command goes on.
    """
    with database.transaction():
        matches = _find_matches(database, selector)
        choice = _build_choice(database, selector, matches)
        chosen = deletion.choose_rows(database, choice)
        private = _count_private(database, selector, matches, chosen)
        sought = _find_sought_words(database, selector, chosen)
        number = deletion.forget(database, choice, chosen, selector.to_json())
        if number and sought:
            mentions.clear_checkpoints(database, WordSearch(sought))
    deletion.finish(database)
    known = {one.number: one for one in tombstones.forgettings(database)}
    return replace(
        _count_rows(chosen, private),
        mentions=_find_mentions(database, sought, chosen),
        forgetting=known.get(number),
        rewrite_s=database.removed.rewrite_s,
    )


def forget_all(database: Database) -> None:
    """Delete all rows and keep their tombstones, which `sync` takes to the other machines. Raises as `forget` does."""
    everything = RowCriteria()
    with database.transaction():
        deletion.forget(database, everything, deletion.choose_rows(database, everything), {})
    deletion.finish(database)


def undo_forget(database: Database, number: int | None = None) -> Forgetting | None:
    """Allow the rows of a run, None for the last, to be indexed again; return its record, None if there is none.

    The text itself is gone. It comes back when a file that contains it is indexed again, with `force` if the file is
    unchanged.
    """
    with database.transaction():
        known = tombstones.forgettings(database)
        wanted = next((one for one in reversed(known) if number in (None, one.number)), None)
        if wanted is not None:
            tombstones.lift(database, wanted.number)
    return wanted


def _build_choice(database: Database, selector: Selector, matches: Ids | None) -> RowCriteria:
    return RowCriteria(
        filters=selector.filters,
        ids=_parse_ids(database, selector) if selector.ids else None,
        conversation=selector.conversation,
        sources=selector.sources,
        matches=matches,
        before=selector.before,
    )


def _find_matches(database: Database, selector: Selector) -> Ids | None:
    if selector.query is None:
        return None
    return mentions.find_rows(database.hide(()), WordSearch(words(selector.query), selector.query.strip()))


def _find_sought_words(database: Database, selector: Selector, chosen: ChosenRows) -> list[str]:
    """Return the words by which other places could repeat a forgotten text."""
    if selector.query is not None:
        wanted = words(selector.query)
        return [word for word in wanted if word not in FUNCTION_WORDS] or wanted
    if sum(chosen.counts().values()) > MAX_SEARCHED_ROWS:
        return []
    return mentions.find_rare_words(database, chosen.by_kind())


def _find_mentions(database: Database, sought: list[str], chosen: ChosenRows) -> tuple[Mention, ...]:
    """Return the places that stay and have one of the words, those with most of the words first."""
    if not sought or not chosen:
        return ()
    found = mentions.find_mentions(database, WordSearch(sought), chosen.by_kind())
    return tuple(sorted(found, key=lambda one: (one.names, -len(one.words))))


def _parse_ids(database: Database, selector: Selector) -> dict[str, list[int]]:
    """Return row ids by kind. Raises UsageFault for a malformed id."""
    found: dict[str, list[int]] = {"turns": [], "tasks": [], "comments": [], "attachments": []}
    for id_ in selector.ids:
        number = number_of(id_[2:] if id_[:2] in TASK_PARTS else id_)
        if id_.startswith(TASK):
            found["tasks"] += task_rows.find(database, id_)
        elif number is not None:
            found[TASK_PARTS.get(id_[:2], "turns")].append(number)
        else:
            raise UsageFault(
                f"{id_!r} is not an id", "Use an id from the output of search or recall, such as 12, t:KEY or c:5."
            )
    return found
