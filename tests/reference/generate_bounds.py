"""NIST's nonlinear-regression sets with bounds that cut off the certified optimum,
and their constrained minima by SciPy.

Writes next to itself:
  bounds.csv              bounds, minimisers and sums of squares

Each case is solved by least_squares(method="trf") with all tolerances at rounding
level, from both of NIST's starts and from the certified values, brought within the
bounds, and with two scalings; the lowest is taken. TRF stays inside the bounds, so
parameters that it leaves next to one are put on it, and the others are solved for
once more by least_squares(method="lm"), without bounds. What comes out must be a
minimum: stationary in the free parameters, with multipliers that point outwards at
the others.

Run with Python 3.11.7, scipy 1.17.1, numpy 2.4.6.
"""

import csv
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

HERE = Path(__file__).resolve().parent
EPSILON = np.finfo(float).eps

# Bounds: parameter (from 1), "<" for an upper and ">" for a lower bound, and the
# bound as a multiple of the certified value.
CASES = {
    "Misra1a": [(1, "<", 0.9)],
    "Misra1b": [(2, ">", 1.1)],
    "BoxBOD": [(2, "<", 0.9)],
    "Chwirut1": [(3, ">", 1.1)],
    "Chwirut2": [(1, "<", 0.9), (3, "<", 1.05)],
    "DanWood": [(2, "<", 0.9)],
    "Eckerle4": [(2, ">", 1.1), (3, "<", 0.999)],
    "Gauss1": [(5, "<", 0.9), (8, ">", 1.1)],
    "Kirby2": [(3, "<", 0.9)],
    "MGH09": [(1, "<", 0.9), (2, ">", 0.1)],
    "MGH17": [(4, ">", 1.1)],
    "Rat42": [(1, "<", 0.9)],
    "Rat43": [(1, "<", 0.98), (4, ">", 1.1)],
    "Roszman1": [(3, "<", 0.9)],
    "Thurber": [(1, ">", 1.001), (7, ">", 1.1)],
}


# --- Data --------------------------------------------------------------------


def load(name):
    """Starts, certified values, predictors and responses."""
    lines = (HERE.parent / "nist" / f"{name}.dat").read_text().splitlines()
    parameters = []
    for line in lines:
        left, _, right = line.strip().partition("=")
        if left.strip()[:1] == "b" and len(right.split()) == 4:
            parameters.append([float(word) for word in right.split()])
    heading = next(i for i, line in enumerate(lines) if line.startswith("Data:") and line.split()[1] == "y")
    rows = []
    for line in lines[heading + 1 :]:
        if not line.split():
            break
        rows.append([float(word) for word in line.split()])
    parameters, rows = np.array(parameters), np.array(rows)
    return parameters[:, :2].T, parameters[:, 2], rows[:, 1], rows[:, 0]


# --- Models: the response and its derivatives, one column a parameter ---------


def misra1a(b, x):
    e = np.exp(-b[1] * x)
    return b[0] * (1 - e), [1 - e, b[0] * x * e]


def misra1b(b, x):
    s = 1 + b[1] * x / 2
    return b[0] * (1 - s**-2), [1 - s**-2, b[0] * x * s**-3]


def chwirut(b, x):
    e, s = np.exp(-b[0] * x), b[1] + b[2] * x
    return e / s, [-x * e / s, -e / s**2, -x * e / s**2]


def dan_wood(b, x):
    p = x ** b[1]
    return b[0] * p, [p, b[0] * p * np.log(x)]


def eckerle4(b, x):
    z = (x - b[2]) / b[1]
    f = b[0] / b[1] * np.exp(-(z**2) / 2)
    return f, [f / b[0], f / b[1] * (z**2 - 1), f * z / b[1]]


def gauss(b, x):
    e = np.exp(-b[1] * x)
    y, columns = b[0] * e, [e, -b[0] * x * e]
    for height, centre, width in (b[2:5], b[5:8]):
        z = (x - centre) / width
        g = np.exp(-(z**2))
        y = y + height * g
        columns += [g, 2 * height * g * z / width, 2 * height * g * z**2 / width]
    return y, columns


def rational(degree):
    """A polynomial over another that starts with one."""

    def model(b, x):
        top, bottom = b[: degree + 1], b[degree + 1 :]
        p = sum(c * x**k for k, c in enumerate(top))
        q = 1 + sum(c * x ** (k + 1) for k, c in enumerate(bottom))
        above = [x**k / q for k in range(len(top))]
        below = [-p * x ** (k + 1) / q**2 for k in range(len(bottom))]
        return p / q, above + below

    return model


def mgh09(b, x):
    p, q = x**2 + b[1] * x, x**2 + b[2] * x + b[3]
    return b[0] * p / q, [p / q, b[0] * x / q, -b[0] * p * x / q**2, -b[0] * p / q**2]


def mgh17(b, x):
    e, f = np.exp(-b[3] * x), np.exp(-b[4] * x)
    return b[0] + b[1] * e + b[2] * f, [np.ones_like(x), e, f, -b[1] * x * e, -b[2] * x * f]


