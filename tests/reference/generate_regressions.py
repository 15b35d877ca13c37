"""Generalised linear models and their maximum-likelihood estimates.

Writes next to itself:
  regressions.csv         data, and minimisers to all digits of a float64

The minimisers are found by Newton's method in 50 digits, and checked against
PyTorch's losses: the gradient that autograd finds there vanishes.

Run with Python 3.11.7, mpmath 1.3.0, torch 2.15.0, numpy 2.4.6.
"""

import csv
from pathlib import Path

import mpmath as mp
import numpy as np
import torch

torch.set_default_dtype(torch.float64)
mp.mp.dps = 50
HERE = Path(__file__).resolve().parent


# --- Data --------------------------------------------------------------------


def o_rings():
    """Temperatures (°F) and whether an O-ring was damaged: 23 flights of the
    space shuttle before Challenger's last. Presidential Commission on the Space
    Shuttle Challenger Accident 1986; Dalal, Fowlkes & Hoadley 1989."""
    temperatures = [66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67,
                    75, 70, 81, 76, 79, 75, 76, 58]
    damaged = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0,
               0, 0, 0, 0, 0, 1, 0, 1]
    return np.array(temperatures, float)[:, None], np.array(damaged)


def clouds():
    """Three classes that overlap."""
    random = np.random.default_rng(4)
    labels = np.arange(60) % 3
    centres = np.array([[0.0, 0.0], [1.5, 0.5], [-0.5, 1.5]])
    x = centres[labels] + random.standard_normal((60, 2))
    return np.round(x, 3), labels


def trial():
    """Counts of a randomised trial with three outcomes and three treatments.
    Dobson 1990, An Introduction to Generalized Linear Models, p. 93."""
    counts = [18, 17, 15, 20, 10, 20, 25, 13, 12]
    k = np.arange(9)
    levels = [k % 3 == 1, k % 3 == 2, k // 3 == 1, k // 3 == 2]
    return np.stack(levels, axis=1).astype(float), np.array(counts)


# --- Newton's method ---------------------------------------------------------


def softmax(logits):
    peak = max(logits)
    e = [mp.exp(z - peak) for z in logits]
    return [x / sum(e) for x in e]


def newton(x, y, outputs, mean, target):
    """Weights (a row for each output, the bias last) that are best for outputs
    whose loss has the gradient mean(z) - target(y), and as its second derivative
    that of the mean."""
    rows = [[mp.mpf(v) for v in row] + [mp.mpf(1)] for row in x.tolist()]
    n = outputs * len(rows[0])
    w = mp.zeros(n, 1)
    for _ in range(100):
        gradient, hessian = mp.zeros(n, 1), mp.zeros(n)
        for row, answer in zip(rows, y.tolist()):
            p = len(row)
            z = [sum(w[k * p + i] * row[i] for i in range(p)) for k in range(outputs)]
            m, v = mean(z)
            t = target(answer)
            for k in range(outputs):
                for i in range(p):
                    gradient[k * p + i] += (m[k] - t[k]) * row[i]
                    for l in range(outputs):
                        for j in range(p):
                            hessian[k * p + i, l * p + j] += v[k][l] * row[i] * row[j]
        step = mp.lu_solve(hessian, gradient)
        w -= step
        if mp.norm(step, mp.inf) < mp.mpf(10) ** -40:
            return w, mp.inverse(hessian)
    raise RuntimeError("no convergence")


def logistic(z):
    p = 1 / (1 + mp.exp(-z[0]))
    return [p], [[p * (1 - p)]]


def multinomial(z):
    """The last class has the logit zero."""
    p = softmax([*z, mp.mpf(0)])[:-1]
    return p, [[p[k] * ((k == l) - p[l]) for l in range(len(p))] for k in range(len(p))]


def log_rate(z):
    return [mp.exp(z[0])], [[mp.exp(z[0])]]


# --- PyTorch -----------------------------------------------------------------


def torch_loss(case, x, y, w):
    """The mean loss at w, and the largest number of its gradient."""
    w = torch.tensor([float(v) for v in w], requires_grad=True)
    x = torch.tensor(np.c_[x, np.ones(len(x))])
    z = x @ w.reshape(-1, x.shape[1]).T
    n, y = torch.nn, torch.tensor(y)
    if case == "logistic":
        value = n.BCEWithLogitsLoss()(z[:, 0], y.double())
    elif case == "softmax":
        value = n.CrossEntropyLoss()(torch.cat([z, torch.zeros(len(z), 1)], 1), y)
    else:
        value = n.PoissonNLLLoss(log_input=True)(z[:, 0], y.double())
    (gradient,) = torch.autograd.grad(value, w)
    return value.item(), gradient.abs().max().item()


# --- Output ------------------------------------------------------------------


def main():
    rows = []
    for case, (x, y), outputs, mean, target in (
        ("logistic", o_rings(), 1, logistic, lambda y: [y]),
        ("softmax", clouds(), 2, multinomial, lambda y: [int(y == k) for k in range(2)]),
        ("poisson", trial(), 1, log_rate, lambda y: [y]),
    ):
        w, covariance = newton(x, y, outputs, mean, target)
        loss, gradient = torch_loss(case, x, y, w)
        assert gradient < 1e-13, (case, gradient)
        errors = [mp.sqrt(covariance[i, i]) for i in range(len(w))]
        for name, values in (
            ("inputs", x.ravel().tolist()),
            ("targets", y.tolist()),
            ("weights", w),
            ("standard_errors", errors),
            ("loss", [loss]),
        ):
            # What is zero but for the fiftieth digit is zero.
            values = [float(v) if abs(v) > 1e-40 else 0.0 for v in values]
            rows += [(case, name, i, repr(v)) for i, v in enumerate(values)]
        print(case, [mp.nstr(v, 8) for v in w], loss, gradient)
    with open(HERE / "regressions.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("case", "name", "index", "value"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
