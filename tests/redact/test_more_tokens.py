"""Tokens of further providers, of which the generated corpus has none: known by their shape wherever they stand."""

from __future__ import annotations

import random
import string

import pytest

from pastchats_memory.redact import redact

LETTERS = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
UUID = ((HEX, 8), ("-", 1), (HEX, 4), ("-", 1), (HEX, 4), ("-", 1), (HEX, 4), ("-", 1), (HEX, 12))
Parts = tuple[tuple[str, int], ...]
SHAPES: dict[str, Parts] = {
    "aio_": ((LETTERS, 28),), "esecret_": ((LOWER, 26),), "CCDB1_": ((LETTERS, 22), ("_", 1), (LETTERS, 40)), "dvc_server_": ((LETTERS, 40),), "ctp_": ((LETTERS, 36),),
    "JDC_": ((UPPER, 30),), "lmb_": ((LETTERS, 60),), "ls__": ((HEX, 32),), "secret-token:mercury_production_": ((LETTERS, 40),), "api_live.": ((LETTERS, 11), (".", 1), (LETTERS, 32)),
    "persona_production_": ((LETTERS, 32),), "pina_": ((UPPER, 64),), "polar_oat_": ((LETTERS, 43),), "rpa_": ((LETTERS, 44),), "rootly_": ((HEX, 64),), "samsara_api_": ((LETTERS, 30),),
    "sindri_production_": ((LETTERS, 32),), "tss_": ((LETTERS, 40),), "vtwn_": ((LETTERS, 27),), "waka_": UUID, "zpka_": ((HEX, 32), ("_", 1), (HEX, 8)), "xaat-": UUID,
    "tr_prod_": ((LETTERS, 24),), "signkey-prod-": ((HEX, 64),), "m0-": ((LETTERS, 40),), "bb_live_": ((LETTERS, 27),), "cal_live_": ((HEX, 32),), "ddp_": ((LETTERS, 36),), "sktsec_": ((LETTERS, 48),),
    "fhb-": ((HEX, 64),), "sec-c-": ((LETTERS, 48),), "tsec_": ((LETTERS, 48),), "xau_": ((LETTERS, 40),), "gb_api_": ((LETTERS, 40),), "sk_prod_": ((LETTERS, 64),), "ory_pat_": ((LETTERS, 32),),
    "lip_": ((LETTERS, 20),), "amzn1.oa2-cs.v1.": ((HEX, 64),), "Atzr|": ((LETTERS, 300),), "SWMTKN-1-": ((LOWER, 50), ("-", 1), (LOWER, 25)), "K10": ((HEX, 64), ("::server:", 1), (HEX, 32)),
    "bb_test_": ((LETTERS, 27),), "cal_": ((LETTERS, 32),), "zpcka_": ((LOWER, 32), ("_", 1), (HEX, 8)), "signkey-staging-": ((HEX, 64),), "ctr_": ((LETTERS, 40),), "SWMKEY-1-": ((LETTERS, 43),),
    "polar_whs_": ((LETTERS, 32),), "FLWSECK_TEST-": (("abcdefgh0123456789", 12),), "pat.": ((LETTERS, 22), (".", 1), (LETTERS, 24), (".", 1), (LETTERS, 20)), "fio-u-": ((LETTERS + "-_=", 64),),
}  # fmt: skip
"""By prefix what follows it: alphabets and how many of each."""


@pytest.mark.parametrize("prefix", SHAPES)
def test_a_token_is_taken_out_of_prose_code_and_urls(prefix: str) -> None:
    draw = random.Random(prefix)  # noqa: S311 - nothing is kept secret with it
    rest = "".join("".join(draw.choices([one] if one == "::server:" else one, k=many)) for one, many in SHAPES[prefix])
    for context in ("Take {} until Monday.", 'use("{}")', "https://api.example.org/v1?a={}&b=1", '"first\\n{}\\nlast"'):
        redacted = redact(context.format(prefix + rest)).text
        assert rest[-10:] not in redacted
        assert "[redacted:" in redacted
        assert redact(context.format(prefix + "x" * len(rest))).text.count("[redacted:") == 0


SECRET = "q7Rw2Xc9Lm4Tz8Vb"  # noqa: S105 - nobody's
WRITTEN = (
    "mdp: {}", "<td>password</td><td>{}</td>", "<tr><th>API token</th> <td class='x'>{}</td></tr>", 'var password string = "{}"', 'password <- "{}"', "requirepass {}", "net user bob {} /add",
    "ConvertTo-SecureString '{}' -AsPlainText -Force", "New-Object PSCredential('bob', '{}')", "openssl enc -aes-256-cbc -k {} -in a", "jwt.sign(payload, '{}')", 'jwt.encode(claims, "{}", algorithm="HS256")', "Fernet(b'{}')",
    "hmac.new(b'{}', body, sha256)", 'createHmac("sha256", "{}")', "recovery code: {}", "your backup code is {}", "пароль — {}", "The password was changed from {} to another.", "密码是 {}",
)  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN)
def test_a_secret_is_taken_out_of_more_languages_and_commands(written: str) -> None:
    redacted = redact(written.format(SECRET)).text
    before, _, after = written.partition("{}")
    assert redacted.startswith(f"{before}[redacted:")
    assert redacted.endswith(f"]{after}")


@pytest.mark.parametrize(
    "harmless",
    ["jwt.encode(claims, key, 'HS256')", "jwt.sign(payload, secret)", "<td>password</td><td>string</td>", "net user bob /delete", "var password string = os.Getenv(name)", "password <- readline()", "openssl enc -k $KEY", "requirepass <password>",
     "hmac.new(key, body, sha256)", "createHmac('sha256', secret)", "recovery code: src/recovery2.py", "the recovery code is untested", "пароль — это просто", "the password was changed from the console to the file"],
)  # fmt: skip
def test_what_stands_there_and_is_none_stays(harmless: str) -> None:
    assert redact(harmless).text == harmless


def test_both_passwords_go_when_one_was_changed_to_the_other() -> None:
    changed = redact(f"The password was changed from {SECRET} to x{SECRET[:9]}z, tell nobody.").text
    assert changed == "The password was changed from [redacted:password] to [redacted:password], tell nobody."
