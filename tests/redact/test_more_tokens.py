"""Tokens of providers that the generated corpus lacks are known by their shape wherever they stand."""

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
    "4/0A": ((LETTERS, 70),), "GHSAT0AAAAAA": ((UPPER, 24),), "cio_tp_": ((LETTERS, 32),), "bkat_": ((LETTERS, 40),), "2/": (("123456789", 16), ("/", 1), ("123456789", 16), (":", 1), (HEX, 32)),
    "figp_": ((LETTERS, 40),), "secret-live-": ((LETTERS, 35), ("=", 1)), "xao_": ((LETTERS, 33),), "ory_wak_": ((LETTERS, 32),), "as-": ((LETTERS, 22),), "prod:wary-otter-171|": ((LETTERS, 64),),
    "pdl_live_apikey_01": ((LOWER, 24), ("_", 1), (LETTERS, 22), ("_", 1), (LETTERS, 3)), "AstraCS:": ((LETTERS, 24), (":", 1), (LETTERS, 64)), "pylf_v1_eu_": ((LETTERS, 44),), "os_v2_app_": ((LOWER, 100),),
    "mlsn.": ((LETTERS, 64),), "llx-": ((LETTERS, 48),), "KGAT_": ((HEX, 32),), "mxb_": ((LETTERS, 40),), "0.": (*UUID, (".", 1), (LETTERS, 30), (":", 1), (LETTERS, 22), ("==", 1)), "root@pam!ci=": UUID,
    "polar_whs_": ((LETTERS, 32),), "FLWSECK_TEST-": (("abcdefgh0123456789", 12),), "pat.": ((LETTERS, 22), (".", 1), (LETTERS, 24), (".", 1), (LETTERS, 20)), "fio-u-": ((LETTERS + "-_=", 64),),
}  # fmt: skip
"""By prefix, the alphabets behind it and the number of characters of each."""
WHOLE = ("::server:", "==")
"""These stand for themselves."""


@pytest.mark.parametrize("prefix", SHAPES)
def test_a_token_is_replaced_in_prose_code_and_urls(prefix: str) -> None:
    draw = random.Random(prefix)  # noqa: S311 - nothing is kept secret with it
    rest = "".join("".join(draw.choices([one] if one in WHOLE else one, k=many)) for one, many in SHAPES[prefix])
    for context in ("Take {} until Monday.", 'use("{}")', "https://api.example.org/v1?a={}&b=1", '"first\\n{}\\nlast"'):
        redacted = redact(context.format(prefix + rest)).text
        assert rest[-10:] not in redacted
        assert "[redacted:" in redacted
        assert redact(context.format(prefix + "x" * len(rest))).text.count("[redacted:") == 0


SECRET = "q7Rw2Xc9Lm4Tz8Vb"  # noqa: S105 - nobody's
WRITTEN = (
    "mdp: {}", "<td>password</td><td>{}</td>", "<tr><th>API token</th> <td class='x'>{}</td></tr>", 'var password string = "{}"', 'password <- "{}"', "requirepass {}", "net user bob {} /add",
    "ConvertTo-SecureString '{}' -AsPlainText -Force", "New-Object PSCredential('bob', '{}')", "openssl enc -aes-256-cbc -k {} -in a", "jwt.sign(payload, '{}')", 'jwt.encode(claims, "{}", algorithm="HS256")', "Fernet(b'{}')",
    "hmac.new(b'{}', body, sha256)", 'createHmac("sha256", "{}")', "recovery code: {}", "your backup code is {}", "пароль — {}", "パスワードは{}です", "비밀번호는 {} 입니다", "PEPPER={}", "acme_tok = '{}'", "SetEnv DB_PASS {}", "snmp-server community {} RO", "login with ada@example.com / {}",
    "new Sequelize('shop', 'root', '{}', options)", "PasswordAuthenticator('Administrator', '{}')", "<Password><Value>{}</Value></Password>", "net use Z: \\\\srv\\share {} /user:ada", "http -a ada:{} https://example.org",
    "echo -n '{}' | cryptsetup open /dev/sda2 x -", "vault operator unseal {}", 'expect "password:"\nsend "{}"', "where is the token?\n{}\nthere", "<auth-user-pass>\nada\n{}\n</auth-user-pass>",
    "The password was changed from {} to another.", "密码是 {}",
    "jwt.verify(token, '{}')", 'jwt.decode(token, "{}", algorithms=["HS256"])', "new mysqli('db', 'ada', '{}', 'shop')", "podman login -u ada -p {} quay.io", "oc login -u ada -p {} https://api.example.org", "helm registry login -u ada -p {} r.example.org",
    "valkey-cli -h cache -a {} ping", "unzip -P {} a.zip", "net use Z: \\\\srv\\share /user:ada {}", "printf '{}' | vercel env add API_KEY", "ENV APP_DB_PASS {}", "setenv SMTP_PASS {}", "sudo -S apt update <<< {}", "log in as ada / {}",
    "login: ada / {}", "login as ada:{}", 'ALTER ROLE ada PASSWORD "{}"', "https://x.example.org/a.json?auth={}", "my credentials = {}", "gpg --passphrase {} -d a.gpg",
)  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN)
def test_a_secret_is_replaced_in_more_languages_and_commands(written: str) -> None:
    redacted = redact(written.format(SECRET)).text
    before, _, after = written.partition("{}")
    assert redacted.startswith(f"{before}[redacted:")
    assert redacted.endswith(f"]{after}")


