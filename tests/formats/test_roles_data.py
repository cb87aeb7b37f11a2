"""Every word and key by which JSON of unknown shape is read is needed by a golden file."""

import subprocess
import sys

from golden import ROOT


def test_every_entry_of_the_role_words_is_needed_by_a_golden_file():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "word_lists" / "roles.py"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Every entry is needed.\n", "")
