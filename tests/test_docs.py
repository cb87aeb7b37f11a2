"""The README and `docs/` say what the program does: examples run, links lead somewhere, generated parts are current."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.parse import parse_qs, urlsplit

import click
import pytest
from program import REPOSITORY, Program

from pastchats_memory.cli import COMMANDS, program
from pastchats_memory.config.schema import KEYS
from pastchats_memory.hooks.install import targets
from pastchats_memory.http.routes import ROUTES

DOCS = REPOSITORY / "docs"
ROOT_PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "AGENT_SYSTEM_PROMPT_UPDATE.md")
PAGES = [
    *ROOT_PAGES,
    *sorted(path.relative_to(REPOSITORY).as_posix() for path in DOCS.rglob("*.md")),
]
"""Pages that people write, by their paths in the repository."""
LONGEST_PAGES = {"README.md": 120, "SECURITY.md": 40, "CHANGELOG.md": 45, "docs/architecture.md": 200}
"""Lines."""
PROMISES = 88
"""Promises that had a test when the table was first generated; no later table has fewer."""
LONGEST_MEDIAN, LONGEST_SENTENCE = 16, 35
"""Words."""
VOLATILE = re.compile(
    r"\bid \d+|(?<=\n  )\d+(?= · )|\b\d+\.\d+ s\b|\b[\d.]+ (?:KiB|MB)\b|\d{4}-\d\d-\d\d \d\d:\d\d, done"
)
"""Parts of an output that differ between runs; ids depend on the order in which files were checked out."""


def load_script(name: str) -> ModuleType:
    """Import a module of `scripts/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


generate_docs = load_script("generate_docs")
plot_benchmarks = load_script("plot_benchmarks")
draw_recall = load_script("draw_recall")


def read_page(page: str) -> str:
    return (REPOSITORY / page).read_text(encoding="utf-8")


def list_blocks(page: str, language: str) -> list[str]:
    """List the fenced blocks of a language on a page, without their fences."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read_page(page), re.MULTILINE | re.DOTALL)


def list_pages_with(language: str) -> list[str]:
    return [page for page in PAGES if list_blocks(page, language)]


@pytest.fixture
def shell(own_demo: Program) -> Program:
    """A home as the pages describe it, with the demo history in the memory."""
    generate_docs.fill_home(own_demo.home)
    return own_demo.with_variables(COLUMNS="100")


@pytest.mark.parametrize("page", list_pages_with("console"))
def test_every_example_prints_what_the_page_shows(page: str, demo: Program, shell: Program) -> None:
    text = read_page(page)
    if generate_docs.begins_empty(text):
        shell.database.unlink()

    def run(line: str) -> str:
        done = shell(*shlex.split(line, comments=True)[1:])
        assert done.status in (0, 1), f"{line}\n{done.stderr}"
        shortened: str = generate_docs.shorten_paths(done.stdout, shell.home, demo.home)
        return shortened

    printed = generate_docs.fill_examples(text, run)
    assert VOLATILE.sub("N", printed) == VOLATILE.sub("N", text), "run `make docs` and commit what it writes"


@pytest.mark.parametrize("name", generate_docs.REGIONS)
def test_the_generated_part_of_a_page_is_current(name: str) -> None:
    text = read_page(f"docs/{name}.md")
    assert generate_docs.replace_region(text, generate_docs.REGIONS[name]()) == text, "run `make docs`"


def test_the_picture_of_the_readme_quotes_the_sample_history() -> None:
    before = draw_recall.PICTURE.read_text(encoding="utf-8")
    assert draw_recall.make_picture() == before


def test_every_plot_shows_the_numbers_of_its_table() -> None:
    plots = plot_benchmarks.draw_all(read_page("docs/benchmarks.md"))
    committed = {path.name: path.read_text(encoding="utf-8") for path in (REPOSITORY / "docs" / "plots").glob("*.svg")}
    assert plots == committed, "run `make docs`"
    assert plots["quality.svg"].count("<rect") == 15
    assert plots["measures.svg"].count("<rect") == 6
    assert plots["time.svg"].count("<rect") == 5


def list_commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """List a command and its subcommands with their names, except hidden ones."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            if not subcommand.hidden:  # a name of another tool
                yield from list_commands(subcommand, (*path, name))


def list_options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


def test_every_command_and_option_is_in_the_reference() -> None:
    reference = read_page("docs/cli.md").partition("<!-- generated -->")[2]
    sections = dict(re.findall(r"^#{2,3} (.+?)\n(.*?)(?=^#{2,3} |\Z)", reference, re.MULTILINE | re.DOTALL))
    commands = {" ".join(path): command for path, command in list_commands(program) if path}
    assert commands.keys() == sections.keys()
    for path, command in commands.items():
        missing = {
            option for option in list_options(command) if option.startswith("-") and option not in sections[path]
        }
        assert missing == set(), path


def list_typed_commands(page: str) -> list[list[str]]:
    """List the command lines of the program that a page contains: in blocks, tables and sentences."""
    blocks = "\n".join(list_blocks(page, "sh"))
    spans = re.findall(r"(?<!`)`(pastchats-memory [^`\n]+)`(?!`)", read_page(page))
    lines = [line for line in blocks.splitlines() if line.startswith("pastchats-memory ")]
    return [shlex.split(line, comments=True)[1:] for line in (*lines, *spans)]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_exists_with_its_options(page: str) -> None:
    commands = dict(list_commands(program))
    for words in list_typed_commands(page):
        if words[0].startswith("-"):
            assert words[0] in ("--help", "--version")
            continue
        path = tuple(words[:2]) if tuple(words[:2]) in commands else tuple(words[:1])
        assert path in commands, words
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert options <= list_options(commands[path]) | {"--help", "--version"}, words


