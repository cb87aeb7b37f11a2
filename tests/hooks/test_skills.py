"""What agents are told: skills that `install` puts where they look, and the text for a system prompt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from program import REPOSITORY, Program

import pastchats_memory.hooks
from pastchats_memory.cli import COMMANDS

SKILLS = sorted(Path(pastchats_memory.hooks.__file__).parent.glob("skills/*/SKILL.md"))
PROMPT = REPOSITORY / "AGENT_SYSTEM_PROMPT_UPDATE.md"
COMMAND = re.compile(r"pastchats-memory [^`\n]+")


def test_there_are_four_skills_with_the_front_matter_that_agents_read() -> None:
    assert [file.parent.name for file in SKILLS] == [
        "find-duplicates", "judge-outcomes", "plain-questions", "semantic-search",
    ]  # fmt: skip
    for file in SKILLS:
        about = yaml.safe_load(file.read_text(encoding="utf-8").split("---\n")[1])
        assert set(about) == {"name", "description"}
        assert about["name"] == file.parent.name
        assert 50 < len(about["description"]) <= 1024


@pytest.mark.parametrize("file", [*SKILLS, PROMPT], ids=lambda file: file.parent.name)
def test_every_command_in_the_agent_texts_runs(own_demo: Program, file: Path) -> None:
    own_demo("task", "add", "Retry failed webhooks with backoff", "--key", "KEY")
    commands = COMMAND.findall(file.read_text(encoding="utf-8"))
    assert commands
    for line in commands:
        run = own_demo.typed(line)
        assert run.status in (0, 1), (line, run)
        assert "Error" not in run.stderr


def test_the_prompt_has_both_rules() -> None:
    text = " ".join(PROMPT.read_text(encoding="utf-8").split())
    for words in (
        'Before creating a task, you MUST call `check_prior_work(query="…")` and update a similar task instead of creating a new one.',
        "If that task is STUCK, you MUST read its comments to understand why.",
        'Before solving a complex bug, you MUST call `consult_episodic_memory(problem_context="…")`,',
        "search for similar errors or requests, and apply the patterns of tasks that were COMPLETED.",
    ):
        assert words in text
    assert {"check-prior-work", "consult-episodic-memory"} <= set(COMMANDS)


@pytest.mark.parametrize(("target", "folder"), [("claude-code", ".claude"), ("codex", ".agents"), ("qwen", ".qwen")])
def test_skills_are_installed_and_taken_away_and_a_changed_one_is_left(
    program: Program, target: str, folder: str
) -> None:
    person = program.with_variables(XDG_STATE_HOME=str(program.home / "state"))
    skills = person.home / folder / "skills"
    own = skills / "semantic-search" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    assert person("install", target, "--yes").status == 0
    installed = {file.parent.name for file in skills.glob("*/SKILL.md")}
    assert installed == {file.parent.name for file in SKILLS}
    assert own.read_text(encoding="utf-8") == "mine"
    (skills / "plain-questions" / "SKILL.md").write_text("changed by hand", encoding="utf-8")
    assert person("uninstall", target, "--yes").status == 0
    assert sorted(path.name for path in skills.iterdir()) == ["plain-questions", "semantic-search"]
    assert not list(person.home.glob(f"{folder}/**/*.with-pastchats-memory*SKILL*"))


@pytest.mark.parametrize("target", ["claude-code", "cursor"])
def test_install_warns_if_skills_cannot_find_the_program(program: Program, target: str) -> None:
    beside = program.with_variables(XDG_STATE_HOME=str(program.home / "state"), PATH="/nowhere")
    text = beside("install", target, "--yes").stderr
    assert ("which is not on your PATH" in text) == (target == "claude-code")
    here = beside.with_variables(PATH=str(Path(program.command[0]).parent))
    assert "which is not on your PATH" not in here("install", target, "--yes").stderr
