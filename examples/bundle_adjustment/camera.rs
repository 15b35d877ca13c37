//! Reprojection error of a pinhole camera with radial distortion.

use marquardt::graph::CostFunction;
use marquardt::manifold::Euclidean;
use marquardt::{EvaluationError, Scalar};

/// Distance of a projected point from where it is seen, in pixels.
///
/// The model is that of Bundler (Snavely): with `P = RX + t` and `p = −(P₁, P₂)/P₃`, the pixel is
/// `f (1 + k₁‖p‖² + k₂‖p‖⁴) p`. The camera looks along `−z`.
#[derive(Debug, Clone, Copy)]
pub struct Reprojection {
    pub pixel: [f64; 2],
}

impl CostFunction<f64> for Reprojection {
    type Blocks = (Euclidean<9>, Euclidean<3>);

    fn residual_count(&self) -> usize {
        2
    }

    #[inline(always)]
    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let pixel = project(blocks[0], blocks[1]);
        r[0] = pixel[0] - self.pixel[0];
        r[1] = pixel[1] - self.pixel[1];
        Ok(())
    }
}

/// Pixel of a point in the image of a camera.
#[inline(always)]
pub fn project<S: Scalar<Real = f64>>(camera: &[S], point: &[S]) -> [S; 2] {
    let rotated = rotate([camera[0], camera[1], camera[2]], [point[0], point[1], point[2]]);
    let (x, y, z) = (rotated[0] + camera[3], rotated[1] + camera[4], rotated[2] + camera[5]);
    let inverse = -z.recip();
    let (u, v) = (x * inverse, y * inverse);
    let square = u * u + v * v;
    let scale = camera[6] * ((camera[8] * square + camera[7]) * square + 1.0);
    [scale * u, scale * v]
}

/// `exp(w) v`, the vector turned by a rotation vector (Rodrigues).
#[inline(always)]
pub fn rotate<S: Scalar<Real = f64>>(w: [S; 3], v: [S; 3]) -> [S; 3] {
    let square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    // sin(θ)/θ and (1 − cos(θ))/θ². The square of the angle is differentiable at zero, the angle is not.
    let (sine, cosine) = if square.value() > 1e-4 {
        let angle = square.sqrt();
        (angle.sin() / angle, (-angle.cos() + 1.0) / square)
    } else {
        (
            ((square * (-1.0 / 5040.0) + 1.0 / 120.0) * square - 1.0 / 6.0) * square + 1.0,
            ((square * (-1.0 / 40320.0) + 1.0 / 720.0) * square - 1.0 / 24.0) * square + 0.5,
        )
    };
    let along = (w[0] * v[0] + w[1] * v[1] + w[2] * v[2]) * cosine;
    let kept = -square * cosine + 1.0;
    [
        v[0] * kept + (w[1] * v[2] - w[2] * v[1]) * sine + w[0] * along,
        v[1] * kept + (w[2] * v[0] - w[0] * v[2]) * sine + w[1] * along,
        v[2] * kept + (w[0] * v[1] - w[1] * v[0]) * sine + w[2] * along,
    ]
}

#[cfg(test)]
mod tests {
    use marquardt::Dual;
    use marquardt::manifold::Rotation3;

    use super::*;

    #[test]
    fn derivatives_are_those_of_differences() {
        let shape = [0.1, -0.2, 0.3, 1.0, 2.0, -3.0, 500.0, -0.1, 0.05, 0.4, -0.3, 0.9];
        // A quarter turn, the two sides of where the series ends, and no rotation at all.
        for angle in [1.6, 0.0101, 0.0099, 1e-9, 0.0] {
            let mut x = shape;
            let norm = f64::hypot(f64::hypot(shape[0], shape[1]), shape[2]);
            x[..3].iter_mut().for_each(|w| *w *= angle / norm);
            let dual: [Dual<f64, 12>; 12] = Dual::variables(x);
            let derivatives = project(&dual[..9], &dual[9..]);
            for j in 0..12 {
                let h = 1e-5 * x[j].abs().max(1.0);
                let [above, below] = [h, -h].map(|h| {
                    let mut moved = x;
                    moved[j] += h;
                    project(&moved[..9], &moved[9..])
                });
                for i in 0..2 {
                    let (exact, difference) = (derivatives[i].gradient[j], (above[i] - below[i]) / (2.0 * h));
                    assert!((exact - difference).abs() < 1e-5 * (1.0 + exact.abs()), "{angle}, {i}, {j}: {exact}");
                }
            }
        }
    }

    #[test]
    fn rotations_are_those_of_the_library() {
        for w in [[0.3, -1.2, 0.7], [0.004, 0.003, -0.002], [1e-12, 0.0, 0.0], [0.0; 3], [2.0, 2.0, 1.0]] {
            let v = [0.5, -2.0, 3.0];
            let expected = Rotation3::exp(w).transform(v);
            assert!(rotate(w, v).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13), "{w:?}");
        }
    }

    #[test]
    fn the_camera_looks_along_the_negative_axis() {
        let camera = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 500.0, 0.1, 0.01];
        let [x, y] = project(&camera, &[1.0, 2.0, -10.0]);
        let factor = 1.0 + 0.1 * 0.05 + 0.01 * 0.0025;
        assert!((x - 50.0 * factor).abs() < 1e-12 && (y - 100.0 * factor).abs() < 1e-12);
    }
}
