"""`doctor`: check the database, and repair a damaged one."""

from datetime import UTC, datetime

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, give_result
from pastchats_memory.cli.output import hanging
from pastchats_memory.config import load, state_folder
from pastchats_memory.errors import DatabaseCorrupt, MemoryFault, UsageFault
from pastchats_memory.hooks.calls import list_calls
from pastchats_memory.hooks.install import find_broken, has_hooks, read_records, targets
from pastchats_memory.hooks.servers import find_broken_servers
from pastchats_memory.maintenance.health import REPAIR, HealthCheck
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import one_line
from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.answers.database import DOCTOR


@give_result("doctor")
@options.yes_or_no
def command(db: str | None) -> CommandResult:
    """Check the database, the model, the engine, the sources and hooks; exit 1 if something needs repair.

    For each agent with hooks it shows when one last ran, and what it did. The report has no text of a conversation.

    A damaged database is recovered into a new one. You are asked first; without a terminal, --yes agrees. The damaged file
    stays next to the new one. End other processes that use the database before.
    """
    checks = _run_checks(db)
    text = _describe(checks)
    if any(not check.is_well and check.remedy == REPAIR for check in checks):
        question = "Recover what is readable into a new database, and keep this one next to it?"
        plan, text = text, ""
        if options.agree(question, lambda: plan, is_always_shown=True):
            report = Memory.repair(load(db).database)
            salvage = HealthCheck("salvage", is_well=True, detail=utf8(report.detail), remedy=report.remedy)
            checks = [salvage, *_run_checks(db)]
            text = _describe(checks)
    return CommandResult(
        lambda: DOCTOR.build(checks), lambda: text, is_found=all(check.is_well for check in checks), is_folded=True
    )


def _run_checks(db: str | None) -> list[HealthCheck]:
    try:
        with options.open_memory(db) as memory:
            return [*memory.doctor(), *_check_hooks()]
    except DatabaseCorrupt as fault:
        if fault.__cause__ is None:  # another program's file, or none: nothing to repair
            raise
        return [HealthCheck("database", is_well=False, detail=utf8(fault.message), remedy=REPAIR)]


def _check_hooks() -> list[HealthCheck]:
    """Return a check for each agent that has our hooks or has called one: what it did last, or what is broken.

    A program may be gone with its environment, for example.
    """
    calls = {call.agent: call for call in list_calls(str(state_folder()))}
    try:
        broken = dict(find_broken_servers(state_folder())) | dict(find_broken(state_folder()))
        recorded = read_records(state_folder())
        installed = {agent for agent in targets() if agent in recorded or (agent in calls and has_hooks(agent))}
    except MemoryFault as fault:  # no home folder, or a damaged record
        unread = HealthCheck("hooks", is_well=False, detail=fault.message, remedy=fault.hint)
        return [] if isinstance(fault, UsageFault) else [unread]
    checks = [
        HealthCheck(
            "hooks",
            is_well=False,
            detail=utf8(f"{target} calls {program}, which is gone"),
            remedy=f"Run `pastchats-memory install {target}`, or `pastchats-memory setup` for all agents.",
        )
        for target, program in broken.items()
    ]
    for agent in (target for target in targets() if target not in broken and (target in installed or target in calls)):
        detail = f"{agent} has not called a hook yet; they run from its next session on"
        if call := calls.get(agent):
            when = datetime.fromtimestamp(call.seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
            where = "" if agent in installed else " has no hook of ours in its settings; it"
            detail = one_line(f"{agent}{where} last called {call.event} at {when}: it {call.did or 'was interrupted'}")
        checks.append(HealthCheck("hooks", is_well=True, detail=detail))
    return checks


def _describe(checks: list[HealthCheck]) -> str:
    lines = []
    for check in checks:
        mark = "ok  " if check.is_well else "MEND"
        lines.append(hanging(f"{mark}  {check.check:12} {check.detail}", under=19))
        if check.remedy and (not check.is_well or check.check == "salvage"):
            lines.append(hanging(f"{'':19}{check.remedy}", under=19))
    return "\n".join(lines)
