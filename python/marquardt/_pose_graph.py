"""Graphs of poses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._options import array
from ._options import threads as _threads

_Array = np.ndarray


@dataclass(frozen=True)
class PoseGraphResult:
    """Result of a solve of a pose graph.

    Attributes
    ----------
    poses : ndarray of shape (poses, 3 or 7)
        `x y angle` in the plane, `x y z i j k w` in space.
    points : ndarray of shape (points, 2 or 3)
        Landmarks of a file.
    ids, point_ids : list of int
        Numbers of the poses and points.
    cost, given_cost : float
        Half of the squared residuals, at the end and at the poses as they were given.
    edge_costs : ndarray
        Cost of each edge, before its loss.
    false_edges : list of int
        Edges that were left out as false, with `robust=True`.
    start : str
        Name of the start that was used.
    success : bool
    status, message : str
    nit : int
    warnings : list of str
        Warnings about the graph.
    """

    poses: _Array
    points: _Array
    ids: list[int]
    point_ids: list[int]
    cost: float
    given_cost: float
    edge_costs: _Array
    false_edges: list[int]
    start: str
    success: bool
    status: str
    message: str
    nit: int
    warnings: list[str]


def pose_graph(
    poses: Any,
    pairs: Any = None,
    measured: Any = None,
    information: Any = None,
    *,
    fixed: Any = None,
    start: str = "best",
    loss: str | None = None,
    f_scale: float = 1.0,
    robust: bool = False,
    ftol: float = 1e-8,
    max_iterations: int | None = None,
    n_jobs: int = 0,
) -> PoseGraphResult:
    """Finds the poses that fit relative measurements best (SLAM, synchronisation).

    Parameters
    ----------
    poses : array_like of shape (n, 3) or (n, 7), path, or None
        `x y angle` in the plane, `x y z i j k w` (a unit quaternion) in space, to start from; a file of g2o or TORO; or None, where poses
        are placed along the measurements.
    pairs : array_like of int of shape (m, 2)
        For each measurement, the pose from which another was seen, and that other.
    measured : array_like of shape (m, 3) or (m, 7)
        The second pose in the frame of the first.
    information : array_like of shape (m, d, d) or (d, d), optional
        Inverse covariances of the measurements, `d` being 3 or 6, rotations last; the identity by default.
    fixed : sequence of int, optional
        Poses that stay where they are; the first of each connected part by default.
    start : {'best', 'given', 'odometry', 'chordal', 'spectral'}
        Start of the solve; 'best' uses the start of lowest cost.
    loss, f_scale
        Robust loss of loop closures, measurements between poses that do not follow each other, and its scale.
    robust : bool
        Whether false loop closures are found and left out, by graduated non-convexity.
    ftol, max_iterations, n_jobs
        As in `Problem.solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from marquardt.graph import pose_graph
    >>> quarter = [1.0, 0.0, np.pi / 2]
    >>> square = pose_graph(None, [(0, 1), (1, 2), (2, 3), (3, 0)], [quarter] * 4)
    >>> square.poses[2, :2].round(6) + 0.0
    array([1., 1.])
    """
    options = {"start": start, "loss": loss, "f_scale": float(f_scale), "robust": bool(robust), "ftol": float(ftol),
               "max_iterations": max_iterations}  # fmt: skip
    is_file = poses is not None and not isinstance(poses, np.ndarray | list | tuple)
    if is_file:
        if any(one is not None for one in (pairs, measured, information, fixed)):
            raise ValueError("a file has its own pairs, measurements, information and fixed poses")
        text = str(poses)
    else:
        text = _text_of(poses, pairs, measured, information, fixed)
    try:
        solved = _engine.pose_graph(text, is_file, options, _threads(n_jobs))
    except ValueError as error:
        if is_file:
            raise
        import re

        # Measurements are the first lines.
        raise ValueError(re.sub(r"\bline (\d+)", lambda line: f"measurement {int(line[1]) - 1}", str(error))) from None
    (ids, made), (point_ids, points) = solved["poses"], solved["points"]
    if not is_file:
        order = np.argsort(ids)
        ids, made = sorted(ids), made[order]
    return PoseGraphResult(
        made, points, ids, point_ids, solved["cost"], solved["given_cost"], np.array(solved["edge_costs"]), solved["false_edges"],
        solved["start"], solved["success"], solved["status"], solved["message"], solved["iterations"], solved["warnings"],
    )  # fmt: skip


def _text_of(poses: Any, pairs: Any, measured: Any, information: Any, fixed: Any) -> str:
    """A graph as a file of g2o, which the engine reads, with the measurements first."""
    edges = array(measured, "measured", (2,))
    width = edges.shape[1]
    if width not in (3, 7):
        raise ValueError(f"measured has {width} columns: x y angle, or x y z and a quaternion i j k w")
    ends = np.asarray(pairs)
    if ends.shape != (len(edges), 2) or ends.dtype.kind not in "iu":
        raise ValueError(f"pairs must be whole numbers of shape ({len(edges)}, 2), as measured has {len(edges)} rows")
    starts = None if poses is None else array(poses, "poses", (2,))
    if starts is not None and starts.shape[1] != width:
        raise ValueError(f"poses has {starts.shape[1]} columns, measured has {width}")
    count = len(starts) if starts is not None else int(ends.max(initial=-1)) + 1
    if ends.size and not 0 <= ends.min() <= ends.max() < count:
        raise ValueError(f"pairs must be numbers of poses, from 0 to {count - 1}")
    size = 3 if width == 3 else 6
    matrices = np.broadcast_to(np.eye(size) if information is None else array(information, "information", (2, 3)),
                               (len(edges), size, size))  # fmt: skip
    for name, values in (("poses", starts), ("measured", edges), ("information", matrices)):
        if values is not None and not np.isfinite(values).all():
            raise ValueError(f"{name} contains NaN or infinity")
    if not np.allclose(matrices, np.swapaxes(matrices, 1, 2)):
        raise ValueError("information matrices must be symmetric")
    of_pose, of_edge = ("VERTEX_SE2", "EDGE_SE2") if width == 3 else ("VERTEX_SE3:QUAT", "EDGE_SE3:QUAT")
    upper, right = np.triu_indices(size)
    triangles = matrices[:, upper, right]

    def words(values: _Array) -> str:
        return " ".join(map(repr, values.tolist()))

    lines = [
        f"{of_edge} {a} {b} {words(edge)} {words(triangle)}"
        for (a, b), edge, triangle in zip(ends.tolist(), edges, triangles, strict=True)
    ]
    if starts is not None:
        lines += [f"{of_pose} {index} {words(pose)}" for index, pose in enumerate(starts)]
    if fixed is not None and np.size(fixed):
        lines.append("FIX " + " ".join(map(str, np.ravel(np.asarray(fixed, dtype=int)).tolist())))
    return "\n".join(lines)
