"""Run onnxruntime silently, without telemetry, on the processor."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def be_discreet() -> None:
    """Switch off the usage reports of model libraries, before they are imported.

    Otherwise onnxruntime from 1.29 on writes a device id into the cache folder and sends usage to its makers.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"


def open_graph(path: Path, *, for_one: bool = False) -> "InferenceSession":
    """Return a graph that is ready to run, on one thread for each call.

    A graph `for_one` call is ready sooner, and runs a little slower. Raises ImportError, OSError, or a fault of onnxruntime.
    """
    be_discreet()
    import numpy  # noqa: F401, ICN001 - onnxruntime would not wait for another thread that imports it
    from onnxruntime import InferenceSession, SessionOptions  # an incomplete package lacks these names

    path.stat()
    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # errors alone: remarks on the graph are for whoever exported it
    if for_one:
        # The weights are used as the file has them, not first copied into the processor's order.
        options.add_session_config_entry("session.disable_prepacking", "1")
    return InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def first_line(fault: BaseException) -> str:
    """Return the first line of a fault's message, or its type."""
    return (str(fault).strip() or type(fault).__name__).splitlines()[0][:200]


def foreign_faults(*further: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the exceptions of the disk, of invalid files and of onnxruntime, once it is loaded; they share no class."""
    state = sys.modules.get("onnxruntime.capi.onnxruntime_pybind11_state")
    named = () if state is None else vars(state).values()
    return (
        *further,
        OSError,
        ValueError,
        *(kind for kind in named if isinstance(kind, type) and issubclass(kind, Exception)),
    )
