"""Identify turns, so that two readings of a turn are one row."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from pastchats_memory.formats.base.storage import decode_project, project_of_file, project_of_folder
from pastchats_memory.model import Turn
from pastchats_memory.redact import redact_by_rules
from pastchats_memory.text.encoding import utf8

RECIPE = "1"
"""Version of the recipe; raised whenever `Identities` would give turns of most formats another hash, else their versions."""
_UNIQUE = re.compile(r"[0-9A-Za-z]{16}")
"""What generated ids have in common: UUIDs without dashes, `msg_01Ab…`, hashes."""


class Identities:
    """Identify the turns of one file, in file order.

    The first of these that applies is a turn's identity:

    - its native id; if that is short (`msg-001`, the number of a step), another session may have it too, with equal words:
      the text is added, with the time or else the conversation;
    - role, normalised text and time, if the time is finer than a minute; the conversation is added to whole seconds;
    - conversation, role and text.

    The last two count equal turns, so that two turns with equal words stay two, while a copy of the file counts the same way.

    Some programs copy a conversation under new ids when it is resumed or forked, and keep the times. Role, text and time
    identify such a copy in formats whose times are those of the moment (`copies`).
    """

    def __init__(self, file_name: str, *, copies: bool = False) -> None:
        self._file_name = file_name
        self._copies = copies
        self._seen: Counter[tuple[str, ...]] = Counter()
        self.stands_before: Callable[[str, int], bool] = lambda _hash, _line: False
        """Tells whether an equal turn stands before a line, in a part of the file that is not read again."""

    def of(self, turn: Turn) -> tuple[str, str | None]:
        """Return the hex SHA-256 of the turn itself, and that which copies share; None without a fine time."""
        if turn.native_id is not None:
            where = _exact_time(turn) or turn.conversation_id or ""
            others = ("",) if is_unique(turn.native_id) else (turn.content, where)
            return digest("native", turn.role, turn.native_id, *others), self._identify_copy(turn)
        own = self._counted(turn)
        while self.stands_before(own, turn.line):
            own = self._counted(turn)
        return own, self._identify_copy(turn)

    def _identify_copy(self, turn: Turn) -> str | None:
        time = _exact_time(turn)
        return self._count("echo", turn.role, _normalise(turn.content), time) if self._copies and time else None

    def _counted(self, turn: Turn) -> str:
        text = _normalise(turn.content)
        if time := _exact_time(turn):
            # A copy of a conversation keeps its times, but not always its id, so the time alone identifies. But many
            # short turns of a busy log share a whole second, so there the conversation counts as well.
            busy = time.endswith(".000Z") and turn.conversation_id is not None
            conversation = (turn.conversation_id or "",) if busy else ()
            return self._count("time", turn.role, text, time, *conversation)
        # Notes have no conversation: a file's name and the heading stand for it, and both survive a move.
        place = turn.conversation_id or f"{self._file_name}\0{redact_by_rules(str(turn.metadata.get('heading', '')))}"
        return self._count("place", place, turn.role, text)

    def _count(self, *key: str) -> str:
        self._seen[key] += 1
        return digest(*key, str(self._seen[key]))


def _normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _exact_time(turn: Turn) -> str | None:
    """Return the time of a turn if it is finer than a minute."""
    return None if turn.timestamp is None or turn.timestamp.endswith(":00.000Z") else turn.timestamp


def is_unique(native_id: str) -> bool:
    """Check whether an id looks generated, so that no other turn has it anywhere."""
    return _UNIQUE.search(native_id.replace("-", "")) is not None


def digest(*parts: str) -> str:
    """Return the hex SHA-256 of the parts under this version of the recipe."""
    return hashlib.sha256("\0".join((RECIPE, *parts)).encode()).hexdigest()


def project_of(turn: Turn, path: Path, service: str) -> str:
    """Return the recorded project of a turn, else the service of an export, else the file's repository or folder."""
    if turn.project or (service and not turn.cwd):
        return utf8(decode_project(turn.project, path)) if turn.project else service
    return utf8(project_of_folder(turn.cwd) if turn.cwd else project_of_file(path))
