"""`status` and `log`: show what the memory holds, how it answers, and what the hooks gave to agents."""

from textwrap import indent

import click

from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import hanging
from pastchats_memory.config import from_home
from pastchats_memory.maintenance.health import Status
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import counted, format_time, sanitise
from pastchats_memory.views.answers.database import STATUS
from pastchats_memory.views.recalled import render_log, render_weeks
from pastchats_memory.views.to_json import to_json
from pastchats_memory.views.token_use import describe_agents

WEEKS = 4
"""Newest weeks of hooks that are shown."""
REDACTED = "removed by the rules of this release"
REDACTED_BY_OTHERS = "removed by the rules of another release; `pastchats-memory redact --rescan` searches again"


@ask_memory("status")
def command(memory: Memory) -> CommandResult:
    """Show what the memory holds, which model and engine answer, and how the last run went."""
    status = memory.status()
    return CommandResult(lambda: STATUS.build([status]), lambda: _text(status), is_folded=True)


def _text(status: Status) -> str:
    roles = ", ".join(f"{count:,} {role}" for role, count in status.by_role.items())
    statuses = ", ".join(f"{count:,} {name}" for name, count in status.tasks.items())
    per_turn = f" ({status.bytes / status.turns / 1024:.1f} KiB a turn)" if status.turns else ""
    gone = f" ({status.gone:,} of them gone; their text is kept)" if status.gone else ""
    given = f"gave {render_weeks(status.given[:WEEKS])}; `pastchats-memory log` lists them"
    rows = [
        ("Database", f"{from_home(str(status.database))}, {status.bytes / 1e6:.1f} MB{per_turn}"),
        ("Turns", f"{status.turns:,}" + (f": {roles}" if roles else "")),
        *([("Tasks", f"{sum(status.tasks.values()):,}: {statuses}")] if status.tasks else []),
        *([("Pending", f"{counted(status.going, 'forgotten row')}, hidden, not deleted yet")] if status.going else []),
        ("From", f"{counted(status.sources, 'file')}{gone}, {counted(status.projects, 'project')}"),
        ("Time", f"{format_time(status.first)} to {format_time(status.last)}" if status.first else "no turn has one"),
        ("Model", f"{status.model}, {status.dim} dimensions" if status.model else "none yet"),
        ("Vectors", _vectors(status)),
        ("Embedded", _embedded(status)),
        ("Secrets", REDACTED if status.is_redacted else REDACTED_BY_OTHERS),
        *([("Hooks", given)] if status.given else []),
        *([("Tokens", f"of 30 days: {describe_agents(status.tokens)}")] if status.tokens else []),
        ("Last run", _run(status.last_run)),
    ]
    return "\n".join(hanging(f"{name:9} {value}", under=10) for name, value in rows)


def _vectors(status: Status) -> str:
    engine = "vec0 (sqlite-vec)" if status.engine == "vec0" else "exact (NumPy; `doctor` says why)"
    behind = f", {status.behind:,} behind" if status.behind else ""
    present = f"{status.indexed:,}, engine {engine}{behind}" if status.indexed else "none yet"
    pending = f"; {status.pending_vectors:,} pending until a command has the model" if status.pending_vectors else ""
    return present + pending


def _embedded(status: Status) -> str:
    since = f"with this model since {format_time(status.last_reindex_at)}" if status.last_reindex_at else "nothing yet"
    if status.next_model is None:
        return since
    return (
        f"{since}; {status.pending:,} pending for {status.next_model}: "
        f"`pastchats-memory reindex --embeddings --model {status.next_model}` goes on"
    )


def _run(run: dict[str, object] | None) -> str:
    if run is None:
        return "none yet; start with `pastchats-memory index --all`, or a PATH"
    return (
        f"{format_time(str(run['started_at']))}, {run['outcome']}: {counted(int(str(run['files_scanned'])), 'file')} looked at, "
        f"{counted(int(str(run['turns_added'])), 'turn')} added, {run['turns_skipped']} known, {run['unreadable']} unreadable"
    )


@ask_memory("log")
@click.option("--last", is_flag=True, help="Print the last one as the agent saw it.")
@click.option("--session", metavar="ID", help="Only what this session got.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Lines at most.")
def log(memory: Memory, last: bool, session: str | None, limit: int) -> CommandResult:
    """List what the hooks put into which session, the newest first.

    Each line has time, agent, kind, size, ids and the prompt's first words, and says whether the agent then used it: read or
    resumed an item, or named its file.
    """
    found = memory.log(session, 1 if last else limit)
    return CommandResult(
        lambda: to_json(found),
        lambda: indent(sanitise(found.results[0].content), "  ") if last else render_log(found),
        is_found=bool(found.results),
        nothing="No hook has given anything to an agent yet.",
    )
