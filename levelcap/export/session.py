"""One graph in onnxruntime; whatever that package refuses becomes an error of ours.

No torch, no numba.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from levelcap.kit.errors import BadFile, MissingPackage, refuse

Arrays = dict[str, NDArray[Any]]
AGAIN = "Export the checkpoint again"


class Session:
    """A graph of a bundle, loaded from bytes: it may not ask for other files beside it."""

    def __init__(self, data: bytes, file: str, threads: int) -> None:
        """file: its name, for messages."""
        try:
            import onnxruntime
            from onnxruntime.capi import onnxruntime_pybind11_state as states
        except ImportError as error:
            told = "a bundle needs the package onnxruntime; run: pip install onnxruntime"
            raise MissingPackage(told) from error
        # They have no common class of their own.
        errors = [kind for kind in vars(states).values() if _is_error(kind)]
        self._errors, self.file = (*errors, RuntimeError, ValueError), file
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4  # what is wrong is raised and told once
        try:
            self.session = onnxruntime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except self._errors as error:
            raise self._refused(error, "is no graph") from error
        self._names = [port.name for port in self.session.get_outputs()]

    def run(self, **inputs: NDArray[Any]) -> Arrays:
        """What comes out, by name."""
        try:
            found = self.session.run(self._names, inputs)
        except self._errors as error:
            raise self._refused(error, "cannot be run") from error
        return dict(zip(self._names, found, strict=True))

    def _refused(self, error: Exception, what: str) -> BadFile:
        said = (str(error).splitlines() or [type(error).__name__])[0][:200]
        return BadFile(refuse(f"{self.file} {what} ({said})", self.file, AGAIN))


def _is_error(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Exception)
