"""One pass for all literals finds what a search for each does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.redact.commands import GRAMMARS
from pastchats_memory.redact.literals import Literals
from pastchats_memory.redact.named import NAMES
from pastchats_memory.redact.shapes import TOKENS
from pastchats_memory.redact.structures import STRUCTURES

LITERALS = sorted(
    {one.anchor.lower() for one in (*TOKENS, *STRUCTURES)}
    | {name.part for name in NAMES}
    | {grammar.word for grammar in GRAMMARS}
)
SOUGHT = Literals([(literal, literal) for literal in LITERALS])
PIECES = st.one_of(
    st.sampled_from(LITERALS), st.text(max_size=4), st.sampled_from(["a", " ", "\n", "é", "密", "\ud800"])
)


def searched(text: str) -> list[tuple[int, str, list[int]]]:
    found = ((literal, [at for at in range(len(text)) if text.startswith(literal, at)]) for literal in LITERALS)
    return [(number, literal, places) for number, (literal, places) in enumerate(found) if places]


@given(st.lists(PIECES, max_size=12).map("".join))
def test_every_literal_is_found_at_all_its_places_and_none_elsewhere(text: str) -> None:
    lowered = text.lower()
    assert SOUGHT.places(lowered.encode("latin-1", "replace")) == searched(lowered)
