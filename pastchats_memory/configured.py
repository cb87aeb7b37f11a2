"""What of the configuration the rooms below are given, in their own terms."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.config import Config, own_places
from pastchats_memory.embed import Embedder
from pastchats_memory.embed.models import CustomModel, ModelSettings, cores, is_model, leaves_for
from pastchats_memory.embed.packaged import FAMILY
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import utf8

if TYPE_CHECKING:
    from pastchats_memory.ingest.files import Wanted
    from pastchats_memory.ingest.options import IndexOptions


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
    if (whom := leaves_for(embedder)) is not None:
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

    from pastchats_memory.formats.generic import GENERIC
    from pastchats_memory.ingest.reading import BY_FORMAT

    known = sorted({*BY_FORMAT, *maps})
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Formats: {', '.join(known)}."
        raise UsageFault(f"no format is called {name!r}", hint)
    if is_mapped and name != GENERIC.FORMAT:
        raise UsageFault(f"--map is read by the format {GENERIC.FORMAT}, not by {name}", "Leave out one of the two.")
    return name


def wanted_files(
    config: Config, include: Sequence[str] = (), exclude: Sequence[str] = (), *, follow: bool = False
) -> Wanted:
    """Which files, and which projects' turns, may be stored."""
    from pastchats_memory.ingest.files import Wanted

    return Wanted((*config.include, *include), (*config.exclude, *exclude), follow, own_places(config.database))
