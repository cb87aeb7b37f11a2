"""Test that an episode names the commit with its edits, and the one that reverted it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from program import Program
from served import browsing, serving

OLD = "def run_pump(hour):\n    return hour < 4\n"
NEW = "def run_pump(hour):\n    night = hour >= 22\n    return night or hour < 4\n"
WHEN = 1_777_888_800
"""2026-05-04T10:00:00Z, when the session starts."""


class Repository:
    """A repository, in which a session changed `src/pump.py`."""

    def __init__(self, program: Program) -> None:
        self.folder = program.home / "src" / "orchard"
        self.folder.mkdir(parents=True)
        self.program = Program(program.home, program.command, program.variables, self.folder)
        self.git("init", "--quiet")
        self.commit("README.md", WHEN - 7200)
        calls = [
            {
                "type": "tool_use",
                "id": "c",
                "name": "Edit",
                "input": {"file_path": str(self.folder / "src" / "pump.py"), "old_string": OLD, "new_string": NEW},
            }
        ]
        texts = (
            ("user", [{"type": "text", "text": "Let the irrigation pump run at night."}]),
            ("assistant", calls),
            ("user", [{"type": "tool_result", "tool_use_id": "c", "content": "updated"}]),
            ("assistant", [{"type": "text", "text": "The irrigation pump runs from ten at night."}]),
        )
        records = (
            {"type": role, "uuid": f"u{place}", "sessionId": "s", "cwd": str(self.folder), "version": "2.1.266",
             "timestamp": f"2026-05-04T10:0{place}:00.000Z", "message": {"role": role, "id": f"m{place}", "content": content}}
            for place, (role, content) in enumerate(texts)
        )  # fmt: skip
        path = program.home / "s.jsonl"
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        assert self.program("index", path).status == 0

    def git(self, *arguments: str, at: int = WHEN) -> str:
        dates = {f"GIT_{part}_{name}": value for part in ("AUTHOR", "COMMITTER")
                 for name, value in (("DATE", f"@{at} +0000"), ("NAME", "ada"), ("EMAIL", "ada@example.org"))}  # fmt: skip
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.program.home), **dates}
        return subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, name: str, at: int) -> str:
        """Change a file, commit it at a time, and return the short hash."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(str(at), encoding="utf-8")
        self.git("add", name)
        self.git("commit", "--quiet", "--message", "work", at=at)
        return self.git("rev-parse", "--short=7", "HEAD")

    def write(self, text: str) -> None:
        """Commit a text of the changed file."""
        (self.folder / "src").mkdir(exist_ok=True)
        (self.folder / "src" / "pump.py").write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "work", at=WHEN + 3600)

    def recall(self) -> str:
        return self.program("recall", "irrigation pump at night").stdout


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(Program(tmp_path))


def test_an_episode_names_the_first_commit_with_its_edits(repository: Repository) -> None:
    assert "committed" not in repository.recall()
    first = repository.commit("src/pump.py", WHEN + 3600)
    repository.commit("src/pump.py", WHEN + 7200)
    assert f" · committed {first} · 0 of 2 added" in repository.recall()
    (result,) = repository.program("recall", "irrigation pump at night", "--json").results
    assert (result["commit"], result["reverted_by"]) == (first, None)


def test_a_reverted_commit_is_named_with_its_revert(repository: Repository) -> None:
    first = repository.commit("src/pump.py", WHEN + 3600)
    repository.git("revert", "--no-edit", "HEAD", at=WHEN + 9000)
    revert = repository.git("rev-parse", "--short=7", "HEAD")
    assert f" · committed {first}, reverted by {revert} · 0 of 2 added" in repository.recall()


def test_a_commit_that_was_applied_again_is_not_reverted(repository: Repository) -> None:
    first = repository.commit("src/pump.py", WHEN + 3600)
    repository.git("revert", "--no-edit", "HEAD", at=WHEN + 9000)
    repository.git("revert", "--no-edit", "HEAD", at=WHEN + 9600)
    assert f" · committed {first} · 0 of 2 added" in repository.recall()


def test_a_commit_is_reverted_with_the_merge_that_brought_it(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "night;touch>trap")
    first = repository.commit("src/pump.py", WHEN + 3600)
    repository.git("checkout", "--quiet", "-")
    repository.commit("README.md", WHEN + 4000)
    repository.git("merge", "--quiet", "--no-ff", "--no-edit", "night;touch>trap", at=WHEN + 5000)
    assert f" · committed {first} · 0 of 2 added" in repository.recall()
    repository.git("revert", "--no-edit", "--mainline", "1", "HEAD", at=WHEN + 9000)
    revert = repository.git("rev-parse", "--short=7", "HEAD")
    assert f" · committed {first}, reverted by {revert} · 0 of 2 added" in repository.recall()


def test_a_commit_has_the_hash_that_amending_picking_and_rebasing_gave_it(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "night")
    repository.commit("src/pump.py", WHEN + 3600)
    repository.git("commit", "--quiet", "--amend", "--message", "better", at=WHEN + 200_000)
    amended = repository.git("rev-parse", "--short=7", "HEAD")
    assert f" · committed {amended} · 0 of 2 added" in repository.recall()
    repository.git("checkout", "--quiet", "-")
    repository.commit("README.md", WHEN + 4000)
    repository.git("cherry-pick", "night", at=WHEN + 300_000)
    picked = repository.git("rev-parse", "--short=7", "HEAD")
    assert f" · committed {picked} · 0 of 2 added" in repository.recall()
    repository.git("checkout", "--quiet", "night")
    repository.git("rebase", "--quiet", "-", at=WHEN + 400_000)
    assert f" · committed {picked} · 0 of 2 added" in repository.recall()


