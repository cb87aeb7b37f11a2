"""Measure how similar two tasks are, and find similar stored tasks.

Cosine alone is not enough: for the packaged model, "Fix the login bug" is 0.61 to "users cannot sign in" and 0.65 to
"Fix the logout bug". So two logistic regressions over labelled pairs (`benchmarks/tasks.py`) estimate two
probabilities: that two tasks are related, and that related tasks are the same. Differences between near texts count
against the second: a word substituted for another, an opposite, other numbers or other names of code. A third one
estimates whether a text without a description means the same as a task that has one.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any

from pastchats_memory.arrays import Ids, Vector, np
from pastchats_memory.embed import is_unread
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import ModelChanged, ModelUnavailable
from pastchats_memory.fields import As, At, Flat, Score, View, one_of, shown_as
from pastchats_memory.model import TASK_FIELDS, Filters, StoredTask
from pastchats_memory.model.ids import name_task
from pastchats_memory.search.pipeline import search
from pastchats_memory.search.request import Request
from pastchats_memory.store import sources, task_rows, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.tasks import task_text
from pastchats_memory.text.data_file import read_data
from pastchats_memory.text.groups import group_by_key, group_connected
from pastchats_memory.text.identifiers import blank_spaceless, ngrams
from pastchats_memory.text.lazy_pattern import read_pattern

WORDS_FILE = Path(__file__).with_name("similarity.toml")
WHOLE = ""
"""Name of the aspect that is the whole text of a task."""
RELATED_WEIGHTS: Mapping[str, float] = {"best_cosine": 6.48, "title_cosine": 5.77, "title_words": 5.58, "always": -4.53}
DUPLICATE_WEIGHTS: Mapping[str, float] = {
    "title_cosine": 11.28, "substituted": -5.21, "opposite": -2.99, "identifiers": -2.0, "words": -2.75, "always": -5.15,
}  # fmt: skip
DESCRIBED_WEIGHTS: Mapping[str, float] = {
    "cosine": 9.81, "title_cosine": 3.32, "length": 2.69, "covered": 5.33, "opposite": -1.93, "substituted": -3.98,
    "always": -11.52,
}  # fmt: skip
"""Weights of the features; the last for a text without a description and a task that has one. The weight of identifiers
is set by hand, since few labelled pairs have identifiers."""
SURE_LENGTH = 6
"""Words from which the length of a text counts fully: a description mentions many things, so a short text may be one."""
VARIANT_SHARE = 0.45
"""Share of title words in equal order from which a text with another word is a variant of the title: "remove dark mode" of
"add dark mode". A description shares most words with both, so it cannot decide."""
DUPLICATE_PROBABILITY = 0.25
"""Probability of being the same task from which two tasks count as duplicates. Three in four of those that reach it are
duplicates, and four in five duplicates reach it."""
DESCRIBED_PROBABILITY = 0.12
"""The same for DESCRIBED_WEIGHTS: nine in ten of those that reach it are duplicates, among near tasks."""
RELATED_SCORE, DUPLICATE_SCORE = 0.5, 0.8
"""Scores at which two tasks are more likely related than not, and at which they count as duplicates."""
MAX_UNEQUAL_SCORE = 0.99
"""Highest score of texts with different words; people see two decimals, and 1 means the same."""
SCORE_LABELS = (
    (0.95, "near-identical"),
    (DUPLICATE_SCORE, "very similar"),
    (RELATED_SCORE, "related"),
    (0.25, "loosely related"),
    (0.0, "different"),
)
"""Lowest score of each label, the highest label first."""
Label = Annotated[str, one_of(*(label for _, label in SCORE_LABELS))]

CANDIDATES = 40
"""Tasks nearest by text, and as many nearest by title, that are compared in full."""

MIN_PAIR_SCORE = 0.9
"""Default score from which a scan lists a pair: higher than for one text, since a scan compares many pairs."""
MIN_TITLE_COSINE = 0.72
"""Cosine of two titles below which a scan skips a pair. Such a pair reaches the score only if the texts share no word."""
CELLS = 3
"""Nearest cells that a scan puts each task into; it compares tasks within a cell."""
PAIR = 2
NEIGHBOURS = 10
"""Nearest tasks with which a scan compares a task in full."""
SEED = 7
MACHINE_TAG = "machine"
"""Tag of tasks that programs wrote for each other; a scan leaves them out."""


@dataclass(frozen=True, slots=True)
class SimilarityScore:
    """How similar two tasks are."""

    score: Score
    """1 only for equal words."""
    label: Label

    @property
    def is_duplicate(self) -> bool:
        """Return whether the two are more likely the same task than different ones."""
        return self.score >= DUPLICATE_SCORE

    @property
    def is_related(self) -> bool:
        """Return whether the two are more likely related than not."""
        return self.score >= RELATED_SCORE


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """A text to compare with stored tasks, and its vectors."""

    text: str
    """Title, then an empty line and the description if there is one."""
    vector: Vector | None
    """None if the model cannot be used, or cannot read the text."""
    title_vector: Vector | None

    @classmethod
    def embed(cls, session: ModelSession, text: str) -> "TaskQuery":
        """Return the text with its vectors; without a usable model the session warns.

        Texts in a script that the model never learnt are all alike to it, so they are compared by words alone.
        """
        title = text.partition("\n")[0]
        if is_unread(session.name, text):
            return cls(text, None, None)
        try:
            vector = session.embed_query(text)
            return cls(text, vector, vector if title == text else session.embed_query(title))
        except (ModelUnavailable, ModelChanged):
            session.warn("tasks are compared by words alone")
            return cls(text, None, None)


@shown_as("NearView")
@dataclass(frozen=True, slots=True)
class SimilarTask:
    """A task with its similarity to a text or another task."""

    task: Annotated[StoredTask, Flat(but=("parts",))]
    match: Annotated[SimilarityScore, Flat()]
    similarity: Annotated[
        float | None, {"minimum": -1, "maximum": 1}, "Cosine of the texts; null if they were compared by words alone."
    ]


@shown_as("PairView")
@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two similar tasks."""

    first: Annotated[str, At("first", name_task)]
    """Key of the older one."""
    second: Annotated[str, At("second", name_task)]
    score: Score
    label: Label


