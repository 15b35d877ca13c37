"""SciPy's own tests of `curve_fit` and `least_squares`, with the drop-ins in their places."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import scipy.optimize

import marquardt

FOLDER = Path(scipy.optimize.__file__).parent / "tests"
#: Tests that fail, and why.
EXPLAINED = {
    "test_gh4555b": "the covariance that is compared to 2e-7 is that of forward differences, 1.6e-6 away from the exact one",
    "TestDogbox::test_numerical_jac": "dense and sparse solves take different numbers of evaluations; the solutions agree",
    "TestTRF::test_numerical_jac": "as for dogbox",
    "TestDogbox::test_nfev_options": "x² + 5 = 0 is minimised in more than 20 evaluations, as Gauss-Newton leaves out the curvature",
    "TestTRF::test_nfev_options": "as for dogbox",
    "TestLM::test_nfev_options": "as for dogbox",
    "TestDogbox::test_full_result": "as test_nfev_options: fewer than 10 evaluations are asked for",
    "TestTRF::test_full_result": "as for dogbox",
}


@pytest.mark.skipif(not (FOLDER / "test_least_squares.py").exists(), reason="SciPy is installed without its tests")
def test_scipys_tests_pass() -> None:
    here = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "-p", "scipy_shim", "-q", "--tb=no", "-rA", "-p", "no:cacheprovider"]
    command += [f"{FOLDER}/test_minpack.py::TestCurveFit", f"{FOLDER}/test_least_squares.py", f"--rootdir={FOLDER}"]
    packages = os.pathsep.join([str(here), str(Path(marquardt.__file__).parents[1])])
    environment = os.environ | {"PYTHONPATH": packages}
    run = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)
    results = [line.split()[:2] for line in run.stdout.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR"))]
    assert len(results) > 150, run.stdout + run.stderr
    failed = [name for outcome, name in results if outcome != "PASSED"]
    unexplained = [name for name in failed if not any(name.endswith(known) for known in EXPLAINED)]
    assert not unexplained
    assert len(failed) <= 0.05 * len(results), f"{len(failed)} of {len(results)}"
