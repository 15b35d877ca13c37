"""Traces of functions that were recorded before."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .graph import Untraceable
from .trace import STEPS, Trace, is_trusted, record, second_point

#: Bytes up to which arrays are compared by copies, which takes less time than NumPy's comparison.
FEW_BYTES = 65_536
#: Traces that are kept for a function, by number of rows and predictors.
KEPT = 4


class Entry:
    """A trace of a function with the predictors that it was recorded for, or the reason for which there is none."""

    def __init__(self, rows: int, names: tuple[str, ...], x: Any, trace: Trace | None, reason: str | None) -> None:
        self.rows, self.names, self.trace, self.reason = rows, names, trace, reason
        # A copy, as the array may be written to.
        self.x = x.copy() if _is_numbers(x) else None

    def matrix_for(self, x: Any, rows: int, names: tuple[str, ...]) -> np.ndarray | None:
        """The columns of the trace for these predictors; `None` if it is not for them."""
        if names != self.names or self.trace is None:
            return None
        if rows == self.rows and self._is_of(x):
            return self.trace.matrix
        return self.trace.matrix_at(x, rows)

    def refuses(self, x: Any, rows: int, names: tuple[str, ...]) -> bool:
        """The function could not be recorded with these predictors."""
        is_same = self.trace is None and rows == self.rows and names == self.names
        return is_same and self._is_of(x)

    def _is_of(self, x: Any) -> bool:
        """These are the predictors of the trace. In a large array, NaN differs from itself, so that it is recorded again."""
        own = self.x
        if own is None or not _is_numbers(x) or x.shape != own.shape or x.dtype != own.dtype:
            return False
        return x.tobytes() == own.tobytes() if own.nbytes <= FEW_BYTES else bool((x == own).all())


def _is_numbers(x: Any) -> bool:
    """An array of real numbers."""
    return type(x) is np.ndarray and x.dtype.kind in "fiu"


class TraceCache:
    """Traces by function. A function that is no longer there takes its traces along."""

    def __init__(self) -> None:
        self._entries: weakref.WeakKeyDictionary[Any, list[Entry]] = weakref.WeakKeyDictionary()

    def find(
        self,
        function: Callable[..., Any],
        x: Any,
        names: tuple[str, ...],
        rows: int,
        start: np.ndarray,
        bounds: tuple[np.ndarray, np.ndarray] | None = None,
        is_checked_later: bool = False,
    ) -> tuple[Trace, np.ndarray]:
        """A trace of `function(x, *parameters)` that has its values, and its columns.

        Where the caller compares a fit with the function where it ends, a trace that was made of the same predictors is not compared here.

        Raises
        ------
        Untraceable
            With the reason for which there is none.
        """
        entries = self._of(function)

        def at(point: np.ndarray) -> Any:
            return function(x, *point)

        for entry in entries:
            if entry.refuses(x, rows, names):
                raise Untraceable(entry.reason)
            matrix = entry.matrix_for(x, rows, names)
            if matrix is None or entry.trace is None:
                continue
            points = [start]
            if matrix is not entry.trace.matrix:
                points.append(second_point(start, bounds, STEPS[0]))
            elif is_checked_later:
                return entry.trace, matrix
            if is_trusted(entry.trace.model, matrix, at, points):
                return entry.trace, matrix
        trace, reason = None, None
        try:
            if not np.isfinite(start).all():
                raise Untraceable("the start is not finite")
            trace = record(function, lambda recorders: (x, *recorders), names, rows)
            if not _is_trusted_beside(trace, at, start, bounds):
                trace, reason = None, "what was recorded has other values than the function"
        except Untraceable as untraceable:
            reason = str(untraceable)
        if trace is not None:
            trace.note_sources(x)
        entries.insert(0, Entry(rows, names, x, trace, reason))
        del entries[KEPT:]
        if trace is None:
            raise Untraceable(reason)
        return trace, trace.matrix

    def forget(self, function: Callable[..., Any]) -> None:
        """Forgets the traces of a function, which has other values now."""
        self._of(function).clear()

    def refuse(self, function: Callable[..., Any], x: Any, names: tuple[str, ...], rows: int, reason: str) -> None:
        """Notes that a function is not recorded with these predictors, for this reason."""
        self.forget(function)
        self._of(function).append(Entry(rows, names, x, None, reason))

    def _of(self, function: Callable[..., Any]) -> list[Entry]:
        try:
            return self._entries.setdefault(function, [])
        except TypeError:
            # No weak reference is taken of it, or it has no hash.
            return []


def _is_trusted_beside(trace: Trace, at: Callable[[np.ndarray], Any], start: np.ndarray, bounds: Any) -> bool:
    return any(is_trusted(trace.model, trace.matrix, at, [start, second_point(start, bounds, step)]) for step in STEPS)


TRACES = TraceCache()
