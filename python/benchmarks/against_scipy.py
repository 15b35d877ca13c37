"""Times of fits beside SciPy's, in one process: processor time in milliseconds, the best of several rounds.

    OMP_NUM_THREADS=1 python benchmarks/against_scipy.py

The package has to be installed from a release build (`pip install ./python`)."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.optimize

import marquardt

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from nist import load

RANDOM = np.random.default_rng(0)


def time_of(work: Callable[[], Any], seconds: float = 0.5) -> float:
    """Processor time of a call, in milliseconds."""
    work()
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun, count = time.process_time_ns(), 0
        while count == 0 or time.process_time_ns() - begun < 20e6:
            work()
            count += 1
        best = min(best, (time.process_time_ns() - begun) / count)
    return best / 1e6


def small_fits() -> None:
    print(f"{'':10}{'SciPy':>9}{'drop-in':>9}{'first':>9}{'called':>9}{'fit()':>9}{'compiled':>9}")
    for name in ("Misra1a", "Gauss1", "Thurber", "ENSO"):
        dataset = load(name)
        f, x, y, start = dataset.model, dataset.x, dataset.y, dataset.starts[1]

        def hidden(x, *b, f=f):
            return f(x, *(float(value) for value in b))

        def first(f=f, x=x, y=y, start=start):
            # A function that was not seen before.
            marquardt.curve_fit(lambda x, *b: f(x, *b), x, y, start)

        compiled = marquardt.compile(f, x, start)
        times = [
            time_of(lambda: scipy.optimize.curve_fit(f, x, y, start, maxfev=10_000)),
            time_of(lambda: marquardt.curve_fit(f, x, y, start)),
            time_of(first),
            time_of(lambda: marquardt.curve_fit(hidden, x, y, start)),
            time_of(lambda: marquardt.fit(f, x, y, start)),
            time_of(lambda: compiled.curve_fit(y, start)),
        ]
        print(f"{name:10}" + "".join(f"{one:9.4f}" for one in times))


def long_data() -> None:
    x = np.linspace(0, 10, 100_000)
    for f, start, truth in [
        (lambda x, a, b: a * np.exp(-b * x), [1, 1], [3, 0.5]),
        (lambda x, a, b, c: a * np.exp(-b * x) + c, [1, 1, 0], [3, 0.5, 1]),
        (lambda x, a, b, c, d: a / (1 + np.exp(-(x - b) / c)) + d, [1, 4, 1, 0], [3, 5, 0.7, 1]),
        (load("Gauss1").model, [90, 0.5, 50, 3, 1, 40, 7, 1], [98, 0.4, 60, 3.2, 1.1, 42, 7.2, 0.9]),
    ]:
        y = f(x, *truth) + 0.1 * RANDOM.normal(size=x.size)
        ours = time_of(lambda: marquardt.curve_fit(f, x, y, start), 1.5)
        theirs = time_of(lambda: scipy.optimize.curve_fit(f, x, y, start), 1.5)
        print(f"100,000 points, {len(start)} parameters: SciPy {theirs:.1f}, drop-in {ours:.1f}")


def many_fits() -> None:
    t = np.linspace(0, 5, 64)
    y = 3 * np.exp(-RANDOM.uniform(0.3, 2, (10_000, 1)) * t) + 0.01 * RANDOM.normal(size=(10_000, 64))

    def decay(t, a, k):
        return a * np.exp(-k * t)

    loop = 10 * time_of(lambda: [scipy.optimize.curve_fit(decay, t, row, [1, 1]) for row in y[:1000]], 0.1)
    for kind in (np.float64, np.float32):
        rows = y.astype(kind)
        ours = time_of(lambda: marquardt.fit_many(decay, t, rows, [1, 1]))
        print(f"10,000 fits of 64 points, {kind.__name__}: SciPy in a loop {loop:.0f}, fit_many {ours:.1f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    small_fits()
    long_data()
    many_fits()