class ClusterTaskView(View):
    """A task of a cluster of duplicates."""

    task: Annotated[StoredTask, At(""), Flat(("id", *TASK_FIELDS))]


@shown_as("ClusterView")
@dataclass(frozen=True, slots=True)
class DuplicateCluster:
    """Tasks that are similar to each other."""

    tasks: Annotated[tuple[StoredTask, ...], As(tuple[ClusterTaskView, ...])]
    pairs: tuple[DuplicatePair, ...]
    """The most similar pair first."""


def score_similarity(
    cosine: float,
    title_cosine: float,
    first: str,
    second: str,
    tags: Sequence[str] = (),
    words: "TaskWords | None" = None,
) -> SimilarityScore:
    """Return how similar two tasks are.

    A text without a description is compared with the title of the other task and, unless it is a variant of that title, with all
    of it. The better match counts.

    Args:
        cosine: of the vectors of both texts.
        title_cosine: of the vectors of both titles.
        first: title of a task, then an empty line and its description if it has one.
        second: the same of the other task.
        tags: of the other task.
    """
    words = words or load_words()
    if _build_profile(first, words).plain == _build_profile(second, words).plain:
        return SimilarityScore(1.0, label_score(1.0))
    features = compute_features(cosine, title_cosine, first, second, tags, words)
    related, same = (estimate_probability(weights, features) for weights in (RELATED_WEIGHTS, DUPLICATE_WEIGHTS))
    score = combine_probabilities(related, same)
    if features["lone"]:
        described = estimate_probability(DESCRIBED_WEIGHTS, features)
        score = max(score, combine_probabilities(max(related, described), described, DESCRIBED_PROBABILITY))
    score = round(min(score, MAX_UNEQUAL_SCORE), 3)
    return SimilarityScore(score, label_score(score))


