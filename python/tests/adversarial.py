"""Functions that a recorder may get wrong. Each has a start at which it can be fitted, and the parameters of its data."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate
import scipy.special
import scipy.stats

X = np.linspace(0.1, 4.0, 40)
FUNCTIONS: dict[str, tuple[Callable[..., Any], list[float], list[float], bool | None]] = {}


def case(
    start: list[float], truth: list[float], traced: bool | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function; `traced` is whether it must be recorded, must not, or either (None)."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS[function.__name__] = (function, start, truth, traced)
        return function

    return register


# Recorded.


@case([1, 1], [2, 0.7], True)
def in_place(x, a, b):
    y = a * x
    y += b
    y *= 2
    y -= np.exp(-b * x)
    return y


@case([1, 1], [2, 0.7], True)
def in_place_of_constant(x, a, b):
    y = np.zeros_like(x)
    y += a * np.exp(-b * x)
    return y


@case([1, 1.5], [2, 1.9], True)
def where_of_parameter(x, a, c):
    return np.where(x > c, a * (x - c) ** 2, 0.0)


@case([1, 1], [2, 0.7], True)
def where_of_x(x, a, b):
    return np.where(x > 2, a * x, b * x + 2 * (a - b))


@case([1, 0.5], [2, 0.7], True)
def clip(x, a, b):
    return np.clip(a * x, None, 3) + b


@case([1, 0.5, 0.1], [2, 0.7, 0.3], True)
def polyval(x, a, b, c):
    return np.polyval([a, b, c], x)


@case([1, 1], [2, 0.7], True)
def loop_of_terms(x, a, b):
    return sum(a * np.exp(-b * k * x) / k for k in range(1, 6))


@case([1, 0.5, 1, 2], [2, 0.7, 3, 2.5], True)
def variadic(x, *p):
    return sum(p[i] * np.exp(-p[i + 1] * x) for i in range(0, len(p), 2))


@case([1, 0.5], [2, 0.7], True)
def array_of_parameters(x, a, b):
    p = np.array([a, b])
    return p[0] * np.exp(-p[1] * x)


@case([1, 1], [2, 0.7], True)
def stack_and_sum(x, a, b):
    return np.sum([a * x, np.sin(b * x)], axis=0)


@case([1, 1], [2, 0.7], True)
def quadrature(x, a, b):
    nodes, weights = np.polynomial.legendre.leggauss(5)
    return np.sum(weights[:, None] * a * np.exp(-b * (nodes[:, None] + 1) * x), axis=0)


@case([1, 0.5], [2, 0.7], True)
def matrix_times_parameters(x, a, b):
    design = np.stack([x, x**2], axis=1)
    return design @ np.array([a, b])


@case([1, 0.5], [2, 0.7], True)
def point_by_point(x, a, b):
    return np.array([a * np.exp(-b * xi) for xi in x])


@case([1, 0.5], [2, 0.7], True)
def special_functions(x, a, b):
    return a * scipy.special.erf(b * x) + scipy.special.expit(x - a) + scipy.special.j0(x * b)


@case([1, 1, 0.5], [2, 2, 0.7], True)
def voigt(x, a, c, g):
    return a * scipy.special.voigt_profile(x - c, 0.5, g)


@case([1, 0.5], [2, 0.7], True)
def hypot_and_atan2(x, a, b):
    return np.hypot(a, x) + np.arctan2(b * x, 1 + x)


@case([1, 0.5], [2, 0.7], True)
def powers(x, a, b):
    return x**a + 2**b + (x + 1) ** -b


@case([1, 0.5], [2, 0.7], True)
def maxima(x, a, b):
    return np.maximum(a * x, 1.0) + np.minimum(b, x)


@case([1, 1.5], [2, 1.9], True)
def piecewise_at_parameter(x, a, c):
    return np.piecewise(x, [x < c, x >= c], [lambda v: a * v, lambda v: a * c + 0 * v])


@case([1, 1.5], [2, 1.9], True)
def select_at_parameter(x, a, c):
    return np.select([x < c, x < 3], [a * x, a * c], default=a * c + x - 3)


@case([1, 1.5], [2, 1.9], True)
def heaviside(x, a, c):
    return a * np.heaviside(x - c, 0.5) * (x - c)


@case([1, 1.5], [2, 1.9], True)
def comparison_as_factor(x, a, c):
    return a * (x > c) * (x - c)


@case([1, 1.5, 3], [2, 1.9, 3.3], True)
def logical_window(x, a, lo, hi):
    return a * np.where((x > lo) & (x < hi), (x - lo) * (hi - x), 0)


@case([1, 0.5], [2, 0.7], True)
def logaddexp(x, a, b):
    return np.logaddexp(a * x, b)


@case([1, 0.5], [2, 0.7], True)
def sinc(x, a, b):
    return a * np.sinc(b * x)


@case([1, 0.5], [2, 0.7], True)
def nested_functions(x, a, b):
    def inner(scale):
        return lambda v: scale * v

    return inner(a)(np.tanh(b * x))


@case([1, 0.5], [2, 0.7], True)
def columns_of_x(x, a, b):
    return a * np.log(x) + b * np.sqrt(x) + np.cumsum(x)


@case([1, 0.5], [2, 0.7], True)
def keyword_defaults(x, a, b, offset=0.5):
    return a * x + b + 0 * offset


@case([1, 0.5], [2, 0.7], True)
def mean_of_terms(x, a, b):
    return np.mean([a * x, b * x**2, a + b + 0 * x], axis=0)


@case([1, 0.5], [2, 0.7], True)
def outer_broadcast(x, a, b):
    rates = np.array([0.5, 1.0, 2.0])
    return (a * np.exp(-b * rates[:, None] * x[None, :])).sum(axis=0)


@case([1, 0.5], [2, 0.7], True)
def floor_of_x(x, a, b):
    return a * np.floor(x) + b * x


@case([1, 0.5], [2, 0.7], True)
def reshaped(x, a, b):
    return (a * x.reshape(-1) + b).ravel()


@case([1, 0.5], [2, 0.7], True)
def float64_numbers(x, a, b):
    return np.float64(3.0) * a * x + np.float32(0.5) * b


@case([1, 0.5], [2, 0.7], True)
def partial_sums(x, a, b):
    return functools.reduce(lambda total, k: total + a * x**k / math.factorial(k), range(4), b)


@case([1, 0.5], [2, 0.7], True)
def decision_on_x(x, a, b):
    return a * x + b if x.max() > 2 else a * x - b


# Called: what they do cannot be recorded.


@case([1, 0.5], [2, 0.7], False)
def decision_on_parameter(x, a, b):
    if a > 0:
        return a * x + b
    return -a * x + b


@case([1, 0.5], [2, 0.7], False)
def math_functions(x, a, b):
    return math.exp(-b) * x * a + b


@case([1, 0.5], [2, 0.7], False)
def converted_to_float(x, a, b):
    return float(a) * x + float(b)


@case([1, 1.5], [2, 1.9], False)
def masked_assignment(x, a, c):
    y = np.zeros_like(x)
    mask = x > c
    y[mask] = a * (x[mask] - c)
    return y


@case([1, 0.5], [2, 0.7], False)
def assignment_by_index(x, a, b):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = a * x[i] + b
    return y


@case([1, 0.5], [2, 0.7], False)
def vectorized(x, a, b):
    return np.vectorize(lambda v: a * math.exp(-b * v))(x)


@case([1, 1.5], [2, 1.9], False)
def normal_density(x, a, c):
    return a * scipy.stats.norm.pdf(x, c, 0.7)


@case([1, 0.5], [2, 0.7], False)
def convolved(x, a, b):
    return np.convolve(a * np.exp(-b * x), np.ones(3) / 3, mode="same")


@case([1, 0.5], [2, 0.7], False)
def interpolated(x, a, b):
    return a * np.interp(b * x, np.linspace(0, 4, 9), np.linspace(0, 4, 9) ** 2)


@case([1, 0.5], [2, 0.7], False)
def cubic_spline(x, a, b):
    return scipy.interpolate.CubicSpline([0, 1, 3, 5], [0, a, b, 1])(x)


@case([1, 0.5], [2, 0.7], False)
def complex_intermediate(x, a, b):
    return np.abs(a / (1 + 1j * b * x))


@case([1, 0.5], [2, 0.7], False)
def cumulative(x, a, b):
    return np.cumsum(a * np.exp(-b * x))


@case([1, 0.5], [2, 0.7], True)
def differences(x, a, b):
    y = a * np.exp(-b * x)
    return np.concatenate([y[1:] - y[:-1], [a + b]])


@case([1, 0.5], [2, 0.7], True)
def two_branches_by_rows(x, a, b):
    half = x.size // 2
    return np.concatenate([a * np.exp(-b * x[:half]), a * np.exp(-b * x[half:])])


@case([1, 0.5], [2, 0.7], False)
def linear_solve(x, a, b):
    return np.linalg.solve([[a + 1, 0.1], [0.1, b + 1]], [1.0, 2.0]) @ np.stack([x, x**2])


@case([1, 0.5], [2, 0.7], True)
def normalised(x, a, b):
    y = np.exp(-b * x)
    return a * y / y.sum()


@case([1, 0.5], [2, 0.7], False)
def euler_integration(x, a, b):
    y, state = np.zeros_like(x), a
    for i in range(len(x)):
        y[i] = state
        state = state - 0.1 * b * state
    return y


@case([1, 0.5], [2, 0.7], False)
def while_loop(x, a, b):
    total, k = b * x**2, 1
    while k < 4 or a * k < -10:
        total, k = total + a * x / k, k + 1
    return total


# Recorded wrongly unless what is recorded is checked.


@case([1, 0.5], [2, 0.7], False)
def type_decides(x, a, b):
    return a * x + b if isinstance(a, float) else a * x - b


@case([1, 0.5], [2, 0.7], False)
def exception_is_caught(x, a, b):
    try:
        return math.exp(-b) * a * x + b
    except TypeError:
        return a * x


@case([1, 0.5], [2, 0.7], False)
def attribute_decides(x, a, b):
    return a * x**2 + b if hasattr(a, "graph") else a * x + b


_calls = itertools.count()


@case([1, 0.5], [2, 0.7], True)
def counts_its_calls(x, a, b):
    next(_calls)
    return a * x + b


@case([1, 0.5], [2, 0.7], False)
def finite_check(x, a, b):
    return a * x + b if np.isfinite(a) else x


@case([1, 0.5], [2, 0.7], False)
def written_to_a_buffer(x, a, b):
    buffer = np.ones_like(x)
    np.multiply(buffer, a, out=buffer)
    return buffer * x + b


@case([1, 0.5], [2, 0.7], None)
def changes_a_global(x, a, b):
    global X_SCALE
    X_SCALE = 1.0
    return X_SCALE * a * x + b


@case([1, 0.5], [2, 0.7], False)
def nan_to_num(x, a, b):
    return np.nan_to_num(a * x + b)


@case([1, 0.5], [2, 0.7], None)
def rounding(x, a, b):
    return np.round(a, 12) * x + b
