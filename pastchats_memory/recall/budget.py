"""Fit the entries of a recall block into a token budget. Pure.

If not all entries fit whole, their parts compete for the room: lines of the answers, actions, earlier attempts. The end
of every thread comes first. A line is worth more the more likely its episode answers the question (`recall.answering`). A further
part is worth less in a later entry, and a good line of the second takes the place of a weak one of the first.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pastchats_memory.episodes.next_message import reports_trouble
from pastchats_memory.model.episodes import FAILURES, NEXT_MESSAGE, RecallBlock, RecallEntry
from pastchats_memory.text.display import quote
from pastchats_memory.text.excerpt import ELLIPSIS, excerpt
from pastchats_memory.text.key_sentences import Line, join_lines, list_lines
from pastchats_memory.text.sentences import cut_at_word
from pastchats_memory.text.tokens import Counter
from pastchats_memory.views.text import NOTHING, TOO_SMALL, render_actions, render_block, render_entry, render_lines

LEAST_WIDTH = 60
"""Characters of the shortest question and answer. A question only names the problem."""
EVIDENCE_WIDTH = 160
"""Characters of a shortened quotation behind an outcome."""
SHARES = (1.0, 0.5, 0.4, 0.3)
"""Share of its worth that a part has in the first entry, the second, the third, and any later one (`benchmarks/recall.py`)."""
ENDS = 0.3
"""Share of the room that the ends of entries take before details compete for it."""
ACTIONS = 0.005
"""Worth of the actions of an entry, on the scale of lines (`text.key_sentences`)."""
REQUEST, REST_OF_REQUEST = 0.02, 0.008
"""Worth of the request, which is often what the user decided, and of one whose start the title shows."""
MATCHED, REJECTED = 1.5, 0.005
"""Multiple of its worth that a line has of the earlier attempt that matched, and the worth of the first line of an attempt that the
user rejected."""
TITLE_START = 40
"""Characters by which a request is known in a title."""


def fit_budget(
    query: str, candidates: Sequence[RecallEntry], weights: Mapping[str, float], budget: int, count: Counter,
    nothing: str = NOTHING,
) -> RecallBlock:  # fmt: skip
    """Return the block with as much of the entries as fits, or with the sentence that there is nothing.

    No token spans the end of a line, so the block never exceeds the sum of its parts.
    """
    entries = list(candidates)
    rendered = (render_entry(place, one) for place, one in enumerate(entries, start=1))
    around, *sizes = count([render_block(query, [], ""), *rendered])
    left = budget - around
    if entries and sum(sizes) > left:
        entries = _Selection(entries, weights, count).choose(left)
    least = 0
    if candidates and not entries:
        first = candidates[_order_places(candidates)[0]]
        answered = first.answered and excerpt(first.answered, weights, LEAST_WIDTH)
        shortest = _strip(first, weights, LEAST_WIDTH)._replace(answered=answered)
        least = around + sum(count([render_entry(1, shortest)]))
        entries = [shortest] if least <= budget else []
        nothing = TOO_SMALL.format(least=least)
    text = render_block(query, entries, nothing)
    (tokens,) = count([text])
    if tokens > budget:
        return RecallBlock(query, (), "", 0, least=least or tokens)
    return RecallBlock(query, tuple(entries), text, tokens, least=0 if entries else least)


def _strip(entry: RecallEntry, weights: Mapping[str, float], width: int) -> RecallEntry:
    """Return the entry without the parts that compete for room; its title names the question."""
    question = None if entry.title else entry.asked and excerpt(entry.asked, weights, width)
    outcome = entry.outcome
    # Of a success, only the user's words are quoted.
    is_plain = outcome.verdict == "worked" and outcome.basis not in ("", NEXT_MESSAGE)
    quoted = () if is_plain else outcome.evidence[-1:]
    shown = tuple(one._replace(quotation=cut_at_word(one.quotation, EVIDENCE_WIDTH)) for one in quoted)
    outcome = outcome._replace(evidence=shown)
    return entry._replace(outcome=outcome, asked=question, answered=None, done=(), before=(), is_short=True)


class _Part(NamedTuple):
    """Something that can be added to an entry."""

    entry: int
    """Its place."""
    worth: float
    text: str
    """As it is shown."""
    line: Line | None = None
    """A line of the answer, or of an earlier attempt's. Without one, the part is the request or the actions."""
    before: int | None = None
    """Number of an earlier attempt."""
    is_request: bool = False

    @property
    def is_done(self) -> bool:
        """Return whether it is the actions."""
        return self.line is None and self.before is None and not self.is_request


def _order_places(entries: Sequence[RecallEntry]) -> list[int]:
    """Return the places of the entries. If something failed, what worked comes first, and is never dropped for that."""
    verdicts = [entry.outcome.verdict for entry in entries]
    places = range(len(verdicts))
    worked = [place for place in places if verdicts[place] == "worked"] if "failed" in verdicts else []
    return list(dict.fromkeys([*worked, *places]))


