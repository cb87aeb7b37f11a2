"""Write a Homebrew formula and a Scoop manifest for a source archive.

    python scripts/generate_downloads.py ARCHIVE FOLDER

Both install the packages of `packaging/requirements.lock`, each by its hash, and then the archive itself.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME: str = PROJECT["name"]
COMMANDS: tuple[str, ...] = tuple(PROJECT["scripts"])
PYTHON = "3.13"
LOCK = "packaging/requirements.lock"

FORMULA = """class {class_name} < Formula
  desc "{description}"
  homepage "{address}"
  url "{url}"
  sha256 "{sha256}"
  license "{license}"

  depends_on "python@{python}"

  # Packages come as wheels, each by its hash: some of them have no source archive on PyPI.
  def install
    system Formula["python@{python}"].opt_bin/"python{python}", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "--require-hashes", "--only-binary", ":all:", "-r", "{lock}"
    system libexec/"bin/pip", "install", "--no-deps", "."
    bin.install_symlink {links}
    man1.install Dir["packaging/share/man/man1/*.1"]
    bash_completion.install Dir["packaging/share/bash-completion/completions/*"]
    zsh_completion.install Dir["packaging/share/zsh/site-functions/*"]
    fish_completion.install Dir["packaging/share/fish/vendor_completions.d/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/{name} --version")
  end
end
"""


def main() -> int:
    """Write both files. Return the exit code."""
    archive, folder = Path(sys.argv[1]), Path(sys.argv[2])
    for name, text in render_downloads(archive).items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


def render_downloads(archive: Path) -> dict[str, str]:
    """Return the text of the formula and of the manifest, by file name."""
    version: str = PROJECT["version"]
    address: str = PROJECT["urls"]["Repository"]
    url = f"{address}/releases/download/v{version}/{archive.name}"
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    formula = FORMULA.format(
        class_name="".join(part.capitalize() for part in NAME.split("-")),
        description=PROJECT["description"],
        address=address,
        url=url,
        sha256=sha256,
        license=PROJECT["license"],
        python=PYTHON,
        lock=LOCK,
        links=", ".join(f'libexec/"bin/{command}"' for command in COMMANDS),
        name=NAME,
    )
    pip = '& "$dir\\venv\\Scripts\\python.exe" -m pip install --disable-pip-version-check'
    manifest = {
        "version": version,
        "description": PROJECT["description"],
        "homepage": address,
        "license": PROJECT["license"],
        "depends": "python",
        "url": url,
        "hash": sha256,
        "extract_dir": archive.name.removesuffix(".tar.gz"),
        "installer": {
            "script": [
                'python -m venv "$dir\\venv"',
                f'{pip} --require-hashes --only-binary :all: -r "$dir\\{LOCK.replace("/", chr(92))}"',
                f'{pip} --no-deps "$dir"',
            ]
        },
        "bin": [f"venv\\Scripts\\{command}.exe" for command in COMMANDS],
    }
    return {f"{NAME}.rb": formula, f"{NAME}.json": json.dumps(manifest, indent=4) + "\n"}


if __name__ == "__main__":
    sys.exit(main())
