"""The files for servers are well-formed, and name what the documentation says."""

from __future__ import annotations

from pathlib import Path

import yaml

DEPLOY = Path(__file__).parents[2] / "packaging" / "deploy"


def test_the_compose_file_starts_milvus_with_authentication_for_this_computer_alone() -> None:
    services = yaml.safe_load((DEPLOY / "milvus-compose.yml").read_text(encoding="utf-8"))["services"]
    assert services.keys() == {"etcd", "minio", "milvus"}
    assert services["milvus"]["environment"]["COMMON_SECURITY_AUTHORIZATIONENABLED"] == "true"
    assert services["milvus"]["ports"] == ["127.0.0.1:19530:19530"]
    assert all("ports" not in services[name] for name in ("etcd", "minio"))
    assert services["minio"]["environment"]["MINIO_ROOT_PASSWORD"].startswith("${MINIO_PASSWORD:?")


def test_the_helm_values_ask_for_authentication_and_tls() -> None:
    values = yaml.safe_load((DEPLOY / "milvus-values.yaml").read_text(encoding="utf-8"))
    milvus = yaml.safe_load(values["extraConfigFiles"]["user.yaml"])
    assert values["cluster"]["enabled"] is True
    assert milvus["common"]["security"]["authorizationEnabled"] is True
    assert milvus["common"]["security"]["tlsMode"] == 1
    mounts = {mount["name"]: mount["mountPath"] for mount in values["proxy"]["volumeMounts"]}
    assert milvus["tls"]["serverPemPath"].startswith(mounts["milvus-tls"])


def test_the_compose_file_of_postgresql_takes_its_password_from_the_environment_and_speaks_tls() -> None:
    service = yaml.safe_load((DEPLOY / "postgres-compose.yml").read_text(encoding="utf-8"))["services"]["postgres"]
    assert service["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    assert "ssl=on" in service["command"]
    assert service["ports"] == ["127.0.0.1:5432:5432"]
