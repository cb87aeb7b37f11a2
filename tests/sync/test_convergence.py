"""Whatever three machines do, in whatever order files reach them, they end with the same memory."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hypothesis import Phase, example, given, note, settings
from hypothesis import strategies as st
from machines import Machine

from pastchats_memory.errors import UsageFault
from pastchats_memory.store.turns import items
from pastchats_memory.tasks.edit import Change

IS_LONG = "FUZZ_SYNC_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("FUZZ_SYNC_EXAMPLES", "25"))
NAMES = ("desk", "laptop", "phone")
TEXTS = (
    "The queue has no backoff, so retries pile up at night.",
    "A delay that doubles at each attempt ended the pile of retries.",
    "The gateway limits each tenant to forty calls a minute.",
    "Rotate the signing certificate before the end of the month.",
)


class Step(NamedTuple):
    """What one machine does."""

    machine: int
    act: str
    choice: int


steps = st.lists(
    st.builds(
        Step,
        st.integers(0, len(NAMES) - 1),
        st.sampled_from(
            [
                "write",
                "write",
                "grow",
                "paste",
                "add",
                "forget",
                "undo",
                "judge",
                "unjudge",
                "task",
                "change",
                "comment",
                "sync",
                "sync",
                "carry",
            ]
        ),
        st.integers(0, len(TEXTS) - 1),
    ),
    min_size=4,
    max_size=24,
)


@dataclass
class World:
    """Three machines, each with its own copy of the folder, between which files are carried one by one."""

    base: Path
    seed: int
    machines: list[Machine] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311 - it chooses the order in which files arrive
        for name in NAMES:
            folder = self.base / f"{name}-folder"
            folder.mkdir()
            if self.machines:
                shutil.copy(self.machines[0].folder / "pastchats-sync.json", folder)
            machine = Machine(self.base / name, folder)
            if not self.machines:
                machine.sync()
            self.machines.append(machine)

    def take(self, step: Step) -> None:
        machine, text = self.machines[step.machine], TEXTS[step.choice]
        name = f"c{step.choice}"
        match step.act:
            case "write":
                machine.write_session(name, ("user", text), ("assistant", f"Agreed: {text}"))
            case "grow":
                machine.write_session(
                    name,
                    ("user", text),
                    ("assistant", f"Agreed: {text} It is merged."),
                    ("user", "That works, thanks a lot."),
                )
            case "paste" | "add":
                more = "" if step.act == "paste" else f" It is merged into the branch of machine {step.machine}."
                turns = [("user", f"Question: {text}"), ("assistant", f"Answer: {text}{more}")]
                machine.paste(f"p{step.choice}", *turns)
            case "forget":
                machine.memory.forget(query=text.split()[-2])
            case "undo":
                machine.memory.undo_forget()
            case "judge" | "unjudge":
                self._judge(machine, step)
            case "task":
                with suppress(UsageFault):  # it is there already
                    machine.memory.tasks.add(Change(title=f"Look at this: {text}", project="tern"), key=name)
            case "sync":
                machine.sync()
            case "carry":
                self._carry(step.machine, self.random)
            case _:
                self._change_task(machine, step)

    def _judge(self, machine: Machine, step: Step) -> None:
        found = [item for item in items(machine.memory._database, range(1, 20)) if item.content == TEXTS[step.choice]]  # noqa: SLF001
        try:
            for item in found:
                if step.act == "judge":
                    machine.memory.judge(str(item.id), ("worked", "failed", "mixed")[step.machine], TEXTS[step.choice])
                else:
                    machine.memory.unjudge(str(item.id))
        except UsageFault:
            return

    def _change_task(self, machine: Machine, step: Step) -> None:
        try:
            if step.act == "change":
                machine.memory.tasks.update(f"c{step.choice}", Change(status=("done", "blocked", "todo")[step.machine]))
            else:
                machine.memory.tasks.comment(f"c{step.choice}", f"Seen from {machine.home.name}.")
        except UsageFault:
            return

    def _carry(self, to: int, chance: random.Random | None) -> None:
        """Carry files of the other machines to one, some of them half or not at all; delete what they have deleted."""
        here = self.machines[to]
        for other in self.machines:
            if other is here:
                continue
            for place in other.folder.iterdir():
                if place.is_dir() and any(place.glob("*.gz")) and self._owner(place.name) is other:
                    self._carry_files(place, here.folder / place.name, chance)

    def _carry_files(self, place: Path, target: Path, chance: random.Random | None) -> None:
        target.mkdir(exist_ok=True)
        for gone in {file.name for file in target.iterdir()} - {file.name for file in place.iterdir()}:
            if chance is None or chance.random() < 0.7:
                (target / gone).unlink()
        files = sorted(place.iterdir())
        if chance is not None:
            chance.shuffle(files)
        for file in files:
            fate = 1.0 if chance is None else chance.random()
            content = file.read_bytes()
            if fate > 0.3:
                (target / file.name).write_bytes(content)
            elif fate > 0.15:
                (target / file.name).write_bytes(content[: len(content) // 2])

    def _owner(self, machine: str) -> Machine:
        return next(
            one
            for one in self.machines
            if any(found.is_this and found.id == machine for found in one.status().machines)
            or not one.status().machines
        )

    def settle(self) -> None:
        """Carry everything, as often as it takes for every machine to have seen what the others say."""
        for _ in range(4):
            for number, machine in enumerate(self.machines):
                self._carry(number, None)
                machine.sync()


@settings(max_examples=EXAMPLES, derandomize=not IS_LONG, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(steps, st.integers(0, 1 << 16))
@example([Step(2, "task", 3), Step(2, "forget", 0), Step(2, "task", 3)], 0)
@example([Step(2, "write", 1), Step(2, "sync", 0), Step(2, "forget", 1), Step(2, "undo", 0)], 0)
def test_three_machines_end_with_equal_memories(done: list[Step], seed: int) -> None:
    base = Path(tempfile.mkdtemp(prefix="sync-"))
    try:
        world = World(base, seed)
        for step in done:
            note(str(step))
            world.take(step)
        world.settle()
        first, *others = [machine.state for machine in world.machines]
        for other in others:
            assert other == first
    finally:
        for machine in world.machines:
            machine.memory.close()
        shutil.rmtree(base)
