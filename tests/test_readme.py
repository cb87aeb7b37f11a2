"""What the README shows is what the program prints."""

from __future__ import annotations

import re

from program import REPOSITORY, Reader


def test_the_recall_block_in_the_readme_is_what_the_demo_history_answers(demo: Reader) -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```markdown\n")[2].partition("```")[0]
    printed = demo("recall", "flaky login test", "--limit", "2").stdout.replace(str(demo.home), "fixtures")
    assert re.sub(r"id \d+", "id N", printed) == re.sub(r"id \d+", "id N", shown)


def test_every_command_is_in_the_readme(demo: Reader) -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^  ([a-z-]+)  ", demo("--help").stdout.partition("Commands:")[2], re.MULTILINE)
    assert len(commands) > 20
    assert [command for command in commands if f"`{command}" not in readme] == []
