import numpy as np
from scipy.optimize import minimize

random = np.random.default_rng(1)
time = 0.25 * np.arange(64)
rates = random.uniform(0.3, 1.2, 100_000)
counts = random.poisson(20 * np.exp(-np.outer(rates, time)) + 0.5)


def cost(b, y):
    mean = b[0] * np.exp(-b[1] * time) + b[2]
    return np.sum(mean - y * np.log(mean))


fits, start, bounds = [], [15, 0.6, 1], [(1e-3, None), (1e-3, None), (1e-3, None)]
for y in counts:
    fits.append(minimize(cost, start, args=(y,), bounds=bounds))
print(sum(fit.success for fit in fits), "of", len(fits), "converged")
found = np.array([fit.x[1] for fit in fits])
print("the rates are off by", np.sqrt(np.mean((found - rates) ** 2)))
np.save("rates.npy", found)