@pytest.mark.parametrize(
    "harmless",
    ["jwt.encode(claims, key, 'HS256')", "jwt.sign(payload, secret)", "<td>password</td><td>string</td>", "net user bob /delete", "var password string = os.Getenv(name)", "password <- readline()", "openssl enc -k $KEY", "requirepass <password>",
     "hmac.new(key, body, sha256)", "createHmac('sha256', secret)", "recovery code: src/recovery2.py", "the recovery code is untested", "пароль — это просто", "the password was changed from the console to the file"],
)  # fmt: skip
def test_other_text_in_these_places_stays(harmless: str) -> None:
    assert redact(harmless).text == harmless


def test_the_old_and_the_new_password_are_replaced() -> None:
    changed = redact(f"The password was changed from {SECRET} to x{SECRET[:9]}z, tell nobody.").text
    assert changed == "The password was changed from [redacted:password] to [redacted:password], tell nobody."


BASE32 = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
LONG = "q7Rw2Xc9Lm4Tz8VbQ1nF6kYp"


@pytest.mark.parametrize(
    ("written", "secret"),
    [
        ("twine upload -u ada -p {} dist/*", LONG), ("cqlsh db 9042 -u ada -p {}", LONG), ("nuget setApiKey {}", LONG), ("cargo login {}", LONG), ("bundle config set --global gems.example.net ada:{}", LONG),
        ('BUNDLE_GEMS__EXAMPLE__NET: "ada:{}"', LONG), ("gpg --batch --passphrase {} -c a.tar", LONG), ("composer config http-basic.repo.example.net ada {}", LONG), ("xfreerdp /v:10.0.0.5 /u:ada /p:{}", LONG),
        ("*:*:*:postgres:{}", LONG), ("K 8\npassword\nV 24\n{}\nEND", LONG), ('<Pass encoding="base64">{}</Pass>', LONG), ("::add-mask::{}", LONG), ("::set-output name=db_password::{}", LONG),
        ('  ~ api_key = "old" -> "{}"', LONG), ('{{"api_key": {{\n  "sensitive": true,\n  "type": "string",\n  "value": "{}"\n}}}}', LONG), ("kubectl get secret app -o jsonpath='{{.data.token}}' | base64 -d\n{}", LONG),
        ('std::string api_key{{"{}"}};', LONG), ("the API key I gave you yesterday (`{}`) fails", LONG), ("ada:{}@tcp(127.0.0.1:3306)/app", LONG),
        ("Setup key: {}", " ".join(BASE32[at : at + 4] for at in range(0, 32, 4)).lower()), ("pyotp.TOTP('{}').now()", BASE32), ("oathtool --totp -b {}", BASE32), ("recovery codes:\n{}", "546be-85f84\na3883-5819e\nb2f97-ff5d1"),
        ("Backup codes\n{}", "5321 2959\n1164 4502\n7483 9994"), ("Recovery key: {}", "934821-122443-685915-118318-919651-902053-278377-562066"), ("otpauth-migration://offline?data={}", "CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbQ"),
        ("mnemonic:\n{}", "1. axis\n2. arch\n3. album\n4. animal\n5. adult\n6. act\n7. absurd\n8. beach\n9. agree\n10. athlete\n11. another\n12. badge"), ("credentials: admin:{}", "basket-artwork-awesome-book49"), ("my app password is {}", "xuvp hudq eavd fwqj"),
        ("https://chat.example.com/hooks/{}", "huxeu90q0o1elozb7kw8f7irlx"), ("https://hook.eu1.make.com/{}", "ymzj3z6puzhklbtabouljkq7m3ngllr7"), ("https://open.feishu.cn/open-apis/bot/v2/hook/{}", "ad7ca4a2-809f-43d9-8595-9a1f78896143"),
        ("https://discordapp.com/api/v10/webhooks/1098765432109876543/{}", f"{LONG}{LONG}-x_9"), ("https://api.vercel.com/v1/integrations/deploy/prj_AbCdEfGhIjKlMnOpQrStUvWx/{}", "UGdS397Vp7"), ("https://rpc.ankr.com/eth/{}", "c1d36e98" * 8),
        ("connect.sid={}; theme=dark", LONG), ("grafana_session={}", "22e29b004039fbab484e5cd5f8125c36"), ("PHPSESSID={}", "q7rw2xc9lm4tz8vbq1nf6kyp"), ('{{"kty":"oct","k":"{}"}}', LONG * 3), ("<RSAKeyValue><D>{}</D></RSAKeyValue>", LONG * 3),
        ("Authorization: Bearer {}", f"12|{LONG}{LONG}"), ("token: {}", "unt0fd.wxq4qcd0gyvnkaa6"), ("VAULT_TOKEN:\n```\n{}\n```", "s.XLtF1NEaJa4cJ6NLPoAHShB8"), ("Uint8Array.from([{}])", ",".join(map(str, range(100, 164)))),
        ("root:{}:19000:0:99999:7:::", "$y$j9T$7wyol6Lyj5JQ1Y3VK/jJDt$PymMK49TdxXhA/72SKIZYRDDzkjpIbAGi8mw2HK.EuR"), ("define('AUTH_KEY', '{}');", "M~ UdN,l-9s=qiT&#X(8[==_zukj7qxJ%IxT795E-H)0+]DI5L-:vL6f_+22wn|*"), ("hdnts=acl=/*~hmac={}", "36555217" * 8),
    ],
)  # fmt: skip
def test_a_secret_is_replaced_by_the_form_of_its_text(written: str, secret: str) -> None:
    redacted = redact(written.format(secret)).text
    assert "[redacted:" in redacted
    assert not [line for line in secret.split("\n") if line in redacted]


