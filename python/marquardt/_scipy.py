"""Classes of SciPy that users meet, from SciPy where it has been imported."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


class OptimizeWarning(UserWarning):
    """Warning about the result of a fit; SciPy's own where SciPy has been imported."""


class OptimizeResult(dict[str, Any]):
    """Result of `least_squares`: a dictionary whose entries are attributes, too; SciPy's own where SciPy has been imported."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__  # type: ignore[assignment]
    __delattr__ = dict.__delitem__  # type: ignore[assignment]

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:>{width}}: {value!r}" for name, value in self.items())

    def __dir__(self) -> list[str]:
        return list(self)


def warning_class() -> type[Warning]:
    """SciPy's `OptimizeWarning` if SciPy has been imported, otherwise that of this package."""
    optimize = sys.modules.get("scipy.optimize")
    return getattr(optimize, "OptimizeWarning", OptimizeWarning)


def result_class() -> type[Any]:
    """SciPy's `OptimizeResult` if SciPy has been imported, otherwise that of this package."""
    optimize = sys.modules.get("scipy.optimize")
    return getattr(optimize, "OptimizeResult", OptimizeResult)


def bounds_of(bounds: Any, count: int) -> tuple[Any, Any]:
    """Lower and upper bounds of `count` parameters, given a pair or an object with `lb` and `ub`, as SciPy's `Bounds` is."""
    pair: tuple[Any, ...] = ()
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        pair = (bounds.lb, bounds.ub)
    elif hasattr(bounds, "__iter__"):
        pair = tuple(bounds)
        if len(pair) != 2:
            raise ValueError("`bounds` must contain 2 elements.")
    made = []
    for side in pair:
        array = np.asarray(side, dtype=float)
        made.append(np.resize(array, count) if array.ndim == 0 else array)
    if any(side.shape != (count,) for side in made):
        raise ValueError(f"`bounds` must be two numbers or two arrays of {count} elements.")
    return made[0], made[1]
