"""Graphs of poses, bundles, and residual blocks of one's own."""

import math
import pathlib
import threading

import numpy as np
import pytest
import scipy.optimize

from marquardt.graph import Problem, bundle_adjustment, pose_graph, project

RANDOM = np.random.default_rng(5)


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Poses `b` in the frames of `a`, in the plane."""
    d, cos, sin = b[:, :2] - a[:, :2], np.cos(a[:, 2]), np.sin(a[:, 2])
    turned = b[:, 2] - a[:, 2]
    return np.column_stack([cos * d[:, 0] + sin * d[:, 1], cos * d[:, 1] - sin * d[:, 0], turned])


def ring(count: int = 40, noise: float = 0.01) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    angles = 2 * np.pi * np.arange(count) / count
    truth = np.column_stack([3 * np.cos(angles), 3 * np.sin(angles), angles + np.pi / 2])
    pairs = np.array([(i, (i + 1) % count) for i in range(count)] + [(i, (i + 7) % count) for i in range(0, count, 3)])
    measured = between(truth[pairs[:, 0]], truth[pairs[:, 1]]) + noise * RANDOM.normal(size=(len(pairs), 3))
    return truth, pairs, measured


def wrapped(angle: np.ndarray) -> np.ndarray:
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


@pytest.mark.parametrize("is_given", [False, True])
def test_a_ring_of_poses_is_scipys(is_given: bool) -> None:
    truth, pairs, measured = ring()
    weights = np.diag([4.0, 4.0, 25.0])
    start = truth + 0.05 * RANDOM.normal(size=truth.shape)
    start[0] = truth[0]
    found = pose_graph(start if is_given else None, pairs, measured, weights)
    assert found.success and found.poses.shape == truth.shape

    def residuals(x: np.ndarray) -> np.ndarray:
        poses = np.vstack([found.poses[:1], x.reshape(-1, 3)])
        r = between(poses[pairs[:, 0]], poses[pairs[:, 1]]) - measured
        # Errors are measured in the frame that the measurement leads to.
        cos, sin = np.cos(measured[:, 2]), np.sin(measured[:, 2])
        angle = wrapped(r[:, 2])
        turned = np.column_stack([cos * r[:, 0] + sin * r[:, 1], cos * r[:, 1] - sin * r[:, 0]])
        half = angle / 2
        scale = np.where(np.abs(half) < 1e-6, 1.0, half / np.tan(np.where(half == 0, 1, half)))
        along = np.column_stack(
            [scale * turned[:, 0] + half * turned[:, 1], scale * turned[:, 1] - half * turned[:, 0]]
        )
        return np.column_stack([2 * along, 5 * angle]).ravel()

    theirs = scipy.optimize.least_squares(residuals, found.poses[1:].ravel(), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert found.cost == pytest.approx(theirs.cost, rel=1e-6)
    np.testing.assert_allclose(found.poses[1:].ravel()[:2], theirs.x[:2], atol=1e-5)
    assert found.edge_costs.sum() == pytest.approx(found.cost, rel=1e-9)


def test_false_closures_are_found_and_fixed_poses_stay() -> None:
    truth, pairs, measured = ring()
    wrong = len(pairs)
    pairs, measured = np.vstack([pairs, [[3, 25]]]), np.vstack([measured, [[5.0, -2.0, 1.0]]])
    information = np.eye(3) / 0.01**2
    found = pose_graph(truth, pairs, measured, information, fixed=[0, 20], robust=True)
    assert found.false_edges == [wrong]
    np.testing.assert_allclose(found.poses[[0, 20], :2], truth[[0, 20], :2], atol=1e-12)
    np.testing.assert_allclose(found.poses[:, :2], truth[:, :2], atol=0.2)
    robust = pose_graph(truth, pairs, measured, information, loss="cauchy", start="given")
    assert robust.edge_costs[wrong] == robust.edge_costs.max() and robust.start == "given"


def test_poses_in_space_and_files(tmp_path: pathlib.Path) -> None:
    half = math.sqrt(0.5)
    quarter = [1.0, 0.0, 0.0, 0.0, 0.0, half, half]
    found = pose_graph(None, [(0, 1), (1, 2), (2, 3), (3, 0)], [quarter] * 4)
    np.testing.assert_allclose(found.poses[2, :3], [1, 1, 0], atol=1e-9)
    file = tmp_path / "square.g2o"
    file.write_text(
        "".join(f"EDGE_SE2 {a} {b} 1 0 {math.pi / 2} 1 0 0 1 0 1\n" for a, b in [(7, 9), (9, 8), (8, 5), (5, 7)])
    )
    read = pose_graph(file)
    assert sorted(read.ids) == [5, 7, 8, 9] and read.cost < 1e-20 and read.warnings


def test_wrong_graphs_are_named() -> None:
    truth, pairs, measured = ring()
    for match, arguments, keywords in [
        ("measured has 2 columns", (truth, pairs, measured[:, :2]), {}),
        ("poses has 2 columns", (truth[:, :2], pairs, measured), {}),
        ("pairs must be whole numbers of shape", (truth, pairs[:-1], measured), {}),
        ("from 0 to 39", (truth, pairs + 1, measured), {}),
        ("measured contains NaN", (truth, pairs, measured * np.nan), {}),
        ("symmetric", (truth, pairs, measured, np.array([[1, 2, 0], [0, 1, 0], [0, 0, 1.0]])), {}),
        ("measurement 0", (truth, pairs, measured, np.diag([1.0, -1.0, 1.0])), {}),
        ("start must be", (truth, pairs, measured), {"start": "nowhere"}),
        ("no loss", (truth, pairs, measured), {"loss": "hinge"}),
        ("measurement 0", (truth, np.zeros_like(pairs), measured), {}),
        ("a file has its own", ("x.g2o", pairs), {}),
        ("No such file|cannot", ("/nowhere/x.g2o",), {}),
    ]:
        with pytest.raises(ValueError, match=match):
            pose_graph(*arguments, **keywords)


def bundle(noise: float = 0.3) -> tuple[np.ndarray, ...]:
    cameras = np.column_stack(
        [
            0.1 * RANDOM.normal(size=(6, 3)),
            0.5 * RANDOM.normal(size=(6, 2)),
            np.full(6, -9.0),
            np.full(6, 500.0),
            np.zeros((6, 2)),
        ]
    )
    cameras[:, 7:] = [1e-2, -1e-3]
    points = RANDOM.uniform(-2, 2, (60, 3))
    camera_indices, point_indices = (index.ravel() for index in np.meshgrid(np.arange(6), np.arange(60)))
    pixels = np.stack(project(cameras[camera_indices].T, points[point_indices].T), axis=1)
    return cameras, points, camera_indices, point_indices, pixels + noise * RANDOM.normal(size=pixels.shape)


def test_a_bundle_is_adjusted() -> None:
    cameras, points, of_camera, of_point, pixels = bundle()
    points = np.vstack([points, [[9.0, 9.0, 9.0]]])
    starts = cameras + [0.01, 0.01, 0.01, 0.05, 0.05, 0.05, 5, 0, 0] * RANDOM.normal(size=cameras.shape)
    moved = points + 0.05 * RANDOM.normal(size=points.shape)
    found = bundle_adjustment(starts, moved, of_camera, of_point, pixels)
    assert found.success and found.cost < 0.01 * found.initial_cost
    assert (found.points_3d[60] == moved[60]).all(), "it was not seen"
    degrees = pixels.size - cameras.size - 3 * 60 + 7
    assert math.sqrt(2 * found.cost / degrees) == pytest.approx(0.3, rel=0.1)
    assert found.cost == pytest.approx(0.5 * float((found.residuals**2).sum()), rel=1e-9)

    def residuals(x: np.ndarray) -> np.ndarray:
        cameras, points = x[:54].reshape(6, 9), x[54:].reshape(-1, 3)
        return (np.stack(project(cameras[of_camera].T, points[of_point].T), axis=1) - pixels).ravel()

    theirs = scipy.optimize.least_squares(residuals, np.concatenate([found.camera_params.ravel(), found.points_3d[:60].ravel()]),
                                          x_scale="jac", ftol=1e-12)  # fmt: skip
    assert theirs.cost > found.cost * (1 - 1e-5)


def test_outliers_and_held_cameras_of_a_bundle() -> None:
    cameras, points, of_camera, of_point, pixels = bundle()
    pixels[::31] += 80.0
    moved = points + 0.05 * RANDOM.normal(size=points.shape)
    robust = bundle_adjustment(
        cameras, moved, of_camera, of_point, pixels, fixed_cameras=range(6), loss="huber", f_scale=1.0
    )
    plain = bundle_adjustment(cameras, moved, of_camera, of_point, pixels, fixed_cameras=np.ones(6, bool))
    assert (robust.camera_params == cameras).all()
    assert np.abs(robust.points_3d - points).max() < 0.3 * np.abs(plain.points_3d - points).max()


def test_a_pinhole_of_ones_own() -> None:
    def pinhole(camera, point):
        z = point[2] + camera[2]
        return 300 * (point[0] + camera[0]) / z, 300 * (point[1] + camera[1]) / z

    cameras, points = RANDOM.normal(size=(4, 3)) + np.array([0, 0, 8]), RANDOM.normal(size=(20, 3))
    of_camera, of_point = (index.ravel() for index in np.meshgrid(np.arange(4), np.arange(20)))
    pixels = np.stack(pinhole(cameras[of_camera].T, points[of_point].T), axis=1)
    found = bundle_adjustment(cameras, points + 0.1 * RANDOM.normal(size=points.shape), of_camera, of_point, pixels, project=pinhole,
                              fixed_cameras=[0, 1])  # fmt: skip
    assert found.cost < 1e-12
    np.testing.assert_allclose(found.points_3d, points, atol=1e-6)


@pytest.mark.parametrize(
    "values", [(np.nan, "NaN"), ("shape", "points_2d has 3 columns"), ("index", "from 0 to"), ("length", "shape")]
)
def test_wrong_bundles_are_named(values) -> None:
    cameras, points, of_camera, of_point, pixels = bundle()
    what, match = values
    if what == "shape":
        pixels = np.column_stack([pixels, pixels[:, :1]])
    elif what == "index":
        of_point = of_point + 1
    elif what == "length":
        of_camera = of_camera[:-1]
    else:
        pixels[3] = what
    with pytest.raises(ValueError, match=match):
        bundle_adjustment(cameras, points, of_camera, of_point, pixels)


def test_blocks_of_a_chain_are_least_squares() -> None:
    count = 300
    truth = np.cumsum(RANDOM.normal(size=count))
    steps = np.diff(truth) + 0.1 * RANDOM.normal(size=count - 1)
    problem = Problem()
    places = problem.add_blocks(np.zeros((count, 1)), fixed=[0])

    def of_step(a, b, step):
        return [(b[0] - a[0] - step) / 0.1]

    def of_fix(a, place):
        return (a[0] - place) / 0.5

    problem.add_residuals(of_step, [(places, np.arange(count - 1)), (places, np.arange(1, count))], [steps])
    problem.add_residuals(of_fix, [(places, np.arange(0, count, 10))], [truth[::10] - truth[0]])
    before = problem.cost
    solved = problem.solve()
    assert solved.success and solved.cost < before and (np.diff(solved.costs) <= 0).all()
    rows = np.zeros((count - 1 + 30, count - 1))
    for i in range(count - 1):
        rows[i, i] = 10
        if i:
            rows[i, i - 1] = -10
    for k, i in enumerate(range(0, count, 10)):
        if i:
            rows[count - 1 + k, i - 1] = 2
    right = np.concatenate([10 * steps, 2 * (truth[::10] - truth[0])])
    expected = np.linalg.lstsq(rows, right, rcond=None)[0]
    np.testing.assert_allclose(places.values[1:, 0], expected, atol=1e-8)
    errors = np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)))
    np.testing.assert_allclose(places.stderr[1:, 0], errors, rtol=1e-8)
    assert places.stderr[0, 0] == 0.0
    places.values = np.zeros((count, 1))
    assert problem.cost == pytest.approx(before)


def test_rotations_are_averaged() -> None:
    """A rotation of which several noisy measurements are there: its block stays a unit quaternion."""
    truth = np.array([0.1, -0.3, 0.2, 0.9])
    truth /= np.linalg.norm(truth)
    measured = truth[:, None] + 0.01 * RANDOM.normal(size=(4, 50))
    measured /= np.linalg.norm(measured, axis=0)
    problem = Problem()
    rotation = problem.add_blocks([[0.0, 0.0, 0.0, 1.0]], "so3")
    problem.add_residuals(lambda q, m: [q[i] - m[i] for i in range(4)], [(rotation, np.zeros(50, int))], [measured])
    assert problem.solve().success
    mean = measured.mean(axis=1)
    np.testing.assert_allclose(rotation.values[0], mean / np.linalg.norm(mean), atol=1e-8)


def test_wrong_blocks_are_named() -> None:
    problem = Problem()
    blocks = problem.add_blocks(np.zeros((3, 2)))
    ok = [(blocks, [0, 1, 2])]
    for error, match, work in [
        (
            TypeError,
            "cannot be recorded",
            lambda: problem.add_residuals(lambda b: [np.interp(b[0], [0, 1], [0, 1])], ok),
        ),
        (TypeError, "other values", lambda: problem.add_residuals(lambda b: [b[0] + RANDOM.normal()], ok)),
        (TypeError, "no residuals", lambda: problem.add_residuals(lambda b: [], ok)),
        (ValueError, "has no block 3", lambda: problem.add_residuals(lambda b: [b[0]], [(blocks, [3])])),
        (TypeError, "whole numbers", lambda: problem.add_residuals(lambda b: [b[0]], [(blocks, [0.5])])),
        (ValueError, "indices", lambda: problem.add_residuals(lambda a, b: [a[0]], [(blocks, [0]), (blocks, [1, 2])])),
        (ValueError, r"data\[0\] has shape", lambda: problem.add_residuals(lambda b, d: [b[0] - d], ok, [[1.0, 2.0]])),
        (
            ValueError,
            r"data\[0\] contains NaN",
            lambda: problem.add_residuals(lambda b, d: [b[0] - d], ok, [[1.0, np.nan, 2]]),
        ),
        (
            ValueError,
            "twice",
            lambda: problem.add_residuals(lambda a, b: [a[0] - b[0]], [(blocks, [1]), (blocks, [1])]),
        ),
        (ValueError, "loss", lambda: problem.add_residuals(lambda b: [b[0]], ok, loss="hinge")),
        (ValueError, "scale", lambda: problem.add_residuals(lambda b: [b[0]], ok, loss="huber", f_scale=-1.0)),
        (ValueError, "one parameter block", lambda: problem.add_residuals(lambda: [0.0], [])),
        (ValueError, "manifold", lambda: problem.add_blocks([[1.0]], "torus")),
        (ValueError, "not a point", lambda: problem.add_blocks([[1.0, 2.0, 3.0, 4.0]], "so3")),
        (ValueError, "shape", lambda: setattr(blocks, "values", np.zeros((2, 2)))),
    ]:
        with pytest.raises(error, match=match):
            work()


def test_a_residual_may_depend_on_many_blocks() -> None:
    problem = Problem()
    blocks = problem.add_blocks(np.arange(7.0)[:, None])
    problem.add_residuals(lambda *of: [sum(b[0] for b in of) - 28.0], [(blocks, [place]) for place in range(7)])
    problem.add_residuals(lambda b, own: [0.1 * (b[0] - own)], [(blocks, range(7))], [np.arange(7.0)])
    assert problem.solve().success
    # Seven equal moves, of which the sum is drawn by 7.
    np.testing.assert_allclose(blocks.values[:, 0] - np.arange(7.0), 7.0 / 7.01, rtol=1e-9)


def test_a_thread_may_solve() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(pose_graph(None, [(0, 1)], [[1.0, 0.0, 0.0]]).success))
    thread.start()
    thread.join(20)
    assert found == [True]
