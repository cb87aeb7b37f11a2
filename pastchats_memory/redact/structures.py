"""Secrets that a frame gives away: a private key between its lines, a password in a URL, a token in a path."""

from __future__ import annotations

from pastchats_memory.redact.detector import Detector, shape

_B64 = r"[A-Za-z0-9+/]"
_URL64 = r"[A-Za-z0-9_\-]"
_BREAK = r"(?:\r?\n|\\{1,3}r\\{1,3}n|\\{1,3}n|[ \t])"
"""The end of a line as it is, or as JSON in JSON writes it."""

STRUCTURES: tuple[Detector, ...] = (
    shape(
        "private-key",
        "-----BEGIN ",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<secret>(?:(?!-----)[A-Za-z0-9+/=:,.()<>@\-\s\\\"'|*#→│;&]){16,20000})"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
        bounded=False,
    ),
    shape(
        "private-key",
        "Private-Lines: ",
        rf"Private-Lines: \d{{1,3}}(?P<secret>(?:{_BREAK}{{1,2}}[A-Za-z0-9+/=]{{4,80}}){{1,99}})",
        bounded=False,
    ),
    shape("jwt", "eyJ", rf"eyJ{_URL64}{{8,4000}}\.(?:eyJ)?{_URL64}{{10,8000}}\.{_URL64}{{10,2000}}"),
    shape(
        "url-password",
        "://",
        r"://[^\s/:@\"'<>\\?#]{0,128}:(?P<secret>(?!//)(?!(?:password|passwd|pass|pwd|pw|PASSWORD|PASS|secret)@)(?![\$<{*][^@]{0,60}[}>*]?@|%[sd]@|\[redacted)[^\s/@\"'<>\\]{1,256}"
        r"(?:[/#?][^\s/@\"'<>\\]{1,64})?)@(?=[A-Za-z0-9\[_$\{.\-])",
        bounded=False,
    ),
    shape("url-token", "://", r"://(?P<secret>[A-Za-z0-9_\-]{20,128})@(?=[A-Za-z0-9])", bounded=False, rank=1),
    shape(
        "url-password",
        ":\\/\\/",
        r":\\/\\/[^\s/:@\"'<>\\?#]{0,128}:(?P<secret>(?![\$<{*%\[])[^\s/@\"'<>\\]{2,256})@(?=[A-Za-z0-9\[_.\-])",
        bounded=False,
    ),
    shape(
        "private-key",
        "---- BEGIN SSH2 ENCRYPTED",
        r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----(?P<secret>[A-Za-z0-9+/=:,.@\-\s\\\"]{16,20000}?)(?:---- END|\Z)",
        bounded=False,
    ),
    *(
        shape(
            "aws-secret-key",
            key_id,
            rf"{key_id}[A-Z2-7]{{16}}(?![A-Za-z0-9])[\s\S]{{1,80}}?(?<![A-Za-z0-9+/=_\-.])(?P<secret>(?![0-9a-f]{{40}}){_B64}{{40}})(?![A-Za-z0-9+/=_\-.])",
            bounded=False,
        )
        for key_id in ("AKIA", "ASIA")
    ),
    shape(
        "oracle-password",
        "oracle:thin:",
        r"oracle:thin:[A-Za-z0-9_$#]{1,64}/(?P<secret>[^\s@\"'\\]{3,128})@",
        bounded=False,
    ),
    shape(
        "google-chat-webhook",
        "chat.googleapis.com/",
        r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_\-]{4,40}/messages\?(?P<secret>[^\s\"'\\<>]{20,300})",
    ),
    shape("password-hash", "$argon2", r"\$argon2(?:id|i|d)\$[^\s\"'\\]{20,400}", bounded=False),
    shape("telegram-token", "/bot", r"/bot(?P<secret>\d{8,10}:[A-Za-z0-9_\-]{35})", bounded=False),
    shape("rpc-key", "alchemy.com/v2/", r"alchemy\.com/v2/(?P<secret>[A-Za-z0-9_\-]{20,64})", bounded=False),
    shape("rpc-key", "infura.io/v3/", r"infura\.io/v3/(?P<secret>[a-f0-9]{32})", bounded=False),
    shape("rpc-key", ".quiknode.pro/", r"\.quiknode\.pro/(?P<secret>[a-f0-9]{40})", bounded=False),
    shape("rpc-key", "rpc.ankr.com/", r"rpc\.ankr\.com/(?:[a-z_]{2,30}/)?(?P<secret>[a-f0-9]{64})", bounded=False),
    shape("pipedream-webhook", ".m.pipedream.net", r"eo[a-z0-9]{12,20}\.m\.pipedream\.net", reach=24),
    shape("webhook", "/deploy/prj_", r"/deploy/prj_[A-Za-z0-9]{8,40}/(?P<secret>[A-Za-z0-9]{8,40})", bounded=False),
    shape("calendar-address", "/private-", r"/private-(?P<secret>[0-9a-f]{32})/", bounded=False),
    shape("url-signature", "hmac=", r"hmac=(?P<secret>[0-9a-f]{40,128})", bounded=False),
    *(
        shape(
            "private-key",
            f'"{part}"',
            rf'"{part}"\s{{0,4}}:\s{{0,4}}"(?P<secret>[A-Za-z0-9_\-]{{40,1400}})"',
            bounded=False,
        )
        for part in ("d", "p", "q", "dp", "dq", "qi", "k")
    ),
    *(
        shape("private-key", f"<{part}>", rf"<{part}>(?P<secret>[A-Za-z0-9+/=\s]{{40,1400}})</{part}>", bounded=False)
        for part in ("D", "P", "Q", "DP", "DQ", "InverseQ")
    ),
    shape(
        "mysql-password",
        "@tcp(",
        r"(?<![^\s\"'=`(])[^\s:\"'/@=]{1,64}:(?P<secret>[^\s\"'@]{4,128})@tcp\(",
        reach=200,
        bounded=False,
    ),
    shape(
        "private-key",
        "-----BEGIN OpenVPN",
        r"-----BEGIN OpenVPN Static key V1-----(?P<secret>[0-9a-f\s\\n]{16,2000})",
        bounded=False,
    ),
    shape(
        "private-key",
        "-----END ",
        r"(?P<secret>(?:[A-Za-z0-9+/=]{16,76}\r?\n[ \t>+|]{0,12}){1,30})-----END [A-Z0-9 ]{0,40}PRIVATE KEY",
        reach=2400,
        bounded=False,
    ),
    shape(
        "totp-secret",
        "otpauth://",
        r"otpauth://[^\s\"'<>\\]{0,200}?[?&]secret=(?P<secret>[A-Za-z2-7]{8,128})",
        bounded=False,
    ),
    shape(
        "totp-secret",
        "otpauth-migration:",
        r"otpauth-migration://offline\?data=(?P<secret>[A-Za-z0-9+/=%_\-]{20,4000})",
        bounded=False,
    ),
    shape(
        "session",
        "wordpress_logged_in_",
        r"wordpress_logged_in_[0-9a-f]{4,32}=(?P<secret>[^\s;\"'\\]{40,400})",
        bounded=False,
    ),
    shape(
        "aws-signature",
        "SignedHeaders=",
        r"SignedHeaders=[A-Za-z0-9;\-%]{1,400}[,&][ ]{0,2}(?:X-Amz-)?Signature=(?P<secret>[0-9a-f]{64})",
        bounded=False,
    ),
    shape(
        "password",
        "<Pass encoding=",
        r"<Pass encoding=[\"'\\]{1,8}base64[\"'\\]{1,8}>(?P<secret>[A-Za-z0-9+/=]{4,400})</Pass>",
        bounded=False,
    ),
    shape("wifi-password", "WIFI:", r"WIFI:(?:[A-OQ-Z]:[^;\n]{0,64};){0,4}P:(?P<secret>[^;\s]{4,64});", bounded=False),
    shape("logic-app-signature", "&sig=", r"&sig=(?P<secret>[A-Za-z0-9_\-]{40,60})(?![A-Za-z0-9_\-])", bounded=False),
)