def rat42(b, x):
    e = np.exp(b[1] - b[2] * x)
    s = 1 + e
    return b[0] / s, [1 / s, -b[0] * e / s**2, b[0] * x * e / s**2]


def rat43(b, x):
    e = np.exp(b[1] - b[2] * x)
    s = 1 + e
    f = b[0] * s ** (-1 / b[3])
    slope = f * e / s / b[3]
    return f, [f / b[0], -slope, slope * x, f * np.log(s) / b[3] ** 2]


def roszman1(b, x):
    u = x - b[3]
    square = u**2 + b[2] ** 2
    y = b[0] - b[1] * x - np.arctan(b[2] / u) / np.pi
    return y, [np.ones_like(x), -x, -u / square / np.pi, -b[2] / square / np.pi]


MODELS = {
    "Misra1a": misra1a,
    "Misra1b": misra1b,
    "BoxBOD": misra1a,
    "Chwirut1": chwirut,
    "Chwirut2": chwirut,
    "DanWood": dan_wood,
    "Eckerle4": eckerle4,
    "Gauss1": gauss,
    "Kirby2": rational(2),
    "MGH09": mgh09,
    "MGH17": mgh17,
    "Rat42": rat42,
    "Rat43": rat43,
    "Roszman1": roszman1,
    "Thurber": rational(3),
}


# --- Minima ------------------------------------------------------------------


def solve(name):
    starts, certified, x, y = load(name)
    model = MODELS[name]

    def residuals(b):
        with np.errstate(all="ignore"):
            return model(b, x)[0] - y

    def jacobian(b):
        with np.errstate(all="ignore"):
            return np.stack(model(b, x)[1], axis=1)

    # The derivatives are right: complex steps agree.
    given = jacobian(certified)
    for j in range(len(certified)):
        step = certified.astype(complex)
        step[j] += 1e-30j * abs(certified[j])
        exact = model(step, x)[0].imag / (1e-30 * abs(certified[j]))
        assert np.allclose(given[:, j], exact, rtol=1e-9, atol=1e-12 * abs(exact).max()), (name, j)

    lower, upper = np.full(len(certified), -np.inf), np.full(len(certified), np.inf)
    for parameter, side, factor in CASES[name]:
        (upper if side == "<" else lower)[parameter - 1] = factor * certified[parameter - 1]
    assert not np.all((lower <= certified) & (certified <= upper)), name

    best = None
    for start in (certified, *starts):
        for scale in ("jac", np.abs(certified)):
            try:
                found = least_squares(
                    residuals, np.clip(start, lower, upper), jacobian, (lower, upper), method="trf",
                    ftol=EPSILON, xtol=EPSILON, gtol=EPSILON, x_scale=scale, max_nfev=20000,
                )
            except ValueError:
                continue
            if best is None or found.cost < best.cost:
                best = found
    b = best.x
    at_lower, at_upper = (abs(b - bound) < 1e-4 * abs(certified) for bound in (lower, upper))
    gradient = jacobian(b).T @ residuals(b)
    at_lower, at_upper = at_lower & (gradient > 0), at_upper & (gradient < 0)
    b = np.where(at_lower, lower, np.where(at_upper, upper, b))
    free = ~(at_lower | at_upper)

    def with_free(values):
        whole = b.copy()
        whole[free] = values
        return whole

    for _ in range(3):
        refined = least_squares(
            lambda values: residuals(with_free(values)), b[free], lambda values: jacobian(with_free(values))[:, free],
            method="lm", ftol=EPSILON, xtol=EPSILON, gtol=EPSILON, x_scale="jac", max_nfev=20000,
        )
        b = with_free(refined.x)
    # Cost differences drown in rounding at half the digits; Gauss-Newton steps do not.
    for _ in range(10):
        columns = jacobian(b)[:, free]
        lengths = np.linalg.norm(columns, axis=0)
        b = with_free(b[free] - np.linalg.lstsq(columns / lengths, residuals(b), rcond=None)[0] / lengths)

    r, columns = residuals(b), jacobian(b)
    cosines = columns.T @ r / (np.linalg.norm(columns, axis=0) * np.linalg.norm(r))
    assert np.all((lower <= b) & (b <= upper)), (name, b)
    assert np.all(cosines[at_lower] > 1e-3) and np.all(cosines[at_upper] < -1e-3), (name, cosines)
    residual = abs(cosines[free]).max()
    assert residual < 1e-11, (name, residual)
    held = np.flatnonzero(~free) + 1
    assert len(held) > 0, name
    print(f"{name:10} held {held}, largest free cosine {residual:.1e}, from {best.cost - r @ r / 2:.1e} above")
    return lower, upper, b, r @ r, ~free


def main():
    rows = []
    for name in CASES:
        lower, upper, b, sum_of_squares, held = solve(name)
        for what, values in (
            ("lower", lower),
            ("upper", upper),
            ("x", b),
            ("held", held.astype(float)),
            ("sum_of_squares", [sum_of_squares]),
        ):
            rows += [(name, what, i, repr(float(value))) for i, value in enumerate(values)]
    with open(HERE / "bounds.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("case", "name", "index", "value"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