def label_score(score: float) -> str:
    """Return the label of a score."""
    return next(label for lowest, label in SCORE_LABELS if score >= lowest)


def combine_probabilities(related: float, same: float, duplicate: float = DUPLICATE_PROBABILITY) -> float:
    """Combine the probabilities of being related, and of being the same if related, to a score from 0 to 1.

    The score is RELATED_SCORE at even odds of a relation. It is DUPLICATE_SCORE or more if both together have the probability
    `duplicate`, and grows from DUPLICATE_PROBABILITY on, so that scores of both models can be compared.
    """
    both = related * same
    if related < RELATED_SCORE:
        return related
    if both >= DUPLICATE_PROBABILITY:
        return DUPLICATE_SCORE + (1 - DUPLICATE_SCORE) * (both - DUPLICATE_PROBABILITY) / (1 - DUPLICATE_PROBABILITY)
    if both >= duplicate:
        return DUPLICATE_SCORE
    return RELATED_SCORE + (DUPLICATE_SCORE - RELATED_SCORE) * both / DUPLICATE_PROBABILITY


def compute_features(
    cosine: float,
    title_cosine: float,
    first: str,
    second: str,
    tags: Sequence[str] = (),
    words: "TaskWords | None" = None,
) -> dict[str, float]:
    """Return the features of a pair by the names that the weights use.

    `lone` is 1 if exactly one of the texts has a description, and the other is no variant of its title. The arguments are those of `score_similarity`.
    """
    words = words or load_words()
    one, other = _build_profile(first, words), _build_profile(second, words)
    title_stems = other.title_stems | (words.find_stems(" ".join(tags)) & one.title_stems)
    title_words = _compute_dice(one.title_stems, title_stems)
    is_lone = bool(one.description_stems) != bool(other.description_stems)
    substituted = _share_substituted(one, other)
    lone, described = (other, one) if one.description_stems else (one, other)
    return {
        "cosine": cosine,
        "best_cosine": max(cosine, title_cosine),
        "title_cosine": title_cosine,
        "title_words": title_words,
        "words": title_words if is_lone else _compute_dice(one.stems, other.stems),
        "substituted": substituted,
        "opposite": float(words.has_opposite(one.title_words, other.title_words)),
        "identifiers": float(has_other_identifiers(one.identifiers, other.identifiers)),
        "lone": float(is_lone and substituted <= VARIANT_SHARE),
        "length": min(len(lone.stems), SURE_LENGTH) / SURE_LENGTH,
        "covered": len(lone.stems & described.stems) / max(1, len(lone.stems)),
        "always": 1.0,
    }


