"""Classify the user's messages as replies, by the packaged model, and store the result.

It happens when turns are indexed. Recall and hooks read what is stored, and load no model.
"""

from collections.abc import Sequence

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.episodes.derive import weights_version
from pastchats_memory.errors import ModelUnavailable
from pastchats_memory.store import replies, sources, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.replies import NO_WORDS, StoredReply
from pastchats_memory.store.turns import known_vectors
from pastchats_memory.text.hashes import text_hash

BATCH = 256
"""Messages of one transaction."""


def open_packaged(embedder: Embedder | None = None) -> ModelSession:
    """Return a use of the packaged model: the embedder itself, if it is that model."""
    inner = embedder.embedder if isinstance(embedder, ModelSession) else embedder
    return ModelSession(inner if isinstance(inner, PackagedEmbedder) else PackagedEmbedder())


def classify_replies(database: Database, packaged: ModelSession) -> None:
    """Classify all messages that wait for it, in limited transactions.

    After an interruption, the next run does the rest. If the model cannot be used, the messages wait for one that can.
    """
    if replies.read_version(database) != weights_version():
        with database.transaction():
            replies.claim_weights(database, weights_version())
    # Imported here: a run without changes does not need the rules.
    from pastchats_memory.episodes.outcome.episode import find_opening

    while packaged.fault is None and (messages := replies.list_waiting(database, BATCH)):
        openings = [find_opening(message.content) for message in messages]
        try:
            encoded = _encode(database, packaged, [opening for opening in openings if opening])
        except ModelUnavailable:
            return
        found = [_classify(opening, encoded) for opening in openings]
        with database.transaction():
            replies.store_replies(database, zip(messages, found, strict=True))


def _encode(database: Database, packaged: ModelSession, texts: Sequence[str]) -> dict[bytes, str]:
    """Return encoded vectors by text_hash, stored ones as far as they are the model's. Raises ModelUnavailable."""
    wanted = {text_hash(text): text for text in texts}
    is_own_model = sources.meta(database).get("model_version") == packaged.version
    known = known_vectors(database, wanted, packaged.name) if is_own_model else {}
    missing = {hash_: text for hash_, text in wanted.items() if hash_ not in known}
    return known | dict(zip(missing, map(vectors.encode, packaged.embed(missing.values())), strict=True))


def _classify(opening: str, encoded: dict[bytes, str]) -> StoredReply:
    if not opening:
        return NO_WORDS
    from pastchats_memory.episodes.outcome.reply import classify

    (codes,) = vectors.decode([encoded[text_hash(opening)]])
    return StoredReply(*classify(opening, codes))
