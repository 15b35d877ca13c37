//! Physics-informed networks: differential equations, solved by networks that make their residuals vanish.
//!
//! A small network stands for each unknown function. The residuals of the equation at points inside, of the conditions on
//! the boundary and at the start, and of measurements, are the rows of one least-squares problem, which
//! [`LevenbergMarquardt`](crate::LevenbergMarquardt) with geodesic acceleration solves to many digits, where first-order
//! optimizers stop at three.
//!
//! # State a problem
//!
//! Burgers' equation `u_t + u u_x = ν u_xx` on `t` in [0, 1] and `x` in [−1, 1], here with few points and steps:
//!
//! ```
//! use marquardt::{LevenbergMarquardt, Variables};
//! use marquardt::nn::Sequential;
//! use marquardt::physics::{Domain, End, Equations, Points, Sampling};
//! use std::f64::consts::PI;
//!
//! let domain = Domain::new(&[(0.0, 1.0), (-1.0, 1.0)])?;
//! let inside = domain.sample(200, Sampling::Halton);
//! let start = domain.side(0, End::Lower)?.sample(20, Sampling::Halton);
//! let walls = Points::union(
//!     [End::Lower, End::Upper].map(|end| domain.side(1, end).unwrap().grid(&[10, 1])),
//! )?;
//!
//! let mut variables = Variables::new();
//! let mut equations = Equations::new(&["t", "x"])?;
//! let u = equations.network(&Sequential::new(2).dense(20).tanh().dense(1), &mut variables, 0)?;
//! let nu = 0.1_f64;
//! equations.term("equation", inside, 1.0, |at| {
//!     let u = at.field(u);
//!     (u.t() + u * u.x() - nu * u.xx()).into()
//! })?;
//! equations
//!     .term("start", start, 10.0, |at| (at.field(u) + (PI * at.coordinate("x")).sin()).into())?;
//! equations.term("walls", walls, 10.0, |at| at.field(u).into())?;
//!
//! let mut problem = equations.build(&variables)?;
//! let solver = LevenbergMarquardt::for_equations().with_max_iterations(100);
//! let solution = problem.solve(&solver, &mut variables)?;
//! println!("{solution}");
//! assert!(solution.report.cost < 1e-2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Coefficients that are not known are [variables](Equations::coefficient) beside the weights: `κ` in an inverse problem, rates
//! in an ordinary differential equation. Several residuals of a point are an array: `[first, second].into()`. Several networks
//! stand for functions of their own. Give numbers that are positive, such as rates, as exponentials of coefficients.
//!
//! An unknown function of the equation, such as a conductivity `D(x)`, is a network of its own, and starts with any sign. With the wrong one, a solve of
//! all terms at once ends where the solution is flat, for a third to a half of all starts. [`Collocation::solve`] therefore follows the measurements first.
//! `at.field(d).exp()` keeps `D` positive.
//!
//! # Expectations
//!
//! - [`LevenbergMarquardt::for_equations`](crate::LevenbergMarquardt::for_equations) accelerates every step and corrects every trial
//!   with the current Jacobian. Without the corrections, seven digits take about half as many steps again.
//! - The loss is `Σ weight · mean of squared residuals`. Boundary terms usually need a weight above one.
//! - Seven digits take one to four hundred steps, rejected ones included, ten a few thousand. A step forms `JᵀJ`, and so costs as the square of the
//!   number of weights: a few hundred to a few thousand are right. One wide layer often does better than several.
//! - A small loss is no proof: where points are too few for a steep solution, residuals vanish at the points alone.
//!   [`Solution`] reports the residual at points that were held out, which then is far larger.
//! - An equation needs points on the boundary too ([`Domain::grid`], not [`Domain::interior_grid`]): beyond the last points its residual
//!   grows. First weights and biases of hidden layers with a standard deviation near 1, over coordinates in a range of about 1, bend the
//!   units inside the domain; 0.1 leaves them straight. With both, the heat equation of the example `pinn` ends with an 18th of the
//!   error, and Poisson's with a 38th, after as many steps.
//! - Sharp fronts need points where they are: see [`Points::map`].
//! - Activations must be smooth, such as `tanh`, `sin` or `silu`. ReLU has no second derivative and is refused by name.
//!
//! # Other tools
//!
//! In one to three dimensions, finite elements or spectral methods solve well-posed linear equations faster. Networks are for
//! inverse problems, few data, odd shapes and several dimensions. Levenberg–Marquardt is the wrong tool where weights are tens
//! of thousands and points many: train in minibatches by [`Collocation::trainer`] and Adam, or solve by the matrix-free forms of
//! [`LinearSolver`](crate::linear::LinearSolver). Long times and chaotic solutions need to be cut into windows.
//!
//! Sources: Raissi, Perdikaris & Karniadakis (2019); for the acceleration, Transtrum & Sethna (2012); for the corrections, Fan (2012); for derivatives in
//! forward mode, Griewank & Walther (2008), chapter 13.

mod domain;
mod equations;
mod error;
mod expression;
mod mean_square;
mod order;
mod points;
mod problem;
mod recorder;
mod sequence;
mod solution;
mod solver;
mod standard_error;

pub use domain::{Domain, End, Sampling};
pub use equations::{Coefficient, Equations, Field};
pub use error::PhysicsError;
pub use expression::{At, Expression, TermResiduals};
pub use points::Points;
pub use problem::Collocation;
pub use solution::{HeldOut, Solution};
