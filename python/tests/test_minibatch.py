"""Steps of Levenberg-Marquardt over parameters that are held elsewhere, by NumPy alone; and the optimizer of PyTorch, where it is installed."""

import numpy as np
import pytest

from marquardt import _engine

RANDOM = np.random.default_rng(0)


class Network:
    """A dense network of one hidden layer, `tanh(x w + a) v + b`, with its Jacobian."""

    def __init__(self, inputs: int, hidden: int) -> None:
        self.inputs, self.hidden = inputs, hidden
        self.parameters = hidden * (inputs + 2) + 1

    def start(self) -> np.ndarray:
        return np.random.default_rng(1).normal(size=self.parameters) * 0.7

    def linearize(self, p: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        i, h = self.inputs, self.hidden
        w, a, v, b = p[: i * h].reshape(i, h), p[i * h : (i + 1) * h], p[(i + 1) * h : (i + 2) * h], p[-1]
        t = np.tanh(x @ w + a)
        s = (1 - t**2) * v
        jacobian = np.hstack([(x[:, :, None] * s[:, None, :]).reshape(len(x), -1), s, t, np.ones((len(x), 1))])
        scale = np.sqrt(2 / len(x))
        return (t @ v + b - y) * scale, jacobian * scale


def step(solver, network: Network, p: np.ndarray, x: np.ndarray, y: np.ndarray):
    both = lambda at: network.linearize(at, x, y)  # noqa: E731
    return solver.step(p, len(x), lambda at: both(at)[0], both)


def loss(network: Network, p: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    return 0.5 * float(np.sum(network.linearize(p, x, y)[0] ** 2))


def data(rows: int, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    x = RANDOM.uniform(-1, 1, (rows, inputs))
    return x, np.sin(3 * x[:, 0]) + 0.3 * x[:, -1] ** 2


def test_a_step_is_that_of_the_damped_normal_equations() -> None:
    """In both forms: with more residuals than parameters, and with fewer."""
    for rows in (200, 9):
        network = Network(2, 5)
        x, y = data(rows, 2)
        p = network.start()
        solver = _engine.MinibatchSolver(network.parameters)
        solver.set("attempts", 1)
        solver.set("loss_damping", 0.0)
        end, done = step(solver, network, p, x, y)
        r, jacobian = network.linearize(p, x, y)
        assert done["loss"] == pytest.approx(0.5 * r @ r)
        moved = end - p if done["applied"] else None
        assert moved is not None, done
        # The step solves (JᵀJ + λ D²) δ = -Jᵀ r, with a diagonal D² that is the norms of columns, or one for all.
        norms = (jacobian**2).sum(axis=0)
        steps = []
        for scale in (norms, np.ones_like(norms)):
            system = jacobian.T @ jacobian + done["damping"] * np.diag(scale)
            steps.append(-np.linalg.solve(system, jacobian.T @ r))
        assert min(np.linalg.norm(moved - one) / np.linalg.norm(one) for one in steps) < 1e-6, (rows, done)


def test_minibatches_learn_a_function() -> None:
    for rows in (256, 24):
        network = Network(2, 12)
        x, y = data(2048, 2)
        p, solver = network.start(), _engine.MinibatchSolver(network.parameters)
        before = loss(network, p, x, y)
        for first in range(60):
            part = slice(first * rows % 2048, first * rows % 2048 + rows)
            p, done = step(solver, network, p, x[part], y[part])
            assert done["loss_after"] <= done["loss"]
        assert loss(network, p, x, y) < (1e-3 if rows > network.parameters else 2e-2) * before


def test_a_state_goes_on_as_the_solver_does() -> None:
    network = Network(2, 4)
    x, y = data(100, 2)
    p, solver = network.start(), _engine.MinibatchSolver(network.parameters)
    solver.set("momentum", 0.5)
    for _ in range(5):
        p, _ = step(solver, network, p, x, y)
    other = _engine.MinibatchSolver(network.parameters)
    other.set("momentum", 0.5)
    other.restore(*solver.state())
    assert (step(solver, network, p, x, y)[0] == step(other, network, p, x, y)[0]).all()
    with pytest.raises(ValueError, match="17 numbers, not 3"):
        _engine.MinibatchSolver(3).restore(*solver.state())


def test_wrong_input_is_named() -> None:
    solver = _engine.MinibatchSolver(2)
    with pytest.raises(ValueError, match="momentum"):
        solver.set("momentum", 2.0)
    with pytest.raises(ValueError, match="speed"):
        solver.set("speed", 2.0)
    both = lambda at: (at, np.eye(2))  # noqa: E731
    with pytest.raises(ValueError, match="3 entries for 2"):
        solver.step(np.zeros(3), 2, lambda at: at, both)
    with pytest.raises(ValueError, match=r"shape \(3, 2\), expected \(2, 2\)"):
        solver.step(np.ones(2), 2, lambda at: at, lambda at: (at, np.ones((3, 2))))
    with pytest.raises(ZeroDivisionError):
        solver.step(np.ones(2), 2, lambda at: 1 / 0, lambda at: 1 / 0)
    with pytest.raises(ValueError, match="NaN"):
        solver.step(np.ones(2), 2, lambda at: at * np.nan, lambda at: (at * np.nan, np.eye(2)))
    # None of these has spoilt it.
    end, done = solver.step(np.ones(2), 2, lambda at: at, both)
    assert done["applied"] and (abs(end) < 0.2).all()
