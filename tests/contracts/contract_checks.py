"""The invariants as functions: each takes the thing to check and returns what is wrong with it, nothing for all well.

The same function passes on the real thing and fails on one that was broken on purpose, so that a check which cannot fail
would be noticed.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import apsw
from program import Program

SQLITE = ("apsw", "sqlite3", "sqlite_vec")
SQLITE_MODULES = ("store/", "files/foreign_sqlite.py")
POSTGRES_MODULES = ("team/postgres.py", "team/trial.py")
"""They spell statements of another database."""

QUERY = "build webhook retries"
SOURCE = re.compile(r"^Source: (?P<path>.+):(?P<line>\d+)(?: \(turn \d+\)| · id)", re.MULTILINE)
"""A path below the home folder begins with `~`."""
ENTRY = re.compile(r"^## \d+\. ", re.MULTILINE)
STATEMENT = re.compile(r"\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|PRAGMA|BEGIN|CREATE|DROP|ALTER)\s")
LENGTH_OF_START = 24
"""Characters of a content that must stand where it is said to stand."""

Fuse = Callable[[Mapping[str, Sequence[int]], Mapping[str, float]], Sequence]


# --- I-ARCH-001 -------------------------------------------------------------------------------------------------------


def sqlite_users(package: Path) -> list[str]:
    """Where modules outside the store layer import SQLite in whatever form, or spell a statement."""
    faults = []
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith(SQLITE_MODULES):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = [f"{line} imports {one}" for line, one in _imported(tree) if one.split(".")[0] in SQLITE]
        statements = () if name in POSTGRES_MODULES else _statements(tree)
        faults += [f"{name}:{fault}" for fault in (*known, *statements)]
    return faults


def _statements(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and STATEMENT.match(node.value):
            yield f"{node.lineno} spells {node.value.split()[0]}"


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, node.module or ""
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
            "import_module",
            "__import__",
        ):
            yield from ((node.lineno, word.value) for word in node.args[:1] if isinstance(word, ast.Constant))


# --- I-ARCH-002 -------------------------------------------------------------------------------------------------------


def words_not_found(program: Program) -> list[str]:
    """Rows that the lexical index does not give back for a word of theirs, asked of the index and of the program."""
    database = apsw.Connection(str(program.database), flags=apsw.SQLITE_OPEN_READONLY)
    faults = []
    rows = database.execute("SELECT id, content FROM prompts ORDER BY id").fetchall()
    for id_, content in rows:
        word = _longest_word(content)
        found = database.execute("SELECT rowid FROM prompts_fts WHERE prompts_fts MATCH ?", (f'"{word}"',)).fetchall()
        if (id_,) not in found:
            faults.append(f"turn {id_} is not in the index under {word!r}")
    for id_, content in (rows[0], rows[-1]):
        done = program("search", "--mode", "keyword", "--limit", 200, "--json", _longest_word(content))
        found = done.results if done.status == 0 else []  # an emptied index may be reported as damage
        if str(id_) not in [hit["id"] for hit in found]:
            faults.append(f"search --mode keyword does not find turn {id_} by {_longest_word(content)!r}")
    return faults


def _longest_word(content: str) -> str:
    return max(re.findall(r"[a-zA-Z]+", content), key=len)


# --- I-ARCH-003 -------------------------------------------------------------------------------------------------------


def missing_entry_point(program: Program) -> list[str]:
    """What is missing for an agent that asks `recall` before a task, over the demo history."""
    faults = []
    if not re.search(r"^  recall +\S", program("--help").stdout, re.MULTILINE):
        faults.append("recall is not among the commands")
    done = program("recall", "--query", QUERY)
    if done.status != 0:
        faults.append(f"recall ended with {done.status}: {done.stderr.strip()}")
    if not done.stdout.startswith(f"# Memory Recall\n\nQuery: {QUERY}\n"):
        faults.append("the block does not begin with its heading and the query")
    return faults


# --- I-MEM-001 --------------------------------------------------------------------------------------------------------


def unpaired_rows(program: Program) -> list[str]:
    """Turns without their one vector, vectors without their turn, and counts of the program that do not show it."""
    database = apsw.Connection(str(program.database), flags=apsw.SQLITE_OPEN_READONLY)
    prompts = {id_ for (id_,) in database.execute("SELECT id FROM prompts")}
    vectors = dict(database.execute("SELECT prompt_id, vector_json FROM prompt_embeddings"))
    faults = [f"turn {id_} has no embedding" for id_ in sorted(prompts - vectors.keys())]
    faults += [f"an embedding belongs to no turn: {id_}" for id_ in sorted(vectors.keys() - prompts)]
    faults += [
        f"the embedding of turn {id_} is not 384 whole numbers up to 127"
        for id_, text in vectors.items()
        if [*map(type, vector := json.loads(text))] != [int] * 384 or max(map(abs, vector)) != 127
    ]
    if not prompts:
        faults.append("nothing is indexed")
    if program("doctor").status != 0:
        faults.append("doctor finds something to mend")
    return faults


# --- I-MEM-002 --------------------------------------------------------------------------------------------------------


def one_sided_ranking(fuse: Fuse) -> list[str]:
    """What a fusion does with two lists of two, against the sums worked by hand."""
    fused = fuse({"words": [1, 2], "meaning": [2, 3]}, {"words": 0.5, "meaning": 0.5})
    found = {row.id: round(row.score, 9) for row in fused}
    wanted = {2: round(0.5 / 12 + 0.5 / 11, 9), 1: round(0.5 / 11, 9), 3: round(0.5 / 12, 9)}
    faults = [] if list(found.items()) == list(wanted.items()) else [f"{found} instead of {wanted}"]
    faults += [
        f"the contributions to {row.id} do not add up to its score"
        for row in fused
        if abs(sum(row.contributions.values()) - row.score) > 1e-12
    ]
    return faults


def one_sided_search(together: Program, apart: Program) -> list[str]:
    """Whether each hybrid score of one program is made of its places by words and by meaning in another, and of both."""
    places: dict[str, dict[str, int]] = {}
    for mode, name, place in (("keyword", "words", "lexical_rank"), ("semantic", "meaning", "semantic_rank")):
        for hit in apart("search", QUERY, "--mode", mode, "--limit", 100, "--json").results:
            places.setdefault(hit["id"], {})[name] = hit[place]
    hits = together("search", QUERY, "--limit", 40, "--explain", "--json").results
    faults = [] if any("together" in hit["contributions"] for hit in hits) else ["nothing weighs both together"]
    for hit in hits:
        added = dict(hit["contributions"])
        added.pop("together", None)
        wanted = {name: 1 / (10 + place) for name, place in places[hit["id"]].items()}
        if added.keys() != wanted.keys() or any(abs(added[name] - wanted[name]) > 1e-9 for name in wanted):
            faults.append(f"hit {hit['id']} is ranked by {added} instead of {wanted}")
        if abs(sum(hit["contributions"].values()) - hit["score"]) > 1e-9:
            faults.append(f"the contributions to {hit['id']} do not add up to its score")
        if (hit["lexical_rank"], hit["semantic_rank"]) != tuple(places[hit["id"]].get(n) for n in ("words", "meaning")):
            faults.append(f"hit {hit['id']} is shown with ranks that it does not have")
    return faults


# --- I-MEM-003 --------------------------------------------------------------------------------------------------------


def lost_without_extension(with_extension: Program, without: Program) -> list[str]:
    """What semantic search and recall lose where sqlite-vec does not load."""
    faults = []
    engine = without("status", "--json").results[0]["engine"]
    if engine != "exact":
        faults.append(f"the engine is {engine}, so nothing was tested")
    for arguments in (
        ["search", QUERY, "--mode", "semantic", "--limit", 200, "--json"],
        ["recall", QUERY, "--json"],
    ):
        wanted, found = with_extension(*arguments), without(*arguments)
        if (found.status, found.stdout) != (wanted.status, wanted.stdout):
            faults.append(f"{arguments} answers {found.status} {found.stdout[:80]!r} {found.stderr[-80:]!r}")
    return faults


# --- I-MEM-004 --------------------------------------------------------------------------------------------------------


def untraceable(program: Program, query: str = QUERY) -> list[str]:
    """Memories of a recall block, as text and as JSON, whose source is missing or does not hold what was quoted."""
    recalled = program("recall", "--query", query, "--json").json
    entries = ENTRY.split(recalled["text"])[1:]
    known = [(hit["question"] or hit)["source_path"] for hit in recalled["results"]]
    faults = [] if entries else ["there is no memory to trace"]
    for number, entry in enumerate(entries, start=1):
        sources = list(SOURCE.finditer(entry))
        if len(sources) != 1:
            faults.append(f"entry {number} has {len(sources)} sources")
        faults += [
            f"entry {number} cites {source['path']!r}, which no result has"
            for source in sources
            if not any(path.endswith(source["path"].removeprefix("~")) for path in known)
        ]
    for hit in recalled["results"]:
        place = SOURCE.match(f"Source: {hit['source']}")
        if place is None or (place["path"], int(place["line"])) != (hit["source_path"], hit["source_line"]):
            faults.append(f"hit {hit['id']} cites {hit['source']!r}")
        elif not _stands_at(Path(place["path"]), int(place["line"]), hit["content"]):
            faults.append(f"hit {hit['id']} is not what stands at {hit['source']}")
    return faults


def _stands_at(path: Path, line: int, content: str) -> bool:
    """Whether the beginning of a content stands at a line: in a JSON string, or below a Markdown heading."""
    lines = path.read_text(encoding="utf-8").split("\n")[line - 1 : line + 3]
    start = content.split("\n", maxsplit=1)[0][:LENGTH_OF_START]
    return start in "\n".join(lines) or json.dumps(start, ensure_ascii=False)[1:-1] in lines[0]
