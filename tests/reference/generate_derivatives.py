"""First and second derivatives of the elementary functions, of powers, angles and
hypotenuses, of robust losses, and of activations, by mpmath.

Writes next to itself:
  derivatives.csv         function, arguments x and y, first and second derivatives
                          by each; y is empty for functions of one argument

Arguments are doubles; those that are singles, too, serve both precisions. They reach
to the ends of each function's domain, where its value is finite: tiny and huge
numbers, the sides of poles and branch points, tails that underflow. Derivatives are
computed from closed forms in 1,200 digits or from mpmath's own functions in 60,
checked against mpmath's numerical differentiation where that works, and rounded to
the nearest double once.

Run with Python 3.11.7, mpmath 1.3.0.
"""

import csv
import struct
from pathlib import Path

from mpmath import mp, mpf
import mpmath

HERE = Path(__file__).resolve().parent
mp.dps = 60

pi, ln2, ln10 = mp.pi, mp.ln(2), mp.ln(10)


# --- Arguments ---------------------------------------------------------------


def single(x):
    """The nearest number in single precision; None where that is infinite or zero."""
    try:
        nearest = struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return None
    return nearest if nearest or not x else None


def with_singles(points):
    """Each point, and the nearest single."""
    points = [point for x in points for point in (x, single(x)) if point is not None]
    return sorted(set(points))


def both_signs(points):
    """The points, and every third with the other sign: most functions are even or odd."""
    return points + [-x for x in points[::3]]


def beside(x, sizes, side=1):
    """Numbers at these distances from x."""
    return [x + side * size for size in sizes]


SMALL = [5e-324, 3e-310, 1e-300, 1e-160, 1e-100, 1e-44, 3e-39, 1e-30, 1e-17, 1e-8, 1e-5, 1e-3]
MIDDLE = [0.01, 0.1, 0.3, 0.49, 0.51, 0.7, 0.9, 0.97, 1.0, 1.1, 1.5, 2.0, 2.7, 4.2, 7.3]
LARGE = [10.0, 15.0, 19.3, 37.0, 100.0, 1e3, 1e5]
HUGE = [1e8, 1e12, 1e17, 1e19, 1e25, 1e37, 1e77, 1e104, 1e120, 1e154, 1e160, 1e200, 1e300, 1.7e308]
POSITIVE = SMALL + MIDDLE + LARGE + HUGE
DISTANCES = [2.0**-52, 2.0**-40, 2.0**-23, 2.0**-15, 1e-3, 0.03]
BELOW_ONE = SMALL + [0.01, 0.1, 0.3, 0.49, 0.51, 0.7, 0.9] + beside(1.0, DISTANCES, -1)
EXPONENTS = both_signs(SMALL + MIDDLE + [10.0, 19.3, 37.0, 60.0, 80.0, 87.0, 88.5, 100.0, 350.0, 700.0, 709.5])
BELOW_EXPONENTS = [-15.0, -37.0, -40.0, -87.0, -95.0, -102.5, -350.0, -700.0, -720.0, -744.0, -800.0, -1e5]
TURNS = both_signs(SMALL + MIDDLE + [10.0, 100.0, 1e3, 1e5, 1e8, 1e17])
TAILS = [8.8, 9.2, 9.3, 10.0, 12.0, 18.0, 19.0, 20.0, 25.0, 26.4, 26.7, 27.2, 30.0, 43.0, 50.0, 52.0, 60.0, 354.0, 356.0, 370.0]
ORDERS = [0.01, 0.1, 0.3, 0.7, 1.0, 1.1, 1.4, 1.461, 1.4616321449683623, 1.4625, 1.6, 2.0, 2.7, 5.0, 9.3, 11.9, 12.1, 15.0, 25.0]


# --- Functions of one argument: grid, first and second derivative -------------


def sech(x):
    return 1 / mp.cosh(x)


def normal(x):
    return 2 / mp.sqrt(pi) * mp.exp(-x * x)


def asin(x):
    return 1 / mp.sqrt(1 - x * x), x / (1 - x * x) ** mpf(1.5)