_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_PHRASAL_VERB = re.compile(r"\b(log|sign|zoom)(?:ging|ning|ned|ged|s)?[ -](in|out|on|off)\b", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:ations?|ings?|ies|ied|ers?|ed|es|s|ly|ment|e|y)\Z")
_INFLECTIONS = (("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("s", ""), ("es", ""))
"""Endings of a verb, and what the base form has instead."""
_IDENTIFIER = read_pattern(__file__, "identifier")


class TaskWords:
    """Stop words, opposites and synonyms of `similarity.toml`."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.stop_words = frozenset(table["stop_words"])
        self.synonyms: Mapping[str, str] = table["synonyms"]
        opposites: defaultdict[str, set[str]] = defaultdict(set)
        for one, other in (pair.split("/") for pair in table["opposites"]):
            opposites[one].add(other)
            opposites[other].add(one)
        self.opposites: Mapping[str, set[str]] = dict(opposites)

    def find_words(self, text: str) -> frozenset[str]:
        """Return the words in lower case, each in one form.

        Synonyms and verbs such as "log in" become one word; a verb that has an opposite gets its base form. Scripts
        without spaces give their n-grams.
        """
        joined = _PHRASAL_VERB.sub(r"\1\2", text).lower()
        return frozenset(map(self._simplify, (*_WORD.findall(blank_spaceless(joined)), *ngrams(joined))))

    def find_stems(self, text: str) -> frozenset[str]:
        """Return the words of `find_words` without stop words and endings."""
        return frozenset(_stem(word) for word in self.find_words(text) if word not in self.stop_words)

    def has_opposite(self, one: frozenset[str], other: frozenset[str]) -> bool:
        """Return whether one set has a word and the other only its opposite."""
        return any(
            not (self.opposites[word] & one) and self.opposites[word] & other and word not in other
            for word in one
            if word in self.opposites
        )

    def _simplify(self, word: str) -> str:
        """Return the synonym of a word, or the base form of a verb that has an opposite."""
        if word in self.synonyms:
            return self.synonyms[word]
        for ending, instead in _INFLECTIONS:
            if word.endswith(ending) and (base := word.removesuffix(ending) + instead) in self.opposites:
                return base
        return word


@cache
def load_words() -> TaskWords:
    """Return the words of `similarity.toml`; the file is read at the first call."""
    return TaskWords(read_data(__file__, WORDS_FILE.name))


@dataclass(frozen=True, slots=True)
class _Profile:
    plain: str
    """Words in lower case, without punctuation."""
    stems: frozenset[str]
    description_stems: frozenset[str]
    """Empty for a text without a description."""
    title_stems: frozenset[str]
    title_words: frozenset[str]
    identifiers: frozenset[str]
    """Identifiers of the title."""
    order: tuple[str, ...]
    """Stems of the title's words in their order."""


@lru_cache(maxsize=1 << 15)
def _build_profile(text: str, words: TaskWords) -> _Profile:
    title, _, description = text.partition("\n")
    return _Profile(
        plain=" ".join(_WORD.findall(text.lower())),
        stems=words.find_stems(text),
        description_stems=words.find_stems(description),
        title_stems=words.find_stems(title),
        title_words=words.find_words(title),
        identifiers=find_identifiers(title),
        order=tuple(_stem(word) for word in _WORD.findall(title.lower())),
    )


def find_identifiers(text: str) -> frozenset[str]:
    """Return numbers, versions, keys, names of code, files and paths in lower case, without `#` and `()`."""
    return frozenset(match[0].lower().strip("#()") for match in _IDENTIFIER.finditer(text))


def has_other_identifiers(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether both sets have identifiers but none in common."""
    return bool(one) and bool(other) and not one & other


def _stem(word: str) -> str:
    stem = _SUFFIX.sub("", word)
    return stem if len(stem) > 2 else word  # noqa: PLR2004 - a shorter stem could be of any word


def _share_substituted(first: _Profile, second: _Profile) -> float:
    """Return the share of title words in equal order, if each title has a stem that the other lacks, else 0."""
    if not (first.title_stems - second.title_stems and second.title_stems - first.title_stems):
        return 0.0
    return SequenceMatcher(a=first.order, b=second.order, autojunk=False).ratio()


def _compute_dice(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the Dice coefficient: 2 · common / (both sizes), 0 to 1."""
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def estimate_probability(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """Return the probability that a logistic regression gives."""
    return 1 / (1 + math.exp(-sum(weight * features[name] for name, weight in weights.items())))


def estimate_cosine(first: str, second: str) -> float:
    """Return the share of words that two texts have in common, in the place of a cosine that no model can give."""
    one, other = (_build_profile(text, load_words()) for text in (first, second))
    return _compute_dice(one.stems, other.stems)


def _find_tasks_by_words(
    database: Database, session: ModelSession, query: TaskQuery, filters: Filters, exclude: int | None
) -> list[SimilarTask]:
    """Return tasks that share words with a text, by score, then by id."""
    hits = search(database, session, Request(query.text, mode="keyword", limit=CANDIDATES, filters=filters))
    tasks = {hit.task.id: hit.task for hit in hits if hit.task is not None and hit.task.id != exclude}
    compared = []
    for task in tasks.values():
        text = task_text(task.title, task.description)
        titles = estimate_cosine(query.text.partition("\n")[0], task.title)
        match = score_similarity(estimate_cosine(query.text, text), titles, query.text, text, task.tags)
        compared.append(SimilarTask(task, match, None))
    return sorted(compared, key=lambda similar: (-similar.match.score, similar.task.id))


def find_similar_tasks(
    database: Database, session: ModelSession, query: TaskQuery, filters: Filters, exclude: int | None = None
) -> list[SimilarTask]:
    """Return tasks by score, the most similar first, then by cosine, then by id.

    Without the vectors of the query, words decide alone. `exclude` is the row id of a task to leave out.
    """
    if query.vector is None or query.title_vector is None:
        return _find_tasks_by_words(database, session, query, filters, exclude)
    nearest = {
        neighbour.id
        for vector in (query.vector, query.title_vector)
        for neighbour in vectors.nearest(database, vector, CANDIDATES, filters)
    }
    candidates = {text.task.id: text.task for text in task_rows.task_texts(database, sorted(nearest))}
    candidates.pop(exclude or 0, None)
    texts = task_rows.own_texts(database, list(candidates))
    cosines, title_cosines = (
        _measure_aspects(database, vector, texts) for vector in (query.vector, query.title_vector)
    )
    compared: list[tuple[float, SimilarTask]] = []
    for id_, task in candidates.items():
        if WHOLE not in cosines[id_]:  # its vector is pending
            continue
        whole = cosines[id_][WHOLE]
        of_title = title_cosines[id_]
        title = max(of_title.get("title", of_title[WHOLE]), of_title.get("tags", -1.0))
        text = task_text(task.title, task.description)
        match = score_similarity(max(whole, cosines[id_].get("description", -1.0)), title, query.text, text, task.tags)
        compared.append((max(whole, title), SimilarTask(task, match, max(whole, title))))
    compared.sort(key=lambda pair: (-pair[1].match.score, -pair[0], pair[1].task.id))
    return [similar for _, similar in compared]


def _measure_aspects(
    database: Database, vector: Vector, texts: Sequence[task_rows.OwnText]
) -> dict[int, dict[str, float]]:
    """Return the best cosine of each aspect by task."""
    cosines = {near.id: near.similarity for near in vectors.score(database, vector, [text.text_id for text in texts])}
    best: dict[int, dict[str, float]] = defaultdict(dict)
    for text in texts:
        of_task = best[text.task_id]
        if text.text_id in cosines:  # others are pending
            of_task[text.aspect] = max(cosines[text.text_id], of_task.get(text.aspect, -1.0))
    return best


def find_duplicate_clusters(
    database: Database, filters: Filters, min_score: float = MIN_PAIR_SCORE
) -> list[DuplicateCluster]:
    """Return clusters of similar tasks that pass the filters, the most similar cluster first."""
    ids = task_rows.listed(database, filters, limit=-1)
    tasks = [task for task in task_rows.plain_tasks(database, sorted(ids)) if MACHINE_TAG not in task.tags]
    texts = {
        (text.task_id, text.aspect): text.text_id for text in task_rows.own_texts(database, [one.id for one in tasks])
    }
    whole_of = {task.id: texts[task.id, WHOLE] for task in tasks}
    title_of = {task.id: texts.get((task.id, "title"), whole_of[task.id]) for task in tasks}
    ids, stored = vectors.matrix(database, [*whole_of.values(), *title_of.values()])
    places = {id_: place for place, id_ in enumerate(ids)}
    tasks = [task for task in tasks if whole_of[task.id] in places and title_of[task.id] in places]
    if len(tasks) < PAIR:
        return []
    rows, title_rows = (
        stored[[places[of[task.id]] for task in tasks]].astype(np.float32) for of in (whole_of, title_of)
    )
    pairs = {}
    model = sources.meta(database).get("model_name", "")
    for first, second in find_near_pairs(title_rows):
        one, other = tasks[first], tasks[second]
        text, other_text = (task_text(task.title, task.description) for task in (one, other))
        if is_unread(model, text):
            cosine, title_cosine = estimate_cosine(text, other_text), estimate_cosine(one.title, other.title)
        else:
            cosine, title_cosine = float(rows[first] @ rows[second]), float(title_rows[first] @ title_rows[second])
        match = score_similarity(cosine, title_cosine, text, other_text, other.tags)
        if match.score >= min_score:
            pairs[first, second] = DuplicatePair(one.key, other.key, match.score, match.label)
    return _cluster(tasks, pairs)


def find_near_pairs(rows: Vector) -> Iterator[tuple[int, int]]:
    """Yield pairs of rows whose cosine is MIN_TITLE_COSINE or more, each row with its NEIGHBOURS nearest at most.

    Each row goes into its CELLS nearest of about √n cells, whose centres are rows drawn at random. Only rows that share a
    cell are compared, so about n^1.5 cosines are computed instead of n², unless many rows are equal. Two near rows
    nearly always share a cell.

    Args:
        rows: shape (n, dim), unit vectors.
    """
    count = len(rows)
    centres = rows[np.random.default_rng(SEED).choice(count, max(1, int(count**0.5)), replace=False)]
    cells_per_row = min(CELLS, len(centres))
    cells: dict[int, list[int]] = defaultdict(list)
    for start in range(0, count, 4096):
        block = rows[start : start + 4096]
        nearest = np.argpartition(-(block @ centres.T), cells_per_row - 1, axis=1)[:, :cells_per_row]
        for row, own_cells in enumerate(nearest.tolist(), start=start):
            for cell in own_cells:
                cells[cell].append(row)
    neighbours: dict[int, dict[int, float]] = defaultdict(dict)
    for members in cells.values():
        numbers = np.array(members)
        for start in range(0, len(numbers), 1024):
            _add_neighbours(rows, numbers[start : start + 1024], numbers, neighbours)
    seen: set[tuple[int, int]] = set()
    for row, others in neighbours.items():
        for other in sorted(others, key=lambda other: (-others[other], other))[:NEIGHBOURS]:
            pair = (min(row, other), max(row, other))
            if pair not in seen:
                seen.add(pair)
                yield pair


def _add_neighbours(rows: Vector, block: Ids, members: Ids, neighbours: dict[int, dict[int, float]]) -> None:
    """Add the nearest members of a cell to the neighbours of each row of the block."""
    cosines = rows[block] @ rows[members].T
    cosines[block[:, None] == members[None, :]] = -1
    count = min(NEIGHBOURS, len(members))
    columns = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
    values = np.take_along_axis(cosines, columns, axis=1)
    for row, column in zip(*np.nonzero(values >= MIN_TITLE_COSINE), strict=True):
        neighbours[int(block[row])][int(members[columns[row, column]])] = float(values[row, column])


def _cluster(tasks: Sequence[StoredTask], pairs: Mapping[tuple[int, int], DuplicatePair]) -> list[DuplicateCluster]:
    groups = {numbers[0]: numbers for numbers in group_connected(len(tasks), pairs) if len(numbers) > 1}
    first_of = {number: first for first, numbers in groups.items() for number in numbers}
    pairs_of = group_by_key((first_of[number], pair) for (number, _), pair in pairs.items())
    clusters = [
        DuplicateCluster(
            tuple(tasks[number] for number in numbers),
            tuple(sorted(pairs_of[first], key=lambda pair: (-pair.score, pair.first, pair.second))),
        )
        for first, numbers in groups.items()
    ]
    return sorted(clusters, key=lambda cluster: (-cluster.pairs[0].score, cluster.pairs[0].first))
