//! The problems: equations, points, and what the solution is.

use std::f64::consts::PI;

use clap::ValueEnum;
use marquardt::Variables;
use marquardt::nn::{Dense, Initializer, Sequential};
use marquardt::physics::{
    At, Coefficient, Collocation, Domain, End, Equations, Expression, Field, PhysicsError, Points, Sampling,
};
use ndarray::Array2;

use super::reference;

/// Which problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// `Δu + 2π² sin πx sin πy = 0` on the unit square
    #[value(name = "poisson2d")]
    Poisson2d,
    /// `u_t = ¼ u_xx`
    Heat,
    /// `−u″ + u³ = f` on [−1, 1]
    #[value(name = "nonlinear1d")]
    Nonlinear1d,
    /// Poisson's equation on the unit cube of five dimensions
    #[value(name = "poisson5d")]
    Poisson5d,
    /// `−Δu + u³ = f` on the unit square
    #[value(name = "reaction2d")]
    Reaction2d,
    /// `u_t + u u_x = (0.01/π) u_xx`
    Burgers,
    /// Korteweg and de Vries: `u_t + 6 u u_x + u_xxx = 0`, a soliton
    Kdv,
    /// The conductivity of the heat equation from forty measurements
    #[value(name = "inverse_heat")]
    InverseHeat,
    /// Three rates of an ordinary differential equation from twenty measurements
    Pharmacokinetics,
}

/// A problem, ready to solve.
pub struct Case {
    pub problem: Collocation<f64>,
    pub variables: Variables<f64>,
    pub field: Field,
    /// The solution at a point.
    pub exact: fn(&[f64]) -> f64,
    /// Where errors are measured.
    pub grid: Array2<f64>,
    pub domain: Domain<f64>,
    /// Names of coefficients, and the coefficients that are their logarithms.
    pub coefficients: Vec<(&'static str, Coefficient)>,
    /// The term of measurements.
    pub data: Option<usize>,
    pub default_steps: usize,
}

/// Normal weights and biases: of hidden layers with the standard deviation 1, so that the bends of the units spread over the domain, and
/// of the output with 0.3.
fn spread(inputs: usize, hidden: &[usize]) -> Sequential<f64> {
    let dense = |units, std| {
        let normal = Initializer::Normal { std };
        Dense::new(units).with_initializer(normal).with_bias_initializer(normal)
    };
    let layers = hidden.iter().fold(Sequential::new(inputs), |layers, &units| layers.push(dense(units, 1.0)).tanh());
    layers.push(dense(1, 0.3))
}

/// Glorot's normal weights, and no biases at the start.
fn glorot(inputs: usize, hidden: &[usize]) -> Sequential<f64> {
    let start = Sequential::new(inputs).with_initializer(Initializer::GlorotNormal);
    hidden.iter().fold(start, |layers, &units| layers.dense(units).tanh()).dense(1)
}

fn unit(dimensions: usize) -> Result<Domain<f64>, PhysicsError> {
    Domain::new(&vec![(0.0, 1.0); dimensions])
}

/// A grid of so many points on each side of a square.
fn boundary(domain: &Domain<f64>, count: usize) -> Result<Points<f64>, PhysicsError> {
    Points::union(domain.sides().iter().map(|side| side.grid(&[count, count])))
}

/// The sides at `x = 0` and `x = 1`, for all times.
fn walls(domain: &Domain<f64>, count: usize) -> Result<Points<f64>, PhysicsError> {
    Points::union([domain.side(1, End::Lower)?, domain.side(1, End::Upper)?].iter().map(|side| side.grid(&[count, 1])))
}

fn test_grid(domain: &Domain<f64>, count: usize) -> Array2<f64> {
    domain.interior_grid(&[count, count]).coordinates().to_owned()
}

/// Makes a problem. `sparse` takes few points for Burgers' equation, `noise` is that of measurements.
pub fn case(name: Name, seed: u64, sparse: bool, noise: f64) -> Result<Case, Box<dyn std::error::Error>> {
    match name {
        Name::Poisson2d => poisson2d(seed),
        Name::Heat => heat(seed),
        Name::Nonlinear1d => nonlinear1d(seed),
        Name::Poisson5d => poisson5d(seed),
        Name::Reaction2d => reaction2d(seed),
        Name::Burgers => burgers(seed, sparse),
        Name::Kdv => kdv(seed),
        Name::InverseHeat => inverse_heat(seed, noise),
        Name::Pharmacokinetics => pharmacokinetics(seed, noise),
    }
}

type Made = Result<Case, Box<dyn std::error::Error>>;

fn poisson2d(seed: u64) -> Made {
    let (domain, mut variables) = (unit(2)?, Variables::new());
    let mut equations = Equations::new(&["x", "y"])?;
    let field = equations.network(&spread(2, &[32]), &mut variables, seed)?;
    equations.term("equation", domain.grid(&[28, 28]), 1.0, |at| {
        let (x, y) = (at.coordinate("x"), at.coordinate("y"));
        (at.field(field).laplacian() + 2.0 * PI * PI * (PI * x).sin() * (PI * y).sin()).into()
    })?;
    equations.term("boundary", boundary(&domain, 29)?, 4.0, |at| at.field(field).into())?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact: |p| (PI * p[0]).sin() * (PI * p[1]).sin(),
        grid: test_grid(&domain, 198),
        domain,
        coefficients: Vec::new(),
        data: None,
        default_steps: 1000,
    })
}

