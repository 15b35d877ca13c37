"""Recording of what a function computes with its parameters, as a program with exact derivatives."""

from .cache import TRACES
from .graph import Untraceable
from .trace import Trace, is_trusted, record, second_point

__all__ = ["TRACES", "Trace", "Untraceable", "is_trusted", "record", "second_point"]