def test_every_command_has_a_place_in_the_readme_or_on_a_page() -> None:
    written = "".join(read_page(page).partition("<!-- generated -->")[0] for page in PAGES)
    missing = {name for name in COMMANDS if f"`{name}" not in written and f"pastchats-memory {name}" not in written}
    assert missing - {"completion", "man"} == set()


@pytest.mark.parametrize("page", [page for page in list_pages_with("toml") if page != "docs/adding-a-format.md"])
def test_every_configuration_that_a_page_shows_is_accepted(page: str, shell: Program) -> None:
    for block in list_blocks(page, "toml"):
        file = shell.home / "config" / "pastchats-memory" / "pastchats-memory.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block, encoding="utf-8")
        done = shell("config")
        assert (done.status, done.stderr) == (0, ""), block


def test_every_key_of_the_configuration_is_on_its_page() -> None:
    text = read_page("docs/configuration.md")
    assert {key for key in KEYS if f"`{key}" not in text and f"\n{key} = " not in text} == set()


def test_the_examples_in_python_run(shell: Program) -> None:
    code = "\n".join(list_blocks("docs/python.md", "python"))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=shell.home,
        env=shell.environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "# Memory Recall" in done.stdout
    assert "missing.db" in done.stdout


def test_every_address_that_the_http_page_asks_exists() -> None:
    asked = re.findall(r"curl -H @- '([^']+)'$", "\n".join(list_blocks("docs/http.md", "sh")), re.MULTILINE)
    assert len(asked) > 2
    for address in map(urlsplit, asked):
        (route,) = (
            route
            for route in ROUTES
            if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route.path)), address.path)
        )
        assert parse_qs(address.query).keys() <= {parameter.name for parameter in route.parameters}, address


def test_every_event_that_a_hook_answers_is_on_the_page_about_agents() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", read_page("docs/agents.md"), re.MULTILINE))
    for name, agent in targets().items():
        assert set(re.findall(r"`(\w+)`", rows[name])) == set(agent.events), name


