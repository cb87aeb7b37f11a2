"""Ask the team's memory: search the collection, or recall from the local copy."""

from collections.abc import Mapping, Sequence

from pastchats_memory.arrays import np
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import ModelUnavailable, UsageFault
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.model import Filters, Hit, Hits, Item
from pastchats_memory.model.episodes import Attempt, RecallEntry
from pastchats_memory.model.ids import TEAM, is_team_id
from pastchats_memory.search.hits import SNIPPET_WIDTH, UNRANKED, Fit
from pastchats_memory.search.query import query_text
from pastchats_memory.search.rank import reciprocal_rank, relevance
from pastchats_memory.search.request import Request
from pastchats_memory.store import team
from pastchats_memory.store.database import Database
from pastchats_memory.store.tombstones import Tombstones, TurnIdentity
from pastchats_memory.team.rows import TURN, Received, build_body, make_model_key, read_row, shorten_id, to_milliseconds
from pastchats_memory.team.server import IDS, Condition, Row, TeamServer
from pastchats_memory.text.excerpt import excerpt, weigh_matches
from pastchats_memory.text.words import words

ROLES = ("user", "assistant", "system", "tool", "note")
MOST_ROWS = 1000
"""Rows that are asked for at most; some of them may be dropped here."""
SPARE_ROWS = 20


def search(
    database: Database, session: ModelSession, server: TeamServer, request: Request, limits: SharingLimits
) -> Hits:
    """Return the turns of the team that answer a request, fused from its lists by words and by meaning.

    What was forgotten here, or belongs to a project that is excluded here, is left out. Raises TeamUnavailable, and
    UsageFault for a filter of tasks.
    """
    condition = build_condition(request.filters)
    searched = 0
    if server.exists:
        server.load()
        searched = server.count_turns()
    if not searched:
        return Hits((), ("nobody has shared anything yet",))
    question = query_text(request.text).typed
    vector, key, warnings = _embed(session, question, is_wanted=request.mode != "keyword")
    if vector is not None and len(vector) != server.dim:
        vector, warnings = None, ("the team uses another model, so these results are by words alone",)
    limit = min(MOST_ROWS, request.last + SPARE_ROWS)
    typed = "" if request.mode == "semantic" and vector is not None else question
    lists = {
        "lexical_rank": server.find_words(typed, condition, limit) if typed else [],
        "semantic_rank": [] if vector is None else server.find_near(vector, key, condition, limit),
    }
    found = map(read_row, _fuse(server, lists, limit))
    rows = [row for row in found if row is not None and not limits.keep_here(row.project)]
    visible = _drop_forgotten(database, rows)
    hits = _build_hits(visible, question, vector, key, searched)
    accepted = [hit for hit in hits if request.accepts(Fit(hit.similarity, hit.relevance or 0.0))]
    first = request.limit * (request.page - 1)
    page = accepted[first : first + request.limit]
    return Hits((hit._replace(rank=rank) for rank, hit in enumerate(page, first + 1)), warnings)


def _fuse(server: TeamServer, lists: Mapping[str, Sequence[str]], limit: int) -> list[Row]:
    """Return the rows of some lists, best first by reciprocal rank fusion, each with its score and its ranks."""
    ranks: dict[str, dict[str, int]] = {}
    for name, ids in lists.items():
        for rank, id_ in enumerate(ids, 1):
            ranks.setdefault(id_, {})[name] = rank
    scores = {id_: sum(reciprocal_rank(rank, 1.0) for rank in placed.values()) for id_, placed in ranks.items()}
    best = sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]
    rows = {row["id"]: row for start in range(0, len(best), IDS) for row in server.get(best[start : start + IDS])}
    return [rows[id_] | {"score": scores[id_]} | ranks[id_] for id_ in best if id_ in rows]


def build_condition(filters: Filters) -> Condition:
    """Return the condition for filters. Raises UsageFault."""
    if filters.kinds or filters.statuses or filters.priorities:
        raise UsageFault("the team's memory has no tasks", "Leave out --type, --status and --priority.")
    if filters.role not in (None, *ROLES):
        raise UsageFault(f"{filters.role!r} is no role of the team's memory", f"Use one of {', '.join(ROLES)}.")
    roles = tuple(one for one in ROLES if filters.role in (None, one) and filters.notes in (None, one == "note"))
    return Condition(
        kind=TURN,
        projects=() if filters.project is None else (filters.project,),
        roles=() if roles == ROLES else roles or ("",),
        since=None if filters.since is None else to_milliseconds(filters.since),
        until=None if filters.until is None else to_milliseconds(filters.until),
        outcomes=tuple(filters.outcomes),
    )


def _embed(session: ModelSession, question: str, *, is_wanted: bool) -> tuple[list[float] | None, str, tuple[str, ...]]:
    if not is_wanted:
        return None, "", ()
    try:
        return session.embed_query(question).tolist(), make_model_key(session), ()
    except ModelUnavailable as fault:
        return None, "", (f"{fault.message}; these results are by words alone. {fault.hint}".strip(),)


