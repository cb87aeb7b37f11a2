"""Fixtures that git could not keep readably: a database as its SQL, a tree of files as one JSON object of paths."""

import atexit
import json
import shutil
import tempfile
from pathlib import Path

import apsw

BUILT = Path(tempfile.mkdtemp(prefix="fixtures-"))
atexit.register(shutil.rmtree, BUILT, ignore_errors=True)
SQLITE = b"SQLite format 3\0"


def made(path):
    """The file to read for a fixture: the database or the first file of the tree that it describes, else itself."""
    content = path.read_bytes()
    if path.suffix == ".sql" and not content.startswith(SQLITE):
        return database_of(content.decode(errors="replace"), BUILT / f"{path.stem}.db")
    if path.suffix == ".tree":
        return tree_of(content, BUILT / path.stem) or path
    return path


def database_of(statements, path):
    """A database of one statement a line; what SQLite does not understand of it is passed over."""
    path.unlink(missing_ok=True)
    database = apsw.Connection(str(path))
    database.execute("PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; BEGIN").fetchall()
    for line in statements.split("\n"):
        try:
            database.execute(line)
        except (apsw.Error, ValueError):  # a NUL
            continue
    database.execute("COMMIT")
    database.close()
    return path


def tree_of(content, folder):
    """The first of the files; a text stands in its file as it is, any other value as JSON."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        files = json.loads(content)
    except ValueError:
        return None
    written = []
    for name, value in files.items() if isinstance(files, dict) else ():
        written.append(folder / name)
        written[-1].parent.mkdir(parents=True, exist_ok=True)
        written[-1].write_bytes(
            value.encode("utf-8", "replace") if isinstance(value, str) else json.dumps(value).encode()
        )
    return written[0] if written else None
