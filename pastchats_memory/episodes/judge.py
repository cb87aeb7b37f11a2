"""Let an agent or a person label an episode, with a quotation as evidence."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from pastchats_memory.episodes import find_request, is_user_turn, leading_user_turns, split_episodes
from pastchats_memory.episodes.actions import actions_of
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.derive import catch_up, choose_reply, derive_ending
from pastchats_memory.episodes.judgement import SIGNAL, apply_judgement, find_basis
from pastchats_memory.episodes.load import NEIGHBOURS, present_outcome
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Filters, Item
from pastchats_memory.model.episodes import Sheet, Unjudged
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Due, Ended, Ending, Judgement, TurnRow
from pastchats_memory.text.excerpt import ELLIPSIS

SHEET_WIDTH = 1000
"""Characters of a text on a sheet."""
HEAD_SHARE = 0.3
"""Share of a shortened text that comes from its start. The end is more telling."""
MAX_RESULTS = 3
"""Tool results on a sheet, the last ones."""
RESULT_WIDTH = 300
WIDE = "\u2e80"
"""First character of scripts without blanks, where a line may break anywhere."""
WIDE_WEIGHT = 4
"""Characters that a wide character counts for."""
MIN_QUOTATION = 12
"""Characters of a part of a line. A shorter line has to be quoted whole."""
MAX_QUOTATION = 1000
"""Characters. A quotation is a line, or a part of one."""
LINE_REACH = 200
"""Characters on each side that are searched for the rest of a line."""
_TOKEN = re.compile(r"(?P<blank>\s+)|[*`#>\u200b-\u200f\u2060\ufeff]+|(?P<word>[^\s*`#>\u200b-\u200f\u2060\ufeff]+)")


def list_episodes(database: Database, filters: Filters, limit: int, *, judged: bool) -> Unjudged:
    """Return the newest episodes with an outcome of the filters and with a judgement, or all without one.

    An unknown one must be answered.
    """
    found, total = outcomes.by_signal(database, filters, SIGNAL, limit, among=judged)
    return Unjudged(tuple(_make_sheet(database, one) for one in found), total - len(found))


def judge(database: Database, item: Item, verdict: str, because: str | None) -> tuple[Sheet, tuple[str, ...]]:
    """Store how the item's episode ended. Return the episode, and warnings.

    Args:
        item: any turn of the episode.
        verdict: one of `VERDICTS`.
        because: words of an answer, a result or the next message; None for `unknown`. Blanks and emphasis do not count.

    Raises:
        UsageFault: the item has no outcome or is gone, or the words are not there; nothing is written.
    """
    if verdict == "unknown" and because is not None:
        raise UsageFault("an unknown outcome takes no quotation", "Leave `because` out, or choose another verdict.")
    with database.transaction():
        episode, next_turns = _read_episode(database, item)
        answered = episode[len(leading_user_turns(episode)) :] or episode
        before = _current_ending(database, item, episode, next_turns)
        turn, start, length = (
            (None, 0, 0) if verdict == "unknown" else _place_quotation(because or "", [*answered, *next_turns], item)
        )
        basis = find_basis(episode, next_turns, turn)
        judgement = Judgement(find_request(episode).id, verdict, turn, start, length, basis)
        outcomes.store_judgement(database, judgement)
        outcomes.mark(database, _due(item, episode))
        sheet = _make_sheet(database, _ended(item, episode, apply_judgement(judgement, episode, next_turns)))
    return sheet._replace(was=before.outcome), catch_up(database)


def withdraw_judgement(database: Database, item: Item) -> tuple[Sheet, tuple[str, ...]]:
    """Let the rules decide again on the item's episode; return the episode, and warnings.

    Raises UsageFault if the item has no outcome, or is gone.
    """
    with database.transaction():
        episode, _ = _read_episode(database, item)
        is_judged = outcomes.delete_judgement(database, find_request(episode).id)
        outcomes.mark(database, _due(item, episode))
    warnings = catch_up(database)
    with database.snapshot():
        sheet = load_sheet(database, item)
    return sheet, (*(() if is_judged else ("there was no judgement",)), *warnings)


def load_sheet(database: Database, item: Item) -> Sheet:
    """Return the item's episode with its outcome. Raises UsageFault."""
    episode, next_turns = _read_episode(database, item)
    return _make_sheet(database, _ended(item, episode, _current_ending(database, item, episode, next_turns)))


def _current_ending(
    database: Database, item: Item, episode: Sequence[TurnRow], next_turns: Sequence[TurnRow]
) -> Ending:
    if ending := outcomes.of_turn(database, item):
        return ending
    judged = outcomes.conversation_judgements(database, item.project, str(item.conversation_id))
    judgement = judged.get(find_request(episode).id)
    return derive_ending(episode, next_turns, judgement=judgement, reply=choose_reply(next_turns))


def _due(item: Item, episode: Sequence[TurnRow]) -> Due:
    return Due(item.project, str(item.conversation_id), episode[0].turn_index)


def _ended(item: Item, episode: Sequence[TurnRow], ending: Ending) -> Ended:
    request = find_request(episode)
    return Ended(request.id, request.content, (item.project, str(item.conversation_id)), request.timestamp, ending)


