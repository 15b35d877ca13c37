"""One parameter of a fit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A fitted parameter.

    Attributes
    ----------
    name : str
    value : float
    stderr : float
        Standard error: zero for a parameter that is fixed or at a bound, infinite for one that the data do not determine.
    state : {'free', 'fixed', 'tied', 'at lower bound', 'at upper bound', 'undetermined'}
    """

    name: str
    value: float
    stderr: float
    state: str = "free"

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.6g} ± {self.stderr:.2g}"


@dataclass(frozen=True)
class Estimate:
    """A quantity that is computed from the parameters: its value, standard error and confidence interval."""

    value: float
    stderr: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class Interval:
    """An interval, and what each end is: 'level', 'bound' of the parameter, 'edge' of where the curve is finite, or 'open'."""

    low: float
    high: float
    low_end: str = "level"
    high_end: str = "level"

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.low, self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high
