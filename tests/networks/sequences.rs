//! Layers for sequences: properties, limits, and refusals.
