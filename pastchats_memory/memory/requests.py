"""What a caller says in words, as the rooms below take it: projects and filters."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.config import Config, is_private, own_places
from pastchats_memory.embed import Embedder
from pastchats_memory.embed.packaged import FAMILY
from pastchats_memory.embed.registry import CustomModel, ModelSettings, cores, is_model, remote_host
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.model import STATUSES, Filters, priority_of, utf8, wanted_statuses
from pastchats_memory.model import TYPES as TASK_TYPES
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database
from pastchats_memory.text.timestamps import parse_bound

if TYPE_CHECKING:
    from pastchats_memory.formats.registry import History
    from pastchats_memory.ingest.options import FileFilter, IndexOptions
    from pastchats_memory.tasks.edit import Viewpoint

OUTCOMES = ("worked", "failed", "mixed", "unknown")
TYPES = ("prompt", "note", "task", "epic", "subtask", "comment", "attachment")


def project_here() -> str | None:
    """The name of the project that the working directory belongs to; None where that folder was deleted."""
    try:
        return project_of_folder(str(Path.cwd()))
    except OSError:
        return None


def project_named(name: str | None) -> str | None:
    """A project as a caller names it: `.` is that of the working directory. Raises UsageFault where that is gone."""
    if name == "." and (name := project_here()) is None:
        raise UsageFault(
            "the working directory is gone, and with it the project", "Name the project, or change folder."
        )
    return name and utf8(name)


def project_of_folder(folder: str) -> str:
    """The name of the project that a folder belongs to."""
    from pastchats_memory.files.project import project_at

    return utf8(project_at(folder))


def filters_of(
    project: str | None = None,
    role: str | None = None,
    since: str | None = None,
    until: str | None = None,
    type_: str | None = None,
    status: str | None = None,
    priority: str | None = None,
    outcome: str | None = None,
) -> Filters:
    """The filters that a caller names in words; None leaves one out, `.` is the project of the working directory.

    Raises:
        UsageFault: one of the words is none that it may be.
    """
    if type_ is not None and type_ not in TYPES:
        raise UsageFault(f"unknown type {type_!r}", f"Use one of {', '.join(TYPES)}.")
    return Filters(
        project=project_named(project),
        role=role and utf8(role),
        since=None if since is None else parse_bound(since, is_end=False),
        until=None if until is None else parse_bound(until, is_end=True),
        notes=type_ == "note" if type_ in ("prompt", "note") else None,
        kinds=() if type_ in (None, "prompt", "note") else TASK_TYPES if type_ == "task" else (str(type_),),
        statuses=_statuses(status),
        priorities=_priorities(priority),
        outcomes=_outcomes(outcome),
    )


def source_named(path: str) -> tuple[str, ...]:
    """A source as it was typed, and as it was indexed if it is a path: a file or a folder, which need not be there any more."""
    try:
        return utf8(path), utf8(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - resolve() would follow links
    except OSError:  # the working directory is gone
        return (utf8(path),)


def task_filters(*, parts: bool = False, type_: str | None = None, **words: str | None) -> Filters:
    """The filters that leave nothing but tasks, and with `parts` their comments and attachments. Raises UsageFault."""
    found = filters_of(type_=type_ or "task", **words)
    return found._replace(kinds=(*found.kinds, "comment", "attachment")) if parts else found


def _statuses(words: str | None) -> tuple[str, ...]:
    wanted = wanted_statuses((words or "").split(","))
    if words is not None and not wanted:
        raise UsageFault("no status is named", f"Use one or more of {', '.join(STATUSES)}.")
    return wanted


def outcome_named(word: str) -> str:
    """One outcome. Raises UsageFault."""
    (named, *more) = _outcomes(word)
    if more:
        raise UsageFault(f"{word!r} is more than one outcome", f"Use one of {', '.join(OUTCOMES)}.")
    return named


def _outcomes(words: str | None) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(word.strip().lower() for word in (words or "").split(",") if word.strip()))
    if words is not None and (not wanted or not set(wanted) <= set(OUTCOMES)):
        raise UsageFault(f"{words!r} is no outcome", f"Use {', '.join(OUTCOMES)}, with commas between several.")
    return wanted


def _priorities(words: str | None) -> tuple[int, ...]:
    if words is None:
        return ()
    found = [priority_of(word) for word in words.split(",") if word.strip()]
    if not found or None in found:
        raise UsageFault(f"{words!r} is no priority", "Use 0 (critical) to 4 (lowest), with commas between several.")
    return tuple(number for number in found if number is not None)


# Private projects: their text is recalled only inside them, which each project's own file says.


def hidden_projects(database: Database, current_project: str | None) -> tuple[str, ...]:
    """Those that are not to be seen from a project, or from the working directory where none is named. Raises StoreFault."""
    private, unseen = sources.private_projects(database)
    private |= {project for folder, project in unseen if is_private(str(resolve_path(folder))) is not False}
    return tuple(sorted(private - {current_project or project_here()})) if private else ()


def standing_here(database: Database) -> Viewpoint:
    """The working directory, its project, and what is hidden from there. Raises StoreFault."""
    from pastchats_memory.tasks.edit import Viewpoint

    here = project_here()
    return Viewpoint("" if here is None else os.getcwd(), here, hidden_projects(database, here))  # noqa: PTH109 - a string is wanted


def look_for_private_projects(database: Database) -> None:
    """Ask every project that text came from; of one that is gone or not understood it stays as it was. Raises StoreFault."""
    there = {folder: str(resolve_path(folder)) for folder, _ in sources.folders(database)}
    asked = [(folder, is_private(path)) for folder, path in there.items() if os.path.isdir(path)]  # noqa: PTH112 - pathlib's raises below a closed folder on Python 3.11
    with database.transaction():
        sources.set_private(database, [(folder, said) for folder, said in asked if said is not None])


# What of the configuration the rooms below are given, in their own terms.


def model_settings(config: Config) -> ModelSettings:
    """What concerns models."""
    custom = {
        name: CustomModel(
            path=Path(table["path"]) if "path" in table else None,
            rules={key: value for key, value in table.items() if key != "path"},
        )
        for name, table in config.models.items()
    }
    return ModelSettings(config.caches, config.endpoint, config.api_key, config.threads or cores(), custom)


def next_model(asked: str | None, config: Config, known: Mapping[str, str]) -> str | None:
    """The model that is asked for, else the configured one, else the database's; None is the packaged one."""
    wanted = asked or config.model
    if wanted is None and not known.get("model_version", FAMILY).startswith(FAMILY):
        return known["model_name"]
    return wanted


