"""Read one file: its turns clean, its tasks, and the lines that are unreadable."""

from collections.abc import Iterator

from pastchats_memory.files.project import is_opted_out
from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import text_of
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.task_rows import find_fault
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.clean import clean_own_words
from pastchats_memory.text.recall_block import JUDGE_MARK


def read_turns(source: SourceFile, format_: Format, file: OpenFile, options: IndexOptions) -> Iterator[Turn]:
    """Yield the clean turns of a file; its tasks, checkpoints and unreadable lines go into `file`.

    Raises CannotResume before the first turn, if the file does not continue what was read of it.
    """
    try:
        for item in format_.read(source):
            match item:
                case Unreadable():
                    file.unreadable.append(item)
                case Checkpoint():
                    file.save_checkpoint(item)
                case Task() if (wrong := find_fault(item)) is not None:
                    file.unreadable.append(Unreadable(file.plan.candidate.name, item.line, f"no proper {wrong!r}"))
                case Task() if item.cwd is not None and _is_excluded(item.cwd, options):
                    file.is_opted_out = True
                case Task():
                    file.tasks.append(item)
                case Turn() if (turn := clean_own_words(item)) is not None:
                    yield turn
    except OSError as fault:
        file.is_cut_short = True
        file.unreadable.append(Unreadable(file.plan.candidate.name, 0, fault.strerror or str(fault)))


def begins_judging(turn: Turn) -> bool:
    """Check whether a turn is our own question to a judge, with which its conversation begins."""
    return turn.role == "user" and turn.content.lstrip().startswith(JUDGE_MARK)


def is_wanted(turn: Turn, project: str, options: IndexOptions) -> bool:
    """Check that no marker file and no glob excludes the project, its folder, or the one that the session had gone to."""
    folders = {turn.cwd, text_of(turn.metadata.get("cwd"))} - {None, ""}
    return not options.wanted.excludes(project) and not any(_is_excluded(str(one), options) for one in folders)


def _is_excluded(cwd: str, options: IndexOptions) -> bool:
    return is_opted_out(cwd) or options.wanted.excludes(cwd)
