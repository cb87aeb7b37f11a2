"""What the README shows is what the program prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest
from program import REPOSITORY, Reader

from pastchats_memory.cli import COMMANDS, program
from pastchats_memory.http.routes import ROUTES

OTHERS = {"AGENTS.md", "Backlog.md", "CLAUDE.md", "GEMINI.md", "config.yml", "pastchats-memory.toml"}
"""Files that a person or another program makes."""
DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "AGENT_SYSTEM_PROMPT_UPDATE.md",
    "benchmarks/README.md",
    "fixtures/README.md",
)


def text_of(document: str) -> str:
    return (REPOSITORY / document).read_text(encoding="utf-8")


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


def test_every_path_of_the_server_is_in_the_readme() -> None:
    readme = text_of("README.md").partition("## Over HTTP")[2].partition("\n## ")[0]
    paths = {re.sub(r"\{(.+)\}", lambda found: found[1].upper(), route.path) for route in ROUTES}
    assert {path for path in paths if f"{path}`" not in readme and f"{path}?" not in readme} == set()


def options_of(command: click.Command) -> set[str]:
    """Of a command and of those below it."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    own = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return own.union(*map(options_of, below))


def command_rows() -> Iterator[tuple[str, set[str]]]:
    """The commands that a row of the README's table is about, and the options that it names."""
    table = text_of("README.md").partition("| command | what it does |")[2].partition("\n\n")[0]
    for cell, about in re.findall(r"^\| (`.+?) \| (.+) \|$", table, re.MULTILINE):
        # what is said of another command stands behind its name
        named = set(re.findall(r"`[^`]*?(--[a-z][a-z-]+)", re.sub(r"`(?!-)[a-z-]+ [^`]*`", "", about)))
        for name in re.findall(r"`([a-z-]+)", cell):
            yield name, named


def test_every_option_in_the_readmes_table_is_one_of_its_command() -> None:
    context = click.Context(program)
    for name in COMMANDS:
        assert name in {named for named, _ in command_rows()}, name
    for name, named in command_rows():
        command = program.get_command(context, name)
        assert command is not None, name
        assert named <= options_of(command), name


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_and_every_make_target_that_a_document_names_exists(document: str) -> None:
    text = text_of(document)
    here = (REPOSITORY / document).parent
    places = (here, REPOSITORY, REPOSITORY / "pastchats_memory", REPOSITORY / "benchmarks")
    files = set(re.findall(r"(?<![\w./~…-])((?:[\w-]+/)*[\w-]+\.(?:py|sql|md|yml|toml|feature))(?![\w*])", text))
    links = {link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link}
    missing = {name for name in files | links if not any((place / name).exists() for place in places)}
    assert missing - OTHERS == set()
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", text)) <= targets


def test_the_table_of_rooms_has_every_module_and_no_other() -> None:
    table = text_of("ARCHITECTURE.md").partition("| module | one responsibility |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+)/?`", cell)}
    package = REPOSITORY / "pastchats_memory"
    there = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert named == there - {"__init__"}


def test_the_table_on_top_of_the_measurements_has_every_question_of_theirs() -> None:
    text = text_of("benchmarks/README.md")
    listed = re.findall(r"^\| \[(.+?)\]\(#(.+?)\) \|", text, re.MULTILINE)
    assert [question for question, _ in listed] == re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert all(anchor == re.sub(r"[^\w -]", "", question.lower()).replace(" ", "-") for question, anchor in listed)