@pytest.mark.parametrize(
    "harmless",
    ["session=ses_39b5bd57fffeoHgocdtybSVa3d", "session=7d444840-9dc0-11d1-b245-5ffdce74fad2", "src/hooks/useAuthTokenProvider2Context.ts", "password: 'required|min:8|confirmed'", "what is the token?\nsrc/auth/jwt2fa_tokens.py\n",
     "the recovery codes are printed once", "backup codes: see chapter 12", "two tokens?\n20260204000001_add_agent_session_token.sql\n", 'KEY="-----BEGIN PUBLIC KEY-----\\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAqx13Yg4+Rse+CBPCWa8X\\n-----END PUBLIC KEY-----"',
     'integrity="sha384-QaKslLbUU0ejbhWBYuhN+rG62iWD+/MWK9/navcVsUZihmgNzO2357HIimWBA+0S"', "Fix: sha256-u/AjEiUmceJn25VkvCiJtssI2prRwPueci47m3dCMg4=", "pk_test_cXVpY2stb3R0ZXItMTIuY2xlcmsuYWNjb3VudHMuZGV2JA",
     "resp_68a1b2c3d4e5f60718293a4b5c6d7e8f901a2b3c4d5e6f70", "toolu_01A09q90qw90lq917835lq9q", "test_everything_that_has_a_very_long_name_of_words_alone", "chunk_getElementsByClassNameAndTagNameOfDocument2"],
)  # fmt: skip
def test_text_in_the_form_of_a_secret_stays(harmless: str) -> None:
    assert redact(harmless).text == harmless