fn heat(seed: u64) -> Made {
    let (domain, mut variables) = (unit(2)?, Variables::new());
    let mut equations = Equations::new(&["t", "x"])?;
    let field = equations.network(&spread(2, &[64]), &mut variables, seed)?;
    equations.term("equation", domain.grid(&[28, 28]), 1.0, |at| {
        let u = at.field(field);
        (u.t() - 0.25 * u.xx()).into()
    })?;
    let start = domain.side(0, End::Lower)?.grid(&[1, 29]);
    equations.term("start", start, 1.0, |at| (at.field(field) - (PI * at.coordinate("x")).sin()).into())?;
    equations.term("walls", walls(&domain, 29)?, 1.0, |at| at.field(field).into())?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact: |p| (-0.25 * PI * PI * p[0]).exp() * (PI * p[1]).sin(),
        grid: test_grid(&domain, 198),
        domain,
        coefficients: Vec::new(),
        data: None,
        default_steps: 1000,
    })
}

fn nonlinear1d(seed: u64) -> Made {
    let (domain, mut variables) = (Domain::new(&[(-1.0, 1.0)])?, Variables::new());
    let mut equations = Equations::new(&["x"])?;
    let field = equations.network(&spread(1, &[32]), &mut variables, seed)?;
    equations.term("equation", domain.grid(&[200]), 2.0, |at| {
        let (u, exact) = (at.field(field), (PI * at.coordinate("x")).cos());
        (u.powi(3) - u.xx() - (PI * PI * exact + exact.powi(3))).into()
    })?;
    let ends = Points::union(domain.sides().iter().map(|side| side.grid(&[1])))?;
    equations.term("ends", ends, 1.0, |at| at.field(field).x().into())?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact: |p| (PI * p[0]).cos(),
        grid: domain.interior_grid(&[2000]).coordinates().to_owned(),
        domain,
        coefficients: Vec::new(),
        data: None,
        default_steps: 600,
    })
}

fn poisson5d(seed: u64) -> Made {
    let (domain, mut variables) = (unit(5)?, Variables::new());
    let names = ["a", "b", "c", "d", "e"];
    let mut equations = Equations::new(&names)?;
    let field = equations.network(&spread(5, &[64]), &mut variables, seed)?;
    equations.term("equation", domain.sample(4000, Sampling::Uniform(seed)), 1.0, |at| {
        let sines = names.map(|name| (PI * at.coordinate(name)).sin());
        let sum = sines.into_iter().reduce(|sum, sine| sum + sine).expect("there are five");
        (at.field(field).laplacian() + PI * PI * sum).into()
    })?;
    let sides = domain.sides().into_iter().enumerate();
    let sides = sides.map(|(k, side)| side.sample(50, Sampling::Uniform(seed + 100 + k as u64)));
    equations.term("boundary", Points::union(sides)?, 10.0, |at| {
        let sines = names.map(|name| (PI * at.coordinate(name)).sin());
        let sum = sines.into_iter().reduce(|sum, sine| sum + sine).expect("there are five");
        (at.field(field) - sum).into()
    })?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact: |p| p.iter().map(|x| (PI * x).sin()).sum(),
        grid: domain.sample(10_000, Sampling::Uniform(seed + 1000)).coordinates().to_owned(),
        domain,
        coefficients: Vec::new(),
        data: None,
        default_steps: 200,
    })
}

