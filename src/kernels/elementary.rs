//! Elementary functions of many numbers at once, in vector instructions.

/// Elementary functions of slices: `y[i] = f(x[i])`.
pub trait Elementary: Sized {
    /// `eˣ`.
    fn exp_all(x: &[Self], y: &mut [Self]);
    /// `tanh x`.
    fn tanh_all(x: &[Self], y: &mut [Self]);
    /// `1 / (1 + e⁻ˣ)`.
    fn sigmoid_all(x: &[Self], y: &mut [Self]);
    /// The error function.
    fn erf_all(x: &[Self], y: &mut [Self]);
}

macro_rules! elementary {
    ($float:ident, $erf:path) => {
        impl Elementary for $float {
            fn exp_all(x: &[$float], y: &mut [$float]) {
                for (y, x) in y.iter_mut().zip(x) {
                    *y = x.exp();
                }
            }
            fn tanh_all(x: &[$float], y: &mut [$float]) {
                for (y, x) in y.iter_mut().zip(x) {
                    *y = x.tanh();
                }
            }
            fn sigmoid_all(x: &[$float], y: &mut [$float]) {
                for (y, x) in y.iter_mut().zip(x) {
                    *y = 1.0 / (1.0 + (-x).exp());
                }
            }
            fn erf_all(x: &[$float], y: &mut [$float]) {
                for (y, &x) in y.iter_mut().zip(x) {
                    *y = $erf(x);
                }
            }
        }
    };
}

elementary!(f32, libm::erff);
elementary!(f64, libm::erf);
