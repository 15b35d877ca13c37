"""Functions compiled for many fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _engine
from ._signature import parameter_names
from ._trace import Untraceable, is_trusted, record, second_point


class Compiled:
    """A recorded function with its predictors, for fits to many sets of observations.

    Attributes
    ----------
    names : tuple of str
        Names of the parameters.
    formula : str or None
        The formula, unless it is longer than 10,000 characters.
    """

    def __init__(self, f: Callable[..., Any], x: Any, p0: Any = None) -> None:
        predictors = np.asarray(x, dtype=float) if isinstance(x, list | tuple) else x
        start = None if p0 is None else np.array(p0, dtype=float, ndmin=1)
        self.names = parameter_names(f, None if start is None else start.size)
        start = np.ones(len(self.names)) if start is None else start
        rows = int(np.size(f(predictors, *start)))
        trace = record(f, lambda recorders: (predictors, *recorders), self.names, rows)

        def at(point: np.ndarray) -> Any:
            return f(predictors, *point)

        if not is_trusted(trace.model, trace.matrix, at, [start, second_point(start, None, 0.0123)]):
            raise Untraceable("what was recorded has other values than the function")
        trace.note_sources(predictors)
        self.formula = trace.text()
        self._model, self._matrix, self._rows = trace.model, trace.matrix, rows

    def __call__(self, *parameters: float) -> np.ndarray:
        """The curve."""
        return self._model.evaluate(self._matrix, np.array(parameters, dtype=float))

    def jacobian(self, *parameters: float) -> np.ndarray:
        """Exact derivatives of the curve with respect to the parameters, of shape (rows, parameters)."""
        return self._model.jacobian(self._matrix, np.array(parameters, dtype=float))

    def curve_fit(
        self, y: Any, p0: Any = None, sigma: Any = None, absolute_sigma: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fits to observations.

        Parameters
        ----------
        y : array_like of shape (m,)
        p0 : array_like, optional
            Start; guessed if it is not given.
        sigma : array_like of shape (m,), optional
        absolute_sigma : bool

        Returns
        -------
        popt, pcov : ndarray
            Parameters and their covariance, as from `curve_fit`; entries are infinite for parameters that are not determined.

        Raises
        ------
        RuntimeError
            If no minimum was found.
        """
        options: dict[str, Any] = {}
        if sigma is not None:
            options["sigma"] = np.ascontiguousarray(sigma, dtype=float)
            options["absolute_sigma"] = absolute_sigma
        y = np.ascontiguousarray(y, dtype=float)
        if y.shape != (self._rows,):
            raise ValueError(f"y has shape {y.shape}, but the function has {self._rows} values")
        start = None if p0 is None else list(map(float, p0))
        fitted = _engine.fit(self._model, self._matrix, y, start, options)
        if not fitted.is_converged and fitted.status not in ("flat", "no_progress"):
            raise RuntimeError(f"Optimal parameters not found: {fitted.message}")
        return fitted.values, fitted.covariance


def compile(f: Callable[..., Any], x: Any, p0: Any = None) -> Compiled:
    """Compiles a function for fits to many sets of observations with the same predictors.

    Parameters
    ----------
    f : callable
        Model `f(x, a, b, …)`, which must depend on its arguments only.
    x : array_like
        Predictors.
    p0 : array_like, optional
        Parameters at which the record is compared with the function; ones by default.

    Returns
    -------
    Compiled

    Raises
    ------
    TypeError
        If the function cannot be recorded, with the reason.

    Examples
    --------
    >>> import numpy as np
    >>> from marquardt import compile
    >>> t = np.linspace(0, 4, 9)
    >>> decay = compile(lambda t, a, k: a * np.exp(-k * t), t)
    >>> popt, pcov = decay.curve_fit(3 * np.exp(-0.7 * t), [1, 1])
    >>> popt.round(6)
    array([3. , 0.7])
    """
    return Compiled(f, x, p0)
