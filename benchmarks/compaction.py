"""Measure whether the packet after a compaction holds what the client's summary lacks and the next actions use.

    python benchmarks/compaction.py SESSION.jsonl ...

A session of Claude Code is cut before each summary (`isCompactSummary`), and a packet is built from the part before it. An item counts
if one of the next ten calls of tools uses it and the summary does not name it. A file is used if a call names its path, a command if a
call runs the same program with one of its arguments. The summary names a file by its name alone, and a command by its words. The second
measure asks for the file's path in the project. Decisions and refusals are not counted: no program can tell whether an action follows one.

The last lines are the number of compactions with such an item, of those in which any earlier call has one (no packet can do better), and
of all that are followed by an action.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from pastchats_memory.config import Config
from pastchats_memory.formats.registry import load_format
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.hooks.transcript import read_session
from pastchats_memory.model.episodes import Packet
from pastchats_memory.recall.packet import AFTER_COMPACTION, build_packet, fit_packet
from pastchats_memory.store.database import open_database
from pastchats_memory.text.commands import (
    find_purpose,
    is_same_kind,
    simplify_purpose,
    sort_options,
    strip_surroundings,
)
from pastchats_memory.text.recall_block import RECALL_PREAMBLE
from pastchats_memory.views.packet import render_packet

ACTIONS = 10
BUDGET = AFTER_COMPACTION - len(RECALL_PREAMBLE) - 1


Action = dict[str, Any]
"""The input of a call."""


class Compaction(NamedTuple):
    """A summary, the records before it, and the calls on both sides."""

    before: list[bytes]
    session: str
    summary: str
    earlier: list[Action]
    actions: list[Action]


def list_compactions(path: Path) -> Iterator[Compaction]:
    """Yield the compactions of a session that are followed by an action."""
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    records = [_parse(line) for line in lines]
    for place, record in enumerate(records):
        if record.get("isCompactSummary") is True and not record.get("isSidechain"):
            actions = _list_actions(records[place + 1 :])[:ACTIONS]
            if actions:
                earlier = _list_actions(records[:place], is_stopped=False)
                yield Compaction(lines[:place], str(record.get("sessionId")), _text_of(record), earlier, actions)


def _parse(line: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _list_actions(records: list[dict[str, Any]], *, is_stopped: bool = True) -> list[Action]:
    """Return the calls of the agent itself, up to the next summary."""
    found: list[Action] = []
    for record in records:
        if is_stopped and record.get("isCompactSummary") is True:
            break
        if record.get("type") == "assistant" and not record.get("isSidechain"):
            content = record.get("message", {}).get("content")
            blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
            found += [block.get("input") or {} for block in blocks if block.get("type") == "tool_use"]
    return found


def _text_of(record: dict[str, Any]) -> str:
    content = record.get("message", {}).get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content or [] if isinstance(block, dict))


def find_useful(one: Compaction, project: str, items: Iterable[tuple[str, str]], *, by_path: bool = False) -> list[str]:
    """Return the files (`changed`, `read`) and commands (`ran`) that the next actions use and the summary lacks.

    By path, a summary lacks a file of which it has the name without the folder.
    """
    summary = _slashes(" ".join(one.summary.split()))
    inputs = [
        " ".join(_slashes(value) for value in action.values() if isinstance(value, str)) for action in one.actions
    ]
    called = [_purpose(str(action.get("command", "")), project) for action in one.actions]
    found = []
    for kind, text in dict.fromkeys(items):
        if kind != "ran":
            path = _slashes(text)
            is_named = (path.partition(f"/{project}/")[2] or path if by_path else path.rpartition("/")[2]) in summary
            is_used = any(_slashes(text) in given for given in inputs)
        else:
            purpose = _purpose(text, project)
            is_named = _slashes(strip_surroundings(text)).removesuffix("…").strip() in summary
            is_used = bool(purpose) and any(purpose == other or is_same_kind(purpose, other) for other in called)
        if is_used and not is_named:
            found.append(f"{kind} {text}")
    return found


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def _purpose(command: str, project: str) -> str:
    return sort_options(simplify_purpose(find_purpose(command), project))


def _list_items(packet: Packet | None) -> Iterator[tuple[str, str]]:
    for line in packet.lines if packet else ():
        if line.section in ("changed", "read", "ran"):
            yield line.section, line.text.removeprefix("$ ").partition(" → ")[0]


def _list_earlier(one: Compaction) -> Iterator[tuple[str, str]]:
    """Yield every file and command of the calls before a compaction."""
    for action in one.earlier:
        # A search names its folder as `path`, and that is no file.
        yield from (
            ("changed", action[key]) for key in ("file_path", "notebook_path") if isinstance(action.get(key), str)
        )
        if isinstance(action.get("command"), str):
            yield "ran", " ".join(action["command"].split())


def main() -> None:
    """Print a line for each compaction, and the count."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sessions", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="Print each packet and the next actions.")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_database(Path(folder) / "nothing.db", create=True) as nothing_stored,
    ):
        for path in arguments.sessions:
            for one in list_compactions(path):
                part = Path(folder) / path.name
                part.write_bytes(b"\n".join(one.before) + b"\n")
                folders = (str(cwd) for line in one.before if (cwd := _parse(line).get("cwd")))
                event = HookEvent(session=one.session, cwd=next(folders, None), transcript=str(part))
                rows = read_session(nothing_stored, event, load_format("claude-code"), Config(nothing_stored.path))
                packet = fit_packet(build_packet(rows, (), "compaction"), BUDGET) if rows else None
                project = rows[-1].project if rows else ""
                counts["all"] += 1
                for measure, by_path in (("by name", False), ("by path", True)):
                    found = find_useful(one, project, _list_items(packet), by_path=by_path)
                    counts[measure] += bool(found)
                    counts[f"possible {measure}"] += bool(
                        found or find_useful(one, project, _list_earlier(one), by_path=by_path)
                    )
                print(f"{path.name[:40]} {len(rows)} rows, {len(one.actions)} actions: {'; '.join(found) or '-'}")
                if arguments.show and packet:
                    print(render_packet(packet), *(f">> {action}"[:200] for action in one.actions), sep="\n")
    for measure in ("by name", "by path"):
        print(f"{measure}: {counts[measure]} of {counts[f'possible {measure}']} possible of {counts['all']}")


if __name__ == "__main__":
    main()
