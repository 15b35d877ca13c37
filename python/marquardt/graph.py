"""Problems of many small parts: graphs of poses, bundles of cameras and points, and your own residual blocks.

Normal equations are solved by a sparse Cholesky factorisation, or by a Schur complement where blocks are many and small.
"""

from ._blocks import Blocks, BlocksResult, Problem
from ._bundle import BundleResult, bundle_adjustment, project
from ._pose_graph import PoseGraphResult, pose_graph

__all__ = [
    "Blocks",
    "BlocksResult",
    "BundleResult",
    "PoseGraphResult",
    "Problem",
    "bundle_adjustment",
    "pose_graph",
    "project",
]
