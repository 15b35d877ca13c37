"""Minima within bounds of small chains of parameter blocks, by SciPy: writes graph_bounds.csv, which tests/solver/graph_bounds.rs reads.

Each problem follows from its seed, by the same formulas there.
"""
import pathlib

import numpy as np
import scipy
from scipy.optimize import least_squares


def numbers(seed):
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 11) / 2.0**53


def problem(seed):
    draw = numbers(seed)
    for _ in range(4):
        next(draw)
    blocks = 3 + seed % 6
    links = [[4 * next(draw) - 2 for _ in range(4)] for _ in range(blocks - 1)]
    pulls = [[next(draw) + 0.2, 4 * next(draw) - 2, 4 * next(draw) - 2] for _ in range(blocks)]
    lower, upper, start = [], [], []
    for _ in range(2 * blocks):
        kind, low, width, place = (next(draw) for _ in range(4))
        low, high = low - 1, low - 1 + width
        lower.append(low if kind < 0.6 else -np.inf)
        upper.append(high if kind > 0.3 else np.inf)
        start.append(low + place * (high - low))

    def residuals(x):
        r = []
        for i, (a, b, c, d) in enumerate(links):
            x0, x1, y0, y1 = x[2 * i : 2 * i + 4]
            r += [a * (x0 - y1) + 0.5 * np.sin(b * x1) - c, 0.3 * x1 * y0 + y0 - d]
        for i, (w, m0, m1) in enumerate(pulls):
            r += [w * (x[2 * i] - m0), w * (x[2 * i + 1] - m1)]
        return np.array(r)

    return residuals, lower, upper, start


def main():
    lines = [f"# seed, minimum of half the sum of squares; scipy {scipy.__version__}"]
    for seed in range(1, 41):
        residuals, lower, upper, start = problem(seed)
        found = [
            least_squares(residuals, start, "3-point", (lower, upper), method, 1e-15, 1e-15, 1e-15, max_nfev=10000)
            for method in ("trf", "dogbox")
        ]
        lines.append(f"{seed},{min(end.cost for end in found):.17g}")
    pathlib.Path(__file__).with_name("graph_bounds.csv").write_text("\n".join(lines) + "\n")


main()
