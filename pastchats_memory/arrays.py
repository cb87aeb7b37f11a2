"""NumPy, imported when the first array is made, and the kinds of arrays.

A third of the time of a command that makes none would pass with the import.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy  # noqa: ICN001 - mypy exports no other name
    from numpy.typing import NDArray

    np = numpy
    Bools = NDArray[np.bool_]
    Codes = NDArray[np.int8]
    Floats = NDArray[np.float64]
    Ids = NDArray[np.int64]
    Vector = NDArray[np.float32]
else:
    Bools = Codes = Floats = Ids = Vector = Any

    class _NumPy:
        def __getattr__(self, name: str) -> Any:
            import numpy  # noqa: ICN001 - `np` is this object

            value = self.__dict__[name] = getattr(numpy, name)
            return value

    np = _NumPy()
