"""Define the answers that are a list of values, with or without warnings."""

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pastchats_memory.fields import View, answer
from pastchats_memory.views.plan import add_details
from pastchats_memory.views.to_json import to_json

Row = TypeVar("Row")
ONE = {"minItems": 1, "maxItems": 1}
"""Keywords of a list with one value."""


class _Rows(NamedTuple):
    results: Sequence[object]
    warnings: Sequence[str]


class Listing(Generic[Row]):
    """An answer of values of one class. `view` is the view that describes the answer."""

    def __init__(
        self,
        schema: str,
        title: str,
        row: type[Row],
        *details: object,
        view: type[View] | None = None,
        warnings: Any = None,
    ) -> None:
        """Describe the answer.

        Args:
            schema: its id, such as `lessons/1`; empty for an answer of a tool.
            title: what it is.
            row: class of its values.
            details: description and keywords of the list.
            view: form of the values, if they are not shown as their class says.
            warnings: annotation of the warnings; None if there cannot be any.
        """
        rows = tuple[view or row, ...]  # type: ignore[misc, valid-type] # made here
        annotations: dict[str, Any] = {"results": add_details(rows, details)}
        if warnings is not None:
            annotations["warnings"] = warnings
        fields = {"__doc__": title, "__annotations__": annotations}
        name = f"{schema.partition('/')[0].title()}Body"
        self.view = answer(schema)(type(name, (View,), fields))

    def build(self, results: Sequence[Row], warnings: Sequence[str] = ()) -> dict[str, Any]:
        """Return the JSON object of the answer."""
        return to_json(_Rows(results, warnings), self.view)
