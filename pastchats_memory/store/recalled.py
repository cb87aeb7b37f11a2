"""Keep what hooks gave to agents, for people who ask what was said, when, and whether it helped."""

import re
from collections.abc import Iterable
from itertools import groupby, islice
from operator import itemgetter
from typing import Annotated, NamedTuple

from pastchats_memory.fields import Count, ItemId, Time, answer
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.text.recall_block import RECALL_PREAMBLE

MOST_ROWS = 2000
PROMPT_WIDTH = 80
"""Characters of the prompt that are shown."""
MOST_WEEKS = 12
_WORD = re.compile(r"[^\W_]+")
_ID = re.compile(r"\bid (t:\S+?|[0-9]+)(?=[;,.)\s]|\Z)")
LEAST_QUOTED = 20
"""Characters by which a quotation is known; its text may be cut, and without its markup."""
_QUOTATION_END = re.compile(r"[\n\"“”…]| · |\]\(\S+\)|(?m:^## \d+\. |^[A-Z][a-z ]+: )")
_LEADS_BACK = r"\b(?:show|read|open|resume)\b[^\n]{{0,80}}?(?<![\w:]){}(?!\w)"


class Given(NamedTuple):
    """What a hook gave to an agent."""

    name: str
    """Of the hook's note."""
    given_at: str
    agent: str
    kind: str
    session: str | None
    content: str


class Recalled(NamedTuple):
    """A memory that a hook put into a session."""

    id: int
    given_at: Time
    agent: str
    kind: Annotated[str, "The hook's action: recall, warn, greet and others."]
    session: Annotated[str | None, "The session's id, as its agent writes it."]
    prompt: Annotated[str, "First words of the prompt beside it; empty if the session is not indexed."]
    ids: Annotated[tuple[ItemId, ...], "Items that it names."]
    bytes: Count
    is_used: Annotated[bool, "The agent read, resumed or named one of them later in the session."]
    content: Annotated[str, "As the agent saw it."]


class Week(NamedTuple):
    """How many memories hooks gave to agents in a week."""

    week: Annotated[str, "Such as 2026-W07."]
    given: Annotated[int, {"minimum": 1}]
    used: Annotated[Count, "Those that the agent then read, resumed or named."]


@answer("log/1", title="Output of `log --json`.")
class RecalledLog(NamedTuple):
    """What hooks gave to agents."""

    weeks: Annotated[tuple[Week, ...], f"At most {MOST_WEEKS} weeks, the newest first."]
    results: Annotated[tuple[Recalled, ...], "The newest first."]


def list_ids(content: str) -> tuple[str, ...]:
    """Return the ids that a block names."""
    return tuple(dict.fromkeys(_ID.findall(content)))


def add(database: Database, given: Iterable[Given]) -> None:
    """Store what was given, once for each note, and delete the oldest rows beyond MOST_ROWS.

    What names an item that is gone is left out: the item may have been forgotten meanwhile.
    """
    with database.transaction():
        for one in given:
            sources = [_find_source(database, id_) for id_ in list_ids(one.content)]
            if None not in sources:
                _add(database, one, {*sources, one.session} - {None})
        database.run(
            "DELETE FROM recalled WHERE id NOT IN (SELECT id FROM recalled ORDER BY given_at DESC, id DESC LIMIT ?)",
            (MOST_ROWS,),
        )


def delete_quoting(database: Database, texts: Iterable[str]) -> None:
    """Delete what quotes one of these texts, whatever the sources that it names."""
    beginnings: dict[str, list[tuple[str, int]]] = {}
    for id_, content in database.run("SELECT id, content FROM recalled"):
        for part in map(_join_words, _QUOTATION_END.split(content.removeprefix(RECALL_PREAMBLE))):
            if len(part) >= LEAST_QUOTED:
                beginnings.setdefault(part[:LEAST_QUOTED], []).append((part, id_))
    quoting = {
        id_
        for text in (map(_join_words, texts) if beginnings else ())
        for start in (word.start() for word in _WORD.finditer(text))
        for part, id_ in beginnings.get(text[start : start + LEAST_QUOTED], ())
        if text.startswith(part, start)
    }
    database.run(f"DELETE FROM recalled WHERE id IN {LISTED}", (bind_list(sorted(quoting)),))