def about_the_model(config: Config, database: Path, known: Mapping[str, str], embedder: Embedder) -> Iterator[str]:
    """Which model is used where another was asked for, and whether text leaves the machine.

    Args:
        config: as it counts.
        database: its path.
        known: `embedding_meta`.
        embedder: the one that answers.
    """
    name = known.get("model_name")
    if name is not None and config.model is not None and not is_model(config.model, name, known["model_version"]):
        yield (
            f"{database} has vectors of {name}, so that model is used and {config.model} is not; "
            f"`pastchats-memory reindex --embeddings --model {config.model}` changes it"
        )
    yield from about_leaving(embedder)


def about_leaving(embedder: Embedder) -> Iterator[str]:
    """Whether text leaves the machine, and to whom."""
    if (whom := remote_host(embedder)) is not None:
        yield f"text leaves this machine: it is sent to {whom} for its vectors"


def index_options(
    config: Config,
    project: str | None,
    include: Sequence[str],
    exclude: Sequence[str],
    *,
    force: bool,
    notes: bool,
    follow: bool,
    key_map: str | None = None,
    format_: str | None = None,
) -> IndexOptions:
    """Build the options of an index run from arguments and configuration.

    Raises:
        UsageFault: the map or a map of the configuration is wrong, or no format has the name.
    """
    from pastchats_memory.formats.generic.key_map import KeyMap
    from pastchats_memory.ingest.options import IndexOptions, ReadAs

    maps = {name: KeyMap.from_table(table, f"[formats.{name}]") for name, table in config.formats.items()}
    named = _format_named(format_, maps, is_mapped=key_map is not None) if format_ is not None else ""
    return IndexOptions(
        read_as=ReadAs(named, None if key_map is None else KeyMap.parse(key_map)),
        maps=maps,
        project=project and utf8(project),
        force=force,
        notes=notes,
        note_folders=frozenset(name.lower() for name in config.note_folders),
        chunk_size=config.chunk_size,
        overlap=config.overlap,
        wanted=wanted_files(config, include, exclude, follow=follow),
    )


def _format_named(name: str, maps: Collection[str], *, is_mapped: bool) -> str:
    """Return the name of a format or a configured map. Raises UsageFault for any other name."""
    from difflib import get_close_matches

    from pastchats_memory.formats.generic import MESSAGES
    from pastchats_memory.formats.registry import all_formats

    known = sorted({*(one.name for one in all_formats()), *maps})
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Formats: {', '.join(known)}."
        raise UsageFault(f"no format is called {name!r}", hint)
    if is_mapped and name != MESSAGES.name:
        raise UsageFault(f"--map is read by the format {MESSAGES.name}, not by {name}", "Leave out one of the two.")
    return name


def wanted_files(
    config: Config, include: Sequence[str] = (), exclude: Sequence[str] = (), *, follow: bool = False
) -> FileFilter:
    """Which files, and which projects' turns, may be stored."""
    from pastchats_memory.ingest.options import FileFilter

    return FileFilter((*config.include, *include), (*config.exclude, *exclude), follow, own_places(config.database))


def found_histories(environment: Mapping[str, str] = os.environ) -> list[History]:
    """The histories of other programs on this machine, and the configured roots. Raises UsageFault without a home."""
    from pastchats_memory.config import load
    from pastchats_memory.formats.base.locations import Environment
    from pastchats_memory.formats.registry import History, discover

    try:
        home = Path.home()
    except RuntimeError as fault:
        raise UsageFault("the home folder is not known", "Name the folders: pastchats-memory index PATH.") from fault
    roots = [History("configured", Path(root)) for root in load(environment=environment).roots if Path(root).exists()]
    return discover(Environment(environment, home, sys.platform)) + roots
