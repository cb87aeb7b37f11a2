"""Build a packet of a conversation: what an agent needs that goes on with it. One builder, three budgets.

After a compaction the agent of the session gets one, on return the next session gets one, and a handoff is one for another agent.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path

from pastchats_memory.episodes import STOPPED, list_recorded
from pastchats_memory.episodes.actions import changed_files, last_runs, read_files, relative_path, shell_commands
from pastchats_memory.episodes.statements import LEAST_TOPIC, find_decisions, find_rules, leaves_work_open
from pastchats_memory.episodes.titles import UNNAMED, find_title
from pastchats_memory.model import OPEN, REFUSED, Item, StoredTask
from pastchats_memory.model.episodes import FAILURES, Packet, PacketLine, PacketMoment
from pastchats_memory.store import outcomes, task_rows, turns
from pastchats_memory.store.database import Database
from pastchats_memory.text.commands import strip_surroundings
from pastchats_memory.text.display import one_line, shorten_line
from pastchats_memory.text.encoding import count_bytes
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.key_sentences import key_sentences
from pastchats_memory.text.pasted import split_paste
from pastchats_memory.text.shell import classify_check, is_editor, is_read_only
from pastchats_memory.text.topics import is_small_talk, measure_topic
from pastchats_memory.views.packet import render_line, render_packet, render_section

AFTER_COMPACTION = 4096
"""Bytes of the packet that the agent of a compacted session gets."""
ON_RETURN = 600
"""Bytes of the packet that a new session gets."""
HANDOFF = 16_384
"""Bytes of the page for another agent."""
MOST_TURNS = 200
"""Turns that are read from each end of a conversation for a new session."""
MOST_LINES = 200
"""Lines that are looked for in a section; no budget holds more."""
LEAST_LINES = 5
"""Lines that fit into any of these budgets."""
RESUME_BYTES = 32
"""Bytes that are left for the command that resumes the session."""
GRACE_S = 60
"""Seconds after the last turn in which the session itself may still write."""
TASK_WIDTH, REQUEST_WIDTH, LINE_WIDTH = 500, 240, 200
"""Characters of the first and the last request, of those between them, and of other lines."""
COMMAND_WIDTH, RESULT_WIDTH = 120, 100
"""Characters of a command and of its result."""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_WITH_WORDS = re.compile(r"[^\W_]{3}|\d")


def load_packet(database: Database, conversation_id: str, moment: PacketMoment) -> Packet | None:
    """Return the packet of a stored conversation; None without such a conversation. Of several projects, the newest counts."""
    is_whole = moment != "return"  # an agent waits for that one
    rows = (
        turns.of_conversation(database, conversation_id)
        if is_whole
        else turns.ends_of_conversation(database, conversation_id, MOST_TURNS)
    )
    if not rows:
        return None
    project = max(rows, key=lambda row: (row.timestamp or "", row.id)).project
    rows = [row for row in rows if row.project == project]
    last, most = rows[-1], MOST_LINES if is_whole else 1
    ended = outcomes.before(database, last, last.turn_index + 1, most) if outcomes.of_turn(database, last) else ()
    tasks = task_rows.of_conversation(database, conversation_id)
    return build_packet(rows, tasks, moment, [one.ending for one in ended])


def find_last_packet(database: Database, project: str, folder: Path, not_conversation: str | None) -> Packet | None:
    """Return where the last session of a project stopped, within ON_RETURN bytes; None if nothing is known.

    Args:
        folder: the project's folder or one below it, whose files may have changed since.
        not_conversation: the session under way.
    """
    last = turns.find_newest_conversation(database, project, not_conversation)
    packet = None if last is None else load_packet(database, last, "return")
    if packet is None:
        return None
    since = tuple(_list_changed_since(packet, folder))
    lines = [line for line in packet.lines if line.section in ("task", "open", "answer")]
    return fit_packet(packet._replace(lines=(*lines[:2], *since[:2], *lines[2:4], *since[2:])), ON_RETURN)


def _list_changed_since(packet: Packet, folder: Path) -> Iterator[PacketLine]:
    """Yield the files of a packet that changed or went after its last turn, within the project."""
    if packet.until is None:
        return
    end = datetime.fromisoformat(packet.until).timestamp() + GRACE_S
    root = next((one for one in (folder, *folder.parents) if one.name == packet.project), folder)
    for line in packet.lines:
        path = os.path.normpath(root / line.text)
        if line.section == "changed" and path.startswith(f"{root}{os.sep}"):
            try:
                is_newer = os.lstat(path).st_mtime > end
            except OSError:
                yield line._replace(section="since", text=f"{line.text} (gone)")
            else:
                if is_newer:
                    yield line._replace(section="since")


def build_packet(
    rows: Sequence[Item], tasks: Sequence[StoredTask], moment: PacketMoment, endings: Sequence[outcomes.Ending] = ()
) -> Packet:
    """Return all lines of a conversation's packet, the most useful first.

    Args:
        rows: the turns of the conversation, in order; at least one. A turn that is not stored has a negative id.
        tasks: its todo list.
        moment: when the packet is given.
        endings: outcomes of its episodes; the last is that of the last episode.
    """
    rows = [row for row in rows if row.metadata.get("branch") != "abandoned"] or rows
    requests = [row for row in rows if _is_request(row)]
    answers = _list_answers(rows, endings)
    changed = [(name, row) for row in rows for name in changed_files(row, outside=None)]
    files = dict(changed)
    read = [(name, row) for row in rows for name in read_files(row, outside=None) if name not in files]
    sections = (
        _list_open(rows, tasks, endings[-1:]),
        _list_requests(requests),
        _list_refusals(rows),
        _list_commands(rows),
        _list_decisions(rows),
        _list_files("changed", changed),
        _list_files("read", read),
        answers[:1] if moment == "compaction" else answers,
    )
    in_turn = chain.from_iterable(zip_longest(*(islice(section, MOST_LINES) for section in sections)))
    last = rows[-1]
    return Packet(
        moment,
        last.project,
        last.conversation_id or "",
        find_title(row.content for row in requests) or UNNAMED,
        endings[-1].outcome if endings else "unknown",
        next((row.timestamp for row in reversed(rows) if row.timestamp), None),
        last.source_path,
        tuple(line for line in dict.fromkeys([*in_turn, *answers]) if line is not None),
    )


def fit_packet(packet: Packet, budget: int) -> Packet | None:
    """Return the packet with as many of its first lines as fit into a number of bytes; None if none does."""
    room = budget - count_bytes(render_packet(packet._replace(lines=()))) - RESUME_BYTES
    chosen: list[PacketLine] = []
    for line in packet.lines:
        short = line._replace(text=shorten(line.text, budget // LEAST_LINES))
        cost = count_bytes(render_line(short)) + 1
        if line.section not in {one.section for one in chosen}:
            cost += count_bytes(render_section(line.section, ())) + 1
        if cost <= room:
            room -= cost
            chosen.append(short)
    return packet._replace(lines=tuple(chosen)) if chosen else None


def shorten(text: str, width: int) -> str:
    """Return the whole sentences at the start of a text that fit, else its first words, on one line."""
    line = one_line(text)
    if len(line) <= width:
        return line
    ends = [found.start() for found in _SENTENCE_END.finditer(line) if found.start() <= width]
    return line[: ends[-1]] if ends else shorten_line(line, width)


def _line(section: str, text: str, row: Item) -> PacketLine:
    place = row.places[0].line if row.places else None
    return PacketLine(section, text, str(row.id) if row.id > 0 else "", place, row.turn_index)


def _is_request(row: Item) -> bool:
    return row.role == "user" and row.metadata.get("kind") == "prompt" and not is_small_talk(row.content)


def _own_words(text: str) -> str:
    typed = find_instruction(text)
    return split_paste(typed).typed.strip() or typed


def _list_requests(requests: Sequence[Item]) -> Iterator[PacketLine]:
    """Yield the last request, the first, then the others, the newest first."""
    ends = list(dict.fromkeys((len(requests) - 1, 0))) if requests else []
    for place in (*ends, *range(len(requests) - 2, 0, -1)):
        width = TASK_WIDTH if place in ends else REQUEST_WIDTH
        yield _line("task", shorten(_own_words(requests[place].content), width), requests[place])


def _list_refusals(rows: Sequence[Item]) -> Iterator[PacketLine]:
    """Yield the calls that the user refused, with the words behind them, the newest first.

    Without such words, only a command or an edit counts, unless it was made later after all.
    """
    done: set[str] = set()
    for row, following in reversed([*pairwise(rows), *((row, None) for row in rows[-1:])]):
        done.update(changed_files(row))
        if row.role != "tool" or not row.content.endswith(REFUSED):
            continue
        call = shorten_line(row.content.removesuffix(REFUSED), COMMAND_WIDTH)
        tool, _, subject = call.partition(" ")
        if following is not None and following.role == "user":
            yield _line("refused", f"{call}: {shorten(_own_words(following.content), LINE_WIDTH)}", following)
        elif call not in done and (
            tool == "$" or (is_editor(tool) and relative_path(row.project, subject) not in done)
        ):
            yield _line("refused", call, row)
        done.add(call)


def _is_answer(row: Item) -> bool:
    return row.role == "user" and row.metadata.get("kind") == "answer"


def _list_decisions(rows: Sequence[Item]) -> Iterator[PacketLine]:
    """Yield what the user decided: answers to the agent's questions, and sentences that settle something, the newest first."""
    for before, row in reversed([*pairwise(rows)]):
        if _is_answer(row) and not before.content.endswith(REFUSED):
            for question, _, answer in (pair.partition("\n") for pair in row.content.split("\n\n")):
                text = f"{shorten_line(question, RESULT_WIDTH)} {shorten(answer, LINE_WIDTH)}"
                yield _line("decided", text.strip(), row)
    for row in reversed(rows):
        if row.role == "user" and not _is_answer(row):
            for sentence in find_decisions(row.content) or find_rules(row.content):
                yield _line("decided", shorten(sentence, LINE_WIDTH), row)


