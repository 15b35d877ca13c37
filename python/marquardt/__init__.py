"""Curve fits with exact derivatives and honest statistics."""

from ._curve_fit import curve_fit
from ._least_squares import least_squares
from ._scipy import OptimizeResult, OptimizeWarning

__all__ = ["OptimizeResult", "OptimizeWarning", "curve_fit", "least_squares"]
__version__ = "0.1.0"
