"""Recording of what a function computes with its parameters, as a program with exact derivatives."""

from .cache import TRACES
from .graph import Untraceable
from .trace import STEPS, Trace, is_trusted, record, record_residuals, second_point

__all__ = ["STEPS", "TRACES", "Trace", "Untraceable", "is_trusted", "record", "record_residuals", "second_point"]