class _Selection:
    """The parts of entries, from which those worth most are chosen."""

    def __init__(self, entries: Sequence[RecallEntry], weights: Mapping[str, float], count: Counter) -> None:
        self._entries = entries
        self._stripped = [_strip(entry, weights, LEAST_WIDTH) for entry in entries]
        parts = [part for place in range(len(entries)) for part in self._list_parts(place, weights)]
        self._parts = sorted(parts, key=lambda part: -part.worth)
        self._lines = {(part.entry, part.before, part.line.place): part for part in parts if part.line}
        self._labels: dict[tuple[int, int | None], _Part] = {
            (place, number): _Part(place, 0.0, render_lines(one._replace(answered=ELLIPSIS), entry), before=number)
            for place, entry in enumerate(entries)
            for number, one in enumerate(entry.before)
        }
        texts = [
            *map(self._render_head, range(len(entries))), *(part.text for part in (*parts, *self._labels.values()))
        ]  # fmt: skip
        self._tokens = dict(zip(texts, count(texts), strict=True))
        self._chosen: dict[int, list[_Part]] = {}
        self._left = 0

    def choose(self, left: int) -> list[RecallEntry]:
        """Return the entries with the parts worth most that fit; the end of each entry comes before further details."""
        self._left = left
        for place in _order_places(self._entries):
            if self._chosen and self._left < (1 - ENDS) * left:
                break
            own = [part for part in self._parts if part.entry == place]
            ending = self._lines.get((place, None, 0))
            first = [ending] if ending else [one for one in own if one.is_done]
            any(map(self._add, [*first, *own]))
        for part in self._parts:
            if part.worth > 0 and not (part.line and part.line.opens):
                self._add(part)
        return [self._build(place, chosen) for place, chosen in sorted(self._chosen.items())]

    def _add(self, part: _Part) -> bool:
        """Add a part, with the label and the line that introduce it, if there is room. Return whether it is there."""
        chosen = self._chosen.get(part.entry, [])
        label = self._labels.get((part.entry, part.before)) if part.line else None
        introducing = [self._lines[part.entry, part.before, place] for place in (part.line.needs if part.line else ())]
        added = [one for one in (label, *introducing, part) if one is not None and one not in chosen]
        around = [] if chosen else [self._render_head(part.entry)]
        tokens = sum(self._tokens[text] for text in (*(one.text for one in added), *around))
        if tokens > self._left:
            return False
        self._chosen[part.entry] = [*chosen, *added]
        self._left -= tokens
        return True

    def _list_parts(self, place: int, weights: Mapping[str, float]) -> Iterator[_Part]:
        """Yield the parts of an entry. One without any has an empty one."""
        entry, share = self._entries[place], SHARES[min(place, len(SHARES) - 1)]
        likeliest = max([entry.likelihood, *(one.likelihood for one in entry.before)])
        lines = list_lines(entry.answered or "", weights)
        for line in lines:
            worth = share * line.worth * entry.likelihood / likeliest
            yield _Part(place, worth, f"{quote(line.text)}\n", line)
        for number, attempt in enumerate(entry.before):
            multiple = MATCHED if attempt.is_match else 1.0
            is_rejected = attempt.outcome in FAILURES or reports_trouble(attempt.reply)
            for line in list_lines(attempt.answered, weights):
                least = REJECTED if is_rejected and not line.place else 0.0
                worth = share * (multiple * line.worth * attempt.likelihood / likeliest + least)
                yield _Part(place, worth, f"{quote(line.text)}\n", line, number)
        if entry.title and entry.asked:
            request = cut_at_word(entry.asked, EVIDENCE_WIDTH)
            worth = REST_OF_REQUEST if entry.title[:TITLE_START] in entry.asked else REQUEST
            yield _Part(place, share * worth, f"Asked: > {request}\n", is_request=True)
        if entry.done or not lines:
            yield _Part(place, share * ACTIONS, f"{render_actions(entry.done)}\n")

    def _render_head(self, place: int) -> str:
        """Return an entry without parts. An answer adds a label to it."""
        return render_entry(place + 1, self._stripped[place]._replace(answered=ELLIPSIS))

    def _build(self, place: int, chosen: Sequence[_Part]) -> RecallEntry:
        entry = self._entries[place]
        before = sorted({part.before for part in chosen if part.before is not None})

        def join(number: int | None) -> str:
            lines = (part.line for part in chosen if part.line and part.before == number)
            return join_lines(sorted(lines, key=lambda line: line.place))

        answered = join(None)
        has_actions = any(part.is_done for part in chosen)
        has_request = any(part.is_request for part in chosen)
        return self._stripped[place]._replace(
            answered=answered or None,
            is_left_out=bool(entry.answered) and not answered,
            before=tuple(entry.before[number]._replace(answered=join(number)) for number in before),
            done=entry.done if has_actions else (),
            asked=cut_at_word(entry.asked or "", EVIDENCE_WIDTH) if has_request else self._stripped[place].asked,
        )
