"""Run one call in a thread while the caller goes on."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from pastchats_memory.errors import ModelChanged, ModelUnavailable

Value = TypeVar("Value")


class BackgroundCall(Generic[Value]):
    """A call that runs in a thread; models, NumPy and SQLite all release Python's lock."""

    def __init__(self, call: Callable[[], Value]) -> None:
        self._call = call
        self._results: list[Value] = []
        self._fault: ModelUnavailable | ModelChanged | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._call())
        except (ModelUnavailable, ModelChanged) as fault:
            self._fault = fault

    def result(self) -> Value:
        """Wait for the call and return its result. Raises ModelUnavailable or ModelChanged if the call did."""
        self._thread.join()
        if not self._results:
            raise self._fault or AssertionError("the thread ended with a traceback of its own")
        return self._results[0]
