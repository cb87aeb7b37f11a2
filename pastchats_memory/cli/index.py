"""`index`: read conversations on disk into the memory."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
import orjson

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import emit_json, hanging, is_terminal, notify, table
from pastchats_memory.config import Config, from_home, load, own_places
from pastchats_memory.errors import UsageFault
from pastchats_memory.ingest import no_news
from pastchats_memory.store.sources import EMPTY
from pastchats_memory.text.display import counted, escape_name, escape_path, one_line
from pastchats_memory.text.groups import group_by_key

if TYPE_CHECKING:
    from threading import Event

    from watchfiles import Change

    from pastchats_memory.formats.registry import History
    from pastchats_memory.ingest.forecast import Forecast
    from pastchats_memory.ingest.options import IndexOptions
    from pastchats_memory.ingest.report import FileReport, IndexProgress, IndexReport
    from pastchats_memory.memory import Memory

# What reads, embeds and stores is imported in functions: a run without news does without it.

NO_CONVERSATION = (
    "There is no conversation in it. `pastchats-memory sources` lists the histories on this machine, and --dry-run shows "
    "how each file would be read."
)
SHOWN = 10
"""Files of a kind that are named on a terminal; `--json` has them all."""
LONG = 20
"""Seconds from which on a run is foretold."""
SETTLED_MS = 800
"""Longest that changes are gathered before they are read."""
STEP_MS, LOOKS_MS = 50, 500


@make_command("index")
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--input", "inputs", metavar="PATH", multiple=True, help="A path, same as the argument; repeatable.")
@click.option("--project", metavar="NAME", help="File every turn under this project, whatever the files say.")
@click.option("--force", is_flag=True, help="Read unchanged files again; unchanged text is not embedded again.")
@click.option("--notes", is_flag=True, help="Take Markdown that is no dialogue, split at its headings.")
@click.option("--all", "everything", is_flag=True, help="Index all places that `sources` lists.")
@click.option("--watch", is_flag=True, help="Index again whenever files change, until Ctrl-C.")
@click.option("--include", metavar="GLOB", multiple=True, help="Only matching files; repeatable.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="Skip these files, folders, projects; repeatable.")
@click.option("--follow-links", is_flag=True, help="Follow symbolic links out of a folder.")
@click.option("--format", metavar="NAME", help="Read the named files as this format, and of folders only its files.")
@click.option("--map", metavar="ROLE=KEY,...", help="Keys of JSON of unknown shape: role=speaker,text=body.")
@click.option("--dry-run", is_flag=True, help="Only show the format of each file, and the --map line that fits it.")
@options.yes_or_no
@options.model
@options.threads
@options.database
@options.as_json
def command(
    paths: tuple[str, ...],
    inputs: tuple[str, ...],
    project: str | None,
    everything: bool,
    watch: bool,
    dry_run: bool,
    yes: bool,
    no: bool,
    model: str | None,
    threads: int | None,
    db: str | None,
    as_json: bool,
    **how: Any,
) -> int:
    """Read conversations, notes and tasks below PATH and make them searchable. Only new text costs time.

    Files are read, never changed. An interrupted run keeps what it has stored; the same command continues it. A folder with a
    file .pastchats-ignore is not read, and neither are conversations that took place in it.
    """
    start, config = time.monotonic(), load(db)
    histories, places = _find_places(config, how["include"]) if everything else ([], [])
    named = [*paths, *inputs, *(str(history.path) for history in histories), *places]
    if not named:
        hint = "Name a file or folder: pastchats-memory index ~/.claude/projects"
        raise UsageFault("no history was found" if everything else "no path was given", hint)
    stamp = None if dry_run or watch or model else no_news.make_stamp(config, named, project, how)
    if stamp is not None and (answer := no_news.find_answer(config.database, stamp, start)) is not None:
        _show(orjson.loads(answer) | {"duration_s": time.monotonic() - start}, as_json=as_json)
        if everything:
            _fulfil_requests(db)
        return DONE
    from pastchats_memory.memory.indexing import index_options
    from pastchats_memory.views.to_json import to_json

    wanted = index_options(config, project, **how)  # a wrong one is known before anything is made
    if dry_run:
        return _dry_run(named, config, wanted, as_json=as_json)
    if not os.path.lexists(config.database) and not _agreed(named, histories, yes=yes, no=no):
        return NOTHING
    options.be_nice()
    with options.open_memory(db, create=True, model=model, threads=threads) as memory:
        stopping = options.interrupt_in_order()
        report = index_with_progress(memory, named, project, how)
        _show(to_json(report), as_json=as_json)
        if stamp is not None:
            memory.store_answer(stamp, named, project, lambda again: orjson.dumps(to_json(again)).decode(), **how)
        if not (report.files_read or report.known or as_json):
            notify(NO_CONVERSATION)
        if everything:
            _fulfil_requests(db)
        if watch:
            again = partial(memory.index, project=project, **(how | {"force": False}))
            _watch(again, named, own_places(config.database), stopping, as_json=as_json)
    return DONE if report.files_read or report.known else NOTHING


def _find_places(config: Config, include: Sequence[str]) -> tuple[list[History], list[str]]:
    """Return the histories on this machine, and other places from which files were indexed."""
    from pastchats_memory.memory.indexing import find_readable_histories, list_other_places

    histories = find_readable_histories(config, include)
    return histories, list(map(str, list_other_places(config, histories)))


def _show(body: Mapping[str, Any], *, as_json: bool) -> None:
    emit_json(body) if as_json else click.echo(hanging(_text(body)))


def _fulfil_requests(db: str | None) -> None:
    """Index sessions that a hook reported, and that no process has indexed yet, wherever their transcripts lie."""
    from pastchats_memory.hooks import background
    from pastchats_memory.hooks.state import find_state

    if (state := find_state(db)) is not None and state.is_dir():
        background.run(state)


def index_with_progress(memory: Memory, named: list[str], project: str | None, how: dict[str, Any]) -> IndexReport:
    """Index, and show a bar on a terminal. Raises what `Memory.index` raises, and KeyboardInterrupt."""
    try:
        with _progress() as progress:
            return memory.index(named, project, progress=progress, **{"forecast": _foretell} | how)
    except KeyboardInterrupt:
        turns = memory.status().turns
        notify(f"\nStopped. {counted(turns, 'turn')} are stored and searchable; run the same command to go on.")
        raise


def _agreed(named: list[str], histories: list[History], *, yes: bool, no: bool) -> bool:
    """Say before a run what will be read; ask before `--all` reads the whole machine."""
    if not histories and not is_terminal(sys.stderr):
        return True
    places = [f"{history.program}: {from_home(str(history.path))}" for history in histories] or named
    click.echo("This reads, and never changes, what is in", err=True)
    click.echo("\n".join(f"  {escape_path(place)}" for place in places), err=True)
    notify("into a database on this machine. Nothing is sent anywhere unless an endpoint is configured.")
    if yes or no or not histories or not is_terminal(sys.stdin):
        return not no
    return click.confirm("Go on?", default=True, err=True)


def _foretell(forecast: Forecast) -> None:
    for process in forecast.other_runs:
        notify(f"Process {process} is indexing too; both take turns, and each text is embedded once.")
    if forecast.seconds >= LONG and is_terminal(sys.stderr):
        minutes = max(1, round(forecast.seconds / 60))
        notify(
            f"About {forecast.turns:,} turns in {counted(forecast.files, 'file')}: about {counted(minutes, 'minute')}. "
            "It may be stopped at any time, newest first is stored, and the same command goes on."
        )


def _watch(
    index: Callable[..., IndexReport], named: list[str], ours: frozenset[str], stopping: Event, *, as_json: bool
) -> NoReturn:
    """Index again whenever another program changes something below the paths. Raises KeyboardInterrupt, in the end."""
    from watchfiles import DefaultFilter, watch

    from pastchats_memory.views.to_json import to_json

    begun = False
    others = DefaultFilter()

    def is_news(change: Change, path: str) -> bool:
        """Return whether a change needs a run.

        Before the first run every event does, so that the database is asked at once.
        """
        return not begun or (others(change, path) and ours.isdisjoint(map(str, (Path(path), *Path(path).parents))))

    click.echo("Watching; Ctrl-C ends it.", err=True)
    for changes in watch(
        *named, watch_filter=is_news, debounce=SETTLED_MS, step=STEP_MS, rust_timeout=LOOKS_MS, yield_on_timeout=True,
        stop_event=stopping,
    ):  # fmt: skip
        if begun and not changes:
            continue
        # once without a change: what was written since the first run looked at it, nobody watched
        report = index([path for path in named if Path(path).exists()])
        if as_json and (begun or report.added):
            emit_json(to_json(report))
        elif report.added or report.superseded:
            click.echo(f"Added {counted(report.added, 'turn')} of {counted(len(report.files_read), 'file')}.")
        elif report.moved:
            click.echo(f"Followed {counted(report.moved, 'file')} to another place.")
        sys.stdout.flush()
        begun = True
    raise KeyboardInterrupt


def _dry_run(paths: list[str], config: Config, wanted: IndexOptions, *, as_json: bool) -> int:
    from pastchats_memory.memory.indexing import preview_index
    from pastchats_memory.views.answers.sources import build_index_preview
    from pastchats_memory.views.to_json import to_json

    found = preview_index(config, paths, wanted)
    is_any_read = any(report.format for report, _, _ in found)
    if as_json:
        emit_json(to_json(build_index_preview(found)))
    elif found:
        unchanged = [report for report, _, _ in found if report.is_unchanged and report.format]
        rows = [
            [
                report.format or "–",
                turns or "",
                escape_name(project or ""),
                escape_path(_near(report.path)),
                report.reason
                or one_line(", ".join(f"{name}={keys.replace(', ', '|')}" for name, keys in report.keys.items())),
            ]
            for report, turns, project in found
            if report not in unchanged
        ]
        if rows:
            click.echo(table(rows, ["format", "turns", "project", "file", "reason or keys"], stretch=(2, 3, 4)))
        for line in _list_maps(report for report, _, _ in found):
            click.echo(line)
        if unchanged:
            click.echo(f"{counted(len(unchanged), 'file')} unchanged since last time.")
    if not found:
        click.echo("There is no file in it that could be a conversation.", err=True)
    return DONE if is_any_read else NOTHING


def _list_maps(reports: Iterable[FileReport]) -> list[str]:
    """Return a line for each map that files are read by or that fits files that are not read."""
    files = group_by_key(
        ((report.format is not None, report.map), escape_path(_near(report.path))) for report in reports if report.map
    )
    lines = []
    for (is_read, key_map), paths in files.items():
        more = f" and {counted(len(paths) - 1, 'other file')}" if len(paths) > 1 else ""
        line = f"--map {shlex.quote(one_line(key_map))}"
        lines.append(f"{paths[0]}{more}: " + (f"read with {line}" if is_read else f"not read; this fits: {line}"))
    return lines


def _near(path: str) -> str:
    """Return the path relative to the working directory if it lies below it."""
    here = os.path.curdir
    try:
        below = Path(path).relative_to(Path.cwd())
    except (OSError, ValueError):
        return path
    return str(below) if str(below) != here else path


@contextmanager
def _progress() -> Iterator[Callable[[IndexProgress], None]]:
    """Show a bar with rate and time left on a terminal, nothing elsewhere."""
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    from tqdm import tqdm

    form = "{percentage:3.0f}% {bar} {n_fmt}/{total_fmt}, {remaining} left{postfix}"
    # nothing is drawn before the total is known
    with tqdm(
        unit="B", unit_scale=True, leave=False, bar_format=form, file=sys.stderr, delay=sys.float_info.min
    ) as bar:

        def step(progress: IndexProgress) -> None:
            is_first = bar.total is None
            bar.total = progress.bytes_total
            bar.set_postfix_str(f"{progress.turns:,} turns", refresh=False)
            bar.update(progress.bytes_done - bar.n)
            if is_first:
                bar.refresh()

        yield step


def _text(body: Mapping[str, Any]) -> str:
    """Return the answer of a run as text, from its JSON."""
    files = body["results"]
    new = [file for file in files if not file["unchanged"]]
    read = Counter(file["format"] for file in new if file["format"])
    empty = sum(file["reason"] == EMPTY for file in new)
    passed_over = [file for file in new if file["format"] is None and file["reason"] != EMPTY]
    kinds = f" ({', '.join(f'{count} {name}' for name, count in read.most_common())})" if read else ""
    moved = f" ({body['moved']:,} moved)" if body["moved"] else ""
    counts = f"{read.total()} read{kinds}, {body['files_unchanged']} unchanged{moved}"
    counts += f", {empty} empty" if empty else ""
    work = f"{counted(body['embedded'], 'text')} embedded, {body['cached']:,} had a vector; {body['duration_s']:.1f} s"
    tasks = f" and {counted(body['tasks_added'], 'task')}" if body["tasks_added"] else ""
    pending = f"{counted(body['pending_vectors'], 'text')} without a vector yet: a command that has the model adds it."
    lines = [
        f"Looked at {counted(body['files_scanned'], 'file')}: {counts}, {len(passed_over):,} not taken.",
        f"Added {counted(body['turns_added'], 'turn')}{tasks}; {body['turns_skipped']:,} known already; {work}.",
        *([pending] if body["pending_vectors"] else []),
        *([f"Left out {counted(body['forgotten'], 'row')} that you had forgotten."] if body["forgotten"] else []),
    ]
    partly = [file for file in files if file["format"] and file["reason"]]
    for title, some in (("Not taken", passed_over), ("Not all of it taken", partly)):
        lines += _listed(title, [f"{_show_path(it)}: {one_line(it['reason'] or '')}" for it in some])
    faults = [
        f"{_show_path(file)}:{fault['line']}: {one_line(fault['reason'])}"
        for file in files
        for fault in file["unreadable"]
        if file["format"] or fault["reason"] != file["reason"]
    ]
    lines += _listed("Not understood", faults)
    return "\n".join(lines)


def _show_path(file: Mapping[str, Any]) -> str:
    return escape_path(from_home(file["source_path"]))


def _listed(title: str, entries: list[str]) -> list[str]:
    if not entries:
        return []
    more = [f"  … and {len(entries) - SHOWN:,} more (all of them with --json)"] if len(entries) > SHOWN else []
    return [f"{title}:", *(f"  {entry}" for entry in entries[:SHOWN]), *more]
