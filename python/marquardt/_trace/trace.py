"""Recording of a function, and the checks before its record is trusted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._engine import Model
from .graph import Graph, Untraceable
from .recorder import Recorder
from .text import formula_text

#: Relative steps from the start to the second point at which a trace is compared with its function.
STEPS = (0.0123, 1e-4)


class Trace:
    """A function as a program of its parameters and of columns, the arrays that it computes of other values alone.

    Attributes
    ----------
    model : Model
        The program.
    matrix : ndarray of shape (rows, columns)
        The columns.
    """

    def __init__(self, graph: Graph, result: int, parameters: Sequence[str]) -> None:
        used = _reachable(graph.nodes, result)
        order = sorted({graph.nodes[node][1] for node in used if graph.nodes[node][0] == "column"})
        places = {column: place for place, column in enumerate(order)}
        # Nodes that have no part in the result are constants that nothing takes.
        nodes = [
            ("column", places[node[1]])
            if node[0] == "column" and index in used
            else node
            if index in used
            else ("const", 0.0)
            for index, node in enumerate(graph.nodes[: result + 1])
        ]
        self.nodes, self.result, self.parameters, self.rows = nodes, result, list(parameters), graph.rows
        self.columns = [graph.columns[column] for column in order]
        self.matrix = _matrix(self.columns, graph.rows)
        try:
            self.model = Model.traced(self.parameters, self.matrix.shape[1], nodes, result)
        except ValueError as error:
            raise Untraceable(str(error)) from None
        #: For each column, the row of `x` that it is; `None` if one of them is another array.
        self.sources: list[int] | None = None

    def note_sources(self, x: Any) -> None:
        """Finds the columns among the rows of `x`. The program then holds for other `x` as well, if the checks say so."""
        rows = _rows_of(x, self.rows)
        if rows is None:
            return
        known = {
            np.ascontiguousarray(row, dtype=np.float64).tobytes(): index
            for index, row in reversed(list(enumerate(rows)))
        }
        sources = [known.get(column.tobytes(), -1) for column in self.columns]
        if -1 not in sources:
            self.sources = sources

    def matrix_at(self, x: Any, rows: int) -> np.ndarray | None:
        """The columns for other `x`, where they are rows of `x`."""
        if self.sources is None:
            return None
        if not self.sources:
            return np.zeros((rows, 1))
        own = _rows_of(x, rows)
        if own is None or len(own) <= max(self.sources):
            return None
        return _matrix([own[source] for source in self.sources], rows)

    def text(self) -> str | None:
        """The formula, with `x` for the predictor, or `x0`, `x1`, … for several columns."""
        count = len(self.columns)
        if self.sources is not None and len(set(self.sources)) == count == 1 and self.sources[0] == 0:
            names = ["x"]
        else:
            names = [f"x{index}" for index in (self.sources if self.sources is not None else range(count))]
        return formula_text(self.nodes, self.result, self.parameters, names)


def _reachable(nodes: Sequence[tuple[Any, ...]], result: int) -> set[int]:
    used, waiting = set(), [result]
    while waiting:
        node = waiting.pop()
        if node not in used:
            used.add(node)
            if nodes[node][0] not in ("const", "param", "column"):
                waiting.extend(nodes[node][1:])
    return used


def _matrix(columns: Sequence[np.ndarray], rows: int) -> np.ndarray:
    if not columns:
        return np.zeros((rows, 1))
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0], dtype=np.float64).reshape(rows, 1)
    return np.stack(columns, axis=1).astype(np.float64, copy=False)


def _rows_of(x: Any, rows: int) -> Sequence[np.ndarray] | None:
    """The arrays of one entry a row that `x` is made of."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiu" or not x.ndim or x.shape[-1] != rows:
        return None
    return [x] if x.ndim == 1 else list(x.reshape(-1, rows)) if x.ndim == 2 else None


def record(
    function: Callable[..., Any],
    arguments: Callable[[list[Recorder]], tuple[Any, ...]],
    parameters: Sequence[str],
    rows: int,
) -> Trace:
    """Calls a function once with recorders for its parameters.

    Parameters
    ----------
    function : callable
        The function.
    arguments : callable
        Returns the arguments of the function, given the recorders.
    parameters : sequence of str
        Names of the parameters.
    rows : int
        Number of values that the function returns.

    Raises
    ------
    Untraceable
        With the reason for which no program repeats the function.
    """
    graph = Graph(rows)
    recorders = [Recorder(graph, graph.add("param", index), False) for index in range(len(parameters))]
    result = _recorded(graph, lambda: _result(graph, function(*arguments(recorders))))
    return Trace(graph, result, parameters)


