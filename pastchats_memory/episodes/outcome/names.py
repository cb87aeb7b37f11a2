"""Find the names that an episode made known: of files that it changed, and of code in its answers."""

import re

from pastchats_memory.episodes.outcome.answers import list_edits
from pastchats_memory.episodes.outcome.episode import MAX_SCANNED, Episode, cached
from pastchats_memory.text.shell import is_shell, written_files

MIN_NAME = 4
"""Characters."""
_NAME = re.compile(r"[@-]{0,2}[\w$][\w$.-]*[\w$]")
_CODE = re.compile(r"`([^`\s]{4,80})`")
_PATH = re.compile(r"[\w./\\@-]+")
_IDENTIFIER = re.compile(r"[^\W_]+_\w+|[a-z]+\d*[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|--\w[\w-]+|[\w-]+\.[a-z]\w{0,4}")
"""A name that is no word of prose: `read_clock`, `readClock`, `ReadClock`, `--force`, `app.py`."""


@cached
def list_changed_files(episode: Episode) -> frozenset[str]:
    """Return the base names of the files that the episode changed, in lower case."""
    paths = [label for _, label in list_edits(episode)]
    shells = (label.partition(" ") for _, label in episode.calls())
    paths += [path for tool, _, command in shells if is_shell(tool) for path in written_files(command)]
    names = {path.replace("\\", "/").rpartition("/")[2].lower() for text in paths for path in _PATH.findall(text)}
    return frozenset(name for name in names if "." in name.strip("."))


@cached
def list_names(episode: Episode) -> frozenset[str]:
    """Return the names of changed files and of the code that the answers name, in lower case."""
    names = set(list_changed_files(episode))
    for _, text in episode.answers():
        for part in (text[:MAX_SCANNED], text[MAX_SCANNED:][-MAX_SCANNED:]):
            names.update(name.lower() for name in _NAME.findall(" ".join(_CODE.findall(part))) if len(name) >= MIN_NAME)
            names.update(name.lower() for name in _NAME.findall(part) if _IDENTIFIER.fullmatch(name))
    return frozenset(names)


def list_new_names(episode: Episode) -> frozenset[str]:
    """Return the names that the request does not have."""
    return list_names(episode) - {name.lower() for name in _NAME.findall(episode.request[:MAX_SCANNED])}


def has_identifier(text: str) -> bool:
    """Return whether the text names a file or a piece of code."""
    return any(_IDENTIFIER.fullmatch(name) for name in _NAME.findall(text))


def find_name(names: frozenset[str], text: str) -> re.Match[str] | None:
    """Return the first of the names that a text has, as a word or at the end of a path."""
    return next((found for found in _NAME.finditer(text) if found[0].lower().lstrip("@") in names), None)
