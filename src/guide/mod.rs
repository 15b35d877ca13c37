//! Guide: pages by task, with code that is compiled and run.
//!
//! | page | content |
//! |---|---|
//! | [`curves`] | fits of curves: the ways to state a fit, its results and their uncertainty |
//! | [`writing_the_model`] | the ways to write a model, and the most frequent compile errors |
//! | [`command`] | the command `marquardt` for files, and its options beside gnuplot's |
//! | [`from_python`] | SciPy, lmfit and Keras: whole scripts side by side |
//! | [`from_crates`] | the crates levenberg-marquardt and argmin |
//! | [`from_ceres`] | Ceres and GTSAM: whole programs side by side |
//! | [`from_matlab`] | MATLAB: `lsqcurvefit`, `trainlm` and `trainbr` |
//! | [`from_gnuplot`] | gnuplot and Prism, by the command and in Rust |
//! | [`many_fits`] | fits of one model to every pixel of an image |
//! | [`graphs`] | poses, cameras and maps, with the names of Ceres |
//! | [`networks`] | training of small networks, by Levenberg–Marquardt or Adam |
//! | [`differential_equations`] | curves that are solutions of differential equations; networks that solve them |
//! | [`ranks`] | fits over several processes or machines |
//! | [`accuracy_and_speed`], [`defaults`] | measurements of accuracy and speed, and the reasons for the defaults |

#[doc = include_str!("curves.md")]
pub mod curves {}

#[doc = include_str!("writing_the_model.md")]
pub mod writing_the_model {}

#[doc = include_str!("command.md")]
pub mod command {}

#[doc = include_str!("many_fits.md")]
pub mod many_fits {}

#[doc = include_str!("graphs.md")]
pub mod graphs {}

// Its code is tested where all features that it shows are on.
#[cfg(any(not(doctest), all(feature = "checkpoint", feature = "safetensors", feature = "progress")))]
#[doc = include_str!("networks.md")]
pub mod networks {}

#[doc = include_str!("differential_equations.md")]
pub mod differential_equations {}

#[doc = include_str!("ranks.md")]
pub mod ranks {}

#[doc = include_str!("accuracy_and_speed.md")]
pub mod accuracy_and_speed {}

#[doc = include_str!("defaults.md")]
pub mod defaults {}

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
#[doc = "```\n\n# 100,000 pixels of counts\n\nThe script in Python takes 16 ms a pixel, 27 minutes in all; the other half a second, in which the counts are drawn, too.\n\n```python"]
#[doc = include_str!("../../examples/python/pixels.py")]
#[doc = "```\n\n```ignore"]
#[doc = include_str!("../../examples/pixels.rs")]
#[doc = "```\n\n# Keras: a classifier\n\nIts numbers are not compared, as weights begin elsewhere.\n\n```python"]
#[doc = include_str!("../../examples/python/keras_classifier.py")]
#[doc = "```\n\n```ignore"]
#[doc = include_str!("../../examples/keras_classifier.rs")]
#[doc = "```"]
pub mod from_python {}

#[doc = include_str!("from_crates.md")]
pub mod from_crates {}

#[doc = include_str!("from_ceres.md")]
pub mod from_ceres {}

#[doc = include_str!("from_matlab.md")]
pub mod from_matlab {}

#[doc = include_str!("from_gnuplot.md")]
pub mod from_gnuplot {}
