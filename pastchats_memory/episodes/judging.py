"""Episodes laid out for somebody who judges how they ended, and that judgement written down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise, takewhile

from pastchats_memory.citations import cited_items
from pastchats_memory.episodes import asking, episodes, is_spoken, spoken_first
from pastchats_memory.episodes.around import NEIGHBOURS, episode_around, said
from pastchats_memory.episodes.derive import catch_up
from pastchats_memory.episodes.done import done_in
from pastchats_memory.episodes.judged import SIGNAL, digest_of
from pastchats_memory.errors import UsageFault
from pastchats_memory.excerpt import ELLIPSIS
from pastchats_memory.model import Filters, Item
from pastchats_memory.recollection import Sheet, Unjudged
from pastchats_memory.search.hits import filed_place
from pastchats_memory.store import judgements, outcomes, prompts
from pastchats_memory.store.database import Database
from pastchats_memory.store.judgements import Judgement
from pastchats_memory.store.outcomes import Due, Ended, Said

WIDTH = 1000
"""Characters of a text on a sheet."""
HEAD = 0.3
"""Of a text that is longer the share of these that its beginning has: its end says more."""
RESULTS = 3
"""What commands answered last."""
RESULT_WIDTH = 300
SPOKEN = 5
"""Turns of what was said next."""
_BETWEEN, _BROKEN = r"[*`#>]*\s[\s*`#>]*", r"(?:\n\s*)?"
WIDE = "\u2e80"
"""Where scripts without blanks begin."""
_WORD_BEFORE, _WORD_BEHIND = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"


def unjudged(database: Database, filters: Filters, limit: int) -> Unjudged:
    """The newest answered questions of which one of the filters' outcomes is said, and not by a judgement. Raises StoreFault."""
    found, total = outcomes.unjudged(database, filters.project, filters.hidden, filters.outcomes, SIGNAL, limit)
    return Unjudged(tuple(_sheet(database, one) for one in found), total - len(found))


def sheet_of(database: Database, item: Item) -> Sheet:
    """The item's episode. Raises StoreFault."""
    turns, ending = episode_around(database, item)
    asked = asking(turns)
    return _sheet(
        database, Ended(asked.id, asked.content, (item.project, str(item.conversation_id)), asked.timestamp, ending)
    )


def judge(database: Database, item: Item, verdict: str, because: str | None) -> tuple[str, ...]:
    """Write down how the item's episode ended, by words that stand in it or in what was said next; warnings.

    Args:
        database: open for writing.
        item: any turn of the episode.
        verdict: one of `VERDICTS`.
        because: the words that show it, None for `unknown`; blanks may be others.

    Raises:
        UsageFault: the item has no outcome, or nothing in sight shows this one; nothing is written.
        StoreFault: it cannot be written.
    """
    if verdict == "unknown" and because is not None:
        raise UsageFault("what is unknown is shown by nothing", "Leave --because out, or say how it ended.")
    with database.transaction():
        episode, spoken = _read(database, item)
        turn, start, length = (
            (None, 0, 0) if verdict == "unknown" else _place(because or "", [*episode, *spoken], item.id)
        )
        digest = digest_of(episode, spoken, turn)
        judgements.put(database, Judgement(asking(episode).id, verdict, turn, start, length, digest))
        outcomes.mark(database, Due(item.project, str(item.conversation_id), episode[0].turn_index))
    return catch_up(database)


def take_back(database: Database, item: Item) -> bool:
    """Let the rules say again how the item's episode ended; whether it had been judged. Raises UsageFault, StoreFault."""
    with database.transaction():
        episode, _ = _read(database, item)
        is_judged = judgements.drop(database, asking(episode).id)
        outcomes.mark(database, Due(item.project, str(item.conversation_id), episode[0].turn_index))
    catch_up(database)
    return is_judged


def _read(database: Database, item: Item) -> tuple[list[Said], list[Said]]:
    """The rows of the item's episode, and what the person said next."""
    if item.role == "note" or item.conversation_id is None:
        raise UsageFault(f"{item.id} is of no conversation", "Only what was asked and answered has an outcome.")
    rows = outcomes.rows_from(database, Due(item.project, item.conversation_id, 0), 0)
    found = (two for two in pairwise(chain(episodes(rows), [[]])) if two[0][-1].turn_index >= item.turn_index)
    episode, following = next(found)
    return episode, spoken_first(following)


def _place(because: str, turns: Sequence[Said], id_: int) -> tuple[int, int, int]:
    """The turn in which the words stand last, the character at which they begin, and how many they are."""
    words = because.strip().strip(ELLIPSIS).split()
    if not words:
        hint = "Quote with --because the words that do, of the answer or of what was said next."
        raise UsageFault("nothing shows it", hint)
    pattern = _pattern_of(words)
    for turn in reversed(turns):
        found = None
        for found in pattern.finditer(turn.content):  # noqa: B007 - the last one is wanted
            pass
        if found:
            return turn.id, found.start(), found.end() - found.start()
    hint = f"Quote them as `pastchats-memory show {id_} --neighbours 9` prints them."
    raise UsageFault("these words stand neither in the episode nor in what was said next", hint)


def _pattern_of(words: Sequence[str]) -> re.Pattern[str]:
    """Of words in this order, whole where their letters are ASCII, whatever blanks and marks of emphasis are between them.

    Within scripts without blanks a line may be broken anywhere.
    """
    text = " ".join(words)
    before, behind = (
        edge if one.isascii() and one.isalnum() else ""
        for edge, one in ((_WORD_BEFORE, text[0]), (_WORD_BEHIND, text[-1]))
    )
    parts = [_BETWEEN if one == " " else re.escape(one) + (_BROKEN if one > WIDE else "") for one in text]
    return re.compile(before + "".join(parts) + behind)


def _sheet(database: Database, one: Ended) -> Sheet:
    (item,) = cited_items(database, prompts.items(database, [one.asked]))
    turns = prompts.of_episode(database, item, one.ending, NEIGHBOURS)
    answers = [turn.content for turn in turns if turn.role == "assistant"]
    results = [turn.content for turn in turns if turn.role == "tool"]
    where = filed_place(item)
    return Sheet(
        id=str(item.id),
        project=item.project,
        timestamp=item.timestamp,
        asked=_ends(item.content, WIDTH) if is_spoken(item) else "",
        answered=_ends("\n".join(answers), WIDTH),
        done=done_in(turns),
        results=tuple(_ends(text, RESULT_WIDTH) for text in results[-RESULTS:]),
        said_next=_ends("\n".join(turn.content for turn in islice(_next(database, one), SPOKEN)), WIDTH),
        outcome=said(database, one.ending),
        source_path=where.path,
        source_line=where.line or None,
        citation=item.citation,
    )


def _next(database: Database, one: Ended) -> Iterator[Said]:
    """What the person said after it, up to the next answer."""
    behind = one.ending.last_index + 1
    return takewhile(is_spoken, outcomes.rows_from(database, Due(*one.conversation, behind), behind))


def _ends(text: str, width: int) -> str:
    """The text, or its beginning and, since it says more, its longer end."""
    text = text.strip()
    head = int(HEAD * width)
    return text if len(text) <= width else f"{text[:head].rstrip()} {ELLIPSIS} {text[head - width :].lstrip()}"