def asinh(x):
    return 1 / mp.sqrt(1 + x * x), -x / (1 + x * x) ** mpf(1.5)


def acosh(x):
    return 1 / mp.sqrt(x * x - 1), -x / (x * x - 1) ** mpf(1.5)


def negative(pair):
    return tuple(-number for number in pair)


def gamma(x):
    psi, psi1 = mp.digamma(x), mp.psi(1, x)
    return mp.gamma(x) * psi, mp.gamma(x) * (psi * psi + psi1)


def j1(x):
    slope = (mp.besselj(0, x) - mp.besselj(2, x)) / 2
    return slope, (mp.besselj(3, x) - 3 * mp.besselj(1, x)) / 4


POLES = [-0.7, -1.3, -2.4, -5.6, -20.3, -2.0 + 2.0**-20, -3.0 - 2.0**-21, -1e-3, -1e-10, -1e-30]

FUNCTIONS = {
    "recip": (both_signs(POSITIVE), lambda x: (-1 / x**2, 2 / x**3)),
    "sqrt": (POSITIVE, lambda x: (1 / (2 * mp.sqrt(x)), -1 / (4 * x * mp.sqrt(x)))),
    "cbrt": (both_signs(POSITIVE), lambda x: (mp.cbrt(abs(x)) / (3 * abs(x)), -2 * mp.cbrt(abs(x)) / (9 * x * abs(x)))),
    "exp": (EXPONENTS + BELOW_EXPONENTS, lambda x: (mp.exp(x), mp.exp(x))),
    "exp2": (
        EXPONENTS + BELOW_EXPONENTS + [-126.5, -140.0, -1022.5, -1070.0, 1023.9],
        lambda x: (ln2 * 2**x, ln2**2 * 2**x),
    ),
    "exp_m1": (EXPONENTS + BELOW_EXPONENTS, lambda x: (mp.exp(x), mp.exp(x))),
    "ln": (POSITIVE, lambda x: (1 / x, -1 / x**2)),
    "ln_1p": (
        both_signs(SMALL) + MIDDLE + LARGE + HUGE + [-0.01, -0.3, -0.7, -0.9] + beside(-1.0, DISTANCES + [2.0**-53, 2.0**-24]),
        lambda x: (1 / (1 + x), -1 / (1 + x) ** 2),
    ),
    "log2": (POSITIVE, lambda x: (1 / (ln2 * x), -1 / (ln2 * x**2))),
    "log10": (POSITIVE, lambda x: (1 / (ln10 * x), -1 / (ln10 * x**2))),
    "sin": (TURNS, lambda x: (mp.cos(x), -mp.sin(x))),
    "cos": (TURNS, lambda x: (-mp.sin(x), -mp.cos(x))),
    "tan": (
        TURNS + both_signs([1.57, 1.5707963267948966, 4.71238898038469]),
        lambda x: (1 / mp.cos(x) ** 2, 2 * mp.tan(x) / mp.cos(x) ** 2),
    ),
    "asin": (both_signs(BELOW_ONE), asin),
    "acos": (both_signs(BELOW_ONE), lambda x: negative(asin(x))),
    "atan": (both_signs(POSITIVE), lambda x: (1 / (1 + x * x), -2 * x / (1 + x * x) ** 2)),
    "sinh": (both_signs(SMALL + MIDDLE + [10.0, 37.0, 80.0, 88.9, 700.0, 710.4]), lambda x: (mp.cosh(x), mp.sinh(x))),
    "cosh": (both_signs(SMALL + MIDDLE + [10.0, 37.0, 80.0, 88.9, 700.0, 710.4]), lambda x: (mp.sinh(x), mp.cosh(x))),
    "tanh": (both_signs(POSITIVE + TAILS), lambda x: (sech(x) ** 2, -2 * mp.tanh(x) * sech(x) ** 2)),
    "asinh": (both_signs(POSITIVE), asinh),
    "acosh": (beside(1.0, DISTANCES) + [1.1, 1.5, 2.0, 2.7, 4.2, 7.3] + LARGE + HUGE, acosh),
    "atanh": (both_signs(BELOW_ONE), lambda x: (1 / (1 - x * x), 2 * x / (1 - x * x) ** 2)),
    "abs": (both_signs(POSITIVE), lambda x: (mp.sign(x), mpf(0))),
    "floor": (both_signs(POSITIVE), lambda x: (mpf(0), mpf(0))),
    "ceil": (both_signs(POSITIVE), lambda x: (mpf(0), mpf(0))),
    "erf": (both_signs(SMALL + MIDDLE + TAILS), lambda x: (normal(x), -2 * x * normal(x))),
    "erfc": (both_signs(SMALL + MIDDLE + TAILS), lambda x: (-normal(x), 2 * x * normal(x))),
    "gamma": (SMALL[2:] + ORDERS + [100.0, 170.0] + POLES, gamma),
    "lgamma": (SMALL + ORDERS + LARGE + HUGE + POLES, lambda x: (mp.digamma(x), mp.psi(1, x))),
    "j0": (both_signs(SMALL + MIDDLE + LARGE), lambda x: (-mp.besselj(1, x), -j1(x)[0])),
    "j1": (both_signs(SMALL + MIDDLE + LARGE), j1),
}

