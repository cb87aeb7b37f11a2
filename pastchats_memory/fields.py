"""Describe how the fields of a value appear as JSON: details for annotations, and fields that several values share.

A value is a named tuple or a data class. A shown field is annotated as `Annotated[type, *details]`. A detail is one of these:

- a text: the description of the field;
- a mapping: further JSON Schema keywords, such as `{"minimum": 0}`;
- one of the classes and constants below.

`views.to_json` makes the JSON object from a value, and `views.json_schema` makes the JSON Schema of the object. A property
is shown if its return annotation has a `Shown`. Annotations are read at first use.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, TypeVar


class View:
    """A shorter or different form of a value: its annotations name the attributes of the value that are shown."""


class Shape(NamedTuple):
    """How a class appears in schemas."""

    name: str = ""
    """Name of its definition; empty for the name of the class."""
    schema: str = ""
    """Id of the answer that its values are; empty for a part of an answer."""
    title: str = ""
    """Title of the answer; empty for the first paragraph of the docstring."""


Class = TypeVar("Class", bound=type)
_SHAPES: dict[type, Shape] = {}


def shown_as(name: str, *, schema: str = "", title: str = "") -> Callable[[Class], Class]:
    """Give a class another name in schemas."""

    def register(shown: Class) -> Class:
        _SHAPES[shown] = Shape(name, schema, title)
        return shown

    return register


def answer(schema: str, *, name: str = "", title: str = "") -> Callable[[Class], Class]:
    """Make the values of a class whole answers: their JSON has the id of the schema."""
    return shown_as(name, schema=schema, title=title)


def shape_of(shown: type) -> Shape:
    """Return how a class appears in schemas."""
    return _SHAPES.get(shown, Shape())


def list_answers() -> dict[str, list[type]]:
    """Return the classes of our answers in the modules that are loaded, by the id of their schema."""
    found: dict[str, list[type]] = {}
    for shown, shape in sorted(_SHAPES.items(), key=lambda pair: pair[1].schema):
        if shape.schema and shown.__module__.startswith(__package__):
            found.setdefault(shape.schema, []).append(shown)
    return found


FIRST = "first"
"""Place before all other fields."""


class Shown(NamedTuple):
    """The field has another name in JSON, or another place: after another field of the JSON object, or `FIRST`."""

    name: str = ""
    after: str = ""


class At(NamedTuple):
    """The field shows another attribute of the value, or what a function makes of it.

    The path of the attribute is such as `task.title`, which is null below a null. The empty path is the value itself.
    """

    path: str
    make: Callable[[Any], object] | None = None


class As(NamedTuple):
    """The field is shown as this annotation describes, which can name a `View`."""

    annotation: Any


class Flat(NamedTuple):
    """The fields of the nested value stand beside those of the outer one: all, all but some, or some in this order."""

    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()


class PresentIf(NamedTuple):
    """The field is required if the field `field` has one of the values, and forbidden otherwise."""

    field: str
    values: tuple[object, ...]


class Narrowed(NamedTuple):
    """The keywords hold for the field if the field `field` has one of the values."""

    field: str
    values: tuple[object, ...]
    keywords: Mapping[str, object]


class Mark:
    """A detail without parameters."""


HIDDEN = Mark()
"""The field does not appear in JSON."""
IF_ANY = Mark()
"""The field is absent if its value is null or empty; a zero is shown."""
NULL_IF_EMPTY = Mark()
"""An empty text is shown as null."""
ON_REQUEST = Mark()
"""The field is absent unless the caller adds it."""
SHORTENED = Mark()
"""The text is cut to what fits beside an item in an answer for agents."""


def one_of(*values: str) -> Mapping[str, object]:
    """Return the keyword that limits a text to some values."""
    return {"enum": list(values)}


Count = Annotated[int, {"minimum": 0}]
Line = Annotated[int | None, {"minimum": 1}]
TurnId = Annotated[str, {"pattern": "^[0-9]+$"}]
TaskId = Annotated[str, {"pattern": "^t:.+$"}]
ItemId = Annotated[
    str,
    {"pattern": "^([0-9]+|t:.+|c:[0-9]+|a:[0-9]+|team:[0-9a-f]+)$"},
    "Shows the kind of the item: 12 is a turn, t:KEY a task, c:5 a comment, a:7 an attachment, team:3f2a a turn of the team.",
]
Author = Annotated[str, {"minLength": 1}, "Who shared it with the team; missing for the user's own.", IF_ANY]
Time = Annotated[
    str | None,
    {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
    "ISO 8601 in UTC with milliseconds; null if the source has no time.",
]
LooseTime = Annotated[str | None, "ISO 8601 in UTC; null if unknown."]
Priority = Annotated[int | None, {"minimum": 0, "maximum": 4}, "From 0 (critical) to 4 (lowest)."]
OUTCOMES = ("worked", "failed", "mixed", "stopped", "unknown")
"""How an episode can end. `stopped` was cut off from outside, and tells nothing about the work."""
OutcomeWord = Annotated[str, one_of(*OUTCOMES)]
Basis = Annotated[
    str, "How the evidence relates to the outcome, such as `said next`; empty if the evidence speaks for itself."
]
Score = Annotated[float, {"minimum": 0, "maximum": 1}, "1 is the same; see the guide to scores in the README."]
Resume = Annotated[str | None, "Line for a shell that resumes the session with its own agent; null if there is none."]
SourcePath = Annotated[str, "Empty for a task that was made by hand."]
Warnings = Annotated[tuple[str, ...], {"minItems": 1}, "Remarks on the answer; absent if there is none.", IF_ANY]
AllWarnings = Annotated[tuple[str, ...], "Remarks on the answer."]
OpenMetadata = Annotated[Mapping[str, object], "What the source had besides."]
