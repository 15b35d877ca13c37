"""Differential equations of the example `pinn`, solved in JAX: the same equations, points, networks and first weights' distribution.

The optimizer is Levenberg–Marquardt with geodesic acceleration as most would write it: Nielsen's damping from 1e-3 times the largest
diagonal number of JᵀJ, identity scaling, Cholesky, and the exact second directional derivative, whose correction a is added where
2‖a‖ ≤ 0.75‖v‖. Derivatives by inputs are pushed forward through the layers (Taylor mode, one channel for the sum of second
derivatives), those by weights are taken in reverse, point by point; every part is compiled.

    pip install jax scipy
    taskset -c 0 python pinn_jax.py --problem poisson2d --seed 0
    taskset -c 0 python pinn_jax.py --problem wide --steps 20        1,003 rows and 4,417 weights, by the dual form

JAX runs on one thread. Seconds are those of the process, without compilation and without what measuring the error takes; the last
line reads as that of the example.
"""

import argparse
import os
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import qmc

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platform_name", "cpu")

PI = np.pi


class Case:
    """Terms of (points, weight, residual); a residual is a function of u, its gradient, the sum of second derivatives, and the point.

    `second` has the factors of the second derivatives in that sum."""

    def __init__(self, widths, init, second, terms, exact, grid):
        self.widths, self.init, self.second, self.exact, self.grid = widths, init, jnp.array(second), exact, grid
        self.terms = [(jnp.array(points), np.sqrt(weight / len(points)), residual) for points, weight, residual in terms]


def interior(*counts, lower=0.0, upper=1.0):
    axes = [lower + (upper - lower) * np.arange(1, count + 1) / (count + 1) for count in counts]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def with_ends(*counts):
    axes = [np.linspace(0.0, 1.0, count) for count in counts]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def side(axis, value, count, lower=0.0, upper=1.0):
    points = np.empty((count, 2))
    points[:, axis], points[:, 1 - axis] = value, np.linspace(lower, upper, count)
    return points


def sides(count):
    return np.concatenate([side(axis, value, count) for axis in (0, 1) for value in (0.0, 1.0)])


def value(u, du, s, p):
    return u


def poisson2d():
    exact = lambda p: jnp.sin(PI * p[..., 0]) * jnp.sin(PI * p[..., 1])
    inside = lambda u, du, s, p: s + 2 * PI**2 * exact(p)
    terms = [(with_ends(28, 28), 1.0, inside), (sides(29), 4.0, value)]
    return Case([2, 32, 1], "spread", [1.0, 1.0], terms, exact, interior(198, 198))


def heat():
    exact = lambda p: jnp.exp(-0.25 * PI**2 * p[..., 0]) * jnp.sin(PI * p[..., 1])
    walls = np.concatenate([side(1, 0.0, 29), side(1, 1.0, 29)])
    start = lambda u, du, s, p: u - jnp.sin(PI * p[1])
    terms = [(with_ends(28, 28), 1.0, lambda u, du, s, p: du[0] - s), (side(0, 0.0, 29), 1.0, start), (walls, 1.0, value)]
    return Case([2, 64, 1], "spread", [0.0, 0.25], terms, exact, interior(198, 198))


def nonlinear1d():
    exact = lambda p: jnp.cos(PI * p[..., 0])
    inside = lambda u, du, s, p: u**3 - s - (PI**2 * exact(p) + exact(p) ** 3)
    points = np.linspace(-1.0, 1.0, 200)[:, None]
    terms = [(points, 2.0, inside), (np.array([[-1.0], [1.0]]), 1.0, lambda u, du, s, p: du[0])]
    return Case([1, 32, 1], "spread", [1.0], terms, exact, interior(2000, lower=-1.0))


