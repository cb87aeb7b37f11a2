"""What maintainers rely on: workflows, the lock, the formula and the manifest."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from program import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

import generate_downloads

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (REPOSITORY / generate_downloads.LOCK).read_text(encoding="utf-8")


def normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_pins_every_action_and_has_no_permission_by_default(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    body = yaml.safe_load(text)
    assert body["permissions"] == {}
    for job in body["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            if action := step.get("uses"):
                assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action)
                assert "checkout" not in action or step["with"]["persist-credentials"] is False


def test_the_tests_run_on_three_systems_and_four_pythons() -> None:
    jobs = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    pythons = ["3.11", "3.12", "3.13", "3.14"]
    assert [jobs[name]["strategy"]["matrix"]["python"] for name in ("suite", "windows")] == [pythons] * 2
    systems = ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert jobs["packages"]["strategy"]["matrix"]["system"] == systems
    assert jobs["suite"]["strategy"]["matrix"]["system"] == ["ubuntu-latest", "macos-latest"]
    assert jobs["windows"]["runs-on"] == "windows-latest"
    assert [f"Programming Language :: Python :: {version}" in PROJECT["classifiers"] for version in pythons] == [
        True
    ] * 4


def test_every_make_target_that_a_workflow_calls_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    called = {
        name for file in WORKFLOWS for name in re.findall(r"make PYTHON=python ([\w-]+)", file.read_text("utf-8"))
    }
    assert called == {"test", "lint", "lint-workflows", "docs", "release", "check-plugins"}
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in called)


@pytest.mark.parametrize("form", ["bug", "format", "idea"])
def test_an_issue_form_has_only_fields_with_labels(form: str) -> None:
    body = yaml.safe_load((REPOSITORY / ".github" / "ISSUE_TEMPLATE" / f"{form}.yml").read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(body)
    assert all(field["type"] == "markdown" or field["attributes"]["label"] for field in body["body"])


def test_a_bug_report_asks_for_the_doctor_and_against_conversations() -> None:
    text = (REPOSITORY / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text(encoding="utf-8")
    assert "pastchats-memory doctor" in text
    assert "Do not paste conversations" in text


def test_the_lock_has_every_dependency_with_hashes() -> None:
    locked = {normalise(name) for name in re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE)}
    wanted = {normalise(re.match(r"[\w.-]+", dependency)[0]) for dependency in PROJECT["dependencies"]}
    assert wanted <= locked, "run `make lock`"
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=\S)", LOCK.strip()))


def test_formula_and_manifest_name_the_archive_by_its_hash(tmp_path: Path) -> None:
    archive = tmp_path / f"pastchats_memory-{PROJECT['version']}.tar.gz"
    archive.write_bytes(b"the archive")
    files = generate_downloads.render_downloads(archive)
    digest = hashlib.sha256(b"the archive").hexdigest()
    manifest = json.loads(files["pastchats-memory.json"])
    assert manifest["hash"] == digest
    assert manifest["extract_dir"] == f"pastchats_memory-{PROJECT['version']}"
    assert f'sha256 "{digest}"' in files["pastchats-memory.rb"]
    assert files["pastchats-memory.rb"].count('"') % 2 == 0
    for text in files.values():
        assert generate_downloads.PROJECT["urls"]["Repository"] in text
        assert "requirements.lock" in text


def test_the_server_of_the_container_runs_as_nobody() -> None:
    lines = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert "USER 65534:65534" in lines
    assert lines.index("USER 65534:65534") < next(place for place, line in enumerate(lines) if line.startswith("CMD"))
