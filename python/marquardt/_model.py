"""Models of a fit: functions, formulas and models of the library, with their predictors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _engine
from ._signature import parameter_names, takes_any_number
from ._trace import TRACES, Trace, Untraceable, is_trusted, record, second_point

_NAMES = re.compile(r"\s*\w+(\s*\+\s*\w+)*\s*")


def as_predictors(x: Any) -> tuple[Any, list[str]]:
    """Predictors as functions take them, and their names: an array, or columns by name of a mapping or a DataFrame."""
    if hasattr(x, "columns") and hasattr(x, "to_numpy"):
        return x, [str(name) for name in x.columns]
    if isinstance(x, Mapping):
        return x, [str(name) for name in x]
    if hasattr(x, "to_numpy"):
        x = x.to_numpy()
    try:
        array = np.asarray(x, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"x must be numbers, a mapping of columns, or a DataFrame: {error}") from None
    if array.ndim < 2:
        return np.atleast_1d(array), ["x"]
    return array, [f"x{index}" for index in range(array.shape[0])]


def as_columns(x: Any, names: list[str]) -> np.ndarray:
    """Rows of predictors, of shape (rows, predictors)."""
    if isinstance(x, np.ndarray):
        rows = x[None, :] if x.ndim == 1 else x.reshape(-1, x.shape[-1])
    else:
        rows = np.stack([np.asarray(x[name], dtype=float) for name in (list(x) if isinstance(x, Mapping) else names)])
    return np.ascontiguousarray(rows.T, dtype=float)


class ModelOfText:
    """A formula, or a model of the library by its name."""

    function = None
    why_not_traced = None

    def __init__(self, text: str, predictors: list[str]) -> None:
        self.text, self.predictors = text, predictors
        terms = [term.strip() for term in text.split("+")]
        known = _engine.Model.names()
        if all(term in known for term in terms) or text in ("competitive_inhibition", "uncompetitive_inhibition",
                                                            "noncompetitive_inhibition", "mixed_inhibition"):  # fmt: skip
            self.engine = _engine.Model.named(text)
        elif _NAMES.fullmatch(text) and not any(term in predictors or _is_number(term) for term in terms):
            # Words alone: names of models, one of them unknown. The engine says which, and what is near.
            self.engine = _engine.Model.named(text)
        else:
            self.engine = _engine.Model.formula(text, predictors)
            if not set(predictors) & set(re.findall(r"\w+", text)):
                raise ValueError(
                    f"the formula {text!r} has no predictor in it: x is called {' and '.join(predictors)}, and columns of a mapping, "
                    "as in x={'t': t}, by their names"
                )
        self.names = tuple(self.engine.parameters)

    @property
    def formula(self) -> str:
        return self.engine.text or self.text

    def matrix_for(self, x: Any) -> np.ndarray:
        matrix = as_columns(x, self.predictors)
        if matrix.shape[1] < self.engine.width:
            raise ValueError(f"x has {matrix.shape[1]} columns, but {self.text!r} takes {self.engine.width}")
        return matrix

    def predict(self, x: Any, at: np.ndarray) -> np.ndarray:
        return self.engine.evaluate(self.matrix_for(x), at)

    def check_end(self, at: np.ndarray) -> bool:
        return True


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class ModelOfFunction:
    """A function `f(x, *parameters)`: as a program where it can be recorded, or called where it cannot."""

    def __init__(
        self,
        function: Callable[..., Any],
        x: Any,
        rows: int,
        names: tuple[str, ...],
        start: np.ndarray,
        bounds: tuple[np.ndarray, np.ndarray] | None,
        jac: Any,
        is_traced: bool = True,
    ) -> None:
        self.function, self.x, self.rows, self.names, self.jac = function, x, rows, names, jac
        self.trace: Trace | None = None
        self.why_not_traced: str | None = None
        if callable(jac):
            self.why_not_traced = "derivatives were given"
        elif not is_traced:
            self.why_not_traced = "the program has other values than the function where the fit ended"
        else:
            try:
                self.trace, self.matrix = TRACES.find(function, x, names, rows, start, bounds)
                self.engine = self.trace.model
                return
            except Untraceable as untraceable:
                self.why_not_traced = str(untraceable)
        is_own = callable(jac)
        self.engine = _engine.Model.callable(
            function, x, rows, list(names), jac if is_own else None, "2-point" if is_own or jac is None else jac
        )
        self.matrix = np.arange(float(rows)).reshape(rows, 1)

    @property
    def formula(self) -> str | None:
        return self.trace.text() if self.trace is not None else None

    def check_end(self, at: np.ndarray) -> bool:
        """The program has the values of the function where the fit has ended."""
        if self.trace is None or not np.isfinite(at).all():
            return True
        function, x = self.function, self.x
        return is_trusted(self.engine, self.matrix, lambda point: function(x, *point), [at])

    def predict(self, x: Any, at: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(x, *at), dtype=float)

    def matrix_for(self, x: Any) -> np.ndarray | None:
        """Columns of the program for other predictors; `None` if it is not for them, or there is none."""
        if self.trace is None:
            return None
        rows = np.shape(x)[-1] if np.ndim(x) else 1
        matrix = self.trace.matrix_at(x, rows)
        if matrix is not None:
            return matrix
        function = self.function
        try:
            other = record(function, lambda recorders: (x, *recorders), self.names, rows)
        except Untraceable:
            return None
        return other.matrix if other.nodes == self.trace.nodes else None

    def jacobian(self, x: Any, at: np.ndarray) -> np.ndarray:
        """Derivatives of the function at other predictors, by central differences."""
        steps = np.cbrt(np.finfo(float).eps) * np.where(at == 0.0, 1.0, np.abs(at))
        columns = [(self.predict(x, at + step) - self.predict(x, at - step)).ravel() for step in np.diag(steps)]
        return np.stack(columns, axis=1) / (2.0 * steps)


Model = ModelOfText | ModelOfFunction


def model_of(
    f: Any, x: Any, rows: int, predictors: list[str], p0: Any, bounds: Any, jac: Any, is_traced: bool = True
) -> tuple[Model, np.ndarray | None]:
    """The model, and the start if there is one."""
    if isinstance(f, str):
        text = ModelOfText(f, predictors)
        return text, _start(p0, text.names)
    if not callable(f):
        raise TypeError(f"f must be a function, a formula, or the name of a model, not {type(f).__name__}")
    count = None if p0 is None or isinstance(p0, Mapping) else np.size(p0)
    names = parameter_names(f, count)
    if names and names[-1] == f"p{len(names) - 1}" and not takes_any_number(f):
        own = parameter_names(f, None)
        raise ValueError(f"p0 has {count} values for {len(own)} parameters: {', '.join(own)}")
    start = _start(p0, names)
    point = np.ones(len(names)) if start is None else start
    pair = bounds(names) if bounds is not None else None
    if pair is not None and start is None:
        point = np.clip(point, *pair)
    return ModelOfFunction(f, x, rows, names, point, pair, jac, is_traced), start


def _start(p0: Any, names: tuple[str, ...]) -> np.ndarray | None:
    if p0 is None or isinstance(p0, Mapping):
        return None
    try:
        start = np.array(p0, dtype=float, ndmin=1)
    except (TypeError, ValueError) as error:
        raise TypeError(f"p0 must be numbers, or a mapping of names to numbers: {error}") from None
    if start.shape != (len(names),):
        raise ValueError(f"p0 has {start.size} values for {len(names)} parameters: {', '.join(names)}")
    return start


__all__ = ["Model", "ModelOfFunction", "ModelOfText", "as_columns", "as_predictors", "model_of", "second_point"]