def _join_words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _add(database: Database, one: Given, sources: Iterable[str | None]) -> None:
    stored = database.run(
        "INSERT INTO recalled(name, given_at, agent, kind, conversation_id, content) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING RETURNING id",
        one,
    )
    for (id_,) in stored:
        database.run_many(
            "INSERT INTO recalled_sources(recalled_id, source) VALUES (?, ?)", [(id_, source) for source in sources]
        )


def _find_source(database: Database, id_: str) -> str | None:
    """Return the source of an item, as `recalled_sources` has it; None if the item is gone."""
    if id_.startswith("t:"):
        key: str | None = database.value("SELECT 't:' || key FROM tasks WHERE key = ?", (id_.removeprefix("t:"),))
        return key
    found = database.value("SELECT ifnull(conversation_id, id) FROM prompts WHERE id = ?", (int(id_),))
    return None if found is None else str(found)


def load_log(database: Database, limit: int, session: str | None = None, source: str | None = None) -> RecalledLog:
    """Return what was given, to all sessions or to one, of all sources or of one, the newest first."""
    rows = database.run(
        "SELECT id, given_at, agent, kind, conversation_id, content FROM visible_recalled "
        "WHERE ifnull(conversation_id = ?1, ?1 IS NULL) AND (?3 IS NULL OR (conversation_id IS NOT ?3 "
        "AND id IN (SELECT recalled_id FROM recalled_sources WHERE source = ?3))) "
        "ORDER BY given_at DESC, id DESC LIMIT ?2",
        (session, limit, source),
    )
    found = []
    for id_, given_at, agent, kind, conversation, content in rows:
        prompt = _find_prompt(database, conversation, given_at)
        is_used = _is_used(database, conversation, given_at, content)
        size = len(content.encode())
        found.append(
            Recalled(id_, given_at, agent, kind, conversation, prompt, list_ids(content), size, is_used, content)
        )
    return RecalledLog(list_weeks(database), tuple(found))


def count_of_conversation(database: Database, conversation_id: str) -> tuple[int, int]:
    """Return how many memories a conversation got, and how many others got of it."""
    ((own, others),) = database.run(
        "SELECT count(*) FILTER (WHERE conversation_id = ?1), count(*) FILTER (WHERE conversation_id IS NOT ?1 "
        "AND id IN (SELECT recalled_id FROM recalled_sources WHERE source = ?1)) FROM visible_recalled",
        (conversation_id,),
    )
    return own, others


def list_weeks(database: Database) -> tuple[Week, ...]:
    """Return how many memories were given and used by week, the newest first."""
    rows = database.run(
        "SELECT strftime('%G-W%V', given_at) AS week, conversation_id, given_at, content FROM visible_recalled "
        "WHERE week IS NOT NULL ORDER BY week DESC"
    )
    weeks = islice(groupby(rows, key=itemgetter(0)), MOST_WEEKS)
    uses = ((week, [_is_used(database, *row) for _, *row in group]) for week, group in weeks)
    return tuple(Week(week, len(found), sum(found)) for week, found in uses)


def _find_prompt(database: Database, session: str | None, given_at: str) -> str:
    """Return the first words of the user's turn of a session that is nearest in time."""
    found = database.value(
        f"SELECT substr(content, 1, {PROMPT_WIDTH * 2}) FROM visible_prompts WHERE conversation_id = ? AND role = 'user' "
        "ORDER BY abs(julianday(timestamp) - julianday(?)) LIMIT 1",
        (session, given_at),
    )
    words = " ".join((found or "").split())
    return words if len(words) <= PROMPT_WIDTH else f"{words[: PROMPT_WIDTH - 1]}…"


def _is_used(database: Database, session: str | None, given_at: str, content: str) -> bool:
    """Return whether a later call of the session reads, opens or resumes an item that a memory names, or names its file."""
    calls = database.run(
        "SELECT tool_calls FROM visible_prompts WHERE conversation_id = ? AND tool_calls IS NOT NULL AND timestamp >= ?",
        (session, given_at),
    )
    text = "\n".join(call for (call,) in calls)
    if not text:
        return False
    ids = list_ids(content)
    turns = bind_list(int(id_) for id_ in ids if id_.isdecimal())
    paths = database.run(f"SELECT DISTINCT source_path FROM visible_prompts WHERE id IN {LISTED}", (turns,))
    return any(re.search(_LEADS_BACK.format(re.escape(id_)), text) for id_ in ids) or any(
        path.replace("\\", "/").rpartition("/")[2] in text for (path,) in paths
    )
