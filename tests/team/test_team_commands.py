"""The command line of a team: what it asks, prints and returns."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator
from people import Person, shell_of

SCHEMAS = Path(__file__).parents[2] / "contracts" / "schemas"


def test_every_command_fits_its_schema(ada: Person, bob: Person) -> None:
    steps = (
        (ada, ("team", "share", "billing", "--yes"), "team"),
        (ada, ("team", "push"), "team"),
        (bob, ("team", "pull"), "team"),
        (ada, ("team", "status"), "team"),
        (bob, ("search", "--team", "webhook"), "search"),
        (bob, ("recall", "--team", "webhook retries pile up"), "recall"),
        (ada, ("team", "withdraw", "billing", "--yes"), "team"),
    )
    for person, words, name in steps:
        done = shell_of(person)(*words, "--json")
        assert done.status == 0, (words, done.stderr)
        schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
        Draft202012Validator(schema).validate(json.loads(done.stdout))


def test_share_shows_what_the_team_would_see_and_shares_nothing_without_a_yes(ada: Person) -> None:
    done = shell_of(ada)("team", "share", "billing")
    assert done.status == 1
    assert "billing: 3 turns of 1 conversation" in done.stdout
    assert "> Great, that fixed it, thanks!" in done.stdout
    assert "Nothing is shared" in done.stderr
    assert shell_of(ada)("team", "push").status == 2


def test_withdraw_deletes_nothing_without_a_yes(ada: Person, bob: Person) -> None:
    ada.share("billing")
    assert shell_of(ada)("team", "withdraw", "billing").status == 1
    asked = shell_of(ada)("team", "withdraw", "billing", "--json")
    assert (asked.status, json.loads(asked.stdout)) == (1, {"schema": "team/1", "withdrawn": 0, "results": []})
    assert len(bob.found()) == 3


def test_search_at_the_team_refuses_what_milvus_has_not(bob: Person) -> None:
    for words in (("--rerank",), ("--explain",), ("--meaning", "0.2"), ("--status", "todo"), ("--type", "task")):
        assert shell_of(bob)("search", "--team", "webhook", *words).status == 2


def test_search_at_the_team_shows_ranks_and_outcomes_as_search_does(ada: Person, bob: Person) -> None:
    ada.share("billing")
    done = shell_of(bob)("search", "--team", "webhook", "--json")
    found = json.loads(done.stdout)["results"]
    assert {hit["semantic_rank"] for hit in found} == {1, 2, 3}
    assert 1 in {hit["lexical_rank"] for hit in found}
    assert {hit["metadata"]["outcome"] for hit in found} <= {"worked", "unknown"}
    shown = shell_of(bob)("search", "--team", "webhook").stdout
    assert ", words 1, meaning " in shown
    assert "(worked) · " in shown or "(unknown) · " in shown


def test_nothing_found_is_exit_code_one(bob: Person) -> None:
    done = shell_of(bob)("search", "--team", "webhook")
    assert (done.status, done.stdout) == (1, "")
    assert "nobody has shared anything yet" in done.stderr