def _drop_forgotten(database: Database, rows: Sequence[Received]) -> list[Received]:
    tombstones = Tombstones(database)
    if not tombstones:
        return list(rows)
    forgotten = tombstones.find_forgotten({row.id: _identify(row) for row in rows})
    return [row for row in rows if row.id not in forgotten]


def _identify(row: Received) -> TurnIdentity:
    body = build_body(row) or {}
    metadata = body.get("metadata", {})
    native_id = metadata.get("native_id")
    return TurnIdentity(
        row.path, body.get("conversation_id"), body.get("turn_index", 0), row.role, row.text, body.get("timestamp"),
        row.id, None, metadata.get("format"), row.id if native_id is None else str(native_id), is_copied=False, line=None,
    )  # fmt: skip


def _build_hits(
    rows: Sequence[Received], question: str, vector: Sequence[float] | None, key: str, searched: int
) -> list[Hit]:
    """Return hits with our own measure of relevance, which compares between memories."""
    weights = dict.fromkeys(words(question), 1.0)
    matched = np.array([weigh_matches(row.text, weights) / max(len(weights), 1) for row in rows])
    near = [_compute_cosine(row, vector, key) for row in rows]
    fits = relevance(np.array([one or 0.0 for one in near]), matched, searched).tolist()
    return [
        _build_hit(row, weights, similarity, None if vector is None else round(fit, 6))
        for row, similarity, fit in zip(rows, near, fits, strict=True)
        if build_body(row) is not None
    ]


def _compute_cosine(row: Received, vector: Sequence[float] | None, key: str) -> float | None:
    if vector is None or row.model != key or len(row.vector) != len(vector):
        return None
    own, other = np.array(vector), np.array(row.vector)
    length = float(np.linalg.norm(own) * np.linalg.norm(other))
    return float(own @ other) / length if length else None


def _build_hit(row: Received, weights: dict[str, float], similarity: float | None, fit: float | None) -> Hit:
    snippet = " ".join(excerpt(row.text, weights, SNIPPET_WIDTH).split())
    ranked = {
        **UNRANKED, "score": row.score, "similarity": similarity, "relevance": fit, "snippet": snippet,
        "lexical_rank": row.lexical_rank, "semantic_rank": row.semantic_rank,
    }  # fmt: skip
    return Hit(
        **ranked,
        id=shorten_id(row.id),
        type="note" if row.role == "note" else "prompt",
        content=row.text,
        role=row.role,
        source_path=row.path,
        source_line=row.body.get("line"),
        source_project=row.project,
        conversation_id=row.body.get("conversation_id"),
        turn_index=row.body["turn_index"],
        timestamp=row.body.get("timestamp"),
        metadata={**row.body["metadata"], "outcome": row.outcome},
        author=row.author,
    )


# The local copy


def find_id(copy: Database, id_: str) -> int | None:
    """Return the id of a team's turn in the copy, or None."""
    return team.find_turn(copy, id_.removeprefix(TEAM)) if is_team_id(id_) else None


def find_local_ids(copy: Database, ids: frozenset[str]) -> frozenset[str]:
    """Return the ids in the copy of the team's turns among some ids."""
    found = (find_id(copy, id_) for id_ in ids)
    return frozenset(str(one) for one in found if one is not None)


def name_entries(copy: Database, entries: Sequence[RecallEntry]) -> list[RecallEntry]:
    """Return entries of the copy with the ids and authors that people see."""
    ids = [int(id_) for entry in entries for id_ in entry.ids if id_.isdecimal()]
    names = {str(id_): (shorten_id(row), author) for id_, (row, author) in team.name_turns(copy, ids).items()}

    def name_attempt(attempt: Attempt) -> Attempt:
        return attempt._replace(id=names.get(attempt.id, (TEAM, ""))[0])

    def name_hit(hit: Hit) -> Hit:
        shown, author = names.get(hit.id, (TEAM, "unnamed"))
        return hit._replace(id=shown, author=author)

    return [
        entry._replace(
            hit=name_hit(entry.hit),
            question=entry.question and name_hit(entry.question),
            before=tuple(map(name_attempt, entry.before)),
            after=entry.after and name_attempt(entry.after),
            superseded_by=entry.superseded_by and name_attempt(entry.superseded_by),
        )
        for entry in entries
    ]


def name_items(copy: Database, items: Sequence[Item]) -> list[Item]:
    """Return turns of the copy with the ids and authors that people see."""
    names = team.name_turns(copy, [item.id for item in items])
    return [
        item._replace(team_id=shorten_id(row), author=author)
        for item in items
        for row, author in [names.get(item.id, ("", "unnamed"))]
    ]
