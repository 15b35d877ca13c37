import lmfit
import numpy as np

x = np.array([2.1, 1.1, -0.1, 0.9, 1.8, 0.3])
y = np.array([0.9, 2.0, 1.1, 0.1, 1.6, 0.2])

parameters = lmfit.Parameters()
parameters.add("east", 0.8)
parameters.add("north", 0.8)
parameters.add("radius", 1.0)
parameters.add("area", expr="pi * radius**2")


def residuals(p):
    return np.hypot(p["east"] - x, p["north"] - y) - p["radius"]


minimizer = lmfit.Minimizer(residuals, parameters)
result = minimizer.minimize(xtol=1e-15, ftol=1e-15)
print(lmfit.fit_report(result))
print(lmfit.conf_interval(minimizer, result, sigmas=[0.95])["radius"])
