"""`scripts/prepare_first_release.py`, which deletes this file when it has done its work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from program import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

import prepare_first_release

CHANGES = prepare_first_release.list_changes("mira", "2027-01-04")


@pytest.mark.parametrize(("name", "before"), [change[:2] for change in CHANGES])
def test_every_text_that_the_first_release_replaces_stands_once_in_its_file(name: str, before: str) -> None:
    assert (REPOSITORY / name).read_text(encoding="utf-8").count(before) == 1


def test_the_first_release_leaves_no_owner_open_and_no_word_that_nothing_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {*(name for name, _, _ in CHANGES), *prepare_first_release.DELETED}:
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((REPOSITORY / name).read_bytes())
    monkeypatch.setattr(prepare_first_release, "REPOSITORY", tmp_path)
    monkeypatch.setattr(sys, "argv", ["prepare_first_release", "mira", "--date", "2027-01-04"])
    assert prepare_first_release.main() == 0
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file())
    assert [word for word in ("OWNER/", "not on PyPI", "unreleased") if word in text] == []