# --- Losses over z = (r / C)² -------------------------------------------------

LOSSES = {
    "huber": lambda z: (mpf(1), mpf(0)) if z <= 1 else (1 / mp.sqrt(z), -1 / (2 * z * mp.sqrt(z))),
    "soft_l1": lambda z: (1 / mp.sqrt(1 + z), -1 / (2 * (1 + z) ** mpf(1.5))),
    "cauchy": lambda z: (1 / (1 + z), -1 / (1 + z) ** 2),
    "arctan": lambda z: (1 / (1 + z * z), -2 * z / (1 + z * z) ** 2),
    "geman_mcclure": lambda z: (1 / (1 + z) ** 2, -2 / (1 + z) ** 3),
    "tukey": lambda z: ((1 - z) ** 2, -2 * (1 - z)) if z < 1 else (mpf(0), mpf(0)),
    "welsch": lambda z: (mp.exp(-z), -mp.exp(-z)),
}
FUNCTIONS |= {name: (POSITIVE[::2] + beside(1.0, DISTANCES, -1), f) for name, f in LOSSES.items()}

# --- Activations ---------------------------------------------------------------


def logistic(x):
    """The logistic function, and its first two derivatives."""
    s, slope = 1 / (1 + mp.exp(-x)), sech(x / 2) ** 2 / 4
    return s, slope, -slope * mp.tanh(x / 2)


def times_argument(x, s, s1, s2):
    """Derivatives of x s."""
    return s + x * s1, 2 * s1 + x * s2


def gelu(x):
    density = mp.exp(-x * x / 2) / mp.sqrt(2 * pi)
    return mp.erfc(-x / mp.sqrt(2)) / 2 + x * density, density * (2 - x * x)


def gelu_tanh(x):
    scale, cube = 2 * mp.sqrt(2 / pi), mpf("0.044715")
    s, s1, s2 = logistic(scale * (x + cube * x**3))
    u1, u2 = scale * (1 + 3 * cube * x * x), scale * 6 * cube * x
    return times_argument(x, s, s1 * u1, s2 * u1 * u1 + s1 * u2)


def elu(x):
    """With an alpha of three quarters."""
    return (mpf(1), mpf(0)) if x > 0 else (0.75 * mp.exp(x), 0.75 * mp.exp(x))


ACTIVATIONS = {
    "sigmoid": lambda x: logistic(x)[1:],
    "softplus": lambda x: logistic(x)[:2],
    "silu": lambda x: times_argument(x, *logistic(x)),
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "elu": elu,
}
SIDES = SMALL[2:] + MIDDLE + TAILS + [5.5, 6.6, 10.5, 13.1, 13.8, 21.2, 21.4, 37.4, 38.1, 80.0, 87.0, 95.0, 700.0, 708.0, 720.0, 1e5, 1e30]
FUNCTIONS |= {name: (SIDES + [-x for x in SIDES], f) for name, f in ACTIVATIONS.items()}
FUNCTIONS["square"] = (both_signs(POSITIVE), lambda x: (2 * x, mpf(2)))

