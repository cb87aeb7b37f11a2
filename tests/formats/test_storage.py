"""The project of a file in a program's storage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pastchats_memory.formats.base.storage import decode_project, project_of_file, project_of_folder

ID = "3f2a1b2c-1111-2222-3333-444455556666"


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("/home/x/.gemini/tmp/kiln/chats/session-1.json", "kiln"),
        (f"/home/x/.gemini/tmp/{'a1' * 32}/chats/session-1.json", "unknown"),
        ("/home/x/.gemini/tmp/kiln/logs.json", "kiln"),
        ("/home/x/.codex/sessions/2026/11/02/rollout-1.jsonl", "unknown"),
        (f"/home/x/.copilot/session-state/{ID}/events.jsonl", "unknown"),
        (f"/home/x/.gemini/antigravity/brain/{ID}/.system_generated/logs/transcript.jsonl", "unknown"),
        ("/home/x/.local/share/opencode/storage/session/global/ses_1.json", "unknown"),
        (f"/home/x/.config/Code/User/workspaceStorage/{'b' * 32}/chatSessions/1.json", "unknown"),
        ("/srv/kiln/logs/session.jsonl", "kiln"),
        ("/srv/kiln/.specstory/history/door.md", "kiln"),
        ("/home/x/exports/chat.json", "exports"),
        ("/home/x/kiln/users/exports/chat.json", "exports"),
        ("/srv/data/tests/fixtures/home/kiln/chat.json", "kiln"),
    ],
)
def test_a_storage_folder_is_never_a_project(path: str, project: str) -> None:
    assert project_of_file(Path(path)) == project


@pytest.mark.parametrize(
    ("name", "project"),
    [
        ("-home-x-Projects-Sentinel", "Sentinel"),
        ("-home-x-code-kiln-gate", "kiln-gate"),
        ("-Users-ada-kiln", "kiln"),
        ("-srv-kiln-gate", "kiln-gate"),
        ("C--Users-ada-source-repos-kiln-gate", "kiln-gate"),
        ("--home-x-kiln--", "kiln"),
        ("-srv-kiln--claude-worktrees-frosty-kepler", "kiln"),
        ("-home-x--codex-worktrees-a1b2-kiln-gate", "kiln-gate"),
        ("-home-x--cursor-worktrees-kiln-gate-x1y2z", "kiln-gate"),
        ("-Users-ada-conductor-workspaces-kiln-lisbon", "kiln"),
    ],
)
def test_a_path_in_a_name_becomes_the_project_that_it_names(name: str, project: str) -> None:
    assert decode_project(name, Path("/home/x/.claude/projects", name, "memory", "note.md")) == project


def test_a_path_in_a_name_of_cursor_has_no_leading_hyphen() -> None:
    path = Path("/home/x/.cursor/projects/home-x-code-kiln/agent-transcripts/1.jsonl")
    assert decode_project("home-x-code-kiln", path) == "kiln"
    assert decode_project("home-made", Path("/srv/home-made/chat.md")) == "home-made"


def test_the_folders_that_exist_decide_where_a_hyphen_was_a_separator(tmp_path: Path) -> None:
    for name in ("kiln-gate", "kiln/door-old"):
        (tmp_path / name).mkdir(parents=True)
    encoded = {
        name: str(tmp_path / name).translate(str.maketrans("/\\:_.", "-----"))
        for name in ("kiln-gate", "kiln/door-old")
    }
    assert decode_project(encoded["kiln-gate"], tmp_path) == "kiln-gate"
    assert decode_project(encoded["kiln/door-old"], tmp_path) == "door-old"


def test_a_transcript_beside_the_file_knows_the_path_of_a_folder_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-srv-kiln-gate"
    (folder / "memory").mkdir(parents=True)
    (folder / "s.jsonl").write_text(json.dumps({"type": "user", "cwd": "/srv/kiln/gate"}) + "\n", encoding="utf-8")
    assert decode_project(folder.name, folder / "memory" / "note.md") == "gate"


def test_an_id_is_never_a_project() -> None:
    assert decode_project(ID, Path("/srv/chat.jsonl")) == "unknown"
    assert project_of_folder(f"/srv/boxes/{ID}") == "boxes"
