"""Turn callers' text arguments into filters, hidden projects and model settings."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.config import Config, is_private, private_among
from pastchats_memory.embed.packaged import FAMILY
from pastchats_memory.embed.registry import ENDPOINT, CustomModel, ModelSettings, cores, is_model
from pastchats_memory.embed.session import Say, say_nothing
from pastchats_memory.errors import UsageFault
from pastchats_memory.fields import OUTCOMES
from pastchats_memory.files.project import is_opted_out
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.memory.projects import find_current_project, resolve_project
from pastchats_memory.memory.questions import TYPES
from pastchats_memory.model import STATUSES, Filters
from pastchats_memory.model import TYPES as TASK_TYPES
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.tracker_words import priority_of, wanted_statuses

if TYPE_CHECKING:
    from pastchats_memory.episodes.judges import Judge
    from pastchats_memory.ingest.options import FileFilter
    from pastchats_memory.tasks.edit import Viewpoint

DEFAULT_SPAN = "7d"
"""Span of a timeline and of a digest that name none."""


def build_filters(
    project: str | None = None,
    role: str | None = None,
    since: str | None = None,
    until: str | None = None,
    type: str | None = None,  # noqa: A002 - the name in every output
    status: str | None = None,
    priority: str | None = None,
    outcome: str | None = None,
    format: str | None = None,  # noqa: A002 - the name in every output
) -> Filters:
    """Return the filters that a caller names in words.

    A filter that is None is omitted. The project `.` is that of the working directory.

    Raises UsageFault if one of the values is unknown.
    """
    if type is not None and type not in TYPES:
        raise UsageFault(f"unknown type {type!r}", f"Use one of {', '.join(TYPES)}.")
    return Filters(
        project=resolve_project(project),
        role=role and utf8(role),
        since=_parse_time(since, is_end=False),
        until=_parse_time(until, is_end=True),
        notes=type == "note" if type in ("prompt", "note") else None,
        kinds=() if type in (None, "prompt", "note") else TASK_TYPES if type == "task" else (type,),
        statuses=_parse_statuses(status),
        priorities=_parse_priorities(priority),
        outcomes=_parse_outcomes(outcome),
        format=format and utf8(format),
    )


def _parse_time(text: str | None, *, is_end: bool) -> str | None:
    if text is None:
        return None
    from pastchats_memory.text.dates import parse_time  # most questions name no time

    return parse_time(text, is_end=is_end)


def build_span_filters(when: str | None, since: str | None, until: str | None, project: str | None) -> Filters:
    """Return the filters of a span: `when`, or `since` and `until`; the last seven days if nothing is named.

    A span without an end ends now, unless it begins later. Raises UsageFault.
    """
    if when is not None and (since is not None or until is not None):
        raise UsageFault("the time was given twice", "Give it as WHEN, or as --since and --until.")
    if when is None and since is None and until is None:
        when = DEFAULT_SPAN
    filters = build_filters(project=project, since=since, until=until)
    from pastchats_memory.text.dates import parse_span, parse_time

    if when is None:
        now = parse_time("now", is_end=True)
        return filters if filters.until or (filters.since or "") > now else filters._replace(until=now)

    first, last = parse_span(when)
    return filters._replace(since=first, until=last)


def source_paths(path: str) -> tuple[str, ...]:
    """Return a source as typed and, if it is a path, as indexed. The file or folder may be gone."""
    try:
        return utf8(path), utf8(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - resolve() would follow links
    except OSError:  # the working directory is gone
        return (utf8(path),)


def task_filters(
    *,
    parts: bool = False,
    type: str | None = None,  # noqa: A002 - the name in every output
    **words: str | None,
) -> Filters:
    """Return filters for tasks only, with `parts` also their comments and attachments. Raises UsageFault."""
    found = build_filters(type=type or "task", **words)
    return found._replace(kinds=(*found.kinds, "comment", "attachment")) if parts else found


def _parse_statuses(words: str | None) -> tuple[str, ...]:
    wanted = wanted_statuses((words or "").split(","))
    if words is not None and not wanted:
        raise UsageFault("no status is named", f"Use one or more of {', '.join(STATUSES)}.")
    return wanted


def parse_outcome(word: str) -> str:
    """Return one outcome. Raises UsageFault."""
    (outcome, *more) = _parse_outcomes(word)
    if more:
        raise UsageFault(f"{word!r} is more than one outcome", f"Use one of {', '.join(OUTCOMES)}.")
    return outcome


def _parse_outcomes(words: str | None) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(word.strip().lower() for word in (words or "").split(",") if word.strip()))
    if words is not None and (not wanted or not set(wanted) <= set(OUTCOMES)):
        raise UsageFault(f"{words!r} is not an outcome", f"Use {', '.join(OUTCOMES)}, separated by commas.")
    return wanted


def _parse_priorities(words: str | None) -> tuple[int, ...]:
    if words is None:
        return ()
    found = [priority_of(word) for word in words.split(",") if word.strip()]
    if not found or None in found:
        raise UsageFault(f"{words!r} is not a priority", "Use 0 (critical) to 4 (lowest), separated by commas.")
    return tuple(number for number in found if number is not None)


# Private projects: their own file makes them private, and their text is recalled only inside them.


def hidden_projects(database: Database, current_project: str | None) -> tuple[str, ...]:
    """Return the private projects other than the current or named one."""
    private = private_projects(database)
    return tuple(sorted(private - {current_project or find_current_project()})) if private else ()


def private_projects(database: Database) -> frozenset[str]:
    """Return all private projects, the current one too."""
    private, unseen = sources.private_projects(database)
    return private | private_among(unseen)


def excluded_projects(database: Database, wanted: "FileFilter") -> frozenset[str]:
    """Return the projects that are excluded by name, or by a folder of theirs."""
    by_name = {name for name in sources.project_names(database) if wanted.excludes(name)}
    places = [(str(resolve_path(folder)), project) for folder, project in sources.folders(database)]
    return frozenset(by_name | {project for path, project in places if wanted.excludes(path) or is_opted_out(path)})


def find_judge(config: Config) -> "Judge":
    """Return the configured judge of episodes. Raises UsageFault if there is none, or if two are configured."""
    from pastchats_memory.episodes.judges import CommandJudge, EndpointJudge

    if config.judge_command and config.judge_endpoint:
        raise UsageFault("`judge_command` and `judge_endpoint` are both set", "Remove one of them.")
    if config.judge_command:
        return CommandJudge(config.judge_command, config.judge_timeout)
    if not config.judge_endpoint:
        hint = 'Set judge_command = "claude -p", or judge_endpoint and judge_model, in your own pastchats-memory.toml.'
        raise UsageFault("no model is configured that labels episodes", hint)
    if config.judge_model is None:
        raise UsageFault("`judge_endpoint` is set without `judge_model`", "Name the model that the endpoint has.")
    return EndpointJudge(config.judge_endpoint, config.judge_model, config.judge_api_key, config.judge_timeout)


def current_viewpoint() -> "Viewpoint":
    """Return the working directory and its project."""
    from pastchats_memory.tasks.edit import Viewpoint

    here = find_current_project()
    return Viewpoint("" if here is None else os.getcwd(), here)  # noqa: PTH109 - a string is wanted


def update_private_projects(database: Database) -> None:
    """Update which projects are private, by the file of each project that text came from.

    A project whose folder is gone or whose file is not understood keeps its state.
    """
    there = {folder: str(resolve_path(folder)) for folder, _ in sources.folders(database)}
    states = [(folder, is_private(path)) for folder, path in there.items() if os.path.isdir(path)]  # noqa: PTH112 - pathlib's raises below a closed folder on Python 3.11
    with database.transaction():
        sources.set_private(database, [(folder, state) for folder, state in states if state is not None])


# The configuration as settings of other packages.


def model_settings(config: Config, say: Say = say_nothing) -> ModelSettings:
    """Return the settings of models; `say` is called before text leaves this machine."""
    custom = {
        name: CustomModel(
            path=Path(table["path"]) if "path" in table else None,
            rules={key: value for key, value in table.items() if key != "path"},
        )
        for name, table in config.models.items()
    }
    return ModelSettings(config.caches, config.endpoint, config.api_key, config.threads or cores(), custom, say)


def choose_model(requested: str | None, config: Config, known: Mapping[str, str]) -> str | None:
    """Return the requested model, else the configured one, else the database's; None for the packaged one."""
    wanted = requested or config.model
    version = known.get("model_version", FAMILY)
    if wanted is None and not version.startswith(FAMILY):
        return f"{ENDPOINT if version.startswith('endpoint/') else ''}{known['model_name']}"
    return wanted


def describe_model_use(config: Config, database: Path, known: Mapping[str, str]) -> tuple[str, ...]:
    """Return a notice if another model than the configured one answers; `known` is `embedding_meta`."""
    name = known.get("model_name")
    if name is None or config.model is None or is_model(config.model, name, known["model_version"]):
        return ()
    changes = f"`pastchats-memory reindex --embeddings --model {config.model}` changes it"
    return (f"{database} has vectors of {name}, so that model is used and {config.model} is not; {changes}",)