def test_a_squash_merge_of_the_same_day_holds_the_edits(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "night")
    repository.commit("src/pump.py", WHEN + 3600)
    repository.git("checkout", "--quiet", "-")
    repository.git("merge", "--quiet", "--squash", "night")
    assert "committed" not in repository.recall()
    repository.git("commit", "--quiet", "--message", "The night", at=WHEN + 8000)
    squashed = repository.git("rev-parse", "--short=7", "HEAD")
    assert f" · committed {squashed} · 0 of 2 added" in repository.recall()


def test_a_commit_is_found_from_a_worktree_and_a_detached_head(repository: Repository) -> None:
    first = repository.commit("src/pump.py", WHEN + 3600)
    worktree = repository.program.home / "elsewhere"
    repository.git("worktree", "add", "--quiet", "--detach", str(worktree))
    there = Program(repository.program.home, repository.program.command, repository.program.variables, worktree)
    assert f" · committed {first} · 0 of 2 added" in there("recall", "irrigation pump at night").stdout


def test_a_shallow_clone_names_only_what_it_holds(repository: Repository) -> None:
    repository.commit("src/pump.py", WHEN + 3600)
    repository.commit("src/other.py", WHEN + 7200)
    clone = repository.program.home / "clones" / "orchard"
    repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.folder}", str(clone))
    there = Program(repository.program.home, repository.program.command, repository.program.variables, clone)
    text = there("recall", "irrigation pump at night").stdout
    assert "The irrigation pump" in text
    assert "committed" not in text


@pytest.mark.parametrize(
    ("name", "delay"), [("src/other.py", 3600), ("src/pump.py", -3600), ("src/pump.py", 3 * 24 * 3600)]
)
def test_commits_of_other_files_or_days_are_not_named(repository: Repository, name: str, delay: int) -> None:
    repository.commit(name, WHEN + delay)
    assert "The irrigation pump" in repository.recall()
    assert "committed" not in repository.recall()


def test_nothing_is_named_in_another_folder(repository: Repository) -> None:
    repository.commit("src/pump.py", WHEN + 3600)
    elsewhere = Program(repository.program.home)
    assert "committed" not in elsewhere("recall", "irrigation pump at night").stdout


def test_a_hostile_repository_runs_nothing(repository: Repository) -> None:
    first = repository.commit("src/pump.py", WHEN + 3600)
    trap = repository.folder / "trap"
    script = repository.folder / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n", encoding="utf-8")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "gpg.program", "diff.external", "core.sshCommand", "diff.x.textconv"):
        repository.git("config", key, str(script))
    repository.git("config", "log.showSignature", "true")
    (repository.folder / ".gitattributes").write_text("* diff=x\n", encoding="utf-8")
    assert f"committed {first}" in repository.recall()
    assert not trap.exists()


def test_a_broken_repository_costs_only_the_commit(repository: Repository) -> None:
    repository.commit("src/pump.py", WHEN + 3600)
    (repository.folder / ".git" / "HEAD").write_text("nonsense\n", encoding="utf-8")
    assert "The irrigation pump" in repository.recall()
    assert "committed" not in repository.recall()


def test_the_lines_that_are_left_of_an_episode_are_counted(repository: Repository) -> None:
    repository.write(f"# The pump.\n{NEW}")
    assert "2 of 2 added lines are in HEAD" in repository.recall()
    repository.write(NEW.replace("night or", "is_dry and night or"))
    assert "1 of 2 added lines are in HEAD" in repository.recall()
    (result,) = repository.program("recall", "irrigation pump at night", "--json").results
    assert result["standing"] == {"lines": 1, "added": 2}


def test_no_line_is_left_of_a_file_that_is_gone(repository: Repository) -> None:
    repository.write(NEW)
    repository.git("rm", "--quiet", "src/pump.py")
    repository.git("commit", "--quiet", "--message", "remove", at=WHEN + 7200)
    assert "0 of 2 added lines are in HEAD" in repository.recall()


def test_lines_are_not_counted_once_the_transcript_is_gone(repository: Repository) -> None:
    repository.write(NEW)
    (repository.program.home / "s.jsonl").unlink()
    assert "added lines" not in repository.recall()


def test_show_tells_how_many_lines_of_the_episode_are_kept(repository: Repository) -> None:
    repository.write(NEW.replace("night or", "is_dry and night or"))
    (found, *_) = repository.program("search", "irrigation pump", "--json").results
    shown = repository.program("show", str(found["id"])).stdout
    assert "Kept: 1 of 2 added lines are in HEAD" in shown
    elsewhere = Program(repository.program.home)
    assert "Kept: 1 of 2 added lines are in HEAD" in elsewhere("show", str(found["id"])).stdout
    asked, other = (one for one in elsewhere("show", str(found["id"]), "--json").results if one["role"] != "tool")
    assert {str(one["standing"]) for one in (asked, other)} == {"None", str({"lines": 1, "added": 2})}
    repository.folder.rename(repository.folder.with_name("moved"))
    assert "Kept:" not in elsewhere("show", str(found["id"])).stdout
    repository.folder.mkdir()  # a folder of this name that is no repository
    assert "Kept:" not in elsewhere("show", str(found["id"])).stdout


def test_the_page_of_a_conversation_tells_how_many_lines_are_kept(repository: Repository) -> None:
    repository.write(NEW.replace("night or", "is_dry and night or"))
    with serving(repository.program) as server, browsing(server) as client:
        shown = client.get("/page/conversation", params={"id": "s"}).text
        answer = server.get("/items/1").json()
    assert "1 of 2 added lines are in HEAD" in shown
    assert answer["results"][0]["standing"] == {"lines": 1, "added": 2}