def _list_files(section: str, uses: Sequence[tuple[str, Item]]) -> Iterator[PacketLine]:
    """Yield the files that were changed or read, each with the last turn that did so."""
    last = dict(uses)
    return (_line(section, one_line(name), last[name]) for name in _order_uses(name for name, _ in uses))


def _list_commands(rows: Sequence[Item]) -> Iterator[PacketLine]:
    """Yield the last run of each kind of command with its result, then the others, and those that only looked around."""
    by_id = {row.id: row for row in rows}
    runs = [run for run in last_runs(rows) if not by_id[run.turn].content.endswith(REFUSED)]
    last = {_find_kind(run.command): run for run in runs}
    kinds = _order_uses(kind for row in rows for kind in map(_find_kind, shell_commands(row)) if kind in last)
    first = [last[kind] for kind in dict.fromkeys([*kinds, *reversed(last)])]
    for run in dict.fromkeys([*first, *reversed(runs)]):
        row = by_id[run.turn]
        result = _find_result(row, run.has_failed) if row.role == "tool" else ""
        text = ": ".join(filter(None, ("failed" if run.has_failed else "", result)))
        yield _line("ran", f"$ {shorten_line(run.command, COMMAND_WIDTH)}" + (f" → {text}" if text else ""), row)
    looks = {command: row for row in rows for command in shell_commands(row) if is_read_only(command)}
    for command, row in reversed(looks.items()):
        yield _line("ran", f"$ {shorten_line(command, COMMAND_WIDTH)}", row)


