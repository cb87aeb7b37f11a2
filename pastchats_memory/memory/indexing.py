"""Say what an index run reads: histories on this machine, files that may be read, and the options of a run.

No function needs an open memory, and none needs an existing database.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.config import Config, load, own_places
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.errors import UsageFault
from pastchats_memory.text.encoding import utf8

if TYPE_CHECKING:
    from pastchats_memory.formats.base.locations import Environment
    from pastchats_memory.formats.registry import History
    from pastchats_memory.ingest.dry_run import DryRunFile
    from pastchats_memory.ingest.forecast import Forecast
    from pastchats_memory.ingest.options import FileFilter, IndexOptions
    from pastchats_memory.ingest.overview import SourceReport


def find_environment(variables: Mapping[str, str] = os.environ) -> Environment:
    """Return what the usual places of programs' files depend on. Raises UsageFault if there is no home folder."""
    from pastchats_memory.formats.base.locations import Environment

    try:
        return Environment(variables, Path.home(), sys.platform)
    except RuntimeError as fault:
        raise UsageFault("the home folder is not known", "Name the folders: pastchats-memory index PATH.") from fault


def find_histories(environment: Mapping[str, str] = os.environ) -> list[History]:
    """Return the histories of other programs on this machine, and the configured roots.

    Raises:
        UsageFault: the home folder is not known.
        BrokenFormat: a format of another package cannot be loaded.
    """
    from pastchats_memory.formats.registry import History, discover

    place = find_environment(environment)
    roots = [History("configured", Path(root)) for root in load(environment=environment).roots if Path(root).exists()]
    return discover(place) + roots


def find_readable_histories(config: Config, include: Sequence[str] = ()) -> list[History]:
    """Return the histories that are not excluded. Raises as `find_histories`."""
    wanted = build_file_filter(config, include)
    return [history for history in find_histories() if wanted.looks_into(history.path)]


def list_sources(config: Config, histories: Sequence[History]) -> list[SourceReport]:
    """Return how much of each history is indexed, then other places from which files were indexed."""
    from pastchats_memory.ingest.overview import overview_at

    return overview_at(config.database, histories, build_file_filter(config))


def list_other_places(config: Config, histories: Sequence[History]) -> list[Path]:
    """Return existing places from which files were indexed, without the histories."""
    from pastchats_memory.ingest.overview import existing_places_at

    return existing_places_at(config.database, histories)


def preview_index(config: Config, paths: Iterable[str], options: IndexOptions) -> list[DryRunFile]:
    """Return how a run would read each file, its number of turns, and their project."""
    from pastchats_memory.ingest.dry_run import dry_run

    return dry_run(config.database, [Path(path) for path in paths], options)


def survey_histories(config: Config, histories: Sequence[History]) -> Forecast:
    """Return what indexing the histories takes.

    The packaged model times the estimate: nothing may leave this machine before the user agrees.
    """
    from pastchats_memory.ingest.dry_run import survey_at

    options = index_options(config, None)
    return survey_at(config.database, [one.path for one in histories], options, PackagedEmbedder(config.threads))


def index_options(
    config: Config,
    project: str | None,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    force: bool = False,
    notes: bool = False,
    follow_links: bool = False,
    map: str | None = None,  # noqa: A002 - the name of the flag
    format: str | None = None,  # noqa: A002 - the name of the flag
    newest_bytes: int | None = None,
) -> IndexOptions:
    """Build the options of an index run from arguments and configuration.

    Raises UsageFault if the map or a map of the configuration is wrong, or no format has the name.
    """
    from pastchats_memory.formats.base.key_map import KeyMap
    from pastchats_memory.ingest.options import IndexOptions, ReadAs

    maps = {name: KeyMap.from_table(table, f"[formats.{name}]") for name, table in config.formats.items()}
    named = _find_format_name(format, maps, is_mapped=map is not None) if format is not None else ""
    return IndexOptions(
        read_as=ReadAs(named, None if map is None else KeyMap.parse(map)),
        maps=maps,
        project=project and utf8(project),
        force=force,
        notes=notes,
        note_folders=frozenset(name.lower() for name in config.note_folders),
        chunk_size=config.chunk_size,
        overlap=config.overlap,
        wanted=build_file_filter(config, include, exclude, follow=follow_links),
        newest_bytes=newest_bytes,
        is_narrow=bool(include or exclude or format or map or newest_bytes is not None),
    )


def _find_format_name(name: str, maps: Collection[str], *, is_mapped: bool) -> str:
    """Return the name of a format or a configured map. Raises UsageFault for any other name."""
    from difflib import get_close_matches

    from pastchats_memory.formats.registry import all_formats, mapped_format

    known = sorted({*(one.name for one in all_formats()), *maps})
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Formats: {', '.join(known)}."
        raise UsageFault(f"no format is called {name!r}", hint)
    if is_mapped and name != (reader := mapped_format().name):
        raise UsageFault(f"--map is read by the format {reader}, not by {name}", "Leave out one of the two.")
    return name


def build_file_filter(
    config: Config, include: Sequence[str] = (), exclude: Sequence[str] = (), *, follow: bool = False
) -> FileFilter:
    """Return which files may be read, and which projects' turns may be stored."""
    from pastchats_memory.ingest.options import FileFilter

    return FileFilter((*config.include, *include), (*config.exclude, *exclude), follow, own_places(config.database))
