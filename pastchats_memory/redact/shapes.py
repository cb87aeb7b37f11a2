"""Secrets that are known by their shape alone, as the providers' documents give it.

The patterns are bounded, so that none takes longer than its own length on hostile text. Where a provider says how long
a token is, the pattern asks for at least that, since tokens have grown before.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pastchats_memory.redact.detector import Detector, shape

_END = r"(?![A-Za-z0-9])"
_NOT_BASE64 = r"(?![A-Za-z0-9+/=_\-])"
"""Where a token ends whose beginning is too short to tell it from a piece of an image."""
_B64 = r"[A-Za-z0-9+/]"
_URL64 = r"[A-Za-z0-9_\-]"


def _prefixed(kind: str, prefixes: str, rest: str) -> tuple[Detector, ...]:
    return tuple(shape(kind, prefix, re.escape(prefix) + rest) for prefix in prefixes.split())


LANGUAGE_MODELS: tuple[Detector, ...] = (
    *_prefixed("anthropic-key", "sk-ant-", rf"{_URL64}{{20,200}}"),
    *_prefixed("openrouter-key", "sk-or-", rf"{_URL64}{{20,100}}"),
    *_prefixed("langfuse-key", "sk-lf-", rf"{_URL64}{{20,60}}"),
    *_prefixed("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"{_URL64}{{20,250}}"),
    *_prefixed("openai-key", "sk-", rf"(?=[a-z\-]{{0,8}}[A-Za-z0-9_]*\d)[A-Za-z0-9]{{20,64}}{_END}"),
    *_prefixed("openai-session", "sess-", rf"[A-Za-z0-9]{{40}}{_END}"),
    *_prefixed("groq-key", "gsk_", r"[A-Za-z0-9]{40,60}"),
    *_prefixed("xai-key", "xai-", rf"{_URL64}{{60,100}}"),
    *_prefixed("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,60}"),
    *_prefixed("replicate-token", "r8_", r"[A-Za-z0-9]{36,40}"),
    *_prefixed("hugging-face-token", "hf_ api_org_", rf"[A-Za-z0-9]{{30,40}}{_END}"),
    *_prefixed("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[A-Za-z0-9_]{30,60}"),
    *_prefixed("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{40,80}"),
    *_prefixed("voyage-key", "pa-", rf"(?=[^\s\d]{{0,40}}\d){_URL64}{{43}}{_END}"),
    *_prefixed("fireworks-key", "fw_", rf"[A-Za-z0-9]{{22,24}}{_END}"),
    *_prefixed("tavily-key", "tvly-", rf"{_URL64}{{20,60}}"),
    *_prefixed("nvidia-key", "nvapi-", rf"{_URL64}{{50,80}}"),
    *_prefixed("cerebras-key", "csk-", rf"[a-z0-9]{{40,60}}{_END}"),
    *_prefixed("elevenlabs-key", "sk_", rf"[a-f0-9]{{48}}{_END}"),
    *_prefixed("together-key", "tgp_v1_", rf"{_URL64}{{40,60}}"),
    *_prefixed("jina-key", "jina_", rf"[a-f0-9]{{32}}{_URL64}{{20,40}}"),
    *_prefixed("firecrawl-key", "fc-", rf"[a-f0-9]{{32}}{_END}"),
    *_prefixed("e2b-key", "e2b_", rf"[a-f0-9]{{40}}{_END}"),
    *_prefixed("wandb-key", "wandb_v1_", rf"{_URL64}{{40,120}}"),
    *_prefixed("letta-key", "sk-let-", rf"{_URL64}{{40,120}}"),
    *_prefixed("apify-token", "apify_api_", rf"[A-Za-z0-9]{{30,40}}{_END}"),
    shape("deepl-key", ":fx", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:fx", reach=36),
)

CLOUDS: tuple[Detector, ...] = (
    *_prefixed("aws-access-key", "AKIA ASIA ABIA ACCA A3T", rf"[A-Z0-9]{{13,17}}{_END}"),
    *_prefixed(
        "aws-session-token",
        "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz",
        rf"(?:{_B64}|%2[BbFf]){{100,2000}}(?:=|%3D){{0,2}}",
    ),
    *_prefixed("aws-bedrock-key", "bedrock-api-key-", rf"{_B64}{{40,4000}}={{0,2}}"),
    *_prefixed("aws-bedrock-key", "ABSK", rf"{_B64}{{90,140}}={{0,2}}"),
    *_prefixed("google-api-key", "AIza", rf"{_URL64}{{35}}"),
    *_prefixed("google-api-key", "AQ.Ab", rf"{_URL64}{{40,120}}"),
    *_prefixed("google-fcm-key", "AAAA", rf"{_URL64}{{7}}:{_URL64}{{140}}"),
    *_prefixed("google-oauth-secret", "GOCSPX-", rf"{_URL64}{{20,40}}"),
    *_prefixed("google-oauth-token", "ya29.", rf"{_URL64}{{20,1000}}"),
    *_prefixed("google-refresh-token", "1//0", rf"{_URL64}{{30,120}}"),
    *_prefixed("google-oauth-code", "4/0A", rf"{_URL64}{{50,100}}"),
    shape("azure-storage-key", "AccountKey=", rf"AccountKey=(?P<secret>{_B64}{{40,100}}={{0,2}})"),
    shape("azure-shared-access-key", "SharedAccessKey=", rf"SharedAccessKey=(?P<secret>{_B64}{{40,60}}={{0,2}})"),
    shape("azure-sas-signature", "sig=", r"sig=(?P<secret>(?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){40,120}={0,2})"),
    shape("azure-client-secret", "Q~", r"[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}(?![A-Za-z0-9_~\-])", reach=4),
    shape("azure-storage-key", "+ASt", rf"{_B64}{{76}}\+ASt{_B64}{{6}}==", reach=76),
    *(
        shape("azure-key", mark, rf"{_B64}{{76}}{re.escape(mark)}{_B64}{{6}}==", reach=76)
        for mark in ("+ABa", "ACDb", "+AMC")
    ),
    *(
        shape("azure-key", mark, rf"{_B64}{{33}}{re.escape(mark)}{_B64}{{6}}=", reach=33)
        for mark in ("+AEh", "+ASb", "AIoT")
    ),
    shape("azure-key", "+ACR", rf"{_B64}{{42}}\+ACR[A-D]{_B64}{{5}}", reach=42),
    shape("azure-key", "AzFu", rf"{_URL64}{{44}}AzFu{_URL64}{{5}}[AQgw]==", reach=44),
    shape("azure-key", "JQQJ99", r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,30}", reach=52),
    shape("azure-key", "AzSe", rf"{_B64}{{42}}AzSe[A-D]{_B64}{{5}}", reach=42),
    shape("azure-key", "AzCa", rf"{_B64}{{42}}AzCa[A-D]{_B64}{{5}}", reach=42),
    shape("azure-openai-key", "ACOG", r"[A-Za-z0-9]{52}J[A-Za-z0-9]{4,20}ACOG[A-Za-z0-9]{4}", reach=73),
    shape("azure-devops-token", "AZDO", r"[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4}", reach=80),
    *_prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    *_prefixed("heroku-key", "HRKU-", rf"{_URL64}{{30,70}}"),
    *_prefixed("alibaba-access-key", "LTAI", rf"(?=[A-Za-z]{{0,20}}\d)[A-Za-z0-9]{{12,24}}{_END}"),
    *_prefixed("tencent-secret-id", "AKID", rf"(?=[A-Za-z]{{0,32}}\d)[A-Za-z0-9]{{32}}{_END}"),
    *_prefixed("fly-token", "fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/=,_]{80,2000}"),
    *_prefixed("fly-token", "fo1_", rf"{_URL64}{{40,50}}"),
    *_prefixed("databricks-token", "dapi", rf"[a-f0-9]{{32}}(?:-\d)?{_END}"),
    *_prefixed("netlify-token", "nfp_", r"[A-Za-z0-9_]{36,40}"),
    *_prefixed("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,60}"),
    *_prefixed("supabase-key", "sbp_ sb_secret_", r"[A-Za-z0-9_\-]{20,60}"),
    *_prefixed("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=\-]{32,64}"),
    *_prefixed("neon-key", "napi_", r"[a-z0-9]{60,70}"),
    *_prefixed("scaleway-key", "SCW", rf"(?=[A-Z]{{0,17}}\d)[A-Z0-9]{{17}}{_END}"),
    *_prefixed("cloudflare-token", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{146}"),
    *_prefixed("cloudflare-token", "cfut_ cfat_ cfk_", r"[A-Za-z0-9_\-]{40,60}"),
    *_prefixed("yandex-key", "AQVN", rf"{_URL64}{{35,38}}"),
    *_prefixed("yandex-key", "YC", rf"(?=[A-Za-z_\-]{{0,37}}\d){_URL64}{{38}}(?![A-Za-z0-9_\-])"),
    *_prefixed("yandex-token", "t1.", rf"{_URL64}{{8,400}}={{0,2}}\.{_URL64}{{86}}={{0,2}}"),
    *_prefixed("openshift-token", "sha256~", rf"{_URL64}{{43}}(?![A-Za-z0-9_\-])"),
    *_prefixed("volcengine-key", "AKLT", rf"(?=[A-Za-z]{{0,40}}\d)[A-Za-z0-9]{{40,44}}{_END}"),
    *_prefixed("scalingo-token", "tk-us-", rf"{_URL64}{{48}}"),
    *_prefixed("render-key", "rnd_", rf"[A-Za-z0-9]{{28,40}}{_END}"),
    *_prefixed("vercel-token", "vercel_blob_rw_", r"[A-Za-z0-9_]{30,80}"),
    *_prefixed("clickhouse-key", "4b1d", rf"(?=[A-Za-z0-9]{{0,38}}[G-Zg-z])[A-Za-z0-9]{{38}}{_END}"),
    *_prefixed("elastic-key", "essu_", rf"{_B64}{{40,200}}={{0,2}}"),
    *_prefixed("mongodb-atlas-secret", "mdb_sa_sk_", rf"{_URL64}{{30,60}}"),
    *_prefixed("aiven-token", "AVNS_ aivenv1", rf"{_B64}{{19,400}}"),
    *_prefixed("redpanda-key", "rp_", rf"[A-Za-z0-9]{{50,80}}{_END}"),
)

CODE_HOSTS: tuple[Detector, ...] = (
    *_prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    *_prefixed("github-token", "github_pat_", r"[A-Za-z0-9_]{40,100}"),
    *_prefixed("github-token", "GHSAT0AAAAAA", r"[A-Z0-9]{20,60}"),
    *_prefixed("github-token", "ghs_", r"\d{1,12}_eyJ[A-Za-z0-9_.\-]{60,2000}"),
    *_prefixed("sourcegraph-token", "sgp_", r"(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    *_prefixed("sourcegraph-token", "slk_", r"[a-f0-9]{64}"),
    *_prefixed(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- glffct- gloas- glwt- GR1348941",
        rf"{_URL64}{{19,300}}(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{7,9}})?",
    ),
    *_prefixed("bitbucket-token", "ATBB ATCTT3x", r"[A-Za-z0-9_=\-]{24,250}"),
    *_prefixed("atlassian-token", "ATATT3x ATSTT3x", r"(?:[A-Za-z0-9_=\-.+/]|%3D){60,300}"),
    *_prefixed("npm-token", "npm_", rf"[A-Za-z0-9]{{36}}{_END}"),
    shape(
        "npm-token",
        "_authToken",
        r"_authToken\s{0,3}=\s{0,3}[\"']?(?P<secret>[A-Za-z0-9_\-+/=.]{10,200})",
        bounded=False,
    ),
    *_prefixed("pypi-token", "pypi-", rf"{_URL64}{{50,300}}"),
    *_prefixed("rubygems-key", "rubygems_", r"[a-f0-9]{48}"),
    *_prefixed("crates-token", "cio_tp_ cio", rf"(?=[A-Za-z]{{0,32}}\d)[A-Za-z0-9]{{32}}{_END}"),
    *_prefixed("nuget-key", "oy2", rf"[a-z0-9]{{43}}{_END}"),
    *_prefixed("docker-token", "dckr_pat_ dckr_oat_", rf"{_URL64}{{20,60}}"),
    *_prefixed("artifactory-key", "AKCp", r"[A-Za-z0-9]{60,80}"),
    *_prefixed("artifactory-token", "cmVmdGtuOj", r"[A-Za-z0-9]{50,70}"),
    *_prefixed("clojars-token", "CLOJARS_", r"[a-z0-9]{60}"),
    *_prefixed("cocoapods-token", "oss_", rf"[a-f0-9]{{40,64}}{_END}"),
    *_prefixed("octopus-key", "API-", rf"(?=[A-Z]{{0,25}}\d)[A-Z0-9]{{26,32}}{_END}"),
    *_prefixed("harness-token", "pat. sat.", rf"{_URL64}{{22}}\.[A-Za-z0-9]{{24}}\.[A-Za-z0-9]{{20}}"),
    *_prefixed("infracost-key", "ico-", rf"[A-Za-z0-9]{{32}}{_END}"),
    *_prefixed("bitrise-token", "bitpat_ bitwat_", rf"{_URL64}{{40,100}}"),
    *_prefixed("trello-token", "ATTA", rf"[0-9a-f]{{72}}{_END}"),
    *_prefixed("depot-token", "depot_org_ depot_project_ depot_user_", r"[a-f0-9]{60,80}"),
    *_prefixed("dbt-token", "dbtc_ dbts_ dbtu_", rf"{_URL64}{{30,80}}"),
    *_prefixed("terraform-token", "ATLASV1 atlasv1", r"\.[A-Za-z0-9_=\-]{40,80}"),
    shape("terraform-token", ".atlasv1.", rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_URL64}{{60,70}}", reach=14),
    *_prefixed("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_]{30,80}"),
    *_prefixed("buildkite-token", "bkua_ bkct_ bkaj_ bkat_ bkrt_", r"[A-Za-z0-9_.\-]{38,200}"),
    *_prefixed("sonar-token", "squ_ sqp_ sqa_", rf"[a-f0-9]{{40}}{_END}"),
    *_prefixed("snyk-token", "snyk_", r"[A-Za-z0-9_.\-]{30,80}"),
    *_prefixed("launchdarkly-key", "sdk- api- mob-", r"[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[a-f0-9]{4}-[a-f0-9]{12}"),
)

MESSENGERS: tuple[Detector, ...] = (
    *_prefixed(
        "slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe. xapp-", r"[A-Za-z0-9%\-.]{10,300}"
    ),
    shape(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,120})",
    ),
    shape(
        "discord-webhook", "/api/webhooks/", rf"/api/webhooks/(?P<secret>\d{{16,20}}/{_URL64}{{50,80}})", bounded=False
    ),
    shape("discord-token", ".G", rf"[MNO][A-Za-z0-9_\-]{{22,27}}\.G{_URL64}{{5}}\.{_URL64}{{27,40}}", reach=28),
    shape("discord-token", ".Y", rf"[MNO][A-Za-z0-9_\-]{{22,27}}\.Y{_URL64}{{5}}\.{_URL64}{{27,40}}", reach=28),
    shape("discord-token", ".X", rf"[MNO][A-Za-z0-9_\-]{{22,27}}\.X{_URL64}{{5}}\.{_URL64}{{27,40}}", reach=28),
    shape(
        "teams-webhook",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/(?P<secret>webhookb2/[^\s\"'\\]{40,300})",
        bounded=False,
    ),
    shape("telegram-token", ":AA", rf"\d{{8,10}}:AA{_URL64}{{32,35}}", reach=10),
    shape(
        "zapier-webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/(?P<secret>hooks/catch/\d{3,12}/[A-Za-z0-9]{5,20})"
    ),
    *_prefixed("slack-token", "xwfp-", r"[A-Za-z0-9\-]{20,200}"),
    *_prefixed("mailgun-key", "pubkey-", rf"[0-9a-f]{{32}}{_END}"),
    *_prefixed("mandrill-key", "md-", rf"(?=[A-Za-z_\-]{{0,21}}\d){_URL64}{{22}}(?![A-Za-z0-9_\-])"),
    *_prefixed("twilio-key", "SK", rf"[0-9a-f]{{32}}{_END}"),
    *_prefixed("sendgrid-key", "SG.", rf"{_URL64}{{16,32}}\.{_URL64}{{32,64}}"),
    *_prefixed("mailgun-key", "key-", rf"[0-9a-f]{{32}}{_END}"),
    *_prefixed("brevo-key", "xkeysib- xsmtpsib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    shape("mailchimp-key", "-us", rf"[0-9a-f]{{32}}-us\d{{1,2}}{_END}", reach=32),
    *_prefixed("resend-key", "re_", rf"(?=[A-Za-z_]{{0,30}}\d)[A-Za-z0-9]{{6,10}}_[A-Za-z0-9]{{18,30}}{_END}"),
)

SERVICES: tuple[Detector, ...] = (
    *_prefixed("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_", r"[A-Za-z0-9_]{16,250}"),
    *_prefixed("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,80}"),
    *_prefixed("square-token", "sq0atp- sq0csp-", rf"{_URL64}{{20,80}}"),
    *_prefixed("square-token", "EAAAE EAAAl", rf"{_URL64}{{55,60}}(?![A-Za-z0-9_\-+/=])"),
    *_prefixed("shopify-token", "shpat_ shpss_ shpca_ shppa_ shptka_", r"[a-fA-F0-9]{32}"),
    *_prefixed("paypal-token", "access_token$production$ access_token$sandbox$", r"[a-z0-9]{13,20}\$[a-f0-9]{32}"),
    *_prefixed("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14,24}"),
    *_prefixed("flutterwave-key", "FLWSECK- FLWSECK_TEST-", r"(?=[A-Za-z\-]{0,59}\d)[A-Za-z0-9\-]{12,60}"),
    *_prefixed("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,70}"),
    *_prefixed("notion-token", "ntn_", r"[A-Za-z0-9]{40,60}"),
    *_prefixed("notion-token", "secret_", rf"(?=[A-Za-z]{{0,42}}\d)[A-Za-z0-9]{{43}}{_END}"),
    *_prefixed("figma-token", "figd_ figo_ figu_ figp_", rf"{_URL64}{{38,60}}"),
    *_prefixed("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    *_prefixed("asana-token", "0/ 1/ 2/", r"\d{16}(?:/\d{16})?:[a-z0-9]{32}"),
    *_prefixed("dropbox-token", "sl.", rf"(?:u\.)?{_URL64}{{100,1400}}"),
    *_prefixed("facebook-token", "EAA", rf"(?=[A-Za-z]{{0,60}}\d)[A-Za-z0-9]{{80,300}}{_NOT_BASE64}"),
    *_prefixed("new-relic-key", "NRAK- NRAL- NRJS- NRII- NRIQ-", rf"{_URL64}{{19,40}}"),
    *_prefixed("grafana-token", "glsa_ glc_ eyJrIjoi", r"[A-Za-z0-9_+/=]{32,400}"),
    *_prefixed("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", r"[A-Za-z0-9_+/=\-]{40,400}"),
    *_prefixed("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    *_prefixed("postman-key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{30,36}"),
    *_prefixed("pulumi-token", "pul-", r"[a-f0-9]{40}"),
    *_prefixed("doppler-token", "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.", r"[A-Za-z0-9._\-]{40,80}"),
    *_prefixed("vault-token", "hvs. hvb. hvr.", rf"{_URL64}{{24,300}}"),
    *_prefixed("1password-token", "ops_eyJ", r"[A-Za-z0-9+/=_\-]{100,2000}"),
    *_prefixed(
        "1password-key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    *_prefixed("tailscale-key", "tskey-", r"[a-z]{3,9}-[A-Za-z0-9\-]{16,80}"),
    *_prefixed("ngrok-key", "ak_ cr_", rf"2[A-Za-z0-9]{{26}}{_END}"),
    *_prefixed("typeform-token", "tfp_", r"[A-Za-z0-9_\-.]{40,80}"),
    *_prefixed("intra42-secret", "s-s4t2ud- s-s4t2af-", r"[a-f0-9]{64}"),
    *_prefixed("duffel-token", "duffel_live_ duffel_test_", r"[A-Za-z0-9_=\-]{40,60}"),
    *_prefixed("easypost-key", "EZAK EZTK", rf"[A-Za-z0-9]{{54}}{_END}"),
    *_prefixed("readme-key", "rdme_", r"[a-z0-9]{70}"),
    *_prefixed("prefect-key", "pnu_ pnb_", rf"[A-Za-z0-9]{{36}}{_END}"),
    *_prefixed("posthog-key", "phx_ phs_", r"[A-Za-z0-9_\-]{40,60}"),
    *_prefixed("contentful-token", "CFPAT-", rf"{_URL64}{{40,50}}"),
    *_prefixed("mapbox-secret", "sk.eyJ", rf"{_URL64}{{50,200}}\.{_URL64}{{20,40}}"),
    *_prefixed("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,60}"),
    *_prefixed("hubspot-token", "pat-na1- pat-eu1- pat-na2-", r"[a-f0-9\-]{36}"),
    *_prefixed("clickup-token", "pk_", rf"\d{{6,10}}_[A-Z0-9]{{32}}{_END}"),
    shape("new-relic-key", "NRAL", rf"[a-f0-9xX]{{30,40}}(?:FFFF)?NRAL{_END}", reach=40),
    *_prefixed("plaid-token", "access-sandbox- access-development- access-production-", r"[0-9a-f\-]{36}"),
    *_prefixed("shippo-token", "shippo_live_ shippo_test_", r"[a-fA-F0-9]{40}"),
    *_prefixed("lob-key", "live_ test_", rf"[a-f0-9]{{35}}{_END}"),
    *_prefixed("gocardless-token", "live_ sandbox_", r"(?=[A-Za-z_=\-]{0,39}\d)[A-Za-z0-9_=\-]{40}(?![A-Za-z0-9_=\-])"),
    *_prefixed("adobe-secret", "p8e- p8-", r"[A-Za-z0-9_\-]{32}(?![A-Za-z0-9_\-])"),
    *_prefixed("frameio-token", "fio-u-", r"[A-Za-z0-9_=\-]{64}"),
    *_prefixed("defined-token", "dnkey-", r"[a-z0-9=_\-]{26}-[a-z0-9=_\-]{52}"),
    *_prefixed("honeycomb-key", "hcaik_ hcbik_ hcalk_ hcamk_", r"[a-z0-9]{26,64}"),
    *_prefixed("maxmind-key", "mmk_", r"[A-Za-z0-9]{29,60}"),
    shape("maxmind-key", "_mmk", rf"[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk{_END}", reach=36),
    shape("rapidapi-key", "msh", r"[a-z0-9]{10}msh[a-z0-9]{15}p1[a-z0-9]{6}jsn[a-z0-9]{12}", reach=10),
    *_prefixed("riot-key", "RGAPI-", r"[0-9a-fA-F\-]{36}"),
    *_prefixed("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"(?=[A-Za-z0-9]{0,100}%)[A-Za-z0-9%]{60,120}"),
    *_prefixed("linkedin-secret", "WPL_AP1.", r"[A-Za-z0-9.=+/]{16,60}"),
    *_prefixed("woocommerce-secret", "cs_ ck_", rf"[a-f0-9]{{40}}{_END}"),
    *_prefixed("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", r"[A-Za-z0-9]{16,40}"),
    *_prefixed("postman-key", "PMAT-", r"[A-Z0-9]{26}"),
    *_prefixed("stytch-secret", "secret-live- secret-test-", rf"{_URL64}{{30,40}}="),
    *_prefixed("statsig-key", "secret-", rf"(?=[A-Za-z]{{0,40}}\d)[A-Za-z0-9]{{40,50}}{_END}"),
    *_prefixed("sanity-token", "sk", rf"(?=[A-Za-z]{{0,60}}\d)[A-Za-z0-9]{{150,180}}{_NOT_BASE64}"),
    *_prefixed("instagram-token", "IGQV IGQW IGAA", rf"{_URL64}{{80,300}}"),
    *_prefixed("extended-private-key", "xprv tprv zprv yprv", rf"[1-9A-HJ-NP-Za-km-z]{{100,112}}{_END}"),
    *_prefixed(
        "authress-key",
        "sc_ ext_ scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_\-][a-z0-9\-]{10,32}\.[A-Za-z0-9+/_=\-]{30,120}",
    ),
    *_prefixed(
        "paseto-token", "v1.local. v2.local. v3.local. v4.local. v2.public. v4.public.", rf"{_URL64}{{40,4000}}"
    ),
    *_prefixed("amazon-mws-token", "amzn.mws.", r"[0-9a-f\-]{36}"),
    *_prefixed("helicone-key", "sk-helicone- pk-helicone-", r"[a-z0-9\-]{24,60}"),
    *_prefixed("packagist-token", "packagist_", r"[a-z]{3}_[a-f0-9]{40,80}"),
    *_prefixed("nostr-key", "nsec1", rf"[02-9ac-hj-np-z]{{58}}{_END}"),
    *_prefixed("django-key", "django-insecure-", r"[a-z0-9!@#$%^&*(\-_=+)]{50}"),
    shape("password-hash", "$y$", r"\$y\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}", bounded=False),
    shape("password-hash", "$1$", r"\$1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}", bounded=False),
    shape("password-hash", "$2", r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}", bounded=False),
    shape("password-hash", "$6$", r"\$6\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{4,16}\$[./A-Za-z0-9]{86}", bounded=False),
    shape("password-hash", "$5$", r"\$5\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{4,16}\$[./A-Za-z0-9]{43}", bounded=False),
    shape("password-hash", "$apr1$", r"\$apr1\$[./A-Za-z0-9]{4,8}\$[./A-Za-z0-9]{22}", bounded=False),
    *_prefixed("hashicorp-token", "hcp.", rf"{_URL64}{{60,100}}"),
    *_prefixed("svix-key", "testsk_ sk_svix_", r"[A-Za-z0-9_\-.]{20,80}"),
    *_prefixed("ssh-private-key", "b3BlbnNzaC1rZXktdjE", rf"{_B64}{{100,8000}}={{0,2}}"),
)

MORE: tuple[Detector, ...] = (
    *_prefixed("adafruit-key", "aio_", rf"[A-Za-z0-9]{{28}}{_END}"),
    *_prefixed("anyscale-token", "esecret_", rf"[a-z0-9]{{20,60}}{_END}"),
    *_prefixed("cockroach-key", "CCDB1_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{40}"),
    *_prefixed("devcycle-key", "dvc_server_ dvc_client_ dvc_mobile_", r"[A-Za-z0-9_\-]{30,80}"),
    *_prefixed("chief-tools-token", "ctp_ cto_ ctr_", rf"[A-Za-z0-9]{{30,248}}{_END}"),
    *_prefixed("ionic-token", "ion_", rf"(?=[A-Za-z]{{0,42}}\d)[A-Za-z0-9]{{42}}{_END}"),
    *_prefixed("jd-cloud-key", "JDC_", rf"[A-Z0-9]{{25,40}}{_END}"),
    *_prefixed("logicmonitor-token", "lmb_ lma_", r"[A-Za-z0-9+/=_\-]{40,140}"),
    *_prefixed("langsmith-key", "ls__", rf"[a-f0-9]{{32}}{_END}"),
    *_prefixed(
        "mercury-token", "secret-token:mercury_production_ secret-token:mercury_sandbox_", r"[A-Za-z0-9_]{20,120}"
    ),
    *_prefixed("onfido-token", "api_live. api_sandbox. api_live_us. api_live_ca.", rf"{_URL64}{{11}}\.{_URL64}{{32}}"),
    *_prefixed("persona-key", "persona_production_ persona_sandbox_", r"[A-Za-z0-9\-]{20,80}"),
    *_prefixed("pinterest-token", "pina_", rf"[A-Z0-9]{{40,120}}{_END}"),
    *_prefixed(
        "polar-token",
        "polar_oat_ polar_pat_ polar_cs_ polar_at_u_ polar_at_o_ polar_rt_u_ polar_rt_o_ polar_whs_",
        rf"{_URL64}{{20,100}}",
    ),
    *_prefixed("runpod-key", "rpa_", rf"(?=[A-Za-z]{{0,60}}\d)[A-Za-z0-9]{{32,60}}{_END}"),
    *_prefixed("rootly-key", "rootly_", r"[a-f0-9]{64}"),
    *_prefixed("samsara-token", "samsara_api_", r"[A-Za-z0-9]{20,60}"),
    *_prefixed("sindri-key", "sindri_development_ sindri_production_ sindri_staging_", r"[A-Za-z0-9]{30,60}"),
    *_prefixed("thunderstore-token", "tss_", rf"[A-Za-z0-9]{{35,45}}{_END}"),
    *_prefixed("val-town-token", "vtwn_", rf"{_URL64}{{20,48}}"),
    *_prefixed("wakatime-key", "waka_", r"[0-9a-fA-F]{8}-[0-9a-fA-F\-]{27}"),
    *_prefixed("zuplo-key", "zpka_ zpcka_", r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    *_prefixed("axiom-token", "xaat- xapt- xait-", r"[0-9a-f]{8}-[0-9a-f\-]{27}"),
    *_prefixed("unkey-key", "unkey_", rf"[A-Za-z0-9]{{20,40}}{_END}"),
    *_prefixed("trigger-key", "tr_dev_ tr_prod_ tr_stg_ tr_preview_ tr_pat_", r"[A-Za-z0-9]{20,60}"),
    *_prefixed("inngest-key", "signkey-", r"[a-z0-9_\-]{1,40}?-[a-f0-9]{24,64}"),
    *_prefixed("mem0-key", "m0-", rf"(?=[A-Za-z]{{0,44}}\d)[A-Za-z0-9]{{24,44}}{_END}"),
    *_prefixed("browserbase-key", "bb_live_ bb_test_", r"[A-Za-z0-9_\-]{24,40}"),
    *_prefixed("cal-key", "cal_live_ cal_", rf"(?=[A-Za-z]{{0,32}}\d)[A-Za-z0-9]{{32}}{_END}"),
    *_prefixed("deno-token", "ddp_ ddo_ ddw_", rf"[A-Za-z0-9]{{36}}{_END}"),
    *_prefixed("socket-token", "sktsec_", rf"{_URL64}{{20,80}}"),
    *_prefixed("firehydrant-token", "fhb-", r"[a-f0-9]{32,64}"),
    *_prefixed("pubnub-key", "sec-c-", r"(?:[A-Za-z0-9]{48,52}|[0-9a-f]{8}-[0-9a-f\-]{27})"),
    *_prefixed("tigris-key", "tsec_", r"[A-Za-z0-9_+/\-]{40,80}"),
    *_prefixed("xata-key", "xau_ xao_", r"[A-Za-z0-9]{30,50}"),
    *_prefixed("gitbook-token", "gb_api_", r"[A-Za-z0-9]{30,60}"),
    *_prefixed("liveblocks-key", "sk_prod_ sk_dev_", rf"(?=[^\s\d]{{0,60}}\d){_URL64}{{40,80}}"),
    *_prefixed(
        "ory-token", "ory_pat_ ory_wak_ ory_at_ ory_rt_ ory_ac_ ory_st_ ory_apikey_", r"[A-Za-z0-9_\-.]{30,120}"
    ),
    *_prefixed("lichess-token", "lip_", rf"[A-Za-z0-9]{{20}}{_END}"),
    *_prefixed("amazon-oauth-secret", "amzn1.oa2-cs.v1.", r"[a-f0-9]{64}"),
    *_prefixed("amazon-oauth-token", "Atza| Atzr|", r"[A-Za-z0-9_\-]{100,2000}"),
    *_prefixed("docker-swarm-token", "SWMTKN-1-", r"[a-z0-9]{50}-[a-z0-9]{25}"),
    *_prefixed("docker-swarm-key", "SWMKEY-1-", rf"(?=[A-Za-z+/]{{0,42}}\d){_B64}{{43}}"),
    *_prefixed("k3s-token", "K10", r"[0-9a-f]{48,64}::(?:server|node|agent|[a-z0-9]{6}):?[A-Za-z0-9.:]{0,512}"),
    *_prefixed("modal-secret", "as- ak-", rf"(?=[A-Za-z]{{0,21}}\d)[A-Za-z0-9]{{22}}{_END}"),
    *_prefixed(
        "convex-key",
        "prod: dev: preview: project:",
        r"[a-z0-9:\-]{3,80}\|(?=[A-Za-z+/]{0,100}\d)[A-Za-z0-9+/=]{40,400}",
    ),
    *_prefixed("paddle-key", "pdl_live_ pdl_sdbx_", r"apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}"),
    *_prefixed("astra-token", "AstraCS:", r"[A-Za-z0-9]{24}:[A-Za-z0-9]{64}"),
    *_prefixed("logfire-token", "pylf_v1_ pylf_v2_", r"[a-z]{2,10}_[A-Za-z0-9_\-]{30,120}"),
    *_prefixed("onesignal-key", "os_v2_app_ os_v2_org_", r"[a-z0-9]{20,140}"),
    *_prefixed("mailersend-token", "mlsn. mssp.", r"[A-Za-z0-9]{40,80}"),
    *_prefixed("llamacloud-key", "llx-", r"[A-Za-z0-9]{40,60}"),
    *_prefixed("kaggle-token", "KGAT_", r"[a-f0-9]{32,64}"),
    *_prefixed("mixedbread-key", "mxb_", r"[A-Za-z0-9]{32,64}"),
    *_prefixed("bitwarden-token", "0.", r"[0-9a-f]{8}-[0-9a-f\-]{27}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}=="),
    shape(
        "proxmox-token", "@pam!", r"@pam![A-Za-z0-9._\-]{1,64}=(?P<secret>[0-9a-f]{8}-[0-9a-f\-]{27})", bounded=False
    ),
)

TOKENS: tuple[Detector, ...] = tuple(
    replace(one, is_token=True) for one in (*LANGUAGE_MODELS, *CLOUDS, *CODE_HOSTS, *MESSENGERS, *SERVICES, *MORE)
)
"""What stands within one run of token characters."""
