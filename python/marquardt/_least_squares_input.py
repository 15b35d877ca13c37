"""Input of `least_squares`, and the errors that SciPy raises for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ._scipy import bounds_of

_LOSSES = ("linear", "huber", "soft_l1", "cauchy", "arctan")
_OTHER_LOSSES = ("tukey", "geman_mcclure", "welsch")


def check_choices(method: Any, jac: Any, tr_solver: Any, loss: Any, verbose: Any, max_nfev: Any) -> None:
    if method not in ("trf", "dogbox", "lm"):
        raise ValueError("`method` must be 'trf', 'dogbox' or 'lm'.")
    if not callable(jac) and jac not in ("2-point", "3-point", "cs"):
        raise ValueError("`jac` must be '2-point', '3-point', 'cs' or callable.")
    if tr_solver not in (None, "exact", "lsmr"):
        raise ValueError("`tr_solver` must be None, 'exact' or 'lsmr'.")
    if not callable(loss) and loss not in _LOSSES + _OTHER_LOSSES:
        raise ValueError(f"`loss` must be one of {_LOSSES + _OTHER_LOSSES} or a callable.")
    if method == "lm" and loss != "linear":
        raise ValueError("method='lm' supports only 'linear' loss function.")
    if verbose not in (0, 1, 2):
        raise ValueError("`verbose` must be in [0, 1, 2].")
    if max_nfev is not None and max_nfev <= 0:
        raise ValueError("`max_nfev` must be None or positive integer.")


def checked_bounds(bounds: Any, start: np.ndarray, method: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        lower, upper = bounds_of(bounds, start.size)
    except ValueError as error:
        if "2 elements" in str(error):
            raise
        raise ValueError("Inconsistent shapes between bounds and `x0`.") from None
    if method == "lm" and not ((lower == -np.inf) & (upper == np.inf)).all():
        raise ValueError("Method 'lm' doesn't support bounds.")
    if (lower >= upper).any():
        raise ValueError("Each lower bound must be strictly less than each upper bound.")
    if ((start < lower) | (start > upper)).any():
        raise ValueError("Initial guess is outside of provided bounds")
    return lower, upper


def check_scale(x_scale: Any, start: np.ndarray) -> None:
    if x_scale is None or (isinstance(x_scale, str) and x_scale == "jac"):
        return
    try:
        scale = np.asarray(x_scale, dtype=float)
        is_valid = bool(np.isfinite(scale).all() and (scale > 0).all())
    except (TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise ValueError("`x_scale` must be 'jac' or array_like with positive numbers.")
    if scale.ndim and scale.shape != start.shape:
        raise ValueError("Inconsistent shapes between `x_scale` and `x0`.")


def check_tolerances(ftol: Any, xtol: Any, gtol: Any, method: str) -> None:
    least = np.finfo(float).eps
    given = {"ftol": ftol, "xtol": xtol, "gtol": gtol}
    for name, tolerance in given.items():
        if tolerance is not None and tolerance < least and method == "lm":
            continue
        if tolerance is not None and tolerance < least:
            warnings.warn(
                f"Setting `{name}` below the machine epsilon ({least:.2e}) effectively disables the corresponding "
                "termination condition.",
                stacklevel=4,
            )
    if method == "lm":
        for name, tolerance in given.items():
            if tolerance is None or tolerance < least:
                raise ValueError(
                    f"All tolerances must be higher than machine epsilon ({least:.2e}) for method 'lm'; `{name}` is not."
                )
    elif all(tolerance is None or tolerance < least for tolerance in given.values()):
        raise ValueError(f"At least one of the tolerances must be higher than machine epsilon ({least:.2e}).")


def check_trust_region(tr_solver: Any, tr_options: Any) -> None:
    known = {"regularize", "damp", "atol", "btol", "conlim", "maxiter", "show", "x0"}
    for name in tr_options or {}:
        if tr_solver != "exact" and name not in known:
            raise TypeError(f"least_squares() got an unexpected option of `tr_options`: {name!r}")


def first_residuals(value: Any) -> np.ndarray:
    if value is None:
        raise TypeError("fun returned None instead of an array; is a return missing?")
    if np.iscomplexobj(value):
        raise ValueError("`fun` must return real numbers.")
    first = np.atleast_1d(np.asarray(value, dtype=float))
    if first.ndim > 1:
        raise ValueError(f"`fun` must return at most 1-d array_like. f0.shape: {first.shape}")
    if first.size == 0:
        raise ValueError("`fun` returned no residuals.")
    if not np.isfinite(first).all():
        raise ValueError("Residuals are not finite in the initial point.")
    return first


def loss_of(loss: Any, first: np.ndarray, f_scale: float) -> Any:
    if not callable(loss):
        return loss
    if np.shape(loss((first / f_scale) ** 2)) != (3, first.size):
        raise ValueError("The return value of `loss` callable has wrong shape.")
    return lambda z: np.asarray(loss(z), dtype=float).ravel()


def check_shape(matrix: Any, expected: tuple[int, int]) -> None:
    shape = np.shape(matrix) if not hasattr(matrix, "shape") else matrix.shape
    if shape != expected and np.atleast_2d(matrix).shape != expected:
        raise ValueError(f"The return value of `jac` has wrong shape: expected {expected}, actual {shape}.")


def dense_jacobian(jac: Callable[..., Any], args: Any, keywords: dict[str, Any]) -> Callable[[np.ndarray], Any]:
    def own_jac(x: np.ndarray) -> Any:
        matrix = jac(x, *args, **keywords)
        if hasattr(matrix, "matmat") and not hasattr(matrix, "toarray"):
            # An operator: by its products with unit vectors.
            return matrix.matmat(np.eye(x.size))
        return matrix

    return own_jac


def pattern_of(jac_sparsity: Any, rows: int, columns: int, method: str, tr_solver: Any) -> list[np.ndarray] | None:
    """Columns of the entries of each row, ascending."""
    if jac_sparsity is None:
        return None
    if method == "lm":
        raise ValueError("method='lm' does not support `jac_sparsity`.")
    if tr_solver == "exact":
        raise ValueError("tr_solver='exact' is incompatible with `jac_sparsity`.")
    if hasattr(jac_sparsity, "tocsr"):
        by_rows = jac_sparsity.tocsr()
        shape, made = (
            by_rows.shape,
            [np.unique(by_rows.indices[a:b]) for a, b in zip(by_rows.indptr, by_rows.indptr[1:], strict=False)],
        )
    else:
        dense = np.atleast_2d(jac_sparsity)
        shape, made = dense.shape, [np.flatnonzero(row) for row in dense]
    if shape != (rows, columns):
        raise ValueError("`jac_sparsity` has wrong shape.")
    return made
