"""Least-squares problems of parameter blocks and residual blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._options import array
from ._options import threads as _threads
from ._trace import Untraceable, record_residuals

_Array = np.ndarray


class Blocks:
    """Parameter blocks of one kind, such as all cameras. `Problem.add_blocks` makes them."""

    def __init__(self, problem: Problem, first: int, shape: tuple[int, int]) -> None:
        self._problem, self._first, self.shape = problem, first, shape

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def values(self) -> _Array:
        """Current values of the blocks, one row for each."""
        return self._problem._engine.points(self._first, len(self))

    @values.setter
    def values(self, values: Any) -> None:
        made = array(values, "values", (2,))
        if made.shape != self.shape:
            raise ValueError(f"values has shape {made.shape}, the blocks have {self.shape}")
        self._problem._engine.move_to(self._first, made)

    @property
    def stderr(self) -> _Array:
        """Standard errors, a row for each block, where residuals have a standard deviation of 1; zeros for blocks that are held."""
        return self._problem._engine.standard_errors(self._first, len(self))


@dataclass(frozen=True)
class BlocksResult:
    """Result of a solve of blocks.

    Attributes
    ----------
    cost, initial_cost : float
        Half of the sum of squares, or of the losses.
    success : bool
        Whether the solve ended at a minimum.
    status, message : str
        Reason for which it ended.
    nit : int
        Trial steps.
    costs : ndarray
        Cost of each trial.
    linear_solver : str
        Method that solved the normal equations.
    """

    cost: float
    initial_cost: float
    success: bool
    status: str
    message: str
    nit: int
    costs: _Array
    linear_solver: str


class Problem:
    """A least-squares problem of parameter blocks, and of residual blocks that depend on a few of them each.

    Examples
    --------
    Places on a line, and the distances that were measured between some of them:

    >>> import numpy as np
    >>> from marquardt.graph import Problem
    >>> problem = Problem()
    >>> places = problem.add_blocks(np.zeros((4, 1)), fixed=[0])
    >>> def distance(a, b, measured):
    ...     return [b[0] - a[0] - measured]
    >>> ends = ([0, 1, 2, 0], [1, 2, 3, 3])
    >>> problem.add_residuals(distance, [(places, ends[0]), (places, ends[1])], [[1.0, 1.1, 0.9, 3.2]])
    >>> problem.solve().success
    True
    >>> places.values[:, 0].round(2)
    array([0.  , 1.05, 2.2 , 3.15])
    """

    def __init__(self) -> None:
        self._engine = _engine.BlockProblem()

    def add_blocks(self, values: Any, manifold: str = "euclidean", fixed: Any = None) -> Blocks:
        """Adds parameter blocks.

        Parameters
        ----------
        values : array_like of shape (blocks, size)
            Starts, a row each.
        manifold : {'euclidean', 'so3', 'se2', 'se3'}
            Vectors; unit quaternions `i j k w`; poses `x y cos sin` in the plane, or `x y z i j k w` in space.
        fixed : sequence of int, or of bool, optional
            Blocks that are not changed.
        """
        starts = array(values, "values", (2,))
        blocks = Blocks(self, self._engine.add_blocks(manifold, starts), (len(starts), starts.shape[1]))
        if fixed is not None:
            held = np.arange(len(blocks))[np.asarray(fixed, dtype=None if np.size(fixed) else int)]
            self._engine.hold((blocks._first + held).tolist())
        return blocks

    def add_residuals(
        self,
        f: Callable[..., Any],
        blocks: Sequence[tuple[Blocks, Any]],
        data: Sequence[Any] = (),
        loss: str | None = None,
        f_scale: float = 1.0,
    ) -> None:
        """Adds residual blocks that one function computes.

        Parameters
        ----------
        f : callable
            Residuals `f(block, …, *data)`, a list with one array for each residual. It is recorded, and has to hold for all residual blocks at
            once: a block comes as an array of shape (size, residual blocks), and data with the last axis as long.
        blocks : sequence of (Blocks, sequence of int)
            For each block argument, the blocks, and which of them each residual block depends on.
        data : sequence of array_like
            Further arguments, such as observations.
        loss : {'huber', 'soft_l1', 'cauchy', 'arctan', 'tukey', 'geman_mcclure', 'welsch'}, optional
            Robust loss of the squared norm of a residual block.
        f_scale : float
            Norm above which the loss differs from least squares.

        Raises
        ------
        TypeError
            If the function cannot be recorded, with the reason.
        """
        if not blocks:
            raise ValueError("residuals depend on one parameter block or more")
        indices = [_indices(own, of, place) for place, (own, of) in enumerate(blocks)]
        rows = len(indices[0])
        if any(len(of) != rows for of in indices):
            raise ValueError(
                f"blocks have {', '.join(str(len(of)) for of in indices)} indices: one for each residual block"
            )
        if rows == 0:
            return
        given = [np.asarray(one, dtype=float) for one in data]
        for place, one in enumerate(given):
            if one.ndim and one.shape[-1] != rows:
                raise ValueError(f"data[{place}] has shape {one.shape}, there are {rows} residual blocks")
            if not np.isfinite(one).all():
                raise ValueError(f"data[{place}] contains NaN or infinity")
        starts = [own.values[of[0]] for (own, _), of in zip(blocks, indices, strict=True)]
        try:
            residuals = record_residuals(f, starts, given, rows)
        except Untraceable as reason:
            raise TypeError(f"f cannot be recorded: {reason}") from None
        places = np.stack([own._first + of for (own, _), of in zip(blocks, indices, strict=True)], axis=1)
        engine_loss = None if loss in (None, "linear") else (str(loss), float(f_scale))
        self._engine.add_residuals(residuals, np.ascontiguousarray(places, dtype=np.int64), engine_loss)

    @property
    def cost(self) -> float:
        """Half of the sum of squares at the current values of the blocks."""
        return self._engine.cost()

    def solve(self, ftol: float = 1e-10, max_iterations: int | None = None, n_jobs: int = 0) -> BlocksResult:
        """Moves the blocks to a minimum.

        Parameters
        ----------
        ftol : float
            Relative reduction of the cost at which the solve ends.
        max_iterations : int, optional
            Largest number of trial steps.
        n_jobs : int
            Number of threads; 0 for one thread per core.
        """
        solved = self._engine.solve({"ftol": float(ftol), "max_iterations": max_iterations}, _threads(n_jobs))
        return BlocksResult(
            solved["cost"], solved["initial_cost"], solved["success"], solved["status"], solved["message"], solved["iterations"],
            solved["costs"], solved["form"],
        )  # fmt: skip


def _indices(blocks: Blocks, of: Any, place: int) -> _Array:
    made = np.asarray(of)
    if made.ndim != 1 or (made.size and made.dtype.kind not in "iu"):
        raise TypeError(f"blocks[{place}] needs a list of whole numbers, one for each residual block")
    wrong = made[(made < 0) | (made >= len(blocks))]
    if wrong.size:
        raise ValueError(f"blocks[{place}] has no block {wrong[0]}; there are {len(blocks)}")
    return made.astype(np.int64)
