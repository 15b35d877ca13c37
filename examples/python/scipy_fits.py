import numpy as np
from scipy.optimize import curve_fit, least_squares

x = np.arange(20) / 2
y = 3 * np.exp(-0.5 * x) + 1 + 0.05 * np.sin(7 * x)
sigma = 0.03 + 0.004 * x
spoilt = np.where(x == 4, 9, y)
start = [2, 0.3, 0]


def decay(x, a, k, c):
    return a * np.exp(-k * x) + c


def report(what, values, covariance):
    print(what, np.round(values, 6), np.round(np.sqrt(np.diag(covariance)), 6))


report("plain", *curve_fit(decay, x, y, start))
report("sigma", *curve_fit(decay, x, y, start, sigma=sigma, absolute_sigma=True))
report("bounds", *curve_fit(decay, x, y, start, bounds=([0, 0, 0], [np.inf, 1, 5]), xtol=1e-15))
report("fixed", *curve_fit(lambda x, a, k: decay(x, a, k, 1), x, y, start[:2]))

robust = least_squares(lambda b: decay(x, *b) - spoilt, start, loss="cauchy", f_scale=0.1, xtol=1e-15)
print("robust", np.round(robust.x, 6))

plane = np.stack([x, x**2])
report("plane", *curve_fit(lambda x, a, b: a * x[0] + b * x[1], plane, 2 * x - 0.1 * x**2 + np.sin(x), [1, 1]))
