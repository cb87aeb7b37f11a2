"""List what `setup` adds to agents, part by part, so that each can be agreed to and undone.

Every function raises MemoryFault if a file of an agent cannot be read, written or understood.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pastchats_memory.errors import MemoryFault
from pastchats_memory.hooks import install
from pastchats_memory.hooks.servers import plan_server, plan_server_removal, record_name


@dataclass(frozen=True, slots=True)
class AgentPart:
    """One addition to an agent, or its removal."""

    agent: str
    kind: str
    """`hooks`, `skills` or `server`."""
    record: str
    """The name under which it is recorded."""
    plan: Callable[[], list[install.SettingsChange]]
    """Return the changes that are needed now; none if it is in place."""
    changes: list[install.SettingsChange] = field(default_factory=list)
    fault: MemoryFault | None = None
    """Why it cannot be added."""

    def apply(self, state: Path, *, is_install: bool) -> None:
        """Make the changes. Earlier parts may have changed the same files, so they are planned anew."""
        install.write(self.record, self.plan(), state, is_install=is_install)


def list_parts(database: str | None, state: Path) -> list[AgentPart]:
    """Return every part of each agent on this machine, those in place too. Raises UsageFault without a home folder."""
    parts = []
    for agent in install.find_agents():
        kinds = ["hooks", "skills"] if install.targets()[agent].skills else ["hooks"]
        parts += [_planned(agent, kind, agent, partial(_plan_kind, agent, kind, database, state)) for kind in kinds]
        if install.targets()[agent].servers:
            parts.append(_planned(agent, "server", record_name(agent), partial(plan_server, agent, database, state)))
    return parts


def list_removals(state: Path) -> list[AgentPart]:
    """Return what there is to remove, the newest part of a file first."""
    parts = []
    for agent in install.targets():
        for kind, record, plan in (
            ("server", record_name(agent), plan_server_removal),
            ("hooks", agent, install.plan_uninstall),
        ):
            part = _planned(agent, kind, record, partial(plan, agent, state))
            if part.changes or part.fault:
                parts.append(part)
    return parts


def _plan_kind(agent: str, kind: str, database: str | None, state: Path) -> list[install.SettingsChange]:
    changes = install.plan_install(agent, database, state)
    return [change for change in changes if (change.path.name == install.SKILL) == (kind == "skills")]


def _planned(agent: str, kind: str, record: str, plan: Callable[[], list[install.SettingsChange]]) -> AgentPart:
    try:
        return AgentPart(agent, kind, record, plan, plan())
    except MemoryFault as fault:
        return AgentPart(agent, kind, record, plan, fault=fault)