# --- Functions of two arguments -----------------------------------------------


def power(x, p):
    """By the base and by the exponent."""
    f, log = x**p, mp.ln(x)
    return p * x ** (p - 1), f * log, p * (p - 1) * x ** (p - 2), f * log * log


def angle(y, x):
    square = x * x + y * y
    return x / square, -y / square, -2 * x * y / square**2, 2 * x * y / square**2


def hypotenuse(x, y):
    r = mp.sqrt(x * x + y * y)
    return x / r, y / r, y * y / r**3, x * x / r**3


BASES = [1e-300, 1e-100, 1e-37, 1e-20, 1e-3, 0.3, 0.999, 1.0, 1.5, 2.7, 100.0, 1e9, 1e30, 1e150, 1e300]
POWERS = [-7.0, -2.5, -1.0, -0.3, -1e-3, 1e-20, 0.01, 0.1, 0.3, 0.49, 0.5, 0.7, 1.0, 1.3, 1.5, 2.0, 2.5, 3.1, 7.0]
STEEP = [(1.0 + 2.0**-20, 4e6), (1.0 - 2.0**-20, 4e7), (1.0 + 2.0**-52, 1e16), (1.0 - 2.0**-40, -3e13), (2.0, 100.25), (0.7, -200.5)]
LEGS = [1e-300, 1e-170, 1e-30, 0.3, 1.0, 2.7, 1e15, 1e160, 1e300]

PAIRS = {
    "pow": ([(x, p) for x in BASES for p in POWERS] + STEEP, power),
    "atan2": ([(sign * y, other * x) for y in LEGS for x in LEGS for sign, other in ((1, 1), (-1, -1))], angle),
    "hypot": ([(x, -y) for x in LEGS for y in LEGS], hypotenuse),
}


# --- Numbers -------------------------------------------------------------------

LARGEST, SMALLEST = mpf(2) ** 1024, mpf(2) ** -1074


def rounded(number):
    """The nearest double, whatever its exponent."""
    if abs(number) >= LARGEST:
        return float("inf") if number > 0 else float("-inf")
    if abs(number) < mpf(2) ** -1022:
        return float(mp.nint(number / SMALLEST)) * 5e-324
    with mp.workprec(53):
        return float(+number)


def text(number):
    return repr(rounded(number)).removesuffix(".0")


def is_trusted(value, f):
    """The closed forms agree with numerical differentiation, where that has digits."""
    return value == 0 or abs(f / value - 1) < mpf(10) ** -12


def main():
    for name in ("sin", "tan", "asin", "atan", "tanh", "asinh", "acosh", "atanh", "erf", "gamma", "ln_1p", "exp_m1"):
        plain = {"ln_1p": mp.log1p, "exp_m1": mp.expm1}.get(name, getattr(mp, name, None))
        for x in (mpf("1.25"),) if name == "acosh" else (mpf("0.375"),):
            for order, found in enumerate(FUNCTIONS[name][1](x), 1):
                assert is_trusted(mp.diff(plain, x, order), found), (name, order)

    rows = []
    mp.dps = 1200
    for name, (grid, derivatives) in FUNCTIONS.items():
        special = name in ("gamma", "lgamma", "j0", "j1", "sin", "cos", "tan")
        mp.dps = 60 if special or name in ACTIVATIONS else 1200
        for x in with_singles(grid):
            try:
                first, second = derivatives(mpf(x))
            except ZeroDivisionError:
                # The nearest single is the pole.
                continue
            rows.append([name, text(mpf(x)), "", text(first), "", text(second), ""])
    mp.dps = 60
    for name, (grid, derivatives) in PAIRS.items():
        mp.dps = 60 if name == "pow" else 1200
        pairs = [pair for x, y in grid for pair in ((x, y), (single(x), single(y))) if None not in pair]
        for x, y in dict.fromkeys(pairs):
            rows.append([name, text(mpf(x)), text(mpf(y)), *map(text, derivatives(mpf(x), mpf(y)))])

    with open(HERE / "derivatives.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["function", "x", "y", "by_x", "by_y", "second_x", "second_y"])
        writer.writerows(rows)


main()
