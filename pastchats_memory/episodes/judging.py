"""Episodes laid out for somebody who judges how they ended, and that judgement written down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

from pastchats_memory.citations import cited_items
from pastchats_memory.episodes import asking, episodes, is_spoken, spoken_first
from pastchats_memory.episodes.around import NEIGHBOURS, said
from pastchats_memory.episodes.derive import catch_up, ending_of
from pastchats_memory.episodes.done import done_in
from pastchats_memory.episodes.judged import SIGNAL, ending_by, read_of
from pastchats_memory.episodes.quoting import LONGEST, found_in
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Filters, Item, Sheet, Unjudged
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import outcomes
from pastchats_memory.store import turns as turn_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Due, Ended, Ending, Judgement, Said
from pastchats_memory.text.excerpt import ELLIPSIS

WIDTH = 1000
"""Characters of a text on a sheet."""
HEAD = 0.3
"""Of a text that is longer the share of these that its beginning has: its end says more."""
RESULTS = 3
"""What commands answered last."""
RESULT_WIDTH = 300


def listed(database: Database, filters: Filters, limit: int, *, judged: bool) -> Unjudged:
    """The newest questions of which one of the filters' outcomes is said, by judgements or not by them; of unknown ones those that were answered. Raises StoreFault."""
    found, total = outcomes.by_signal(database, filters, SIGNAL, limit, among=judged)
    return Unjudged(tuple(_sheet(database, one) for one in found), total - len(found))


def judge(database: Database, item: Item, verdict: str, because: str | None) -> tuple[Sheet, tuple[str, ...]]:
    """Write down how the item's episode ended, by words that stand in it or in what was said next; the episode, and warnings.

    Args:
        database: open for writing.
        item: any turn of the episode.
        verdict: one of `VERDICTS`.
        because: the words that show it, None for `unknown`; blanks and marks of emphasis between them do not count.

    Raises:
        UsageFault: the item has no outcome or is gone, or nothing in sight shows this one; nothing is written.
        StoreFault: it cannot be written.
    """
    if verdict == "unknown" and because is not None:
        raise UsageFault("what is unknown is shown by nothing", "Leave the words (`because`) out, or say how it ended.")
    with database.transaction():
        episode, spoken = _read(database, item)
        answered = episode[len(spoken_first(episode)) :] or episode
        before = _known(database, item, episode, spoken)
        turn, start, length = (
            (None, 0, 0) if verdict == "unknown" else _place(because or "", [*answered, *spoken], item)
        )
        judgement = Judgement(asking(episode).id, verdict, turn, start, length, read_of(episode, spoken, turn))
        outcomes.put(database, judgement)
        outcomes.mark(database, _due(item, episode))
        sheet = _sheet(database, _ended(item, episode, ending_by(judgement, episode, spoken)))
    return sheet._replace(was=before.said), catch_up(database)


def take_back(database: Database, item: Item) -> tuple[Sheet, tuple[str, ...]]:
    """Let the rules say again how the item's episode ended; the episode, and warnings. Raises UsageFault, StoreFault."""
    with database.transaction():
        episode, _ = _read(database, item)
        is_judged = outcomes.drop(database, asking(episode).id)
        outcomes.mark(database, _due(item, episode))
    behind = catch_up(database)
    with database.snapshot():
        sheet = sheet_of(database, item)
    return sheet, (*(() if is_judged else ("nobody had judged it",)), *behind)


def sheet_of(database: Database, item: Item) -> Sheet:
    """The item's episode, as far as its outcome is derived. Raises UsageFault, StoreFault."""
    episode, spoken = _read(database, item)
    return _sheet(database, _ended(item, episode, _known(database, item, episode, spoken)))


def _known(database: Database, item: Item, episode: Sequence[Said], spoken: Sequence[Said]) -> Ending:
    """How the item's episode ended before anybody says more of it."""
    if ending := outcomes.of_turn(database, item):
        return ending
    judged_here = outcomes.of_conversation(database, item.project, str(item.conversation_id))
    return ending_of(episode, spoken, judgement=judged_here.get(asking(episode).id))


def _due(item: Item, episode: Sequence[Said]) -> Due:
    return Due(item.project, str(item.conversation_id), episode[0].turn_index)


def _ended(item: Item, episode: Sequence[Said], ending: Ending) -> Ended:
    asked = asking(episode)
    return Ended(asked.id, asked.content, (item.project, str(item.conversation_id)), asked.timestamp, ending)


def _read(database: Database, item: Item) -> tuple[list[Said], list[Said]]:
    """The rows of the item's episode, and what the person said next."""
    if item.conversation_id is None:
        raise UsageFault(f"{item.id} is of no conversation", "Only what was asked and answered has an outcome.")
    known = outcomes.of_turn(database, item)
    first = known.first_index if known else 0
    rows = outcomes.rows_from(database, Due(item.project, item.conversation_id, first), first)
    for episode, following in pairwise(chain(episodes(rows), [[]])):
        if any(turn.id == item.id for turn in episode):
            return episode, spoken_first(following)
    raise UsageFault(f"{item.id} is gone", "It was forgotten meanwhile.")


def _place(because: str, turns: Sequence[Said], item: Item) -> tuple[int, int, int]:
    """The turn in which the words stand last, the character at which they begin, and how many they are."""
    words = because.strip().strip(ELLIPSIS).strip()
    if not words:
        hint = "Quote (`because`) the words that do: of the answer, of a result, or of what was said next."
        raise UsageFault("nothing shows it", hint)
    if len(words) > LONGEST:
        raise UsageFault(
            f"{len(words):,} characters are no quotation", f"Quote a line, at most {LONGEST:,} characters."
        )
    for turn in reversed(turns):
        if found := found_in(turn.content, words):
            return turn.id, *found
    if any(found_in(turn.content, words, least=0) for turn in turns):
        raise UsageFault("these words stand there, and are too few to tell anything", "Quote more of their line.")
    hint = (
        f"Quote a line as it stands there, in upper and lower case: item {item.id} and its neighbours have them whole."
    )
    raise UsageFault("these words stand neither in the answer nor in what was said next", hint)


def _sheet(database: Database, one: Ended) -> Sheet:
    (item,) = cited_items(database, turn_rows.items(database, [one.asked]))
    turns = turn_rows.of_episode(database, item, one.ending, NEIGHBOURS)
    answers = [turn.content for turn in turns if turn.role == "assistant"]
    results = [turn.content for turn in turns if turn.role == "tool"]
    where = cited_place(item)
    return Sheet(
        id=str(item.id),
        project=item.project,
        timestamp=item.timestamp,
        asked=_ends(item.content, WIDTH) if is_spoken(item) else "",
        answered=_ends("\n".join(answers), WIDTH),
        done=done_in(turns),
        results=tuple(_ends(text, RESULT_WIDTH) for text in results[-RESULTS:]),
        said_next=_ends("\n".join(turn.content for turn in _next(database, one)), WIDTH),
        outcome=said(database, one.ending),
        source_path=where.path,
        source_line=where.line or None,
        citation=item.citation,
    )


def _next(database: Database, one: Ended) -> list[Said]:
    """What the person said after it, as far as it is of the next episode."""
    behind = one.ending.last_index + 1
    rows = outcomes.rows_from(database, Due(*one.conversation, behind), behind)
    return spoken_first(next(episodes(rows), []))


def _ends(text: str, width: int) -> str:
    """The text, or its beginning and, since it says more, its longer end."""
    text = text.strip()
    head = int(HEAD * width)
    return text if len(text) <= width else f"{text[:head].rstrip()} {ELLIPSIS} {text[head - width :].lstrip()}"
