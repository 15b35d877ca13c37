"""Options of fits, checked and in the form that the engine takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._scipy import bounds_of


def named(value: Any, names: tuple[str, ...], option: str) -> dict[str, Any]:
    """Checks that all keys of a mapping are names of parameters."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{option} must be a mapping of names to values, not {type(value).__name__}")
    for name in value:
        if name not in names:
            raise ValueError(f"{option}: there is no parameter {name!r}; there are {', '.join(names)}")
    return dict(value)


def bounds_by_name(bounds: Any, names: tuple[str, ...]) -> list[tuple[str, float, float]]:
    """Bounds that are finite on a side: name, lower and upper."""
    if isinstance(bounds, Mapping):
        pairs = []
        for name, pair in named(bounds, names, "bounds").items():
            try:
                low, high = pair
            except (TypeError, ValueError):
                raise ValueError(f"bounds[{name!r}] must be a lower and an upper bound, not {pair!r}") from None
            pairs.append((name, -np.inf if low is None else float(low), np.inf if high is None else float(high)))
    else:
        lower, upper = bounds_of(bounds, len(names))
        pairs = [(name, float(low), float(high)) for name, low, high in zip(names, lower, upper, strict=True)]
    for name, low, high in pairs:
        if np.isnan(low) or np.isnan(high) or low >= high:
            raise ValueError(f"bounds[{name!r}]: the lower bound {low} is not below the upper bound {high}")
    return [pair for pair in pairs if pair[1] > -np.inf or pair[2] < np.inf]


def bound_arrays(bounds: Any, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of all parameters."""
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for name, low, high in bounds_by_name(bounds, names):
        lower[names.index(name)], upper[names.index(name)] = low, high
    return lower, upper


def fixed_by_name(fixed: Any, names: tuple[str, ...]) -> list[tuple[str, float | None]]:
    """Fixed parameters: the name, and the value unless it is the start."""
    if isinstance(fixed, str):
        fixed = [fixed]
    if not isinstance(fixed, Iterable):
        raise TypeError(
            f"fixed must be names of parameters, or a mapping of names to values, not {type(fixed).__name__}"
        )
    if not isinstance(fixed, Mapping):
        fixed = dict.fromkeys(fixed)
    return [(name, None if value is None else float(value)) for name, value in named(fixed, names, "fixed").items()]


def texts_by_name(texts: Any, option: str) -> list[tuple[str, str]]:
    """Formulas by name, of ties and derived quantities."""
    if not isinstance(texts, Mapping):
        raise TypeError(f"{option} must be a mapping of names to formulas, not {type(texts).__name__}")
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"{option}[{name!r}] must be a formula, such as '1 - a', not {type(text).__name__}")
    return list(texts.items())


def priors_by_name(priors: Any, names: tuple[str, ...]) -> list[tuple[str, float, float]]:
    """Gaussian priors: name, mean and standard deviation."""
    made = []
    for name, pair in named(priors, names, "priors").items():
        try:
            mean, deviation = pair
        except (TypeError, ValueError):
            raise ValueError(f"priors[{name!r}] must be a mean and a standard deviation, not {pair!r}") from None
        made.append((name, float(mean), float(deviation)))
    return made


def array(value: Any, name: str, dimensions: tuple[int, ...] = (1,)) -> np.ndarray:
    """An array of floats with one of these numbers of dimensions."""
    if value is None:
        raise TypeError(f"{name} is None")
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if np.iscomplexobj(value):
        raise TypeError(f"{name} must be real numbers; fit real and imaginary parts")
    try:
        made = np.ascontiguousarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers: {error}") from None
    if made.ndim not in dimensions:
        raise ValueError(f"{name} has {made.ndim} dimensions, not {' or '.join(map(str, dimensions))}")
    return made


def threads(n_jobs: Any) -> int:
    """Number of threads; 0, None and -1 stand for one thread per core."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if not isinstance(n_jobs, int | np.integer) or n_jobs < 0:
        raise ValueError(f"n_jobs must be a number of threads, or -1 for one to a core, not {n_jobs!r}")
    return int(n_jobs)


def seed_of(seed: Any) -> int:
    """A seed, which is not negative."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be an integer from 0 on, not {seed!r}")
    return int(seed)


def strings(value: Any, name: str) -> list[str]:
    """Texts, or a single one."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable) or not all(isinstance(text, str) for text in value):
        raise TypeError(f"{name} must be texts, such as 'a <= b'")
    return list(value)


def engine_options(
    names: tuple[str, ...],
    rows: int,
    *,
    p0: Any = None,
    fixed: Any = None,
    ties: Any = None,
    priors: Any = None,
    bounds: Any = None,
    constraints: Any = None,
    loss: str | None = None,
    f_scale: float | None = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    sigma_x: Any = None,
    counts: bool = False,
    weights: Any = None,
    mask: Any = None,
    derive: Any = None,
    nan_policy: str = "raise",
    retry: bool = True,
    max_nfev: int | None = None,
) -> dict[str, Any]:
    """The dictionary of the engine, with the options that were given."""
    options: dict[str, Any] = {}
    if isinstance(p0, Mapping):
        options["starts"] = [(name, float(value)) for name, value in named(p0, names, "p0").items()]
    if fixed is not None:
        options["fixed"] = fixed_by_name(fixed, names)
    if ties is not None:
        options["ties"] = texts_by_name(named(ties, names, "ties"), "ties")
    if derive is not None:
        options["derive"] = texts_by_name(derive, "derive")
    if priors is not None:
        options["priors"] = priors_by_name(priors, names)
    if bounds is not None:
        free = {name for option in ("fixed", "ties") for name, _ in options.get(option, [])}
        options["bounds"] = [bound for bound in bounds_by_name(bounds, names) if bound[0] not in free]
    if constraints is not None:
        options["constraints"] = strings(constraints, "constraints")
    if loss is not None and loss != "linear":
        options["loss"] = str(loss)
    if f_scale is not None:
        options["f_scale"] = float(f_scale)
    if sigma is not None:
        made = array(sigma, "sigma", (0, 1, 2))
        if made.ndim == 2:
            options["covariance"] = made
        else:
            options["sigma"] = np.full(rows, made.ravel()[0]) if made.size == 1 else made
    if absolute_sigma:
        options["absolute_sigma"] = True
    if sigma_x is not None:
        made = array(sigma_x, "sigma_x", (0, 1, 2))
        options["sigma_x"] = made.reshape(-1, 1) if made.ndim < 2 else np.ascontiguousarray(made.T)
    if weights is not None:
        options["weights"] = array(weights, "weights")
    if mask is not None:
        options["mask"] = np.asarray(mask, dtype=bool).tolist()
    if counts:
        options["counts"] = True
    if nan_policy not in ("raise", "omit"):
        raise ValueError(f"nan_policy must be 'raise' or 'omit', not {nan_policy!r}")
    if nan_policy == "omit":
        options["omit_nan"] = True
    if not retry:
        options["retry"] = False
    if max_nfev is not None:
        options["max_evaluations"] = int(max_nfev)
    return options
