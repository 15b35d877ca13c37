"""Curve fits with exact derivatives and honest statistics.

`curve_fit` and `least_squares` replace those of SciPy; `fit` returns a `Fit` with statistics, and `fit_many` fits thousands of data sets.
"""

from ._compare import compare
from ._compiled import Compiled, compile
from ._curve_fit import curve_fit
from ._fit import fit
from ._fit_many import ManyFits, fit_many
from ._fit_result import Fit
from ._least_squares import least_squares
from ._multi_start import Minimum, MultiStart, multi_start
from ._parameter import Estimate, Interval, Parameter
from ._scipy import OptimizeResult, OptimizeWarning
from ._statistics import Band, Bootstrap, Compared, Comparison, Profile

__all__ = [
    "Band",
    "Bootstrap",
    "Compared",
    "Comparison",
    "Compiled",
    "Estimate",
    "Fit",
    "Interval",
    "ManyFits",
    "Minimum",
    "MultiStart",
    "OptimizeResult",
    "OptimizeWarning",
    "Parameter",
    "Profile",
    "compare",
    "compile",
    "curve_fit",
    "fit",
    "fit_many",
    "least_squares",
    "multi_start",
]
__version__ = "0.1.0"
