"""Later judgements and changes of tasks win, and parts of tasks are united."""

from __future__ import annotations

from machines import Machine

from pastchats_memory.store import sync
from pastchats_memory.store.database import open_database
from pastchats_memory.store.interchange import export_tasks
from pastchats_memory.tasks.edit import Change

ASKED = "Why do the webhook retries of the billing service pile up at night?"
ANSWERED = "Because the queue has no backoff. A delay that doubles at each attempt ended it."
NEXT = "It happened again last night, the delay does not help."


def judged(machine: Machine) -> dict[str, str]:
    with open_database(machine.home / "memory.db") as database:
        return {identity: body["verdict"] for identity, body in sync.judgements(database).items()}


def asking_id(machine: Machine) -> str:
    (hit, *_) = machine.memory.search("webhook retries of the billing service pile up")
    return hit.id


def write_all(machine: Machine) -> None:
    machine.write("webhooks", ("user", ASKED), ("assistant", ANSWERED), ("user", NEXT))


def test_a_judgement_holds_on_the_other_machine(desk: Machine, laptop: Machine) -> None:
    write_all(desk)
    desk.memory.judge(asking_id(desk), "failed", "the delay does not help")
    desk.sync()
    laptop.sync()
    assert list(judged(laptop).values()) == ["failed"]
    (hit, *_) = laptop.memory.search("webhook retries of the billing service pile up", outcome="failed")
    assert hit.content == ASKED


def test_the_later_of_two_judgements_stays(desk: Machine, laptop: Machine) -> None:
    write_all(desk)
    desk.sync()
    laptop.sync()
    desk.memory.judge(asking_id(desk), "worked", "A delay that doubles at each attempt ended it.")
    desk.sync()
    laptop.sync()
    laptop.memory.judge(asking_id(laptop), "failed", "the delay does not help")
    for machine in (laptop, desk, laptop):
        machine.sync()
    assert judged(desk) == judged(laptop)
    assert list(judged(desk).values()) == ["failed"]


def test_a_withdrawn_judgement_is_withdrawn_everywhere(desk: Machine, laptop: Machine) -> None:
    write_all(desk)
    desk.memory.judge(asking_id(desk), "failed", "the delay does not help")
    desk.sync()
    laptop.sync()
    laptop.memory.unjudge(asking_id(laptop))
    laptop.sync()
    desk.sync()
    assert judged(desk) == judged(laptop) == {}


def test_a_judgement_waits_for_turns_that_arrive_later(desk: Machine, laptop: Machine) -> None:
    write_all(desk)
    desk.sync()
    (first,) = desk.folder.rglob("*.gz")
    aside = first.with_suffix(".aside")
    first.rename(aside)
    desk.memory.judge(asking_id(desk), "failed", "the delay does not help")
    desk.sync()
    laptop.sync()
    assert judged(laptop) == {}
    aside.rename(first)
    laptop.sync()
    assert list(judged(laptop).values()) == ["failed"]


def tasks_of(machine: Machine) -> list[tuple[str, str, list[str]]]:
    with open_database(machine.home / "memory.db") as database:
        return [
            (body["title"], body["status"], sorted(comment["content"] for comment in body["comments"]))
            for body in export_tasks(database)
        ]


def test_the_later_change_of_a_task_wins_and_comments_are_united(desk: Machine, laptop: Machine) -> None:
    task = desk.memory.tasks.add(Change(title="Add a backoff to the webhook queue", project="tern"))
    desk.sync()
    laptop.sync()
    desk.memory.tasks.comment(task.key, "The queue is in billing/queue.py.")
    laptop.memory.tasks.comment(task.key, "Ask Grace about the limits.")
    laptop.memory.tasks.update(task.key, Change(status="done"))
    for machine in (desk, laptop, desk, laptop):
        machine.sync()
    assert tasks_of(desk) == tasks_of(laptop)
    ((_, status, comments),) = tasks_of(desk)
    assert status == "completed"
    assert comments == ["Ask Grace about the limits.", "The queue is in billing/queue.py."]
    assert desk.state == laptop.state


def test_a_task_is_found_without_being_embedded_again(desk: Machine, laptop: Machine) -> None:
    desk.memory.tasks.add(
        Change(title="Add a backoff to the webhook queue", description="Delays double.", project="tern")
    )
    desk.sync()
    assert laptop.sync().embedded == 0
    assert laptop.memory.check_prior_work("Add a backoff to the webhook queue").results


def test_two_machines_may_give_two_tasks_the_same_key(desk: Machine, laptop: Machine) -> None:
    desk.memory.tasks.add(Change(title="Add a backoff to the webhook queue", project="tern"), key="BIL-7")
    laptop.memory.tasks.add(Change(title="Raise the limit of the gateway", project="other"), key="BIL-7")
    for machine in (desk, laptop, desk):
        machine.sync()
    assert sorted(title for title, _, _ in tasks_of(desk)) == sorted(title for title, _, _ in tasks_of(laptop))