def _read_episode(database: Database, item: Item) -> tuple[list[TurnRow], list[TurnRow]]:
    """Return the rows of the item's episode, and the user's next message."""
    if item.conversation_id is None:
        raise UsageFault(f"{item.id} belongs to no conversation", "Only an episode of a conversation has an outcome.")
    stored = outcomes.of_turn(database, item)
    first = stored.first_index if stored else 0
    rows = outcomes.rows_from(database, Due(item.project, item.conversation_id, first), first)
    for episode, following in pairwise(chain(split_episodes(rows), [[]])):
        if any(turn.id == item.id for turn in episode):
            return episode, leading_user_turns(following)
    raise UsageFault(f"{item.id} is gone", "It was forgotten meanwhile.")


def _place_quotation(because: str, turns: Sequence[TurnRow], item: Item) -> tuple[int, int, int]:
    """Return the last turn with the words, and their position and length."""
    words = because.strip().strip(ELLIPSIS).strip()
    if not words:
        hint = "Quote (`because`) words of the answer, of a result, or of the user's next message."
        raise UsageFault("the quotation is missing", hint)
    if len(words) > MAX_QUOTATION:
        raise UsageFault(
            f"{len(words):,} characters are too long for a quotation",
            f"Quote a line, at most {MAX_QUOTATION:,} characters.",
        )
    for turn in reversed(turns):
        if found := find_quotation(turn.content, words):
            return turn.id, *found
    if any(find_quotation(turn.content, words, least=0) for turn in turns):
        raise UsageFault("the quotation is too short", "Quote more of the line.")
    hint = f"Quote a line exactly, in upper and lower case. Item {item.id} and its neighbours show the whole text."
    raise UsageFault("the quotation is neither in the answer nor in the user's next message", hint)


def _make_sheet(database: Database, one: Ended) -> Sheet:
    (item,) = cite_items(database, turns.items(database, [one.question_id]))
    rows = turns.episode_turns(database, item, one.ending, NEIGHBOURS)
    answers = [turn.content for turn in rows if turn.role == "assistant"]
    results = [turn.content for turn in rows if turn.role == "tool"]
    where = cited_place(item)
    next_message = "\n".join(turn.content for turn in _read_next_message(database, one))
    return Sheet(
        id=str(item.id),
        project=item.project,
        timestamp=item.timestamp,
        asked=_shorten_middle(item.content, SHEET_WIDTH) if is_user_turn(item) else "",
        answered=_shorten_middle("\n".join(answers), SHEET_WIDTH),
        done=actions_of(rows),
        results=tuple(_shorten_middle(text, RESULT_WIDTH) for text in results[-MAX_RESULTS:]),
        said_next=_shorten_middle(next_message, SHEET_WIDTH),
        outcome=present_outcome(database, one.ending),
        source_path=where.path,
        source_line=where.line or None,
        citation=item.citation,
    )


def _read_next_message(database: Database, one: Ended) -> list[TurnRow]:
    first = one.ending.last_index + 1
    rows = outcomes.rows_from(database, Due(*one.conversation, first), first)
    return leading_user_turns(next(split_episodes(rows), []))


def _shorten_middle(text: str, width: int) -> str:
    text = text.strip()
    head = int(HEAD_SHARE * width)
    return text if len(text) <= width else f"{text[:head].rstrip()} {ELLIPSIS} {text[head - width :].lstrip()}"


class _PlainText(NamedTuple):
    """A text without emphasis, with single blanks, and the positions of its words."""

    text: str
    starts: list[int]
    """Position of each word in this text, ascending."""
    places: list[int]
    """Position of each word in the original text."""


def find_quotation(text: str, quoted: str, least: int = MIN_QUOTATION) -> tuple[int, int] | None:
    """Return position and length of the last place with the quoted words, or None.

    Blanks and emphasis may differ. The words must be whole, and at least `least` characters or a line of their own.
    """
    plain, words = _to_plain_text(text), _to_plain_text(quoted).text.strip()
    at = plain.text.rfind(words) if words else -1
    while at >= 0:
        start, end = _original_place(plain, at), _original_place(plain, at + len(words) - 1) + 1
        weight = sum(WIDE_WEIGHT if character >= WIDE else 1 for character in words)
        is_enough = weight >= least or _is_line(text, start, end)
        if is_enough and _is_whole(plain.text, at, at + len(words)):
            return start, end - start
        at = plain.text.rfind(words, 0, at + len(words) - 1)
    return None


def _to_plain_text(text: str) -> _PlainText:
    parts, starts, places, length = list[str](), list[int](), list[int](), 0
    is_parted, last = False, ""
    for token in _TOKEN.finditer(text):
        is_parted = is_parted or token["blank"] is not None
        if (word := token["word"]) is None:
            continue
        if is_parted and parts and not (last >= WIDE and word[0] >= WIDE):
            parts.append(" ")
            length += 1
        parts.append(word)
        starts.append(length)
        places.append(token.start())
        length, is_parted, last = length + len(word), False, word[-1]
    return _PlainText("".join(parts), starts, places)


def _original_place(plain: _PlainText, at: int) -> int:
    word = bisect_right(plain.starts, at) - 1
    return plain.places[word] + at - plain.starts[word]


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether no ASCII word continues across either edge."""
    before, behind = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
    return not any(len(edge) > 1 and edge.isascii() and edge.replace("_", "a").isalnum() for edge in (before, behind))


def _is_line(text: str, start: int, end: int) -> bool:
    """Return whether only punctuation stands on the lines beside the quotation."""
    before, behind = text[max(0, start - LINE_REACH) : start], text[end : end + LINE_REACH]
    return not any(character.isalnum() for character in before.rpartition("\n")[2] + behind.partition("\n")[0])