fn reaction2d(seed: u64) -> Made {
    let (domain, mut variables) = (unit(2)?, Variables::new());
    let mut equations = Equations::new(&["x", "y"])?;
    let field = equations.network(&glorot(2, &[32]), &mut variables, seed)?;
    equations.term("equation", domain.interior_grid(&[30, 30]), 1.0, |at| {
        let exact = (PI * at.coordinate("x")).sin() * (2.0 * PI * at.coordinate("y")).sin();
        let u = at.field(field);
        (u.powi(3) - u.laplacian() - (5.0 * PI * PI * exact + exact.powi(3))).into()
    })?;
    equations.term("boundary", boundary(&domain, 31)?, 4.0, |at| at.field(field).into())?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact: |p| (PI * p[0]).sin() * (2.0 * PI * p[1]).sin(),
        grid: test_grid(&domain, 198),
        domain,
        coefficients: Vec::new(),
        data: None,
        default_steps: 500,
    })
}

fn burgers(seed: u64, sparse: bool) -> Made {
    let (domain, mut variables) = (Domain::new(&[(0.0, 1.0), (-1.0, 1.0)])?, Variables::new());
    let mut equations = Equations::new(&["t", "x"])?;
    let field = equations.network(&glorot(2, &[20, 20]), &mut variables, seed)?;
    let (inside, weight) = if sparse {
        (domain.sample(1198, Sampling::Halton), 1.0)
    } else {
        let even = domain.sample(1500, Sampling::Halton);
        let near_the_front = domain.sample(1500, Sampling::ShiftedHalton(1)).map(|p: &mut [f64]| p[1] = p[1].powi(3));
        (even.and(&near_the_front)?, 10.0)
    };
    equations.term("equation", inside, 1.0, |at| {
        let u = at.field(field);
        (u.t() + u * u.x() - 0.01 / PI * u.xx()).into()
    })?;
    let start = domain.side(0, End::Lower)?.grid(&[1, 101]);
    equations.term("start", start, weight, |at| (at.field(field) + (PI * at.coordinate("x")).sin()).into())?;
    equations.term("walls", walls(&domain, 51)?, weight, |at| at.field(field).into())?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact: reference::burgers,
        grid: test_grid(&domain, 100),
        domain,
        coefficients: Vec::new(),
        data: None,
        default_steps: 400,
    })
}

/// `u = ½ c sech²(½ √c (x − c t))` with `c = 1` solves it.
fn soliton(p: &[f64]) -> f64 {
    0.5 / (0.5 * (p[1] - p[0])).cosh().powi(2)
}

fn kdv(seed: u64) -> Made {
    let (domain, mut variables) = (Domain::new(&[(0.0, 2.0), (-6.0, 6.0)])?, Variables::new());
    let mut equations = Equations::new(&["t", "x"])?;
    let field = equations.network(&glorot(2, &[16, 16]), &mut variables, seed)?;
    equations.term("equation", domain.interior_grid(&[24, 72]), 1.0, |at| {
        let u = at.field(field);
        (u.t() + 6.0 * u * u.x() + u.xxx()).into()
    })?;
    fn error(at: &At<f64>, field: Field) -> Expression<'_, f64> {
        let wave = 0.5 * (at.coordinate("x") - at.coordinate("t"));
        at.field(field) - 0.5 * (1.0 - wave.tanh().square())
    }
    equations.term("start", domain.side(0, End::Lower)?.grid(&[1, 73]), 4.0, |at| error(at, field).into())?;
    equations.term("walls", walls(&domain, 29)?, 4.0, |at| error(at, field).into())?;
    equations.term("slope", domain.side(1, End::Upper)?.grid(&[29, 1]), 1.0, |at| error(at, field).x().into())?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact: soliton,
        grid: test_grid(&domain, 198),
        domain,
        coefficients: Vec::new(),
        data: None,
        default_steps: 300,
    })
}

