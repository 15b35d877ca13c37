"""Programs of random functions have the values that NumPy computes, and derivatives that differences confirm."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.special as sp

from marquardt._trace import Untraceable, record

X = np.linspace(-2.0, 2.5, 13)
UNARY = [
    np.exp, np.sin, np.cos, np.tanh, np.arctan, np.sqrt, np.log, np.abs, np.square, np.cbrt, np.expm1, np.log1p, np.sinh, np.arcsinh,
    np.negative, np.sign, np.floor, np.trunc, np.reciprocal, np.deg2rad, np.sinc, sp.erf, sp.erfc, sp.expit, sp.gammaln, sp.j0, sp.ndtr,
    lambda v: v**3, lambda v: v**0.5, lambda v: 2.0**v, lambda v: np.clip(v, -1, 1), lambda v: np.where(v > 0.3, v, -v),
    lambda v: np.sum([v, 2 * v, 1], axis=0) if np.ndim(v) == 0 else v + 2 * v, lambda v: np.polyval([1, -2, 0.5], v),
]  # fmt: skip
BINARY = [
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.hypot, np.arctan2, np.logaddexp, np.power, np.fmod, np.remainder,
    np.heaviside, sp.xlogy, lambda u, v: np.where(u < v, u, v * 2), lambda u, v: (u >= v) * u + (u != v) * v,
    lambda u, v: np.select([u > v, u < -1], [u, v], default=u - v), lambda u, v: np.where((u > 0) & ~(v > 1) | (u < -1), u, v),
]  # fmt: skip


def random_function(random: np.random.Generator):
    """A function of x and three parameters, from a few random operations."""
    steps = [
        (int(random.integers(3)), int(random.integers(1000)), random.random(2)) for _ in range(random.integers(2, 9))
    ]

    def function(x, a, b, c):
        values = [x, a, b, c, x * x + 1.0, 0.7]
        for kind, choice, (first, second) in steps:
            u, v = values[int(first * len(values))], values[int(second * len(values))]
            values.append(UNARY[choice % len(UNARY)](u) if kind == 0 else BINARY[choice % len(BINARY)](u, v))
        return values[-1] + 0 * x + a * 0

    return function


@pytest.mark.parametrize("seed", range(300))
def test_programs_have_numpys_values(seed: int) -> None:
    random = np.random.default_rng(seed)
    function = random_function(random)
    names = ["a", "b", "c"]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            trace = record(function, lambda parameters: (X, *parameters), names, X.size)
        except Untraceable as untraceable:
            assert any(reason in str(untraceable) for reason in ("fmod", "bits of a parameter")), untraceable
            return
        for _ in range(3):
            at = random.normal(size=3) * 2
            expected = function(X, *at)
            found = trace.model.evaluate(trace.matrix, at)
            # Where a value is beside a jump, rounding errors decide.
            beside = np.isclose(function(X, *(at * (1 + 1e-9))), expected, rtol=1e-5, atol=1e-7, equal_nan=True)
            finite = np.isfinite(expected) & (np.abs(expected) < 1e12) & beside
            np.testing.assert_allclose(
                found[finite], expected[finite], rtol=1e-7, atol=1e-9 * np.abs(expected[finite]).max(initial=1.0)
            )
