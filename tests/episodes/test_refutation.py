"""Which sentences refute an earlier remedy, and which do not."""

from __future__ import annotations

import pytest

from pastchats_memory.episodes.refutation import find_refuting_sentence


@pytest.mark.parametrize(
    "message",
    [
        "So the bigger pool from May did not cure the timeouts.",
        "The lock hasn't helped: two workers still send it.",
        "Raising the limit had no effect on the queue.",
        "The filter only hid the warning.",
        "Raising the limit fixed nothing, it only took longer.",
        "So much for the trap, they walk around it.",
        "The timeouts are back since last night.",
        "The cache was the wrong place for it.",
        "The sensor still sleeps despite the new firmware.",
        "Sleeping between the requests turned out far too slow.",
        "So the two hundred litres were luck, the tank was full.",
        "Die ruhige Nacht war nur Zufall.",
        "The second valve proved to be useless.",
        "Die zweite Pumpe erwies sich als viel zu schwach.",
        "Le second filtre s'est révélé inutile.",
        "Esperar entre peticiones resultó demasiado lento.",
        "Der größere Pool hat die Aussetzer leider nicht behoben.",
        "Die Aussetzer sind seit gestern wieder da.",
        "L'augmentation du pool n'a pas résolu les délais.",
        "Aumentar el pool no resolvió los cortes.",
        "Os cortes voltaram depois da troca da bomba.",
        "Il filtro non ha risolto il problema.",
        "Больший пул не помог.",
        "加大连接池并没有解决超时。",
        "プールを大きくしても直らなかった。",
    ],
)
def test_a_sentence_that_a_remedy_did_not_help_is_recognised(message: str) -> None:
    assert find_refuting_sentence(message) is not None


@pytest.mark.parametrize(
    "message",
    [
        "Did the bigger pool not cure the timeouts?",
        "Add a back button to the settings page.",
        "The valve controller does not work on Windows, please look at it.",
        "The pool cured the timeouts.",
        "The pump turned out to be the cause.",
        "Good luck with the pump.",
        "Make the export faster, and write a test for it.",
        "The server is back up again.",
        "She says everything is back, all 340 of them.",
    ],
)
def test_another_sentence_refutes_nothing(message: str) -> None:
    assert find_refuting_sentence(message) is None
