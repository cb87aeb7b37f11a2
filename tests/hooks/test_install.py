"""`install` and `uninstall` over settings files as people have them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from program import Program

from pastchats_memory.cli.install import TARGETS
from pastchats_memory.errors import MemoryFault
from pastchats_memory.hooks.install import plan_install, settings_path, write

SETTINGS = """{
    // what I like
    "model": "opus",
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ]
    }
}
"""


@pytest.fixture
def person(program: Program) -> Program:
    return program.with_variables(HOME=str(program.home), XDG_STATE_HOME=str(program.home / "state"))


def settings_of(person: Program, target: str) -> Path:
    return settings_path(target, {"HOME": str(person.home)})


@pytest.mark.parametrize("target", TARGETS)
def test_uninstall_restores_settings_byte_for_byte(person: Program, target: str) -> None:
    file = settings_of(person, target)
    file.parent.mkdir(parents=True)
    file.write_text(SETTINGS, encoding="utf-8")
    run = person("install", target, "--yes")
    assert run.status == 0
    assert f"`pastchats-memory uninstall {target}`" in run.stderr
    assert "pastchats-memory hook" in file.read_text(encoding="utf-8")
    assert person("install", target, "--yes").status == 0
    assert file.read_text(encoding="utf-8").count("say done") == 1
    assert person("uninstall", target, "--yes").status == 0
    assert file.read_text(encoding="utf-8") == SETTINGS


@pytest.mark.parametrize("target", TARGETS)
def test_settings_that_we_made_are_gone_again(person: Program, target: str) -> None:
    assert person("install", target, "--yes").status == 0
    file = settings_of(person, target)
    assert json.loads(file.read_text(encoding="utf-8"))["hooks"]
    assert person("uninstall", target, "--yes").status == 0
    assert not file.exists()


def test_printing_changes_nothing(person: Program) -> None:
    run = person("install", "claude-code", "--print")
    assert run.status == 0
    assert "+" in run.stdout
    assert not settings_of(person, "claude-code").exists()


def test_the_summary_has_a_line_for_each_file_and_the_diff_is_for_those_who_ask(person: Program) -> None:
    summary = person("install", "claude-code", "--no").stdout.splitlines()
    assert summary[0] == (
        f"create {settings_of(person, 'claude-code')}: hooks for SessionStart, UserPromptSubmit, "
        "PreToolUse, PostToolUse, PostToolUseFailure, PreCompact, SessionEnd"
    )
    assert all(line.startswith("create ") for line in summary)
    assert "+++ " in person("install", "claude-code", "--no", "--diff").stdout


@pytest.mark.parametrize("target", TARGETS)
def test_without_a_terminal_nothing_is_installed_unasked(person: Program, target: str) -> None:
    run = person("install", target)
    assert (run.status, run.stderr.splitlines()[-1]) == (1, "Nothing was changed; --yes makes the changes.")
    assert not settings_of(person, target).exists()
    assert person("install", target, "--yes").status == 0
    before = settings_of(person, target).read_text(encoding="utf-8")
    assert person("uninstall", target).status == 1
    assert settings_of(person, target).read_text(encoding="utf-8") == before


def test_no_changes_nothing_and_says_so(person: Program) -> None:
    run = person("install", "claude-code", "--no")
    assert (run.status, run.stderr) == (1, "Nothing was changed; --yes makes the changes.\n")
    assert not settings_of(person, "claude-code").exists()


def test_other_edits_since_survive_the_uninstall(person: Program) -> None:
    file = settings_of(person, "claude-code")
    file.parent.mkdir()
    file.write_text(SETTINGS, encoding="utf-8")
    person("install", "claude-code", "--yes")
    file.write_text(file.read_text(encoding="utf-8").replace("opus", "sonnet"), encoding="utf-8")
    person("uninstall", "claude-code", "--yes")
    assert file.read_text(encoding="utf-8") == SETTINGS.replace("opus", "sonnet")


def test_a_member_that_was_added_behind_ours_survives_the_uninstall(person: Program) -> None:
    file = settings_of(person, "claude-code")
    file.parent.mkdir()
    file.write_text("{\n}\n", encoding="utf-8")
    person("install", "claude-code", "--yes")
    text = file.read_text(encoding="utf-8").rstrip().removesuffix("}").rstrip()
    file.write_text(text + ',\n  "model": "opus"\n}\n', encoding="utf-8")
    assert person("uninstall", "claude-code", "--yes").status == 0
    after = json.loads(file.read_text(encoding="utf-8"))
    assert after["model"] == "opus"
    assert "pastchats" not in file.read_text(encoding="utf-8")


def test_a_foreign_hook_that_was_added_since_is_all_that_uninstall_leaves(person: Program) -> None:
    file = settings_of(person, "claude-code")
    file.parent.mkdir()
    file.write_text('{"model": "opus"}', encoding="utf-8")
    person("install", "claude-code", "--yes")
    settings = json.loads(file.read_text(encoding="utf-8"))
    theirs = {"hooks": [{"type": "command", "command": "say done"}]}
    settings["hooks"].setdefault("Stop", []).append(theirs)
    file.write_text(json.dumps(settings), encoding="utf-8")
    assert person("uninstall", "claude-code", "--yes").status == 0
    assert json.loads(file.read_text(encoding="utf-8")) == {"model": "opus", "hooks": {"Stop": [theirs]}}


def test_settings_that_are_no_json_are_left_alone(person: Program) -> None:
    file = settings_of(person, "gemini")
    file.parent.mkdir()
    file.write_text("{ half", encoding="utf-8")
    run = person("install", "gemini", "--yes")
    assert run.status == 2
    assert str(file) in run.stderr
    assert file.read_text(encoding="utf-8") == "{ half"


def test_the_installed_line_runs(person: Program) -> None:
    person("install", "claude-code", "--yes")
    hooks = json.loads(settings_of(person, "claude-code").read_text(encoding="utf-8"))["hooks"]
    line = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    words = line.split()
    assert Path(words[0]).is_absolute()
    assert shutil.which(words[0])
    assert words[1:] == ["hook", "claude-code", "UserPromptSubmit"]


def test_a_database_of_ones_own_is_named_in_the_line(person: Program) -> None:
    person("install", "claude-code", "--db", "mine.db", "--yes")
    line = json.dumps(f"--db {person.home / 'mine.db'}").strip('"')
    assert line in settings_of(person, "claude-code").read_text(encoding="utf-8")


def test_a_refusal_of_the_file_system_is_explained(person: Program) -> None:
    folder = settings_of(person, "claude-code")
    folder.mkdir(parents=True)
    (person.home / ".gemini").write_text("", encoding="utf-8")
    for run in (
        person("install", "claude-code", "--yes"),
        person("uninstall", "claude-code", "--yes"),
        person("install", "gemini", "--yes"),
    ):
        assert run.status == 2
        assert not run.stdout or os.name != "posix"  # elsewhere a file below a file is only missing, and is announced
        assert run.stderr.startswith(f"Error: {person.home}")
        assert "Traceback" not in run.stderr


def test_nothing_is_put_in_that_cannot_be_remembered(person: Program) -> None:
    (person.home / "state").write_text("", encoding="utf-8")
    run = person("install", "codex", "--yes")
    assert run.status == 2
    assert f"{person.home / 'state'}" in run.stderr
    assert not settings_of(person, "codex").parent.exists()


def test_a_damaged_record_is_named_and_without_it_our_entries_are_found(person: Program) -> None:
    person("install", "claude-code", "--yes")
    record = person.home / "state" / "pastchats-memory" / "installed.json"
    record.write_text("{ half", encoding="utf-8")
    run = person("uninstall", "claude-code", "--yes")
    assert run.status == 2
    assert str(record) in run.stderr
    record.unlink()
    assert person("uninstall", "claude-code", "--yes").status == 0
    assert "pastchats" not in settings_of(person, "claude-code").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "config",
    [
        '# mine\nmodel = "o5"\n\n[features] # new ones\nweb = true\n',
        "features.web = true\n",
        "features = { web = true }\n",
        "[features]\r\nweb = true\r\n",
        "features = 3\n",
        "half = ",
        "\ufeff[features]\nhooks = false\n",
        "[features]\ncodex_hooks = false\n",
    ],
)
def test_install_names_the_codex_step_and_leaves_its_settings(person: Program, config: str) -> None:
    file = person.home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_bytes(config.encode())
    run = person("install", "codex", "--yes")
    assert run.status == 0
    assert "/hooks" in run.stderr
    assert ("switched off" in run.stderr) == ("hooks = false" in config)
    person("uninstall", "codex", "--yes")
    assert file.read_bytes() == config.encode()


def test_install_explains_cursor_versions_without_prompt_context(person: Program) -> None:
    run = person("install", "cursor", "--yes")
    assert run.status == 0
    assert "pastchats-memory mcp" in run.stderr


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if "state" not in path.relative_to(folder).parts
    }


@pytest.mark.parametrize("target", TARGETS)
def test_uninstalling_leaves_no_copy_and_no_folder_behind(person: Program, target: str) -> None:
    for text in (None, SETTINGS, "\ufeff" + SETTINGS.replace("\n", "\r\n")):
        if text is not None:
            settings_of(person, target).parent.mkdir(parents=True, exist_ok=True)
            settings_of(person, target).write_bytes(text.encode())
        before = everything(person.home)
        assert person("install", target, "--yes").status == 0
        assert person("install", target, "--db", "other.db", "--yes").status == 0
        assert person("uninstall", target, "--yes").status == 0
        assert everything(person.home) == before


def test_entries_of_an_installation_that_has_moved_are_replaced(person: Program) -> None:
    file = settings_of(person, "claude-code")
    file.parent.mkdir()
    file.write_text(SETTINGS, encoding="utf-8")
    person("install", "claude-code", "--yes")
    there = file.read_text(encoding="utf-8")
    for record in (True, False):
        moved = there.replace(str(Path(person.command[0]).parent), "/gone/bin")
        moved = moved if moved != there else there.replace("hook claude-code", "hook claude-code --db /gone.db", 1)
        file.write_text(moved, encoding="utf-8")
        if not record:
            (person.home / "state" / "pastchats-memory" / "installed.json").unlink()
        assert person("install", "claude-code", "--yes").status == 0
        now = file.read_text(encoding="utf-8")
        assert "/gone" not in now
        assert now.count("pastchats-memory hook") == there.count("pastchats-memory hook")
        assert "say done" in now
        assert "// what I like" in now


def test_settings_that_are_read_only_are_left_alone(person: Program) -> None:
    file = settings_of(person, "claude-code")
    file.parent.mkdir()
    file.write_text(SETTINGS, encoding="utf-8")
    file.chmod(0o444)
    assert person("install", "claude-code", "--print").status == 0
    run = person("install", "claude-code", "--yes")
    assert (run.status, run.stderr.splitlines()[0]) == (2, f"Error: {file}: it is read-only")
    assert file.read_text(encoding="utf-8") == SETTINGS
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.promise(
    "permissions", "`install` does not overwrite what another program writes to an agent's settings meanwhile."
)
def test_a_concurrent_change_of_a_settings_file_is_not_overwritten(tmp_path: Path) -> None:
    environment, file = {"HOME": str(tmp_path)}, tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS, encoding="utf-8")
    changes = plan_install("claude-code", None, tmp_path / "state", environment)
    file.write_text('{"model": "another"}', encoding="utf-8")
    with pytest.raises(MemoryFault, match="was changed just now"):
        write("claude-code", changes, tmp_path / "state", is_install=True)
    assert file.read_text(encoding="utf-8") == '{"model": "another"}'
    assert list(file.parent.iterdir()) == [file]


def test_a_skill_is_renewed_only_as_long_as_nobody_changed_it(person: Program) -> None:
    person("install", "claude-code", "--yes")
    skill = next(settings_of(person, "claude-code").parent.glob("skills/*/SKILL.md"))
    ours = skill.read_text(encoding="utf-8")
    record = person.home / "state" / "pastchats-memory" / "installed.json"
    skill.write_text("older", encoding="utf-8")
    record.write_text(record.read_text(encoding="utf-8").replace(json.dumps(ours), '"older"'), encoding="utf-8")
    person("install", "claude-code", "--yes")
    assert skill.read_text(encoding="utf-8") == ours
    skill.write_text(ours + "mine", encoding="utf-8")
    person("install", "claude-code", "--yes")
    assert skill.read_text(encoding="utf-8") == ours + "mine"


@pytest.mark.parametrize(
    "place",
    [".cache/uv/archive-v0/x1/bin", "Library/Caches/pipx/ab/bin", "marked/archive-v0/x1/bin", "variable/x1/bin"],
)
def test_a_program_in_a_cache_is_not_installed(program: Program, place: str) -> None:
    (program.home / "marked").mkdir()
    (program.home / "marked" / "CACHEDIR.TAG").write_text(
        "Signature: 8a477f597d28d172789f06886806bc55", encoding="utf-8"
    )
    python = program.home / place / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    cached = program.primed(f"import sys; sys.executable = {str(python)!r}").with_variables(
        UV_CACHE_DIR=str(program.home / "variable")
    )
    for target in TARGETS:
        done = cached("install", target, "--yes")
        assert done.status == 2
        assert "cache" in done.stderr
        assert "uv tool install ." in done.stderr
    assert not list(program.home.rglob("*.json"))


def test_a_program_in_a_marked_environment_of_its_own_is_installed(program: Program) -> None:
    folder = program.home / "tools" / "pastchats-memory"
    (folder / "bin").mkdir(parents=True)
    (folder / "CACHEDIR.TAG").touch()  # as `uv venv` writes it
    (folder / "bin" / "python").symlink_to(sys.executable)
    lasting = program.primed(f"import sys; sys.executable = {str(folder / 'bin' / 'python')!r}")
    assert str(folder / "bin" / "python") in lasting("install", "claude-code", "--print").stdout


def test_a_removed_environment_is_not_installed(program: Program) -> None:
    gone = program.primed("import sys; sys.executable = '/nowhere/venv/bin/python'")
    done = gone("install", "claude-code", "--yes")
    assert done.status == 2
    assert "no longer there" in done.stderr


def test_doctor_reports_hooks_whose_program_is_gone(own_demo: Program) -> None:
    folder = own_demo.home / "venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)
    passing = own_demo.primed(f"import sys; sys.executable = {str(folder / 'python')!r}")
    assert passing("install", "claude-code", "--yes").status == 0
    assert own_demo("doctor").status == 0
    (folder / "python").unlink()
    done = own_demo("doctor", "--json")
    assert done.status == 1
    (check,) = (one for one in done.results if one["check"] == "hooks")
    assert f"claude-code calls {folder / 'python'}" in check["detail"]
    assert "pastchats-memory install claude-code" in check["remedy"]
    assert own_demo("install", "claude-code", "--yes").status == 0
    assert own_demo("doctor").status == 0
