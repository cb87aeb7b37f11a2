"""Make every change that the first release needs, for one commit.

    make first-release OWNER=name

It sets the owner of the repository, the date and the sentences that say that nothing is published. If a text is not there
once, it changes nothing, so that no page is forgotten. It deletes itself, its test and its target of `make`, which then
writes the generated files and a database with the last changes.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from pathlib import Path

import pastchats_memory

REPOSITORY = Path(__file__).resolve().parents[1]
DELETED = ("tests/test_first_release.py", "scripts/prepare_first_release.py")
TARGET = """
# Set owner and date for the first release, and keep a database that it wrote.
first-release: $(VENV)/installed-dev
	$(BIN)/python scripts/prepare_first_release.py $(OWNER)
	$(MAKE) docs
	$(BIN)/python scripts/keep_database.py
"""
Change = tuple[str, str, str]
"""A file, a text that it has once, and the text that takes its place."""


def find_section(name: str, heading: str) -> str:
    """Return a section of a page with its heading, up to the next one."""
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    start = text.index(f"## {heading}\n")
    return text[start : text.index("\n## ", start) + 1]


def list_changes(owner: str, date: str) -> list[Change]:
    """Return all changes that publish the present version."""
    raw = f"https://raw.githubusercontent.com/{owner}/pastchats-memory/main"
    return [
        ("pyproject.toml", "# There is no public address yet. Everything else that names one takes", "# Everything else that names the address takes"),
        ("pyproject.toml", "github.com/OWNER/", f"github.com/{owner}/"),
        ("CHANGELOG.md", f"## {pastchats_memory.__version__} – unreleased", f"## {pastchats_memory.__version__} – {date}"),
        ("README.md", "io.github.OWNER/", f"io.github.{owner}/"),
        (
            "README.md",
            "$ pipx install .                   # or `uv tool install .`, in this folder (not on PyPI yet); without a Python: PASTCHATS_MEMORY_PACKAGE=. sh install.sh",
            f"$ curl -fsSL {raw}/install.sh | sh    # needs no Python; or pipx install pastchats-memory",
        ),
        ("README.md", "uvx --from . pastchats-memory", "uvx pastchats-memory"),
        ("README.md", "pipx install --force '.[picker]'", "pipx install --force 'pastchats-memory[picker]'"),
        ("docs/quickstart.md", "The package is not on PyPI yet. In a copy of the repository:", f"One line installs it for your account and needs no Python. Add `-s -- --dry-run` to see what it would do:\n\n```sh\ncurl -fsSL {raw}/install.sh | sh\n```\n\nOn Windows it is `irm {raw}/install.ps1 | iex`, in PowerShell. With a Python of your own:"),
        ("docs/quickstart.md", "\npipx install .\n", "\npipx install pastchats-memory\n"),
        ("docs/quickstart.md", "`uv tool install .` works as well, and `pip install .` in", "`uv tool install pastchats-memory` works as well, and `pip install pastchats-memory` in"),
        ("docs/quickstart.md", "uvx --from . pastchats-memory", "uvx pastchats-memory"),
        ("docs/quickstart.md", "pipx install --force '.[picker]'", "pipx install --force 'pastchats-memory[picker]'"),
        ("docs/team.md", "   # not on PyPI yet: from a clone, pip install '.[team-try]'", ""),
        ("docs/releasing.md", find_section("docs/releasing.md", "The first version"), ""),
        ("Makefile", TARGET, ""),
        ("Makefile", " first-release", ""),
        ("SECURITY.md", "Nothing is released yet. Problems are fixed on the main branch,", "Problems are fixed in the newest release,"),
    ]  # fmt: skip


def main() -> int:
    """Change the files. Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("owner", help="the account or organisation that holds the repository")
    parser.add_argument("--date", default=dt.datetime.now(tz=dt.UTC).date().isoformat())
    given = parser.parse_args()
    texts: dict[Path, str] = {}
    for name, before, after in list_changes(given.owner, given.date):
        path = REPOSITORY / name
        text = texts.get(path) or path.read_text(encoding="utf-8")
        if text.count(before) != 1:
            print(f"{name} does not have this text once: {before.strip()}", file=sys.stderr)
            return 1
        texts[path] = text.replace(before, after)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        print(f"changed {path.relative_to(REPOSITORY)}")
    for name in DELETED:
        (REPOSITORY / name).unlink()
        print(f"deleted {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