def poisson5d():
    random = np.random.default_rng(0)
    exact = lambda p: jnp.sin(PI * p).sum(-1)
    walls = random.random((500, 5))
    for k in range(10):
        walls[50 * k : 50 * (k + 1), k // 2] = k % 2
    inside = lambda u, du, s, p: s + PI**2 * exact(p)
    terms = [(random.random((4000, 5)), 1.0, inside), (walls, 10.0, lambda u, du, s, p: u - exact(p))]
    return Case([5, 64, 1], "spread", [1.0] * 5, terms, exact, random.random((10_000, 5)))


def reaction2d():
    exact = lambda p: jnp.sin(PI * p[..., 0]) * jnp.sin(2 * PI * p[..., 1])
    inside = lambda u, du, s, p: u**3 - s - (5 * PI**2 * exact(p) + exact(p) ** 3)
    terms = [(interior(30, 30), 1.0, inside), (sides(31), 4.0, value)]
    return Case([2, 32, 1], "glorot", [1.0, 1.0], terms, exact, interior(198, 198))


def burgers_terms(inside, weight):
    equation = lambda u, du, s, p: du[0] + u * du[1] - s
    start = lambda u, du, s, p: u + jnp.sin(PI * p[1])
    walls = np.concatenate([side(1, -1.0, 51), side(1, 1.0, 51)])
    return [(inside, 1.0, equation), (side(0, 0.0, 101, -1.0), weight, start), (walls, weight, value)]


def burgers():
    points = lambda shift: (qmc.Halton(2, scramble=False).random(1520)[20:] + shift) % 1.0 * [1.0, 2.0] - [0.0, 1.0]
    front = points([0.3, 0.6])
    front[:, 1] = front[:, 1] ** 3
    grid = interior(100, 100)
    grid[:, 1] = 2 * grid[:, 1] - 1
    terms = burgers_terms(np.concatenate([points([0.0, 0.0]), front]), 10.0)
    return Case([2, 20, 20, 1], "glorot", [0.0, 0.01 / PI], terms, cole_hopf, grid)


def middle():
    """1,603 × 501, for time alone."""
    points = qmc.Halton(2, scramble=False).random(1400) * [1.0, 2.0] - [0.0, 1.0]
    return Case([2, 20, 20, 1], "glorot", [0.0, 0.01 / PI], burgers_terms(points, 1.0), cole_hopf, interior(30, 30))


def wide():
    """1,003 × 4,417, for time alone."""
    points = qmc.Halton(2, scramble=False).random(800) * [1.0, 2.0] - [0.0, 1.0]
    return Case([2, 64, 64, 1], "glorot", [0.0, 0.01 / PI], burgers_terms(points, 1.0), cole_hopf, interior(30, 30))


def cole_hopf(p):
    """The solution of Burgers' equation by the trapezoidal rule on Cole and Hopf's integral."""
    nu, p = 0.01 / PI, np.asarray(p)
    t, x = p[:, :1], p[:, 1:]
    z = np.linspace(-1.0, 1.0, 4001)[None]
    y = x - z
    exponent = -np.cos(PI * y) / (2 * PI * nu) - z**2 / (4 * nu * t)
    weight = np.exp(exponent - exponent.max(1, keepdims=True))
    return -(np.sin(PI * y) * weight).sum(1) / weight.sum(1)


CASES = {case.__name__: case for case in (poisson2d, heat, nonlinear1d, poisson5d, reaction2d, burgers, middle, wide)}


def first_weights(case, seed):
    random, parts = np.random.default_rng(seed), []
    for inputs, units in zip(case.widths, case.widths[1:]):
        if case.init == "spread":
            std = 0.3 if units == 1 else 1.0
            parts += [random.normal(0, std, (inputs, units)), random.normal(0, std, units)]
        else:
            parts += [random.normal(0, np.sqrt(2 / (inputs + units)), (inputs, units)), np.zeros(units)]
    return np.concatenate([part.ravel() for part in parts])


def layers_of(case, theta):
    first, layers = 0, []
    for inputs, units in zip(case.widths, case.widths[1:]):
        last = first + inputs * units
        layers.append((theta[first:last].reshape(inputs, units), theta[last : last + units]))
        first = last + units
    return layers


def field(case, theta, p):
    """u, its gradient, and the weighted sum of its second derivatives, at one point."""
    h, d, s = p, jnp.eye(len(p)), jnp.zeros(len(p))
    layers = layers_of(case, theta)
    for k, (weights, bias) in enumerate(layers):
        h, d, s = h @ weights + bias, d @ weights, s @ weights
        if k + 1 < len(layers):
            h = jnp.tanh(h)
            slope = 1 - h * h
            s = slope * s - 2 * h * slope * (case.second @ (d * d))
            d = slope * d
    return h[0], d[:, 0], s[0]


def compiled(case):
    """The cost; residuals and Jacobian; JᵀJ and Jᵀr, or JJᵀ; and the second derivative of the residuals along a direction."""

    def residual(term, theta, p):
        return term[1] * term[2](*field(case, theta, p), p)

    def residuals(theta):
        return jnp.concatenate([jax.vmap(lambda p: residual(term, theta, p))(term[0]) for term in case.terms])

    def rows(theta):
        parts = [jax.vmap(lambda p: jax.value_and_grad(lambda t: residual(term, t, p))(theta))(term[0]) for term in case.terms]
        return jnp.concatenate([r for r, _ in parts]), jnp.concatenate([j for _, j in parts])

    def bend(theta, v):
        along = lambda t: jax.jvp(residuals, (t,), (v,))[1]
        return jax.jvp(along, (theta,), (v,))[1]

    cost = lambda theta: 0.5 * jnp.sum(residuals(theta) ** 2)
    predict = lambda theta, points: jax.vmap(lambda p: field(case, theta, p)[0])(points)
    return jax.jit(cost), jax.jit(rows), jax.jit(bend), jax.jit(predict)


class Primal:
    """(JᵀJ + μI)δ = −g."""

    def __init__(self, rows):
        self.linearize = jax.jit(lambda theta: (lambda r, j: (r, j, j.T @ j, j.T @ r))(*rows(theta)))

    def at(self, theta):
        self.r, self.j, gram, gradient = self.linearize(theta)
        self.gram, self.gradient = np.asarray(gram), np.asarray(gradient)
        return self.gram.diagonal().max()

    def factor(self, mu):
        self.factors = cho_factor(self.gram + mu * np.eye(len(self.gram)), check_finite=False)
        return self

    def solve(self, r):
        return -cho_solve(self.factors, np.asarray(self.j.T @ r), check_finite=False)


class Dual:
    """δ = −Jᵀ(JJᵀ + μI)⁻¹r."""

    def __init__(self, rows):
        self.linearize = jax.jit(lambda theta: (lambda r, j: (r, j, j @ j.T, j.T @ r, jnp.sum(j * j, 0).max()))(*rows(theta)))

    def at(self, theta):
        self.r, self.j, gram, gradient, largest = self.linearize(theta)
        self.gram, self.gradient = np.asarray(gram), np.asarray(gradient)
        return float(largest)

    def factor(self, mu):
        self.factors = cho_factor(self.gram + mu * np.eye(len(self.gram)), check_finite=False)
        return self

    def solve(self, r):
        return -np.asarray(self.j.T @ cho_solve(self.factors, np.asarray(r), check_finite=False))


def solve(case, theta, steps, accelerated, watch):
    cost_at, rows, bend, _ = compiled(case)
    system = (Primal if sum(len(term[0]) for term in case.terms) > len(theta) else Dual)(rows)
    for compile_now in (lambda: system.at(theta), lambda: cost_at(theta), lambda: bend(theta, theta)):
        jax.block_until_ready(compile_now())
    watch.begin()
    mu, growth = 1e-3 * system.at(theta), 2.0
    cost = float(cost_at(theta))
    for step in range(steps):
        system.factor(mu)
        v = system.solve(system.r)
        delta = v
        if accelerated:
            a = 0.5 * system.solve(bend(theta, v))
            if 2 * np.linalg.norm(a) <= 0.75 * np.linalg.norm(v):
                delta = v + a
        promise = 0.5 * v @ (mu * v - system.gradient)
        trial = float(cost_at(theta + delta))
        gain = (cost - trial) / promise
        if gain > 0:
            theta, cost = theta + delta, trial
            system.at(theta)
            mu, growth = mu * max(1 / 3, 1 - (2 * gain - 1) ** 3), 2.0
        else:
            mu, growth = mu * growth, 2 * growth
        watch.measured(step + 1, theta)
        if mu > 1e12:
            break
    return theta, cost


class Watch:
    """Steps, processor seconds, and when the error has passed which bound."""

    def __init__(self, every, error):
        self.every, self.error, self.steps, self.away, self.passed = every, error, 0, 0.0, {}

    def begin(self):
        self.begun = time.process_time()

    def seconds(self):
        return time.process_time() - self.begun - self.away

    def measured(self, step, theta):
        self.steps = step
        if not self.every or step % self.every:
            return
        begun = time.process_time()
        error = self.error(theta)
        for bound in (1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7, 2e-8, 1e-8, 1e-9, 1e-10):
            if error <= bound:
                self.passed.setdefault(bound, step)
        self.away += time.process_time() - begun


def main():
    options = argparse.ArgumentParser(description="Solves a differential equation by a small network, in JAX.")
    options.add_argument("--problem", choices=CASES, default="poisson2d")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--steps", type=int, default=1000)
    options.add_argument("--plain", action="store_true", help="steps are not accelerated")
    options.add_argument("--start", help="text file with the first weights, layer by layer: a matrix of inputs by units, and biases")
    options.add_argument("--every", type=int, default=10, help="measures the error every so many steps; 0 for never")
    options = options.parse_args()

    case = CASES[options.problem]()
    theta = np.loadtxt(options.start) if options.start else first_weights(case, options.seed)
    exact = np.asarray(case.exact(case.grid))
    predict = compiled(case)[3]
    error = lambda theta: np.linalg.norm(predict(theta, case.grid) - exact) / np.linalg.norm(exact)
    error(theta)
    watch = Watch(options.every, error)
    theta, cost = solve(case, theta, options.steps, not options.plain, watch)
    seconds = watch.seconds()
    print("  ".join(f"{bound:.0e} at {step}" for bound, step in watch.passed.items()))
    rows = sum(len(term[0]) for term in case.terms)
    print(
        f"problem={options.problem} optimizer=jax parameters={len(theta)} rows={rows} steps={watch.steps} seconds={seconds:.3f} "
        f"milliseconds_per_step={1e3 * seconds / watch.steps:.2f} loss={2 * cost:.3e} relative_l2={error(theta):.3e}"
    )


if __name__ == "__main__":
    main()
