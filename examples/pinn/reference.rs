//! Solutions to compare with.

use std::f64::consts::PI;

use marquardt::LevenbergMarquardt;
use marquardt::problem::FiniteDifference;

/// Numbers of a normal distribution, by the formula of Box and Muller from a golden-ratio sequence.
pub fn normal(count: usize, seed: u64) -> Vec<f64> {
    let uniform = |k: u64| {
        let mut bits = k.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let pair = |k: usize| (uniform(2 * k as u64 + 1), uniform(2 * k as u64 + 2));
    (0..count).map(pair).map(|(a, b)| (-2.0 * (1.0 - a).ln()).sqrt() * (2.0 * PI * b).cos()).collect()
}

/// Burgers' equation by Cole and Hopf: a quotient of two integrals, by the trapezoidal rule.
pub fn burgers(p: &[f64]) -> f64 {
    let ([t, x], nu) = ([p[0], p[1]], 0.01 / PI);
    if t <= 0.0 {
        return -(PI * x).sin();
    }
    const NODES: i32 = 400;
    let (mut above, mut below) = (0.0, 0.0);
    for k in -NODES..=NODES {
        let s = 8.0 * f64::from(k) / f64::from(NODES);
        let at = PI * (x - 2.0 * (nu * t).sqrt() * s);
        let density = (-at.cos() / (2.0 * PI * nu) - s * s).exp();
        above -= at.sin() * density;
        below += density;
    }
    above / below
}

/// `c' = 5 ka e^(−ka t) − Vm c / (Km + c)` from `c(0) = 0`, by the classical method of Runge and Kutta.
pub fn concentration(until: f64, [ka, vm, km]: [f64; 3]) -> f64 {
    let slope = |t: f64, c: f64| 5.0 * ka * (-ka * t).exp() - vm * c / (km + c);
    let steps = (until / 0.01).ceil().max(1.0);
    let (h, mut c) = (until / steps, 0.0);
    for step in 0..steps as usize {
        let t = h * step as f64;
        let k1 = slope(t, c);
        let k2 = slope(t + h / 2.0, c + h / 2.0 * k1);
        let k3 = slope(t + h / 2.0, c + h / 2.0 * k2);
        let k4 = slope(t + h, c + h * k3);
        c += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    c
}

/// Twenty measurements with relative errors.
pub fn concentrations(seed: u64, noise: f64) -> (Vec<f64>, Vec<f64>) {
    let times: Vec<f64> = (1..=20).map(|k| f64::from(k) / 2.0).collect();
    let errors = normal(20, seed);
    let measured = times.iter().zip(errors).map(|(&t, e)| concentration(t, [1.0; 3]) * (1.0 + noise * e)).collect();
    (times, measured)
}

/// The rates by a fit of the integrated equation.
pub fn rates(seed: u64, noise: f64) -> [f64; 3] {
    let (times, measured) = concentrations(seed, noise);
    let mut problem = FiniteDifference::new(3, times.len(), move |p: &[f64], r: &mut [f64]| {
        for ((r, &t), c) in r.iter_mut().zip(&times).zip(&measured) {
            *r = concentration(t, [p[0].exp(), p[1].exp(), p[2].exp()]) - c;
        }
        Ok(())
    });
    let start = [2.0_f64, 0.5, 2.0].map(f64::ln);
    let report = LevenbergMarquardt::new().minimize(&mut problem, &start).expect("the start is sound");
    [report.x[0].exp(), report.x[1].exp(), report.x[2].exp()]
}