def find_anchor(heading: str) -> str:
    """Return the anchor that GitHub and MkDocs give to a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: str) -> None:
    here = (REPOSITORY / page).parent
    for target, _, anchor in (link.partition("#") for link in re.findall(r"\]\(([^)]+)\)", read_page(page))):
        if "://" in target:
            continue
        file = here / target if target else REPOSITORY / page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(find_anchor, headings), f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES)
def test_every_script_and_make_target_that_a_page_names_exists(page: str) -> None:
    text = re.sub(r"^```console\n.*?^```$", "", read_page(page), flags=re.MULTILINE | re.DOTALL)
    files = set(re.findall(r"`((?:benchmarks|scripts|tests|fixtures|contracts|features)/[\w/.-]+)`", text))
    assert {file for file in files if not (REPOSITORY / file).exists()} == set()
    targets = set(re.findall(r"^([a-z-]+):", read_page("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^\$ )make ([a-z-]+)", read_page(page), re.MULTILINE)) <= targets


def test_every_part_of_the_tree_on_the_page_about_the_architecture_exists() -> None:
    (tree,) = (
        block for block in list_blocks("docs/architecture.md", "text") if block.startswith("pastchats_memory/\n")
    )
    for line in tree.splitlines()[1:]:
        base = REPOSITORY / "pastchats_memory" if line.startswith("  ") else REPOSITORY
        names = re.findall(r"\S+", re.split(r"\s{3,}", line.strip())[0])
        assert {name for name in names if not (base / name.replace("FORMAT/", "")).exists()} == set(), line


def test_every_promise_has_a_test_and_none_is_lost() -> None:
    promises = generate_docs.list_promises()
    assert len(promises) >= PROMISES
    assert {promise.area for promise in promises} == set(generate_docs.PROMISE_AREAS)
    assert len({promise.text for promise in promises}) == len(promises)


def test_a_promise_of_an_unknown_area_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text('@pytest.mark.promise("weather", "It is sunny.")\ndef test_it(): ...\n', encoding="utf-8")
    with pytest.raises(ValueError, match="weather"):
        list(generate_docs.read_promises(file))


@pytest.mark.parametrize("page", LONGEST_PAGES)
def test_a_page_stays_short(page: str) -> None:
    assert len(read_page(page).splitlines()) <= LONGEST_PAGES[page]


def strip_markup(text: str) -> str:
    """Strip code blocks, generated parts, comments, headings and tables; replace code spans by one word."""
    text = re.sub(r"<!-- generated -->.*?<!-- end of generated -->", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?:#|\||---).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`+[^`]+`+", "Code", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "").replace("*", "")


def split_sentences(text: str) -> list[str]:
    """Split paragraphs into sentences of at least two words."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text):
        found += [
            part for part in re.split(r"(?<=[.!?:])\s+(?=[\"“(]?[A-Z])", " ".join(paragraph.split())) if " " in part
        ]
    return found


def list_prose(text: str) -> list[str]:
    """List the sentences of paragraphs, without lists."""
    return split_sentences(re.sub(r"^(?:[-*]|\d+\.) .*(?:\n {2,}\S.*)*", "", strip_markup(text), flags=re.MULTILINE))


def list_all_sentences(text: str) -> list[str]:
    """List the sentences of paragraphs and of list items."""
    return split_sentences(re.sub(r"^(?:[-*]|\d+\.) ", "\n", strip_markup(text), flags=re.MULTILINE))


def test_prose_is_distinguished_from_code_lists_and_tables() -> None:
    text = "# Head\n\nOne `a b` two. Three\nfour!\n\n- item one.\n  more\n\n| a | b |\n\n```sh\nls\n```\n<!-- generated -->\nx y\n<!-- end of generated -->\n"
    assert list_prose(text) == ["One Code two.", "Three four!"]
    assert list_all_sentences(text)[2:] == ["item one. more"]


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page: str) -> None:
    lengths = {sentence: len(sentence.split()) for sentence in list_prose(read_page(page))}
    assert {sentence for sentence, words in lengths.items() if words > LONGEST_SENTENCE} == set()
    assert not lengths or statistics.median(lengths.values()) <= LONGEST_MEDIAN


@pytest.mark.parametrize("page", PAGES)
def test_sentences_begin_with_their_subject(page: str) -> None:
    starts = re.compile(r"[\"“(]?(?:What|Who|Whoever|Of|Where)\b(?!\?)")
    assert [sentence for sentence in list_all_sentences(read_page(page)) if starts.match(sentence)] == []


def test_the_site_builds_with_every_page_and_link_in_order(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(https?://[^"]+)"', page) in (
        [],
        ["https://squidfunk.github.io/mkdocs-material/"],
    )


def test_every_feature_has_a_row_that_leads_to_a_page() -> None:
    rows = dict(re.findall(r"^\| ([A-Z]\d+) \|.*\| (.+) \|$", read_page("docs/features.md"), re.MULTILINE))
    counts = {"P": 6, "E": 7, "T": 9, "M": 5, "C": 6, "A": 4, "N": 11, "O": 4, "R": 3, "W": 7}
    assert list(rows) == [f"{letter}{number}" for letter, most in counts.items() for number in range(1, most + 1)]
    assert all("](" in row for row in rows.values())
