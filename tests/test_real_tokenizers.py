"""Budgets against the real tokenizers of ten families of models, whose vocabularies `splintr` ships: none counts more than ours."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from functools import cache
from hashlib import sha512
from pathlib import Path
from typing import Any

import pytest
from program import REPOSITORY, Reader

from pastchats_memory import Memory
from pastchats_memory.embed.tokenizer import LinePrices
from pastchats_memory.model import Hit
from pastchats_memory.recall.context import ContextRequest, build_context
from pastchats_memory.text.tokens import count_tokens

splintr = pytest.importorskip("splintr", reason="splintr-rs, which ships the vocabularies, is not installed")

MODELS = (
    "cl100k_base", "o200k_base", "llama3", "deepseek_v3", "qwen3", "glm4", "gemma2", "gemma3", "kimi_k2", "mistral_v3",
)  # fmt: skip
NOISE = b"".join(sha512(bytes([n])).digest() for n in range(40))
DIGITS = str(int.from_bytes(NOISE[:500], "big"))


def lines(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


HARD = {
    "base64 in one word": b64encode(NOISE).decode(),
    "base64 in lines": lines(urlsafe_b64encode(NOISE).decode(), 76),
    "a short key": b64encode(NOISE[:45]).decode(),
    "a key in capitals": "BMRT CBLRFUKNX NBHTBENST KYQDBVCT " * 5,
    "hex": NOISE.hex(),
    "hex in pairs": NOISE[:600].hex(" "),
    "sums of files": "\n".join(f"{NOISE[at : at + 32].hex()}  part-{at}.bin" for at in range(0, 1500, 32)),
    "digits in one word": DIGITS,
    "digits in words": " ".join(DIGITS[at : at + 11] for at in range(0, 1100, 11)),
    "fractions": ", ".join(f"0.{DIGITS[at : at + 16]}" for at in range(0, 1100, 16)),
    "a log": "\n".join(f"2026-11-{n % 28 + 1:02}T{n % 24:02}:41:07.{n:03}Z INFO [worker-{n}] {n * 37} ms" for n in range(60)),
    "columns": "\n".join(f"{'name' + str(n):<30}{n * 7919:>12}   {'ok':^9}" for n in range(60)),
    "indented": "\n".join(" " * (n % 41) + "x" for n in range(120)),
    "indented with tabs": "\n".join("\t" * (n % 12) + "return x" for n in range(60)),
    "spaces and tabs": " \t" * 100,
    "form feeds": "\x0b\x0c" * 60,
    "ends of lines of all kinds": "a\r\nb\rc\nd\u2028e\u2029f\x85" * 20,
    "wide spaces": "\u3000\u2003\u00a0" * 40,
    "Chinese": "数据库连接被拒绝，请检查配置文件中的主机名和端口是否正确。" * 5,
    "rare Chinese": "龘靐齉爩麤籲灪龖厵滟爨癵骊鸾鱻𠮷𡃁𠀋𪚥" * 5,
    "Japanese": "データベースに接続できません。設定を確認してください。" * 5,
    "Korean": "데이터베이스 연결에 실패했습니다. 뷁쉛췏뢟" * 5,
    "Thai, Hindi, Tamil": "ไม่สามารถเชื่อมต่อ डेटाबेस से कनेक्ट नहीं தரவுத்தளத்துடன் " * 5,
    "Arabic and Hebrew": "بِسْمِ اللَّهِ الرَّحْمَٰنِ בְּרֵאשִׁית בָּרָא אֱלֹהִים " * 5,
    "Armenian, Georgian, Tibetan": "Տվյալների բազայի հետ მონაცემთა ბაზასთან གཞི་གྲངས་མཛོད་ " * 5,
    "Russian and Greek": "НЕ УДАЛОСЬ подключиться к базе Αδυναμία σύνδεσης " * 5,
    "Czech and Hungarian": "Příliš žluťoučký kůň úpěl ďábelské ódy Árvíztűrő tükörfúrógép " * 5,
    "Vietnamese and Turkish": "Không thể kết nối với cơ sở dữ liệu bağlanılamadı İıŞşĞğ " * 5,
    "signs of Latin-1": "".join(map(chr, range(0xA0, 0x100))) * 3,
    "emoji": "🎉🚀✅❌🔥💡👨‍👩‍👧‍👦🏳️‍🌈👩🏽‍💻🇩🇪1️⃣" * 10,
    "drawn trees and bars": "│ ├── └──┌─┬─┐█▉▊▋░▒▓⠋⠙⠹→⇒➜" * 10,
    "mathematics": "∀x∈ℝ ∃y: x²+y²≤∞ ∑∫∂∇⊕⊗ x⁰¹²³⁴⁵₆₇₈₉ₐₑₒ 𝓗𝓮𝓵𝓵𝓸 ①② Ⅷ㎏" * 5,
    "stacked accents": "h̷̢̛͓̦̀̐e̵̡̮͂l̶͙̈́l̸̯̑o̵͎͝ e\u0301\u0323" * 10,
    "what is not seen": "a\u200bb\ufeffc\u00add\u202ee\u202c\ufe0f\U000e0061" * 10,
    "control characters": "".join(map(chr, [*range(32), *range(0x7F, 0xA0)])) * 5,
    "private and broken": "\ue0b0\uf113\ufffd\ud83d" * 20,
    "shouting": "MAX_CONNECTION_RETRY_COUNT THE HOST IS UNREACHABLE SQLITE_CANTOPEN_FULLPATH " * 10,
    "names of code": "getUserAccountByIdentifierAsync XMLHttpRequestEventTarget __init_subclass__ a_b_c_d " * 10,
    "signs": "!@#$%^&*()_+-=[]{}|;':\",./<>?`~......----====____" * 10,
    "escaped JSON": json.dumps({"text": "日本語🎉 é \n" * 20, "v": [True, None, 1.5e-7]}),
    "terminal colours": "\x1b[31mred\x1b[0m \x1b[2K\x1b[1;32m" * 15,
    "a pattern": r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$ \frac{\partial^2 u}{\partial x^2}" * 10,
    "special tokens": "<|endoftext|><|im_start|>user<|im_end|></s><s>[INST] <<SYS>>" * 10,
    "one letter": "a" * 1200 + "A" * 1200 + "=" * 1200,
}  # fmt: skip


@cache
def tokenizer(name: str) -> Any:
    return splintr.Tokenizer.from_pretrained(name)


def count(text: str) -> int:
    return count_tokens(text, LinePrices())


def most(text: str) -> tuple[int, str]:
    """What the greediest of the models takes for the text, and which it is."""
    readable = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return max((len(tokenizer(name).encode_ordinary(readable)), name) for name in MODELS)


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_no_tokenizer_takes_more_for_a_hard_text_than_it_counts(text: str) -> None:
    assert most(text) <= (count(text), "~")


def test_no_piece_of_the_samples_has_more_tokens_than_estimated() -> None:
    pieces = [text[at : at + 150] for text in HARD.values() for at in range(0, 1500, 150)]
    assert len(pieces) > 400
    assert [piece for piece in pieces if most(piece) > (count(piece), "~")] == []


def test_no_file_of_this_repository_has_more_tokens_than_estimated() -> None:
    files = [
        path for pattern in ("*.md", "fixtures/**/*.md", "pastchats_memory/*.py") for path in REPOSITORY.glob(pattern)
    ]
    assert len(files) > 30
    texts = [path.read_text(encoding="utf-8", errors="replace")[:3000] for path in files]
    assert [path.name for path, text in zip(files, texts, strict=True) if most(text) > (count(text), "~")] == []


def hit(number: int, content: str) -> Hit:
    return Hit(
        rank=number, score=1.0, relevance=0.5, lexical_rank=number, semantic_rank=number, similarity=0.5, id=str(number),
        type="prompt", content=content, snippet=content[:80], role="user", source_path=f"/home/mira/{number}.jsonl",
        source_line=number, source_project="garden", conversation_id="c", turn_index=number,
        timestamp="2026-02-03T13:21:00.000Z", metadata={},
    )  # fmt: skip


@pytest.mark.parametrize("budget", [50, 90, 160, 400, 1500, 8000])
def test_the_context_of_hard_texts_is_within_the_budget_of_every_model(budget: int) -> None:
    hits = [hit(number, text) for number, text in enumerate(HARD.values())]
    for at in range(0, len(hits), 5):
        text = build_context(hits[at : at + 5], {}, ContextRequest(budget, 5, 2000), count).text
        assert most(text) <= (budget, "~")


@pytest.mark.parametrize("budget", [60, 250, 1000, 4000])
def test_recall_and_context_are_within_the_budget_of_every_model(demo: Reader, budget: int) -> None:
    with Memory.open(Path(demo.home) / "memory.db") as memory:
        for question in ("why do the webhook retries use jitter?", "flaky login test", "which queue did we choose?"):
            assert most(memory.recall(question, budget=budget).text) <= (budget, "~")
            assert most(memory.context(question, budget=budget, excerpt=2000).text) <= (budget, "~")