def _find_kind(command: str) -> str:
    """Return the program of a command with its first argument."""
    return " ".join(strip_surroundings(command).split()[:2])


def _order_uses(uses: Iterable[str]) -> list[str]:
    """Return what was used, the last and the most frequent in turn: the work goes on with either."""
    counts = Counter(reversed([*uses]))
    pairs = zip(counts, (name for name, _ in counts.most_common()), strict=True)
    return list(dict.fromkeys(chain.from_iterable(pairs)))


def _find_result(row: Item, has_failed: bool) -> str:
    """Return the line of a result that says how it ended: the error that a failure names, else the last one."""
    body = row.content.partition("\n")[2]
    error = split_paste(body).error if has_failed and not classify_check(row.content[2:]) else ""
    lines = [line for line in body.split("\n") if _WITH_WORDS.search(line)]
    return shorten(error or (lines[-1] if lines else ""), RESULT_WIDTH)


def _list_open(
    rows: Sequence[Item], tasks: Iterable[StoredTask], last: Sequence[outcomes.Ending]
) -> Iterator[PacketLine]:
    """Yield a request without an end, open tasks, what the last answer leaves open, and the line that shows a failure."""
    messages = [row for row in rows if row.role in ("user", "assistant") and row.metadata.get("kind") != "summary"]
    if messages and (reason := _find_stop(messages[-1])):
        yield _line("open", reason, messages[-1])
    for task in tasks:
        if task.status in OPEN:
            words = task.status.replace("_", " ")
            yield PacketLine("open", f"{words}: {shorten(task.title, LINE_WIDTH)}", f"t:{task.key}", task.source_line)
    for answer in [row for row in messages if row.role == "assistant"][-1:]:
        for sentence in filter(leaves_work_open, _SENTENCE_END.split(answer.content)):
            yield _line("open", shorten(sentence, LINE_WIDTH), answer)
    for shown in (shown for ending in last if ending.outcome in FAILURES for shown in ending.evidence[-1:]):
        yield PacketLine("open", shorten(shown.text, LINE_WIDTH), str(shown.id), None, shown.turn_index)


def _find_stop(last: Item) -> str:
    """Return why the last turn has no end; empty if it has one."""
    if not STOPPED.isdisjoint(list_recorded(last, "flags")):
        return f"stopped: {shorten(_own_words(last.content), LINE_WIDTH)}"
    return f"not answered: {shorten(_own_words(last.content), LINE_WIDTH)}" if last.role == "user" else ""


def _list_answers(rows: Sequence[Item], endings: Sequence[outcomes.Ending]) -> list[PacketLine]:
    """Return the start of the last answer, then what each earlier request came to, the newest first.

    Those of episodes that worked or failed come first, and those that name no topic, such as "Committed.", are left out.
    """
    known = [range(one.first_index, one.last_index + 1) for one in endings if one.outcome in ("worked", *FAILURES)]
    texts = [row for row in rows if row.role == "user" or row.metadata.get("kind") == "answer"]
    followed = zip_longest(texts, texts[1:])
    last = [row for row, after in followed if row.role != "user" and (after is None or after.role == "user")]
    earlier = [row for row in reversed(last[:-1]) if measure_topic(row.content) >= LEAST_TOPIC]
    earlier.sort(key=lambda row: not any(row.turn_index in one for one in known))
    conclusions = (_line("answer", key_sentences(row.content, {}, REQUEST_WIDTH), row) for row in earlier)
    return [*(_line("answer", shorten(row.content, LINE_WIDTH), row) for row in last[-1:]), *conclusions]