def record_residuals(
    function: Callable[..., Any], starts: Sequence[np.ndarray], data: Sequence[np.ndarray], rows: int
) -> list[tuple[Model, np.ndarray]]:
    """Calls a function of parameter blocks once with recorders for them, and compares its residuals with it.

    Parameters
    ----------
    function : callable
        Residuals `function(block, …, *data)`, each of which has an entry for each row; a block is of shape (size, rows).
    starts : sequence of ndarray
        The blocks of the first row.
    data : sequence of ndarray
        Further arguments.
    rows : int
        Number of residual blocks.

    Returns
    -------
    list
        A program with its columns for each residual.
    """
    graph, blocks, count = Graph(rows), [], 0
    for start in starts:
        nodes = np.array([graph.add("param", count + index) for index in range(start.size)], dtype=np.intp)
        blocks.append(Recorder(graph, nodes, True))
        count += start.size

    def residuals() -> list[int]:
        return [_result(graph, one) for one in _residuals_of(function(*blocks, *data))]

    results = _recorded(graph, residuals)
    if not results:
        raise Untraceable("the function returns no residuals")
    traces = [Trace(graph, result, [f"p{index}" for index in range(count)]) for result in results]
    start, ends = np.concatenate(starts), np.cumsum([start.size for start in starts])[:-1]

    def of_residual(index: int) -> Callable[[np.ndarray], Any]:
        def at(point: np.ndarray) -> Any:
            parts = [np.repeat(part[:, None], rows, axis=1) for part in np.split(point, ends)]
            return np.broadcast_to(_residuals_of(function(*parts, *data))[index], (rows,))

        return at

    for index, trace in enumerate(traces):
        # A single point may be one of those at which a function is not what it is elsewhere.
        points = [second_point(start, None, step) for step in STEPS]
        if not is_trusted(trace.model, trace.matrix, of_residual(index), points):
            raise Untraceable(f"residual {index} of what was recorded has other values than the function")
    return [(trace.model, trace.matrix) for trace in traces]


def _residuals_of(value: Any) -> Sequence[Any]:
    """Residuals, each with an entry for each row, of a list, an array of rows, or a single one."""
    if isinstance(value, list | tuple):
        return value
    return list(value) if np.ndim(value) == 2 else [value]


def _recorded(graph: Graph, work: Callable[[], Any]) -> Any:
    """Result of work with recorders; whatever goes wrong is a reason for which the function cannot be recorded."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = work()
        if graph.reason is not None:
            raise Untraceable(graph.reason)
    except Untraceable:
        raise Untraceable(graph.reason or "the function cannot be recorded") from None
    except Exception as error:
        raise Untraceable(graph.reason or f"{type(error).__name__}: {error}") from None
    return result


def _result(graph: Graph, value: Any) -> int:
    """Node of what a function has returned."""
    if value is None:
        raise graph.refuse("the function returns None")
    nodes, is_rows = graph.operand(value)
    if isinstance(nodes, np.ndarray):
        if is_rows and nodes.size == 1:
            return int(nodes.ravel()[0])
        if not is_rows and nodes.size in (1, graph.rows):
            return graph.unified([int(node) for node in nodes.ravel()])
        raise graph.refuse(f"the function returns an array of shape {np.shape(value)} for {graph.rows} rows")
    return int(nodes)


def second_point(start: np.ndarray, bounds: tuple[np.ndarray, np.ndarray] | None, step: float) -> np.ndarray:
    """A point beside the start, within bounds, in which no two parameters moved alike."""
    shares = 0.5 + 0.5 * ((np.arange(1, start.size + 1) * 0.6180339887498949) % 1.0)
    steps = step * shares * np.where(start == 0.0, 1.0, start)
    moved = start + steps
    if bounds is not None:
        lower, upper = bounds
        moved = np.where((moved < lower) | (moved > upper), start - steps, moved)
        moved = np.clip(moved, lower, upper)
    return moved


def values_of(function: Callable[[np.ndarray], Any], at: np.ndarray, rows: int) -> np.ndarray | None:
    """What a function returns, as an array of floats; `None` if it cannot be one, or an exception was raised."""
    try:
        value = function(at)
        if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (rows,):
            return np.ascontiguousarray(value)
        if value is None:
            return None
        values = np.asarray(value)
        if values.dtype.kind not in "fiub":
            return None
        values = values.astype(np.float64, copy=False).ravel()
    except Exception:
        return None
    if values.size == 1 and rows != 1:
        return np.full(rows, values[0])
    return np.ascontiguousarray(values) if values.size == rows else None


def is_trusted(
    model: Model, matrix: np.ndarray, function: Callable[[np.ndarray], Any], points: Sequence[np.ndarray]
) -> bool:
    """The program has the values of the function at all of these points, finite ones at one of them at least."""
    start, *others = points
    rows = len(matrix)
    values = values_of(function, start, rows)
    # Where the function warns at its start, it does so in SciPy, too.
    is_finite = None if values is None else model.agrees(matrix, start, values)
    if is_finite is None:
        return False
    for at in others:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            values = values_of(function, at, rows)
        agrees = None if values is None else model.agrees(matrix, at, values)
        if agrees is None:
            return False
        is_finite = is_finite or agrees
    return is_finite