fn inverse_heat(seed: u64, noise: f64) -> Made {
    let (domain, mut variables) = (unit(2)?, Variables::new());
    let mut equations = Equations::new(&["t", "x"])?;
    let field = equations.network(&glorot(2, &[32]), &mut variables, seed)?;
    let kappa = equations.coefficient("log kappa", 0.0, &mut variables)?;
    equations.term("equation", domain.interior_grid(&[18, 18]), 1.0, |at| {
        let u = at.field(field);
        (u.t() - at.coefficient(kappa).exp() * u.xx()).into()
    })?;
    let start = domain.side(0, End::Lower)?.grid(&[1, 19]);
    equations.term("start", start, 1.0, |at| (at.field(field) - (PI * at.coordinate("x")).sin()).into())?;
    equations.term("walls", walls(&domain, 19)?, 1.0, |at| at.field(field).into())?;
    let exact = |p: &[f64]| (-0.25 * PI * PI * p[0]).exp() * (PI * p[1]).sin();
    let places = domain.sample(40, Sampling::Halton);
    let errors = reference::normal(40, seed);
    let measured: Vec<f64> =
        places.coordinates().rows().into_iter().zip(errors).map(|(p, e)| exact(&[p[0], p[1]]) + noise * e).collect();
    let data = places.with_values("measured", &measured)?;
    equations.term("data", data, 1.0, |at| (at.field(field) - at.value("measured")).into())?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact,
        grid: test_grid(&domain, 198),
        domain,
        coefficients: vec![("kappa", kappa)],
        data: Some(3),
        default_steps: 500,
    })
}

fn pharmacokinetics(seed: u64, noise: f64) -> Made {
    let (domain, mut variables) = (Domain::new(&[(0.0, 10.0)])?, Variables::new());
    let mut equations = Equations::new(&["t"])?;
    let field = equations.network_of(|tape, t| Ok(tape.scale(t, 0.1)), &glorot(1, &[16]), &mut variables, seed)?;
    // Rates are positive: with the numbers themselves, c / (km + c) passes its pole, and km has no way back.
    let [ka, vm, km] = [("log ka", 2.0_f64), ("log vm", 0.5), ("log km", 2.0)]
        .map(|(name, start)| equations.coefficient(name, start.ln(), &mut variables).expect("the names are new"));
    // Closer together where the concentration rises: between even ones, the network finds room for a wiggle there.
    let points = domain.grid(&[100]).map(|p: &mut [f64]| p[0] = 10.0 * (p[0] / 10.0).powf(1.5));
    equations.term("equation", points, 1e4, |at| {
        let (c, t) = (at.field(field), at.coordinate("t"));
        let [ka, vm, km] = [ka, vm, km].map(|logarithm| at.coefficient(logarithm).exp());
        (c.t() - 5.0 * ka * (-ka * t).exp() + vm * c / (km + c)).into()
    })?;
    let start = domain.side(0, End::Lower)?.grid(&[1]);
    equations.term("start", start, 1e4, |at| at.field(field).into())?;
    let (times, measured) = reference::concentrations(seed, noise);
    let times = Array2::from_shape_vec((times.len(), 1), times)?;
    let data = Points::new(times.view()).with_values("measured", &measured)?;
    equations.term("data", data, 1.0, |at| (at.field(field) - at.value("measured")).into())?;
    Ok(Case {
        problem: equations.build(&variables)?,
        variables,
        field,
        exact: |p| reference::concentration(p[0], [1.0, 1.0, 1.0]),
        grid: domain.interior_grid(&[500]).coordinates().to_owned(),
        domain,
        coefficients: vec![("ka", ka), ("vm", vm), ("km", km)],
        data: Some(2),
        default_steps: 500,
    })
}
