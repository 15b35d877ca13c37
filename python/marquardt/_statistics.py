"""Profiles, bootstraps, bands and comparisons of fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._parameter import Interval


@dataclass(frozen=True)
class Profile:
    """Profile of a parameter: the increase of χ² as it is moved and the other parameters are fitted again.

    Attributes
    ----------
    name : str
    interval : Interval
        Interval at the requested level.
    values : ndarray
        Values of the parameter, ascending.
    tau : ndarray
        Signed roots of the increase of χ² divided by the variance; a straight line for a linear curve.
    parameters : ndarray of shape (points, n)
        All parameters at each point.
    """

    name: str
    interval: Interval
    values: np.ndarray
    tau: np.ndarray
    parameters: np.ndarray


@dataclass(frozen=True)
class Bootstrap:
    """Parameters of fits to resampled data.

    Attributes
    ----------
    names : tuple of str
    samples : ndarray of shape (replicates, n)
        Parameters of the replicates that were fitted.
    failed : int
        Number of replicates that could not be fitted.
    """

    names: tuple[str, ...]
    samples: np.ndarray
    failed: int

    @property
    def stderr(self) -> np.ndarray:
        """Standard deviations of the parameters among the replicates."""
        return self.samples.std(axis=0, ddof=1)

    def interval(self, name: str, level: float = 0.95) -> Interval:
        """Percentile interval of a parameter."""
        if name not in self.names:
            raise ValueError(f"there is no parameter {name!r}; there are {', '.join(self.names)}")
        low, high = np.quantile(self.samples[:, self.names.index(name)], [0.5 - level / 2, 0.5 + level / 2])
        return Interval(float(low), float(high))


@dataclass(frozen=True)
class Band:
    """A band about a curve.

    Attributes
    ----------
    value, stderr, low, high : ndarray
        The curve, its standard error, and the ends of the band.
    """

    value: np.ndarray
    stderr: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.low, self.high))


@dataclass(frozen=True)
class Compared:
    """A fit among others to the same data: its AICc, the difference from the best, the Akaike weight, and the BIC."""

    name: str
    aicc: float
    difference: float
    weight: float
    bic: float


class Comparison(tuple[Compared, ...]):
    """Fits to the same data, best first."""

    @property
    def best(self) -> Compared:
        return self[0]

    def __str__(self) -> str:
        width = max(len(fit.name) for fit in self)
        lines = [f"{'':{width}}  {'AICc':>12}  {'difference':>10}  {'weight':>7}  {'BIC':>12}"]
        lines += [
            f"{f.name:{width}}  {f.aicc:12.4f}  {f.difference:10.4f}  {f.weight:7.4f}  {f.bic:12.4f}" for f in self
        ]
        return "\n".join(lines)

    def to_dataframe(self) -> Any:
        """The table as a DataFrame of pandas."""
        import pandas as pd

        return pd.DataFrame([vars(fit) for fit in self]).set_index("name")
