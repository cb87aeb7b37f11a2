"""What a person says in a query is found again below, above and between what was pasted; talk is never taken for a paste."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import Reader

from pastchats_memory import Memory
from pastchats_memory.search.query import query_text
from pastchats_memory.text.pasted import FEW_LINES, split_paste
from pastchats_memory.text.recall_block import RECALL_HEADING

PASTES = sorted((Path(__file__).parents[2] / "fixtures" / "pastes").glob("*.txt"))
WITH_AN_ERROR = {
    "container-build": "could not be assembled",
    "go-panic": "index out of range [7]",
    "java-trace": "closed by controller",
    "python-trace": "Solanum lycopersicum",
    "rust-build": "could not compile `orrery`",
    "terminal": "Cannot find package 'hipparcos'",
}


@pytest.mark.parametrize("paste", PASTES, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "around", ["Why is the boat late?\n\n{}", "{}\nWhy is the boat late?", "Why is\n{}\n\nthe boat late?"]
)
def test_only_the_typed_sentence_of_a_query_with_a_paste_is_left(paste: Path, around: str) -> None:
    text = split_paste(around.format(paste.read_text(encoding="utf-8"))).typed
    assert " ".join(text.replace("exit status 2", "").split()) == "Why is the boat late?"


@pytest.mark.parametrize("paste", PASTES, ids=lambda path: path.stem)
def test_the_error_line_of_a_paste_is_extracted(paste: Path) -> None:
    assert WITH_AN_ERROR.get(paste.stem, "") in split_paste(f"Why?\n{paste.read_text(encoding='utf-8')}").error


@pytest.mark.parametrize(
    "talk",
    [
        "One line about src/app.py:12 and MAX_IN_FLIGHT=20; see https://example.org/a?b=c",
        "My wishes:\n- Commute: Max 45 minutes.\n- Salary: 20% more, no less than 4,000.\n- No overtime.\n- Tuesdays at home.",
        "**Story 1**\n*   **Situation:** A client left.\n*   **Task:** Win him back.\n*   **Action:** I flew.\n*   **Result:** Two years.",
        "1. Open the door.\n2. Walk in.\n3. Close the door behind you.\n4. Sit down, please.",
        "Dear Ann,\n\nthe house is cold. Could you bring wood?\n\nYours,\nBo",
        "*   担当\uff1a製品Xの市場導入\n*   チームでの市場調査及び競合分析\n*   営業戦略の立案と実行\n*   クライアント関係の維持と新規開拓",
        "Это первая строка.\nЭто вторая строка.\nЭто третья, и последняя?\nНет, это четвёртая.",
        "It says:\nOperationalError: database is locked\nwhat now?",
    ],
)  # fmt: skip
def test_ordinary_sentences_stay_unchanged(talk: str) -> None:
    assert split_paste(talk).typed == talk


def test_a_few_lines_of_code_count_as_typed() -> None:
    few = "\n".join(f"x{number} = read({number})" for number in range(FEW_LINES))
    assert "x0 = read(0)" in split_paste(f"What do these do?\n{few}\nAnd why?").typed
    more = "\n".join(f"x{number} = read({number})" for number in range(FEW_LINES + 1))
    assert "x0" not in split_paste(f"What do these do?\n{more}\nAnd why?").typed


def test_a_long_quotation_counts_as_pasted() -> None:
    quoted = "The ships lay still in the harbour. " * 20
    assert split_paste(f'Shorten this: "{quoted}"').typed == "Shorten this:"
    assert split_paste('Who said "The ships lay still"?').typed == 'Who said "The ships lay still"?'


def test_a_line_of_data_is_a_paste_however_few_lines_it_has() -> None:
    data = '{"lot":"LOT-1","brix":19.2,"ph":3.1},' * 20
    assert split_paste(f"Which lot is ripe?\n[{data}]").typed == "Which lot is ripe?"


@given(st.text(alphabet=st.sampled_from(list("ab1 \t\n`~>$|\"“”'=;:{}()[].-+#@<")), max_size=300))
def test_the_typed_part_has_only_words_of_the_text(text: str) -> None:
    assert set(split_paste(text).typed.split()) <= set(text.split())


@pytest.mark.parametrize("piece", ["“", '"', "`", "```\n", "a:1", "a.A", "x ", "\n", "> \n", "if "])
def test_a_hostile_megabyte_is_read(piece: str) -> None:
    split_paste(piece * (1_000_000 // len(piece)))


def test_a_query_of_one_line_is_unchanged() -> None:
    assert query_text("MAX_IN_FLIGHT=20;") == ("MAX_IN_FLIGHT=20;", "MAX_IN_FLIGHT=20;")


def test_a_paste_alone_is_queried_by_its_error_line_or_as_a_whole() -> None:
    trace = (PASTES[0].parent / "go-panic.txt").read_text(encoding="utf-8")
    assert query_text(trace).typed.endswith("panic: runtime error: index out of range [7] with length 7")
    code = (PASTES[0].parent / "python-code.txt").read_text(encoding="utf-8")
    assert query_text(code) == (code, code)


def test_our_own_recall_block_is_neither_looked_up_nor_embedded() -> None:
    block = f"{RECALL_HEADING}\n## 1. harbour\nAsked: where is the pilot's key?\nSource: a.jsonl:1"
    assert query_text(f"{block}\n\nWhy is the boat late?") == ("Why is the boat late?", "Why is the boat late?")


def test_words_of_a_paste_are_searched_too(demo: Reader) -> None:
    log = "\n".join(f"2026-05-01 10:00:{second:02} INFO [worker] tick {second}" for second in range(20))
    with Memory.open(demo.database) as memory:
        hits = memory.search(f"What about this?\n{log}\n2026-05-01 10:01:00 WARN [db] 0042_due_index.sql", limit=5)
    assert any("0042_due_index.sql" in hit.content for hit in hits)


def test_a_day_in_a_pasted_log_is_no_time_of_the_question(demo: Reader) -> None:
    log = "\n".join(f"2026-05-01 10:00:{second:02} INFO [worker] since 2026-05-01 tick {second}" for second in range(9))
    with Memory.open(demo.database) as memory:
        assert memory.search("webhook retries since 2026-04-01").time_read is not None
        assert memory.search(f"webhook retries\n{log}").time_read is None
