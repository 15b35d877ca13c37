//! Pages that explain, with code that is compiled and run.

#[doc = include_str!("writing_the_model.md")]
pub mod writing_the_model {}

#[doc = include_str!("from_python.md")]
#[doc = "# SciPy: six fits\n\n```python"]
#[doc = include_str!("../../examples/python/scipy_fits.py")]
#[doc = "```\n\n```ignore"]
#[doc = include_str!("../../examples/scipy_fits.rs")]
#[doc = "```\n\n# lmfit: residuals over named parameters\n\n```python"]
#[doc = include_str!("../../examples/python/circle.py")]
#[doc = "```\n\n```ignore"]
#[doc = include_str!("../../examples/circle.rs")]
#[doc = "```\n\n# A simulator: differential equations\n\n```python"]
#[doc = include_str!("../../examples/python/kinetics.py")]
#[doc = "```\n\n```ignore"]
#[doc = include_str!("../../examples/kinetics.rs")]
#[doc = "```\n\n# Keras: a classifier\n\nIts numbers are not compared, as weights begin elsewhere.\n\n```python"]
#[doc = include_str!("../../examples/python/keras_classifier.py")]
#[doc = "```\n\n```ignore"]
#[doc = include_str!("../../examples/keras_classifier.rs")]
#[doc = "```"]
pub mod from_python {}
