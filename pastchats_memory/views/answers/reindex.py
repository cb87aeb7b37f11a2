"""Define the answer of `reindex`, which `task reindex` gives too."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pastchats_memory.episodes.derive import Derived
from pastchats_memory.fields import answer
from pastchats_memory.store.vectors.reindex import ReindexReport
from pastchats_memory.views.answers.listing import ONE


@answer("reindex/1")
class ReindexBody(NamedTuple):
    """Output of `reindex --embeddings --json` and `reindex --outcomes --json`."""

    results: Annotated[Sequence[ReindexReport | Derived], ONE]
