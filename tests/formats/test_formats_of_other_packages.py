"""Test formats of other packages: one that works, installed as a user would, and broken ones."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest
from program import NO_NETWORK, REPOSITORY, Program
from waiting import HANG_S

from pastchats_memory.errors import BrokenFormat, UsageFault
from pastchats_memory.formats import registry
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.registry import BUILT_IN, load_format, report_formats
from pastchats_memory.formats.testing import check_format

EXAMPLE = REPOSITORY / "tests" / "example_format"
PAGE = REPOSITORY / "docs" / "adding-a-format.md"
FIXTURE = EXAMPLE / "fixtures" / "scribe-q1-failed-call.jsonl"
SESSION = FIXTURE.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example package offline and return the folder."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(EXAMPLE, folder / "source")
    target = folder / "target"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--target", target, source],
        capture_output=True,
        encoding="utf-8",
        timeout=HANG_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def with_packages(program: Program, folder: Path) -> Program:
    """Return the program with the packages of a folder on its path, started without any import."""
    return program.with_variables(PYTHONPATH=os.pathsep.join([str(folder), str(NO_NETWORK)]))


@pytest.fixture
def extended(program: Program, installed: Path) -> Program:
    sessions = program.home / ".scribe" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "build.jsonl").write_text(SESSION, encoding="utf-8")
    return with_packages(program, installed)


def test_the_page_shows_exactly_the_example_package() -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert blocks == [(EXAMPLE / name).read_text(encoding="utf-8") for name in ("scribe_memory.py", "test_scribe.py")]
    project = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    entries = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert entries
    assert all(entry in project for entry in entries)
    (session,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert session == SESSION


def test_formats_lists_an_installed_format_with_version_origin_and_files(extended: Program) -> None:
    run = extended("formats", "--json")
    assert (run.status, run.stderr) == (0, "")
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / "formats.json").read_text(encoding="utf-8"))
    jsonschema.validate(run.json, schema)
    (scribe,) = [row for row in run.results if row["origin"] != "built in"]
    assert scribe == {
        "name": "scribe",
        "version": 1,
        "origin": "scribe-memory 1.0",
        "program": "Scribe",
        "kinds": ["conversation"],
        "files": [{"path": str(extended.home / ".scribe" / "sessions"), "exists": True}],
    }
    assert {row["name"] for row in run.results} == {"scribe", *BUILT_IN}
    table = extended("formats").stdout
    assert re.search(r"^scribe +1 +scribe-memory 1\.0 +\* ~/\.scribe/sessions$", table, re.MULTILINE)


def test_the_program_alone_lists_the_built_in_formats_in_a_table(program: Program) -> None:
    run = program("formats")
    assert (run.status, run.stderr) == (0, "")
    assert re.search(r"^claude-code +\d+ +built in +~/\.claude/projects$", run.stdout, re.MULTILINE)
    assert "scribe" not in run.stdout


def test_index_reads_files_of_an_installed_format(extended: Program) -> None:
    run = extended("index", "--all", "--json")
    assert (run.status, run.json["turns_added"]) == (0, 3)
    assert [file["format"] for file in run.results] == ["scribe"]
    (hit,) = extended("search", "--mode", "keyword", "out of date", "--json").results
    assert (hit["role"], hit["source_line"], hit["timestamp"]) == ("assistant", 4, "2026-05-04T08:00:19.000Z")
    assert hit["metadata"]["format"] == "scribe"


def test_index_reads_only_the_files_of_a_named_format_in_a_folder(extended: Program) -> None:
    other = extended.home / "others" / "other.jsonl"
    other.parent.mkdir()
    other.write_text('{"role": "user", "content": "Which port does it use?"}\n', encoding="utf-8")
    run = extended("index", "--format", "scribe", other.parent, ".scribe", "--json")
    assert {(Path(file["source_path"]).name, file["format"]) for file in run.results} == {
        ("build.jsonl", "scribe"),
        ("other.jsonl", None),
    }
    assert run.json["turns_added"] == 3


def test_formats_prints_the_expected_rows_of_a_file(extended: Program) -> None:
    run = extended("formats", "--expected", FIXTURE)
    assert (run.status, run.stdout) == (0, FIXTURE.with_suffix(".expected").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "message"), [("nothing.jsonl", "no such file"), ("table.csv", "no format recognises"), ("a.gz", "gzip")]
)
def test_a_file_without_expected_rows_is_explained(program: Program, name: str, message: str) -> None:
    (program.home / "table.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (program.home / "a.gz").write_bytes(b"\x1f\x8b\x08")
    run = program("formats", "--expected", name)
    assert (run.status, run.stdout) == (2, "")
    assert message in run.stderr


@pytest.mark.usefixtures("packages")
def test_the_test_kit_accepts_the_example(tmp_path: Path) -> None:
    check_format(load_format("scribe"), FIXTURE.parent, tmp_path)


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("q1.jsonl", lambda text: text.replace("stale", "old"), "row 2 is"),
        ("q1.jsonl", lambda text: text + '{"scribe": 1, "who": "me", "text": "Thanks."}\n', "4 rows, and not 3"),
        ("q1.jsonl", lambda text: text.replace("scribe", "other"), "is not recognised"),
        ("refused/a.jsonl", lambda text: text, "is recognised as scribe"),
    ],
)
def test_the_test_kit_names_each_fault(tmp_path: Path, name: str, change: Callable[[str], str], fault: str) -> None:
    folder = tmp_path / "fixtures"
    (folder / "refused").mkdir(parents=True)
    shutil.copy(FIXTURE, folder / "q1.jsonl")
    expected = FIXTURE.with_suffix(".expected").read_text(encoding="utf-8").replace(FIXTURE.stem, "q1")
    (folder / "q1.expected").write_text(expected, encoding="utf-8")
    check_format(load_format("scribe"), folder, tmp_path)
    (folder / name).write_text(change(SESSION), encoding="utf-8")
    with pytest.raises(AssertionError, match=fault):
        check_format(load_format("scribe"), folder, tmp_path)


BROKEN = {
    "a missing module": "import no_such_module_of_anybody\n",
    "a missing name": "",
    "a field of another release": "from pastchats_memory.formats.base.format import Format\nSCRIBE = Format(nam='scribe')\n",
    "a syntax error": "SCRIBE = (\n",
    "another object": "SCRIBE = 'scribe'\n",
    "a name that is taken": "from pastchats_memory.formats.agents.codex import CODEX as SCRIBE\n",
}


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, program: Program, installed: Path, tmp_path: Path) -> Program:
    packages = shutil.copytree(installed, tmp_path / "packages")
    (packages / "scribe_memory.py").write_text(BROKEN[request.param], encoding="utf-8")
    return with_packages(program, packages)


def test_a_broken_format_is_an_explained_error_and_recall_works_without_it(broken: Program, demo: Program) -> None:
    for arguments in (["formats"], ["index", "."]):
        run = broken(*arguments)
        assert (run.status, run.stdout) == (2, ""), arguments
        assert "scribe-memory 1.0" in run.stderr
        assert re.search("(?:Update or u|U)ninstall scribe-memory 1.0", run.stderr)
        assert "Traceback" not in run.stderr
    recalled = broken("recall", "build webhook retries", "--db", demo.database)
    assert (recalled.status, recalled.stderr) == (0, "")


def forget_formats() -> None:
    """Empty the caches of the registry, and remove the example from the imported modules."""
    for function in (registry._added, registry.added_formats, registry.all_formats, load_format):  # noqa: SLF001 - nobody else empties it
        function.cache_clear()
    sys.modules.pop("scribe_memory", None)


@pytest.fixture
def packages(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with the example package, on the path of this process."""
    folder = shutil.copytree(installed, tmp_path / "packages")
    monkeypatch.syspath_prepend(folder)
    forget_formats()
    yield folder
    forget_formats()


def test_a_format_of_another_package_is_loaded_by_its_name(packages: Path) -> None:
    assert load_format("scribe").program == "Scribe"
    with pytest.raises(UsageFault, match="no format 'nobody'"):
        load_format("nobody")
    reports = report_formats(Environment({}, packages, "linux"))
    origins = {report.format.name: report.origin for report in reports}
    assert (origins["scribe"], origins["codex"]) == ("scribe-memory 1.0", "built in")


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_format_is_named_with_its_package(text: str, packages: Path) -> None:
    (packages / "scribe_memory.py").write_text(text, encoding="utf-8")
    with pytest.raises(BrokenFormat, match=r"scribe-memory 1\.0"):
        load_format("scribe")
