"""Residuals over named parameters that are no curve, by lmfit's Minimizer.

Writes next to itself:
  minimizer.csv           points, minimisers, standard errors, statistics and intervals

A circle through scattered points: residuals are distances from it, parameters are
east, north and radius; area = pi * radius**2 is tied to the radius. In the case
"free" all three are fitted, in "fixed" east stays at 1, in "absolute" residuals have
a standard deviation of 0.05 and nothing is judged by them (scale_covar=False).

lmfit minimises by MINPACK with derivatives by hand and tolerances at rounding level.
Its conf_interval looks for the F test's probability with a root finder that stops
early; here it goes to the end. The area's error is by lmfit's own propagation.

Run with Python 3.11.7, numpy 2.4.6, scipy 1.17.1, lmfit 1.3.4.
"""

import csv
from pathlib import Path

import lmfit
import numpy as np

HERE = Path(__file__).resolve().parent
SIGMA = 0.05
rows = []


def put(case, quantity, values):
    rows.extend((case, quantity, i, repr(float(v))) for i, v in enumerate(np.atleast_1d(values)))


rng = np.random.default_rng(21)
angle = np.sort(rng.uniform(0, 4.5, 15))
x = np.round(1.0 + 2.0 * np.cos(angle) + 0.05 * rng.standard_normal(15), 3)
y = np.round(-0.5 + 2.0 * np.sin(angle) + 0.05 * rng.standard_normal(15), 3)
put("points", "x", x)
put("points", "y", y)


def residuals(p, sigma):
    return (np.hypot(p["east"] - x, p["north"] - y) - p["radius"]) / sigma


def derivatives(p, sigma):
    distance = np.hypot(p["east"] - x, p["north"] - y)
    columns = {"east": (p["east"] - x) / distance, "north": (p["north"] - y) / distance, "radius": -np.ones(15)}
    return np.array([columns[name] / sigma for name in columns if p[name].vary])


for case in ("free", "fixed", "absolute"):
    sigma = SIGMA if case == "absolute" else 1.0
    parameters = lmfit.Parameters()
    parameters.add("east", 1.0, vary=case != "fixed")
    parameters.add("north", 0.0)
    parameters.add("radius", 1.5)
    parameters.add("area", expr="pi * radius**2")
    minimizer = lmfit.Minimizer(residuals, parameters, fcn_args=(sigma,), scale_covar=case != "absolute")
    options = dict(Dfun=derivatives, col_deriv=True, ftol=1e-15, xtol=1e-15, gtol=0.0)
    result = minimizer.minimize(method="leastsq", **options)
    for _ in range(3):
        result = minimizer.minimize(method="leastsq", params=result.params, **options)
    names = ["east", "north", "radius", "area"]
    put(case, "values", [result.params[name].value for name in names])
    put(case, "errors", [result.params[name].stderr or 0.0 for name in names])
    put(case, "chi_square", result.chisqr)
    put(case, "reduced_chi_square", result.redchi)
    put(case, "aic", result.aic)
    put(case, "bic", result.bic)
    put(case, "correlation", result.params["north"].correl["radius"])
    if case != "absolute":
        coarse = lmfit.confidence.root_scalar
        lmfit.confidence.root_scalar = lambda f, **k: coarse(f, **{**k, "rtol": 1e-14})
        intervals = lmfit.conf_interval(minimizer, result, sigmas=[0.95])
        lmfit.confidence.root_scalar = coarse
        for name in result.var_names:
            put(case, f"interval_{name}", [intervals[name][0][1], intervals[name][-1][1]])

with open(HERE / "minimizer.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["case", "quantity", "index", "value"])
    writer.writerows(rows)
