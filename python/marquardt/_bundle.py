"""Bundle adjustment of cameras and points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._blocks import BlocksResult, Problem
from ._options import array

_Array = np.ndarray


def _rotated(w: Any, p: Any) -> list[Any]:
    """Points turned by rotation vectors."""
    square = w[0] ** 2 + w[1] ** 2 + w[2] ** 2
    is_small = square < 1e-6
    angle = np.sqrt(np.where(is_small, 1.0, square))
    sine = np.where(is_small, 1 - square / 6 * (1 - square / 20), np.sin(angle) / angle)
    cosine = np.where(is_small, 0.5 - square / 24 * (1 - square / 30), (1 - np.cos(angle)) / angle**2)
    along, kept = cosine * (w[0] * p[0] + w[1] * p[1] + w[2] * p[2]), 1 - square * cosine
    return [
        kept * p[0] + sine * (w[1] * p[2] - w[2] * p[1]) + along * w[0],
        kept * p[1] + sine * (w[2] * p[0] - w[0] * p[2]) + along * w[1],
        kept * p[2] + sine * (w[0] * p[1] - w[1] * p[0]) + along * w[2],
    ]


def project(camera: Any, point: Any) -> list[Any]:
    """Projects points to pixels, with the camera model of "Bundle Adjustment in the Large".

    `camera` is a rotation vector, a translation, the focal length, and two coefficients of radial distortion.
    """
    x, y, z = (turned + camera[3 + axis] for axis, turned in enumerate(_rotated(camera[:3], point)))
    u, v = -x / z, -y / z
    square = u**2 + v**2
    scale = camera[6] * (1 + square * (camera[7] + square * camera[8]))
    return [scale * u, scale * v]


@dataclass(frozen=True)
class BundleResult(BlocksResult):
    """Result of a bundle adjustment: `camera_params`, `points_3d`, and `residuals` of shape (observations, 2)."""

    camera_params: _Array
    points_3d: _Array
    residuals: _Array


def bundle_adjustment(
    camera_params: Any,
    points_3d: Any,
    camera_indices: Any,
    point_indices: Any,
    points_2d: Any,
    *,
    project: Callable[[Any, Any], Sequence[Any]] = project,
    fixed_cameras: Any = None,
    fixed_points: Any = None,
    loss: str | None = None,
    f_scale: float = 1.0,
    ftol: float = 1e-8,
    max_iterations: int | None = None,
    n_jobs: int = 0,
) -> BundleResult:
    """Adjusts cameras and points to the pixels at which the points were observed.

    The first five arguments are those of SciPy's cookbook.

    Parameters
    ----------
    camera_params : array_like of shape (cameras, size)
        Starts of the cameras; for `project`, rotation vector, translation, focal length, and two coefficients of distortion.
    points_3d : array_like of shape (points, 3)
        Starts of the points.
    camera_indices, point_indices : array_like of int of shape (observations,)
        Camera and point of each observation.
    points_2d : array_like of shape (observations, 2)
        Pixels.
    project : callable
        `project(camera, point)` returns two arrays of pixels. That of "Bundle Adjustment in the Large" by default.
    fixed_cameras, fixed_points : sequence of int, or of bool, optional
        Cameras and points that are not changed; those without an observation are never changed.
    loss, f_scale
        Robust loss of the distance between pixels, and its scale.
    ftol, max_iterations, n_jobs
        As in `Problem.solve`.

    Returns
    -------
    BundleResult
    """
    problem, observed = Problem(), array(points_2d, "points_2d", (2,))
    if observed.shape[1] != 2:
        raise ValueError(f"points_2d has {observed.shape[1]} columns, not 2")
    both = []
    for name, starts, indices, fixed in (
        ("camera", camera_params, camera_indices, fixed_cameras),
        ("point", points_3d, point_indices, fixed_points),
    ):
        indices, count = np.asarray(indices), len(starts)
        if indices.shape != (len(observed),):
            raise ValueError(f"{name}_indices has shape {indices.shape}, points_2d has {len(observed)} rows")
        if indices.size and not 0 <= indices.min() <= indices.max() < count:
            raise ValueError(f"{name}_indices must be from 0 to {count - 1}")
        held = np.ones(count, dtype=bool)
        held[indices] = False
        if fixed is not None:
            held[np.asarray(fixed, dtype=None if np.size(fixed) else int)] = True
        both.append((problem.add_blocks(starts, fixed=held), indices))

    def residuals(camera: Any, point: Any, pixels: Any) -> list[Any]:
        u, v = project(camera, point)
        return [u - pixels[0], v - pixels[1]]

    problem.add_residuals(residuals, both, [observed.T], loss, f_scale)
    solved = problem.solve(ftol, max_iterations, n_jobs)
    camera_params, points_3d = (blocks.values for blocks, _ in both)
    end = residuals(camera_params[camera_indices].T, points_3d[point_indices].T, observed.T)
    return BundleResult(
        **vars(solved), camera_params=camera_params, points_3d=points_3d, residuals=np.stack(end, axis=1)
    )
