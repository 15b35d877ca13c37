import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import curve_fit

DOSE = 100.0
HOURS = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0])
MILLIGRAMS = np.array([17.9, 28.5, 47.6, 57.2, 62.4, 64.0, 58.5, 52.2, 43.6, 28.8, 12.5, 2.9])


def drug(hours, amounts, absorption, vmax, km):
    absorbed = absorption * amounts[0]
    return [-absorbed, absorbed - vmax * amounts[1] / (km + amounts[1])]


def simulate(hours, absorption, vmax, km):
    options = dict(method="DOP853", rtol=1e-10, atol=1e-10, t_eval=hours)
    return solve_ivp(drug, (0, hours[-1]), [DOSE, 0], args=(absorption, vmax, km), **options).y[1]


bounds = ([0, 0, 1e-3], np.inf)
options = dict(jac="3-point", xtol=1e-12, ftol=1e-12, gtol=1e-12, x_scale="jac")
values, covariance = curve_fit(simulate, HOURS, MILLIGRAMS, p0=[1, 10, 10], bounds=bounds, **options)
for name, value, error in zip(["absorption", "vmax", "km"], values, np.sqrt(np.diag(covariance))):
    print(f"{name:12} {value:.12g} +- {error:.6g}")
