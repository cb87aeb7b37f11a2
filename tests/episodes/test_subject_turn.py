"""Whether a request turns to another subject is estimated from names that are new and names that were said before."""

import pytest

from pastchats_memory.episodes.subject_turn import estimate_turn, measure_turn

KNOWN = "The kiln loses heat at night.\nThe seal of the kiln's door is torn, so the burner runs for hours. I ordered a new seal."
SEED = "The seed drill plants twice in the third row, and the counter of the tractor says so as well. Can you find out why?"


@pytest.mark.parametrize(
    ("request_", "answer", "turns"),
    [
        pytest.param(SEED, "Its valve sticks. The hopper of the drill was never cleaned, see page 12 of the manual.", True, id="new names"),
        pytest.param("glue the seal first, it comes on Friday", "The kiln's door holds with glue.", False, id="names said before"),
        pytest.param("why twice?", "The drill, the hopper and the tractor of the Hansen farm share a counter.", False, id="a short request"),
    ],
)  # fmt: skip
def test_a_request_turns_if_most_of_its_names_are_new(request_: str, answer: str, *, turns: bool) -> None:
    assert (estimate_turn(request_, answer, KNOWN) > 0.5) is turns


def test_a_report_of_trouble_turns_less_often() -> None:
    calm, trouble = (estimate_turn(f"{SEED} {end}", "Its valve sticks.", KNOWN) for end in ("Look.", "Still wrong."))
    assert trouble < calm


def test_pasted_lines_are_no_words_of_the_request() -> None:
    paste = "\n".join(f"2026-03-02T08:{minute:02}:00 ERROR hopper row {minute} planted twice" for minute in range(30))
    assert measure_turn(f"why?\n```\n{paste}\n```", "", KNOWN).length == measure_turn("why?", "", KNOWN).length
