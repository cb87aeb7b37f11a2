"""Replies that the weights were not trained with get the right class, or none that is clear."""

from __future__ import annotations

from program import REPOSITORY

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.episodes.outcome.episode import find_opening
from pastchats_memory.episodes.outcome.reply import Reply, classify, read_weights
from pastchats_memory.store import vectors

HELD_OUT = {
    "rejects": (
        "The crash came back this morning.",
        "That broke the sign-in page.",
        "This is not what I wanted.",
        "no, it still doesn't work",
        "the tests fail again",
        "Undo your last edit, please.",
        "I still get the same exception when I open the archive.",
        "Der Fehler tritt immer noch auf.",
        "Toujours le même bug.",
        "Sigue sin funcionar la búsqueda.",
        "Ainda dá o mesmo erro.",
        "Опять не работает.",
        "还是同样的错误",
        "まだエラーが出ます",
    ),
    "partly": (
        "The list is sorted now, but the last page is still empty.",
        "Better, but the arrow is still too small.",
    ),
    "confirms": (
        "Works perfectly, thank you.",
        "Great, the crash is gone.",
        "nice, that works now",
        "All tests pass now, thanks.",
        "Das funktioniert jetzt, danke.",
        "Parfait, merci beaucoup.",
        "Perfecto, gracias.",
        "Funcionou perfeitamente.",
        "Отлично, всё работает.",
        "太好了，可以用了",
        "完璧です、ありがとう",
    ),
    "agrees": (
        "yes, do that",
        "ok continue",
        "go ahead with the second option",
        "Yes please, proceed.",
        "ja, mach weiter",
        "oui, continue",
        "sí, adelante",
        "sim, continue",
        "да, продолжай",
        "好的，继续",
        "はい、続けてください",
    ),
    "new": (
        "How many lines did you change?",
        "Write a test for the importer.",
        "Add a button that copies the link.",
        "Where do we store the session?",
        "Wie viele Dateien sind das?",
        "Ajoute un bouton pour copier le lien.",
        "¿Dónde se guarda la sesión?",
        "Escreva um teste para o importador.",
        "Добавь кнопку копирования.",
        "添加一个复制按钮",
    ),
}


def is_clear(reply: Reply) -> bool:
    return reply.probability >= float(read_weights()["least"][reply.kind])


def read(text: str) -> Reply:
    opening = find_opening(text)
    (codes,) = vectors.decode([vectors.encode(PackagedEmbedder().embed_query(opening))])
    return classify(opening, codes)


def test_a_clear_class_is_right() -> None:
    classes = [(text, kind, read(text)) for kind, texts in HELD_OUT.items() for text in texts]
    wrong = [(text, reply) for text, kind, reply in classes if is_clear(reply) and reply.kind != kind]
    assert wrong == []


def test_most_replies_get_their_class() -> None:
    right = [read(text).kind == kind for kind, texts in HELD_OUT.items() for text in texts]
    assert sum(right) >= 0.7 * len(right)


def test_no_held_out_reply_was_trained_with() -> None:
    trained = (REPOSITORY / "benchmarks/outcome/replies/sentences.txt").read_text(encoding="utf-8").splitlines()
    assert not {text for texts in HELD_OUT.values() for text in texts} & {*trained}


def test_a_reply_without_a_letter_has_a_class_that_is_not_clear() -> None:
    assert not is_clear(read("!?"))
