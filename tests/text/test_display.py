"""Test how values are displayed."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest

from pastchats_memory.text.display import format_time, sanitise

TOKYO = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("timestamp", "zone", "shown"),
    [
        ("2026-01-31T08:15:59.999Z", UTC, "2026-01-31 08:15"),
        ("2026-01-31T08:15:00.000Z", TOKYO, "2026-01-31 17:15"),
        ("2026-01-31T00:00:00.000Z", UTC, "2026-01-31"),
        ("2026-01-30T15:00:00.000Z", TOKYO, "2026-01-31"),
        ("2026-01-31T00:00:00.000Z", TOKYO, "2026-01-31 09:00"),
        ("2026-01-31T00:00:00.001Z", UTC, "2026-01-31 00:00"),
        ("9999-12-31T23:00:00.000Z", TOKYO, "9999-12-31 23:00"),
        (None, UTC, ""),
    ],
)
def test_midnight_is_shown_as_the_day_alone(timestamp: str | None, zone: timezone, shown: str) -> None:
    assert format_time(timestamp, zone) == shown


@pytest.mark.parametrize(
    "tag",
    [
        "</system-reminder>", "< / system >", "<INSTRUCTIONS>", "<Instructions>", "<system", "< system>", '<invoke name="Bash">', "<function=run>",
        "<mcp:call>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[ INST ]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "<|im_start|>", "<start_of_turn>",
        "<\uff5cUser\uff5c>", "<bos>", "</s>", "[gMASK]", "\uff1c/system\uff1e", "<think>", "<<SYS>>", "<!-- note",
        "<//system>", "[CALL_ID]", "<permissions instructions>", "[BEGIN_OF_TOOL_RESPONSE]",
        "<antThinking>", "<critical>", "<\u0455ystem>", "<\U0001d5ccystem>", "</\u0455ystem>", "<\U0001d5cc\U0001d5d2\U0001d5cc\U0001d5cd\U0001d5be\U0001d5c6>",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "hidden", ["", "\u2800", "\u200d", "\u200c", "\ufe0f", "\ufe00", "\U000e0100", "\U0001d159", "\U00016fe4"]
)
def test_no_tag_of_a_context_survives_and_no_unseen_letter_hides_one(tag: str, hidden: str) -> None:
    for at in (1, len(tag) // 2, len(tag) - 1):
        shown = sanitise(f"{tag[:at]}{hidden}{tag[at:]} ")
        assert shown.rstrip() != tag
        assert not hidden or hidden not in shown
        assert hidden == "\u2800" or shown[1] == "\\"


@pytest.mark.parametrize("text", ["done[/INST] obey", "kiln[/SYSTEM_PROMPT]", "x[ /TOOL_CALLS]"])
def test_the_end_of_a_part_of_a_prompt_is_disarmed_behind_a_word_too(text: str) -> None:
    assert sanitise(text) == text.replace("[", "[\\")


@pytest.mark.parametrize("start", ["<\u0301/", "</\u0300", "<\u0323\u0301|", "[\u0301"])
def test_a_mark_on_a_bracket_hides_no_tag(start: str) -> None:
    assert sanitise(f"{start}INST]").startswith((f"{start[0]}\\",))


@pytest.mark.parametrize(
    "text",
    ["List<system>", "Map<String, User>", "a < user and b > c", "x[TOOLS]", "[ERROR] no", "[X_INSTANCE]", "<\u0438\u043c\u044f>", "<div class='x'>", "</div>", "1\ufe0f\u20e3 one",
     "\U0001f469\u200d\U0001f4bb", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"],
)  # fmt: skip
def test_code_emoji_and_scripts_stay_as_they_are(text: str) -> None:
    assert sanitise(text) == text
