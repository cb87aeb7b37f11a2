"""`contracts/CONTRACT_INDEX.yml` is whole: every file listed, every id covered, every test real."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contract_checks
import pytest
import yaml
from program import REPOSITORY

CONTRACTS = REPOSITORY / "contracts"
INVARIANTS = {"I-ARCH-001", "I-ARCH-002", "I-ARCH-003", "I-MEM-001", "I-MEM-002", "I-MEM-003", "I-MEM-004"}
TAGS = re.compile(r"@((?:ARCH|MEM)-\d{3})\b")
KEYS = {
    "feature": ["id", "rule", "severity", "why", "enforced_by", "checks", "tests", "breakages"],
    "journey": ["id", "title", "actor", "steps", "tests"],
}


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def index_faults(folder: Path, tests: set[str]) -> list[str]:
    """What is missing or wrong in a folder of contracts, given the tests that exist."""
    index = read(folder / "CONTRACT_INDEX.yml")
    listed = {**index["contracts"], **index["journeys"], **index["schemas"]}
    present = {
        str(file.relative_to(folder))
        for pattern in ("feature_*.yml", "journey_*.yml", "schemas/*.json")
        for file in folder.glob(pattern)
    }
    faults = [f"{name} is not in the index" for name in sorted(present - set(listed.values()))]
    faults += [f"{name} is in the index, but not there" for name in sorted(set(listed.values()) - present)]
    faults += [f"{id_} has no contract" for id_ in sorted(INVARIANTS - set(index["contracts"]))]
    covered = index["covered_by"]
    faults += [f"{id_} is covered by no test" for id_ in listed if not covered.get(id_)]
    faults += [f"{id_} is covered, but no contract" for id_ in sorted(set(covered) - set(listed))]
    named = {test for of_id in covered.values() for test in of_id or ()}
    faults += [f"{test} does not exist" for test in sorted(named - tests)]
    for id_, name in {**index["contracts"], **index["journeys"]}.items():
        if name in present:
            faults += _file_faults(folder / name, id_, covered.get(id_) or [])
    return faults


def _file_faults(path: Path, id_: str, covered: list[str]) -> list[str]:
    contract = read(path)
    faults = [] if contract["id"] == id_ else [f"{path.name} is about {contract['id']}, not about {id_}"]
    keys = KEYS[path.name.partition("_")[0]]
    faults += [f"{path.name} has no {key}" for key in keys if not contract.get(key)]
    if sorted({*contract["tests"], *contract.get("breakages", [])}) != sorted(covered):
        faults.append(f"{path.name} names other tests than the index")
    return faults


@pytest.fixture(scope="module")
def existing_tests() -> set[str]:
    """Return the id of every test function, and of every scenario, which only pytest can name; without parameters."""
    functions = {
        f"{path.relative_to(REPOSITORY).as_posix()}::{name}"
        for path in (REPOSITORY / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    command = [sys.executable, "-m", "pytest", "--collect-only", "tests/features"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, encoding="utf-8", check=True)
    return functions | {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}


def test_the_index_is_whole(existing_tests: set[str]) -> None:
    assert len(existing_tests) > 60
    assert index_faults(CONTRACTS, existing_tests) == []


def test_every_invariant_has_a_scenario() -> None:
    features = "".join(file.read_text(encoding="utf-8") for file in (REPOSITORY / "features").glob("*.feature"))
    assert {f"I-{tag}" for tag in TAGS.findall(features)} == INVARIANTS
    for id_ in INVARIANTS:
        tests = read(CONTRACTS / "CONTRACT_INDEX.yml")["covered_by"][id_]
        assert any("tests/features/" in test for test in tests), f"{id_} has no scenario"


def test_every_check_that_a_contract_names_is_there() -> None:
    for file in CONTRACTS.glob("feature_*.yml"):
        for check in read(file)["checks"]:
            assert callable(getattr(contract_checks, check)), f"{file.name} names {check}"


def unlist_contract(folder: Path) -> None:
    shutil.copy(folder / "feature_mem_001.yml", folder / "feature_mem_005.yml")


def lose_contract(folder: Path) -> None:
    (folder / "feature_mem_002.yml").unlink()


def name_other_test(folder: Path) -> None:
    index = folder / "CONTRACT_INDEX.yml"
    text = index.read_text(encoding="utf-8")
    index.write_text(text.replace("::test_only_the_store_layer_imports_sqlite", "::test_gone"), encoding="utf-8")


def uncover(folder: Path) -> None:
    rewrite(folder, lambda index: index["covered_by"].pop("I-MEM-003"))


def forget_schema(folder: Path) -> None:
    rewrite(folder, lambda index: index["schemas"].pop("recall/1"))


def rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "CONTRACT_INDEX.yml"
    index = read(path)
    change(index)
    path.write_text(yaml.safe_dump(index), encoding="utf-8")


@pytest.mark.parametrize(
    ("breakage", "fault"),
    [
        (unlist_contract, "feature_mem_005.yml is not in the index"),
        (lose_contract, "feature_mem_002.yml is in the index, but not there"),
        (name_other_test, "tests/contracts/test_feature_contracts.py::test_gone does not exist"),
        (uncover, "I-MEM-003 is covered by no test"),
        (forget_schema, "schemas/recall.json is not in the index"),
    ],
)
def test_an_index_with_a_gap_is_noticed(
    existing_tests: set[str], tmp_path: Path, breakage: Callable[[Path], None], fault: str
) -> None:
    folder = tmp_path / "contracts"
    shutil.copytree(CONTRACTS, folder)
    breakage(folder)
    assert fault in index_faults(folder, existing_tests)
