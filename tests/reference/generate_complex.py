"""Writes complex.csv: fits of complex models by lmfit, written out as residuals of real and imaginary parts, with derivatives by sympy.

Run as `python generate_complex.py` with lmfit 1.3.4, numpy 2 and sympy 1.14. The data are models with noise, rounded to six digits."""

import csv

import lmfit
import numpy as np
import sympy

CASES = {
    "randles": ("w", np.geomspace(1, 1e6, 31), "r0 + r1/(1 + I*w*r1*c)", {"r0": 12.0, "r1": 250.0, "c": 2e-6}, 0.5),
    "constant_phase": (
        "w",
        np.geomspace(1e-2, 1e5, 43),
        "r0 + 1/(1/(r1 + sigma*sqrt(2)/sqrt(I*w)) + q*(I*w)**alpha)",
        {"r0": 5.0, "r1": 80.0, "sigma": 7.0, "q": 2e-4, "alpha": 0.87},
        0.2,
    ),
    "finite_warburg": (
        "w",
        np.geomspace(1e-3, 1e4, 40),
        "r0 + r1*tanh(sqrt(I*w*tau))/sqrt(I*w*tau)",
        {"r0": 3.0, "r1": 60.0, "tau": 4.0},
        0.1,
    ),
    # The example of lmfit's documentation.
    "resonator": (
        "f",
        np.linspace(99.95, 100.05, 100),
        "1 - q/(qr + I*qi)/(1 + 2*I*q*(f - f0)/f0)",
        {"f0": 100.0, "q": 10000.0, "qr": 9000.0, "qi": -9000.0},
        0.02,
    ),
    "debye": (
        "w",
        np.geomspace(1e6, 1e12, 37),
        "inf + step/(1 + (I*w*tau)**a)",
        {"inf": 4.0, "step": 74.0, "tau": 8e-12, "a": 0.95},
        0.3,
    ),
    "damped_signal": (
        "t",
        np.linspace(0, 4, 65),
        "a*exp(I*phase)*exp((2*I*pi*nu - rate)*t)",
        {"a": 3.0, "phase": 0.7, "nu": 2.3, "rate": 0.8},
        0.05,
    ),
}


def main():
    random = np.random.default_rng(7)
    rows = []
    for case, (predictor, x, text, truth, noise) in CASES.items():
        names = list(truth)
        symbols = sympy.symbols(names, real=True)
        variable = sympy.Symbol(predictor, positive=True)
        formula = sympy.sympify(text, {**dict(zip(names, symbols)), predictor: variable, "I": sympy.I})
        value = sympy.lambdify([variable, *symbols], formula, "numpy")
        slopes = [sympy.lambdify([variable, *symbols], sympy.diff(formula, symbol), "numpy") for symbol in symbols]
        z = value(x + 0j, *truth.values()) + noise * (random.normal(size=x.size) + 1j * random.normal(size=x.size))
        z = np.array([complex(float(f"{v.real:.6g}"), float(f"{v.imag:.6g}")) for v in z])
        x = np.array([float(f"{v:.12g}") for v in x])
        for weighted in [False, True]:
            weight = 1 / np.abs(z) if weighted else np.ones(x.size)

            def parts(numbers):
                return (weight * numbers).view(float)

            def residual(b):
                return parts(value(x + 0j, *[b[name].value for name in names]) - z)

            def jacobian(b):
                at = [b[name].value for name in names]
                return np.array([parts(slope(x + 0j, *at) + np.zeros(x.size, complex)) for slope in slopes])

            start = lmfit.create_params(**{name: 1.15 * v if name not in ("f0",) else v * 1.00001 for name, v in truth.items()})
            fit = lmfit.minimize(
                residual, start, method="leastsq", Dfun=jacobian, col_deriv=True, ftol=1e-15, xtol=1e-15, gtol=0.0, max_nfev=10000
            )
            kind = case + (" weighted" if weighted else "")
            columns = {
                "estimate": [fit.params[name].value for name in names],
                "error": [fit.params[name].stderr for name in names],
                "chisqr": [fit.chisqr],
                "aic": [fit.aic],
            }
            if not weighted:
                columns = {"x": x, "re": z.real, "im": z.imag, "truth": list(truth.values()), **columns}
            for name, numbers in columns.items():
                rows += [[kind, name, i, repr(float(v))] for i, v in enumerate(numbers)]
            print(kind, {name: (p.value, p.stderr) for name, p in fit.params.items()}, fit.nfev)
    with open("complex.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["case", "name", "index", "value"], *rows])


main()
